"""The owner's first page, with what there is to do; and the server itself: copies of its books, and its settings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from privet.server.pages.budgets import budgets
from privet.server.pages.frame import Posted, moment, page, signed_in
from privet.server.pages.owner.todo import last_backup, things_to_do
from privet.server.pages.pictures import bar
from privet.server.routes import owning
from privet.server.service import OWNER

router = APIRouter()


@router.get("/owner")
def home(request: Request) -> Response:
    """A welcome on the first day; later, all populations and what there is to do."""
    here, person = signed_in(request, OWNER)
    found = budgets(here.books)
    steps = {
        "population": bool(found),
        "table": any(one.tables for one in found),
        "analyst": any(one.shares for one in found),
    }
    shown = [(one, bar(one)) for one in found]
    context: dict[str, Any] = {"populations": shown, "todo": things_to_do(here, found), "steps": steps}
    first = found[0].id if found else None
    return page(request, "owner_home.html", person=person, first=first, **context)


@router.get("/owner/server")
def server(request: Request) -> Response:
    """The machine room: books and their copies, settings that need a look, sources, workers."""
    here, person = signed_in(request, OWNER)
    workers = {name: getattr(here.workers, name).ready.is_set() for name in ("questions", "fits")}
    facts: dict[str, Any] = {"warnings": here.settings.warnings(), "sources": sorted(here.settings.sources)}
    facts |= {"workers": workers, "sqlite": here.books.engine == "sqlite", "slots": here.settings.slots}
    backed = last_backup(here.books)
    facts |= {"backup": None if backed is None else moment(backed), "address": here.settings.origin}
    return page(request, "owner_server.html", person=person, **facts)


@router.post("/owner/backup")
def backup(request: Request, form: Posted) -> Response:
    """A copy of the books, as a download."""
    return owning.backup(request)
