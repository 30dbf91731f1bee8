"""Bai et al., *Embedding differential privacy in decision tree algorithm with different depths* (2017), run again.

Accuracy against epsilon (their Figs. 4 to 7), beside privet's exact mechanisms: does one mechanism for a block of
levels beat one per level, and where does a tree stand that is drawn exactly? The chain itself (Fig. 3) is in
``bai_chain``, running times (Fig. 8) in ``bai_time``. The figures have no numbers in the text; what the text says of
them is judged. NOT PRIVATE: all of it is for tables that need no protection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from privet.errors import ParameterError
from privet.experiments.cross_validation import Learner, standard_error, way_of
from privet.experiments.evaluation import Way
from privet.experiments.experiment import axis
from privet.experiments.outcome import Statement, judged
from privet.experiments.sweep import Results, Sweep, declare
from privet.schema import Schema

EPSILONS = (0.01, 0.1, 1.0, 10.0)  # of all figures but the seventh
FIG7_EPSILONS = (0.5, 0.75, 1.0)
FIGURES = {"vote": 4, "mushroom": 5, "tic-tac-toe": 6}
LAYERS, FIG7_LAYERS = 5, 9  # the seventh has trees of depth 8 on vote, and of 11 on mushroom
QUICK_STEPS = 100
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
    least_tables: ClassVar[int] = 1
    layers: int = axis(LAYERS, "Layers of a tree, its leaves counted.", least=2)
    steps: int = axis(0, "Cuts the Markov chains short; 0 is as long as the paper's.", least=0)

    def check(self) -> None:
        for table in self.tables:
            if table not in PAPER:
                raise ParameterError(f"no figure shows {table!r}; choose among {', '.join(PAPER)}")
        super().check()

    def way(self, learner: Learner, table: str, schema: Schema, epsilon: float | None) -> Way:
        more = parameters(learner.name, table, self.layers, len(schema.attributes), self.steps)
        return way_of(learner.recipe, schema, epsilon, self.seed, {**learner.params, **more})

    def statements(self, results: Results) -> Iterable[Statement]:
        if self.has(RDT, *PUBLISHED):
            yield from self._fig7(results)
        elif self.has(*PUBLISHED):
            for table in self.tables:
                yield from self._of_table(results, table)

    def notes(self) -> tuple[str, ...]:
        cut = f" Chains were cut after {self.steps} steps, shorter than the paper's." if self.steps else ""
        return (f"Trees of {self.layers} layers.{cut}",)

    def apart(self, results: Results, table: str, first: str, second: str, epsilon: float) -> tuple[float, float]:
        """Points that the first is ahead, and how many would be clear."""
        folds = [results.folds(table, name, epsilon) for name in (first, second)]
        error = sum(standard_error(values) ** 2 for values in folds) ** 0.5
        return results.gap(table, first, second, epsilon), CLEAR * error

    def _of_table(self, results: Results, table: str) -> Iterable[Statement]:
        source = f"BAI Fig. {FIGURES[table]}"
        for epsilon in self.epsilons:
            if epsilon in (0.1, 1.0):
                yield self._deeper(results, table, epsilon, source)
        low, high = min(self.epsilons), max(self.epsilons)
        if low in self.epsilons and low <= 0.01:
            yield self._whole(results, table, low, source, best=True)
        if high >= 10:
            yield self._whole(results, table, high, source, best=False)
        if low < high:
            gains = {name: results.mean(table, name, high) or 0.0 for name in PUBLISHED}
            rise = [gain - (results.mean(table, name, low) or 0.0) for name, gain in gains.items()]
            ours = ", ".join(f"{value:+.1f}" for value in rise)
            says = f"{table}: accuracy rises with epsilon for every d"
            why = f"points from epsilon {low:g} to {high:g}, d = 1, 2, 3, whole"
            yield Statement(source, says, "all rise", ours, judged(min(rise) > 0), why)

    def _deeper(self, results: Results, table: str, epsilon: float, source: str) -> Statement:
        steps = [self.apart(results, table, deeper, shallower, epsilon) for shallower, deeper in _pairs()]
        ahead, clear = self.apart(results, table, WHOLE, PER_LEVEL, epsilon)
        holds = ahead > clear and all(gap > -doubt for gap, doubt in steps)
        ours = ", ".join(f"{gap:+.1f}" for gap, _ in steps) + f"; whole before one {ahead:+.1f} ± {clear:.1f}"
        why = "points of 2 over 1, 3 over 2, whole over 3; none clearly reversed, whole trees clearly before d = 1"
        if not holds:
            reversed_ = any(gap <= -doubt for gap, doubt in steps)
            short = f", with chains of {self.steps} steps" if self.steps else ""
            why += f": {'a step is clearly reversed' if reversed_ else 'the folds cannot tell them apart'}{short}"
        says = f"{table}, epsilon {epsilon:g}: the deeper the embedding, the better"
        return Statement(source, says, "whole, 3, 2, 1", ours, judged(holds), why)

    def _whole(self, results: Results, table: str, epsilon: float, source: str, *, best: bool) -> Statement:
        gaps = {name: results.gap(table, WHOLE, name, epsilon) for name in (PER_LEVEL, TWO, THREE)}
        holds = min(gaps.values()) > 0 if best else max(gaps.values()) < 0
        said = "outperforms the others" if best else "is the poorest"
        ours = ", ".join(f"{gap:+.1f}" for gap in gaps.values())
        says = f"{table}, epsilon {epsilon:g}: the whole tree {said}"
        why = "points of whole over d = 1, 2, 3"
        error = standard_error(results.folds(table, WHOLE, epsilon))
        why += "" if holds else f"; the standard error of its own accuracy is {error:.1f}"
        return Statement(source, says, said, ours, judged(holds), why)

    def _fig7(self, results: Results) -> Iterable[Statement]:
        for table, better, worse in (
            ("vote", (THREE, WHOLE), (PER_LEVEL, TWO)),
            ("mushroom", (PER_LEVEL, *BLOCKS), ()),
        ):
            if table not in self.tables:
                continue
            for name in (*worse, *better):
                gaps = [results.gap(table, name, RDT, epsilon) for epsilon in self.epsilons]
                wanted = "better" if name in better else "worse"
                mean = sum(gaps) / len(gaps)
                holds = mean > 0 if wanted == "better" else mean < 0
                ours = ", ".join(f"{gap:+.1f}" for gap in gaps)
                says = f"{table}: d = {PUBLISHED[name]} is {wanted} than Private-RDT"
                told = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
                why = f"points ahead of Private-RDT at epsilon {told}; judged by their mean"
                why += "" if holds else ": at its depth of half the attributes a leaf has hardly a record"
                yield Statement("BAI Fig. 7", says, wanted, ours, judged(holds), why)


def parameters(name: str, table: str, layers: int, attributes: int, steps: int) -> dict[str, Any]:
    """What a learner is given for a table: the paper's settings. ``steps`` cuts chains short; 0 does not."""
    depth, (least, chains) = layers - 1, PAPER[table]
    if name == EXACT:
        return {}
    if name == RDT:  # as in its own paper: half of the attributes deep, five trees for few records
        return {"max_depth": attributes // 2, "trees": 5 if table == "vote" else 10}
    if name not in PUBLISHED:
        return {"max_depth": min(depth, 3) if name.startswith("embedded") else depth}
    buffer, limit = chains.get(PUBLISHED[name], (None, None))
    if limit is not None and steps:
        limit = min(limit, steps)
    search = "exhaustive" if buffer is None else "mcmc"
    return {"max_depth": depth, "search": search, "min_records": least, "buffer": buffer, "step_limit": limit}


def _pairs() -> Sequence[tuple[str, str]]:
    return ((PER_LEVEL, TWO), (TWO, THREE), (THREE, WHOLE))


FORMS = {
    "smoke": Bai(("vote",), (0.1, 1.0), 2, who=tuple(PUBLISHED), layers=3, steps=20),
    "quick": Bai(("vote", "tic-tac-toe"), EPSILONS, 2, who=(EXACT, *PUBLISHED), steps=QUICK_STEPS),
    "full": Bai(tuple(PAPER), EPSILONS, 5, who=(*OURS, *PUBLISHED)),
}
FIG7_FORMS = {
    "smoke": Bai(("vote",), (1.0,), 2, who=(RDT, *PUBLISHED), layers=3, steps=20),
    "quick": Bai(("vote",), FIG7_EPSILONS, 3, 2, who=(RDT, *PUBLISHED), layers=5, steps=QUICK_STEPS),
    "full": Bai(("vote", "mushroom"), FIG7_EPSILONS, 10, who=(RDT, *PUBLISHED), layers=FIG7_LAYERS),
}
