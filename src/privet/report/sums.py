"""The page of an additive model: a curve for each attribute with its noise, and tables of pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.bidi import isolated
from privet.models.additive import Additive, Part
from privet.models.curves import Curve, ShownSum, leaves_of
from privet.models.intervals import Z
from privet.models.number_tree import number_words
from privet.models.released import Released
from privet.report.curves import Scale, axis_of, hidden, level_names, pair_picture, shape_picture
from privet.schema import Numeric

Floats = npt.NDArray[np.float64]

MOST_SHAPES = 24  # pictures in a page
MOST_ROWS = 40  # of a table of numbers; equal neighbours share a row
MOST_CELLS = 400  # of the table of a pair


def sum_context(sections: Iterator[ShownSum], released: Released) -> dict[str, Any]:
    """The context of the template for additive models."""
    section = next(sections)
    model, curves = section.model, section.curves
    number = model.schema.predicts_number
    scale = Scale.of(curves, number=number)
    pairs = sorted((part for part in model.parts if len(part.attributes) == 2), key=lambda part: -part.spread)
    return {
        "number": number,
        "two": not number and model.schema.n_classes == 2,
        "linked": model.margin > 0,
        "shapes": [_shape(model, curve, scale) for curve in curves[:MOST_SHAPES]],
        "more_shapes": [isolated(curve.attribute) for curve in curves[MOST_SHAPES:]],
        "pairs": [_pair(model, part, scale) for part in pairs if part.table.size <= MOST_CELLS],
        "large_pairs": [part.name(model.schema) for part in pairs if part.table.size > MOST_CELLS],
        "leaves": [(path, _factors(row, scale)) for path, row in leaves_of(model)],
        "base": _base(model),
    }


def _base(model: Additive) -> str:
    """The prediction from the offset alone, in words."""
    if model.schema.predicts_number:
        return number_words(float(f"{model.offset[0]:.4g}"))
    zeros = np.zeros((len(model.schema.attributes), 1), dtype=np.int32)
    shares = Additive(model.schema, (), model.offset, margin=model.margin).predict_proba(zeros)[0]
    if model.schema.n_classes == 2:
        return f"{100 * shares[1]:.0f} %"
    labelled = zip(model.schema.classes, shares, strict=True)
    return ", ".join(f"{isolated(value)} {100 * share:.0f} %" for value, share in labelled)


def _factors(row: Floats, scale: Scale) -> tuple[str, ...]:
    return tuple(scale.words(value) for value in row.tolist())


def _shape(model: Additive, curve: Curve, scale: Scale) -> dict[str, Any]:
    attribute = model.schema.attributes[model.schema.index(curve.attribute)]
    high = attribute.high if isinstance(attribute, Numeric) else None
    rows, sign = _rows(curve, scale), "± " if scale.number else "÷ or "
    most = "more" if curve.widest is None else f"up to {_size(Z * curve.widest, scale)}"
    return {
        "name": curve.attribute,
        "picture": shape_picture(curve, high, scale),
        "rows": rows[:MOST_ROWS],
        "more_rows": max(len(rows) - MOST_ROWS, 0),
        "noise": f"{sign}{_size(Z * curve.deviation, scale)}, {most} for rare values",
        "hidden": hidden(curve),
        "uneven": high is not None and not axis_of(curve, high, 0.0, 1.0).even,
    }


def _size(noise: float, scale: Scale) -> str:
    return scale.words(noise).removeprefix("+")


def _rows(curve: Curve, scale: Scale) -> list[tuple[str, tuple[str, ...]]]:
    """The effect of each value on the odds. Neighbouring intervals with the same text are merged."""
    factors = [_factors(row, scale) for row in curve.values]
    if curve.starts is None:
        return list(zip(curve.categories, factors, strict=True))
    rows: list[tuple[str, tuple[str, ...]]] = []
    for start, words in zip(curve.starts.tolist(), factors, strict=True):
        if not rows or rows[-1][1] != words or math.isnan(start):
            rows.append(("missing" if math.isnan(start) else f"from {start:g}", words))
    return rows


def _pair(model: Additive, part: Part, scale: Scale) -> dict[str, Any]:
    """The table of two attributes, with a picture if a score is one number."""
    first, second = (tuple(level_names(model.schema, part, place)) for place in (0, 1))
    titles = model.schema.names[part.attributes[0]], model.schema.names[part.attributes[1]]
    values = model.link.effects(model.offset, part.table).reshape(*part.sides, -1)
    rows = [[" ".join(map(scale.words, cell)) for cell in row] for row in values.tolist()]
    return {
        "names": titles,
        "picture": pair_picture((first, second), titles, values[:, :, 0]) if values.shape[2] == 1 else None,
        "columns": second,
        "rows": list(zip(first, rows, strict=True)),
    }
