"""Cross-validation of recipes on one table, with non-private learners for comparison.

NOT PRIVATE: every fold is a fit, and accuracies are computed from the records without noise. Use it on tables that need
no protection, and to choose a recipe before using it on one that does.

The table is read once, and encoded once for each way of cutting its numbers; a fold is an index into the records. Times
are those of growing a model from codes, without the loading and compiling of a process's first fit.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError, TableError
from privet.estimators.base import PrivateEstimator
from privet.estimators.number_references import NUMBER_REFERENCES, mean_leaf
from privet.estimators.references import REFERENCES, ReferenceClassifier, majority_leaf
from privet.evaluation.fold_scores import AnyFold, Fold, NumberFold, mean_of_defined
from privet.evaluation.metrics import check_positive, f_beta
from privet.evaluation.outcome import WARNING, Evaluation, FoldScore, Score
from privet.evaluation.stability import compare_fits
from privet.fitting import Request, fit
from privet.models.released import Released
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.ledger import Certificate
from privet.progress import Progress
from privet.schema import Schema
from privet.tables.encoding import Codes
from privet.tables.frozen import Frozen, freeze

__all__ = ["MAJORITY", "REFERENCE_DEPTH", "WARNING", "Evaluation", "Fold", "Index", "Records", "Score", "Way"]
WARM_UP = 100  # records
MAJORITY, MEAN = "majority", "mean"  # references that know only the class counts, or the mean: the baselines
REFERENCE_DEPTH = 5  # the default of the private classifiers

Index = npt.NDArray[np.intp]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Way:
    """A learner: from records to trees. A reference has no epsilon and no promise. ``schema`` cuts its numbers."""

    recipe: str
    variant: str
    epsilon: Fraction | None
    schema: Schema
    grow: Callable[[Records], tuple[Released, Certificate | None]]


@dataclass(frozen=True)
class Records:
    """Some records, encoded by a learner's schema and in a form that any other can encode."""

    codes: Codes
    frozen: Frozen

    def take(self, rows: Index) -> Records:
        return Records(part(self.codes, rows), self.frozen.take(rows))


