"""Ranking and graded probabilities: ten-fold AUC, log-loss and accuracy, with standard errors.

NOT PRIVATE, like every evaluation. Beside private recipes stand three references on the same folds: the released class
shares alone (what a model must not fall behind), an additive model without noise on the same knots, and scikit-learn's
boosting. All recipes have their default parameters, the same for all tables. Work is shared out a (table, learner,
epsilon) at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import Records, deal
from privet.experiments.experiment import Experiment, Found, Job, Row, axis
from privet.experiments.outcome import Figure, Outcome, Point, Series, Table
from privet.growing.knots import FINE, fine_bins, main_basis
from privet.growing.outlook import Outlook
from privet.measures.scores import macro_auc
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.fitting import fit, own_ledger
from privet.schema import Categorical, Schema
from privet.schema.frozen import freeze
from privet.structure.terms import UNIT

Floats = npt.NDArray[np.float64]

TABLES = ("adult", "magic", "bank", "mushroom", "nursery")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
RECIPES = ("additive",)
REFERENCES = ("additive without noise", "boosting")
SHARES = "class shares"  # the reference that has an epsilon
FOLDS = 10
TITLES = {"auc": "AUC", "log_loss": "log-loss", "accuracy": "accuracy %"}
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
class GradedSweep(Experiment):
    """AUC, log-loss and accuracy of the additive model, with standard errors; a delta above 0 only where a recipe has
    one. Learners without noise stand beside it.
    """

    tables: tuple[str, ...] = axis(TABLES, "A table of PRIVET_DATA; may be repeated.")
    recipes: tuple[str, ...] = axis(RECIPES, "A method; may be repeated.")
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    deltas: tuple[float, ...] = axis((0.0, 1e-6), "0 or a small number; may be repeated.")
    references: bool = axis(True, "Learners without noise.", option="--references/--no-references")
    folds: int = axis(FOLDS, "Stratified folds.", least=2)

    def check(self) -> None:
        check_names(self.tables, self.recipes)

    def jobs(self) -> list[Job]:
        jobs: list[Job] = []
        for table in self.tables:
            for name in self.recipes:
                deltas = self.deltas if "delta" in make_classifier(name).get_params() else (0.0,)
                jobs += [job_of(table, name, epsilon, delta) for delta in deltas for epsilon in self.epsilons]
            jobs += [job_of(table, SHARES, epsilon) for epsilon in self.epsilons]
            jobs += [job_of(table, name, None) for name in (REFERENCES if self.references else ())]
        return jobs

    def run(self, job: Job) -> Found:
        return grade(job, self.folds)

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        cells = [Graded(**row) for row in rows]
        epsilons = " / ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        heads = ("learner", *self.tables)
        tables = [
            Table(f"{title} at epsilon {epsilons}, ± standard error", heads, _rows(cells, measure, self.tables))
            for measure, title in TITLES.items()
        ]
        return Outcome(tuple(tables), tuple(_figure(cells, table) for table in self.tables))


def check_names(tables: Sequence[str], recipes: Sequence[str]) -> None:
    """Say what there is if one is unknown, before any work begins."""
    for name in recipes:
        make_classifier(name)
    real.fetch(tables)


def job_of(table: str, learner: str, epsilon: float | None, delta: float = 0.0) -> Job:
    return {"table": table, "learner": learner, "epsilon": epsilon, "delta": delta}


def _rows(cells: Sequence[Graded], measure: str, tables: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """(learner, text by table), epsilons in order."""
    rows = []
    for name in dict.fromkeys(cell.name for cell in cells):
        mine = [cell for cell in cells if cell.name == name]
        told = (" / ".join(_text(cell, measure) for cell in mine if cell.table == table) for table in tables)
        rows.append((name, *told))
    return tuple(rows)


def _figure(cells: Sequence[Graded], table: str) -> Figure:
    series = []
    for name in dict.fromkeys(cell.name for cell in cells):
        mine = [c for c in cells if (c.name, c.table) == (name, table) and c.epsilon is not None and c.auc is not None]
        if mine:
            series.append(Series(name, tuple(Point(c.epsilon or 0.0, c.auc or 0.0, c.auc_error) for c in mine)))
    return Figure(f"{table}: AUC against epsilon", "epsilon", "AUC", tuple(series), logarithmic=True)


def _text(cell: Graded, measure: str) -> str:
    value, error = getattr(cell, measure), getattr(cell, f"{measure}_error")
    if value is None:
        return "-"
    if measure == "accuracy":
        return f"{100 * value:.1f} ± {100 * error:.1f}"
    return f"{value:.3f} ± {error:.3f}"


def cross_predict(
    schema: Schema, columns: Any, recipe: str, epsilon: float, *, folds: int
) -> tuple[npt.NDArray[Any], Floats]:
    """The labels of all records, and what a model that has not seen a record says of it."""
    grow, prepared = _learner(recipe, schema, epsilon, 0.0)
    records = _records(schema, prepared, columns)
    labels = records.frozen.labels
    proba = np.empty((labels.size, schema.n_classes))
    for train, test in deal(labels, folds, 1, 0):
        proba[test] = grow(records.take(train))(records.take(test))
    return labels, proba


def _records(schema: Schema, prepared: Schema, columns: Any) -> Records:
    frozen = freeze(schema, columns)
    return Records(frozen.codes(prepared), frozen)


class _Scores(NamedTuple):
    auc: float | None
    log_loss: float
    accuracy: float


def grade(job: Job, folds: int) -> Found:
    """Means over folds and their standard errors, by the names of :class:`Graded`."""
    schema, columns = real.load(job["table"])
    grow, prepared = _learner(job["learner"], schema, job["epsilon"], job["delta"])
    records = _records(schema, prepared, columns)
    labels, scores = records.frozen.labels, []
    for train, test in deal(labels, folds, 1, 0):
        scores.append(_score(labels[test], grow(records.take(train))(records.take(test))))
    found: Found = {}
    for name in _Scores._fields:
        found[name], found[f"{name}_error"] = _mean([getattr(one, name) for one in scores])
    return found


Predict = Callable[[Records], Floats]


def _learner(
    name: str, schema: Schema, epsilon: float | None, delta: float
) -> tuple[Callable[[Records], Predict], Schema]:
    """A way from records to probabilities, and the schema that cuts numbers for it."""
    if epsilon is None:
        prepared = fine_bins(schema)
        return (_noiseless if name == REFERENCES[0] else _boosted)(prepared), prepared
    if name == SHARES:
        return _shares(schema, Fraction(str(epsilon))), schema
    recipe = make_classifier(name, epsilon=epsilon, **({"delta": delta} if delta else {})).recipe()
    exact, prepared = Fraction(str(epsilon)), recipe.prepare(schema)

    def grow(records: Records) -> Predict:
        engine = MemoryEngine(prepared, records.codes, records.frozen)
        trees = fit(recipe, engine, own_ledger(recipe, exact), exact).trees

        def predict(unseen: Records) -> Floats:
            # A recipe that cuts numbers anew cuts them differently in each fold.
            codes = unseen.codes if trees.schema == prepared else unseen.frozen.codes(trees.schema)
            return trees.predict_proba(codes.features)

        return predict

    return grow, prepared


def _shares(schema: Schema, epsilon: Fraction) -> Callable[[Records], Predict]:
    """Class shares that all of epsilon bought, said of everyone."""

    def grow(records: Records) -> Predict:
        data = PrivateDataset(MemoryEngine(schema, records.codes), Ledger(epsilon))
        nothing = Outlook(np.zeros(schema.n_classes), 0.0, Fraction(0))
        shares = nothing.refined(data, epsilon).shares
        return lambda unseen: np.tile(shares, (unseen.frozen.labels.size, 1))

    return grow


def _noiseless(schema: Schema) -> Callable[[Records], Predict]:
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

    def grow(records: Records) -> Predict:
        codes = records.codes
        model = LogisticRegression(C=1 / RIDGE, max_iter=500, tol=1e-3).fit(design(codes.features), codes.labels)
        return lambda unseen: _spread(model, model.predict_proba(design(unseen.codes.features)), schema.n_classes)

    return grow


def _boosted(schema: Schema) -> Callable[[Records], Predict]:
    """scikit-learn's boosting on the codes, categories as categories. NOT PRIVATE."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    nominal = [isinstance(a, Categorical) and a.arity <= 255 for a in schema.attributes]

    def design(records: Records) -> Floats:
        return records.codes.features.T.astype(np.float64)

    def grow(records: Records) -> Predict:
        labels = np.asarray(records.codes.labels)
        # Stopping early sets some records of every class aside, and fails where a class has but one.
        stops = "auto" if np.unique(labels, return_counts=True)[1].min() > 1 else False
        learner = HistGradientBoostingClassifier(categorical_features=nominal, early_stopping=stops, random_state=0)
        model = learner.fit(design(records), labels)
        return lambda unseen: _spread(model, model.predict_proba(design(unseen)), schema.n_classes)

    return grow


def _spread(model: Any, proba: Floats, classes: int) -> Floats:
    """With a column for every class, also for those that no record of the fold has."""
    full = np.zeros((len(proba), classes))
    full[:, model.classes_.astype(np.intp)] = proba
    return full


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


FORMS = {
    "smoke": GradedSweep(("vote",), epsilons=(1.0,), deltas=(0.0,), references=False, folds=2),
    "quick": GradedSweep(("vote", "mushroom"), epsilons=(0.1, 1.0), folds=2),
    "full": GradedSweep(),
}
