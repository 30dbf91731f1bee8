"""What analysts do: look at tables, ask for prices, trials and forecasts for free, and ask questions."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from starlette.responses import HTMLResponse, JSONResponse

from privet.privacy.books import release, work
from privet.privacy.losses import Loss
from privet.schema import Schema
from privet.server.asks import Ask, Forecast
from privet.server.keys import Person
from privet.server.pricing import Table
from privet.server.problems import Problem
from privet.server.service import OWNER, Service, shown

router = APIRouter(prefix="/v1")
ANALYST = "analyst"
Name = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
AnswerId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
LONGEST_WAIT = 30  # seconds of Prefer: wait
WAIT = re.compile(r"(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])")
LOOK = 0.05  # seconds between looks at a question that waits for its turn


def service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


@router.get("/datasets")
def datasets(request: Request) -> list[dict[str, Any]]:
    """The tables that you may ask."""
    here = service(request)
    person = here.person(request, ANALYST, OWNER)
    return [{"id": one.id, "population": one.population, "state": one.state} for one in here.tables(person)]


@router.get("/datasets/{d}")
def dataset(request: Request, d: Name) -> dict[str, Any]:
    """The public facts about a table, and the recipes on offer."""
    here = service(request)
    person = here.person(request, ANALYST, OWNER)
    table = here.table(d, person)
    facts = {"id": table.id, "population": table.population, "state": table.state, "schema": table.schema}
    facts |= {"unit": table.schema.get("unit") or table.unit, "neighbours": table.neighbours}
    predicts = "numbers" if Schema.from_dict(table.schema).predicts_number else "classes"
    recipes = [one for one in request.app.state.offers() if one["predicts"] == predicts]
    return facts | {"most_records": table.most_records, "recipes": recipes}


@router.post("/datasets/{d}/price")
def price(request: Request, d: Name, ask: Ask) -> dict[str, Any]:
    """What a question costs and when it is due. Free; what fails on invented records is refused here."""
    here, person, table = _opened(request, d)
    asked = ask.canonical()
    loss, seconds = here.pricing.quote(table, asked, person.key, here.model_text(person, asked))
    grant = here.grants(person.id).get(table.population)
    if grant is None:
        raise Problem("not-found")
    facts = {"epsilon": str(loss.epsilon), "delta": str(loss.delta), "seconds": seconds}
    left = {"left": str(grant.left.epsilon), "left_delta": str(grant.left.delta), "enough": grant.allows(loss)}
    return facts | left


@router.post("/datasets/{d}/trial")
def trial(request: Request, d: Name, ask: Ask) -> dict[str, Any]:
    """The same answer on invented records. Free."""
    here, person, table = _opened(request, d)
    asked = ask.canonical()
    answer = here.pricing.trial(table, asked, person.key, here.model_text(person, asked))
    return {"invented": True, "answer": answer}


@router.post("/datasets/{d}/forecast")
def forecast(request: Request, d: Name, body: Forecast) -> dict[str, Any]:
    """What the planner expects, by invented records. Free."""
    here, person, table = _opened(request, d)
    records = body.records or max(10, table.most_records)
    facts = {"job": "forecast", "ask": body.ask.canonical(), "schema": table.schema, "records": records}
    found: dict[str, Any] = here.pricing.free("forecast", facts | {"signal": body.signal, "seconds": 10}, person.key)
    return found


@router.post("/datasets/{d}/answers", responses={202: {}, 402: {}, 423: {}, 428: {}, 429: {}})
async def post_answer(
    request: Request,
    d: Name,
    ask: Annotated[Ask, Body()],
    idempotency_key: Annotated[str | None, Header(max_length=100)] = None,
    prefer: Annotated[str | None, Header(max_length=200)] = None,
) -> Response:
    """Ask a question. The same Idempotency-Key gives the same answer again, and costs nothing more."""
    here = service(request)

    def accepted() -> tuple[Person, Seen]:
        person, job = accept(request, d, ask, idempotency_key)
        return person, _see(here, person, job)

    person, seen = await run_sync(accepted)
    return await _answer(here, person, seen, prefer)


def accept(request: Request, d: str, ask: Ask, key: str | None) -> tuple[Person, str]:
    """Take a question: its price is held, and it waits for its turn. Says who asks, and the question's id."""
    here, person, table = _opened(request, d)
    if key is None:
        raise Problem("idempotency-key-missing", "send Idempotency-Key, such as a UUID: a repeat then costs nothing")
    if not re.fullmatch(r"[!-~]{8,100}", key):
        raise Problem("invalid", "Idempotency-Key must have 8 to 100 visible characters, such as a UUID")
    asked = ask.canonical()
    if table.state == "paused":
        raise Problem(
            "paused",
            "the table is paused: answers were late or lost, or its owner paused it; the owner has to open it",
        )
    known = here.books.read("SELECT loss, seconds FROM jobs WHERE person = ? AND idem = ?", person.id, key)
    if known:  # a repeat needs no rehearsal
        loss, seconds = Loss.read(known[0][0]), known[0][1]
    else:
        loss, seconds = here.pricing.quote(table, asked, person.key, here.model_text(person, asked))
    question = work.Question(person.id, d, key, asked, loss, seconds)
    most, server = here.settings.queue, here.books.server
    job, new = here.books.do(lambda tx: work.accept(tx, question, server, time.time(), most))
    request.state.price = str(loss)
    if new:
        here.slots.queue.put(person.id, job)
    return person, job


