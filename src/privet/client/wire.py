"""Requests to a server, with the standard library only: a key, a head, repeats, and errors as privet's own."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from privet.errors import BudgetExceeded, ParameterError, PrivetError, ServerError

KEY = "PRIVET_KEY"
PATIENCE = 60.0  # seconds of one request
TRIES = 8  # of a request that can be repeated; the pauses between them add up to about a minute
AGAIN = (502, 503, 504)  # a proxy without a server behind it, or a server without workers yet
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Reply(NamedTuple):
    status: int
    headers: Any
    body: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            raise ServerError("the server's answer is not JSON; is it a privet server?", status=self.status) from None


class Wire:
    """One server and one key. Keys travel over https, or to this machine."""

    def __init__(self, url: str, key: str | None) -> None:
        found = urlsplit(url)
        if found.scheme not in ("http", "https") or not found.hostname:
            raise ParameterError(parameter="url", problem="must be an address such as https://privet.example.org")
        if found.username or found.password:
            raise ParameterError(parameter="url", problem="holds a user or a password", fix="give the key as key=")
        if found.scheme == "http" and found.hostname not in LOOPBACK:
            raise ParameterError(parameter="url", problem="would send the key without encryption", fix="use https://")
        self.url = f"{found.scheme}://{found.netloc}{found.path.rstrip('/')}"
        self._key = key or os.environ.get(KEY)
        if not self._key:
            raise ParameterError(parameter="key", problem="is missing", fix=f"give key=, or set {KEY}")
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._heads = Heads(found.netloc)

    def __repr__(self) -> str:
        return f"<{self.url}>"

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """One request. Those that can be repeated are, when the connection breaks or the server does not answer."""
        head = {"Authorization": f"Bearer {self._key}", "Accept": "application/json"} | (headers or {})
        if body is not None:
            raw, head["Content-Type"] = json.dumps(body).encode(), "application/json"
        if known := self._heads.newest():
            head["Privet-Head"] = known
        safe = method in ("GET", "DELETE") or "Idempotency-Key" in head
        failure: PrivetError = ServerError(f"cannot reach {self.url}", "unreachable")
        for attempt in range(TRIES if safe else 1):
            if attempt:
                time.sleep(min(0.25 * 2**attempt, 15))
            try:
                reply = self._once(urllib.request.Request(self.url + path, raw, head, method=method))
            except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
                failure = ServerError(f"cannot reach {self.url}: {getattr(error, 'reason', error)}", "unreachable")
                continue
            if reply.status < 400:
                if made := reply.headers.get("Privet-Head"):
                    self._heads.keep(made)
                return reply
            failure = _error(reply)
            if reply.status not in AGAIN:
                break
        raise failure

    def _once(self, request: urllib.request.Request) -> Reply:
        try:
            with self._opener.open(request, timeout=PATIENCE) as response:
                return Reply(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, error.headers, error.read())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Heads:
    """The last head of each population, in a file that only this user reads: it shows that a backup was restored."""

    def __init__(self, server: str) -> None:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        self._path, self._server = state / "privet" / "heads.json", server
        self._known: dict[str, str] = {}
        try:
            found = json.loads(self._path.read_text("utf-8")).get(server, {})
            self._known = {str(name): str(head) for name, head in found.items()}
        except (OSError, ValueError, AttributeError):
            pass  # no head is known: nothing can be shown

    def newest(self) -> str | None:
        return next(reversed(self._known.values()), None)

    def keep(self, head: str) -> None:
        population = head.partition(":")[0]
        if self._known.get(population) == head:
            return
        self._known.pop(population, None)
        self._known[population] = head
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                all_ = json.loads(self._path.read_text("utf-8"))
            except (OSError, ValueError):
                all_ = {}
            beside = self._path.with_name(f".heads.{os.getpid()}")
            with open(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                json.dump(all_ | {self._server: self._known}, file)
            os.replace(beside, self._path)
        except OSError:
            pass  # a home that cannot be written keeps heads as long as this process


def _error(reply: Reply) -> PrivetError:
    """The problem of a server as privet's exception."""
    try:
        facts = json.loads(reply.body)
        kind, text = str(facts["type"]).rpartition("/")[2], str(facts.get("detail") or facts["title"])
    except (ValueError, KeyError, TypeError):
        return ServerError(f"the server answered {reply.status}", status=reply.status)
    if kind == "budget":
        asked, left = (Fraction(facts[name]["epsilon"]) for name in ("asked", "left"))
        return BudgetExceeded(asked, left, "your grant", "the question")
    if kind in ("invalid", "rehearsal", "idempotency-key-reused"):
        return ParameterError(text)
    return ServerError(text, kind, reply.status)
