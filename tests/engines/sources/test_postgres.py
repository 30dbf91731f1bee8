"""A real PostgreSQL: what it hands over, what it says of itself, and what happens when it dies in the middle."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import privet
from privet import EngineError, Ledger, TableError
from privet.datasets.clinic import clinic
from privet.engines.chunks import ChunkEngine
from privet.engines.opening import open_engine
from privet.engines.sources import open_source
from privet.engines.sources import postgres as postgres_source
from privet.papers import DiffPC45Classifier
from privet.privacy.counting import ROOT, Tally, class_counts
from privet.schema import Categorical, Numeric, Schema
from privet.testing import ZeroNoise, check_engine, use_noise

pa = pytest.importorskip("pyarrow")
from asked import TABLE, answers  # noqa: E402
from edges import differences, edge_schema, edge_table  # noqa: E402

SECRET = "hunter2"
LONG = 400_000  # records: several of the batches that the server sends


def test_every_odd_cell_is_read_as_from_the_table(postgres: Any) -> None:
    table = edge_table()
    postgres.ingest("odd", table)
    assert differences(open_engine(postgres.address(table="public.odd"), edge_schema(table)), table) == []
    query = 'select * from odd where "number" >= 0'
    assert differences(open_engine(postgres.address(query=query), edge_schema(table)), table) == []


@pytest.mark.parametrize("size", [1, 2**17])
def test_it_counts_as_memory_does(postgres: Any, size: int) -> None:
    def opened(schema: Schema, table: dict[str, list[Any]]) -> ChunkEngine:
        postgres.ingest("checked", pa.table({name: pa.array(column, pa.string()) for name, column in table.items()}))
        source: Any = open_source(postgres.address(table="checked"))
        return ChunkEngine.read(source, schema, size=size)

    check_engine(opened, rounds=4, records=20, texts=True)


def test_questions_by_value_are_answered_as_in_memory(postgres: Any) -> None:
    postgres.ingest("asked", pa.table({name: list(column) for name, column in TABLE.items()}))
    assert answers(postgres.address(table="asked")) == answers(TABLE)


def test_types_that_only_postgresql_has(postgres: Any) -> None:
    """A numeric is a number, a padded char is its text, an enumeration its label."""
    postgres.run(
        "drop table if exists own",
        "drop type if exists mood",
        "create type mood as enum ('sad', 'ok')",
        "create table own (price numeric, exact numeric(6,2), pad char(5), mood mood, name varchar(9), ill text)",
        "insert into own values (1.00, 2.50, 'a', 'sad', 'x', 'no'), (123456789012345678901, 1, 'b', 'ok', 'y', 'yes'),"
        "('NaN', null, null, null, null, 'yes'), (0.1, 1.0, 'a', 'sad', ' x ', 'no')",
    )
    schema = Schema(
        (
            Numeric("price", 0, 2, bins=4, missing="?"),
            Categorical("exact", ("1", "2.5", "?")),
            Categorical("pad", ("a", "b", "?")),
            Categorical("mood", ("sad", "ok", "?")),
            Categorical("name", ("x", "y", "?")),
        ),
        Categorical("ill", ("no", "yes")),
    )
    engine = open_engine(postgres.address(table="own"), schema)
    counts = engine.answer([Tally(ROOT, ((a,),)) for a in range(5)])
    assert [c[0].sum(axis=1).tolist() for c in counts] == [[1, 1, 0, 1, 1], [2, 1, 1], [2, 1, 1], [2, 1, 1], [2, 1, 1]]


def test_a_fit_from_the_database_is_the_fit_of_the_table(postgres: Any) -> None:
    schema, table = clinic(2000, seed=3)
    postgres.ingest("patients", pa.table({name: list(column) for name, column in table.items()}))
    with use_noise(ZeroNoise()):
        here, there = (
            DiffPC45Classifier(schema, epsilon=1, max_depth=3, random_state=0).fit(source)
            for source in (table, postgres.address(table="patients"))
        )
    assert here.tree_.to_dict() == there.tree_.to_dict()


def test_no_secret_is_kept(postgres: Any, tmp_path: Path) -> None:
    schema, table = clinic(300, seed=3)
    postgres.ingest("patients", pa.table({name: list(column) for name, column in table.items()}))
    ledger = Ledger(1, journal=tmp_path / "clinic.journal")
    address = postgres.address(table="patients", password=SECRET)
    model = DiffPC45Classifier(schema, epsilon=1, max_depth=2, ledger=ledger).fit(address)
    model.save(tmp_path / "model.json")
    for path in tmp_path.iterdir():
        assert SECRET not in path.read_text()
    assert SECRET not in repr(model)


@pytest.mark.parametrize("what", ["table", "column", "query", "password"])
def test_what_the_server_says_is_not_repeated(postgres: Any, what: str) -> None:
    schema, table = clinic(20, seed=3)
    postgres.ingest("few", pa.table({name: list(column) for name, column in table.items() if name != schema.names[0]}))
    query = "select 1/(length(patient)-5) as a from (values ('Smith')) as t(patient)"
    asked = {"query": query} if what == "query" else {"table": "nothing" if what == "table" else "few"}
    address = postgres.address(**asked)
    if what == "password":
        address = address.replace("user=privet", f"user=nobody&password={SECRET}")
    with pytest.raises((TableError, EngineError)) as raised:
        privet.protect(address, schema, Ledger(1))
    assert raised.value.__context__ is None
    assert not any(word in str(raised.value) for word in (SECRET, "Smith", "nobody", str(postgres.folder)))


def test_faults_are_distinguished(postgres: Any) -> None:
    schema = Schema((Numeric("age", 0, 9),), Categorical("ill", ("no", "yes")))
    postgres.run(
        "drop table if exists told",
        "drop table if exists secret",
        "create table told (age int)",
        "create table secret (age int, ill text)",
        "drop role if exists guest",
        "create role guest login",
    )
    good = postgres.address(table="secret")
    wrong = {
        postgres.address(table="nothing"): r"postgresql://\.\.\.\?table=nothing cannot read.*no such table",
        postgres.address(table="nowhere.told"): "no such table.*its schema",
        postgres.address(table="told"): "lacks a column",
        postgres.address(query="select 1; select 2"): "not one SELECT",
        postgres.address(query="delete from told returning *"): "not one SELECT",
        good.replace("user=privet", "user=guest"): "may not read it",
        good.replace("user=privet", "user=nobody"): "no connection.*no such user",
        good.replace("/postgres?", "/nothing?"): "no connection.*no such database",
        f"{good}&port=1": "no connection.*check the host and the port",
        f"postgresql://127.0.0.1:1/db?table=t&password={SECRET}": "no connection.*nothing listens at that host",
        f"{good}&pasword={SECRET}": "the address cannot be read",
    }
    for address, words in wrong.items():
        with pytest.raises(TableError, match=words) as raised:
            privet.protect(address, schema, Ledger(1))
        assert raised.value.__context__ is None
        assert SECRET not in str(raised.value)
        assert str(postgres.folder) not in str(raised.value)


def test_names_with_dots_and_capitals(postgres: Any) -> None:
    schema = Schema((Numeric("age", 0, 9),), Categorical("ill", ("no", "yes")))
    fill = "as select 1 as age, 'no' as ill"
    postgres.run(
        'drop schema if exists "a.b" cascade',
        'create schema "a.b"',
        f'create table "a.b"."Visits.2024" {fill}',
        'drop table if exists "dotted.name"',
        f'create table "dotted.name" {fill}',
        'drop table if exists "say ""hi"""',
        f'create table "say ""hi""" {fill}',
    )
    for table in (
        '"a.b"."Visits.2024"',
        '"dotted.name"',
        'public."dotted.name"',
        '"say ""hi"""',
        'postgres.public."dotted.name"',
    ):
        assert class_counts(open_engine(postgres.address(table=table), schema), ROOT).tolist() == [[1, 0]]


