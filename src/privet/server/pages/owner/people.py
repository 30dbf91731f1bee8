"""People and their keys."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from privet.server.pages.frame import REFUSED, Posted, field, page, reason, see_other, short_name, signed_in
from privet.server.pages.texts import say
from privet.server.problems import Problem
from privet.server.routes import owning
from privet.server.routes.asking import Name
from privet.server.service import OWNER

router = APIRouter()


@router.get("/owner/people")
def everybody(request: Request) -> Response:
    return _everybody(request)


@router.post("/owner/people")
def add(request: Request, form: Posted) -> Response:
    """Somebody new, with a key that is shown once."""
    who = short_name(field(form, "who"))
    try:
        if not who:
            raise Problem("invalid", str(say("grant.who.wrong")))
        body = owning.NewPerson.model_validate({"role": field(form, "role")})
        made = owning.put_person(request, who, body)
    except REFUSED as error:
        return _everybody(request, status=422, fault=reason(error), given=form)
    return _everybody(request, made=made["key"], made_for=who)


def _everybody(request: Request, **context: Any) -> Response:
    here, person = signed_in(request, OWNER)
    people = here.books.read("SELECT id, role, closed FROM people ORDER BY closed, role, id")
    sql = "SELECT person, COUNT(*) FROM keys WHERE kind = 'key' AND revoked = 0 AND (ends IS NULL OR ends > ?) "
    keys: dict[str, int] = dict(here.books.read(sql + "GROUP BY person", time.time()))
    grants: dict[str, int] = dict(here.books.read("SELECT person, COUNT(*) FROM grants GROUP BY person"))
    rows = [(name, role, bool(closed), keys.get(name, 0), grants.get(name, 0)) for name, role, closed in people]
    facts: dict[str, Any] = {"rows": rows, "made": None, "made_for": "", "given": {}}
    return page(request, "owner_people.html", person=person, **(facts | context))


@router.get("/owner/people/{who}")
def somebody(request: Request, who: Name) -> Response:
    return _somebody(request, who)


@router.post("/owner/people/{who}/keys")
def add_key(request: Request, who: Name, form: Posted) -> Response:
    made = owning.post_person_key(request, who, owning.NewKey(name=field(form, "name")[:100], ends=None))
    return _somebody(request, who, made=made["key"])


@router.post("/owner/people/{who}/revoke")
def revoke(request: Request, who: Name, form: Posted) -> Response:
    owning.delete_person_key(request, who, field(form, "id"))
    return see_other(f"/owner/people/{who}", "revoked")


@router.post("/owner/people/{who}/close")
def close(request: Request, who: Name, form: Posted) -> Response:
    try:
        owning.close_person(request, who)
    except REFUSED as error:
        return _somebody(request, who, status=409, fault=reason(error))
    return see_other(f"/owner/people/{who}", "closed-person")


def _somebody(request: Request, who: str, **context: Any) -> Response:
    here, person = signed_in(request, OWNER)
    rows = here.books.read("SELECT role, closed FROM people WHERE id = ?", who)
    if not rows:
        raise Problem("not-found")
    sql = "SELECT id, kind, name, ends FROM keys WHERE person = ? AND revoked = 0 AND kind <> 'link' AND "
    working = here.books.read(sql + "(ends IS NULL OR ends > ?) ORDER BY kind, name, id", who, time.time())
    sql = "SELECT g.population, p.title FROM grants g JOIN populations p ON p.id = g.population WHERE g.person = ?"
    facts: dict[str, Any] = {"who": who, "role": rows[0][0], "closed": bool(rows[0][1]), "made": None}
    facts |= {"keys": working, "populations": here.books.read(sql, who)}
    return page(request, "owner_person.html", person=person, **(facts | context))
