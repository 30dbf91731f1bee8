"""The auditor's pages: the chain of a population recomputed, sums and caps checked, entries to filter and to export.

They show amounts and purposes, and neither an answer nor a record.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from privet import promise
from privet.errors import PrivetError
from privet.markup import Html
from privet.privacy.books.entries import NAMES, Examined, amounts
from privet.privacy.books.storage import Books
from privet.privacy.chain import START
from privet.privacy.losses import NOTHING, Loss, brief
from privet.server.pages.budgets import Budget, budget, budgets, history
from privet.server.pages.frame import amount_text, page, signed_in
from privet.server.pages.pictures import share_bar, timeline
from privet.server.pages.texts import TEXTS, say
from privet.server.routes.asking import Name
from privet.server.routes.auditing import AUDITOR
from privet.server.service import OWNER

router = APIRouter(include_in_schema=False)
SHOWN = 50  # entries on a page
RECOMPUTED = 60_000  # bytes of entries that the browser gets to recompute
BATCH = 10_000  # entries of an export that are in memory at a time
Form = Annotated[str, Path(pattern="^(jsonl|csv)$")]
Day = Annotated[str, Query(pattern=r"^(\d{4}-\d{2}-\d{2})?$")]
Text = Annotated[str, Query(max_length=100)]
Before = Annotated[int, Query(ge=0, lt=2**31)]


@dataclass(frozen=True)
class Filter:
    """Which entries are shown."""

    kind: str = ""
    who: str = ""
    table: str = ""
    since: str = ""
    until: str = ""

    def takes(self, entry: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
        day = str(entry["at"])[:10]
        return (
            (not self.kind or entry["kind"] == self.kind)
            and (not self.who or facts.get("person") == self.who or self.who in facts.get("lost", {}))
            and (not self.table or self.table in (facts.get("dataset"), *facts.get("datasets", ())))
            and (not self.since or day >= self.since)
            and (not self.until or day <= self.until)
        )


@router.get("/auditor")
def populations(request: Request) -> Response:
    """All populations, each with whether its books hold."""
    here, person = signed_in(request, AUDITOR, OWNER)
    rows = []
    for found in budgets(here.books):
        _, examined = history(here.books, found.id)
        checks = checks_of(found, examined, _head(here.books, found.id))
        rows.append({"budget": found, "fine": all(fine for fine, _ in checks), "entries": f"{examined.entries:,}"})
    return page(request, "auditor_populations.html", person=person, rows=rows, brief=brief)


@router.get("/auditor/populations/{p}")
def population(
    request: Request,
    p: Name,
    kind: Text = "",
    who: Text = "",
    table: Text = "",
    since: Day = "",
    until: Day = "",
    before: Before = 0,
) -> Response:
    """The books of a population, recomputed now."""
    here, person = signed_in(request, AUDITOR, OWNER)
    found, chosen = budget(here.books, p), Filter(kind, who, table, since, until)
    moments, examined = history(here.books, p)
    entries = list(_entries(here.books, p))
    rows = [row for row in _rows(entries) if chosen.takes(row["entry"], row["facts"])]
    newest = [row for row in reversed(rows) if not before or row["entry"]["seq"] < before]
    kinds = sorted({str(entry["kind"]) for entry in entries})
    counted = {name: sum(entry["kind"] == name for entry in entries) for name in ("charge", "late", "lost")}
    facts: dict[str, Any] = {
        "checks": checks_of(found, examined, _head(here.books, p)),
        "faults": [(line, why) for line, why in list(examined.faults.items())[:SHOWN]],
        "examined": examined,
        "counted": {name: f"{number:,}" for name, number in counted.items()},
        "rows": newest[:SHOWN],
        "matching": f"{len(rows):,}",
        "older": newest[SHOWN - 1]["entry"]["seq"] if len(newest) > SHOWN else None,
        "chosen": chosen,
        "kinds": kinds,
        "kind_text": kind_text,
        "timeline": timeline(moments) if moments else "",
        "bars": [share_bar(one) for one in found.shares],
        "odds": {one.person: promise.odds(float(one.grant.spent.epsilon)) for one in found.shares},
        "odds_all": (promise.odds(float(found.spent.epsilon)), promise.odds(float(found.cap.epsilon))),
        "chain": recomputable(entries),
        "brief": brief,
    }
    return page(request, "auditor_population.html", person=person, budget=found, **facts)


@router.get("/auditor/populations/{p}/export/{form}")
def export(request: Request, p: Name, form: Form) -> Response:
    """Every entry: with hashes for ``privet ledger verify``, or the charges as a table."""
    here, _ = signed_in(request, AUDITOR, OWNER)
    budget(here.books, p)  # what does not exist is not found
    lines = _lines(here.books, p) if form == "jsonl" else _charges(here.books, p)
    kind = "application/jsonl" if form == "jsonl" else "text/csv; charset=utf-8"
    headers = {"Content-Disposition": f'attachment; filename="{p}.{form}"'}
    return StreamingResponse(lines, media_type=kind, headers=headers)


def checks_of(found: Budget, examined: Examined, head: str) -> list[tuple[bool, Html]]:
    """What was checked, and whether it holds. The entries are recomputed; the accounts are compared with them."""
    accounts = {one.person: one.grant.spent for one in found.shares if one.grant.spent != NOTHING}
    limits = {one.person: one.grant.limit for one in found.shares}
    charged = {name: loss for name, loss in examined.spent.items() if loss != NOTHING}
    granted = sum(examined.limits.values(), examined.carried)
    held = all(one.grant.taken <= one.grant.limit for one in found.shares)
    return [
        (not examined.faults, say("check.chain", count=f"{examined.entries:,}")),
        (examined.head == head, say("check.head")),
        (accounts == charged and limits == examined.limits, say("check.sums", total=amount_text(examined.total))),
        (held, say("check.grants")),
        (granted <= examined.cap and found.cap == examined.cap, say("check.cap", cap=amount_text(examined.cap))),
    ]


def kind_text(kind: str) -> Html | str:
    """The kind of an entry in words; of one that is not known, its name."""
    return say(f"kind.{kind}") if f"kind.{kind}" in TEXTS else kind


def recomputable(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The newest entries, and the head before them, for the browser to recompute."""
    taken, size = len(entries), 0
    while taken and size + len(entries[taken - 1]["body"]) + 200 <= RECOMPUTED:
        taken -= 1
        size += len(entries[taken]["body"]) + 200
    before = entries[taken - 1]["hash"] if taken else START
    return {"before": before, "entries": [[entry[name] for name in NAMES] for entry in entries[taken:]]}


