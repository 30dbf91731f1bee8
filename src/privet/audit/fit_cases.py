"""Small tables for the audit of a perturbed fit: one or two parameters per class, so that its law is a formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np
import numpy.typing as npt

from privet.privacy.fits.calibration import FitLayout
from privet.structure.terms import UNIT, Term

Floats = npt.NDArray[np.float64]

LARGE = 30.0  # log-odds: e^-30 is negligible, and far from the limits of doubles
OFFSETS = (-LARGE, -6.0, -2.0, 2.0, 6.0, LARGE)
MORE_CLASSES = (3, 5, 10)
MARGINS = (1.4, 3.0)
NUMBERS = (0.0, -2.0, 6.0, -LARGE, LARGE)  # where the noise is, at its border and beyond


@dataclass(frozen=True)
class Case:
    """One or two terms, a table of records, and a last record to add.

    A record is its bin in each term, and its class; with ``numbers``, its label in units of the loss. All but the last
    occur ``crowd`` times. ``mixes`` has the cells of each bin of a term. ``offset`` is the score of the first column of
    every record before the fit, as released shares or earlier terms give it. Only with an offset can a record be
    unlikely where noise is ordinary. ``margin`` is that of the loss; ``chained`` terms have a ridge that ties their
    cells together.
    """

    name: str
    classes: int
    mixes: tuple[tuple[tuple[float, ...], ...], ...]
    records: tuple[tuple[tuple[int, ...], float], ...]
    crowd: int = 1
    offset: float = 0.0
    margin: float = 0.0
    chained: bool = False
    numbers: bool = False

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(
            Term.of(
                (a,),
                [np.arange(len(mix))],
                [range(len(mix[0]))] * len(mix),
                np.rint(np.array(mix) * UNIT),
                len(mix[0]) if self.chained else 0,
            )
            for a, mix in enumerate(self.mixes)
        )

    @property
    def shape(self) -> FitLayout:
        known = (1.0,) * len(self.mixes), self.classes, 10.0, 1e6  # no more ridge than needed
        return replace(FitLayout.of(self.terms, *known), signed=self.numbers)

    @property
    def offsets(self) -> Floats:
        found = np.zeros(self.shape.columns)
        found[0] = self.offset
        return found

    def features(self, records: int) -> Floats:
        """(record, cell) of the first ``records``."""
        rows = [np.concatenate([mix[b] for mix, b in zip(self.mixes, bins, strict=True)])
                for bins, _ in self.records[:records]]  # fmt: skip
        return np.array(rows).reshape(records, sum(len(mix[0]) for mix in self.mixes))

    def times(self, records: int) -> Floats:
        """The multiplicity of each of the first ``records``."""
        return np.where(np.arange(records) == len(self.records) - 1, 1.0, float(self.crowd))

    def labels(self, records: int) -> Floats:
        return np.array([label for _, label in self.records[:records]], dtype=np.float64)


def cases() -> Iterator[Case]:
    """One cell, two cells of a term, two terms of a cell each, more classes; over a few small tables and margins."""
    for case, margin in zip(_cases(), cycle(MARGINS)):
        yield case
        if case.crowd == 1 and len(case.records) <= 2:  # where more records stand, an added one matters less
            yield replace(case, name=f"{case.name}, margin {margin:g}", margin=margin)


def _cases() -> Iterator[Case]:
    one, mixed = (((1.0,),),), (((1.0, 0.0), (0.0, 1.0), (0.5, 0.5)),)
    for before in ((), (0,), (1,), (0, 1, 1), (0,) * 6, (1,) * 6):
        for label in (0, 1):
            yield Case("one cell", 2, one, (*(((0,), y) for y in before), ((0,), label)))
            if before:
                yield Case("a crowd", 2, one, (((0,), before[0]), ((0,), label)), crowd=1000 * len(before))
            if len(before) < 2:
                for offset in OFFSETS:
                    name = f"one cell, offset {offset:g}"
                    yield Case(name, 2, one, (*(((0,), y) for y in before), ((0,), label)), offset=offset)
    for bins in ((0, 0, 1, 0), (2, 0, 1, 2), (1, 2, 2, 0)):
        yield Case("two cells", 2, mixed, tuple(((b,), i % 2) for i, b in enumerate(bins)))
    for chained in (False, True):
        name = "two chained cells" if chained else "two cells"
        for offset in (-6.0, 2.0):
            two = (((0,), 0), ((2,), 1))
            yield Case(f"{name}, offset {offset:g}", 2, mixed, two, offset=offset, chained=chained)
        yield Case(name, 2, mixed, (((0,), 0),), chained=chained)
    for label in (0, 1):
        yield Case("two terms", 2, one * 2, (((0, 0), 1), ((0, 0), 0), ((0, 0), label)))
    yield Case("two terms, offset 6", 2, one * 2, (((0, 0), 0),), offset=6.0)
    for label in (0, 2):
        yield Case("three classes", 3, one, (((0,), 0), ((0,), 1), ((0,), label)))
        yield Case("three classes, a crowd", 3, one, (((0,), 0), ((0,), 1), ((0,), label)), crowd=2000)
    for classes in MORE_CLASSES:
        for offset in (-LARGE, LARGE):
            yield Case(f"{classes} classes, offset {offset:g}", classes, one, (((0,), 0),), offset=offset)
        yield Case(f"{classes} classes, one before", classes, one, (((0,), 1), ((0,), 0)), offset=-LARGE)


def number_cases() -> Iterator[Case]:
    """The same for numbers: one cell, two cells of a term, two terms; labels near, far and behind others' offsets."""
    one, mixed = (((1.0,),),), (((1.0, 0.0), (0.0, 1.0), (0.5, 0.5)),)
    for before in ((), (0.0,), (3.0,), (-LARGE,), (0.0, 1.0, -1.0)):
        for label in NUMBERS:
            records = (*(((0,), y) for y in before), ((0,), label))
            yield Case(f"a number {label:g}", 2, one, records, numbers=True)
            if len(before) < 2:
                for offset in (-6.0, 6.0):
                    yield Case(f"a number {label:g}, offset {offset:g}", 2, one, records, offset=offset, numbers=True)
            if before:
                yield Case(f"a number {label:g}, a crowd at {before[0]:g}", 2, one, records, crowd=1000, numbers=True)
    for chained in (False, True):
        name = "two chained cells" if chained else "two cells"
        for label in (0.0, -6.0, LARGE):
            for bins in ((0, 2), (2, 1)):
                records = tuple(((b,), y) for b, y in zip(bins, (1.0, label), strict=True))
                yield Case(f"{name}, a number {label:g}", 2, mixed, records, chained=chained, numbers=True)
            yield Case(f"{name}, only a number {label:g}", 2, mixed, (((2,), label),), chained=chained, numbers=True)
    for label in (0.0, -6.0, LARGE):
        yield Case(f"two terms, a number {label:g}", 2, one * 2, (((0, 0), label),), numbers=True)
