"""Where exported models run: onnxruntime, DuckDB, PostgreSQL, SQLite, a PMML scorer and a bare Python.

Each takes a model and a table of hostile cells and returns labels as text and probabilities, record by record.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pyarrow as arrow
import pytest

from privet.models.model import Model
from privet.models.released import Released
from privet.schema import Numeric, Schema
from privet.tables.cells import number_of, spellings_of
from privet.tables.encoding import encode_features

Table = dict[str, list[Any]]  # numbers as floats, None or NaN; categories as text or None
Answer = tuple[list[Any], np.ndarray[Any, Any]]
NEAR = 1e-12  # of probabilities


def expected(released: Released, table: Table) -> Answer:
    features = encode_features(released.schema, table)
    if released.schema.predicts_number:
        return released.predict(features).tolist(), np.empty((features.shape[1], 0))
    return _texts(released.schema, released.predict(features)), released.predict_proba(features)


def _texts(schema: Schema, codes: Any) -> list[str]:
    return [str(schema.classes[code]) for code in codes]


def check(released: Released, table: Table, run: Callable[[Model, Table], Answer], certificate: Any = None) -> None:
    """The labels are the same and the probabilities near, for every record."""
    labels, shares = expected(released, table)
    got_labels, got_shares = run(Model("test", released, certificate=certificate or {}), table)
    wrong = [i for i, (one, other) in enumerate(zip(labels, got_labels, strict=True)) if one != other]
    assert not wrong, (len(wrong), {name: column[wrong[0]] for name, column in table.items()})
    assert np.abs(np.asarray(got_shares, dtype=float) - shares).max(initial=0.0) <= NEAR


def hostile(schema: Schema, records: int, seed: int = 0) -> Table:
    """Cells on a cut, one ulp beside it, NaN, infinities, out of bounds, markers; unknown, padded and missing texts."""
    rng = np.random.default_rng(seed)
    table: Table = {}
    for attribute in schema.attributes:
        pool: list[Any]
        if isinstance(attribute, Numeric):
            cuts = attribute.cuts.tolist()
            pool = [*cuts, *np.nextafter(cuts, np.inf).tolist(), *np.nextafter(cuts, -np.inf).tolist()] * 2
            pool += [float("nan"), None, float("inf"), float("-inf"), attribute.low - 1, attribute.high * 2 + 1, -0.0]
            pool += [] if np.isnan(number_of(attribute.missing)) else [number_of(attribute.missing)]
            pool += rng.uniform(attribute.low, attribute.high, len(pool)).tolist()
        else:
            pool = [text for text in spellings_of(attribute) if isinstance(text, str)] * 2
            pool += [f" {text}\t" for text in pool[:3]] + [None, "", "never seen", 'it\'s \\ "odd"']
        table[attribute.name] = [pool[i] for i in rng.integers(0, len(pool), records)]
    return table


def run_onnx(model: Model, table: Table) -> Answer:
    onnxruntime = pytest.importorskip("onnxruntime", reason="NOT TESTED: ONNX; pip install onnxruntime")

    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    fed = {}
    for attribute in model.schema.attributes:
        cells = table[attribute.name]
        if isinstance(attribute, Numeric):
            column = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
        else:  # ONNX has no operator that removes spaces, and no null
            known = spellings_of(attribute)
            texts = ["<null>" if cell is None else cell if cell in known else cell.strip() for cell in cells]
            column = np.array(texts, dtype=object)
        fed[attribute.name] = column.reshape(-1, 1)
    labels, *shares = session.run(None, fed)
    return labels.tolist(), shares[0] if shares else np.empty((len(labels), 0))


def run_python(model: Model, table: Table) -> Answer:
    """By the exported file alone, in a Python that sees no packages."""
    script = model.to_python().partition('if __name__ == "__main__":')[0] + (
        "import json, sys\ntable = json.load(sys.stdin)\n"
        "records = [dict(zip(table, cells)) for cells in zip(*table.values())]\n"
        "print(json.dumps([_answer(record) for record in records]))\n"
    )
    with NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(script)
        file.flush()
        command = [sys.executable, "-I", "-S", file.name]
        done = subprocess.run(command, input=json.dumps(table), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    numbers = model.schema.predicts_number
    return [label if numbers else str(label) for label, _ in answers], np.array([shares for _, shares in answers])


def arrow_table(schema: Schema, table: Table) -> Any:
    """Typed columns and a number for each record; NaN stays NaN and None is null."""
    columns = {"row_id": arrow.array(range(len(next(iter(table.values())))))}
    for attribute in schema.attributes:
        kind = arrow.float64() if isinstance(attribute, Numeric) else arrow.string()
        columns[attribute.name] = arrow.array(table[attribute.name], kind)
    return arrow.table(columns)


def run_duckdb(model: Model, table: Table) -> Answer:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")

    with duckdb.connect() as connection:
        connection.register("records", arrow_table(model.schema, table))
        return sorted_rows(connection.execute(model.to_sql("duckdb", keep=["row_id"])).fetchall())


def run_sqlite(model: Model, table: Table, connection: sqlite3.Connection | None = None) -> Answer:
    rows = arrow_table(model.schema, table)
    connection = connection or sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows.column_names)
    connection.execute(f"CREATE TABLE records ({names})")
    marks = ", ".join("?" * rows.num_columns)
    connection.executemany(
        f"INSERT INTO records VALUES ({marks})", zip(*(c.to_pylist() for c in rows.columns), strict=True)
    )
    found = connection.execute(model.to_sql("sqlite", keep=["row_id"])).fetchall()
    connection.close()
    return sorted_rows(found)


def run_postgres(server: Any) -> Callable[[Model, Table], Answer]:
    def run(model: Model, table: Table) -> Answer:
        server.ingest("records", arrow_table(model.schema, table))
        return sorted_rows(server.run("SET jit = off", model.to_sql("postgres", keep=["row_id"])))

    return run


def run_pmml(model: Model, table: Table) -> Answer:
    """By PMML4S. Its JSON has no NaN and no infinity: those are null, and the largest doubles."""
    Scorer = pytest.importorskip("pypmml", reason="NOT TESTED: PMML; pip install pypmml").Model
    most, columns = sys.float_info.max, []
    for attribute in model.schema.attributes:
        cells = table[attribute.name]
        if isinstance(attribute, Numeric):
            cells = [None if cell is None or cell != cell else min(max(cell, -most), most) for cell in cells]
        columns.append(cells)
    records = {"columns": list(model.schema.names), "data": list(zip(*columns, strict=True))}
    found = json.loads(str(Scorer.fromString(model.to_pmml()).predict(json.dumps(records))))
    classes = 0 if model.schema.predicts_number else model.schema.n_classes
    labels = [row[0] if not classes else str(row[0]) for row in found["data"]]
    return labels, np.array([row[1 : 1 + classes] for row in found["data"]], dtype=float)


def sorted_rows(rows: Any) -> Answer:
    rows = sorted(rows)
    return [row[1] for row in rows], np.array([row[2:] for row in rows])
