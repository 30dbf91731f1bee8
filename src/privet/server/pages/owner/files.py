"""A new table: the file or source, what is public about it, the check, and the registration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from privet.server.drafts import DraftColumn, Drafts, TableDraft
from privet.server.pages.budgets import budget, budgets
from privet.server.pages.frame import REFUSED, Posted, field, page, reason, see_other, short_name, signed_in
from privet.server.pages.owner.tables import described
from privet.server.pages.texts import say
from privet.server.problems import Problem
from privet.server.routes import tables
from privet.server.routes.asking import Name
from privet.server.service import OWNER, Service

router = APIRouter()


@router.get("/owner/files")
def new(request: Request, population: str = "") -> Response:
    """The form of a new table, and the ones that are not finished."""
    return _new(request, population)


@router.post("/owner/files/{p}")
def send(request: Request, p: Name, form: Posted) -> Response:
    """Keep a file, or take a configured source, and look at its columns."""
    here, _ = signed_in(request, OWNER)
    drafts, table, source = Drafts(here.settings.folder), form.get("table"), field(form, "source")
    given = table.filename if isinstance(table, UploadFile) and table.filename else source
    name = short_name(field(form, "name") or (given or "").split(".")[0])
    try:
        budget(here.books, p)
        if not given or (source and source not in here.settings.sources):
            raise Problem("invalid", str(say("file.none")))
        _refuse_known(here, drafts, name)
        path = _kept(drafts, name, table) if isinstance(table, UploadFile) and table.filename else None
        draft = TableDraft(name, p, given, None if path is None else path.name, ())
        try:
            seen = tables.on_own_table(here, {"job": "draft"}, source_of(here, drafts, draft))
        except BaseException:
            drafts.drop(name)
            raise
        drafts.save(_drafted(draft, seen))
    except REFUSED as error:
        return _new(request, p, status=422, fault=reason(error))
    return see_other(f"/owner/drafts/{name}", "sent")


def _refuse_known(here: Service, drafts: Drafts, name: str) -> None:
    if not name:
        raise Problem("invalid", str(say("file.name.wrong")))
    if drafts.find(name) or here.books.read("SELECT 1 FROM datasets WHERE id = ?", name):
        raise Problem("exists", str(say("file.name.exists", name=name)))


def _kept(drafts: Drafts, name: str, table: UploadFile) -> Path:
    """The file as it was sent, in the draft's folder."""
    suffix = next((one for one in tables.SUFFIXES if (table.filename or "").lower().endswith(one)), None)
    if suffix is None:
        raise Problem("invalid", str(say("file.kind", kinds=", ".join(tables.SUFFIXES))))
    path = drafts.place(name, suffix)
    path.touch(0o600)
    with path.open("wb") as file:
        while part := table.file.read(2**20):
            file.write(part)
    return path.absolute()


def _drafted(draft: TableDraft, seen: dict[str, Any], label: str | None = None) -> TableDraft:
    """A draft with what its columns look like. What was said about a column stays, but for a new label."""
    columns = []
    for one in seen["columns"]:
        old = draft.column(one["name"])
        if old is not None and old.done and one["name"] != label:
            columns.append(old)
        else:
            columns.append(DraftColumn(one["name"], one["taken_for"], one["facts"]))
    return replace(
        draft,
        columns=tuple(columns),
        repeated=tuple(seen["repeated"]),
        unreadable=seen["unreadable"],
        label=seen["label"],
    )


