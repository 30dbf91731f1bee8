"""The shape that most experiments have: learners on tables at some epsilons, over stratified folds.

NOT PRIVATE, like every evaluation. A job is one learner on one table at one epsilon, in one dealing of the folds; it
keeps every fold's measures, so that differences can be tested. All learners of a table see the same folds. What an
experiment adds is which learners there are and what follows from the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from privet.datasets import real
from privet.errors import PrivetError
from privet.estimators.registry import make_classifier
from privet.evaluation.cross_validation import (
    MAJORITY,
    REFERENCE_DEPTH,
    Fold,
    Index,
    Records,
    Way,
    each_fold,
    majority_way,
    private_way,
    reference_way,
    try_fold,
)
from privet.recipes.registry import recipe_class
from privet.schema import Schema
from privet.tables.frozen import Frozen, freeze
from privet_experiments import references
from privet_experiments.experiment import Experiment, Found, Job, Row, axis

MEASURES = ("accuracy", "balanced_accuracy", "auc", "log_loss")

Load = Callable[[str], tuple[Schema, Any]]


@dataclass(frozen=True)
class Learner:
    """A learner of an experiment: its name there, the recipe or reference, and parameters other than epsilon."""

    name: str
    recipe: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_reference(self) -> bool:
        """Whether it is without privacy, so that there is no epsilon to vary."""
        return self.recipe in references.WITHOUT_PRIVACY


@dataclass(frozen=True)
class CrossValidation(Experiment):
    """Learners x tables x epsilons x folds."""

    tables: tuple[str, ...] = axis((), "A table of PRIVET_DATA; may be repeated.")
    epsilons: tuple[float, ...] = axis((1.0,), "A budget; may be repeated.")
    folds: int = axis(10, "Stratified folds.", least=2)
    repeats: int = axis(1, "How often, with other folds.")
    seed: int = axis(0, "Deals the folds and seeds public choices. Noise is never seeded.", least=0)
    tried: int = axis(0, "How many of the folds are tried; 0 is all of them.", least=0)

    load: ClassVar[Load] = real.load
    """Where a table comes from, by its name."""

    @property
    def n_runs(self) -> int | None:
        return (self.tried or self.folds) * self.repeats

    def runs_in(self, row: Row) -> int:
        return self.tried or self.folds

    @property
    def kept(self) -> tuple[str, ...]:
        """Which measures of a fold go into the results."""
        return MEASURES

    @abstractmethod
    def learners(self) -> Sequence[Learner]:
        """Who competes."""

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        """How a learner learns from a table; for experiments whose parameters depend on the table."""
        return way_of(learner.recipe, schema, epsilon, self.seed, dict(learner.params))

    def more(self, fold: Fold) -> dict[str, float | None]:
        """Other measures of a fold, by name; the same names for every fold."""
        return {}

    def check(self) -> None:
        for learner in self.learners():
            if not learner.is_reference and learner.recipe != references.SHARES:
                make_classifier(learner.recipe, **learner.params)  # says what there is if it is unknown
        if type(self).load is real.load:
            real.fetch(self.tables)

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"learners": [asdict(learner) for learner in self.learners()]}

    def jobs(self) -> list[Job]:
        return [
            {"table": table, "learner": learner.name, "epsilon": epsilon, "repeat": repeat}
            for table in self.tables
            for learner in self.learners()
            for epsilon in ((None,) if learner.is_reference else self.epsilons)
            for repeat in range(self.repeats)
        ]

    def run(self, job: Job) -> Found:
        """Lists with a value for every fold; or a note, where the learner cannot learn from such a table."""
        frozen = frozen_table(type(self).load, job["table"])
        learner = next(one for one in self.learners() if one.name == job["learner"])
        try:
            way = self.way(learner, job["table"], frozen.schema, job["epsilon"])
        except PrivetError as error:  # two classes only, say
            return {"note": str(error), "private": False}
        folds = fold_by_fold(way, frozen, folds=self.folds, seed=self.seed + job["repeat"], tried=self.tried)
        found = [{name: getattr(fold, name) for name in self.kept} | self.more(fold) for fold in folds]
        certificates = [fold.certificate for fold in folds if fold.certificate is not None]
        return by_name(found) | {
            "fit_seconds": float(np.mean([fold.seconds for fold in folds])),
            "delta": float(max((certificate.delta for certificate in certificates), default=0)),
            "private": bool(certificates) and all(certificate.private for certificate in certificates),
        }


def way_of(recipe: str, schema: Schema, epsilon: float | None, seed: int, params: dict[str, Any]) -> Way:
    """A recipe, in its sound form or as published where it has no other; or a reference."""
    if recipe == references.SHARES:
        assert epsilon is not None
        return references.shares_way(schema, epsilon)
    if epsilon is not None:
        params.setdefault("variant", recipe_class(recipe).info.variants[0])
        return private_way(make_classifier(recipe, epsilon=epsilon, **params), schema, seed)
    plain = {
        MAJORITY: majority_way,
        references.NOISELESS: references.noiseless_way,
        references.BOOSTING: references.boosting_way,
    }
    if recipe in plain:
        return plain[recipe](schema)
    depth = params.pop("max_depth", REFERENCE_DEPTH)
    return reference_way(recipe, schema, depth, known=references.ALL, **params)


def fold_by_fold(way: Way, frozen: Frozen, *, folds: int, seed: int = 0, tried: int = 0) -> list[Fold]:
    """What a learner makes of every fold of a table."""
    records = Records(frozen.codes(way.schema), frozen)

    def fold(train: Index, test: Index) -> Fold:
        return try_fold(way, records.take(train), records.take(test))

    return each_fold(frozen.labels, fold, folds=folds, seed=seed, tried=tried)


def by_name(found: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Values of every fold as a list for each name."""
    return {name: [one[name] for one in found] for name in found[0]}


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of those that are defined."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


@lru_cache(maxsize=2)  # jobs of one table stand side by side
def frozen_table(load: Load, table: str) -> Frozen:
    """A table, read once for all learners."""
    return freeze(*load(table))


# ---- what rows say ------------------------------------------------------------------------------------------------


def values(rows: Sequence[Row], measure: str, **where: Any) -> list[float]:
    """A measure in all folds of the rows that have these values, in order; without those where it is undefined."""
    found = (row.get(measure) for row in rows if all(row[name] == value for name, value in where.items()))
    return [value for folds in found if folds is not None for value in folds if value is not None]


def mean(rows: Sequence[Row], measure: str, **where: Any) -> float | None:
    """The mean over folds; None where there is none."""
    found = values(rows, measure, **where)
    return float(np.mean(found)) if found else None


def standard_error(found: Sequence[float]) -> float:
    """Of a mean over folds, as if they were independent."""
    return float(np.std(found, ddof=1) / len(found) ** 0.5) if len(found) > 1 else 0.0
