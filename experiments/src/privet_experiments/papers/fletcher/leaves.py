"""Table 8.3 and Figures 8.2 and 8.5: what is in the leaves of disjoint random trees. Counted exactly; not private.

A job deals records to trees and looks at every leaf: how many are empty, how large the thesis's "smooth sensitivity"
is, how likely its draw changes the label, and how accurate labels drawn so are on records that were not dealt. With
sharing "all" every tree has all records and a share of epsilon, which is what the thesis compares with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.evaluation.cross_validation import part
from privet.evaluation.figure import Figure, Point, Series
from privet.models.forest import Forest
from privet.models.leaf_counts import as_trees
from privet.privacy.counting import ROOT, class_counts, descend
from privet.recipes.papers.smooth_forest import SmoothForest, depth_of
from privet.recipes.unsound.margin_labels import margins, smooth_sensitivity
from privet.schema import Numeric, Schema
from privet.structure.routes import Routes
from privet.tables.encoding import Codes, encode
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.folds import standard_error, values
from privet_experiments.judge import Measure, judge, published
from privet_experiments.outcome import Outcome, Table
from privet_experiments.papers.fletcher.tables import SYNTHETIC, TABLES, load

Floats = npt.NDArray[np.float64]

EPSILON = 1.0
FOREST = 100  # trees in Fig. 8.2
SIZES = (1, 10, 30, 100, 300)  # trees in Fig. 8.5
MOST_LEAVES = 2**15  # of a tree that is grown; larger ones are bounded by a formula
NEAR = 3.0  # points
MEASURES = ("empty", "flipped", "sensitivity", "accuracy")
EMPTY, FLIPPED = (published("fletcher.leaves", name) for name in ("empty", "flipped"))


def deal_leaves(engine: MemoryEngine, routes: Routes, sharing: str, random: np.random.Generator) -> npt.NDArray[Any]:
    """(leaf, class) exact counts of all trees, of disjoint parts of the records or of all of them in each."""
    if sharing == "disjoint":
        trees = len(routes)
        parts = engine.shards(ROOT, trees, lambda sides, size: random.integers(0, sides, size)) if trees > 1 else ROOT
        return class_counts(engine, descend(parts, routes))
    return np.concatenate([class_counts(engine, descend(ROOT, routes.tree(t))) for t in range(len(routes))])


def chance_of_winning(counts: npt.NDArray[Any], epsilon: float) -> tuple[Floats, Floats]:
    """(chance that the label drawn is a largest class, the sensitivity that it is drawn with), leaf by leaf."""
    sensitivity = smooth_sensitivity(margins(counts), epsilon)
    winners = _first_places(counts)
    with np.errstate(over="ignore", divide="ignore"):
        ahead = np.exp(-epsilon / (2 * sensitivity))  # a loser's weight where a winner's is 1
    return winners / (winners + (counts.shape[1] - winners) * ahead), sensitivity


def _first_places(counts: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """How many classes share the largest count of each leaf. An argmax takes one of them for the label."""
    return np.asarray((counts == counts.max(axis=1, keepdims=True)).sum(axis=1))


def expected_leaves(schema: Schema, depth: int) -> float:
    """How many leaves a random tree of that depth has on average, a child for every value, each once on a path.

    >>> from privet.schema import Categorical
    >>> letters = tuple(Categorical(name, (0, 1, 2)) for name in "abcd")
    >>> expected_leaves(Schema(letters, Categorical("y", (0, 1))), 2)
    9.0
    """
    arities = [attribute.arity for attribute in schema.attributes if not isinstance(attribute, Numeric)]
    numbers, discrete = len(schema.attributes) - len(arities), len(arities)
    symmetric = [1.0]  # elementary symmetric sums: products of j different arities
    for arity in arities:
        symmetric = [a + arity * b for a, b in zip([*symmetric, 0.0], [0.0, *symmetric], strict=True)]
    chance = {0: 1.0}  # of j discrete tests so far
    for _ in range(depth):
        after: dict[int, float] = {}
        for used, p in chance.items():
            left = numbers + discrete - used
            if left == 0:
                after[used] = after.get(used, 0.0) + p
                continue
            after[used] = after.get(used, 0.0) + 2 * p * numbers / left  # a number has two children
            after[used + 1] = after.get(used + 1, 0.0) + p * (discrete - used) / left
        chance = after
    return sum(p * symmetric[j] / math.comb(discrete, j) for j, p in chance.items() if p)


@dataclass(frozen=True)
class Leaves(Experiment):
    """Leaves of random trees by Theorem 8.2's depth at epsilon 1: empty ones, flipped labels, sensitivities."""

    tables: tuple[str, ...] = axis(TABLES, "A table; may be repeated.")
    trees: tuple[int, ...] = axis(SIZES, "How many trees on disjoint parts; may be repeated.", option="--trees")
    repeats: int = axis(10, "Forests of each kind.")
    seed: int = axis(0, "Deals the records and seeds the trees.", least=0)

    @property
    def n_runs(self) -> int:
        return self.repeats

    @property
    def by_repeats(self) -> bool:
        return True

    def jobs(self) -> list[Job]:
        kinds = [(trees, "disjoint") for trees in self.trees]
        kinds += [(FOREST, "all")] if FOREST in self.trees else []
        return [
            {"table": table, "trees": trees, "sharing": sharing, "repeat": repeat}
            for table in self.tables
            for trees, sharing in kinds
            for repeat in range(self.repeats)
        ]

    def run(self, job: Job) -> Found:
        schema, codes = _encoded(job["table"])
        assert codes.labels is not None
        random = np.random.default_rng((self.seed, job["repeat"], job["trees"]))
        depth = _depth(schema)
        size, trees = codes.labels.size, job["trees"]
        leaves = expected_leaves(schema, depth)
        if leaves > MOST_LEAVES:  # a record fills one leaf at most
            filled = size / (trees if job["sharing"] == "disjoint" else 1)
            return {"bound": True, "empty": [100 * (1 - filled / leaves)]} | {name: [] for name in MEASURES[1:]}
        order = random.permutation(size)
        unseen, known = np.split(order, [size // 10])
        engine = MemoryEngine(schema, part(codes, known))
        routes = SmoothForest(n_estimators=trees, max_depth=depth, max_leaves=2 * MOST_LEAVES).routes(schema, random)
        counts = deal_leaves(engine, routes, job["sharing"], random)
        epsilon = EPSILON / (1 if job["sharing"] == "disjoint" else trees)
        wins, sensitivity = chance_of_winning(counts, epsilon)
        filled = counts.sum(axis=1) > 0
        forest = _drawn(schema, routes, counts, wins, random)
        asked = part(codes, unseen)
        right = float((forest.predict(asked.features) == asked.labels).mean())
        return {
            "bound": False,
            "empty": [100 * float((~filled).mean())],
            "flipped": [100 * float((1 - wins[filled] / _first_places(counts[filled])).mean())],
            "sensitivity": [float(sensitivity[filled].mean())],
            "accuracy": [100 * right],
        }

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        tables = [self._table(rows, measure) for measure in MEASURES]
        drawn = [t for t in self.tables if values(rows, "flipped", table=t)]
        series = tuple(
            Series(
                table,
                tuple(
                    Point(float(n), float(np.mean(values(rows, "flipped", table=table, trees=n, sharing="disjoint"))))
                    for n in self.trees
                ),
                dashed=True,
            )
            for table in drawn
        )
        figure = Figure("TH Fig. 8.5: labels that the draw changed", "trees", "% of leaves with records", series, True)
        notes = (
            "Numbers of SynthA to SynthG are of the instances nearest to Fig. 8.1. On adult and mushroom trees have "
            "millions of leaves and are not grown: their empty leaves are a bound from below, 1 - records / leaves.",
        )
        statements = judge("fletcher.leaves", _measures(self, rows))
        return Outcome(tuple(tables), (figure,) if drawn else (), statements, notes)

    def _table(self, rows: Sequence[Row], measure: str) -> Table:
        kinds = [(n, "disjoint") for n in self.trees] + ([(FOREST, "all")] if FOREST in self.trees else [])
        cells = []
        for table in self.tables:
            found = [values(rows, measure, table=table, trees=n, sharing=sharing) for n, sharing in kinds]
            digits = 3 if measure == "sensitivity" else 1
            cells.append((table, *(f"{np.mean(one):.{digits}f}" if one else "-" for one in found)))
        told = {"empty": "% of leaves without records", "flipped": "% of other leaves with a changed label"}
        title = told.get(measure, f"{measure}, epsilon 1" if measure == "sensitivity" else "accuracy %, epsilon 1")
        return Table(title, ("table", *(f"{n}, {sharing}" for n, sharing in kinds)), tuple(cells))


def _measures(grid: Leaves, rows: Sequence[Row]) -> Iterator[Measure]:
    def found(measure: str, table: str, trees: int, sharing: str = "disjoint") -> list[float]:
        return values(rows, measure, table=table, trees=trees, sharing=sharing)

    def mean(*where: Any) -> float:
        return float(np.mean(found(*where)))

    for table in EMPTY if {1, 30} <= set(grid.trees) and grid.repeats >= 3 else ():
        if table in grid.tables:
            bound = any(row["bound"] for row in rows if row["table"] == table)
            means = [mean("empty", table, trees) for trees in (1, 30)]
            limits = [max(NEAR, 3 * standard_error(found("empty", table, trees))) for trees in (1, 30)]
            told = " and ".join(f"at least {one:.2f}" if bound else f"{one:.1f}" for one in means)
            yield Measure("empty", at=table, told=told, bound=bound, means=means, limits=limits)
    drawn = [table for table in grid.tables if found("accuracy", table, FOREST, "all")]
    if len(drawn) >= 3:
        gaps = {t: mean("accuracy", t, FOREST) - mean("accuracy", t, FOREST, "all") for t in drawn}
        lower = sum(mean("sensitivity", t, FOREST) < mean("sensitivity", t, FOREST, "all") for t in drawn)
        best, worst = max(gaps, key=gaps.__getitem__), min(gaps, key=gaps.__getitem__)
        synthetic = [gap for table, gap in gaps.items() if table in SYNTHETIC]
        yield Measure("disjoint", gap=gaps[best], table=best, synthetic=synthetic)
        yield Measure("nowhere", gap=gaps[worst], table=worst)
        yield Measure("sensitivity", lower=lower, tables=len(drawn))
    for table in FLIPPED if grid.trees == SIZES else ():
        if table in grid.tables:
            means = [mean("flipped", table, trees) for trees in SIZES]
            yield Measure("flipped", at=table, means=means)
            yield Measure("more", table=table, means=means)


@lru_cache(maxsize=2)  # jobs of one table stand side by side
def _encoded(table: str) -> tuple[Schema, Codes]:
    schema, columns = load(table)
    prepared = SmoothForest().prepare(schema)
    codes = encode(prepared, columns)
    assert codes.labels is not None
    return prepared, part(codes, np.flatnonzero(codes.labels >= 0))


def _depth(schema: Schema) -> int:
    numbers = sum(isinstance(attribute, Numeric) for attribute in schema.attributes)
    return depth_of(numbers, len(schema.attributes) - numbers)


def _drawn(
    schema: Schema, routes: Routes, counts: npt.NDArray[Any], wins: Floats, random: np.random.Generator
) -> Forest:
    """The forest with labels drawn as in Theorem 8.1: a winner with chance ``wins``, any loser otherwise."""
    largest = counts == counts.max(axis=1, keepdims=True)
    losers = np.maximum((~largest).sum(axis=1), 1)
    chances = np.where(largest, (wins / largest.sum(axis=1))[:, None], ((1 - wins) / losers)[:, None])
    labels = (np.cumsum(chances, axis=1) < random.random(len(chances))[:, None]).sum(axis=1)
    shares = np.zeros((len(routes.tests), schema.n_classes))
    shares[routes.leaves, np.minimum(labels, schema.n_classes - 1)] = 1
    return Forest(schema, as_trees(routes, shares, np.full_like(shares, np.nan)))
