"""Figure 5.3: four patterns of adult as uniform noise on the records grows. NOT PRIVATE: it counts exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.evaluation.figure import Figure, Point, Series
from privet.publishing import uniform_noise
from privet.rules.retention import chi_squared
from privet.schema import Schema
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome, Table

TABLE = "adult-complete"
RECORDS = 30_162  # of the thesis's copy: supports below are told for as many
# Table 5.1: (attribute, above, up to). It prints "206134 > weight <= 346177" and "116388 > weight <= 200855.5", where
# the second bound would say nothing; "<" is meant.
PATTERNS: tuple[tuple[tuple[str, float, float], ...], ...] = (
    (
        ("fnlwgt", 206_134, 346_177),
        ("capital-gain", -np.inf, 4737),
        ("age", 40.5, np.inf),
        ("capital-loss", -np.inf, 1836.5),
        ("hours-per-week", 52.5, np.inf),
    ),
    (("fnlwgt", 244_440.5, 249_542), ("capital-gain", -np.inf, 4737), ("age", -np.inf, 40.5)),
    (("fnlwgt", -np.inf, 206_134), ("capital-gain", 5316.5, np.inf)),
    (
        ("fnlwgt", 116_388, 200_855.5),
        ("capital-gain", -np.inf, 5316.5),
        ("capital-loss", -np.inf, 1198),
        ("hours-per-week", -np.inf, 53.5),
    ),
)


def matches(columns: Mapping[str, Any], pattern: Sequence[tuple[str, float, float]]) -> npt.NDArray[np.bool_]:
    """Which records meet every condition: above the first number, and at most the second."""
    met = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for name, above, up_to in pattern:
        values = np.asarray(columns[name], dtype=float)
        met &= (values > above) & (values <= up_to)
    return met


@dataclass(frozen=True)
class Patterns(Experiment):
    """The patterns of Table 5.1 in adult at rates of uniform noise: support, and the distance of label shares."""

    rates: tuple[float, ...] = axis((0.0, 0.1, 0.2, 0.3), "A rate of noise; may be repeated.")
    seed: int = axis(0, "Draws the noise.", least=0)

    def jobs(self) -> list[Job]:
        return [{"rate": rate} for rate in self.rates]

    def run(self, job: Job) -> Found:
        schema, columns = _table()
        noisy = uniform_noise(columns, schema, job["rate"], random=np.random.default_rng(self.seed)).columns
        rich = np.asarray(columns[schema.label.name]) == ">50K"  # noise leaves labels alone
        scale = RECORDS / len(rich)
        found: dict[str, list[float]] = {"support": [], "rich": [], "distance": []}
        for pattern in PATTERNS:
            before, after = (np.bincount(rich[matches(t, pattern)], minlength=2) for t in (columns, noisy))
            found["support"].append(float(scale * after.sum()))
            found["rich"].append(float(after[1] / max(after.sum(), 1)))
            found["distance"].append(chi_squared(before, after))
        return found

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        names = [f"pattern {i}" for i in range(len(PATTERNS))]
        cells = tuple(
            (
                f"{row['rate']:g}",
                *(f"{n:.0f}, {share:.2f}, {d:.3f}" for n, share, d in zip(*(row[k] for k in KEYS), strict=True)),
            )
            for row in rows
        )
        title = "support in 30,162 records, share above 50,000, chi-squared distance"
        series = tuple(
            Series(name, tuple(Point(row["rate"], row["support"][i]) for row in rows), dashed=True)
            for i, name in enumerate(names)
        )
        figure = Figure("TH Fig. 5.3: support of four patterns", "rate of uniform noise", "records", series)
        return Outcome((Table(title, ("rate", *names), cells),), (figure,), judge("fletcher.fig53", _measures(rows)))


KEYS = ("support", "rich", "distance")


def _measures(rows: Sequence[Row]) -> Iterator[Measure]:
    by_rate = {row["rate"]: row for row in rows}
    if not {0.0, 0.3} <= set(by_rate):
        return
    clean, noisy = by_rate[0.0], by_rate[0.3]
    before, after = clean["support"], noisy["support"]
    yield Measure("shares", shares=clean["rich"])
    yield Measure("shrinks", before=before[3], after=after[3])
    yield Measure("labels", distance=noisy["distance"][3])
    yield Measure("grows", before=before[2], after=after[2])
    yield Measure("opposite", share=noisy["rich"][2])
    yield Measure("others", before=before, after=after)


@lru_cache(maxsize=1)
def _table() -> tuple[Schema, Any]:
    return real.load(TABLE)
