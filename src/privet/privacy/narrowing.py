"""Fewer records, by public comparisons: each keeps a record by one of its codes.

Where the engine can cut numbers anew, it gets the cuts that the comparisons need, beside those it has. A finer code
determines the coarser one, so the steps that led here keep the very same records (:func:`finer`). Where it cannot, a
cut is moved to the nearest public one, and a note says so. Proof: ``docs/proofs/questions.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.counting import Engine, Lookup, Only, Partition, look_up
from privet.schema import Numeric, Schema
from privet.structure.comparisons import LABEL, Comparison, with_cuts


def narrow(
    engine: Engine, cells: Partition, comparisons: Sequence[Comparison]
) -> tuple[Engine, Partition, tuple[str, ...]]:
    """The records of a cell that meet all comparisons, where they are counted, and what was snapped."""
    engine, cells = recut(engine, cells, with_cuts(engine.schema, comparisons))
    schema, notes = engine.schema, []
    for comparison in comparisons:
        kept = comparison.kept(schema)
        cells = look_up(cells, schema, kept.attribute, np.where(kept.codes, 0, -1).tolist())
        notes += [kept.note] if kept.note else []
    return engine, cells, tuple(notes)


def recut(engine: Engine, cells: Partition, schema: Schema) -> tuple[Engine, Partition]:
    """The same records with the further cuts of ``schema``; as they are, where the engine or the steps need the old."""
    found = finer(cells, engine.schema, schema)
    if found is None:
        return engine, cells
    try:
        return engine.with_schema(schema), found
    except ParameterError:  # codes alone were kept: a public fact
        return engine, cells


def finer(cells: Partition, old: Schema, new: Schema) -> Partition | None:
    """The steps under a schema with further cuts; None if a step is not by a table of codes.

    Coins belong to the engine that threw them, and a tree to its schema.
    """
    if old == new:
        return cells
    steps: list[Lookup | Only] = []
    for step in cells.steps:
        if isinstance(step, Lookup):
            step = _finer_table(step, old, new)
        elif not isinstance(step, Only):
            return None
        steps.append(step)
    return replace(cells, steps=tuple(steps))


def _finer_table(step: Lookup, old: Schema, new: Schema) -> Lookup:
    if step.attribute == LABEL:
        return step
    before, after = old.attributes[step.attribute], new.attributes[step.attribute]
    if not isinstance(before, Numeric) or not isinstance(after, Numeric):
        return step
    # A finer bin ends at a cut of its own; the coarse bin that holds this cut holds all of it.
    coarse = np.append(np.searchsorted(before.cuts, after.cuts, side="left"), len(before.cuts)).tolist()
    if after.missing is not None:
        coarse.append(len(before.cuts) + 1)
    return replace(step, children=tuple(step.children[code] for code in coarse))


def possible_codes(cells: Partition, schema: Schema) -> dict[int, npt.NDArray[np.bool_]]:
    """The codes that a record of a single cell can have, by number of the column, as far as tables of codes tell."""
    found: dict[int, npt.NDArray[np.bool_]] = {}
    for number, step in enumerate(cells.steps, start=1):
        after = cells.steps[number] if number < len(cells.steps) else None
        if isinstance(step, Lookup):
            table = np.array(step.children)
            kept = table == after.cell if isinstance(after, Only) else table >= 0
            found[step.attribute] = found[step.attribute] & kept if step.attribute in found else kept
    return found