@pytest.mark.parametrize(("kind", "refused"), [("float8", True), ("real", True), ("bigint", False), ("numeric", False)])
def test_units_of_floating_type_are_refused(postgres: Any, kind: str, refused: bool) -> None:
    schema = Schema((Numeric("age", 0, 9),), Categorical("ill", ("no", "yes")), unit=privet.Unit("who", 1))
    ids = "(9007199254740992), (9007199254740993)"
    fill = f"as select 1 as age, 'no' as ill, id::{kind} as who from (values {ids}) as ids(id)"
    postgres.run("drop table if exists who", f"create table who {fill}")
    if refused:
        with pytest.raises(TableError, match="'who' is of a floating type"):
            open_engine(postgres.address(table="who"), schema)
    else:
        assert class_counts(open_engine(postgres.address(table="who"), schema), ROOT).tolist() == [[2, 0]]


# ---- in the middle of the stream ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_table(postgres: Any) -> Schema:
    postgres.run(
        "drop table if exists long",
        "create table long as select (i % 100)::float8 as age, 'ward ' || (i % 7) as ward, "
        f"repeat('x', 60) as pad, case when i % 3 = 0 then 'yes' else 'no' end as ill "
        f"from generate_series(1, {LONG}) i",
    )
    wards = tuple(f"ward {i}" for i in range(7))
    return Schema(
        (Numeric("age", 0, 100), Categorical("ward", wards), Categorical("pad", ("x" * 60, "?"))),
        Categorical("ill", ("no", "yes")),
    )


