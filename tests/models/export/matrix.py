"""``make exports``: every real table, every kind of model, every program, on all records and 200 hostile ones.

    python tests/models/export/matrix.py [TABLE ...] [--programs python ...] [--results FILE] [--most 5000]

Prints a line for each table, kind and program: records, labels that differ, the largest difference of a probability;
then the tables of ``docs/guide/exports.md``. Ends with an error if a label differs or a probability is off by more than
1e-12. Regressors predict the first number among the attributes, and must do so exactly. Models are fitted to at most
50,000 records of a table and score all. Only the PMML scorer, which is slow, gets at most 50,000 records besides the
hostile ones. ``--most`` is a limit for all. What is in the file of results is not run again. Needs PRIVET_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests" / "engines"), str(ROOT / "benchmarks")]
from runtimes import (  # noqa: E402
    NEAR,
    Answer,
    Table,
    expected,
    hostile,
    run_duckdb,
    run_onnx,
    run_pmml,
    run_postgres,
    run_python,
    run_sqlite,
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

Run = Callable[[Model, Table], Answer]

HOUSING = "housing"
TREES = 10
HOSTILE = 200
MOST = {"pmml": 50_000}  # up to two milliseconds a record
FITTED = 50_000  # records of a fit: what is tested is how a model scores
PART = 100_000  # records scored at a time, to bound memory


def kinds(schema: Schema, table: Any) -> Iterator[tuple[str, Callable[[], Released]]]:
    """Fits to come: trees of both kinds of tests, a forest with every way of voting, sums, regressors."""

    def fitted(estimator: Any, **how: Any) -> Callable[[], Released]:
        return lambda: estimator(**({"schema": schema, "epsilon": 1} | how)).fit(table).model_.trees  # type: ignore[no-any-return]

    def voted(voting: Voting) -> Callable[[], Released]:
        return lambda: Forest(forest().schema, forest().members, voting, 0.5)

    if not schema.predicts_number:
        yield "tree", fitted(privet.ExactTreeClassifier)
        yield "multiway tree", fitted(privet.ExactTreeClassifier, tests="multiway")
        forest: Callable[[], Any] = cache(fitted(privet.PrivateForestClassifier, n_estimators=TREES))
        yield from ((f"forest, {voting}", voted(voting)) for voting in get_args(Voting))
        yield "additive", fitted(privet.AdditiveClassifier)
    if number := next((a for a in (schema.label, *schema.attributes) if isinstance(a, Numeric)), None):
        others = tuple(a for a in (*schema.attributes, schema.label) if a is not number)
        numbers = replace(schema, attributes=others, label=replace(number, missing=None))
        yield "regression tree", fitted(privet.ExactTreeRegressor, schema=numbers)
        yield "additive regression", fitted(privet.AdditiveRegressor, schema=numbers)


def loaded(name: str) -> tuple[Schema, Any]:
    if name != HOUSING:
        return load(name)
    from regression import housing  # the benchmark declares its facts

    return housing(Path(os.environ["PRIVET_DATA"]))


def cells(schema: Schema, table: Any) -> Table:
    """The columns of a file as typed cells."""
    return {
        a.name: [number_of(cell) for cell in table[a.name]] if isinstance(a, Numeric) else list(table[a.name])
        for a in schema.attributes
    }


def some(table: Table, most: int | None, keep: int = HOSTILE) -> Table:
    """The last records, which are to be kept, and some of the others, or all."""
    size = len(next(iter(table.values())))
    if most is None or size <= most + keep:
        return table
    chosen = [*np.random.default_rng(0).choice(size - keep, most, replace=False), *range(size - keep, size)]
    return {name: [column[i] for i in chosen] for name, column in table.items()}


def parts(table: Table) -> Iterator[Table]:
    for start in range(0, len(next(iter(table.values()))), PART):
        yield {name: column[start : start + PART] for name, column in table.items()}


def measure(
    name: str, runs: dict[str, Run], done: set[tuple[str, str, str]], most: int | None
) -> Iterator[dict[str, Any]]:
    """A row for each kind of model and each program that are not done."""
    schema, records = loaded(name)
    for kind, fit in kinds(schema, some(dict(records), FITTED, keep=0)):
        todo = [program for program in runs if (name, kind, program) not in done]
        if not todo:
            continue
        released = fit()
        real = cells(released.schema, records)
        odd = hostile(released.schema, HOSTILE)  # on the cuts of this model
        table = some({column: real[column] + odd[column] for column in real}, most)
        for program in todo:
            start = time.perf_counter()
            size, differ, off = 0, 0, 0.0
            for part in parts(some(table, MOST.get(program))):
                labels, shares = runs[program](Model(kind, released), part)
                right, graded = expected(released, part)
                size += len(right)
                differ += sum(one != other for one, other in zip(labels, right, strict=True))
                off = max(off, float(np.abs(np.asarray(shares, dtype=float) - graded).max(initial=0.0)))
            seconds = time.perf_counter() - start
            print(f"{name:16} {kind:20} {program:9} {size:7} records, {differ} labels differ, "
                  f"probabilities by {off:.1e}, {seconds:.1f} s", flush=True)  # fmt: skip
            yield {"table": name, "kind": kind, "program": program, "records": size, "differ": differ, "off": off}


def page(rows: list[dict[str, Any]], by: str) -> Iterator[str]:
    """A Markdown table of the results, a line for each table, kind or program."""
    yield f"| {by} | models | predictions | labels that differ | largest difference of a probability |"
    yield "|---|---|---|---|---|"
    for value in dict.fromkeys(row[by] for row in rows):
        mine = [row for row in rows if row[by] == value]
        models = len({(row["table"], row["kind"]) for row in mine})
        predictions, differ = (sum(row[key] for row in mine) for key in ("records", "differ"))
        yield f"| {value} | {models} | {predictions:,} | {differ} | {max(row['off'] for row in mine):.1e} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--programs", nargs="+")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--most", type=int)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    programs = postgres_programs()
    assert programs is not None, "no PostgreSQL is installed"
    kept = asked.results.read_text("utf-8").splitlines() if asked.results and asked.results.exists() else []
    rows = [json.loads(line) for line in kept]
    done = {(row["table"], row["kind"], row["program"]) for row in rows}
    with running_postgres(programs) as server:
        runs: dict[str, Run] = {
            "onnx": run_onnx, "duckdb": run_duckdb, "postgres": run_postgres(server), "sqlite": run_sqlite,
            "python": run_python, "pmml": run_pmml,
        }  # fmt: skip
        runs = {program: runs[program] for program in asked.programs or runs}
        for name in asked.tables or [*names(), HOUSING]:
            for row in measure(name, runs, done, asked.most):
                rows.append(row)
                if asked.results:
                    with asked.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    for by in ("table", "kind", "program"):
        print("\n".join(page(rows, by)), end="\n\n")
    return int(any(row["differ"] or row["off"] > NEAR for row in rows))


if __name__ == "__main__":
    sys.exit(main())
