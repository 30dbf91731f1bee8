"""Who one is: sessions of browsers, one's own keys, and whether the server lives."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from privet.server.asks import Strict
from privet.server.keys import KEY, add_key, begin_session, end_session, find_person
from privet.server.problems import Problem
from privet.server.routes.asking import service
from privet.server.routes.owning import KeyId, NewKey

router = APIRouter()


class SignIn(Strict):
    """A key in the body, for a page with a form."""

    key: str


@router.get("/v1/me")
def me(request: Request) -> dict[str, Any]:
    """Who you are, and what you may spend."""
    here = service(request)
    person = here.person(request)
    grants = [
        {"population": name, "epsilon": str(one.limit.epsilon), "delta": str(one.limit.delta)}
        | {"spent": str(one.spent.epsilon), "spent_delta": str(one.spent.delta)}
        | {"held": str(one.held.epsilon), "held_delta": str(one.held.delta)}
        for name, one in sorted(here.grants(person.id).items())
    ]
    return {"id": person.id, "role": person.role, "grants": grants}


@router.post("/v1/session", status_code=204)
def sign_in(request: Request, body: Annotated[SignIn | None, Body()] = None) -> Response:
    """A session for a browser: a cookie that only this server gets, and no script reads."""
    here = service(request)
    found = find_person(here.books, body.key, KEY) if body is not None else here.person(request)
    if found is None:
        raise Problem("no-key", "this key is not valid")
    response = Response(status_code=204)
    begin_session(response, here.books, here.settings, found)
    return response


@router.delete("/v1/session", status_code=204)
def sign_out(request: Request) -> Response:
    """End the session of this cookie."""
    here = service(request)
    response = Response(status_code=204)
    end_session(response, here.books, here.person(request))
    return response


@router.get("/v1/keys")
def keys(request: Request) -> list[dict[str, Any]]:
    """Your keys and sessions, without their text."""
    here = service(request)
    person = here.person(request)
    sql = "SELECT id, kind, name, ends, revoked FROM keys WHERE person = ? ORDER BY id"
    names = ("id", "kind", "name", "ends", "revoked")
    return [dict(zip(names, row, strict=True)) | {"revoked": bool(row[4])} for row in here.books.read(sql, person.id)]


@router.post("/v1/keys", status_code=201)
def post_key(request: Request, body: NewKey) -> dict[str, Any]:
    """A further key of your own, shown once. To rotate: make one, use it, delete the old one."""
    here = service(request)
    person = here.person(request)
    return here.books.do(lambda tx: add_key(tx, person.id, name=body.name, ends=body.ends))


@router.delete("/v1/keys/{k}", status_code=204)
def delete_key(request: Request, k: KeyId) -> Response:
    """Revoke one of your keys."""
    here = service(request)
    person = here.person(request)
    revoke = "UPDATE keys SET revoked = 1 WHERE id = ? AND person = ?"
    if not here.books.do(lambda tx: tx.run(revoke, k, person.id).rowcount):
        raise Problem("not-found")
    return Response(status_code=204)


@router.get("/healthz")
def healthz(request: Request) -> dict[str, bool]:
    """Whether the books can be read, and which workers are ready."""
    here = service(request)
    here.books.read("SELECT 1")
    workers = here.workers
    return {"ok": True, "questions": workers.questions.ready.is_set(), "fits": workers.fits.ready.is_set()}
