"""How long Bai et al.'s algorithms take (their Fig. 8), by the number of records and the depth of the embedding.

Processor seconds of one fit from codes, trees of 20 layers on parts of mushroom. Machines and languages differ, so
orders and growth are judged, and the paper's bound of 150 seconds. NOT PRIVATE: what is timed counts exactly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privet.datasets import real
from privet.estimators.registry import make_classifier
from privet.evaluation.cross_validation import Records, private_way
from privet.evaluation.figure import Figure, Point, Series
from privet.tables.frozen import freeze
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome, Table
from privet_experiments.papers.bai.depths import EPSILONS, PUBLISHED, parameters

TABLE = "mushroom"
LAYERS = 20
RECORDS = (500, 1000, 2000, 4000, 8000)


@dataclass(frozen=True)
class BaiTime(Experiment):
    """Processor seconds of the published forms on parts of mushroom, trees of 20 layers."""

    records: tuple[int, ...] = axis(RECORDS, "Records to learn from; may be repeated.", option="--records")
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    steps: int = axis(0, "Cuts the Markov chains short; 0 is as long as the paper's.", least=0)
    layers: int = axis(LAYERS, "Layers of a tree, its leaves counted.", least=2)

    def check(self) -> None:
        real.load_schema(TABLE)

    def jobs(self) -> list[Job]:
        return [
            {"method": method, "records": n, "epsilon": epsilon}
            for n in self.records
            for epsilon in self.epsilons
            for method in PUBLISHED
        ]

    def run(self, job: Job) -> Found:
        schema, columns = real.load(TABLE)
        frozen = freeze(schema, columns)
        rows = np.random.default_rng(0).permutation(frozen.labels.size)[: job["records"]]
        params = parameters(job["method"], TABLE, self.layers, len(schema.attributes), self.steps)
        params |= {"variant": "as-published", "embedding_depth": PUBLISHED[job["method"]]}
        made = make_classifier("embedded", epsilon=job["epsilon"], **params)
        way = private_way(made, schema, 0)
        some = Records(frozen.codes(way.schema), frozen).take(rows)
        way.grow(some.take(np.arange(min(100, rows.size))))  # loads and compiles what the fit needs
        start = time.process_time()
        way.grow(some)
        return {"fit_seconds": round(time.process_time() - start, 3)}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        seconds = {(r["method"], r["records"], r["epsilon"]): r["fit_seconds"] for r in rows}

        def mean(method: str, records: int) -> float:
            return float(np.mean([seconds[method, records, epsilon] for epsilon in self.epsilons]))

        cells = tuple(
            (f"{n}", f"{epsilon:g}", *(f"{seconds[method, n, epsilon]:.2f}" for method in PUBLISHED))
            for n in self.records
            for epsilon in self.epsilons
        )
        series = tuple(
            Series(method, tuple(Point(float(n), mean(method, n)) for n in self.records), dashed=True)
            for method in PUBLISHED
        )
        title = f"BAI Fig. 8: seconds of one fit on {TABLE}, {self.layers} layers"
        return Outcome(
            (Table(title, ("records", "epsilon", *PUBLISHED), cells),),
            (Figure(title, "records", "processor seconds", series),),
            judge("bai.time", self._measures(mean, max(seconds.values()))),
            (f"Chains were cut after {self.steps} steps, shorter than the paper's.",) if self.steps else (),
        )

    def _measures(self, mean: Callable[[str, int], float], longest: float) -> Iterator[Measure]:
        few, many = min(self.records), max(self.records)
        if few < many:
            growth = [float(np.log(mean(m, many) / mean(m, few)) / np.log(many / few)) for m in PUBLISHED]
            yield Measure("linear", growth=growth, few=few, many=many)
        yield Measure("deeper", times=[mean(method, many) for method in PUBLISHED], many=many)
        yield Measure("most", longest=longest)
