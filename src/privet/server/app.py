"""The application: routes, refusals, and the process that serves them."""

from __future__ import annotations

import contextlib
import signal
import socket
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
from privet.server.problems import FAULT, Problem, from_refusal, from_status
from privet.server.routes import asking, auditing, owning, signing
from privet.server.service import Service
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
    for routes in (asking, owning, auditing, signing):
        app.include_router(routes.router)
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
    @app.exception_handler(Problem)
    async def problem(request: Request, error: Problem) -> Response:
        return error.response()

    @app.exception_handler(Refusal)
    async def refusal(request: Request, error: Refusal) -> Response:
        return from_refusal(error).response()

    @app.exception_handler(ParameterError)
    async def parameter(request: Request, error: ParameterError) -> Response:
        return Problem("invalid", str(error)[:600]).response()

    @app.exception_handler(JournalError)
    async def journal(request: Request, error: JournalError) -> Response:
        return Problem(
            "busy", "the books cannot be reached now; ask again with the same key, which is charged once"
        ).response()

    @app.exception_handler(Gone)
    async def gone(request: Request, error: Gone) -> Response:
        return Problem("busy", "the workers are starting again", headers={"Retry-After": "5"}).response()

    @app.exception_handler(PrivetError)
    async def other(request: Request, error: PrivetError) -> Response:
        request.app.state.service.log.fault(request.state.request_id, error)
        return Problem("fault", FAULT, request=request.state.request_id).response()

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:  # the guard logs it
        return Problem("fault", FAULT, request=request.state.request_id).response()

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        found = [{"where": [str(part) for part in one["loc"]], "what": one["msg"]} for one in error.errors()[:SHOWN]]
        text = "; ".join(f"{'.'.join(one['where'][1:]) or one['where'][0]}: {one['what']}" for one in found)
        return Problem("invalid", text[:600], errors=found).response()

    @app.exception_handler(HTTPException)
    async def by_status(request: Request, error: HTTPException) -> Response:
        made = from_status(error.status_code)
        made.headers |= dict(error.headers or {})
        return made.response()


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
