"""What all pages share: the layout, who looks, forms that only our own pages can send, and refusals for people."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import Depends, Request
from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, RedirectResponse, Response

from privet.errors import PrivetError
from privet.markup import Html, with_elements
from privet.privacy.books.refusals import Refusal
from privet.privacy.losses import Loss, brief
from privet.report.page import asset, environment
from privet.server.keys import COOKIE, Person, who_asks
from privet.server.pages.texts import TEXTS, say
from privet.server.problems import KINDS, Problem, from_refusal
from privet.server.service import Service

# The menu of each role: path, and the name of its text. The first one is the role's home.
NAV: dict[str, tuple[tuple[str, str], ...]] = {
    "owner": (("/owner", "nav.populations"), ("/owner/people", "nav.people"), ("/owner/server", "nav.server")),
    "analyst": (("/analyst", "nav.datasets"), ("/analyst/answers", "nav.answers")),
    "auditor": (("/auditor", "nav.books"),),
}
ACCOUNT = ("/account", "nav.account")
MOST_FIELDS = 20_000  # of a form: a schema has some for each column
LONGEST_FIELD = 2**18  # bytes; the longest list of values that fits on a screen is far shorter
NO_PAGES = ("/v1/", "/metrics", "/healthz", "/openapi.json")


def page(
    request: Request, template: str, *, person: Person | None = None, status: int = 200, **context: Any
) -> Response:
    """A template as a page. ``context`` may set ``fault``, a sentence, or ``done``, the name of a text."""
    done = request.query_params.get("done", "")
    nav = (*NAV.get(person.role, ()), ACCOUNT) if person else ()
    inside = [path for path, _ in nav if request.url.path == path or request.url.path.startswith(f"{path}/")]
    shared = {
        "say": say,
        "moment": moment,
        "brief": brief,
        "verbatim": verbatim,
        "person": person,
        "nav": nav,
        "section": max(inside, key=len, default=""),  # the entry of the menu that this page belongs to
        "token": token_of(request),
        "assets": assets(),
        "fault": None,
        "done": f"done.{done}" if f"done.{done}" in TEXTS else None,
    }
    text = environment(__package__).get_template(template).render(**(shared | context))
    return HTMLResponse(str(with_elements(text)), status)


def moment(seconds: float) -> str:
    """A time for people, in UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def amount_text(loss: Loss) -> str:
    """A loss for people: epsilon, and delta where there is one."""
    delta, epsilon = brief(loss.delta), brief(loss.epsilon)
    return say("amount.delta", epsilon=epsilon, delta=delta) if loss.delta else epsilon


def verbatim(value: object) -> Html:
    """A value of a form, escaped and otherwise unchanged: it comes back as it is. What is only shown is isolated."""
    return Html(escape(str(value)))


def home_of(person: Person) -> str:
    return NAV.get(person.role, (ACCOUNT,))[0][0]


def signed_in(request: Request, *roles: str) -> tuple[Service, Person]:
    """The service, and who looks; for other roles the page does not exist."""
    here: Service = request.app.state.service
    return here, here.person(request, *roles)


def see_other(path: str, done: str | None = None) -> Response:
    """Go on to a page after a form was taken; ``done`` names the text that says what was done."""
    return RedirectResponse(path if done is None else f"{path}?done={done}", 303)


# -- forms -------------------------------------------------------------------------------------------------------------


def token_of(request: Request) -> str:
    """The token of a session's forms. It follows from the cookie, which no other site can read."""
    return hmac.new(request.cookies.get(COOKIE, "").encode(), b"privet form", hashlib.sha256).hexdigest()


async def _posted(request: Request) -> FormData:
    here: Service = request.app.state.service
    await run_sync(who_asks, here.books, request)  # before the body is read: it may be a whole table
    form = await request.form(max_fields=MOST_FIELDS, max_part_size=LONGEST_FIELD)
    if not hmac.compare_digest(str(form.get("token", "")).encode(), token_of(request).encode()):
        raise Problem("cross-site", "this form is not from a page of your session; open the page again")
    return form


Posted = Annotated[FormData, Depends(_posted)]
"""The fields of a form that a page of the same session sent."""


def field(form: FormData, name: str, usual: str = "") -> str:
    """A field as text, without spaces around it. A file in its place is no text."""
    value = form.get(name, usual)
    return value.strip() if isinstance(value, str) else usual


def short_name(title: str) -> str:
    """A name for paths from a title: small letters, digits and hyphens.

    >>> short_name("People of the Town, 2026")
    'people-of-the-town-2026'
    """
    plain = unicodedata.normalize("NFKD", title.replace("'", "")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:63].strip("-")


# -- refusals ----------------------------------------------------------------------------------------------------------


REFUSED = (Problem, Refusal, PrivetError, ValidationError)
"""What a form can be refused by; its page is shown again, with the reason."""


def reason(error: Exception) -> str:
    """Why a form was refused, for people."""
    match error:
        case Problem():
            return error.detail or KINDS[error.kind][1]
        case Refusal():
            return reason(from_refusal(error))
        case ValidationError():
            return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())[:600]
    return str(error)[:600]


def wants_page(request: Request) -> bool:
    """Whether a person looks, and no program."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(NO_PAGES)


def problem_page(request: Request, problem: Problem) -> Response:
    """A refusal for people. Whoever is not signed in can sign in."""
    if problem.kind == "no-key":
        response = see_other("/", "ended" if COOKIE in request.cookies else None)
        response.delete_cookie(COOKIE, path="/")
        return response
    status, title = KINDS[problem.kind]
    facts: dict[str, Any] = {"kind": title, "detail": problem.detail, "number": problem.facts.get("request")}
    response = page(request, "problem.html", status=status, done=None, **facts)
    response.headers.update(problem.headers)
    return response


# -- style and script --------------------------------------------------------------------------------------------------


@cache
def static() -> dict[str, tuple[bytes, str]]:
    """Style sheets and scripts by name, with their types. The first two are the report's."""
    own = {name: (files(__package__) / "templates" / name).read_text("utf-8") for name in ("app.css", "app.js")}
    texts = {name: asset(name) for name in ("style.css", "page.js")} | own
    kinds = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
    return {name: (text.encode(), kinds[name.rpartition(".")[2]]) for name, text in texts.items()}


@cache
def assets() -> dict[str, str]:
    """Their paths, which change with their content: a browser may keep them."""
    names = static()
    return {name: f"/static/{hashlib.sha256(content).hexdigest()[:12]}/{name}" for name, (content, _) in names.items()}
