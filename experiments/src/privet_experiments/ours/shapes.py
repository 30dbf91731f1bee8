"""The exact tree on tables of many shapes: does it find the data, whatever the bounds, the size and the classes?

Eight numbers have one latent bell each, and a shape says how it becomes a value between declared bounds. Two classes
follow a noisy linear rule on three of them; more classes are the nearest of as many points in four of them. So the best
rule is the same for all shapes, and what differs is where the cuts must lie. Beside the exact tree by default stands a
fixed list of others: the same tree with its thresholds declared at the true deciles, on an even grid at depths 3 to 6,
``diffpc45`` and ``random-forest``. Nobody has to be protected: the records are invented.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.estimators.registry import make_classifier
from privet.schema import Categorical, Numeric, Schema
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.outcome import Outcome, Table

Floats = npt.NDArray[np.float64]

NUMBERS = 8
TEST_RECORDS = 20_000
DECILES = tuple(range(1, 10))
CLOSE, ENOUGH = 0.7, 2_500  # points behind the best of the list, and the signal of each number from which on that holds
BEHIND_MAJORITY = 1.0  # points that nothing may fall behind the majority class
RULE_NOISE, POINT_NOISE = 0.5, 0.25
BELL = np.linspace(-8, 8, 3201)
BELOW = np.array([NormalDist().cdf(z) for z in BELL.tolist()])


@dataclass(frozen=True)
class Shape:
    """How a latent bell becomes a value, and which bounds are declared for it."""

    low: float
    high: float
    value: Callable[[Floats], Floats]


def _bell(centre: float, spread: float) -> Callable[[Floats], Floats]:
    return lambda z: centre + spread * z


def _uniform(z: Floats) -> Floats:
    return 100 * np.interp(z, BELL, BELOW)


SHAPES: dict[str, Shape] = {
    "uniform": Shape(0, 100, _uniform),
    "bell": Shape(0, 100, _bell(50, 10)),
    "bell off centre": Shape(0, 100, _bell(82, 4)),
    "skewed": Shape(0, 100, lambda z: 8 * np.exp(0.6 * z)),
    "heavy-tailed": Shape(0, 1e6, lambda z: np.exp(3 + 1.5 * z)),
    "spikes": Shape(0, 100, _bell(50, 10)),  # every second value is exactly in the middle
    "bounds x 10": Shape(0, 720, _bell(40, 10)),
    "bounds x 1,000": Shape(0, 72_000, _bell(40, 10)),
    "bounds x 1,000,000": Shape(-36_000_000, 36_000_000, _bell(40, 10)),
}
SIZES, LARGEST = (2_000, 20_000, 100_000), 1_000_000
LARGE_SHAPES = ("uniform", "bell", "bounds x 1,000,000")  # those that are also tried on a million records
CLASSES, EPSILONS = (2, 5, 26), (0.1, 1.0)
HEADINGS = ("shape", "classes", "records", "epsilon", "exact", "best of the list", "majority", "s", "verdict")

LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "exact": ("exact", {}),
    "true deciles": ("exact", {}),  # declared as thresholds
    **{f"even grid, depth {d}": ("exact", {"grid": "even", "max_depth": d, "leaf_share": 0}) for d in (3, 4, 5, 6)},
    "diffpc45": ("diffpc45", {}),
    "random-forest": ("random-forest", {}),
}


@dataclass(frozen=True)
class Cell:
    """One table at one epsilon: accuracy in per cent, of the majority class too, and the seconds that a fit took."""

    shape: str
    records: int
    classes: int
    epsilon: float
    accuracy: Mapping[str, float]
    seconds: Mapping[str, float]
    majority: float
    repeats: int

    @property
    def signal(self) -> float:
        """Records times epsilon, for each number."""
        return self.records * self.epsilon / NUMBERS

    @property
    def best(self) -> str:
        """The best of the list beside the exact tree."""
        return max((name for name in self.accuracy if name != "exact"), key=lambda name: self.accuracy[name])

    @property
    def behind(self) -> float:
        """Points that the exact tree is behind the best of the list; below 0 where it is ahead."""
        return self.accuracy[self.best] - self.accuracy["exact"]

    @property
    def verdict(self) -> str:
        if self.accuracy["exact"] < self.majority - BEHIND_MAJORITY:
            return "below the majority class"
        if self.signal >= ENOUGH and self.behind > CLOSE:
            return "too far behind"
        return "close" if self.signal >= ENOUGH else "little signal"


@dataclass(frozen=True)
class ShapeSuite:
    cells: tuple[Cell, ...]

    @property
    def missed(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.verdict in ("below the majority class", "too far behind"))

    @property
    def verdict(self) -> str:
        if not self.missed:
            return "close to the best wherever there is signal enough, and never below the majority class"
        return f"{len(self.missed)} of {len(self.cells)} cells miss their target"

    def rows(self) -> tuple[tuple[str, ...], ...]:
        found = []
        for cell in self.cells:
            best = f"{cell.accuracy[cell.best]:.1f} {cell.best}"
            said = (f"{cell.classes}", f"{cell.records:,}", f"{cell.epsilon:g}", f"{cell.accuracy['exact']:.1f}")
            told = (best, f"{cell.majority:.1f}", f"{cell.seconds['exact']:.1f}", cell.verdict)
            found.append((cell.shape, *said, *told))
        return tuple(found)


def cells_of(
    shapes: Sequence[str], sizes: Sequence[int], classes: Sequence[int], epsilons: Sequence[float]
) -> list[tuple[str, int, int, float]]:
    """All combinations, and the largest tables of a few shapes only."""
    unknown = [shape for shape in shapes if shape not in SHAPES]
    if unknown:
        raise ParameterError(f"no shape is called {unknown[0]!r}; choose among {', '.join(SHAPES)}")
    every = product(shapes, sizes, classes, epsilons)
    return [cell for cell in every if cell[1] < LARGEST or cell[0] in LARGE_SHAPES]


@dataclass(frozen=True)
class Shapes(Experiment):
    """The exact tree on invented tables of nine shapes, against a fixed list of others. Each table has eight numbers.
    Shapes say how they lie inside their declared bounds, up to a million times too wide.
    """

    invented: ClassVar[bool] = True
    shapes: tuple[str, ...] = axis(tuple(SHAPES), "A shape; may be repeated.")
    records: tuple[int, ...] = axis((*SIZES, LARGEST), "A size; may be repeated.", option="--records", least=10)
    classes: tuple[int, ...] = axis(CLASSES, "How many labels; may be repeated.", option="--classes", least=2)
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    learners: tuple[str, ...] = axis(tuple(LEARNERS), "A learner of the list; may be repeated.")
    repeats: int = axis(3, "How often, on other records.")

    def check(self) -> None:
        self.cells()
        if missing := [name for name in self.learners if name not in LEARNERS]:
            raise ParameterError(f"no learner is called {missing[0]!r}; choose among {', '.join(LEARNERS)}")

    def cells(self) -> list[tuple[str, int, int, float]]:
        return cells_of(self.shapes, self.records, self.classes, self.epsilons)

    def jobs(self) -> list[Job]:
        return [
            {"shape": s, "records": n, "classes": k, "epsilon": e, "learner": learner, "repeat": repeat}
            for s, n, k, e in self.cells()
            for learner in self.learners
            for repeat in range(self.repeats)
        ]

    def run(self, job: Job) -> Found:
        return {"scores": _one(**job)}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        found: dict[tuple[Any, ...], dict[str, list[list[float]]]] = {}
        for row in rows:
            cell = (row["shape"], row["records"], row["classes"], row["epsilon"])
            found.setdefault(cell, {}).setdefault(row["learner"], []).append(row["scores"])
        suite = ShapeSuite(tuple(_cell(cell, found[cell], self.learners, self.repeats) for cell in self.cells()))
        table = Table("The exact tree on tables of many shapes, accuracy %", HEADINGS, suite.rows())
        return Outcome((table,), notes=(f"{suite.verdict}.",))


def _cell(
    cell: tuple[str, int, int, float],
    found: dict[str, list[list[float]]],
    learners: Sequence[str],
    repeats: int,
) -> Cell:
    means = {name: np.mean(found[name], axis=0).tolist() for name in learners}
    accuracy, seconds = ({name: means[name][i] for name in learners} for i in (0, 1))
    return Cell(*cell, accuracy, seconds, means[learners[0]][2], repeats)


def _one(shape: str, records: int, classes: int, epsilon: float, learner: str, repeat: int) -> list[float]:
    """Accuracy, seconds and majority of one fit; the tables of a repeat are the same for all."""
    schema, tables = world(shape, classes, (records, TEST_RECORDS), repeat)
    (known, labels), (unseen, truth) = tables
    recipe, settings = LEARNERS[learner]
    if learner == "true deciles":
        schema = declared_deciles(shape, schema)
    classifier = make_classifier(recipe, schema=schema, epsilon=epsilon, random_state=repeat, **settings)
    start = time.perf_counter()
    classifier.fit(known, labels)
    seconds = time.perf_counter() - start
    most = np.bincount(labels, minlength=classes).argmax()
    right = 100 * float((classifier.predict(unseen) == truth).mean())
    return [right, seconds, 100 * float((truth == most).mean())]


# ---- tables -------------------------------------------------------------------------------------------------------


def world(
    shape: str, classes: int, sizes: Sequence[int], seed: int
) -> tuple[Schema, list[tuple[dict[str, Floats], npt.NDArray[np.int64]]]]:
    """A schema and as many tables as sizes: columns and labels. The same seed gives the same records."""
    made, random = SHAPES[shape], np.random.default_rng([seed, classes])
    schema = Schema(
        tuple(Numeric(f"x{i}", made.low, made.high) for i in range(NUMBERS)),
        Categorical("class", tuple(range(classes))),
        name=shape,
    )
    points = random.normal(size=(classes, 4))
    tables = []
    for size in sizes:
        latent = random.normal(size=(NUMBERS, size))
        if shape == "spikes":
            latent[random.random(latent.shape) < 0.5] = 0.0
        labels = _labels(latent, points, random)
        tables.append(({f"x{i}": made.value(latent[i]) for i in range(NUMBERS)}, labels))
    return schema, tables


def _labels(latent: Floats, points: Floats, random: np.random.Generator) -> npt.NDArray[np.int64]:
    size = latent.shape[1]
    if len(points) == 2:
        score = latent[0] + 0.5 * latent[1] - 0.7 * (latent[2] > 0.3) + RULE_NOISE * random.normal(size=size)
        return (score > 0.2).astype(np.int64)
    labels = np.empty(size, dtype=np.int64)
    for start, part in _parts(latent[:4]):
        seen = part + POINT_NOISE * random.normal(size=part.shape)
        away = ((seen[None] - points[:, :, None]) ** 2).sum(axis=1)
        labels[start : start + part.shape[1]] = away.argmin(axis=0)
    return labels


def _parts(latent: Floats, size: int = 50_000) -> Iterator[tuple[int, Floats]]:
    for start in range(0, latent.shape[1], size):
        yield start, latent[:, start : start + size]


def declared_deciles(shape: str, schema: Schema) -> Schema:
    """The schema with the true deciles of each number as its thresholds, as an owner might know them."""
    latent = np.array([NormalDist().inv_cdf(tenth / 10) for tenth in DECILES])
    if shape == "spikes":  # the value in the middle, which half of them have, is cut off on either side
        latent = np.sort(np.append(latent, -1e-9))
    cuts = tuple(SHAPES[shape].value(latent).tolist())
    numbers = [Numeric(a.name, SHAPES[shape].low, SHAPES[shape].high, thresholds=cuts) for a in schema.attributes]
    return Schema(tuple(numbers), schema.label, name=schema.name)
