"""Each hop once: a source is opened and its header read once, and so on; docs/guide/traces.md has the hops."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import privet
from privet import audit, fitting
from privet.datasets.clinic import clinic
from privet.engines import opening, spark
from privet.engines.memory import MemoryEngine
from privet.engines.sources import duckdb as duckdb_source
from privet.engines.sources import files
from privet.engines.sources.spark import SparkTable
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.recipes.recipe import Recipe
from privet.schema import Schema
from privet.tables.encoding import encode

SCHEMA, TABLE = clinic(300, seed=1)
ONCE = {"opened": 1, "header": 1, "records": 1}
FIT = ONCE | {"epsilon": 1, "prepare": 1, "recipe": 1}


class Spies(Counter[str]):
    """How often each hop was made."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._patch = patch
        self._cut: list[Schema] = []
        self.watch(opening, "open_source", "opened")
        for kind in (files.Files, duckdb_source.Relation, SparkTable):
            self.watch(kind, "header", "header")
        for kind, name in ((files.Files, "batches"), (files.Files, "whole"), (duckdb_source.Relation, "batches")):
            self.watch(kind, name, "records")
        self.watch(fitting, "parse_epsilon", "epsilon")
        self.watch(Recipe, "__post_init__", "recipe")
        prepare = DiffPID3.prepare

        def prepared(recipe: DiffPID3, schema: Schema) -> Schema:
            assert not any(schema is cut for cut in self._cut), "prepare runs on its own output"
            self["prepare"] += 1
            if (cut := prepare(recipe, schema)) is not schema:
                self._cut.append(cut)
            return cut

        patch.setattr(DiffPID3, "prepare", prepared)

    def watch(self, where: Any, name: str, hop: str) -> None:
        real = getattr(where, name)

        def spy(*arguments: Any, **options: Any) -> Any:
            found = real(*arguments, **options)
            self[hop] += hop != "opened" or found is not None  # a table in memory has no source
            return found

        self._patch.setattr(where, name, spy)


@pytest.fixture
def spies(monkeypatch: pytest.MonkeyPatch) -> Spies:
    return Spies(monkeypatch)


@pytest.fixture
def database(desk: Any) -> str:
    duckdb = pytest.importorskip("duckdb", reason="NOT TESTED: DuckDB; pip install 'privet[duckdb]'")
    with duckdb.connect(desk["clinic.db"]) as connection:
        connection.execute(f"create table patients as select * from read_csv('{desk['clinic.csv']}')")
    return f"duckdb:///{desk['clinic.db']}?table=patients"


def fit(desk: Any, table: str, *more: object) -> None:
    facts = ("-s", desk["clinic.schema.json"], "-e", 1, "-r", "diffpid3", "--max-depth", 1, "-o", desk["tree.json"])
    desk.ok("fit", table, *facts, *more)


def test_fit_from_csv(desk: Any, spies: Spies) -> None:
    fit(desk, desk["clinic.csv"], "--journal", desk["journal"])
    assert spies == FIT


def test_fit_from_duckdb(desk: Any, database: str, spies: Spies) -> None:
    import duckdb

    spies.watch(duckdb, "connect", "connected")
    fit(desk, database)
    assert spies == FIT | {"connected": 1}


class Frame(SparkTable):
    """A Spark table of which nothing is on a cluster."""

    def select(self, columns: Any) -> Any:
        return self

    def limit(self, count: int) -> Any:
        return self

    def toArrow(self) -> Any:
        import pyarrow

        return pyarrow.table({name: pyarrow.array([], type=pyarrow.null()) for name in self.frame})


def test_fit_from_spark(monkeypatch: pytest.MonkeyPatch, spies: Spies) -> None:
    pytest.importorskip("pyarrow")

    def read(table: SparkTable, schema: Schema, *, for_one_fit: bool) -> MemoryEngine:
        spies["records"] += 1
        return MemoryEngine(schema, encode(schema, table.frame))

    monkeypatch.setattr(spark.SparkEngine, "read", read)
    privet.papers.DiffPID3Classifier(SCHEMA, max_depth=1).fit(Frame(TABLE))
    assert spies == FIT


@pytest.mark.parametrize("kind", ["csv", "database"])
def test_scores_evaluations_and_tables(desk: Any, database: str, spies: Spies, kind: str) -> None:
    table = desk["clinic.csv"] if kind == "csv" else database
    fit(desk, desk["clinic.csv"])
    facts = ("-s", desk["clinic.schema.json"])
    for command in (
        ("score", desk["tree.json"], table, "-e", 1),
        ("evaluate", table, *facts, "-e", 1, "-r", "diffpid3", "--private", "--epsilon-scores", 1),
        ("evaluate", table, *facts, "-e", 1, "-r", "diffpid3", "--folds", 2, "--no-references"),
        ("publish", table, *facts, "-m", "diffgen", "-e", 1, "-o", desk["new.csv"]),
    ):
        before = Counter(spies)
        desk.ok(*command)
        done = Counter(spies) - before
        assert {hop: done[hop] for hop in ONCE} == ONCE, command


@pytest.mark.parametrize("kind", ["csv", "database"])
def test_search(desk: Any, database: str, spies: Spies, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = privet.papers.DiffPID3Classifier(Schema.from_json(desk["clinic.schema.json"]))
    monkeypatch.setattr("privet.evaluation.private_search.rehearse", lambda *given: [])
    search = privet.PrivateSearch(tree, {"max_depth": [0, 1]}, epsilon=3, mean_runs=2)
    search.fit(desk["clinic.csv"] if kind == "csv" else database)
    assert {hop: spies[hop] for hop in ONCE} == ONCE


def test_audit(spies: Spies) -> None:
    """Tables of a zoo have no source. Each is prepared once, and fitted many times."""
    pairs = list(audit.zoo())[:2]
    assert audit.exact("diffpid3", pairs, transcripts=2).verdict == "holds"
    assert not spies["opened"]
    assert spies["recipe"] == 1
    assert spies["prepare"] <= 2 * 4 < spies["epsilon"]