def _new(request: Request, population: str, **context: Any) -> Response:
    here, person = signed_in(request, OWNER)
    found = budgets(here.books)
    if not found:
        return see_other("/owner/populations")
    chosen = next((one for one in found if one.id == population), found[0])
    sources = [(one, one) for one in sorted(here.settings.sources)]
    facts: dict[str, Any] = {"populations": found, "chosen": chosen, "sources": sources}
    facts |= {"drafts": Drafts(here.settings.folder).all(), "kinds": ", ".join(tables.SUFFIXES)}
    facts |= {"most": here.settings.upload // 2**20}
    return page(request, "owner_file.html", person=person, **(facts | context))


# -- the draft ---------------------------------------------------------------------------------------------------------


def opened(request: Request, d: str) -> tuple[Service, Drafts, TableDraft]:
    """A draft that exists, for the owner."""
    here, _ = signed_in(request, OWNER)
    drafts = Drafts(here.settings.folder)
    found = drafts.find(d)
    if found is None:
        raise Problem("not-found")
    return here, drafts, found


def source_of(here: Service, drafts: Drafts, draft: TableDraft) -> str:
    if draft.table is not None:
        return str(drafts.path(draft))
    if draft.given not in here.settings.sources:
        raise Problem("invalid", str(say("file.gone", source=draft.given)))
    return here.settings.sources[draft.given]


@router.get("/owner/drafts/{d}")
def show(request: Request, d: Name) -> Response:
    return _show(request, d)


@router.post("/owner/drafts/{d}")
def about(request: Request, d: Name, form: Posted) -> Response:
    """The questions about the table as a whole."""
    here, drafts, draft = opened(request, d)
    try:
        changed = _about(draft, form)
        if changed.label != draft.label:
            job = {"job": "draft", "label": changed.label}
            changed = _drafted(changed, tables.on_own_table(here, job, source_of(here, drafts, draft)), changed.label)
        drafts.save(changed)
    except REFUSED as error:
        return _show(request, d, status=422, fault=reason(error))
    return see_other(f"/owner/drafts/{d}", "described")


def _about(draft: TableDraft, form: FormData) -> TableDraft:
    names = [one.name for one in draft.columns]
    label, unit = field(form, "label"), field(form, "unit")
    several, rows, most = field(form, "several"), field(form, "max_rows"), field(form, "most_records").replace(",", "")
    if label not in names:
        raise Problem("invalid", str(say("draft.label.wrong")))
    if several not in ("yes", "no"):
        raise Problem("invalid", str(say("draft.several.wrong")))
    if several == "yes" and (unit not in names or unit == label or not rows.isdecimal() or not 0 < int(rows) <= 10**6):
        raise Problem("invalid", str(say("draft.unit.wrong")))
    if not most.isdecimal() or not 0 < int(most) <= tables.MOST:
        raise Problem("invalid", str(say("draft.most.wrong")))
    who = (unit, int(rows)) if several == "yes" else (None, None)
    return replace(
        draft, label=label, one_row_each=several == "no", unit=who[0], max_rows=who[1], most_records=int(most)
    )


@router.post("/owner/drafts/{d}/check")
def check(request: Request, d: Name, form: Posted) -> Response:
    """Whether the table keeps to what was said about it. For the owner's eyes."""
    here, drafts, draft = opened(request, d)
    try:
        job = {"job": "check", "schema": draft.schema().to_dict()}
        report = tables.on_own_table(here, job, source_of(here, drafts, draft))
    except REFUSED as error:
        return _show(request, d, status=422, fault=reason(error))
    return _show(request, d, report=report)


@router.post("/owner/drafts/{d}/register")
def register(request: Request, d: Name, form: Posted) -> Response:
    """Register the table. The file is read once more, and deleted; the server keeps encoded columns only."""
    here, drafts, draft = opened(request, d)
    try:
        facts = draft.schema()
        assert draft.most_records is not None
        tables.register(here, d, draft.population, facts, draft.most_records, source_of(here, drafts, draft))
    except REFUSED as error:
        return _show(request, d, status=422, fault=reason(error))
    drafts.drop(d)
    return see_other(f"/owner/tables/{d}", "registered")


@router.post("/owner/drafts/{d}/drop")
def drop(request: Request, d: Name, form: Posted) -> Response:
    _, drafts, draft = opened(request, d)
    drafts.drop(d)
    return see_other(f"/owner/populations/{draft.population}", "dropped")


def _show(request: Request, d: str, **context: Any) -> Response:
    here, _, draft = opened(request, d)
    _, person = signed_in(request, OWNER)
    rows = [(one, described(one.facts)[1] if one.done and one.facts else None) for one in draft.columns]
    facts: dict[str, Any] = {"draft": draft, "rows": rows, "report": None}
    whose = budget(here.books, draft.population)
    facts |= {"title": whose.title, "unit": whose.unit, "names": [(one.name, one.name) for one in draft.columns]}
    return page(request, "owner_draft.html", person=person, **(facts | context))
