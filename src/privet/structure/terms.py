"""The public terms of an additive model: from the codes of a record to weighted features.

A term reads one attribute, a pair, or (no attribute) the cell of a partition. It groups their codes into *bins*, and
each bin is a mix of a few *cells*: a category is one cell, a number lies between two knots and so is a mix of two. The
weights are whole multiples of 2**-20 that sum to exactly 1 for every record, as the proof of the perturbed fit requires
(``docs/proofs/perturbed_fit.md``). A fit finds a number for every cell; a record's score is then a lookup by bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema

UNIT = 2**20  # the weights of a bin are whole and sum to this
MOST_BINS = 2**20  # of all terms together; each is a number that a model stores

Index = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Term:
    """Bins of codes, each a mix of cells.

    ``levels`` has, for each of ``attributes``, the level of every code; the bins are all combinations of levels, the
    last running fastest. Row ``b`` of ``cells`` and ``weights`` is the mix of bin ``b``. The first ``chain`` cells have
    an order, such as the knots of a number: a fit expects neighbours among them to be alike.

    >>> Term.one_hot((), [], 3).weights.tolist() == [[UNIT], [UNIT], [UNIT]]
    True
    """

    attributes: tuple[int, ...]
    levels: tuple[Index, ...]
    cells: Index
    weights: Index
    chain: int = 0

    def __post_init__(self) -> None:
        for name in ("cells", "weights"):
            object.__setattr__(self, name, _read_only(getattr(self, name)))
        object.__setattr__(self, "levels", tuple(_read_only(column) for column in self.levels))
        if len(self.attributes) > 2 or len(self.levels) != len(self.attributes):
            raise ParameterError("a term looks at no attribute, at one or at two, with levels for each")
        if self.cells.ndim != 2 or not self.cells.size or self.cells.shape != self.weights.shape:
            raise ParameterError("a term needs a row of cells and one of weights for each of its bins")
        if self.attributes and self.bins != int(np.prod(self.sides)):
            raise ParameterError("a term needs a row for every combination of levels")
        if self.cells.min() < 0 or self.weights.min() < 0 or (self.weights.sum(axis=1) != UNIT).any():
            raise ParameterError(f"the weights of a bin must be whole, not negative, and sum to {UNIT}")
        if not 0 <= self.chain <= self.size:
            raise ParameterError(f"the chain of a term has at most its {self.size} cells, not {self.chain}")

    @classmethod
    def of(cls, attributes: tuple[int, ...], levels: Sequence[Any], cells: Any, weights: Any, chain: int = 0) -> Term:
        """A term from arrays of any whole numbers."""
        return cls(attributes, tuple(map(_read_only, levels)), _read_only(cells), _read_only(weights), chain)

    @classmethod
    def one_hot(cls, attributes: tuple[int, ...], levels: Sequence[Any], bins: int, chain: int = 0) -> Term:
        """Every bin a cell of its own."""
        return cls.of(attributes, levels, np.arange(bins)[:, None], np.full((bins, 1), UNIT), chain)

    @property
    def bins(self) -> int:
        return len(self.cells)

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return int(self.cells.max()) + 1

    @property
    def sides(self) -> tuple[int, ...]:
        """The number of levels of each attribute."""
        return tuple(int(column.max()) + 1 for column in self.levels)

    @cached_property
    def touched(self) -> int:
        """The most cells that one record has a part in."""
        return int((self.weights > 0).sum(axis=1).max())

    def spread(self, values: Floats) -> Floats:
        """(bin, column) scores of a record in each bin, from a number for each (cell, column)."""
        return np.einsum("bm,bmc->bc", self.weights / UNIT, values[self.cells])

    def gather(self, sums: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
        """(cell, column) sums of weight times value over each (bin, column), in Python's integers; UNIT counts as 1."""
        cells = np.zeros((self.size, sums.shape[1]), dtype=object)
        np.add.at(cells, self.cells, self.weights.astype(object)[:, :, None] * sums[:, None, :])
        return cells

    def fault(self, schema: Schema) -> str | None:
        """Why compiled code must not read this term, or None: a term indexes memory."""
        for a, column in zip(self.attributes, self.levels, strict=True):
            if not 0 <= a < len(schema.attributes) or column.shape != (schema.arities[a],) or column.min() < 0:
                return f"a term does not fit attribute {a} of the schema"
        if len(set(self.attributes)) < len(self.attributes):
            return "a pair must be of two attributes"
        return None


def check_terms(terms: Sequence[Term], schema: Schema, cells: int) -> None:
    """Refuse terms that do not fit the schema, or a partition into ``cells``."""
    for term in terms:
        if type(term) is not Term:
            raise ParameterError("terms must be a list of Term")
        if fault := term.fault(schema):
            raise ParameterError(fault)
        if not term.attributes and term.bins != cells:
            raise ParameterError(f"a term of {term.bins} leaves needs a partition into as many cells, not {cells}")
    if sum(term.bins for term in terms) > MOST_BINS:
        raise ParameterError(f"the terms have more than {MOST_BINS:,} bins together; use fewer or coarser ones")


def _read_only(values: Any) -> Index:
    column = np.array(values, dtype=np.int32)
    column.setflags(write=False)
    return column