def evaluate(
    schema: Schema,
    table: Any,
    classifiers: Sequence[PrivateEstimator],
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    references: Sequence[str] | None = None,
    max_depth: int | None = None,
    positive: Any = None,
    beta: float = 1.0,
    records: Sequence[int] = (),
    stability: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Stratified k-fold cross-validation of unfitted ``classifiers``, repeated with other folds.

    ``seed`` decides the folds and public choices; noise is drawn anew each time. ``max_depth`` is for the references,
    which are all that suit the label by default. Records of unknown label are left out, as in a fit. ``positive`` names
    the class of F-``beta``. Each of ``records`` is a smaller number of records to fit to as well: what would fewer
    records cost? ``stability`` fits private learners to every fold twice: how alike are two fits? Folds of a number are
    not stratified.
    """
    code = None if positive is None else check_positive(schema.classes, positive, beta)
    sizes = [("records", size, 1) for size in records]
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1), *sizes):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(parameter=name, problem=f"must be a whole number of at least {least}, not {value!r}")
    learners = [private_way(classifier, schema, seed) for classifier in classifiers]
    depth = REFERENCE_DEPTH if max_depth is None else max_depth
    cut = learners[0].schema if learners else schema  # the baseline needs no cuts: one encoding less
    for name in references_for(schema) if references is None else references:
        learners.append(baseline_way(cut) if name in (MAJORITY, MEAN) else reference_way(name, schema, depth))
    frozen = freeze(schema, table)
    encoded = {cut: Records(frozen.codes(cut), frozen) for cut in {learner.schema for learner in learners}}
    done = count(1)
    total = (len(learners) + len(classifiers) * len(records)) * folds * repeats
    strata = np.zeros(frozen.labels.size, dtype=np.int64) if schema.predicts_number else frozen.labels
    first, _ = next(stratified_folds(strata, folds, repeats, seed))
    if too_many := [size for size in records if size > len(first)]:
        fix = f"name at most the {len(first)} that {folds} folds leave to fit to"
        raise ParameterError(parameter="records", problem=f"must be fewer than {too_many[0]}", fix=fix)
    results: list[FoldScore] = []
    others: list[FoldScore] = []
    for place, learner in enumerate(learners):
        ours = encoded[learner.schema]
        learner.grow(ours.take(first[:WARM_UP]))  # loads and compiles what the fits need
        for size in (None, *(records if place < len(classifiers) else ())):
            random = np.random.default_rng(seed)  # the same records for every learner

            fits = 2 if stability and place < len(classifiers) else 1

            def fold(
                train: Index, test: Index, learner: Way = learner, ours: Records = ours, some: Any = size, n: int = fits
            ) -> list[Any]:
                rows = train if some is None else random.choice(train, some, replace=False)  # noqa: B023
                known, unseen = ours.take(rows), ours.take(test)
                found = [try_fold(learner, known, unseen) for _ in range(n)]
                if progress is not None:
                    progress(next(done), total)
                return found

            tried = each_fold(strata, fold, folds=folds, repeats=repeats, seed=seed)
            runs = [first for first, *_ in tried]
            alike = compare_fits([(one, other) for one, *others in tried for other in others])
            each = () if code is None else (f_beta(run.labels, run.predicted, code, beta) for run in runs)
            measured = mean_of_defined(each)
            score = replace(
                _score(learner, runs, folds, repeats),
                f_beta_mean=measured,
                records=size,
                agreement_mean=alike.agreement,
                rules_alike_mean=alike.rules,
            )
            (results if place < len(classifiers) else others).append(score)
    return Evaluation(tuple(results), tuple(others), None if code is None else schema.classes[code], beta)


def references_for(schema: Schema, *, baseline_only: bool = False) -> tuple[str, ...]:
    """The names of the references that suit a label, the baseline first."""
    baseline, others = (MEAN, NUMBER_REFERENCES) if schema.predicts_number else (MAJORITY, REFERENCES)
    return (baseline,) if baseline_only else (baseline, *others)


# ---- learners -----------------------------------------------------------------------------------------------------


def private_way(classifier: PrivateEstimator, schema: Schema, seed: int) -> Way:
    recipe, epsilon = classifier.recipe(), parse_epsilon(classifier.epsilon)
    prepared = recipe.prepare(schema)
    random = np.random.default_rng(seed)

    def grow(records: Records) -> tuple[Released, Certificate]:
        # Each fold has a budget of its own: an evaluation is not private anyway, and its certificate says so.
        engine = MemoryEngine(prepared, records.codes, records.frozen)
        asked = Request(recipe, engine, epsilon, neighbours=classifier.neighbours, random=random, prepared=True)
        model = fit(asked)
        return model.trees, Certificate.from_dict(model.certificate)

    return Way(recipe.info.name, recipe.variant, epsilon, prepared, grow)


def reference_way(
    name: str,
    schema: Schema,
    max_depth: int | None,
    *,
    known: Mapping[str, type[ReferenceClassifier]] = REFERENCES,
    **params: Any,
) -> Way:
    if schema.predicts_number:
        return _number_way(name, schema, max_depth)
    if name not in known:
        raise ParameterError(f"unknown reference {name!r}; choose one of {MAJORITY}, {', '.join(known)}")
    classifier = known[name](schema, max_depth, **params)
    prepared = schema.with_bins(classifier.max_bins)

    def grow(records: Records) -> tuple[Released, None]:
        return classifier.grow(prepared, records.codes, None), None

    return Way(name, "non-private", None, prepared, grow)


def _number_way(name: str, schema: Schema, max_depth: int | None) -> Way:
    if name not in NUMBER_REFERENCES:
        raise ParameterError(f"unknown reference {name!r}; choose one of {MEAN}, {', '.join(NUMBER_REFERENCES)}")
    learn, bins = NUMBER_REFERENCES[name]
    prepared = schema.with_bins(bins)

    def grow(records: Records) -> tuple[Released, None]:
        return learn(prepared, records.codes.features, records.frozen.labels, max_depth), None

    return Way(name, "non-private", None, prepared, grow)


def baseline_way(schema: Schema) -> Way:
    """What says the same of all records: the commonest class, or the mean."""
    return mean_way(schema) if schema.predicts_number else majority_way(schema)


def mean_way(schema: Schema) -> Way:
    def grow(records: Records) -> tuple[Released, None]:
        return mean_leaf(schema, records.codes.features, records.frozen.labels), None

    return Way(MEAN, "non-private", None, schema, grow)


def majority_way(schema: Schema) -> Way:
    return Way(MAJORITY, "non-private", None, schema, lambda records: (majority_leaf(schema, records.codes), None))


# ---- folds --------------------------------------------------------------------------------------------------------


def stratified_folds(labels: npt.NDArray[Any], folds: int, repeats: int, seed: int) -> Iterator[tuple[Index, Index]]:
    """(train, test) records of stratified folds."""
    from sklearn.model_selection import StratifiedKFold

    largest = int(np.bincount(labels).max(initial=0))
    if largest < folds:
        raise TableError(f"{folds} folds need {folds} records of one class at least; the largest has {largest}")
    for repeat in range(repeats):
        dealer = StratifiedKFold(folds, shuffle=True, random_state=seed + repeat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class rarer than the folds is missing from some of them
            yield from dealer.split(np.empty((len(labels), 0)), labels)


def each_fold(
    labels: npt.NDArray[Any],
    work: Callable[[Index, Index], Result],
    *,
    folds: int,
    repeats: int = 1,
    seed: int = 0,
    tried: int = 0,
) -> list[Result]:
    """Run ``work(train, test)`` for every stratified fold, or for the first ``tried``: the only loop over folds."""
    return [work(train, test) for train, test in islice(stratified_folds(labels, folds, repeats, seed), tried or None)]


def part(codes: Codes, rows: Index) -> Codes:
    assert codes.labels is not None
    return replace(codes, features=np.ascontiguousarray(codes.features[:, rows]), labels=codes.labels[rows])


def try_fold(way: Way, known: Records, unseen: Records) -> Any:
    """Train on some records and test on others."""
    start = time.perf_counter()
    trees, certificate = way.grow(known)
    seconds = time.perf_counter() - start
    # A recipe that cuts numbers anew cuts them differently in each fold.
    codes = unseen.codes if trees.schema == way.schema else unseen.frozen.codes(trees.schema)
    assert codes.labels is not None
    predicted = trees.predict(codes.features)
    if way.schema.predicts_number:
        return NumberFold(trees, known, unseen.frozen.labels, predicted, seconds, certificate)
    return Fold(trees, known, codes.labels, predicted, seconds, certificate, trees.predict_proba(codes.features))


def _score(learner: Way, runs: Sequence[AnyFold], folds: int, repeats: int) -> FoldScore:
    certificates = [run.certificate for run in runs if run.certificate is not None]
    return type(runs[0]).summary(
        runs,
        recipe=learner.recipe,
        variant=learner.variant,
        epsilon=None if learner.epsilon is None else float(learner.epsilon),
        delta=float(max(certificate.delta for certificate in certificates)) if certificates else None,
        folds=folds,
        repeats=repeats,
        fit_seconds_mean=float(np.mean([run.seconds for run in runs])),
        private=bool(certificates) and all(certificate.private for certificate in certificates),
    )
