"""Ranking and graded probabilities: ten-fold AUC, log-loss and accuracy, with standard errors.

NOT PRIVATE, like every evaluation. Beside private recipes stand three references on the same folds: the released class
shares alone (what a model must not fall behind), an additive model without noise on the same knots, and scikit-learn's
boosting. All recipes have their default parameters, the same for all tables. Work is shared out a (table, learner,
epsilon) at a time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.errors import ParameterError
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import WARNING
from privet.experiments.workers import share_out
from privet.growing.knots import FINE, fine_bins, main_basis
from privet.measures.scores import macro_auc
from privet.recipes.fitting import fit, own_ledger
from privet.schema import Categorical, Schema
from privet.schema.encoding import Codes, encode
from privet.structure.terms import UNIT

Floats = npt.NDArray[np.float64]

TABLES = ("adult", "magic", "bank", "mushroom", "nursery")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
RECIPES = ("additive",)
REFERENCES = ("additive without noise", "boosting")
FOLDS, QUICK_FOLDS = 10, 2
LEAST = 1e-13  # a probability in a logarithm
RIDGE = 1.0  # of the additive model without noise


@dataclass(frozen=True)
class Graded:
    """One learner at one epsilon on one table: means over folds, and their standard errors."""

    table: str
    learner: str
    epsilon: float | None
    delta: float
    auc: float | None
    auc_error: float | None
    log_loss: float
    log_loss_error: float
    accuracy: float
    accuracy_error: float

    @property
    def name(self) -> str:
        return self.learner if not self.delta else f"{self.learner}, delta {self.delta:g}"


@dataclass(frozen=True)
class GradedTable:
    """Learners down, tables across, a number for each epsilon."""

    cells: tuple[Graded, ...]
    folds: int

    def to_dict(self) -> dict[str, Any]:
        results = [asdict(cell) for cell in self.cells]
        return {"experiment": "graded", "warning": WARNING, "folds": self.folds, "results": results}

    def rows(self, measure: str) -> list[tuple[str, dict[str, str]]]:
        """(learner, text by table) of ``auc``, ``log_loss`` or ``accuracy``, epsilons in order."""
        names = dict.fromkeys(cell.name for cell in self.cells)
        return [
            (
                name,
                {
                    table: " / ".join(
                        _text(cell, measure) for cell in self.cells if (cell.name, cell.table) == (name, table)
                    )
                    for table in dict.fromkeys(cell.table for cell in self.cells)
                },
            )
            for name in names
        ]

    def to_markdown(self, measure: str) -> str:
        tables = list(dict.fromkeys(cell.table for cell in self.cells))
        lines = [f"| {measure.replace('_', '-')} | {' | '.join(tables)} |", "|" + "---|" * (len(tables) + 1)]
        lines += [f"| {name} | {' | '.join(texts[t] for t in tables)} |" for name, texts in self.rows(measure)]
        return "\n".join(lines)


def _text(cell: Graded, measure: str) -> str:
    value, error = getattr(cell, measure), getattr(cell, f"{measure}_error")
    if value is None:
        return "-"
    if measure == "accuracy":
        return f"{100 * value:.1f} ± {100 * error:.1f}"
    return f"{value:.3f} ± {error:.3f}"


def run(
    tables: Sequence[str] = TABLES,
    recipes: Sequence[str] = RECIPES,
    epsilons: Sequence[float] = EPSILONS,
    *,
    deltas: Sequence[float] = (0.0, 1e-6),
    references: Sequence[str] = REFERENCES,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GradedTable:
    """Evaluate recipes (a delta above 0 only where a recipe has one) and references on the same folds."""
    for name in recipes:
        make_classifier(name)  # says what there is if it is unknown, before any work begins
    if unknown := sorted(set(references) - set(REFERENCES)):
        raise ParameterError(f"unknown reference {unknown[0]!r}; choose from {', '.join(REFERENCES)}")
    jobs: list[tuple[Any, ...]] = []
    for table in tables:
        for name in recipes:
            with_delta = "delta" in make_classifier(name).get_params()
            for delta in deltas if with_delta else (0.0,):
                jobs += [(table, name, epsilon, delta, folds, data_dir) for epsilon in epsilons]
        jobs += [(table, name, None, 0.0, folds, data_dir) for name in references]
    found = run_jobs(jobs, processes, progress)
    return GradedTable(tuple(found[job[:4]] for job in jobs), folds)


def run_jobs(
    jobs: Sequence[tuple[Any, ...]], processes: int | None, progress: Callable[[int, int], None] | None
) -> dict[tuple[Any, ...], Graded]:
    """(table, learner, epsilon, delta) -> how it did; a job is these, the folds and where the tables are."""
    cells = share_out(_cell, jobs, processes, progress)
    return {(cell.table, cell.learner, cell.epsilon, cell.delta): cell for cell in cells}


def cross_predict(
    schema: Schema, columns: Any, recipe: str, epsilon: float, *, folds: int
) -> tuple[npt.NDArray[Any], Floats]:
    """The labels of all records, and what a model that has not seen a record says of it."""
    grow, prepared = _learner(recipe, schema, epsilon, 0.0)
    codes = encode(prepared, columns)
    assert codes.labels is not None
    proba = np.empty((codes.labels.size, schema.n_classes))
    for train, test in _folds(codes.labels, folds):
        proba[test] = grow(_part(codes, train))(_part(codes, test).features)
    return codes.labels, proba


class _Scores(NamedTuple):
    auc: float | None
    log_loss: float
    accuracy: float


def _cell(
    table: str, learner: str, epsilon: float | None, delta: float, folds: int, data_dir: str | PathLike[str] | None
) -> Graded:
    schema, columns = real.load(table, data_dir)
    grow, prepared = _learner(learner, schema, epsilon, delta)
    codes = encode(prepared, columns)
    assert codes.labels is not None
    scores = []
    for train, test in _folds(codes.labels, folds):
        predict = grow(_part(codes, train))
        unseen = _part(codes, test)
        assert unseen.labels is not None
        scores.append(_score(unseen.labels, predict(unseen.features)))
    means = [_mean([getattr(one, name) for one in scores]) for name in _Scores._fields]
    (auc, auc_error), (loss, loss_error), (accuracy, accuracy_error) = means
    assert loss is not None
    assert loss_error is not None
    assert accuracy is not None
    assert accuracy_error is not None
    return Graded(table, learner, epsilon, delta, auc, auc_error, loss, loss_error, accuracy, accuracy_error)


Predict = Callable[[npt.NDArray[Any]], Floats]


def _learner(
    name: str, schema: Schema, epsilon: float | None, delta: float
) -> tuple[Callable[[Codes], Predict], Schema]:
    """A way from codes to probabilities, and the schema that cuts numbers for it."""
    if epsilon is None:
        prepared = fine_bins(schema)
        return (_noiseless if name == REFERENCES[0] else _boosted)(prepared), prepared
    recipe = make_classifier(name, epsilon=epsilon, **({"delta": delta} if delta else {})).recipe()
    exact, prepared = Fraction(str(epsilon)), recipe.prepare(schema)

    def grow(codes: Codes) -> Predict:
        ledger = own_ledger(recipe, exact)
        return fit(recipe, MemoryEngine(prepared, codes), ledger, exact).trees.predict_proba

    return grow, prepared


def _noiseless(schema: Schema) -> Callable[[Codes], Predict]:
    """Logistic regression on the features of an additive model: what noise keeps it from. NOT PRIVATE."""
    from sklearn.linear_model import LogisticRegression

    terms = [main_basis(schema, a, FINE).term for a in range(len(schema.attributes))]

    def design(features: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        parts = []
        for term in terms:
            mixes = np.zeros((term.bins, term.size), dtype=np.float32)
            np.add.at(mixes, (np.arange(term.bins)[:, None], term.cells), term.weights / UNIT)
            parts.append(mixes[term.levels[0][features[term.attributes[0]]]])
        return np.concatenate(parts, axis=1)

    def grow(codes: Codes) -> Predict:
        model = LogisticRegression(C=1 / RIDGE, max_iter=500, tol=1e-3).fit(design(codes.features), codes.labels)
        return lambda features: _spread(model, model.predict_proba(design(features)), schema.n_classes)

    return grow


def _boosted(schema: Schema) -> Callable[[Codes], Predict]:
    """scikit-learn's boosting on the codes, categories as categories. NOT PRIVATE."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    nominal = [isinstance(a, Categorical) and a.arity <= 255 for a in schema.attributes]

    def grow(codes: Codes) -> Predict:
        learner = HistGradientBoostingClassifier(categorical_features=nominal, random_state=0)
        model = learner.fit(codes.features.T.astype(np.float64), codes.labels)
        return lambda features: _spread(model, model.predict_proba(features.T.astype(np.float64)), schema.n_classes)

    return grow


def _spread(model: Any, proba: Floats, classes: int) -> Floats:
    """With a column for every class, also for those that no record of the fold has."""
    full = np.zeros((len(proba), classes))
    full[:, model.classes_.astype(np.intp)] = proba
    return full


def _folds(labels: npt.NDArray[Any], folds: int) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    from sklearn.model_selection import StratifiedKFold

    dealer = StratifiedKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class rarer than the folds is missing from some of them
        return list(dealer.split(np.empty((len(labels), 0)), labels))


def _part(codes: Codes, rows: npt.NDArray[np.intp]) -> Codes:
    assert codes.labels is not None
    return Codes(np.ascontiguousarray(codes.features[:, rows]), codes.labels[rows])


def _score(labels: npt.NDArray[Any], proba: Floats) -> _Scores:
    said = proba[np.arange(labels.size), labels]
    loss = float(-np.log(np.maximum(said, LEAST)).mean())
    return _Scores(macro_auc(labels, proba), loss, float((proba.argmax(axis=1) == labels).mean()))


def _mean(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """The mean over folds and its standard error; None where no fold has a value."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None
    error = float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else 0.0
    return float(np.mean(known)), error