@router.get("/answers")
def answers(request: Request, after: Annotated[str | None, Query(pattern=r"^[0-9a-f]{32}$")] = None) -> list[Any]:
    """Your newest questions, without their answers; ``after`` the last one for older ones."""
    here = service(request)
    person = here.person(request, ANALYST)
    return [shown(view) for view in release.listed(here.books, person.id, time.time(), after)]


@router.get("/answers/{a}", responses={202: {}})
async def answer(
    request: Request, a: AnswerId, prefer: Annotated[str | None, Header(max_length=200)] = None
) -> Response:
    """One of your questions, with its answer once it is due."""
    here = service(request)

    def found() -> tuple[Person, Seen]:
        person = here.person(request, ANALYST)
        return person, _see(here, person, a)

    person, seen = await run_sync(found)
    return await _answer(here, person, seen, prefer)


@router.delete("/answers/{a}")
async def cancel(request: Request, a: AnswerId) -> Response:
    """Cancel a question. If it waits, its price is given back; if it has begun, the charge stays."""
    here = service(request)

    def cancelled() -> tuple[Person, Seen]:
        person, now = here.person(request, ANALYST), time.time()
        here.books.do(lambda tx: work.cancel(tx, a, person.id, now))
        return person, _see(here, person, a)

    person, seen = await run_sync(cancelled)
    return await _answer(here, person, seen, None)


@router.get("/answers/{a}/model")
def model(request: Request, a: AnswerId) -> JSONResponse:
    """The model of a fit, as privet's JSON."""
    return JSONResponse(_part(request, a, "model"))


@router.get("/answers/{a}/certificate")
def certificate(request: Request, a: AnswerId) -> JSONResponse:
    """What was promised about an answer."""
    return JSONResponse(_part(request, a, "certificate"))


@router.get("/answers/{a}/page", response_class=HTMLResponse)
def page(request: Request, a: AnswerId) -> HTMLResponse:
    """The page of a model: the report."""
    from privet.models.codec import from_text
    from privet.report.page import content_policy, model_page

    text = model_page(from_text(json.dumps(_part(request, a, "model"))))
    return HTMLResponse(text, headers={"Content-Security-Policy": f"{content_policy()}; frame-ancestors 'none'"})


def _part(request: Request, a: str, name: str) -> Any:
    here = service(request)
    view = here.view(a, here.person(request, ANALYST))
    found = None if view.answer is None else json.loads(view.answer).get(name)
    if found is None:
        raise Problem("not-found")
    return found


def _opened(request: Request, d: str) -> tuple[Service, Person, Table]:
    here = service(request)
    person = here.person(request, ANALYST)
    return here, person, here.table(d, person)


Seen = tuple[release.View, str]
"""A question as it may be seen, and the head of its population."""


def _see(here: Service, person: Person, job: str) -> Seen:
    view = here.view(job, person)
    return view, here.witness.head(view.population)


async def _answer(here: Service, person: Person, seen: Seen, prefer: str | None) -> Response:
    """The question as it may be seen; if the client wants to wait, when it is due."""
    wanted = WAIT.search(prefer or "")
    until = time.time() + (min(int(wanted[1]), LONGEST_WAIT) if wanted else 0)
    while (view := seen[0]).waits and (now := time.time()) < until:
        rest = LOOK if view.due is None else max(0.01, view.due - now)
        await asyncio.sleep(min(rest, until - now))
        seen = await run_sync(_see, here, person, view.id)
    headers = {"Location": f"/v1/answers/{view.id}", "Privet-Head": seen[1]}
    if view.waits:
        headers["Retry-After"] = str(max(1, round((view.due or 0) - time.time())))
    if wanted:
        headers["Preference-Applied"] = f"wait={min(int(wanted[1]), LONGEST_WAIT)}"
    return JSONResponse(shown(view), 202 if view.waits else 200, headers=headers)