OTHERS = "backend_type = 'client backend' and pid <> pg_backend_pid()"


def terminate(postgres: Any) -> None:
    postgres.run(f"select pg_terminate_backend(pid) from pg_stat_activity where {OTHERS}")


def cancel(postgres: Any) -> None:
    postgres.run(f"select pg_cancel_backend(pid) from pg_stat_activity where {OTHERS}")


def kill(postgres: Any) -> None:
    """SIGKILL to the backends of our own server; it then restarts all of them."""
    for (pid,) in postgres.run(f"select pid from pg_stat_activity where {OTHERS}"):
        os.kill(pid, signal.SIGKILL)


def wait_for(postgres: Any) -> None:
    for _ in range(100):
        try:
            postgres.run("select 1")
            return
        except Exception:
            time.sleep(0.1)
    raise AssertionError("the server did not come back")


@pytest.mark.parametrize("how", [terminate, cancel, kill], ids=lambda how: how.__name__)
def test_a_server_that_fails_in_the_middle(
    postgres: Any, long_table: Schema, how: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.address(table="long")
    harm, read = [how], []

    def harmed(batch: Any) -> Any:
        read.append(batch.num_rows)
        if harm and batch.num_rows:  # not yet while the header is read
            harm.pop()(postgres)
        return plain(batch)

    plain = postgres_source._plain
    monkeypatch.setattr(postgres_source, "_plain", harmed)
    ledger = Ledger(1)
    model = DiffPC45Classifier(long_table, epsilon=1, max_depth=1, ledger=ledger)
    try:
        with pytest.raises(EngineError) as raised:
            model.fit(address)
    finally:
        wait_for(postgres)
    assert raised.value.__context__ is None
    assert not any(word in str(raised.value) for word in ("ward", "administrator", "canceling", "terminat"))
    assert sum(read) < LONG  # it died before the end
    assert ledger.spent == 0
    model.fit(address)
    assert ledger.spent == 1
    assert class_counts(open_engine(address, long_table), ROOT).sum() == LONG


def test_a_source_is_read_in_batches(postgres: Any, long_table: Schema) -> None:
    source: Any = open_source(postgres.address(table="long"))
    batches: Iterator[Any] = source.batches(("age", "ward", "pad", "ill"))
    assert next(batches).num_rows < LONG
    batches.close()  # type: ignore[attr-defined]
