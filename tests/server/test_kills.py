"""kill -9 at random moments: no charge is lost or doubled, and no answer changes. PRIVET_SERVER_KILLS=1000 for long."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import threading
import time
import uuid
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from checks import settled
from house import Caller, House, Stage, rows

KILLS = int(os.environ.get("PRIVET_SERVER_KILLS", "8"))
ASK: dict[str, Any] = {"ask": "count", "epsilon": "1/100"}


@pytest.fixture
def house(tmp_path: Path) -> Any:
    made = House(tmp_path / "folder", "--slots", "2").warm()
    yield made
    made.stop()


def ask_on(house: House, table: str, key: str, seen: dict[str, list[Any]], stop: threading.Event) -> None:
    """Ask one question after another, each under its key until it is answered, whatever happens to the server."""
    while not stop.is_set():
        name = str(uuid.uuid4())
        while not stop.is_set():
            try:
                reply = Caller(house.port, key).ask(table, key=name, wait=5, **ASK)
            except (OSError, http.client.HTTPException):  # killed before, or in the middle of, an answer
                time.sleep(0.05)
                continue
            if reply.status == 200:
                seen[name] = [reply.json["id"], reply.json["state"], json.dumps(reply.json.get("answer"))]
                break
            if reply.status == 423:  # late answers on a busy machine: the owner measures deadlines anew
                house.owner("POST", f"/v1/datasets/{table}/rehearse", {})
                continue
            assert reply.status in (202, 503), reply.body


def test_kills_lose_no_charge_and_change_no_answer(house: House) -> None:
    stage = Stage(house)
    table = stage.table(rows(200))
    people = [stage.analyst(10**4, table) for _ in range(3)]
    people[0].ask(table, **ASK)  # rehearsed now
    stop, seen = threading.Event(), [dict[str, list[Any]]() for _ in people]
    threads = [
        threading.Thread(target=ask_on, args=(house, table, one.key, known, stop))
        for one, known in zip(people, seen, strict=True)
    ]
    for thread in threads:
        thread.start()
    dice, ups = random.Random(), list[float]()
    for i in range(KILLS):
        if i % 4 == 0:
            house.warm()  # or no work would be under way
        time.sleep(dice.uniform(0, 0.8))
        house.kill()
        ups.append(house.start())
    house.warm()
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join(60)
    print(f"{KILLS} kills; HTTP back after {sorted(ups)[KILLS // 2]:.2f} s (median), {max(ups):.2f} s at most")
    lost = 0
    for person, known in zip(people, seen, strict=True):
        again = Caller(house.port, person.key)
        for key, answer in known.items():
            now = settled(again, table, key, ASK)
            assert [now["id"], now["state"], json.dumps(now.get("answer"))] == answer
            lost += now["state"] == "lost"
    assert lost <= max(1, KILLS // 10)
    charges = stage.charges()
    jobs = [one["job"] for one in charges]
    print(f"{sum(map(len, seen))} answers seen, {lost} of them lost; {len(jobs)} charges")
    assert len(jobs) == len(set(jobs)), "charged once"
    assert {answer[0] for known in seen for answer in known.values()} <= set(jobs), "nothing is free"
    for person in people:
        spent = Caller(house.port, person.key)("GET", "/v1/me").json["grants"][0]["spent"]
        assert Fraction(spent) == sum(Fraction(one["epsilon"]) for one in charges if one["person"] == person.name)


def test_a_graceful_stop_loses_nothing(house: House) -> None:
    stage = Stage(house)
    table = stage.table(rows(50))
    ann = stage.analyst(10, table)
    ann.ask(table, **ASK)
    jobs = [ann.ask(table, wait=0, **ASK).json["id"] for _ in range(3)]
    assert house.kill(signal.SIGTERM) == 0
    house.start()
    house.warm()
    again = Caller(house.port, ann.key)
    for job in jobs:
        reply = again("GET", f"/v1/answers/{job}", head={"Prefer": "wait=30"})
        assert reply.json["state"] == "done", reply.body


def test_an_old_backup_freezes_at_an_authentic_head_and_not_at_a_forged_one(house: House) -> None:
    stage = Stage(house)
    table = stage.table(rows(50))
    ann = stage.analyst(10, table)
    first = ann.ask(table, **ASK)
    copy = house.owner("POST", "/v1/backup", {})
    assert copy.body.startswith(b"SQLite format 3")
    lost = ann.ask(table, **ASK)
    house.kill()
    for left in house.folder.glob("books.sqlite*"):
        left.unlink()
    (house.folder / "books.sqlite").write_bytes(copy.body)
    house.start()
    house.warm()
    again = Caller(house.port, ann.key)
    head = lost.headers["privet-head"]
    population, hash_, mac = head.split(":")
    for forged in (
        f"{population}:{'0' * 64}:{mac}",
        f"{population}:{hash_}:{'0' * 64}",
        "x",
        first.headers["privet-head"],
    ):
        assert again.ask(table, head=forged, **ASK).status == 200
    assert again.ask(table, head=head, **ASK).kind == "frozen"
    assert again.ask(table, **ASK).kind == "frozen"
    body = {"statement": "Tuesday's copy", "lost": {ann.name: {"epsilon": "1/100"}}}
    stage.must(house.owner("POST", f"/v1/populations/{stage.tag}/settle", body))
    assert again.ask(table, head=head, **ASK).status == 200
