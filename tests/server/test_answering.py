"""The work of a child, and the parts of a server that need no process."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from house import ROOT, facts

from privet.engines.snapshots import write_twin
from privet.errors import ParameterError
from privet.privacy.losses import Loss
from privet.schema import Schema
from privet.server import answering, nursery
from privet.server.guard import _host
from privet.server.pricing import GRID, deadline
from privet.server.rates import Buckets
from privet.server.settings import read_settings
from privet.server.slots import FairQueue

SCHEMA = Schema.from_dict(facts())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_twin(SCHEMA, tmp_path / "twin", 200)
    return tmp_path / "twin"


def request(folder: Path, loss: str = "1", **ask: Any) -> dict[str, Any]:
    return {
        "job": "answer",
        "ask": {"epsilon": "1"} | ask,
        "folder": str(folder),
        "loss": loss,
        "neighbours": "add-remove",
    }


def test_a_child_cannot_spend_more_than_its_price(folder: Path) -> None:
    assert answering.answer(request(folder, ask="count"))["certificate"]["epsilon"] == "1"
    fitted = answering.answer(request(folder, ask="fit", recipe="diffpid3", params={"max_depth": 1}))
    assert fitted["certificate"]["epsilon"] == "1"
    assert "deadline" in json.dumps(fitted["certificate"]["caveats"]), "what time could tell is a condition"
    concentrated = {"ask": "fit", "recipe": "diffpid3", "params": {"max_depth": 1, "delta": 1e-6}}
    assert answering.price(concentrated | {"epsilon": "1"}) == Loss(1, 1e-6)
    under_zcdp = answering.answer(request(folder, loss="1, 1/1000000", **concentrated))["certificate"]
    assert (under_zcdp["epsilon"], under_zcdp["delta"]) == ("1", "1/1000000")
    with pytest.raises(Exception, match="asks for epsilon"):
        answering.answer(request(folder, loss="1/2", ask="count"))


def reply(monkeypatch: pytest.MonkeyPatch, sent: dict[str, Any]) -> dict[str, Any]:
    """What a child replies, without the limits that would hold for this process too."""
    monkeypatch.setattr(nursery, "_limit", lambda request: None)
    monkeypatch.setattr(nursery, "_set_apart", lambda: None)
    here, there = socket.socketpair()
    with here, there:
        here.sendall(json.dumps(sent).encode() + b"\n")
        thread = threading.Thread(target=lambda: (nursery._child(there), there.close()))
        thread.start()
        received = b""
        while part := here.recv(2**16):
            received += part
        thread.join()
    found: dict[str, Any] = json.loads(received.partition(b"\n")[2])
    return found


def test_a_fault_on_records_says_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = request(folder, ask="sum", of="height")
    assert reply(monkeypatch, wrong) == {"fault": ""}
    assert "height" in reply(monkeypatch, wrong | {"public": True})["fault"]
    monkeypatch.setattr(answering, "answer", lambda request: 1 / 0)
    assert reply(monkeypatch, wrong) == {"fault": ""}


def test_a_child_is_limited_in_memory_and_time() -> None:
    program = """
import resource
from privet.server.nursery import _limit
_limit({"memory": 2**32, "cpu": 1})
try:
    bytearray(2**33)
except MemoryError:
    print("memory", resource.getrlimit(resource.RLIMIT_CORE), flush=True)
while True:
    pass
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "memory (0, 0)\n"
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_only_sound_recipes_on_offer_are_fitted() -> None:
    assert answering.price({"ask": "fit", "recipe": "exact", "epsilon": "1/2"}) == Loss(0.5)
    for recipe, params in (("rana2016", {}), ("nothing", {}), ("exact", {"height": 3}), ("exact", {"max_depth": -1})):
        with pytest.raises(ParameterError):
            answering.price({"ask": "fit", "recipe": recipe, "epsilon": "1", "params": params})
    assert "rana2016" not in [one["name"] for one in answering.offers()]


def test_deadlines_are_on_a_grid() -> None:
    assert [deadline(x) for x in (0, 0.3, 0.5, 3.0)] == [1, 1, 2, 10]
    assert deadline(10**9) == GRID[-1]


def test_analysts_take_turns() -> None:
    queue = FairQueue()
    for job in ("a1", "a2", "a3", "b1", "a1"):
        queue.put(job[0], job)
    assert [queue.get() for _ in range(4)] == ["a1", "b1", "a2", "a3"]
    queue.put("a", "a3")
    assert len(queue) == 0, "it is being worked on"
    queue.close()
    assert queue.get() is None


def test_a_bucket_holds_so_much() -> None:
    bucket = Buckets(0.001, 3)
    assert [bucket.take("ann") > 0 for _ in range(4)] == [False, False, False, True]
    assert bucket.take("bob") == 0


@pytest.mark.parametrize(
    ("host", "name"),
    [("localhost:80", "localhost"), ("A.example", "a.example"), ("[::1]:8707", "[::1]"), ("::1", "::1"), ("", "")],
)
def test_a_host_has_no_port(host: str, name: str) -> None:
    assert _host(host) == name


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('port = 1\nslots = 2\nqueue = 3\n[sources]\nvisits = "postgresql://u:secret@h/d?table=t"\n')
    read = read_settings(file, {"PRIVET_SERVER_PORT": "4", "PRIVET_SERVER_SLOTS": "5"}, {"port": 6, "host": None})
    assert (read.port, read.slots, read.queue, read.host) == (6, 5, 3, "127.0.0.1")
    assert "secret" not in read.to_text()
    for wrong in ({"PRIVET_SERVER_PORT": "x"}, {"PRIVET_SERVER_SLOTS": "0"}, {"PRIVET_SERVER_BEHIND_PROXY": "maybe"}):
        with pytest.raises(ParameterError):
            read_settings(file, wrong, {})
    file.write_text("colour = 1\n")
    with pytest.raises(ParameterError, match="is no setting"):
        read_settings(file, {}, {})


def started_by(file: str) -> list[str]:
    """The arguments of ``privet`` in a file that starts a server."""
    text = (ROOT / "examples" / "deploy" / file).read_text()
    if file == "Containerfile":
        words: list[str] = json.loads(re.findall(r"^ENTRYPOINT (.+)$", text, re.MULTILINE)[0])
        return words[1:]
    return shlex.split(re.findall(r"^ExecStart=\S+/privet (.+)$", text, re.MULTILINE)[0])


@pytest.mark.parametrize("file", ["privet.service", "Containerfile"])
def test_what_is_deployed_has_valid_flags(file: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "privet", *started_by(file), "--folder", str(tmp_path / "folder"), "--check"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, "behind_proxy = true" in done.stdout) == (0, True), done.stderr
    assert "there are no books yet" in done.stdout
