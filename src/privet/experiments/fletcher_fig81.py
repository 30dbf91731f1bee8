"""Figure 8.1 of Fletcher's thesis (2017): smooth against global sensitivity on SynthA to SynthG, and the sound form.

100 disjoint random trees at eps = 1, ten folds. The thesis draws each table once by ``make_classification`` and does
not say which: over seeds of the generator the same method scores anything from 65 to 94 per cent on SynthA. So what can
be asked is whether there is an instance with both of the thesis's columns. ``SEEDS`` has the nearest that was found in
several passes (:mod:`privet.experiments.fletcher_instances` is one such); agreement of an instance that was chosen so
is no independent test. The share of empty leaves (Table 8.3) is one of the trees: it hardly depends on the instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privet.datasets.fletcher import SYNTH, synth
from privet.estimators.base import PrivateClassifier
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import WARNING, evaluate
from privet.experiments.workers import share_out
from privet.privacy.counting import ROOT, class_counts, descend
from privet.recipes.smooth_forest import depth_of
from privet.schema import Schema
from privet.schema.encoding import Codes

EPSILON = Fraction(1)
LIMIT = 3.0  # points
FOLDS, QUICK_FOLDS = 10, 2
QUICK_TABLES = ("A", "B")
COLUMNS = ("smooth", "global", "sound", "random-forest")
# Accuracy in per cent (smooth, global), read off the figure.
PUBLISHED = {
    "A": (90.6, 72.6),
    "B": (85.4, 66.8),
    "C": (86.1, 72.9),
    "D": (82.1, 65.0),
    "E": (87.8, 61.2),
    "F": (85.8, 59.0),
    "G": (82.3, 68.8),
}
# The instance of each table that was found nearest to the thesis, and among how many.
SEEDS = {"A": 52, "B": 34, "C": 18, "D": 8, "E": 128, "F": 4390, "G": 20}
SEARCHED = {"A": 150, "B": 150, "C": 80, "D": 20, "E": 170, "F": 6000, "G": 28}


@dataclass(frozen=True)
class Row:
    """One table: accuracies in per cent by column, and the thesis's."""

    table: str
    seed: int
    depth: int
    accuracy: dict[str, float]
    published: dict[str, float]

    @property
    def verdict(self) -> str:
        near = all(abs(self.accuracy[name] - value) <= LIMIT for name, value in self.published.items())
        return "reproduced" if near else "differs"


@dataclass(frozen=True)
class Figure81:
    rows: tuple[Row, ...]
    folds: int

    @property
    def verdict(self) -> str:
        return "reproduced" if all(row.verdict == "reproduced" for row in self.rows) else "differs"

    def to_dict(self) -> dict[str, Any]:
        rows = [asdict(row) | {"searched": SEARCHED[row.table], "verdict": row.verdict} for row in self.rows]
        source = "Fletcher, PhD thesis 2017, Figure 8.1"
        return {
            "experiment": "fletcher-fig81",
            "source": source,
            "warning": WARNING,
            "folds": self.folds,
            "verdict": self.verdict,
            "rows": rows,
        }


def run(
    tables: Sequence[str] = tuple(SYNTH),
    *,
    folds: int = FOLDS,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Figure81:
    """All columns of the given tables."""
    jobs = [(table, SEEDS[table], column, folds) for table in tables for column in COLUMNS]
    found = {(table, column): score for table, _, column, score in share_out(accuracy, jobs, processes, progress)}
    rows = [
        Row(
            table=table,
            seed=SEEDS[table],
            depth=depth_of(sum(SYNTH[table]), 0),
            accuracy={column: found[table, column] for column in COLUMNS},
            published=dict(zip(COLUMNS, PUBLISHED[table], strict=False)),
        )
        for table in tables
    ]
    return Figure81(tuple(rows), folds)


def accuracy(table: str, seed: int, column: str, folds: int) -> tuple[str, int, str, float]:
    """(table, seed, column, per cent): cross-validated on one instance."""
    schema, columns = synth(table, seed)
    score = evaluate(schema, columns, [learner(table, column)], folds=folds, references=()).results[0]
    return table, seed, column, 100 * score.accuracy_mean


def learner(table: str, column: str) -> PrivateClassifier:
    """The learner of a column. As published every leaf of the full depth is there; sound ones are capped as usual."""
    if column == "random-forest":
        return make_classifier("random-forest", epsilon=EPSILON)
    if column == "sound":
        return make_classifier("smooth-forest", epsilon=EPSILON)
    leaves = 2 ** depth_of(sum(SYNTH[table]), 0)
    variant = "as-published" if column == "smooth" else "global-sensitivity"
    return make_classifier("smooth-forest", epsilon=EPSILON, variant=variant, max_leaves=leaves)


def empty_leaves(schema: Schema, codes: Codes, trees: int, repeats: int) -> float:
    """The share of leaves that no record reaches, in per cent (Table 8.3). Counts exactly: for invented records."""
    from privet.engines.memory import MemoryEngine
    from privet.growing.random_trees import RandomTrees

    depth = depth_of(len(schema.attributes), 0)
    engine, shares = MemoryEngine(schema, codes), []
    for seed in range(repeats):
        random = np.random.default_rng(seed)
        routes = RandomTrees(trees, depth, max_leaves=2**depth).draw(schema, random)
        parts = engine.shards(ROOT, trees, lambda sides, size: random.integers(0, sides, size))  # noqa: B023
        shares.append(float((class_counts(engine, descend(parts, routes)).sum(axis=1) == 0).mean()))
    return 100 * float(np.mean(shares))
