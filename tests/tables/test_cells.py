"""What single cells say, and the breaks of records that changed the codes of others."""

from __future__ import annotations

import datetime
import decimal
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding_cells import Hostile, HostileInt, HostileText, Liar, Warner

import privet
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway
from privet.tables.cells import number_of, plain_of, reader_of
from privet.tables.encoding import encode, encode_features
from privet.testing import ZeroNoise, use_noise

IDS = (900000000000207008, 900000000000207009)  # of 18 digits, as SNOMED CT has them: no double tells them apart


def codes(attribute: Categorical | Numeric, column: Any) -> list[int]:
    schema = Schema((attribute,), Categorical("y", ("no", "yes")))
    read: list[int] = encode_features(schema, {attribute.name: column})[0].tolist()
    return read


class TestPlain:
    @pytest.mark.parametrize(
        ("cell", "plain"),
        [
            (True, True),
            (np.bool_(True), True),
            (np.uint64(2**64 - 1), 2**64 - 1),
            (np.float32(0.1), float(np.float32(0.1))),
            (np.longdouble(0.5), 0.5),
            (decimal.Decimal("900000000000207009"), IDS[1]),
            (decimal.Decimal("0.10"), 0.1),
            (decimal.Decimal("1e999999"), float("inf")),
            (Fraction(1, 2), 0.5),
            (b"red", "red"),
            (np.bytes_(b"red"), "red"),
            (np.str_("red"), "red"),
            (HostileText("red"), "red"),
            (HostileInt(7), 7),
            (Warner(), 7.0),
            (datetime.date(2020, 1, 2), "2020-01-02"),
            (datetime.datetime(2020, 1, 2), "2020-01-02"),
            (datetime.datetime(2020, 1, 2, 3, 4, 5, 600), "2020-01-02T03:04:05.0006"),
            (pd.Timestamp("2020-01-02", tz="Europe/Berlin"), "2020-01-01T23:00:00"),
            (np.datetime64("2020-01", "M"), "2020-01-01"),
            (np.datetime64("2020-01-02T03", "h"), "2020-01-02T03:00:00"),
        ],
    )
    def test_says(self, cell: Any, plain: Any) -> None:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert plain_of(cell) == plain
        assert type(plain_of(cell)) is type(plain)
        assert not said

    @pytest.mark.parametrize(
        "cell",
        [None, pd.NA, pd.NaT, np.datetime64("NaT"), np.ma.masked, Hostile(), Liar(), [1], {}, object(), 1j,
         np.array([1.0]), datetime.timedelta(1), np.timedelta64(1, "s"), datetime.time(1),
         datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=9)))],
        ids=lambda cell: type(cell).__name__,
    )  # fmt: skip
    def test_says_nothing(self, cell: Any) -> None:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert plain_of(cell) is None
            assert np.isnan(number_of(cell))
            assert reader_of(Categorical("c", (0, 1, "nan")))(cell) == -1
        assert not said

    def test_ticks_without_a_unit_are_missing(self) -> None:
        """NumPy cannot write them as text, unless they are all NaT."""
        for ticks in ([-(2**63)], [-(2**63), 5]):
            assert codes(Categorical("c", ("5", "x", "?")), np.array(ticks, np.int64).view("M8")) == [2] * len(ticks)

    @pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
    def test_a_date_in_every_unit(self, unit: str) -> None:
        column = np.array(["2020-01-02", "NaT"], f"M8[{unit}]")
        for values in (("x", "2020-01-02", "?"), ("x", "2020-01-02T00:00:00", "?"), ("x", "2020-01-02 00:00", "?")):
            assert codes(Categorical("c", values), column) == [1, 2]
            assert codes(Categorical("c", values), [datetime.date(2020, 1, 2), None]) == [1, 2]


