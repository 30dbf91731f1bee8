"""Noise on a share of a table's values (Fletcher 2017, 5.7.1). NOT DIFFERENTIALLY PRIVATE.

Most cells stay as they are, and the label is never changed, so a known record can be found again. The certificate says
epsilon = infinity. These methods are here, as in the thesis, to show what measures of retention measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.privacy.budget import INFINITY, Neighbours
from privet.privacy.certificate import Caveat, Certificate
from privet.privacy.dataset import PrivateDataset
from privet.publishing.release import csv_text
from privet.recipes.parameters import check_number
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import decode_labels
from privet.tables.frozen import Frozen, freeze

Values = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """A table with noise on its values, and a certificate that promises nothing."""

    method: str
    rate: float
    columns: Mapping[str, Values]
    certificate: Mapping[str, Any]

    def to_csv(self) -> str:
        return csv_text(self.columns)


def uniform_noise(table: Any, schema: Schema, rate: float, *, random: np.random.Generator | None = None) -> NoisyTable:
    """Replace a share ``rate`` of all values by uniform ones: within the declared bounds, or any listed category.

    NOT PRIVATE, whatever the rate: the other values stay, and every label does.
    """
    frozen, random = _frozen(table, schema, rate), random or np.random.default_rng()

    def change(attribute: Numeric | Categorical, column: Values) -> Values:
        hit = random.random(column.size) < rate
        if isinstance(attribute, Categorical):
            return np.where(hit, random.integers(attribute.arity, size=column.size), column)
        fresh = random.uniform(attribute.low, attribute.high, column.size)
        return np.where(hit, np.floor(fresh + 0.5) if attribute.integer else fresh, column)

    return _published("uniform", rate, frozen, change)


def gaussian_noise(table: Any, schema: Schema, rate: float, *, random: np.random.Generator | None = None) -> NoisyTable:
    """Add Gaussian noise of the attribute's variance to a share ``rate`` of all numbers. NOT PRIVATE.

    Categories are replaced by others at their frequencies. Distributions stay, and so do most records.
    """
    frozen, random = _frozen(table, schema, rate), random or np.random.default_rng()

    def change(attribute: Numeric | Categorical, column: Values) -> Values:
        hit = random.random(column.size) < rate
        if isinstance(attribute, Categorical):
            return np.where(hit, random.choice(column, column.size), column) if column.size else column
        moved = column + random.standard_normal(column.size) * np.nanstd(column) if column.size else column
        moved = np.clip(moved, attribute.low, attribute.high)
        return np.where(hit, np.floor(moved + 0.5) if attribute.integer else moved, column)

    return _published("gaussian", rate, frozen, change)


def _frozen(table: Any, schema: Schema, rate: float) -> Frozen:
    check_number(rate, "rate", 0, 1)
    if isinstance(table, PrivateDataset):
        raise ParameterError("noise at a rate is not private, so it takes no protected table; give the table itself")
    return freeze(schema, table)


def _published(method: str, rate: float, frozen: Frozen, change: Any) -> NoisyTable:
    columns: dict[str, Values] = {}
    for attribute, column in zip(frozen.schema.attributes, frozen.columns, strict=True):
        changed = change(attribute, column)
        if isinstance(attribute, Categorical):
            columns[attribute.name] = np.array(attribute.values, dtype=object)[changed.astype(np.intp)]
        else:
            columns[attribute.name] = _written(attribute, changed)
    columns[frozen.schema.label.name] = decode_labels(frozen.schema, frozen.labels)
    why = f"{method} noise at a rate is not differentially private: most values stay as they are (epsilon = infinity)"
    certificate = Certificate(INFINITY, Neighbours.ADD_REMOVE, caveats=(Caveat(why, voids=True),))
    return NoisyTable(method, float(rate), columns, certificate.to_dict())


def _written(attribute: Numeric, column: Values) -> Values:
    """Numbers as people write them; missing ones as the declared marker, or None."""
    written = column.astype(object)
    if attribute.integer:
        whole = np.isfinite(column) & (np.floor(column) == column)
        written[whole] = [int(value) for value in column[whole].tolist()]
    written[np.isnan(column)] = attribute.missing
    return written
