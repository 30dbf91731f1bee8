"""What the owner does about people: populations, grants, keys, and copies of the books."""

from __future__ import annotations

import os
import secrets
import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi import Path as InPath
from pydantic import Field, RootModel
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from privet.privacy.books import grants
from privet.privacy.books.storage import Transaction
from privet.privacy.budget import Neighbours
from privet.privacy.losses import NOTHING, Loss
from privet.server.asks import Amount, Cap, Strict, amount
from privet.server.keys import add_key, add_person
from privet.server.problems import Problem, pair
from privet.server.routes.asking import Name, service
from privet.server.service import OWNER, Service

router = APIRouter(prefix="/v1")
KeyId = Annotated[str, InPath(pattern=r"^[0-9a-f]{8}$")]


class Carried(Strict):
    """What a journal says was spent before."""

    epsilon: Amount
    delta: Amount = 0
    head: str = Field("", max_length=64)


class NewPopulation(Strict):
    title: str = Field(max_length=200)
    unit: str = Field("person", min_length=1, max_length=60)
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    cap: Cap
    carried: Carried | None = None


class NewCap(RootModel[Cap]):
    """The cap, lowered."""


class Settlement(Strict):
    """The owner's word on lost entries; ``lost`` has what they cost each analyst."""

    statement: str = Field(min_length=1, max_length=2000)
    lost: dict[str, Cap] | None = Field(None, max_length=10_000)


class NewPerson(Strict):
    role: Literal["analyst", "auditor", "owner"] = "analyst"


class NewKey(Strict):
    name: str = Field("", max_length=100)
    ends: float | None = Field(None, ge=0, le=1e11)


class NewGrant(Strict):
    epsilon: Amount
    delta: Amount = 0
    datasets: list[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]] = Field(max_length=1000)


def owner(request: Request) -> Service:
    here = service(request)
    here.person(request, OWNER)
    return here


@router.put("/populations/{p}", status_code=201)
def put_population(request: Request, p: Name, body: NewPopulation) -> dict[str, Any]:
    """A new population: all tables about the same people, with one cap over everything released about them."""
    here, cap, carried = owner(request), body.cap.loss(), NOTHING
    if body.carried is not None:
        carried = Loss(amount(body.carried.epsilon, zero=True), amount(body.carried.delta, "delta"))
    head = body.carried.head if body.carried else None
    how = (body.title, body.unit, Neighbours.parse(body.neighbours), cap, carried, head)
    here.books.do(lambda tx: grants.add_population(tx, p, *how))
    return {"id": p, "cap": pair(cap)}


@router.post("/populations/{p}/cap")
def post_cap(request: Request, p: Name, body: NewCap) -> dict[str, Any]:
    """Lower the cap. It can never be raised again."""
    here, cap = owner(request), body.root.loss()
    here.books.do(lambda tx: grants.lower_cap(tx, p, cap))
    return {"id": p, "cap": pair(cap)}


@router.post("/populations/{p}/freeze")
def post_freeze(request: Request, p: Name) -> dict[str, Any]:
    """Accept and begin no question about this population until it is settled."""
    here = owner(request)
    here.books.do(lambda tx: grants.freeze(tx, p, grants.BY_OWNER))
    return {"id": p, "frozen": grants.BY_OWNER}


@router.post("/populations/{p}/settle")
def post_settle(request: Request, p: Name, body: Settlement) -> dict[str, Any]:
    """State what lost entries cost each analyst, and go on.

    Without amounts, a restored backup costs all that is left.
    """
    here = owner(request)
    lost = None if body.lost is None else {name: one.loss() for name, one in body.lost.items()}
    done = here.books.do(lambda tx: grants.settle(tx, p, body.statement, lost))
    return {"id": p, "frozen": None, "lost": {name: pair(loss) for name, loss in done.items()}}


@router.put("/populations/{p}/grants/{who}")
def put_grant(request: Request, p: Name, who: Name, body: NewGrant) -> dict[str, Any]:
    """What an analyst may spend on a population, and which of its tables may be asked."""
    here, limit = owner(request), Loss(amount(body.epsilon), amount(body.delta, "delta"))
    grant = here.books.do(lambda tx: grants.put_grant(tx, p, who, limit, body.datasets))
    return {"person": who, "population": p, **pair(grant.limit), "spent": str(grant.spent.epsilon)}


@router.put("/people/{who}", status_code=201)
def put_person(request: Request, who: Name, body: NewPerson) -> dict[str, Any]:
    """A new person, with a key that is shown once."""
    here = owner(request)

    def work(tx: Transaction) -> dict[str, Any]:
        if tx.one("SELECT 1 FROM people WHERE id = ?", who):
            raise Problem("exists", "there is a person of this name")
        return add_person(tx, who, body.role)

    return {"id": who, "role": body.role, "key": here.books.do(work)["key"]}


@router.post("/people/{who}/keys", status_code=201)
def post_person_key(request: Request, who: Name, body: NewKey) -> dict[str, Any]:
    """A further key for a person, shown once."""
    here = owner(request)

    def work(tx: Transaction) -> dict[str, Any]:
        if not tx.one("SELECT 1 FROM people WHERE id = ? AND closed = 0", who):
            raise Problem("not-found")
        return add_key(tx, who, name=body.name, ends=body.ends)

    return here.books.do(work)


@router.delete("/people/{who}/keys/{k}", status_code=204)
def delete_person_key(request: Request, who: Name, k: KeyId) -> Response:
    """Revoke a key of a person, and the sessions that it began."""
    here = owner(request)
    revoke = "UPDATE keys SET revoked = 1 WHERE id = ? AND person = ?"
    if not here.books.do(lambda tx: tx.run(revoke, k, who).rowcount):
        raise Problem("not-found")
    return Response(status_code=204)


@router.post("/people/{who}/close")
def close_person(request: Request, who: Name) -> dict[str, Any]:
    """No key of this person works any more. What was spent stays spent."""
    here = service(request)
    if here.person(request, OWNER).id == who:
        raise Problem("running", "this is your own account; another owner has to close it")
    closed = here.books.do(lambda tx: tx.run("UPDATE people SET closed = 1 WHERE id = ?", who).rowcount)
    if not closed:
        raise Problem("not-found")
    return {"id": who, "closed": True}


@router.post("/backup")
def backup(request: Request) -> FileResponse:
    """A consistent copy of the books, while they are in use."""
    here = owner(request)
    if here.books.engine != "sqlite":
        raise Problem("running", "books in PostgreSQL are copied by its own tool: pg_dump --format=custom")
    path = here.settings.folder / "run" / f"backup-{secrets.token_hex(8)}.sqlite"
    here.books.backup(path)
    here.books.do(_note_backup)
    done = BackgroundTask(os.unlink, path)
    return FileResponse(path, media_type="application/vnd.sqlite3", filename="books.sqlite", background=done)


def _note_backup(tx: Transaction) -> None:
    tx.run("DELETE FROM facts WHERE name = 'backup'")
    tx.run("INSERT INTO facts VALUES ('backup', ?)", str(time.time()))