def _rows(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Entries for people, with the sum of all that was spent so far."""
    total = NOTHING
    for entry in entries:
        facts, cost = _facts(entry["body"]), NOTHING
        try:
            if entry["kind"] == "charge":
                cost = amounts(facts)
            elif facts.get("lost"):
                cost = sum(map(Loss.read, facts["lost"].values()), NOTHING)
            elif entry["kind"] == "population":
                cost = Loss.read(facts.get("carried", "0"))
        except (KeyError, TypeError, AttributeError, PrivetError):
            cost = NOTHING  # the check of the chain names the entry
        total += cost
        yield {
            "entry": entry,
            "facts": facts,
            "at": str(entry["at"]).replace("T", " ").removesuffix("Z"),
            "who": str(facts.get("person", "")),
            "about": _about(entry["kind"], facts),
            "epsilon": brief(cost.epsilon) if cost != NOTHING else "",
            "delta": brief(cost.delta) if cost.delta else "",
            "total": brief(total.epsilon),
        }


def _about(kind: str, facts: Mapping[str, Any]) -> str:
    """What an entry is about: its table and question, a limit, or the owner's words."""
    match kind:
        case "charge":
            return f"{facts.get('dataset', '')}, {facts.get('ask', '')}"
        case "grant":
            return f"{_amount(facts.get('limit'))}: {', '.join(map(str, facts.get('datasets', ())))}"
        case "population" | "cap":
            return _amount(facts.get("cap"))
        case "settled" | "frozen":
            return str(facts.get("statement", facts.get("why", "")))
    return str(facts.get("dataset", ""))


def _amount(text: Any) -> str:
    try:
        return amount_text(Loss.read(text))
    except PrivetError:
        return str(text)


def _facts(body: str) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _entries(books: Books, p: str) -> Iterator[dict[str, Any]]:
    after, sql = 0, f"SELECT {', '.join(NAMES)} FROM entries WHERE population = ? AND seq > ? ORDER BY seq"
    while rows := books.read(f"{sql} LIMIT {BATCH}", p, after):
        yield from (dict(zip(NAMES, row, strict=True)) for row in rows)
        after = rows[-1][1]


def _head(books: Books, p: str) -> str:
    return str(books.read("SELECT head FROM populations WHERE id = ?", p)[0][0])


def _lines(books: Books, p: str) -> Iterator[str]:
    for entry in _entries(books, p):
        yield json.dumps(entry) + "\n"


def _charges(books: Books, p: str) -> Iterator[str]:
    """The charges as CSV. A spreadsheet must take no cell for a formula."""
    yield _line(("entry", "time", "who", "about", "epsilon", "delta", "sum of epsilon"))
    for row in _rows(list(_entries(books, p))):
        if row["epsilon"] or row["delta"]:
            cells = (row["entry"]["seq"], row["at"], row["who"], row["about"], row["epsilon"], row["delta"] or "0")
            yield _line((*cells, row["total"]))


def _line(cells: tuple[Any, ...]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(f"'{cell}" if str(cell)[:1] in "=+-@\t\r" and cell != "" else cell for cell in cells)
    return written.getvalue()
