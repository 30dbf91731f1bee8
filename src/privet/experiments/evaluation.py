"""Cross-validation of recipes on one table, with non-private learners beside them.

NOT PRIVATE: every fold is a fit, and the accuracy that comes out is computed from the records without noise. It is for
tables that need no protection, and for choosing a recipe before it is let near one that does.

The table is read once, and encoded once for each way of cutting its numbers; a fold is an index into the records. Times
are those of growing a model from codes; what the first fit of a process loads and compiles is not counted.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError, TableError
from privet.estimators.base import PrivateClassifier
from privet.estimators.references import REFERENCES
from privet.growing.grower import Progress
from privet.measures.scores import macro_auc
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.ledger import Certificate
from privet.recipes.fitting import fit, own_ledger
from privet.schema import Schema
from privet.schema.encoding import Codes
from privet.schema.frozen import Frozen, freeze
from privet.trees.codec import Released

WARNING = (
    "An evaluation is itself not differentially private: every fold is a fit, and the scores are computed from the "
    "records without noise. Use it on tables that need no protection; what it prints must not be released from others."
)
WARM_UP = 100  # records
REFERENCE_DEPTH = 5  # where nobody says otherwise: what the private classifiers do by default

Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Score:
    """What one learner made of all folds; accuracy and AUC as fractions, None where undefined."""

    recipe: str
    variant: str
    epsilon: float | None
    delta: float | None
    folds: int
    repeats: int
    accuracy_mean: float
    accuracy_std: float
    auc_mean: float | None
    fit_seconds_mean: float
    private: bool


@dataclass(frozen=True)
class Evaluation:
    """Private learners and, apart from them, the non-private ones."""

    results: tuple[Score, ...]
    references: tuple[Score, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "warning": WARNING,
            "results": [asdict(score) for score in self.results],
            "references": [asdict(score) for score in self.references],
        }


@dataclass(frozen=True)
class _Learner:
    """A way from records to trees. A reference has no epsilon and promises nothing."""

    recipe: str
    variant: str
    epsilon: Fraction | None
    schema: Schema
    grow: Callable[[_Records], tuple[Released, Certificate | None]]


@dataclass(frozen=True)
class _Records:
    """Some records, as a learner's schema cuts them and as any other would."""

    codes: Codes
    frozen: Frozen

    def take(self, rows: Index) -> _Records:
        assert self.codes.labels is not None
        features = np.ascontiguousarray(self.codes.features[:, rows])
        return _Records(replace(self.codes, features=features, labels=self.codes.labels[rows]), self.frozen.take(rows))


def evaluate(
    schema: Schema,
    table: Any,
    classifiers: Sequence[PrivateClassifier],
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    references: Sequence[str] = tuple(REFERENCES),
    max_depth: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Stratified k-fold cross-validation of unfitted ``classifiers``, repeated with other folds.

    ``seed`` deals the folds and seeds public choices; noise is drawn anew each time. ``max_depth`` is for the
    references. Records of unknown label are left out, as in a fit.
    """
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"{name} must be a whole number from {least} on, not {value!r}")
    learners = [_private(classifier, schema, seed) for classifier in classifiers]
    depth = REFERENCE_DEPTH if max_depth is None else max_depth
    learners += [_reference(name, schema, depth) for name in references]
    frozen = freeze(schema, table)
    encoded = {cut: _Records(frozen.codes(cut), frozen) for cut in {learner.schema for learner in learners}}
    splits = list(_splits(frozen.labels, folds, repeats, seed))
    total = len(learners) * len(splits)
    scores = []
    for number, learner in enumerate(learners):
        records = encoded[learner.schema]
        learner.grow(records.take(splits[0][0][:WARM_UP]))  # loads and compiles what the fits need
        runs = []
        for train, test in splits:
            runs.append(_run(learner, records, train, test))
            if progress is not None:
                progress(number * len(splits) + len(runs), total)
        scores.append(_score(learner, runs, folds, repeats))
    return Evaluation(tuple(scores[: len(classifiers)]), tuple(scores[len(classifiers) :]))


# ---- learners -----------------------------------------------------------------------------------------------------


def _private(classifier: PrivateClassifier, schema: Schema, seed: int) -> _Learner:
    recipe, epsilon = classifier.recipe(), parse_epsilon(classifier.epsilon)
    prepared = recipe.prepare(schema)
    random = np.random.default_rng(seed)

    def grow(records: _Records) -> tuple[Released, Certificate]:
        # Each fold has a budget of its own: an evaluation is not private anyway, and says so.
        ledger = own_ledger(recipe, epsilon, classifier.neighbours)
        engine = MemoryEngine(prepared, records.codes, records.frozen)
        model = fit(recipe, engine, ledger, epsilon, random=random)
        return model.trees, ledger.certificate()

    return _Learner(recipe.info.name, recipe.variant, epsilon, prepared, grow)


def _reference(name: str, schema: Schema, max_depth: int) -> _Learner:
    if name not in REFERENCES:
        raise ParameterError(f"unknown reference {name!r}; choose one of {', '.join(REFERENCES)}")
    classifier = REFERENCES[name](schema, max_depth)
    prepared = schema.with_bins(classifier.bins)

    def grow(records: _Records) -> tuple[Released, None]:
        return classifier.grow(prepared, records.codes, None), None

    return _Learner(name, "non-private", None, prepared, grow)


# ---- folds --------------------------------------------------------------------------------------------------------


def _splits(labels: npt.NDArray[Any], folds: int, repeats: int, seed: int) -> Iterator[tuple[Index, Index]]:
    from sklearn.model_selection import StratifiedKFold

    largest = int(np.bincount(labels).max(initial=0))
    if largest < folds:
        raise TableError(f"{folds} folds need {folds} records of one class at least; the largest has {largest}")
    for repeat in range(repeats):
        dealer = StratifiedKFold(folds, shuffle=True, random_state=seed + repeat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class rarer than the folds is missing from some of them
            yield from dealer.split(np.empty((len(labels), 0)), labels)


@dataclass(frozen=True)
class _Run:
    accuracy: float
    auc: float | None
    seconds: float
    certificate: Certificate | None


def _run(learner: _Learner, records: _Records, train: Index, test: Index) -> _Run:
    known, unseen = records.take(train), records.take(test)
    start = time.perf_counter()
    trees, certificate = learner.grow(known)
    seconds = time.perf_counter() - start
    # A recipe that cuts numbers anew cuts them differently in each fold.
    codes = unseen.codes if trees.schema == learner.schema else unseen.frozen.codes(trees.schema)
    assert codes.labels is not None
    accuracy = float((trees.predict(codes.features) == codes.labels).mean())
    return _Run(accuracy, macro_auc(codes.labels, trees.predict_proba(codes.features)), seconds, certificate)


def _score(learner: _Learner, runs: Sequence[_Run], folds: int, repeats: int) -> Score:
    accuracy = np.array([run.accuracy for run in runs])
    aucs = [run.auc for run in runs if run.auc is not None]
    certificates = [run.certificate for run in runs if run.certificate is not None]
    return Score(
        recipe=learner.recipe,
        variant=learner.variant,
        epsilon=None if learner.epsilon is None else float(learner.epsilon),
        delta=float(max(certificate.delta for certificate in certificates)) if certificates else None,
        folds=folds,
        repeats=repeats,
        accuracy_mean=float(accuracy.mean()),
        accuracy_std=float(accuracy.std()),
        auc_mean=float(np.mean(aucs)) if aucs else None,
        fit_seconds_mean=float(np.mean([run.seconds for run in runs])),
        private=bool(certificates) and all(certificate.private for certificate in certificates),
    )
