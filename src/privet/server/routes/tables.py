"""What the owner does with tables: register, pause, rehearse, close, and say why their facts are public."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile
from pydantic import Field, RootModel

from privet.errors import ParameterError, SchemaError
from privet.privacy.books import grants
from privet.privacy.books.storage import Transaction
from privet.schema import Schema
from privet.server.pricing import Table
from privet.server.problems import Problem
from privet.server.routes.asking import Name, service
from privet.server.routes.owning import owner
from privet.server.service import OWNER, Service

router = APIRouter(prefix="/v1")
MOST = 10**9  # records of a table
SUFFIXES = (".csv", ".parquet", ".csv.gz")


class Reasons(RootModel[dict[str, Annotated[str, Field(min_length=1, max_length=300)]]]):
    """Why facts are public, by column."""


@router.put("/datasets/{d}", status_code=201)
def put_dataset(
    request: Request,
    d: Name,
    population: Annotated[str, Form(max_length=63)],
    schema_text: Annotated[str, Form(alias="schema", max_length=500_000)],
    most_records: Annotated[int, Form(ge=1, le=MOST)],
    one_row_each: Annotated[bool, Form()] = False,
    source: Annotated[str | None, Form(max_length=100)] = None,
    table: Annotated[UploadFile | None, File()] = None,
) -> dict[str, Any]:
    """Register a table: it is read once, here, and never again."""
    here = owner(request)
    facts = read_schema(schema_text, one_row_each)
    if here.books.read("SELECT 1 FROM datasets WHERE id = ?", d):
        raise Problem("exists", "there is a table of this name; give another one")
    if not here.books.read("SELECT 1 FROM populations WHERE id = ?", population):
        raise Problem("not-found", "there is no such population; PUT it first")
    if (source is None) == (table is None):
        raise Problem("invalid", "give a table (a file), or a source that the configuration names, and not both")
    if source is not None and source not in here.settings.sources:
        raise Problem("invalid", "the configuration names no such source; add it under [sources]")
    with _placed(here, source, table) as place:
        register(here, d, population, facts, most_records, place)
    return {"id": d, "population": population, "most_records": most_records}


def register(here: Service, d: str, population: str, facts: Schema, most_records: int, place: str) -> None:
    """Read a table once, into a snapshot, and write it into the books."""
    folder = (here.settings.folder / "tables" / f"{d}-{secrets.token_hex(8)}").absolute()
    job = {"job": "register", "schema": facts.to_dict(), "folder": str(folder), "most_records": most_records}
    on_own_table(here, job, place)

    def work(tx: Transaction) -> None:
        if tx.one("SELECT 1 FROM datasets WHERE id = ?", d):
            raise Problem("exists", "there is a table of this name; give another one")
        row = (d, population, json.dumps(facts.to_dict()), most_records, str(folder))
        tx.run("INSERT INTO datasets VALUES (?, ?, ?, ?, ?, 'open', 0)", *row)
        tx.append(
            population, "dataset", {"dataset": d, "most_records": most_records, "one_row_each": facts.unit is None}
        )

    try:
        here.books.do(work)
    except BaseException:
        _delete(folder)
        raise


def on_own_table(here: Service, job: dict[str, Any], place: str) -> Any:
    """Work of a child on a table that its owner sent: no limit but the machine, and its faults are shown."""
    if not here.workers.questions.ready.wait(60):
        raise Problem("busy", "the workers are starting")
    limits = {"public": True, "memory": 2**40, "cpu": 24 * 3600}
    reply = here.workers.run(job["job"], job | limits | {"source": place}, 24 * 3600)
    if "ok" not in reply:
        why = str(reply.get("fault", "")).replace(repr(place), "the source")  # where it is, is in the settings alone
        raise Problem("invalid", f"the table cannot be read: {why}"[:600])
    return reply["ok"]


@router.post("/datasets/{d}/close")
def close_dataset(request: Request, d: Name) -> dict[str, Any]:
    """Close a table for good, and delete its records. Answers stay."""
    here = service(request)
    table = here.table(d, here.person(request, OWNER))

    def work(tx: Transaction) -> None:
        tx.run("UPDATE datasets SET state = 'closed' WHERE id = ?", d)
        tx.append(table.population, "closed", {"dataset": d})

    if table.state != "closed":
        here.books.do(work)
    _delete(table.folder)
    return {"id": d, "state": "closed"}


@router.post("/datasets/{d}/pause")
def pause_dataset(request: Request, d: Name) -> dict[str, Any]:
    """Begin no question about a table until it is rehearsed. Questions that wait go on waiting."""
    here, table = _not_closed(request, d)

    def work(tx: Transaction) -> None:
        if tx.run("UPDATE datasets SET state = 'paused' WHERE id = ? AND state = 'open'", d).rowcount:
            tx.append(table.population, "paused", {"dataset": d, "why": grants.BY_OWNER})

    here.books.do(work)
    return {"id": d, "state": "paused"}


@router.post("/datasets/{d}/rehearse")
def rehearse_dataset(request: Request, d: Name) -> dict[str, Any]:
    """Forget the deadlines of a table, so that they are measured anew, and go on if it was paused."""
    here, table = _not_closed(request, d)
    here.pricing.forget(table)

    def work(tx: Transaction) -> None:
        tx.run("UPDATE datasets SET state = 'open', missed = 0 WHERE id = ?", d)
        tx.append(table.population, "rehearsed", {"dataset": d})

    here.books.do(work)
    return {"id": d, "state": "open"}


def _not_closed(request: Request, d: str) -> tuple[Service, Table]:
    here = service(request)
    table = here.table(d, here.person(request, OWNER))
    if table.state == "closed":
        raise Problem("running", "the table is closed")
    return here, table


@router.post("/datasets/{d}/reasons")
def post_reasons(request: Request, d: Name, body: Reasons) -> dict[str, Any]:
    """Say why facts about columns are public, where the schema gives no reason. Nothing else of it can change."""
    return add_reasons(request, d, body.root)


def add_reasons(request: Request, d: str, reasons: dict[str, str]) -> dict[str, Any]:
    here, table = _not_closed(request, d)
    if not reasons:
        raise Problem("invalid", "give at least one reason")
    facts = json.loads(json.dumps(table.schema))
    for one in facts["attributes"]:
        if one["name"] in reasons and not one.get("basis"):
            one["basis"] = reasons[one["name"]]
    if facts["class"] in reasons and not facts.get("labels_basis"):
        facts["labels_basis"] = reasons[facts["class"]]
    complete = Schema.from_dict(facts)
    if complete.to_dict() == table.schema:
        raise Problem("invalid", "these columns are unknown, or their reasons are given already")
    from privet.engines.snapshots import write_reasons

    write_reasons(table.folder, complete)

    def work(tx: Transaction) -> None:
        tx.run("UPDATE datasets SET schema = ? WHERE id = ?", json.dumps(complete.to_dict()), d)
        tx.append(table.population, "reasons", {"dataset": d, "reasons": reasons})

    here.books.do(work)
    return {"id": d, "schema": complete.to_dict()}


def read_schema(text: str, one_row_each: bool) -> Schema:
    """The public facts of a table. Whose rows they are must be complete: by a unit, or by the owner's word."""
    try:
        facts = Schema.from_dict(json.loads(text))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        text = str(error) if isinstance(error, SchemaError | ParameterError) else "it is no JSON of a schema"
        raise Problem("invalid", f"schema: {text}"[:600]) from None
    if facts.inferred:
        raise Problem("invalid", "schema: its facts were read off the table; declare them")
    if facts.unit is None and not one_row_each:
        raise Problem("invalid", "declare unit and max_rows in the schema, or state one_row_each=true")
    return facts


@contextmanager
def _placed(here: Service, source: str | None, table: UploadFile | None) -> Iterator[str]:
    """Where the records are: the source's address, or a temporary file with what was sent."""
    if table is None:
        assert source is not None
        yield here.settings.sources[source]
        return
    name = (table.filename or "table.csv").lower()
    suffix = next((one for one in SUFFIXES if name.endswith(one)), ".csv")
    number, path = tempfile.mkstemp(suffix, dir=here.settings.folder / "run")
    try:
        with open(number, "wb") as file:
            while part := table.file.read(2**20):
                file.write(part)
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)


def _delete(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
