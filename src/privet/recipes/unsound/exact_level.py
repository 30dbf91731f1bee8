"""A level without privacy: exact answers to the grower's queries, for comparison with private trees ONLY.

Trees from here are not differentially private, spend nothing and must say so. The level is built from an engine, so it
is out of reach for code that has only a ``PrivateDataset``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.growing.greedy.questions import NO_TEST, Bools, Index, Ints
from privet.privacy.counting import ROOT, Engine, bin_counts, class_counts, refine
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Score, score_tests
from privet.recipes.unsound.gain_ratio import GainRatio
from privet.schema import Schema
from privet.structure.splits import Kind, Test, Tests

_BLOCK = 2048  # cells counted in one pass: an unpruned tree has many thousands, too many for one histogram


class ExactLevel:
    """NOT PRIVATE: the queries of :class:`privet.privacy.level.Level`, answered exactly and without charge.

    Epsilon, selection and prior are ignored. A test is a candidate if at least two of its children get ``min_branch``
    records or more; without candidates the answer is ``NO_TEST``. Ties go to the first test.
    """

    def __init__(self, engine: Engine, *, min_branch: int = 1) -> None:
        self._engine = engine
        self._min_branch = min_branch
        self._blocks: list[Any] = [ROOT]

    @property
    def schema(self) -> Schema:
        return self._engine.schema

    @property
    def size(self) -> int:
        return sum(block.size for block in self._blocks)

    def __repr__(self) -> str:
        return f"<ExactLevel of {self.size} cells, NOT private>"

    # -- questions -------------------------------------------------------------------------------------------------

    def count_all(self, epsilon: object = None, cells: Index | None = None, what: str = "") -> Ints:
        return np.asarray(self.class_counts_all(epsilon, cells).sum(axis=1))

    def class_counts_all(self, epsilon: object = None, cells: Index | None = None, what: str = "") -> Ints:
        counts = np.concatenate([class_counts(self._engine, block) for block in self._blocks])
        return counts if cells is None else counts[cells]

    def attribute_counts_all(
        self,
        epsilon: object,
        asked: Bools,
        cells: Index | None = None,
        *,
        by_class: bool = True,
        what: str = "",
    ) -> Ints:
        """(cell, bin, class) counts, or (cell, bin) without classes; 0 in bins of attributes not ``asked``."""
        wanted = np.repeat(asked, np.diff(self.schema.offsets), axis=1)

        def answer(counts: Ints, rows: Index) -> Ints:
            exact = counts * wanted[rows, :, None]
            return exact if by_class else np.asarray(exact.sum(axis=2))

        return self._ask(answer, cells)

    def choose_all(
        self,
        tests: Tests,
        score: Score,
        epsilon: object = None,
        cells: Index | None = None,
        *,
        selection: Selection | None = None,
        allowed: Bools | None = None,
        log_prior: npt.NDArray[np.float64] | None = None,
        what: str = "",
    ) -> Index:
        """The index of the best test of each cell, ``NO_TEST`` where none separates records."""

        def answer(counts: Ints, rows: Index) -> Index:
            fits = self._separates(counts, tests)
            if allowed is not None:
                fits &= allowed[rows]
            if isinstance(score, GainRatio):
                scores = score.rank(counts, tests, self.schema, fits)
            else:
                scores, _ = score_tests(counts, tests, score, self.schema)
            best = np.where(fits, scores, -np.inf).argmax(axis=1)
            return np.where(fits.any(axis=1), best, NO_TEST).astype(np.intp)

        return self._ask(answer, cells)

    def noise_scale(self, amount: object) -> float:
        return 0.0

    def will_choose(self) -> None:
        """Nothing to prepare: exact counts are made on demand."""

    def split(self, tests: Sequence[Test | None]) -> ExactLevel:
        """The children of the cells that have a test, in order; the others leave the level."""
        if len(tests) != self.size:
            raise ParameterError(f"tests must have one entry for each of the {self.size} cells")
        child = ExactLevel(self._engine, min_branch=self._min_branch)
        child._blocks = []
        start = 0
        for block in self._blocks:
            mine = tests[start : start + block.size]
            start += block.size
            # A new block gets the children of some consecutive cells; other cells go to other blocks.
            for stretch in _stretches([0 if test is None else test.arity(self.schema) for test in mine]):
                passing = [test if i in stretch else None for i, test in enumerate(mine)]
                child._blocks.append(refine(block, self._engine.schema, passing))
        return child

    # -- inside ----------------------------------------------------------------------------------------------------

    def _ask(self, answer: Callable[[Ints, Index], npt.NDArray[Any]], cells: Index | None) -> npt.NDArray[Any]:
        """``answer(bin counts, rows)`` for all ``cells``, counting only the blocks that hold some of them."""
        chosen = np.arange(self.size) if cells is None else np.asarray(cells, dtype=np.intp)
        parts: list[npt.NDArray[Any]] = []
        order: list[Index] = []
        start = 0
        for block in self._blocks:
            rows = np.flatnonzero((chosen >= start) & (chosen < start + block.size))
            if rows.size:
                parts.append(answer(bin_counts(self._engine, block)[chosen[rows] - start], rows))
                order.append(rows)
            start += block.size
        if not parts:
            raise ParameterError("cells is empty; name at least one")
        return np.concatenate(parts)[np.argsort(np.concatenate(order))]

    def _separates(self, counts: Ints, tests: Tests) -> Bools:
        """(cell, test): whether at least two children get ``min_branch`` records."""
        sizes, least = counts.sum(axis=2), self._min_branch
        separates = np.empty((len(sizes), len(tests)), dtype=bool)
        for attribute in np.unique(tests.attribute):
            bins = sizes[:, self.schema.offsets[attribute] : self.schema.offsets[attribute + 1]]
            mine = tests.of_attribute(attribute)
            kind, cut = tests.kind[mine], tests.cut[mine]
            left = np.where(kind == Kind.THRESHOLD, bins.cumsum(axis=1)[:, cut], bins[:, cut])
            both = (left >= least) & (bins.sum(axis=1, keepdims=True) - left >= least)
            many = (bins >= least).sum(axis=1, keepdims=True) > 1
            separates[:, mine] = np.where(kind == Kind.MULTIWAY, many, both)
        return separates


def _stretches(arities: Sequence[int]) -> list[range]:
    """Runs of consecutive cells whose children fit into one block (a single cell's always do)."""
    stretches, start, children = [], 0, 0
    for i, arity in enumerate(arities):
        if children and children + arity > _BLOCK:
            stretches.append(range(start, i))
            start, children = i, 0
        children += arity
    return [*stretches, range(start, len(arities))] if children else stretches
