"""A child that dies or fails alone: its question is lost, shown at the last rung, counted, and not asked again."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from house import Caller, House, Stage, rows

SECONDS = 0.25  # a short deadline: nothing is answered here, and the last rung is at sixteen of them
LAST = 16 * SECONDS
pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="NOT TESTED: finds a child in /proc")


def children(pid: int) -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it ended
                continue
            found |= {int(entry.name)} if parent == pid else set()
    return found


def child_that_waits(house: House) -> int:
    """The one child of a nursery that is still there after a while."""
    assert house.process is not None
    for _ in range(600):
        seen = [{one for nursery in children(house.process.pid) for one in children(nursery)} for _ in _pauses(5)]
        if waiting := set.intersection(*seen):
            return waiting.pop()
    raise AssertionError("no child waits")


def _pauses(times: int) -> Any:
    for _ in range(times):
        yield time.sleep(0.05)


def shorten(house: House, ann: Caller, table: str, ask: dict[str, Any]) -> None:
    """A short deadline for the questions of a table whose facts no other test has."""
    with closing(sqlite3.connect(house.folder / "books.sqlite", timeout=30)) as books:
        before = {shape for (shape,) in books.execute("SELECT shape FROM rehearsals")}
        assert ann("POST", f"/v1/datasets/{table}/price", ask).status == 200
        after = {shape for (shape,) in books.execute("SELECT shape FROM rehearsals")}
        (made,) = after - before
        books.execute("UPDATE rehearsals SET seconds = ? WHERE shape = ?", (SECONDS, made))
        books.commit()


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_a_child_that_dies_alone_is_lost_and_counted(house: House) -> None:
    stage, ask = Stage(house), {"ask": "count", "epsilon": "1/10"}
    killed, broken = (stage.table(rows(20), most=37, suffix=name) for name in ("killed", "broken"))
    ann = stage.analyst(1, killed, broken)
    shorten(house, ann, killed, ask)
    folders = {name: next((house.folder / "tables").glob(f"{name}-*")) / "records" for name in (killed, broken)}
    labels = folders[killed] / "labels.npy"
    aside = labels.rename(labels.with_suffix(".aside"))
    os.mkfifo(labels)  # a child that maps it waits, and for ever
    (folders[broken] / "labels.npy").unlink()
    metrics = stage.owner("GET", "/metrics").body.decode()
    asked = time.time()
    jobs = {name: ann.ask(name, wait=0, **ask).json["id"] for name in (killed, broken)}
    child = child_that_waits(house)
    aside.rename(labels)  # a second run would find all that it needs
    os.kill(child, signal.SIGKILL)
    seen = list[tuple[str, str, float]]()
    while {one for one, state, _ in seen if state == "lost"} != set(jobs.values()):
        listed = {one["id"]: one["state"] for one in ann("GET", "/v1/answers").json}
        seen += [(job, listed[job], time.time()) for job in jobs.values()]
        seen += [(job, ann("GET", f"/v1/answers/{job}").json["state"], time.time()) for job in jobs.values()]
        time.sleep(0.3)
    views = [ann("GET", f"/v1/answers/{job}").json for job in jobs.values()]
    due = {one["id"]: at(one["due"]) for one in views}
    assert all(moment > asked + LAST for moment in due.values())
    early = {state for job, state, moment in seen if moment < due[job]}
    assert early <= {"queued", "running"}, "until the last rung it looks like one that runs"
    assert len({tuple(sorted((k, str(v)) for k, v in one.items() if k not in OWN)) for one in views}) == 1
    assert "answer" not in views[0]
    assert "stays charged" in views[0]["detail"]
    assert {one["job"] for one in stage.charges()} == set(jobs.values())
    for _ in range(100):
        noted = [one["kind"] for one in stage.entries()].count("lost")
        if noted == 2:
            break
        time.sleep(0.05)
    facts = stage.owner("GET", f"/v1/populations/{stage.tag}").json["datasets"]
    assert {one["id"]: one["missed"] for one in facts} == {killed: 1, broken: 1}
    assert lost_in(stage.owner("GET", "/metrics").body.decode()) == lost_in(metrics) + 2
    assert ann("DELETE", f"/v1/answers/{jobs[killed]}").json["state"] == "lost", "a cancel changes nothing now"


OWN = ("id", "dataset", "due")


def lost_in(metrics: str) -> int:
    return sum(int(line.split()[1]) for line in metrics.splitlines() if line.startswith("privet_lost_answers_total"))
