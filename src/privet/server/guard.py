"""What every request passes before any route: host name, other sites, size; and what every answer carries.

Also the place where a request is counted and logged, once, whatever becomes of it.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privet.server.keys import COOKIE
from privet.server.logs import Log
from privet.server.metrics import Metrics
from privet.server.problems import FAULT, Problem
from privet.server.settings import LOOPBACK, Settings

SMALL = 2**20  # bytes of a body that is no table
UPLOADS = (("PUT", "/v1/datasets"), ("POST", "/owner/files"))  # a table may come here, under any name
READS = ("GET", "HEAD", "OPTIONS")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without any, a browser sends "Origin: null" with our own forms
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """The outermost layer of the application."""

    def __init__(self, inner: ASGIApp, settings: Settings, metrics: Metrics, log: Log) -> None:
        self._inner, self._settings, self._metrics, self._log = inner, settings, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        begun, status, number = time.monotonic(), 0, secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = number
        body = _Body(receive, self._limit(scope))

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message["headers"], number, secure=self._settings.secure)
            await send(message)

        try:
            problem = self._refusal(scope)
            if problem is not None:
                await problem.response()(scope, receive, answer)
            else:
                await self._inner(scope, body, answer)
        except _TooLarge:
            await Problem("too-large", "the body has more bytes than this route takes").response()(
                scope, receive, answer
            )
        except Exception as error:
            self._log.fault(number, error)
            if status:  # the application has answered already
                return
            await Problem("fault", FAULT, request=number).response()(scope, receive, answer)
        finally:
            seconds = time.monotonic() - begun
            self._metrics.count_request(scope, status, seconds)
            self._log.request(scope, number, status, seconds)

    def _limit(self, scope: Scope) -> int:
        return self._settings.upload if (scope["method"], scope["path"].rpartition("/")[0]) in UPLOADS else SMALL

    def _refusal(self, scope: Scope) -> Problem | None:
        head = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if self._settings.behind_proxy:
            self._believe_proxy(scope, head)
        if _host(head.get("host", "")) not in self._settings.names:
            return Problem("host", "this server has another name; set public_url if it should have this one")
        if scope["method"] not in READS and self._is_cross_site(scope, head):
            return Problem("cross-site", "send a key in the Authorization header, or use the server's own pages")
        if (length := head.get("content-length", "0")) and (
            not length.isdecimal() or len(length) > 15 or int(length) > self._limit(scope)
        ):
            return Problem("too-large", f"a body here has at most {self._limit(scope)} bytes")
        return None

    def _is_cross_site(self, scope: Scope, head: dict[str, str]) -> bool:
        """Whether a page of another site sent it. A cookie alone must say where it comes from."""
        site, origin = head.get("sec-fetch-site"), head.get("origin")
        own = {self._settings.origin, f"{scope.get('scheme', 'http')}://{head.get('host', '')}"}
        if site not in (None, "same-origin", "none") or (origin is not None and origin not in own):
            return True
        by_cookie = "authorization" not in head and f"{COOKIE}=" in head.get("cookie", "")
        return by_cookie and site is None and origin is None

    def _believe_proxy(self, scope: Scope, head: dict[str, str]) -> None:
        """Scheme and address of the client from the last hop, if the proxy is one that we trust."""
        client = (scope.get("client") or ("",))[0]
        if client in (*LOOPBACK, *self._settings.trusted_proxies):
            if scheme := head.get("x-forwarded-proto", "").rpartition(",")[2].strip():
                scope["scheme"] = "https" if scheme == "https" else "http"
            if address := head.get("x-forwarded-for", "").rpartition(",")[2].strip():
                scope["client"] = (address[:64], 0)


class _TooLarge(Exception):
    """More bytes came than were announced or allowed."""


class _Body:
    """A body that ends where the limit is."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left = receive, most

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _TooLarge
        return message


def _host(value: str) -> str:
    """A host name without its port."""
    name, colon, port = value.rpartition(":")
    return (name if colon and port.isdecimal() and (not name.count(":") or name.endswith("]")) else value).lower()


def _with_headers(headers: Any, number: str, *, secure: bool) -> list[tuple[bytes, bytes]]:
    kept = [one for one in headers if one[0].lower() != b"server"]
    given = {name.lower() for name, _ in kept}
    ours = HEADERS | {"X-Request-Id": number} | ({"Strict-Transport-Security": "max-age=63072000"} if secure else {})
    more = [(name.lower().encode(), value.encode()) for name, value in ours.items()]
    return kept + [one for one in more if one[0] not in given]
