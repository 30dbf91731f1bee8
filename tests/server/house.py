"""A server as a process of its own, and people who call it. Standard library only, loopback only."""

from __future__ import annotations

import csv
import http.client
import io
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LABELS = ("healthy", "ill")
PATIENCE = 180  # seconds: a first start on a busy machine may compile kernels


class Reply:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        return str(self.json["type"]).rpartition("/")[2]


class Caller:
    """One key, one connection a thread."""

    def __init__(self, port: int, key: str | None = None, name: str = "") -> None:
        self.port, self.key, self.name, self._local = port, key, name, threading.local()

    def __call__(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, head: dict[str, str] | None = None
    ) -> Reply:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers |= {"Content-Type": "application/json"} if body is not None else {}
        headers |= head or {}
        content = raw if body is None else json.dumps(body).encode()
        for attempt in (0, 1):
            connection = getattr(self._local, "connection", None)
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
                self._local.connection = connection
            try:
                connection.request(method, path, content, headers)
                got = connection.getresponse()
                reply = Reply(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
                if got.status == 413:  # the rest of the body was not read
                    connection.close()
                    self._local.connection = None
                return reply
            except (http.client.HTTPException, OSError):
                connection.close()
                self._local.connection = None
                if attempt or method not in ("GET",):
                    raise
        raise AssertionError("unreachable")

    def ask(self, table: str, key: str | None = None, wait: int = 30, head: str | None = None, **ask: Any) -> Reply:
        headers = {"Idempotency-Key": key or str(uuid.uuid4())} | ({"Prefer": f"wait={wait}"} if wait else {})
        headers |= {"Privet-Head": head} if head else {}
        return self("POST", f"/v1/datasets/{table}/answers", ask, head=headers)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class House:
    """A server process with its folder, which can be killed and started again."""

    def __init__(self, folder: Path, *flags: str, program: tuple[str, ...] = ("-m", "privet", "serve")) -> None:
        self.folder, self.port, self.flags, self.program = folder, free_port(), flags, program
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> float:
        """Start it; the seconds until HTTP answered."""
        begun = time.monotonic()
        command = [sys.executable, *self.program, "--folder", str(self.folder), "--port", str(self.port), *self.flags]
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}"}
        environment |= {"XDG_STATE_HOME": str(self.folder / "state")}
        with open(self.folder.with_suffix(".log"), "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env=environment, cwd=self.folder.parent
            )
        while time.monotonic() - begun < PATIENCE:
            if self.process.poll() is not None:
                raise AssertionError(self.folder.with_suffix(".log").read_text()[-2000:])
            try:
                if Caller(self.port)("GET", "/healthz").status == 200:
                    return time.monotonic() - begun
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the server did not start")

    def warm(self, what: str = "questions") -> House:
        """Wait until its workers are ready."""
        for _ in range(10 * PATIENCE):
            if Caller(self.port)("GET", "/healthz").json[what]:
                return self
            time.sleep(0.1)
        raise AssertionError(f"no workers for {what}")

    def kill(self, number: int = signal.SIGKILL) -> int:
        """End it and all its children, by default without warning."""
        assert self.process is not None
        if number == signal.SIGKILL:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        return self.process.wait(60)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    @property
    def owner(self) -> Caller:
        return Caller(self.port, (self.folder / "owner.key").read_text().strip(), "owner")


def facts(name: str = "visits") -> dict[str, Any]:
    ages = [
        {"name": n, "type": "continuous", "min": 0, "max": m, "basis": "meaning"}
        for n, m in (("age", 100), ("dose", 10))
    ]
    ward = {"name": "ward", "type": "categorical", "values": ["a", "b", "c", "d"], "basis": "meaning"}
    label = {"class": "class", "labels": list(LABELS), "labels_basis": "meaning"}
    return {"name": name, "attributes": [*ages, ward], **label}


def rows(count: int, seed: int = 1) -> list[tuple[str, ...]]:
    dice = random.Random(seed)
    made = []
    for _ in range(count):
        age = dice.uniform(0, 100)
        made.append(
            (
                f"{age:.2f}",
                f"{dice.uniform(0, 10):.2f}",
                dice.choice("abcd"),
                LABELS[(age > 60) ^ (dice.random() < 0.1)],
            )
        )
    return made


