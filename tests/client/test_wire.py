"""The client: repeats with the same key, errors of its own, heads that it keeps, and keys that do not travel."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import privet
from privet.client import wire

FACTS = {"schema": privet.Schema((privet.Categorical("a", (0, 1)),), privet.Categorical("c", ("x", "y"))).to_dict()}
TABLE = {"id": "t", "population": "p", "unit": "person", "neighbours": "add-remove", "most_records": 10, "recipes": []}
DONE = {"id": "1" * 32, "state": "done", "answer": {"value": 7}}


class Scripted:
    """A server that answers what it is told, in order, and remembers what it was asked."""

    def __init__(self) -> None:
        self.script: list[tuple[int, Any]] = []
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.seen.append((self.command, self.path, dict(self.headers)))
                status, body = (200, FACTS | TABLE) if self.command == "GET" else outer.script.pop(0)
                if status == 0:  # the connection breaks
                    self.close_connection = True
                    self.connection.shutdown(2)
                    return
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Privet-Head", f"p:{'a' * 64}:{'b' * 64}")
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = _answer

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Scripted]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(wire.time, "sleep", lambda seconds: None)
    made = Scripted()
    yield made
    made.server.shutdown()
    made.server.server_close()


def problem(kind: str, status: int, **facts: Any) -> tuple[int, Any]:
    return status, {"type": f"/problems/{kind}", "title": kind, "detail": f"about {kind}", "status": status} | facts


def test_a_broken_connection_repeats_the_same_key(scripted: Scripted) -> None:
    scripted.script = [(0, None), problem("busy", 503), (502, {}), (200, DONE)]
    assert privet.connect(scripted.url, "k")["t"].count(0.1) == 7
    keys = [head["Idempotency-Key"] for method, _, head in scripted.seen if method == "POST"]
    assert len(keys) == 4
    assert len(set(keys)) == 1


def test_two_questions_have_two_keys(scripted: Scripted) -> None:
    scripted.script = [(200, DONE), (200, DONE)]
    table = privet.connect(scripted.url, "k")["t"]
    table.count(0.1)
    table.count(0.1)
    assert len({head["Idempotency-Key"] for method, _, head in scripted.seen if method == "POST"}) == 2


def test_problems_are_privets_errors(scripted: Scripted) -> None:
    amounts = {"asked": {"epsilon": "1/2", "delta": "0"}, "left": {"epsilon": "1/3", "delta": "0"}}
    scripted.script = [problem("budget", 402, **amounts), problem("invalid", 422), problem("frozen", 423), (500, {})]
    table = privet.connect(scripted.url, "k")["t"]
    with pytest.raises(privet.BudgetExceeded) as short:
        table.count(0.5)
    assert (short.value.requested, short.value.remaining) == (Fraction(1, 2), Fraction(1, 3))
    with pytest.raises(privet.ParameterError, match="about invalid"):
        table.count(0.5)
    for kind in ("frozen", ""):
        with pytest.raises(privet.ServerError) as other:
            table.count(0.5)
        assert other.value.kind == kind


def test_a_lost_answer_raises(scripted: Scripted) -> None:
    scripted.script = [(200, DONE | {"state": "lost", "detail": "it is lost"})]
    with pytest.raises(privet.ServerError, match="it is lost"):
        privet.connect(scripted.url, "k")["t"].count(0.1)


def test_heads_are_kept_and_come_back(scripted: Scripted, tmp_path: Path) -> None:
    privet.connect(scripted.url, "k")["t"]
    assert (tmp_path / "privet" / "heads.json").stat().st_mode & 0o777 == 0o600
    privet.connect(scripted.url, "k")["t"]
    assert "Privet-Head" not in scripted.seen[0][2]
    assert scripted.seen[1][2]["Privet-Head"].startswith("p:aaa")


@pytest.mark.parametrize("url", ["http://example.org", "ftp://x", "https://user:secret@example.org", "nothing"])
def test_keys_do_not_travel_unprotected(url: str) -> None:
    with pytest.raises(privet.ParameterError) as caught:
        privet.connect(url, "k")
    assert "secret" not in str(caught.value)


def test_a_key_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRIVET_KEY", raising=False)
    with pytest.raises(privet.ParameterError, match="PRIVET_KEY"):
        privet.connect("https://example.org")