class TestBreaks:
    """One record changed the codes of others. Each of these failed once."""

    MAKERS: dict[str, Callable[[list[Any]], Any]] = {  # noqa: RUF012
        "pandas Int64": lambda cells: pd.Series(cells, dtype="Int64"),
        "pandas ArrowDtype": lambda cells: pd.Series(cells, dtype=pd.ArrowDtype(pa.int64())),
        "pandas array": lambda cells: pd.array(cells, dtype="Int64"),
        "pandas categories": lambda cells: pd.Series(pd.Categorical(cells, categories=IDS)),
        "pandas Categorical": lambda cells: pd.Categorical(cells, categories=IDS),
        "polars": lambda cells: pl.Series(cells, dtype=pl.Int64),
        "pyarrow": lambda cells: pa.chunked_array([pa.array(cells, pa.int64())]),
        "pyarrow array": lambda cells: pa.array(cells, pa.int64()),
        "pyarrow dictionary": lambda cells: pa.array(cells, pa.int64()).dictionary_encode(),
        "masked": lambda cells: np.ma.masked_array([cell or 0 for cell in cells], [cell is None for cell in cells]),
    }

    @pytest.mark.parametrize("values", [(*IDS, "?"), (*map(str, IDS), "?"), ("other", str(IDS[1]), "?")])
    @pytest.mark.parametrize("maker", MAKERS)
    def test_a_null_among_integers(self, maker: str, values: tuple[Any, ...]) -> None:
        attribute, make = Categorical("concept", values), self.MAKERS[maker]
        assert codes(attribute, make([IDS[1]] * 3)) == [1, 1, 1]
        assert codes(attribute, make([IDS[1]] * 3 + [None])) == [1, 1, 1, 2]

    @pytest.mark.parametrize(
        "make",
        [
            lambda cells: pl.Series(cells, dtype=pl.String),
            lambda cells: pa.chunked_array([pa.array(cells, pa.string())]),
            lambda cells: pd.Series(cells, dtype="str"),
        ],
        ids=["polars", "pyarrow", "pandas"],
    )
    def test_a_null_among_texts_that_end_in_a_nul_character(self, make: Callable[[list[Any]], Any]) -> None:
        attribute = Categorical("job", ("a", "a\0", "?"))
        assert codes(attribute, make(["a\0", "a"])) == [1, 0]
        assert codes(attribute, make(["a\0", "a", None])) == [1, 0, 2]

    @pytest.mark.parametrize("cell", [["x"], {}, Hostile()], ids=["list", "dict", "hostile"])
    def test_a_cell_that_cannot_be_hashed(self, cell: Any) -> None:
        attribute = Categorical("job", (" Private", "Private", "?"))
        for make in (
            list,
            lambda cells: pd.Series(cells, dtype=object),
            lambda cells: pl.Series(cells, dtype=pl.Object),
        ):
            assert codes(attribute, make([" Private"] * 3)) == [0, 0, 0]
            assert codes(attribute, make([" Private"] * 3 + [cell])) == [0, 0, 0, 2]
        schema = Schema((Categorical("a", (0, 1)),), Categorical("y", (" yes", "yes")))
        labels = encode(schema, {"a": [0] * 4, "y": [" yes"] * 3 + [cell]}).labels
        assert labels is not None
        assert labels.tolist() == [0, 0, 0]

    def test_what_a_cell_that_cannot_be_hashed_did_to_counts(self) -> None:
        schema = Schema((Categorical("job", (" Private", "Private")),), Categorical("y", ("no", "yes")))

        def parts(jobs: list[Any]) -> list[int]:
            with use_noise(ZeroNoise()):
                data = privet.protect({"job": jobs, "y": ["no"] * len(jobs)}, schema, privet.Ledger(1))
                return [part.noisy_count(1) for part in data.partition(Multiway(0))]

        before, after = parts([" Private"] * 50), parts([" Private"] * 50 + [["x"]])
        assert sum(abs(a - b) for a, b in zip(before, after, strict=True)) == 1  # it was 99

    @pytest.mark.parametrize("first", [2**63 + 5, 2**63 + 4096, 2**64 - 2])
    def test_the_number_of_records_and_unsigned_integers(self, first: int) -> None:
        attribute = Categorical("id", (first, first + 1, "?"))
        low = float(2**63 + 2**20)
        numeric = Numeric("id", low, low + 4096, bins=2)
        for n in (1, 2, 8, 9, 12, 2060, 4108, 4200):
            assert codes(attribute, np.full(n, first + 1, np.uint64)) == [1] * n
            assert codes(attribute, np.full(n, 7, np.uint64)) == [2] * n
            assert codes(numeric, np.full(n, int(low) + 4096, np.uint64)) == [1] * n
            assert codes(numeric, np.full(n, 0, np.uint64)) == [0] * n

    def test_a_date_and_the_resolution_of_the_others(self) -> None:
        attribute = Categorical("day", ("2020-01-02", "2020-01-03", "?"))
        days = [pd.Timestamp("2020-01-03")]
        for other in (pd.Timestamp("2020-01-02"), pd.Timestamp("2020-01-02 00:00:00.000000001"), pd.NaT):
            assert codes(attribute, pd.Series([*days, other]))[0] == 1

    def test_a_date_beyond_those_of_python(self) -> None:
        attribute = Categorical("day", ("1970-01-02", "?"))
        days = pa.array([1, 2**31 - 1, None], pa.int32()).cast(pa.date32())
        for column in (days, pl.Series([1, 2**31 - 1, None], dtype=pl.Int32).cast(pl.Date)):
            assert codes(attribute, column) == [0, 1, 1]

    def test_text_that_is_not_utf8(self) -> None:
        ends = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
        column = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"a\xff")])
        assert codes(Categorical("c", ("a", "?")), column) == [0, 1]


class TestValueRules:
    """Neither the first listed value nor the lowest number."""

    @pytest.mark.parametrize("cell", [None, float("nan"), "37,8", "abc", "", [1]])
    def test_values_that_are_not_numbers(self, cell: Any) -> None:
        assert codes(Numeric("t", 30, 45, thresholds=(36, 38, 40)), [cell]) == [1]  # 37.5
        assert codes(Numeric("t", 30, 45, thresholds=(36, 38, 40), missing="?"), [cell]) == [4]

    @pytest.mark.parametrize("cell", [None, float("nan"), "purple", "", [1]])
    def test_what_is_not_listed(self, cell: Any) -> None:
        assert codes(Categorical("pain", ("none", "some", "much")), [cell]) == [1]
        assert codes(Categorical("sex", ("f", "m")), [cell]) == [1]
        assert codes(Categorical("pain", ("none", "some", "much", "?")), [cell]) == [3]

    @pytest.mark.parametrize("bounds", [(40, 60), (-60, -40), (-1, 1), (0, 1), (0.25, 0.75), (-1e300, 1e300)])
    def test_sums_stay_within_their_sensitivity(self, bounds: tuple[float, float]) -> None:
        numeric = Numeric("x", *bounds)
        schema = Schema((numeric,), Categorical("y", ("no", "yes")))
        with use_noise(ZeroNoise()):
            data = privet.protect({"x": [None, "37,8"], "y": ["no"] * 2}, schema, privet.Ledger(2))
            middle = (bounds[0] + bounds[1]) / 2
            step = max(map(abs, bounds)) / 2**20
            assert data.noisy_sum("x", 1) == pytest.approx(2 * middle, abs=2 * step)
            assert data.noisy_average("x", 1) == pytest.approx(middle, abs=step)
