"""Which learner when: what a user would choose among, on all tables, in groups by records times epsilon. NOT PRIVATE.

What decides is how much noise there is for the records, which is a matter of records times epsilon, attributes and
classes, so that is how results are grouped: by whether the mean over the tables of a group is ahead. It is the
comparison of :mod:`privet_experiments.ours.comparison` with few learners and many tables, on one split: other libraries
stand beside ours by ``--peers``. With one split no difference on a single table is clear; over the tables the means are
compared by Wilcoxon's signed ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from privet.datasets import real
from privet.evaluation.cross_validation import MAJORITY, Fold
from privet.evaluation.figure import Figure, Point, Series
from privet_experiments.experiment import Found, Job, Row
from privet_experiments.folds import Learner, frozen_table, mean_of
from privet_experiments.ours.comparison import CHAMPIONS, DRAWN, WITH_DELTA, Comparison, gap_text
from privet_experiments.outcome import Outcome, Table
from privet_experiments.sweep import Results, measure_text, told_measure

GROUPS = ((0.0, 100.0), (100.0, 1000.0), (1000.0, 10_000.0), (10_000.0, float("inf")))
MANY = 20  # attributes
DRAWN_AT = 1.0
NOT_DRAWN = ("random-forest", "diffprivlib forest", "diffprivlib tree", "dp-xgboost")  # or marks hide each other
OURS = (*DRAWN, WITH_DELTA, MAJORITY)
FAR = {"accuracy": 2.0, "auc": 0.02, "log_loss": 0.02}  # in points, and more than most splits differ by


@dataclass(frozen=True)
class WhichLearner(Comparison):
    """The recommended recipes on many tables, in groups by records times epsilon, beside other libraries' learners."""

    known: ClassVar[dict[str, Learner]] = {name: Comparison.known[name] for name in OURS}
    shown: ClassVar[tuple[str, ...]] = ("accuracy", "auc", "log_loss")
    counted: ClassVar[str] = "ahead : behind"

    def run(self, job: Job) -> Found:
        frozen = frozen_table(real.load, job["table"])
        facts = {"attributes": len(frozen.schema.attributes), "classes": frozen.schema.n_classes}
        return super().run(job) | facts | {"records": frozen.labels.size * (self.folds - 1) / self.folds}

    def more(self, fold: Fold) -> dict[str, float | None]:
        return {}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        facts = {row["table"]: {name: row[name] for name in ("attributes", "classes", "records")} for row in rows}
        others = [row | facts[row["table"]] for row in self._peer_rows(rows)]
        results = Results([*rows, *others])
        ours = [learner.name for learner in self.learners()]
        peers = list(dict.fromkeys(row["learner"] for row in others))
        private = [name for name in [*ours, *peers] if name != MAJORITY]
        tables = [
            self._grouped([*rows, *others], private),
            self._wins(results, private),
            *self._duels(results, private),
            self._far_behind(results, peers),
            *(self._table_by_table(results, measure, [*ours, *peers]) for measure in self.shown),
            self._seconds([*rows, *others], [*ours, *peers]),
        ]
        notes = (self._sentence(results, private, peers),)
        return Outcome(tuple(one for one in tables if one.rows), (self._drawn_at(results, private),), (), notes)

    def _drawn_at(self, results: Results, learners: Sequence[str]) -> Figure:
        """AUC of the better learners, table by table."""
        epsilon = DRAWN_AT if DRAWN_AT in self.epsilons else self.epsilons[0]
        series = []
        for name in learners:
            found = [(table, results.mean(table, name, epsilon, "auc")) for table in self.tables]
            points = tuple(Point(table, value, 0.0) for table, value in found if value is not None)
            if points and name not in NOT_DRAWN:
                series.append(Series(name, points))
        return Figure(f"epsilon {epsilon:g}", "table", "AUC", tuple(series))

    def _grouped(self, rows: Sequence[Row], learners: Sequence[str]) -> Table:
        """Means over the places of a group (a table at an epsilon), of those that learned from all of them."""
        cells = []
        for (low, high), wide, many in product(GROUPS, (False, True), (False, True)):
            group = [
                row
                for row in rows
                if row["epsilon"] is not None
                and low <= row["records"] * row["epsilon"] < high
                and (row["attributes"] > MANY) == wide
                and (row["classes"] > 2) == many
            ]
            places = {(row["table"], row["epsilon"]) for row in group}
            if group:
                width = f"over {MANY} attributes" if wide else f"up to {MANY} attributes"
                title = f"{_range(low, high)}, {width}, {'more classes' if many else 'two classes'}"
                means = (self._means([row for row in group if row["learner"] == name], places) for name in learners)
                cells.append((title, f"{len(places)}", *means))
        title = f"Means of {', '.join(map(told_measure, self.shown))} in groups"
        return Table(title, ("records x epsilon", "places", *learners), tuple(cells))

    def _means(self, rows: Sequence[Row], places: set[tuple[str, float]]) -> str:
        """Nothing for a learner that lacks a place of the group: its mean could not be compared."""
        told = [row for row in rows if row.get("accuracy")]
        if len(told) < len(places):
            return "-"
        results, means = Results(told), []
        for measure in self.shown:
            found = [results.mean(row["table"], row["learner"], row["epsilon"], measure) for row in told]
            means.append(measure_text(mean_of(found), measure))
        return ", ".join(means)

    def _table_by_table(self, results: Results, measure: str, learners: Sequence[str]) -> Table:
        """Learners as columns: there are more tables."""
        rows = []
        for table in self.tables:
            cells = []
            for name in learners:
                at = self.epsilons[:1] if name == MAJORITY else self.epsilons  # the same at every epsilon
                found = [results.mean(table, name, epsilon, measure) for epsilon in at]
                known = any(value is not None for value in found)
                cells.append(" / ".join(measure_text(value, measure) for value in found) if known else "-")
            rows.append((table, *cells))
        return Table(f"{told_measure(measure)} at epsilon {self._epsilons}", ("table", *learners), tuple(rows))

    def _clearly(self, pairs: Sequence[tuple[float, float]]) -> int:
        """Who is ahead on a table, clearly or not: one split cannot tell."""
        return int(np.sign(np.mean([a - b for a, b in pairs])))

    def _far_behind(self, results: Results, peers: Sequence[str]) -> Table:
        """Wherever the champion is behind the best of the other libraries by more than a split may explain."""
        rows = []
        for measure, champion in CHAMPIONS.items():
            for table, epsilon in product(self.tables, self.epsilons):
                gaps = {
                    peer: float(np.mean([b - a for a, b in pairs]))
                    for peer in peers
                    if (pairs := self._pairs(results, measure, table, champion, peer, epsilon))
                }
                best = max(gaps, key=lambda name: gaps[name], default="")
                if best and gaps[best] > FAR[measure]:
                    place = (told_measure(measure), champion, table, f"{epsilon:g}")
                    rows.append((*place, best, gap_text(gaps[best], measure)))
        columns = ("measure", "privet", "table", "epsilon", "behind", "by")
        return Table("Where privet is behind the best other library by more than a little", columns, tuple(rows))


def _range(low: float, high: float) -> str:
    if not low:
        return f"below {high:g}"
    return f"from {low:g}" if high == float("inf") else f"{low:g} to {high:g}"
