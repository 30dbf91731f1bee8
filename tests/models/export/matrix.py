"""``make exports``: every real table, every kind of model, every program, on all records and 200 hostile ones.

    python tests/models/export/matrix.py [TABLE ...]

Prints a line for each table, kind and program: records, labels that differ, the largest difference of a probability.
Ends with an error if a label differs or a probability is off by more than 1e-12. Python and SQLite score at most 20,000
records of a table and the PMML scorer 1,000, besides the hostile ones: they are slow. Needs PRIVET_DATA.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "engines")]
from runtimes import (  # noqa: E402
    NEAR,
    Answer,
    Table,
    arrow_table,
    expected,
    hostile,
    run_duckdb,
    run_onnx,
    run_pmml,
    run_python,
    run_sqlite,
    sorted_rows,
)
from servers import postgres_programs, running_postgres  # noqa: E402

import privet  # noqa: E402
from privet.datasets.real import load, names  # noqa: E402
from privet.models.forest import Forest  # noqa: E402
from privet.models.model import Model  # noqa: E402
from privet.models.released import Released  # noqa: E402
from privet.models.voting import Voting  # noqa: E402
from privet.schema import Numeric, Schema  # noqa: E402
from privet.tables.cells import number_of  # noqa: E402

TREES = 10
HOSTILE = 200
MOST = {"python": 20_000, "sqlite": 20_000, "pmml": 1_000}


def kinds(schema: Schema, table: Any) -> Iterator[tuple[str, Released]]:
    """Fitted models: single trees of both kinds of tests, a forest with every way of voting, an additive model."""
    how: dict[str, Any] = {"schema": schema, "epsilon": 1}
    yield "tree", privet.ExactTreeClassifier(**how).fit(table).model_.trees
    yield "multiway tree", privet.ExactTreeClassifier(**how, tests="multiway").fit(table).model_.trees
    forest = privet.PrivateForestClassifier(**how, n_estimators=TREES).fit(table).model_.trees
    yield from (
        (f"forest, {voting}", Forest(forest.schema, forest.members, voting, 0.5)) for voting in get_args(Voting)
    )
    yield "additive", privet.AdditiveClassifier(**how).fit(table).model_.trees


def cells(schema: Schema, table: Any) -> Table:
    """The columns of a file as typed cells."""
    return {
        a.name: [number_of(cell) for cell in table[a.name].tolist()]
        if isinstance(a, Numeric)
        else table[a.name].tolist()
        for a in schema.attributes
    }


def some(table: Table, most: int | None) -> Table:
    """The last hostile records and some of the others, or all."""
    size = len(next(iter(table.values())))
    if most is None or size <= most + HOSTILE:
        return table
    chosen = [*np.random.default_rng(0).choice(size - HOSTILE, most, replace=False), *range(size - HOSTILE, size)]
    return {name: [column[i] for i in chosen] for name, column in table.items()}


def main(wanted: list[str]) -> int:
    warnings.simplefilter("ignore")
    programs = postgres_programs()
    assert programs is not None, "no PostgreSQL is installed"
    wrong = 0
    total = dict[str, list[float]]()
    with running_postgres(programs) as server:

        def postgres(model: Model, _: Table) -> Answer:
            return sorted_rows(server.run(model.to_sql("postgres", keep=["row_id"])))

        runs: dict[str, Callable[[Model, Table], Answer]] = {
            "onnx": run_onnx, "duckdb": run_duckdb, "postgres": postgres, "sqlite": run_sqlite, "python": run_python,
            "pmml": run_pmml,
        }  # fmt: skip
        for name in wanted or names():
            schema, records = load(name)
            real = cells(schema, records)
            for kind, released in kinds(schema, records):
                odd = hostile(released.schema, HOSTILE)  # on the cuts of this model
                table = {column: real[column] + odd[column] for column in real}
                for program, run in runs.items():
                    start = time.perf_counter()
                    mine = some(table, MOST.get(program))
                    if program == "postgres":
                        server.ingest("records", arrow_table(released.schema, mine))
                    labels, shares = run(Model(kind, released), mine)
                    right, graded = expected(released, mine)
                    differ = sum(one != other for one, other in zip(labels, right, strict=True))
                    off = float(np.abs(np.asarray(shares, dtype=float) - graded).max())
                    wrong += bool(differ) or off > NEAR
                    seconds = time.perf_counter() - start
                    print(f"{name:16} {kind:20} {program:9} {len(right):7} records, {differ} labels differ, "
                          f"probabilities by {off:.1e}, {seconds:.1f} s", flush=True)  # fmt: skip
                    sums = total.setdefault(program, [0, 0, 0, 0.0])
                    sums[0] += 1
                    sums[1] += len(right)
                    sums[2] += differ
                    sums[3] = max(sums[3], off)
    for program, (models, scored, differ, off) in total.items():
        print(f"{program}: {models} models, {scored:,} predictions, {differ} labels differ, probabilities by {off:.1e}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
