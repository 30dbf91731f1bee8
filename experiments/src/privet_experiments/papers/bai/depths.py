"""Bai et al., *Embedding differential privacy in decision tree algorithm with different depths* (2017), run again.

Accuracy against epsilon (their Figs. 4 to 7), beside privet's exact mechanisms: does one mechanism for a block of
levels beat one per level, and where does a tree stand that is drawn exactly? The chain itself (Fig. 3) is in
``chain``, running times (Fig. 8) in ``time``. NOT PRIVATE: all of it is for tables that need no protection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

from privet.errors import ParameterError
from privet.evaluation.cross_validation import Way
from privet.schema import Schema
from privet_experiments.experiment import axis
from privet_experiments.folds import Learner, standard_error, way_of
from privet_experiments.judge import Measure
from privet_experiments.sweep import Results, Sweep, declare

EPSILONS = (0.01, 0.1, 1.0, 10.0)  # of all figures but the seventh
FIGURES = {"vote": 4, "mushroom": 5, "tic-tac-toe": 6}
LAYERS = 5
# Section 4.1: the smallest node that is split, and (buffer, step_limit) by embedding depth where a chain is used.
PAPER: dict[str, tuple[int, dict[int | str, tuple[int, int]]]] = {
    "vote": (20, {3: (50, 1000), "whole": (500, 10_000)}),
    "mushroom": (50, {2: (50, 500), 3: (75, 3000), "whole": (500, 30_000)}),
    "tic-tac-toe": (20, {2: (50, 500), 3: (50, 1000), "whole": (500, 10_000)}),
}
EMBEDDINGS: tuple[int | Literal["whole"], ...] = (1, 2, 3, "whole")
PUBLISHED = {f"as published, d = {d}": d for d in EMBEDDINGS}
PER_LEVEL, *BLOCKS = PUBLISHED
TWO, THREE, WHOLE = BLOCKS
EXACT, RDT = "exact", "Private-RDT"
CLEAR = 2  # standard errors of a difference; one cell in twenty is so far apart by chance
OURS = {
    EXACT: ("exact", {}),
    "exact, multiway": ("exact", {"tests": "multiway"}),
    "diffpc45": ("diffpc45", {}),
    "embedded, exact search": ("embedded", {}),  # its default: no rule stops it early
}
THEIRS = {name: ("embedded", {"variant": "as-published", "embedding_depth": d}) for name, d in PUBLISHED.items()}


@dataclass(frozen=True)
class Bai(Sweep):
    """Trees in blocks of levels: the published forms (not private), DiffPC4.5 and the exact mechanisms. Figs. 4 to 6
    are the tables one by one; Fig. 7 has Private-RDT beside them.
    """

    known: ClassVar[Mapping[str, Learner]] = declare({**OURS, **THEIRS, RDT: ("jagannathan2012", {})})
    title: ClassVar[str] = "Bai et al."
    section: ClassVar[str] = "bai.depths"
    least_tables: ClassVar[int] = 1
    by_table: ClassVar[bool] = True
    layers: int = axis(LAYERS, "Layers of a tree, its leaves counted; 0 is as in Fig. 7.", least=0)
    steps: int = axis(0, "Cuts the Markov chains short; 0 is as long as the paper's.", least=0)

    def check(self) -> None:
        check_tables(self.tables)
        super().check()

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        attributes = len(schema.attributes)
        more = parameters(learner.name, table, self.layers_of(attributes), attributes, self.steps)
        return way_of(learner.recipe, schema, epsilon, self.seed, {**learner.params, **more})

    def layers_of(self, attributes: int) -> int:
        """Of the trees for a table. Those of Fig. 7 have tests on half of its attributes."""
        return self.layers or attributes // 2 + 1

    def measures(self, results: Results) -> Iterator[Measure]:
        if self.has(RDT, *PUBLISHED):
            for table in self.tables:
                for name, depth in PUBLISHED.items():
                    gaps = [results.gap(table, name, RDT, epsilon) for epsilon in self.epsilons]
                    yield Measure("rdt", at=f"{table}: d = {depth}", gaps=gaps, epsilons=self.epsilons)
        elif self.has(*PUBLISHED):
            for table in self.tables:
                for one in self._of_table(results, table):
                    yield Measure(one.name, table=table, figure=FIGURES[table], **one.values)

    def notes(self) -> tuple[str, ...]:
        cut = f" Chains were cut after {self.steps} steps, shorter than the paper's." if self.steps else ""
        layers = f"{self.layers} layers" if self.layers else "as many tests as half of the attributes"
        return (f"Trees of {layers}.{cut}",)

    def _of_table(self, results: Results, table: str) -> Iterator[Measure]:
        for epsilon in self.epsilons:
            if epsilon in (0.1, 1.0):
                yield self._deeper(results, table, epsilon)
        low, high = min(self.epsilons), max(self.epsilons)
        for name, epsilon, asked in (("best", low, low <= 0.01), ("poorest", high, high >= 10)):
            if asked:
                gaps = [results.gap(table, WHOLE, other, epsilon) for other in (PER_LEVEL, TWO, THREE)]
                error = standard_error(results.folds(table, WHOLE, epsilon))
                yield Measure(name, epsilon=epsilon, gaps=gaps, error=error)
        if low < high:
            rise = [(results.mean(table, d, high) or 0.0) - (results.mean(table, d, low) or 0.0) for d in PUBLISHED]
            yield Measure("rise", rise=rise, low=low, high=high)

    def _deeper(self, results: Results, table: str, epsilon: float) -> Measure:
        def apart(first: str, second: str) -> tuple[float, float]:
            """Points that the first is ahead, and how many would be clear."""
            errors = (standard_error(results.folds(table, name, epsilon)) for name in (first, second))
            return results.gap(table, first, second, epsilon), CLEAR * sum(error**2 for error in errors) ** 0.5

        found = [apart(deeper, shallower) for shallower, deeper in pairwise(PUBLISHED)]
        steps, doubts = (list(column) for column in zip(*found, strict=True))
        ahead, clear = apart(WHOLE, PER_LEVEL)
        turned = any(gap <= -doubt for gap, doubt in found)
        reason = "a step is clearly reversed" if turned else "the folds cannot tell them apart"
        reason += f", with chains of {self.steps} steps" if self.steps else ""
        values = {"steps": steps, "doubts": doubts, "ahead": ahead, "clear": clear, "reason": reason}
        return Measure("deeper", epsilon=epsilon, **values)


def check_tables(tables: Sequence[str]) -> None:
    """Raise ``ParameterError`` for a table that the paper does not have."""
    for table in tables:
        if table not in PAPER:
            raise ParameterError(f"no figure shows {table!r}; choose among {', '.join(PAPER)}")


def parameters(name: str, table: str, layers: int, attributes: int, steps: int) -> dict[str, Any]:
    """What a learner is given for a table: the paper's settings. ``steps`` cuts chains short; 0 does not."""
    depth, (least, chains) = layers - 1, PAPER[table]
    if name == EXACT:
        return {}
    if name == RDT:  # as in its own paper: half of the attributes deep, five trees for few records
        return {"max_depth": attributes // 2, "n_estimators": 5 if table == "vote" else 10}
    if name not in PUBLISHED:
        return {"max_depth": min(depth, 3) if name.startswith("embedded") else depth}
    buffer, limit = chains.get(PUBLISHED[name], (None, None))
    if limit is not None and steps:
        limit = min(limit, steps)
    search = "exhaustive" if buffer is None else "mcmc"
    return {"max_depth": depth, "search": search, "min_records": least, "buffer": buffer, "step_limit": limit}
