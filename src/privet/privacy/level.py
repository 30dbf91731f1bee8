"""A level: many disjoint cells, asked together. One counting pass, one noise call and one charge for a whole level.

The level records for each cell what was spent on its records on the path from the root.
The ledger pays the largest of these amounts, over all cells there have ever been. That is parallel composition without
an account for each cell. Proof: ``docs/proofs/composition.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property, reduce
from operator import or_
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, PrivacyError
from privet.kinds import ChargeKind
from privet.privacy import mechanisms
from privet.privacy import scores as closed_sets
from privet.privacy.concentrated import choice_epsilon
from privet.privacy.counting import Engine, Partition, bin_counts, class_counts, descend, only, refine
from privet.privacy.ledger import Charge, Ledger, Receipt
from privet.privacy.losses import NOTHING
from privet.privacy.mechanisms import ONE, Reach, Selection
from privet.privacy.noise import declare
from privet.privacy.samplers.tree_sampler import sample_tree
from privet.privacy.samplers.tree_space import Drawn, Meter, TreeSpace
from privet.privacy.scores import Hits, Score, Wins, check_score, score_tests
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import Test, Tests, check_test

Ints = npt.NDArray[np.int64]
Index = npt.NDArray[np.intp]
BY_FLIPPING = Selection("permute-and-flip")


class _Books:
    """What the most expensive path from the root has cost. A level shares it with all levels made from it."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger._parallel(1)[0]  # it belongs to this process, so a fork cannot spend it again
        self.peak = NOTHING
        self._lock = threading.RLock()
        self._busy = False

    @contextmanager
    def open(self) -> Iterator[None]:
        """One question at a time. Two threads (or a signal handler) that read the same peak would pay once for both."""
        with self._lock:
            if self._busy:
                raise PrivacyError("a level cannot be asked by a signal handler in the middle of a question")
            self._busy = True
            try:
                yield
            finally:
                self._busy = False


