"""The computational complexity of the thesis's three forests (9.3), measured: O(m n delta tau), O(n tau) and O(n).

Each forest learns from invented records, one size at a time being varied: records n, attributes m, depth delta, trees
tau. The power with which processor time grows is compared with the formula's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privet.datasets.fs import domain, random_tree, sample
from privet.estimators.registry import make_classifier
from privet.evaluation.cross_validation import Records, private_way
from privet.evaluation.figure import Figure, Point, Series
from privet.tables.frozen import freeze
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome, Table

AXES = ("records", "attributes", "depth", "trees")
USUAL = {"records": 40_000, "attributes": 16, "depth": 4, "trees": 8}
# The recipe, the thesis's formula, and the axes that are in it.
FORESTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "chapter 6": ("greedy-forest", "O(m n delta tau)", AXES),
    "chapter 7": ("snr-forest", "O(n tau)", ("records", "trees")),
    "chapter 8": ("smooth-forest", "O(n)", ("records",)),
}


@dataclass(frozen=True)
class Complexity(Experiment):
    """Processor seconds of a fit by the number of records, attributes, levels and trees. A job is one forest at one
    size, fitted some times.
    """

    invented: ClassVar[bool] = True
    records: tuple[int, ...] = axis((20_000, 160_000), "Records; the least and the most.", option="--records")
    attributes: tuple[int, ...] = axis((8, 32), "Attributes; so too.", option="--attributes")
    depths: tuple[int, ...] = axis((2, 6), "Levels of tests; so too.")
    trees: tuple[int, ...] = axis((4, 32), "Trees; so too.", option="--trees")
    runs: int = axis(10, "Fits of each.")

    @property
    def n_runs(self) -> int:
        return self.runs

    def jobs(self) -> list[Job]:
        return [
            {"forest": forest, "axis": name, "value": value}
            for forest in FORESTS
            for name, values in zip(AXES, (self.records, self.attributes, self.depths, self.trees), strict=True)
            for value in values
            if not (forest == "chapter 7" and name == "depth")  # DP-RF grows until the noise is as large as the signal
        ]

    def run(self, job: Job) -> Found:
        size = USUAL | {job["axis"]: job["value"]}
        rng = np.random.default_rng(0)
        drawn = sample(random_tree(domain(size["attributes"]), 3, rng), size["records"], rng, p_noise=0.1)
        recipe = FORESTS[job["forest"]][0]
        params: dict[str, Any] = {"n_estimators": size["trees"]}
        params |= {} if recipe == "snr-forest" else {"max_depth": size["depth"], "variant": "as-published"}
        way = private_way(make_classifier(recipe, epsilon=1.0, **params), drawn.schema, 0)
        frozen = freeze(drawn.schema, drawn.table())
        records = Records(frozen.codes(way.schema), frozen)
        seconds = []
        for _ in range(self.runs + 1):  # the first compiles what the fits need
            start = time.process_time()
            way.grow(records)
            seconds.append(time.process_time() - start)
        return {"fit_seconds": seconds[1:]}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        found = {(r["forest"], r["axis"], r["value"]): float(np.mean(r["fit_seconds"])) for r in rows}
        cells = tuple(
            (forest, name, f"{value:g}", f"{seconds:.3f}") for (forest, name, value), seconds in found.items()
        )
        series = tuple(
            Series(forest, tuple(Point(float(n), found[forest, "records", n]) for n in self.records))
            for forest in FORESTS
        )
        title = "TH 9.3: processor seconds of a fit"
        return Outcome(
            (Table(title, ("forest", "varied", "value", "seconds"), cells),),
            (Figure(title, "records", "seconds", series, logarithmic=True),),
            judge("fletcher.complexity", self._measures(found)),
        )

    def _measures(self, found: dict[tuple[str, str, Any], float]) -> Iterator[Measure]:
        for forest, (_, formula, inside) in FORESTS.items():
            for name in AXES:
                sizes = sorted(value for who, varied, value in found if (who, varied) == (forest, name))
                if len(sizes) < 2:
                    continue
                low, high = sizes[0], sizes[-1]
                times = [max(found[forest, name, size], 1e-4) for size in (low, high)]
                exponent = float(np.log(times[1] / times[0]) / np.log(high / low))
                told = "levels" if name == "depth" else name
                power = int(name in inside)
                yield Measure("grows", forest=forest, axis=told, formula=formula, power=power, exponent=exponent,
                              low=low, high=high)  # fmt: skip
