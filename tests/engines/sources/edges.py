"""One record for every odd cell, and what every source must make of it."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pyarrow as pa

from privet.engines.opening import open_engine
from privet.privacy.counting import ROOT, Engine, Tally
from privet.schema import Categorical, Numeric, Schema

NAN, INF = float("nan"), float("inf")
NBSP = chr(0xA0)
DAY = datetime.date(2020, 1, 2)
ZONE = datetime.timezone(datetime.timedelta(hours=2))

# name -> (type, cells, what the schema declares). Every column also gets a null.
EDGES: dict[str, tuple[Any, list[Any], Any]] = {
    "small": (pa.int16(), [-1, 0, 1, 7], (0, 10)),
    "large": (pa.int64(), [2**53, 2**53 + 1, -(2**63), 2**63 - 1], (str(2**53), str(2**53 + 1))),
    "id": (pa.int32(), [1, 2, 3], ("1", "2.0", "01", "?")),
    "real": (pa.float64(), [NAN, INF, -INF, -0.0, 0.5, 1e300], (-1, 1)),
    "code": (pa.float64(), [1.0, 2.5, NAN, INF], (1, "2.5", "nan", "other")),
    "short": (pa.float32(), [0.1, NAN, 3.4e38], (0.0, 1.0)),
    "money": (pa.decimal128(12, 2), [decimal.Decimal("1.00"), decimal.Decimal("2.50")], ("1", "2.5", "?")),
    "flag": (pa.bool_(), [True, False], ("true", "no", "?")),
    "bit": (pa.bool_(), [True, False], (0, 1)),
    "text": (
        pa.string(),
        ["a", " a", "a\t", f"a{NBSP}", "A", "", " ", "1", "1.0", "01", "true", "True", "ä", "x" * 300],
        ("a", "1", "true", "ä", "?"),
    ),
    "typed": (pa.string(), ["1e1", " 7 ", "7,5", "inf", "-inf", "nan", "?", "0x10", "1_0", "９"], (0, 10)),
    "day": (pa.date32(), [DAY, datetime.date(1970, 1, 1)], ("2020-01-02", "?")),
    "moment": (
        pa.timestamp("us"),
        [datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 600000)],
        ("2020-01-02", "2020-01-02T03:04:05.6", "?"),
    ),
    "zoned": (
        pa.timestamp("us", "UTC"),
        [datetime.datetime(2020, 1, 2, 2, tzinfo=ZONE), datetime.datetime(2020, 1, 2, tzinfo=ZONE)],
        ("2020-01-02", "2020-01-01T22:00:00", "?"),
    ),
}
LABELS = ["no", "yes", " yes", "YES", None]


def edge_table(*without: str) -> pa.Table:
    """Every cell of every column, and a column of numbers by which a record is found again."""
    kept = {name: edge for name, edge in EDGES.items() if name not in without}
    records = max(len(cells) for _, cells, _ in kept.values()) + 1
    columns = {
        name: pa.array((cells + [None] * records)[:records], dtype, from_pandas=False)
        for name, (dtype, cells, _) in kept.items()
    }
    number = pa.array(range(records), pa.int32())
    label = pa.array([LABELS[i % len(LABELS)] for i in range(records)], pa.string())
    return pa.table({"number": number, **columns, "ill": label, "not wanted": number})


def edge_schema(table: Any) -> Schema:
    def declared(name: str) -> Numeric | Categorical:
        facts = EDGES[name][2]
        if len(facts) == 2 and not any(isinstance(fact, str) for fact in facts) and facts != (0, 1):
            return Numeric(name, *facts, bins=5, missing="?" if name == "typed" else None)
        return Categorical(name, facts)

    names = [name for name in table.column_names if name in EDGES]
    number = Numeric("number", 0, table.num_rows, integer=True, bins=table.num_rows + 1)
    return Schema((number, *map(declared, names)), Categorical("ill", ("no", "yes")))


def differences(engine: Engine, table: Any) -> list[str]:
    """The columns in which a record is read otherwise than from the Arrow table itself."""
    schema = engine.schema
    questions = [Tally(ROOT, ((0, a),)) for a in range(len(schema.attributes))]
    wanted, found = open_engine(table, schema).answer(questions), engine.answer(questions)
    return [name for name, ours, theirs in zip(schema.names, wanted, found, strict=True) if (ours != theirs).any()]
