"""Typed columns of every library: no record's code depends on another, and nothing raises.

A draw takes a container, a schema, a few records and one more, which stands anywhere. It asks that the codes and levels
of the few are the same without it, one by one, in another order and in two batches; the same of labels; and that a
column read in one go says what its cells say one at a time.

``make fuzz`` runs many more draws than the suite, from a seed of its own.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding_containers import Container, containers

from privet.errors import SchemaError
from privet.schema import Attribute, Categorical, DatePart, Numeric, Reading, Schema
from privet.schema.limits import has_surrogates
from privet.tables import encoding, frames
from privet.tables.cells import UNKNOWN, plain_of, reader_of
from privet.tables.readings import translator

DRAWS = int(os.environ.get("PRIVET_FUZZ_DRAWS", "500"))
SEED = int(os.environ.get("PRIVET_FUZZ_SEED", "11"))
CONTAINERS = tuple(containers())
BOUNDS = ((0, 120), (-1000, 1000), (0, 0.5), (0, 1e300), (-(2**63), 2**63), (2**63 + 2**20, 2**63 + 2**20 + 4096))
LABEL = Categorical("class", (0, 1))


@dataclass(frozen=True)
class Draw:
    container: Container
    attribute: Attribute
    cells: list[Any]
    extra: Any
    place: int
    order: list[int]

    @property
    def more(self) -> list[Any]:
        return [*self.cells[: self.place], self.extra, *self.cells[self.place :]]


def drawn(number: int, seed: int = SEED, among: Sequence[Container] = CONTAINERS) -> Draw:
    random = np.random.default_rng([seed, number])
    container = among[number % len(among)]
    size = int(random.integers(0, 8))
    few = [container.cells[i] for i in random.integers(0, len(container.cells), 6)]  # so that cells and values meet
    cells = [few[i] for i in random.integers(0, len(few), size + 1)]
    attribute = _numeric(random) if random.random() < 0.4 else _categorical(random, few)
    return Draw(
        container,
        _with_reading(np.random.default_rng([seed, number, 1]), attribute, few),
        cells[:-1],
        cells[-1],
        int(random.integers(0, size + 1)),
        random.permutation(size).tolist(),
    )


def _numeric(random: np.random.Generator) -> Numeric:
    low, high = BOUNDS[random.integers(len(BOUNDS))]
    missing: Any = (None, None, "?", -999, "7", "nan", 1)[random.integers(7)]
    return Numeric("x", low, high, integer=high > 1 and random.random() < 0.5, bins=int(random.integers(2, 9)),
                   missing=missing)  # fmt: skip


def _categorical(random: np.random.Generator, cells: Sequence[Any]) -> Categorical:
    """Values that the cells may say, as they are, as text or padded, and some that they may not."""
    said = [plain_of(cell) for cell in cells]
    known = [
        value for value in said if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    ]
    texts = [text for value in known for text in (str(value), str(value).strip(), f" {value}")]
    pool = [one for one in (*known, *texts) if not (isinstance(one, str) and has_surrogates(one))]  # no schema has any
    pool += [1, 0.1, "2020-01-02", "1970-01-01", "2020-01-02T03:04:05"]
    values: list[Any] = []
    for i in random.integers(0, len(pool), random.integers(1, 6)):
        if pool[i] not in values:
            values.append(pool[i])
    return Categorical("x", tuple(values), other=values[-1] if random.random() < 0.3 else None)


def _with_reading(random: np.random.Generator, attribute: Attribute, cells: Sequence[Any]) -> Attribute:
    """In two of three draws, markers, spellings, parts of dates, prefixes, folded case: each with what cells say."""
    if random.random() < 1 / 3:
        return attribute
    said = [plain for cell in cells if isinstance(plain := plain_of(cell), str | int | float)
            and not (isinstance(plain, str) and has_surrogates(plain))]  # fmt: skip
    plain = [one for one in said if not isinstance(one, bool) and one == one]
    formats = (("%Y-%m-%d",), ("%d.%m.%Y", "%m/%d/%y"))[random.integers(2)]
    part = ("year", "month", "weekday", "days")[random.integers(4)]
    at = "2021-06-01" if part == "days" else None
    facts: dict[str, Any] = {
        "missing": [plain[i] for i in random.integers(0, len(plain), 2)] if plain and random.random() < 0.5 else (),
        "date": DatePart(part, formats, at) if random.random() < 0.3 else None,
    }
    if isinstance(attribute, Categorical):
        texts = [str(one) for one in said if str(one).strip() not in {str(v).strip() for v in attribute.values}]
        facts["fold"] = random.random() < 0.4
        facts["prefix"] = int(random.integers(1, 6)) if random.random() < 0.3 else None
        facts["spellings"] = {attribute.values[0]: texts[:2]} if texts and random.random() < 0.6 else ()
    try:
        return replace(attribute, reading=Reading(**facts))
    except SchemaError:  # folded, two values are one
        return replace(attribute, reading=Reading(missing=facts["missing"], date=facts["date"]))


def codes(draw: Draw, cells: Sequence[Any]) -> list[tuple[int, ...]]:
    """Code and level of every record."""
    table = _framed(draw.container.build(cells))
    schema = Schema((draw.attribute,), LABEL)
    encoded = encoding.encode(schema, table, np.zeros(len(cells), np.uint8), levels=True)
    assert encoded.levels is not None
    return list(
        zip(encoded.features[0].tolist(), *(levels.tolist() for levels in encoded.levels.values()), strict=True)
    )


def labels(draw: Draw, cells: Sequence[Any]) -> list[tuple[int, int]]:
    """Those records that have a known label, and the label."""
    assert isinstance(draw.attribute, Categorical)
    label = Categorical("class", (*draw.attribute.values, "one label more"), reading=draw.attribute.reading)
    schema = Schema((Numeric("x", 0, 50, integer=True, bins=51),), label)
    encoded = encoding.encode(schema, {"x": np.arange(len(cells))}, draw.container.build(cells))
    assert encoded.labels is not None
    return list(zip(encoded.features[0].tolist(), encoded.labels.tolist(), strict=True))


def _framed(column: Any) -> Any:
    """In a frame of its library where it has one, else in a mapping."""
    if isinstance(column, pd.Series):
        return pd.DataFrame({"x": column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"x": column})
    return pa.table({"x": column}) if isinstance(column, pa.ChunkedArray) else {"x": column}


def check(draw: Draw) -> None:
    """Each record by itself: raises AssertionError, or whatever a row made the encoding raise."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")  # a warning is a release too; as an error it could be caught and lost
        _check(draw)
    assert not said, f"a row made the encoding warn: {said[0].message}"


