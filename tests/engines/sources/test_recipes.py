"""Every recipe in every variant from a database: without noise, the very model of the table in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from privet.datasets.clinic import clinic
from privet.engines.chunks import ChunkEngine
from privet.engines.opening import open_engine
from privet.engines.sources import open_source
from privet.recipes.ours.random_forest import RandomForest
from privet.recipes.papers.diffpc45 import DiffPC45

pa = pytest.importorskip("pyarrow")
from zero import every_recipe, model_of  # noqa: E402

RECORDS = {1: 40, 7: 150, 2**17: 150}
"""How many records are read, by the size of a chunk."""


def in_duckdb(name: str, table: Any, folder: Path, request: Any) -> str:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    with duckdb.connect(str(folder / "clinic.db")) as connection:
        connection.register("given", table)
        connection.execute(f"create table {name} as select * from given")
    return f"duckdb:///{folder}/clinic.db?table={name}"


def in_postgres(name: str, table: Any, folder: Path, request: Any) -> str:
    server = request.getfixturevalue("postgres")
    server.ingest(name, table)
    return str(server.address(table=name))


@pytest.fixture(scope="module", params=[in_duckdb, in_postgres], ids=["duckdb", "postgres"])
def addresses(request: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The tables of a database, by their number of records."""
    folder, found = tmp_path_factory.mktemp("database"), {}
    for records in set(RECORDS.values()):
        table = pa.table({name: list(column) for name, column in clinic(records, seed=1)[1].items()})
        found[records] = request.param(f"clinic{records}", table, folder, request)
    return found


def same_from(address: str, records: int, recipe: Any, size: int) -> None:
    schema, table = clinic(records, seed=1)
    here = model_of(recipe, schema, lambda prepared: open_engine(table, prepared))
    source: Any = open_source(address)
    once = not recipe.recuts(schema)
    there = model_of(recipe, schema, lambda p: ChunkEngine.read(source, p, for_one_fit=once, size=size))
    assert here == there


@pytest.mark.parametrize("recipe", [DiffPC45(max_depth=2), RandomForest(n_estimators=3)], ids=lambda r: r.info.name)
def test_the_same_model(addresses: dict[int, str], recipe: Any) -> None:
    same_from(addresses[150], 150, recipe, 7)


@pytest.mark.engines
@pytest.mark.parametrize("size", RECORDS)
@pytest.mark.parametrize("recipe", list(every_recipe()), ids=lambda r: f"{r.info.name}-{r.variant}")
def test_every_recipe_grows_the_same_model(addresses: dict[int, str], recipe: Any, size: int) -> None:
    same_from(addresses[RECORDS[size]], RECORDS[size], recipe, size)
