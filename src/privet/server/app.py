"""The application: routes, refusals, and the process that serves them."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp

from privet.errors import JournalError, ParameterError, PrivetError
from privet.privacy.books.refusals import Refusal
from privet.server.guard import Guard
from privet.server.keys import add_link
from privet.server.pages import ROUTERS
from privet.server.pages.frame import problem_page, wants_page
from privet.server.problems import FAULT, Problem, from_refusal, from_status
from privet.server.routes import asking, auditing, owning, signing, tables
from privet.server.service import OWNER, Service
from privet.server.settings import Settings
from privet.server.workers import Gone

THREADS = 64  # requests that are worked on at a time; others wait
SHOWN = 10  # faults of one body that a refusal lists


def make_app(service: Service) -> ASGIApp:
    """The application over a service."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        yield

    app = FastAPI(title="privet", version="1", docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.service, app.state.offers = service, Offers(service)
    for router in (*(routes.router for routes in (asking, owning, tables, auditing, signing)), *ROUTERS):
        app.include_router(router)
    _handle(app)
    return Guard(app, service.settings, service.metrics, service.log)


class Offers:
    """The recipes on offer, asked of a nursery once."""

    def __init__(self, service: Service) -> None:
        self._service, self._known = service, list[dict[str, Any]]()

    def __call__(self) -> list[dict[str, Any]]:
        if not self._known and self._service.workers.questions.ready.is_set():
            request = {"job": "offers", "public": True}
            self._known = self._service.workers.run("offers", request, 60).get("ok", [])
        return self._known


def _handle(app: FastAPI) -> None:
    def shown(request: Request, problem: Problem) -> Response:
        """For people a page, for programs RFC 9457."""
        return problem_page(request, problem) if wants_page(request) else problem.response()

    @app.exception_handler(Problem)
    async def problem(request: Request, error: Problem) -> Response:
        return shown(request, error)

    @app.exception_handler(Refusal)
    async def refusal(request: Request, error: Refusal) -> Response:
        return shown(request, from_refusal(error))

    @app.exception_handler(ParameterError)
    async def parameter(request: Request, error: ParameterError) -> Response:
        return shown(request, Problem("invalid", str(error)[:600]))

    @app.exception_handler(JournalError)
    async def journal(request: Request, error: JournalError) -> Response:
        text = "the books cannot be reached now; ask again with the same key, which is charged once"
        return shown(request, Problem("busy", text))

    @app.exception_handler(Gone)
    async def gone(request: Request, error: Gone) -> Response:
        return shown(request, Problem("busy", "the workers are starting again", headers={"Retry-After": "5"}))

    @app.exception_handler(PrivetError)
    async def other(request: Request, error: PrivetError) -> Response:
        request.app.state.service.log.fault(request.state.request_id, error)
        return shown(request, Problem("fault", FAULT, request=request.state.request_id))

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:  # the guard logs it
        return shown(request, Problem("fault", FAULT, request=request.state.request_id))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        found = [{"where": [str(part) for part in one["loc"]], "what": one["msg"]} for one in error.errors()[:SHOWN]]
        text = "; ".join(f"{'.'.join(one['where'][1:]) or one['where'][0]}: {one['what']}" for one in found)
        return shown(request, Problem("invalid", text[:600], errors=found))

    @app.exception_handler(HTTPException)
    async def by_status(request: Request, error: HTTPException) -> Response:
        made = from_status(error.status_code)
        made.headers |= dict(error.headers or {})
        return shown(request, made)


def serve(settings: Settings) -> None:
    """Serve until the process is asked to stop. HTTP answers before the workers are warm."""
    service = Service(settings)
    try:
        config = uvicorn.Config(
            make_app(service),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=10,
            timeout_keep_alive=65,
            backlog=2048,
        )
        listener = _listen(settings)
        service.log.write("serving", address=settings.origin)
        if service.first_start and sys.stderr.isatty():  # once, for a person; never in a log
            link = service.books.do(lambda tx: add_link(tx, OWNER))
            print(f"sign in as the owner, once and within an hour: {settings.origin}/?link={link}", file=sys.stderr)
        _Server(config).run(sockets=[listener])
    finally:
        service.close()


class _Server(uvicorn.Server):
    """Ends quietly by SIGTERM: a service manager stops it so."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The protocol is named, or asyncio would leave small packets to wait for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
    except OSError as error:
        listener.close()
        raise ParameterError(
            parameter="port", problem=f"{settings.port} cannot be used: {error.strerror}", fix="choose another one"
        ) from None
    listener.listen(2048)
    listener.set_inheritable(False)
    return listener