class Level:
    """Disjoint cells of private records. ``cells`` arguments are indices into it; all of them by default."""

    def __init__(self, engine: Engine, cells: Partition, ledger: Ledger) -> None:
        if engine.unit != ledger._root()._unit:
            raise PrivacyError("these records and the ledger that pays for them have different units; bind it first")
        self._engine = engine
        self._cells = cells
        self._will_choose = False
        self._books = _Books(ledger)
        # Few distinct amounts, many cells: cell i has spent _amounts[_spent[i]].
        self._amounts = [NOTHING]
        self._spent = np.zeros(cells.size, dtype=np.intp)
        self._gone = np.zeros(cells.size, dtype=bool)  # cells that were split: their records are in the children

    @property
    def schema(self) -> Schema:
        return self._engine.schema

    @property
    def size(self) -> int:
        return int(self._spent.size)

    def __repr__(self) -> str:
        return f"<Level of {self.size} private cells>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PrivacyError("a level cannot be copied: each copy would pay for the same records on its own")

    def noise_scale(self, amount: Fraction) -> float:
        """The scale of the noise of a count that an amount buys: a public number."""
        return self._books.ledger.noise_scale(amount)

    def will_choose(self) -> None:
        """Say that tests will be chosen here, so that one pass over the records serves all questions of the level."""
        self._will_choose = True

    # -- questions -------------------------------------------------------------------------------------------------

    def count_all(
        self,
        epsilon: object,
        cells: Index | None = None,
        what: str = "noisy counts",
        kind: ChargeKind = ChargeKind.COUNT,
    ) -> Ints:
        """The noisy number of records in each cell."""
        chosen, receipt = self._charge(epsilon, cells, what, kind, ONE)
        return mechanisms.noisy_counts(self._class_counts[chosen].sum(axis=1), receipt, cells=chosen)

    def class_counts_all(
        self,
        epsilon: object,
        cells: Index | None = None,
        what: str = "class counts",
        kind: ChargeKind = ChargeKind.CLASS_COUNTS,
    ) -> Ints:
        """The noisy (cell, class) counts; a record is in one of them, so the histogram costs epsilon once."""
        chosen, receipt = self._charge(epsilon, cells, what, kind, ONE)
        return mechanisms.noisy_counts(self._class_counts[chosen], receipt, cells=chosen)

    def attribute_counts_all(
        self, epsilon: object, asked: npt.NDArray[np.bool_], cells: Index | None = None, *, by_class: bool = True
    ) -> Ints:
        """Noisy (cell, bin, class) counts, or (cell, bin) without classes, of the attributes that are ``asked``.

        ``asked`` is a public (cell, attribute) array; bins that were not asked are 0. A record is in one bin of every
        attribute, so ``epsilon`` is what all attributes of a cell cost together and each gets an equal share of it.
        """
        # Must be booleans: integers would index instead of mask, and release more than is paid for.
        asked = np.asarray(asked, dtype=np.bool_)
        if asked.shape != (self._size_of(cells), len(self.schema.attributes)) or not asked.any():
            raise ParameterError("asked must be a (cell, attribute) array of booleans that names some attribute")
        most = int(asked.sum(axis=1).max())
        reach = Reach(most, squares=most)  # it moves as many counts by 1
        chosen, receipt = self._charge(epsilon, cells, "attribute counts", ChargeKind.ATTRIBUTE_COUNTS, reach)
        exact = self._counts[chosen] if by_class else self._counts[chosen].sum(axis=2)
        wanted = np.repeat(asked, np.diff(self.schema.offsets), axis=1)
        released = np.zeros_like(exact)
        released[wanted] = mechanisms.noisy_counts(exact[wanted], receipt, cells=chosen, reach=reach)
        return released

    def choose_all(
        self,
        tests: Tests,
        score: Score,
        epsilon: object,
        cells: Index | None = None,
        *,
        selection: Selection = Selection(),  # noqa: B008 - frozen
        allowed: npt.NDArray[np.bool_] | None = None,
        log_prior: npt.NDArray[np.float64] | None = None,
        what: str = "choice of tests",
    ) -> Index:
        """The index of a good test for each cell. ``allowed`` and ``log_prior`` are public (cell, test) arrays."""
        if type(tests) is not Tests or not tests.fits(self.schema):
            raise ParameterError("tests must be a table of tests of this schema, as Tests.binary(schema) makes one")
        if len(tests) == 0:
            raise ParameterError("tests is empty: there is nothing to choose from")
        mechanisms.check_candidates(selection, (self._size_of(cells), len(tests)), allowed, log_prior)
        if condition := check_score(score, closed_sets.SPLIT_SCORES):
            self._books.ledger.add_caveat(condition)
        how = selection, score.sensitivity * selection.factor
        chosen, receipt = self._charge(epsilon, cells, what, ChargeKind.CHOICE, how)
        declare("choice of tests", tests, score, selection, allowed, log_prior, chosen)
        scores, terms = score_tests(self._counts[chosen], tests, score, self.schema)
        return mechanisms.choose(
            scores, score, receipt, selection, terms=terms, allowed=allowed, log_prior=log_prior, cells=chosen
        )

    def choose_labels_all(
        self,
        epsilon: object,
        cells: Index | None = None,
        *,
        selection: Selection = BY_FLIPPING,
        score: Hits | Wins = Hits(),  # noqa: B008 - frozen
    ) -> Index:
        """A label for each cell, drawn by how many records have it, or by whether most have it."""
        check_score(score, closed_sets.LABEL_SCORES)
        mechanisms.check_candidates(selection, (self._size_of(cells), self.schema.n_classes), None, None)
        how = selection, Fraction(selection.factor)
        chosen, receipt = self._charge(epsilon, cells, "leaf labels", ChargeKind.LABELS, how)
        worth = score.node(self._class_counts[chosen])
        return mechanisms.choose(worth, score, receipt, selection, terms=1, cells=chosen)

    def sample_trees_all(
        self,
        spaces: Sequence[TreeSpace],
        epsilon: object,
        cells: Index | None = None,
        what: str = "whole trees",
        meter: Meter | None = None,
    ) -> list[Drawn]:
        """A tree for each cell, drawn exactly from its public space; costs epsilon once for all of it."""
        if len(spaces) != self._size_of(cells):
            raise ParameterError("spaces must have one entry for each cell")
        ledger = self._books.ledger
        drawn_with = choice_epsilon(ledger.currency.loss(epsilon) / ledger.steps)
        for space in dict.fromkeys(spaces):
            space.check(drawn_with, self.schema)
            if not space.multiway:
                self._engine.check_joint(space.tests, space.depth)
        chosen, receipt = self._charge(epsilon, cells, what, ChargeKind.TREES, "exponential over trees")
        alone = ((cell, only(self._cells, cell)) for cell in chosen.tolist())
        return [sample_tree(self._engine, *a, space, receipt, meter) for a, space in zip(alone, spaces, strict=True)]

    def split(self, tests: Sequence[Test | None]) -> Level:
        """The children of the cells that have a test, in order; the others stay behind. Costs nothing.

        A cell is split once. After that only its children can be asked; they take over what it has spent.
        """
        if len(tests) != self.size:
            raise ParameterError(f"tests must have one entry for each of the {self.size} cells")
        for test in tests:
            if test is not None:
                check_test(test, self.schema)
        arities = [0 if test is None else test.arity(self.schema) for test in tests]
        return self._partition(arities, lambda: refine(self._cells, self.schema, tests))

    def descend(self, routes: Routes) -> Level:
        """The leaves of public trees, one tree for each cell, in order: many splits at once, which cost nothing."""
        if type(routes) is not Routes or len(routes) != self.size or routes.schema != self.schema:
            raise ParameterError(f"routes must have one tree over this schema for each of the {self.size} cells")
        leaves = np.bincount(routes.owner[routes.leaves], minlength=self.size)
        return self._partition(leaves, lambda: descend(self._cells, routes))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _charge(
        self,
        epsilon: object,
        cells: Index | None,
        what: str,
        kind: ChargeKind,
        how: mechanisms.How,
    ) -> tuple[Index, Receipt]:
        """Pay for a question of some cells: counts, a choice by scores of that sensitivity, or what has no scale."""
        loss = self._books.ledger.currency.loss(epsilon)
        chosen = np.arange(self.size) if cells is None else np.asarray(cells, dtype=np.intp)
        if chosen.ndim != 1 or ((chosen < 0) | (chosen >= self.size)).any():
            raise ParameterError(f"cells must be numbers of cells, from 0 to {self.size - 1}")
        if np.unique(chosen).size != chosen.size:
            raise ParameterError("cells names a cell twice: a question is asked once of each")
        with self._books.open():
            self._check_there(chosen)
            before, kinds = np.unique(self._spent[chosen], return_inverse=True)
            after = [self._amounts[i] + loss for i in before]
            peak = reduce(or_, after, self._books.peak)
            each = loss / self._books.ledger.steps  # what the receipt will carry
            mechanism, scale = mechanisms.described(how, each)
            adds = peak - self._books.peak
            receipt = self._books.ledger._charge(Charge(what, loss, adds, mechanism, scale, kind), self.size)
            self._books.peak = peak
            self._spent = self._spent.copy()
            self._spent[chosen] = len(self._amounts) + kinds
            self._amounts = [*self._amounts, *after]
        return chosen, receipt

    def _partition(self, parts: Sequence[int] | Ints, make_cells: Callable[[], Partition]) -> Level:
        """The level of the parts of the cells that have any (``parts`` says how many)."""
        split, child = np.asarray(parts) > 0, object.__new__(Level)
        child._engine, child._books = self._engine, self._books
        with self._books.open():
            self._check_there(split)
            child._cells, child._will_choose = make_cells(), False
            child._amounts, child._spent = self._amounts, np.repeat(self._spent, parts)
            child._gone = np.zeros(child._spent.size, dtype=bool)
            self._gone = self._gone | split
        return child

    def _size_of(self, cells: Index | None) -> int:
        return self.size if cells is None else len(cells)

    def _check_there(self, cells: npt.NDArray[Any]) -> None:
        if self._gone[cells].any():
            raise ParameterError("a cell was split already: ask its children, or ask it before it is split")

    @cached_property
    def _counts(self) -> Ints:
        return bin_counts(self._engine, self._cells)

    @cached_property
    def _class_counts(self) -> Ints:
        if self._will_choose:  # every record has one bin of the first attribute
            return np.asarray(self._counts[:, : self.schema.arities[0]].sum(axis=1))
        return class_counts(self._engine, self._cells)
