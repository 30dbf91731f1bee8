"""What owners and auditors read: populations, grants and every entry of the chain."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse

from privet.privacy.books.entries import NAMES
from privet.privacy.losses import Loss
from privet.server.problems import Problem, pair
from privet.server.routes.asking import Name, service
from privet.server.service import OWNER

router = APIRouter()
AUDITOR = "auditor"
PAGE = 10_000  # entries


@router.get("/v1/populations")
def populations(request: Request) -> list[dict[str, Any]]:
    """All populations."""
    here = service(request)
    here.person(request, OWNER, AUDITOR)
    return [_facts(row) for row in here.books.read(f"SELECT {COLUMNS} FROM populations ORDER BY id")]


@router.get("/v1/populations/{p}")
def population(request: Request, p: Name) -> dict[str, Any]:
    """A population: its cap, its tables, and what each analyst may spend, has spent and holds."""
    here = service(request)
    here.person(request, OWNER, AUDITOR)
    rows = here.books.read(f"SELECT {COLUMNS} FROM populations WHERE id = ?", p)
    if not rows:
        raise Problem("not-found")
    tables = here.books.read("SELECT id, state, most_records, missed FROM datasets WHERE population = ? ORDER BY id", p)
    grants = here.books.read("SELECT person, most, spent, held FROM grants WHERE population = ? ORDER BY person", p)
    shown = [
        {"person": who} | {k: pair(Loss.read(v)) for k, v in zip(PARTS, rest, strict=True)} for who, *rest in grants
    ]
    facts = [dict(zip(("id", "state", "most_records", "missed"), row, strict=True)) for row in tables]
    return _facts(rows[0]) | {"datasets": facts, "grants": shown}


@router.get("/v1/populations/{p}/entries")
def entries(request: Request, p: Name, after: Annotated[int, Query(ge=0, lt=2**62)] = 0) -> list[dict[str, Any]]:
    """The entries of a population, in their order, by pages."""
    here = service(request)
    here.person(request, OWNER, AUDITOR)
    if not here.books.read("SELECT 1 FROM populations WHERE id = ?", p):
        raise Problem("not-found")
    sql = f"SELECT {', '.join(NAMES)} FROM entries WHERE population = ? AND seq > ? ORDER BY seq LIMIT {PAGE}"
    after = min(after, 2**31 - 1)  # what the books can count
    return [dict(zip(NAMES, row, strict=True)) for row in here.books.read(sql, p, after)]


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> PlainTextResponse:
    """Numbers about the server, none about a person or a table."""
    here = service(request)
    here.person(request, AUDITOR, OWNER)
    return PlainTextResponse(here.metrics.text())


COLUMNS = "id, title, unit, neighbours, cap, granted, frozen, head"
PARTS = ("limit", "spent", "held")


def _facts(row: tuple[Any, ...]) -> dict[str, Any]:
    name, title, unit, neighbours, cap, granted, frozen, head = row
    facts = {"id": name, "title": title, "unit": unit, "neighbours": neighbours, "frozen": frozen, "head": head}
    return facts | {"cap": pair(Loss.read(cap)), "granted": pair(Loss.read(granted))}
