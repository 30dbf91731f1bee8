"""Cells to make columns of: ordinary ones of each kind, and some that object to whatever is done to them."""

from __future__ import annotations

import datetime
import decimal
import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]


class Hostile:
    """An object that objects to everything that is done to it."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("a cell must not be asked")

    __hash__ = __eq__ = __float__ = __int__ = __str__ = __repr__ = __bool__ = __len__ = __iter__ = _refuse
    __lt__ = __index__ = __array__ = __getitem__ = _refuse


class HostileText(str):
    """A text that objects to being read."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("a cell must not be asked")

    __str__ = __eq__ = __hash__ = strip = lower = _refuse


class Warner(Fraction):
    """A number of another library, which warns when it is read, as one with a unit does."""

    def __float__(self) -> float:
        warnings.warn("the unit was lost", stacklevel=2)
        return 7.0


class Liar:
    """An object that calls itself an integer of NumPy, and then says something else."""

    __class__ = np.int64  # type: ignore[assignment]

    def __int__(self) -> int:
        return HostileInt(7)


class HostileInt(int):
    """A whole number that objects to being compared."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("a cell must not be asked")

    __int__ = __index__ = __eq__ = __hash__ = __float__ = _refuse


WHOLE = (0, 1, 2, 7, -1, 100, 39, -999)
IDS = (2**53, 2**53 + 1, 2**60 + 1, 900000000000207008, 900000000000207009, 2**63 - 1, -(2**63))
UNSIGNED = (0, 1, 7, 2**53 + 1, 2**63 - 1, 2**63 + 5, 2**63 + 6, 2**63 + 4097, 2**64 - 1)
FLOATS = (0.0, -0.0, 1.0, 0.1, 2.5, 7.0, 1e300, 2.0**53, 2.0**63, -999.0, math.nan, math.inf, -math.inf)
TEXTS = (
    "a", "b", " a", "a ", "red", "yes", "?", "", "1", "1.0", " 7 ", "37,8", "nan", "1_0", "true", "True", "é", "\x00",
    "900000000000207009", "9223372036854775813", "2020-01-02", "2020-01-02T00:00:00", "9" * 5000, "x" * 99,
)  # fmt: skip
BYTES = (b"a", b"red", b"1", b"\xff", b"", b"900000000000207009", b" a")
DAYS = (datetime.date(2020, 1, 2), datetime.date(1969, 12, 31), datetime.date(2020, 1, 3))
TIMES = (
    datetime.datetime(2020, 1, 2),
    datetime.datetime(2020, 1, 2, 3, 4, 5),
    datetime.datetime(2020, 1, 2, 3, 4, 5, 600),
)
DECIMALS = tuple(map(decimal.Decimal, ("1", "1.50", "-999", "7", "900000000000207009", "0.1")))
TOO_EARLY = datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=9)))  # year 0 in UTC
ODD = (
    Hostile(), HostileText("a"), HostileInt(7), Warner(), Liar(), [1], {"a": 1}, {1}, (1, 2), object(),
    object, 1j, Fraction(1, 2), pd.NA, pd.NaT,
    np.ma.masked, np.array(1.0), np.array([1.0]), np.float32(0.1), np.uint64(2**63 + 5), np.str_("red"), np.bool_(True),
    np.bytes_(b"red"), np.datetime64("2020-01-02", "ns"), np.timedelta64(7, "s"), np.longdouble("1e400"),
    decimal.Decimal("sNaN"), decimal.Decimal("1e999999"), pd.Timestamp("2020-01-02", tz="Europe/Berlin"), TOO_EARLY,
    pd.Period("2020"), bytearray(b"a"), datetime.timedelta(7), datetime.time(1), 10**400, -(10**400), float, "\ud800",
    b"\xff", range(3), NotImplemented, Ellipsis,
)  # fmt: skip
MIXED = (None, True, *WHOLE, *IDS, *UNSIGNED, *FLOATS, *TEXTS, *BYTES, *DAYS, *TIMES, *DECIMALS, *ODD)
