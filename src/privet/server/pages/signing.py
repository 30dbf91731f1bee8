"""Signing in and out, one's own keys, and the files of the pages."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from privet.server.keys import KEY, LINK, begin_session, end_session, find_person, who_asks
from privet.server.pages.frame import Posted, assets, field, home_of, page, see_other, signed_in, static
from privet.server.problems import Problem
from privet.server.routes.signing import keys as keys_of
from privet.server.service import Service

router = APIRouter(include_in_schema=False)
YEAR = 31_536_000  # seconds


@router.get("/")
def front(request: Request) -> Response:
    """The home of whoever is signed in, or the form. ``link`` is what a first start prints, and signs in once."""
    here: Service = request.app.state.service
    if link := request.query_params.get("link"):
        return _sign_in(request, link, LINK)
    try:
        return see_other(home_of(who_asks(here.books, request)))
    except Problem:
        return page(request, "sign_in.html")


@router.post("/")
async def sign_in(request: Request) -> Response:
    """Take a key, and begin a session. The guard has refused what other sites send."""
    from anyio.to_thread import run_sync

    form = await request.form(max_fields=4, max_files=0)
    return await run_sync(_sign_in, request, field(form, "key"), KEY)


def _sign_in(request: Request, key: str, kind: str) -> Response:
    here: Service = request.app.state.service
    try:
        if (found := find_person(here.books, key, kind)) is None:
            raise Problem("no-key")
        response = see_other(home_of(found))
        begin_session(response, here.books, here.settings, found)
        return response
    except Problem:
        response = page(request, "sign_in.html", status=401, wrong=kind)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response


@router.post("/sign-out")
def sign_out(request: Request, form: Posted) -> Response:
    here, person = signed_in(request)
    response = see_other("/", "signed-out")
    end_session(response, here.books, person)
    return response


@router.get("/account")
def account(request: Request) -> Response:
    """Who you are, and your keys."""
    return _account(request)


@router.post("/account/keys")
def add(request: Request, form: Posted) -> Response:
    """A further key of your own, shown once."""
    from privet.server.keys import add_key

    here, person = signed_in(request)
    name = field(form, "name")[:100]
    made = here.books.do(lambda tx: add_key(tx, person.id, name=name))
    return _account(request, made=made["key"])


@router.post("/account/revoke")
def revoke(request: Request, form: Posted) -> Response:
    """One of your keys or sessions stops working, and so do the sessions that it began."""
    here, person = signed_in(request)
    sql = "UPDATE keys SET revoked = 1 WHERE id = ? AND person = ?"
    if not here.books.do(lambda tx: tx.run(sql, field(form, "id"), person.id).rowcount):
        raise Problem("not-found")
    return see_other("/account", "revoked")


def _account(request: Request, **context: Any) -> Response:
    _, person = signed_in(request)
    working = [one for one in keys_of(request) if not one["revoked"]]
    shown = [one for one in working if one["kind"] != LINK]
    return page(request, "account.html", person=person, keys=shown, **({"made": None} | context))


@router.get("/static/{version}/{name}")
def file(version: str, name: str) -> Response:
    """A style sheet or the script. The path has a hash of the content, so it may be kept."""
    if assets().get(name) != f"/static/{version}/{name}":
        raise Problem("not-found")
    content, kind = static()[name]
    return Response(content, media_type=kind, headers={"Cache-Control": f"public, max-age={YEAR}, immutable"})