def form(fields: dict[str, Any], content: bytes | None, file: str = "t.csv") -> tuple[bytes, dict[str, str]]:
    edge, out = secrets.token_hex(12), b""
    for name, value in fields.items():
        out += f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    if content is not None:
        out += (
            f'--{edge}\r\nContent-Disposition: form-data; name="table"; filename="{file}"\r\n\r\n'.encode()
            + content
            + b"\r\n"
        )
    return out + f"--{edge}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={edge}"}


class Stage:
    """A population, tables and analysts of its own names, so that tests share a server."""

    def __init__(self, house: House, cap: Any = 10**5) -> None:
        self.house, self.owner, self.tag = house, house.owner, "t" + secrets.token_hex(5)
        body = {"title": "a stage", "unit": "person", "cap": {"epsilon": cap, "delta": "1e-2"}}
        self.must(self.owner("PUT", f"/v1/populations/{self.tag}", body))

    @staticmethod
    def must(reply: Reply) -> Reply:
        assert reply.status in (200, 201, 204), (reply.status, reply.body[:400])
        return reply

    def put_table(self, records: list[tuple[str, ...]], most: int = 1000, suffix: str = "a", **fields: Any) -> Reply:
        text = io.StringIO()
        csv.writer(text).writerows([("age", "dose", "ward", "class"), *records])
        name = f"{self.tag}-{suffix}"
        given = {
            "population": self.tag,
            "schema": json.dumps(facts(name)),
            "most_records": most,
            "one_row_each": "true",
        }
        raw, head = form({k: v for k, v in (given | fields).items() if v is not None}, text.getvalue().encode())
        return self.owner("PUT", f"/v1/datasets/{name}", raw=raw, head=head)

    def table(self, records: list[tuple[str, ...]], most: int = 1000, suffix: str = "a") -> str:
        self.must(self.put_table(records, most, suffix))
        return f"{self.tag}-{suffix}"

    def parquet(self, records: int, most: int, suffix: str, seed: int = 0) -> str:
        """A table of many records, quickly."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        dice, name, sink = np.random.default_rng(seed), f"{self.tag}-{suffix}", io.BytesIO()
        age = dice.uniform(0, 100, records)
        columns = {
            "age": age,
            "dose": dice.uniform(0, 10, records),
            "ward": np.array(list("abcd"))[dice.integers(0, 4, records)],
        }
        pq.write_table(pa.table(columns | {"class": np.array(LABELS)[(age > 60).astype(int)]}), sink)
        given = {
            "population": self.tag,
            "schema": json.dumps(facts(name)),
            "most_records": most,
            "one_row_each": "true",
        }
        raw, head = form(given, sink.getvalue(), "t.parquet")
        self.must(self.owner("PUT", f"/v1/datasets/{name}", raw=raw, head=head))
        return name

    def analyst(self, limit: Any, *tables: str, role: str = "analyst") -> Caller:
        name = f"{self.tag}-{secrets.token_hex(3)}"
        key = self.must(self.owner("PUT", f"/v1/people/{name}", {"role": role})).json["key"]
        if role == "analyst":
            body = {"epsilon": limit, "delta": "1e-5", "datasets": list(tables)}
            self.must(self.owner("PUT", f"/v1/populations/{self.tag}/grants/{name}", body))
        return Caller(self.owner.port, key, name)

    def entries(self) -> list[dict[str, Any]]:
        return list(self.must(self.owner("GET", f"/v1/populations/{self.tag}/entries")).json)

    def charges(self) -> list[dict[str, Any]]:
        return [json.loads(one["body"]) for one in self.entries() if one["kind"] == "charge"]


def together(*works: Callable[[], Any]) -> list[Any]:
    """Run works at the same moment, each in a thread."""
    gate, got = threading.Barrier(len(works)), [None] * len(works)

    def run(i: int) -> None:
        gate.wait()
        got[i] = works[i]()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got
