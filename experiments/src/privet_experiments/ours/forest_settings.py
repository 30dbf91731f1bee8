"""Settings of the random forest against each other, over twelve tables at once: where its defaults come from.

NOT PRIVATE, like every evaluation; the tables need no protection. One setting is changed at a time. The defaults are
those that do well on average over all tables and both budgets, never for one of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, ClassVar

import numpy as np

from privet.evaluation.cross_validation import Way
from privet.schema import Schema
from privet_experiments.experiment import Row
from privet_experiments.folds import Learner, way_of
from privet_experiments.outcome import Outcome, Table
from privet_experiments.sweep import Results, Sweep, declare

SHARE = "share_of_trees"  # of the attributes: how many trees follows from the table
SETTINGS: dict[str, dict[str, Any]] = tomllib.loads(
    files("privet_experiments.ours").joinpath("forest_settings.toml").read_text("utf-8")
)


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
            params["n_estimators"] = max(1, round(SETTINGS[learner.name][SHARE] * len(schema.attributes)))
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
