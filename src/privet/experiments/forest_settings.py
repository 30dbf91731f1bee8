"""Settings of the random forest against each other, over twelve tables at once: where its defaults come from.

NOT PRIVATE, like every evaluation; the tables need no protection. One setting is changed at a time. The defaults are
those that do well on average over all tables and both budgets, never for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from privet.experiments.cross_validation import Learner, way_of
from privet.experiments.evaluation import Way
from privet.experiments.experiment import Row
from privet.experiments.outcome import Outcome, Table
from privet.experiments.sweep import Results, Sweep, declare
from privet.schema import Schema

TABLES = (
    "adult-complete",
    "bank",
    "banknote",
    "car",
    "chess-krkp",
    "magic",
    "mushroom",
    "nursery",
    "pendigits",
    "tic-tac-toe",
    "vote",
    "wbc",
)
EPSILONS = (0.1, 1.0)
SHARE = "share_of_trees"  # of the attributes: how many trees follows from the table
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "disjoint parts": {"sharing": "disjoint"},
    "a tree for each attribute, whatever the noise": {"share_of_trees": 1},
    "half as many trees": {"share_of_trees": 0.5},
    "twice as many trees": {"share_of_trees": 2},
    "one test deep": {"max_depth": 1},
    "two tests deep, whatever the noise": {"max_depth": 2, "min_signal": 0},
    "three tests deep, whatever the noise": {"max_depth": 3, "min_signal": 0},
    "at most two tests deep": {"max_depth": 2},
    "at most four tests deep": {"max_depth": 4},
    "min_signal 1": {"min_signal": 1},
    "min_signal 2": {"min_signal": 2},
    "min_signal 8": {"min_signal": 8},
    "5 bins": {"bins": 5},
    "10 bins": {"bins": 10},
    "20 bins": {"bins": 20},
    "even bins": {"grid": "even"},
    "binary tests, at most six deep": {"tests": "binary", "max_depth": 6},
    "no shrinkage": {"shrinkage": 0},
    "shrinkage 2": {"shrinkage": 2},
    "pruned below noise": {"prune": True},
    "pruned, no shrinkage": {"prune": True, "shrinkage": 0},
    "evidence 0.5": {"evidence": 0.5},
    "evidence 2": {"evidence": 2},
    "a weight that is guessed, not bought": {"weight_share": 0},
    "5 % for the weight": {"weight_share": 0.05},
    "20 % for the weight": {"weight_share": 0.2},
    "mean probability": {"voting": "proba"},
    "majority vote": {"voting": "majority"},
    "the surest tree": {"voting": "surest"},
    "as in the thesis: 100 deep disjoint trees": {
        "trees": 100,
        "max_depth": 8,
        "min_signal": 0,
        "tests": "mixed",
        "bins": 64,
        "sharing": "disjoint",
        "shrinkage": 0,
        "voting": "majority",
    },
}


@dataclass(frozen=True)
class ForestSettings(Sweep):
    """Settings of the random forest against each other: means over all tables, then table by table."""

    known: ClassVar[Mapping[str, Learner]] = declare(
        {name: ("random-forest", {k: v for k, v in params.items() if k != SHARE}) for name, params in SETTINGS.items()}
    )
    title: ClassVar[str] = "Settings of the random forest"

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        params = dict(learner.params)
        if SHARE in SETTINGS[learner.name]:
            params["trees"] = max(1, round(SETTINGS[learner.name][SHARE] * len(schema.attributes)))
        return way_of(learner.recipe, schema, epsilon, self.seed, params)

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        results = Results(rows)
        cells = []
        for learner in self.learners():
            found = [[results.mean(t, learner.name, e) for t in self.tables] for e in self.epsilons]
            means = [float(np.mean([value for value in at if value is not None])) for at in found]
            cells.append((learner.name, *(f"{value:.2f}" for value in means), f"{np.mean(means):.2f}"))
        title = f"Mean accuracy % over {len(self.tables)} tables"
        heads = ("setting", *(f"eps {epsilon:g}" for epsilon in self.epsilons), "both")
        whole = super().conclude(rows)
        return replace(whole, tables=(Table(title, heads, tuple(cells)), *whole.tables), figures=())


FORMS = {
    "smoke": ForestSettings(("vote",), (1.0,), 2, who=("defaults", "majority vote", "half as many trees")),
    "quick": ForestSettings(("vote", "tic-tac-toe"), EPSILONS, 2),
    "full": ForestSettings(TABLES, EPSILONS, 5),
}
