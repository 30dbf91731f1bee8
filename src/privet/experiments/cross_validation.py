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
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from privet.datasets import real
from privet.errors import PrivetError
from privet.estimators.references import FOREST_REFERENCES, REFERENCES
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import (
    MAJORITY,
    REFERENCE_DEPTH,
    Fold,
    Records,
    Way,
    deal,
    majority_way,
    private_way,
    reference_way,
    try_fold,
)
from privet.experiments.experiment import Experiment, Found, Job, Row, axis
from privet.schema import Schema
from privet.schema.frozen import Frozen, freeze

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
        return self.recipe == MAJORITY or self.recipe in REFERENCES | FOREST_REFERENCES


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

    @abstractmethod
    def learners(self) -> Sequence[Learner]:
        """Who competes."""

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        """How a learner learns from a table; for experiments whose parameters depend on the table."""
        return way_of(learner.recipe, schema, epsilon, self.seed, dict(learner.params))

    def more(self, way: Way, known: Records, unseen: Records, fold: Fold) -> dict[str, float | None]:
        """Other measures of a fold, by name; the same names for every fold."""
        return {}

    def check(self) -> None:
        for learner in self.learners():
            if not learner.is_reference:
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
        records = Records(frozen.codes(way.schema), frozen)
        folds, found = [], []
        dealt = deal(frozen.labels, self.folds, 1, self.seed + job["repeat"])
        for train, test in islice(dealt, self.tried or None):
            known, unseen = records.take(train), records.take(test)
            folds.append(try_fold(way, known, unseen))
            more = self.more(way, known, unseen, folds[-1])
            found.append({name: getattr(folds[-1], name) for name in MEASURES} | more)
        certificates = [fold.certificate for fold in folds if fold.certificate is not None]
        return {name: [one[name] for one in found] for name in found[0]} | {
            "fit_seconds": float(np.mean([fold.seconds for fold in folds])),
            "delta": float(max((certificate.delta for certificate in certificates), default=0)),
            "private": bool(certificates) and all(certificate.private for certificate in certificates),
        }


def way_of(recipe: str, schema: Schema, epsilon: float | None, seed: int, params: dict[str, Any]) -> Way:
    """A recipe, in its sound form or as published where it has no other; or a reference."""
    if epsilon is not None:
        from privet.recipes.registry import recipe_class

        params.setdefault("variant", recipe_class(recipe).info.variants[0])
        return private_way(make_classifier(recipe, epsilon=epsilon, **params), schema, seed)
    if recipe == MAJORITY:
        return majority_way(schema)
    return reference_way(recipe, schema, params.pop("max_depth", REFERENCE_DEPTH), **params)


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