def _check(draw: Draw) -> None:
    few, more = codes(draw, draw.cells), codes(draw, draw.more)
    assert more[: draw.place] + more[draw.place + 1 :] == few, "another record changed a code"
    assert not few or codes(draw, draw.cells[:1]) == few[:1], "a record alone has another code"
    assert codes(draw, [draw.cells[i] for i in draw.order]) == [few[i] for i in draw.order], "the order matters"
    assert codes(draw, draw.cells[: draw.place]) + codes(draw, draw.cells[draw.place :]) == few, "batches differ"
    if draw.container.faithful:
        read = map(reader_of(draw.attribute), map(translator(draw.attribute), draw.cells))
        said = [draw.attribute.fallback if code == UNKNOWN else code for code in read]
        assert [code for code, *_ in few] == said, "a column says something else than its cells"
    if isinstance(draw.attribute, Categorical):
        known = labels(draw, draw.more)
        without = [(row - (row > draw.place), code) for row, code in known if row != draw.place]
        assert without == labels(draw, draw.cells), "another record changed a label"


@pytest.mark.parametrize("part", range(4))
def test_each_record_by_itself(part: int) -> None:
    for number in range(part, DRAWS, 4):
        draw = drawn(number)
        try:
            check(draw)
        except BaseException as fault:  # a panic of polars is no Exception
            pytest.fail(f"draw {number} of seed {SEED}: {draw.container.name}, {draw.attribute}: {fault!r}")


def _stops(column: Any) -> Any:
    raise OverflowError("more text than a dictionary holds")


@pytest.mark.parametrize(("name", "way"), [("_repeated", lambda values: None), ("_listed", _stops)])
def test_distinct_cells_or_all_of_them(name: str, way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each distinct cell once, or one cell after another, also because a library stopped: the same codes."""
    draws = [drawn(number) for number in range(len(CONTAINERS))]
    found, asked = [codes(draw, draw.more) for draw in draws], [0]

    def instead(column: Any) -> Any:
        asked[0] += 1
        return way(column)

    monkeypatch.setattr(frames, name, instead)
    assert [codes(draw, draw.more) for draw in draws] == found
    assert asked[0] >= 20, "few columns were asked for their distinct cells"


def test_every_container_has_its_turn() -> None:
    assert len(CONTAINERS) > 200
    assert 2 * len(CONTAINERS) <= DRAWS
    assert len({container.name for container in CONTAINERS}) == len(CONTAINERS)


# ---- the fuzz can fail: the faults that it was written for, planted again ------------------------------------------


def _by_floats(series: nw.Series[Any]) -> Any:
    return series.to_numpy()


def _dates_in_their_unit(column: Any) -> list[Any]:
    cells: list[Any] = (column.astype(str) if column.dtype.kind in "mM" else column).tolist()
    return cells


def _all_or_none(function: Callable[[Any], Any], cells: Any) -> Any:
    listed = list(cells)
    try:
        hash(tuple(listed))
    except Exception:  # one cell that cannot be hashed sends all down another path
        listed = [cell.strip() if type(cell) is str else cell for cell in listed]
    return map(function, listed)


def _table_by_size(attribute: Attribute, column: Any, out: Any, unknown: int) -> None:
    out[:] = encoding._integer_codes(attribute, column if column.size % 2 else column.astype(np.float64), unknown)


def _null_is_the_last(column: Any) -> Any:
    """A place of -1 taken as it stands: a null is then whatever cell is listed last."""
    listed = column.combine_chunks().dictionary_encode()
    places = np.asarray(listed.indices.fill_null(-1).to_numpy(zero_copy_only=False)).astype(np.intp)
    cells = frames.as_column(listed.dictionary)
    return frames.Repeated(cells, np.where(places < 0, cells.size - 1, places))


def _check_all(draws: Iterable[Draw]) -> None:
    for draw in draws:
        check(draw)


def _called(name: str) -> Container:
    return next(container for container in CONTAINERS if container.name == name)


@pytest.mark.parametrize(
    ("module", "name", "fault", "container"),
    [
        (frames, "_series_column", _by_floats, _called("pandas Int64")),
        (encoding, "cells_of", _dates_in_their_unit, _called("pandas to_datetime")),
        (encoding, "each", _all_or_none, Container("texts and a list", list, (" a", "a", "b", ["x"]))),
        (encoding, "_encode_integers", _table_by_size, _called("numpy u8")),
        (frames, "_listed", _null_is_the_last, _called("pyarrow string")),
    ],
    ids=["nulls as floats", "dates in their unit", "one for all", "table by size", "a null is the last"],
)
def test_planted_faults_are_found(
    module: Any, name: str, fault: Any, container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, fault)
    with pytest.raises(AssertionError, match=r"another|alone|order|batches|says"):
        _check_all(drawn(number, seed=11, among=[container]) for number in range(1000))
