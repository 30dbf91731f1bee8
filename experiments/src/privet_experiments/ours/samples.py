"""Ten real tables and five shapes, a sample of each: where our own comparisons of many settings run.

They say how settings compare when records are few. All learners see the same records and folds, and a job is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from privet.datasets import real
from privet.schema import Schema
from privet_experiments.experiment import axis
from privet_experiments.folds import Load, standard_error
from privet_experiments.ours.shapes import world
from privet_experiments.sweep import Sweep

TABLES = ("vote", "wbc", "car", "banknote", "mushroom", "nursery", "chess-krkp", "pendigits", "magic", "adult")
SHAPES = ("uniform", "bell", "skewed", "spikes", "bounds x 1,000")  # of `privet reproduce shapes`, with two classes
EVERY = tuple(chain(*zip(TABLES[::2], TABLES[1::2], SHAPES, strict=True)))  # an unfinished run has some of both
KINDS = {"real tables": TABLES, "shapes": SHAPES}
RECORDS = 2_000  # at most, so that a grid of thousands of fits takes minutes


def load(table: str) -> tuple[Schema, Any]:
    """A sample of a real table, the same each time, or invented records of a shape."""
    if table in SHAPES:
        schema, [(columns, labels)] = world(table, 2, (RECORDS,), 0)
        return schema, {**columns, schema.label.name: labels}
    schema, whole = real.load(table)
    records = len(whole[schema.label.name])
    kept = np.sort(np.random.default_rng(0).permutation(records)[:RECORDS]).tolist()
    return schema, {name: [column[row] for row in kept] for name, column in whole.items()}


@dataclass(frozen=True)
class Sampled(Sweep):
    """A sweep over these tables and shapes."""

    load: ClassVar[Load] = load
    tables: tuple[str, ...] = axis(EVERY, "A table of PRIVET_DATA or a shape; may be repeated.")
    epsilons: tuple[float, ...] = axis((0.5, 2.0), "A budget; may be repeated.")
    folds: int = axis(5, "Stratified folds.", least=2)

    def check(self) -> None:
        real.fetch([table for table in self.tables if table not in SHAPES])
        super().check()

    def kinds(self) -> dict[str, list[str]]:
        """Which tables and which shapes are in the grid; neither where there is none."""
        found = {kind: [table for table in self.tables if table in all_of] for kind, all_of in KINDS.items()}
        return {kind: tables for kind, tables in found.items() if tables}


def measured(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The rows that have a number behind their name: an unfinished run has nothing of some tables."""
    return tuple(row for row in rows if set(row[1:]) != {"-"})


def ahead(gaps: Sequence[float]) -> str:
    """A mean of gaps in points, with its standard error over what they are of, if there is more than one.

    >>> ahead([1.0, 3.0]), ahead([-1.0]), ahead([])
    ('+2.0 ± 1.0', '-1.0', '-')
    """
    mean = f"{np.mean(gaps):+.1f}" if gaps else "-"
    return f"{mean} ± {standard_error(gaps):.1f}" if len(gaps) > 1 else mean
