"""One column of a new table: what its owner says is public about it, and why."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from privet.owner.spellings import read_spellings, spellings_text
from privet.server.drafts import DraftColumn, TableDraft, fault_of
from privet.server.pages.frame import REFUSED, Posted, field, page, reason, see_other, signed_in
from privet.server.pages.owner.files import opened
from privet.server.pages.texts import say
from privet.server.problems import Problem
from privet.server.routes.asking import Name
from privet.server.service import OWNER

router = APIRouter()
Place = Annotated[int, Path(ge=0, lt=100_000)]
BASES = ("documented", "meaning", "round", "own")
NUMBER, LIST, LEAVE = "number", "list", "leave"


@router.get("/owner/drafts/{d}/columns/{i}")
def show(request: Request, d: Name, i: Place) -> Response:
    _, _, draft = opened(request, d)
    return _show(request, draft, i)


@router.post("/owner/drafts/{d}/columns/{i}")
def save(request: Request, d: Name, i: Place, form: Posted) -> Response:
    """Save what was said, and go to the next column that waits."""
    _, drafts, draft = opened(request, d)
    column = _column(draft, i)
    try:
        facts = None if field(form, "kind") == LEAVE else _facts(column, form)
        if column.name == draft.label and facts is None:
            raise Problem("invalid", str(say("describe.label.leave")))
        if facts is not None and (fault := fault_of(facts, label=column.name == draft.label)):
            raise Problem("invalid", fault)
    except (*REFUSED, ValueError) as error:
        return _show(request, draft, i, given=form, status=422, fault=reason(error))
    changed = draft.with_column(i, DraftColumn(column.name, column.seen, facts, done=True))
    drafts.save(changed)
    later = [place for place in changed.waiting if place > i] or changed.waiting
    return see_other(f"/owner/drafts/{d}/columns/{later[0]}" if later else f"/owner/drafts/{d}", "column")


def _column(draft: TableDraft, i: int) -> DraftColumn:
    if i >= len(draft.columns) or draft.columns[i].name == draft.unit:
        raise Problem("not-found")
    return draft.columns[i]


def _facts(column: DraftColumn, form: FormData) -> dict[str, Any]:
    """The facts of a column as they were typed."""
    facts: dict[str, Any] = {"name": column.name}
    markers = [word.strip() for word in field(form, "missing").split(",") if word.strip()]
    if field(form, "kind") == NUMBER:
        facts |= {"type": "continuous", "min": _number(form, "low"), "max": _number(form, "high")}
        facts |= {"integer": True} if field(form, "whole") else {}
        facts |= {"missing": markers if len(markers) > 1 else markers[0]} if markers else {}
    else:
        known = {str(value): value for value in (column.facts or {}).get("values") or ()}
        lines = [line.strip() for line in field(form, "values").splitlines() if line.strip()]
        values = [known.get(line, line) for line in dict.fromkeys(lines)]
        facts |= {"type": "categorical", "values": values}
        facts |= read_spellings(field(form, "spellings") or "-", values)
        facts |= {"missing": markers} if markers else {}
        facts |= {"fold": True} if field(form, "fold") else {}
    basis = field(form, "basis")
    why = field(form, "why") if basis == "own" else basis if basis in BASES else ""
    if not why or why == "unconfirmed":
        raise Problem("invalid", str(say("describe.why.wrong")))
    return facts | {"basis": why}


def _number(form: FormData, name: str) -> float | int:
    text = field(form, name).replace(",", ".") or "-"
    try:
        number = float(text)
    except ValueError:
        raise Problem("invalid", str(say("describe.number.wrong"))) from None
    return int(number) if number.is_integer() else number


def _show(request: Request, draft: TableDraft, i: int, given: FormData | None = None, **context: Any) -> Response:
    _, person = signed_in(request, OWNER)
    column = _column(draft, i)
    fields = _filled(column, draft.label) if given is None else {name: field(given, name) for name in FIELDS}
    facts: dict[str, Any] = {"draft": draft, "place": i, "column": column, "fields": fields, "bases": BASES}
    facts |= {"is_label": column.name == draft.label, "guessed": not column.done and bool(fields["values"])}
    return page(request, "owner_column.html", person=person, **(facts | context))


FIELDS = ("kind", "low", "high", "whole", "missing", "values", "spellings", "fold", "basis", "why")


def _filled(column: DraftColumn, label: str | None) -> dict[str, str]:
    """The fields of the form: as they were said before, or as the column looks."""
    facts, fields = column.facts or {}, dict.fromkeys(FIELDS, "")
    fields["kind"] = NUMBER if facts.get("type") == "continuous" else LIST if facts else LEAVE
    if not facts and column.name == label:
        fields["kind"] = LIST
    for name, key in (("low", "min"), ("high", "max")):
        fields[name] = "" if facts.get(key) is None else f"{facts[key]}"
    fields["whole"], fields["fold"] = "yes" if facts.get("integer") else "", "yes" if facts.get("fold") else ""
    markers = facts.get("missing")
    fields["missing"] = ", ".join(map(str, markers)) if isinstance(markers, list) else str(markers or "")
    fields["values"] = "\n".join(map(str, facts.get("values") or ()))
    spelt = spellings_text({"spellings": facts["spellings"]}) if facts.get("spellings") else ""
    fields["spellings"] = spelt
    basis = facts.get("basis") if column.done else ""
    fields["basis"] = basis if basis in BASES else "own" if basis else ""
    fields["why"] = basis or "" if fields["basis"] == "own" else ""
    return fields
