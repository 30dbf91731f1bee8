"""Your answers: a list with their states, and the page of one, which can be cancelled, scored and downloaded.

All of it is read by :mod:`privet.privacy.books.release`, as in the API: until an answer is due, it is worked on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from privet.errors import PrivetError
from privet.privacy.books import release, work
from privet.schema import Schema
from privet.server.pages.analyst.results import FORMS, export, in_words, model_of, result_context
from privet.server.pages.frame import Posted, amount_text, moment, page, see_other, signed_in
from privet.server.problems import Problem
from privet.server.routes.asking import ANALYST, AnswerId
from privet.server.service import Service

router = APIRouter()
HEAD = "privet-head"
YEAR = 31_536_000  # seconds
QUEUED = 3.0  # seconds between looks at a question that waits for its turn
PILLS = {"queued": "wait", "running": "wait", "done": "", "lost": "stop", "cancelled": "off"}
Form = Annotated[str, Path(pattern=f"^({'|'.join(FORMS)})$")]
After = Annotated[str | None, Query(pattern=r"^[0-9a-f]{32}$")]


@router.get("/analyst/answers")
def answers(request: Request, after: After = None) -> Response:
    """Your newest questions, or older ones."""
    here, person = signed_in(request, ANALYST)
    views = release.listed(here.books, person.id, time.time(), after)
    rows = in_list(views, _makes(request))
    older = views[-1].id if len(views) == release.PAGE else None
    return page(request, "analyst_answers.html", person=person, rows=rows, older=older, later=after is not None)


@router.get("/analyst/answers/{a}")
def answer(request: Request, a: AnswerId) -> Response:
    """One of your questions: its state, and its answer once it is due."""
    here, person = signed_in(request, ANALYST)
    view = here.view(a, person)
    ask, result = json.loads(view.ask), None
    if view.answer is not None:
        score = _bought_score(here, person.id, a) if ask["ask"] == "fit" else None
        result = result_context(ask, json.loads(view.answer), _schema(here, view.dataset), score)
    row = in_list([view], _makes(request))[0]
    forms = [form for form in FORMS if form != "onnx" or find_spec("onnx")]
    shown: dict[str, Any] = {
        "result": result,
        "fit": ask["ask"] == "fit",
        "forms": forms if ask["ask"] == "fit" else [],
    }
    facts: dict[str, Any] = {"row": row, "open": view.dataset in {table.id for table in here.tables(person)}}
    response = page(request, "analyst_answer.html", person=person, wait=_wait(view), **shown, **facts)
    return kept_head(response, here, view.population)


@router.post("/analyst/answers/{a}/cancel")
def cancel(request: Request, a: AnswerId, form: Posted) -> Response:
    """Cancel a question. If it waits, its price is given back; if it has begun, the charge stays."""
    here, person = signed_in(request, ANALYST)
    here.books.do(lambda tx: work.cancel(tx, a, person.id, time.time()))
    return see_other(f"/analyst/answers/{a}")


@router.get("/analyst/answers/{a}/download/{form}")
def download(request: Request, a: AnswerId, form: Form) -> Response:
    """The model of a fit as a file: privet's JSON, or a form of another program."""
    here, person = signed_in(request, ANALYST)
    view = here.view(a, person)
    found = {} if view.answer is None else json.loads(view.answer)
    if "model" not in found:
        raise Problem("not-found")
    ending, kind = FORMS[form]
    try:
        content = json.dumps(found["model"]) if form == "json" else export(model_of(found), form, "records")
    except (PrivetError, ImportError) as error:
        raise Problem("invalid", f"this model has no such form: {error}"[:600]) from None
    name = f"{view.dataset}-{a[:8]}{ending}"
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def in_list(views: Sequence[release.View], makes: Mapping[str, str]) -> list[dict[str, Any]]:
    """Questions as rows: words, price, state, and what can be done."""
    return [
        {
            "id": view.id,
            "dataset": view.dataset,
            "words": in_words(json.loads(view.ask), makes),
            "asked": moment(view.asked),
            "cost": amount_text(view.loss),
            "held": view.state == "queued",
            "state": view.state,
            "pill": PILLS[view.state],
            "before": view.queued_before,
            "due": None if view.due is None else moment(view.due),
            "late": view.late,
            "waits": view.waits,
        }
        for view in views
    ]


def kept_head(response: Response, here: Service, population: str) -> Response:
    """Let the browser keep the head of the books: an old backup in their place then shows."""
    how: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": here.settings.secure, "path": "/"}
    response.set_cookie(HEAD, here.witness.head(population), max_age=YEAR, **how)
    return response


def _wait(view: release.View) -> str | None:
    """The seconds until the page should be looked at again; None if nothing will change."""
    if not view.waits:
        return None
    return f"{QUEUED if view.due is None else max(0.5, view.due - time.time() + 0.2):.1f}"


def _bought_score(here: Service, person: str, a: str) -> Any:
    """The newest private score of a model that was bought, if there is one among the newest questions."""
    now = time.time()
    for view in release.listed(here.books, person, now):
        ask = json.loads(view.ask)
        if view.state == "done" and ask["ask"] == "score" and ask["of"] == a:
            found = release.released(here.books, view.id, person, now)
            return None if found is None or found.answer is None else json.loads(found.answer)["value"]
    return None


def _schema(here: Service, dataset: str) -> Schema:
    """The public facts of a table that was answered; also of one that is closed now."""
    return Schema.from_dict(json.loads(here.books.read("SELECT schema FROM datasets WHERE id = ?", dataset)[0][0]))


def _makes(request: Request) -> dict[str, str]:
    return {one["name"]: one["makes"] for one in request.app.state.offers()}
