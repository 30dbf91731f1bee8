"""Frozen records can be cut anew: the same codes as if the table had been encoded for those cuts from the start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.errors import SchemaError, TableError
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import encode
from privet.tables.frozen import declared_facts, freeze
from privet.testing import schemas, tables


def recut(schema: Schema, bins: int) -> Schema:
    cut = (replace(a, bins=bins, thresholds=None) if isinstance(a, Numeric) else a for a in schema.attributes)
    return replace(schema, attributes=tuple(cut))


@settings(max_examples=60)
@given(st.data())
def test_cutting_frozen_records_is_encoding_from_the_start(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    table = data.draw(tables(schema, 15))
    other = recut(schema, data.draw(st.integers(2, 40)))
    frozen = freeze(schema, table)
    for cuts in (schema, other):
        ours, theirs = frozen.codes(cuts), encode(cuts, table, levels=True)
        assert np.array_equal(ours.features, theirs.features)
        assert ours.features.dtype == theirs.features.dtype
        assert np.array_equal(ours.labels, theirs.labels)  # type: ignore[arg-type]
        assert theirs.levels is not None
        assert all(frozen.levels(a).tolist() == values.tolist() for a, values in theirs.levels.items())


AGE, LABEL = Numeric("age", 0, 120, integer=True), Categorical("class", ("no", "yes"))
SCHEMA = Schema((AGE,), LABEL)


def test_only_cuts_may_differ() -> None:
    frozen = freeze(SCHEMA, {"age": [30, "?"], "class": ["no", "yes"]})
    for other in (replace(AGE, high=100), replace(AGE, missing="?"), replace(AGE, name="years")):
        with pytest.raises(SchemaError, match="only cuts may differ"):
            frozen.codes(Schema((other,), LABEL))
    thresholds = Schema((replace(AGE, thresholds=(18.0, 65.0)),), LABEL)
    assert declared_facts(thresholds) == declared_facts(SCHEMA)
    assert frozen.codes(thresholds).features.tolist() == [[1, 1]]  # the middle of the bounds, 60, for what is missing


def test_it_shows_no_record_and_refuses_columns_of_other_lengths() -> None:
    table: dict[str, Any] = {"age": [30, 40, 50], "class": ["no", "yes", "no"]}
    assert repr(freeze(SCHEMA, table)) == "Frozen(attributes=1, records=<private>)"
    with pytest.raises(TableError, match="'age' differs in length"):
        freeze(SCHEMA, table | {"age": [1]})
