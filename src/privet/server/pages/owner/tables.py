"""Tables that analysts may ask: what is public about them, deadlines, pausing and closing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from privet.markup import Html
from privet.server.pages.frame import REFUSED, Posted, field, page, reason, see_other, signed_in
from privet.server.pages.owner.todo import without_reason
from privet.server.pages.texts import say
from privet.server.problems import Problem
from privet.server.routes import tables
from privet.server.routes.asking import Name
from privet.server.service import OWNER

router = APIRouter()
SHOWN = 12  # values of a list


@router.get("/owner/tables/{d}")
def show(request: Request, d: Name) -> Response:
    return _show(request, d)


@router.post("/owner/tables/{d}/rehearse")
def rehearse(request: Request, d: Name, form: Posted) -> Response:
    """Measure its deadlines anew, and open it if it was paused."""
    return _do(request, d, tables.rehearse_dataset, "rehearsed")


@router.post("/owner/tables/{d}/pause")
def pause(request: Request, d: Name, form: Posted) -> Response:
    return _do(request, d, tables.pause_dataset, "paused")


@router.post("/owner/tables/{d}/close")
def close(request: Request, d: Name, form: Posted) -> Response:
    """Close it for good; its name is typed again, since the records are deleted."""
    if field(form, "again") != d:
        return _show(request, d, status=422, fault=say("table.close.again", table=d))
    return _do(request, d, tables.close_dataset, "closed")


@router.post("/owner/tables/{d}/reasons")
def reasons(request: Request, d: Name, form: Posted) -> Response:
    """Why bounds and values are public, where nobody has said so yet."""
    given = {name.removeprefix("why-"): field(form, name) for name in form if name.startswith("why-")}
    try:
        tables.add_reasons(request, d, {name: why for name, why in given.items() if why})
    except REFUSED as error:
        return _show(request, d, status=422, fault=reason(error))
    return see_other(f"/owner/tables/{d}", "reasons")


def _do(request: Request, d: str, what: Any, done: str) -> Response:
    try:
        what(request, d)
    except REFUSED as error:
        return _show(request, d, status=409, fault=reason(error))
    return see_other(f"/owner/tables/{d}", done)


def _show(request: Request, d: str, **context: Any) -> Response:
    here, person = signed_in(request, OWNER)
    table = here.table(d, person)
    (missed,) = here.books.read("SELECT missed FROM datasets WHERE id = ?", d)[0]
    rows = here.books.read("SELECT title FROM populations WHERE id = ?", table.population)
    if not rows:
        raise Problem("not-found")
    facts: dict[str, Any] = {"table": table, "missed": missed, "title": rows[0][0], "columns": columns(table.schema)}
    facts |= {"unreasoned": without_reason(table.schema) if table.state != "closed" else []}
    return page(request, "owner_table.html", person=person, **(facts | context))


def columns(schema: dict[str, Any]) -> list[tuple[str, Html, str, bool]]:
    """The public facts of each column: name, what is public, why, and whether it is predicted. The class is first."""
    labels = schema["labels"]
    label = {"name": schema["class"], "basis": schema.get("labels_basis")}
    label |= labels | {"type": "continuous"} if isinstance(labels, dict) else {"values": labels}
    return [described(label, predicted=True), *(described(one) for one in schema["attributes"])]


def described(one: dict[str, Any], *, predicted: bool = False) -> tuple[str, Html, str, bool]:
    if one.get("type") == "continuous":
        known = say("facts.whole" if one.get("integer") else "facts.number", low=one["min"], high=one["max"])
    else:
        values = [str(value) for value in one["values"]]
        more = len(values) - SHOWN
        listed = " · ".join(values[:SHOWN])
        known = say("facts.more", values=listed, more=more) if more > 0 else say("facts.values", values=listed)
    markers = one.get("missing")
    if markers is not None:
        listed = ", ".join(map(str, markers if isinstance(markers, list) else [markers]))
        known = Html(f"{known} {say('facts.missing', markers=listed)}")
    return str(one["name"]), known, str(one.get("basis") or ""), predicted
