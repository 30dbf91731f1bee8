"""Checks that a sound server passes and a planted fault fails."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from house import Caller, House, Stage, rows, together

FALSE_ALARM = 1e-6
MUTANTS = Path(__file__).parent / "mutants"


def mutant(name: str) -> tuple[str, ...]:
    """The program of a planted fault, in place of ``privet serve``."""
    return (str(MUTANTS / f"{name}.py"), "serve")


def accepted_of_sixty(house: House) -> int:
    """Sixty questions at once on one limit with room for three."""
    stage = Stage(house)
    table = stage.table(rows(100))
    stage.analyst(1, table).ask(table, ask="count", epsilon="1/10")  # rehearsed now
    ann = stage.analyst("3/10", table)
    got = together(*[lambda: ann.ask(table, wait=0, ask="count", epsilon="1/10").status for _ in range(60)])
    assert set(got) <= {202, 402, 429}, sorted(set(got))  # 429: a key with room for more than three has too many open
    return got.count(202)


def answers_that_change(house: House, times: int = 2) -> int:
    """Answers that differ after a kill at the moment they were seen."""
    stage = Stage(house)
    table = stage.table(rows(100))
    ann, changed = stage.analyst(100, table), 0
    ask: dict[str, Any] = {"ask": "class-counts", "epsilon": "1/100"}  # two equal draws: less than one in 100,000
    ann.ask(table, **ask)
    for i in range(times):
        seen = settled(Caller(house.port, ann.key), table, f"seen-{i:04}", ask)
        house.kill()
        house.start()
        again = settled(Caller(house.port, ann.key), table, f"seen-{i:04}", ask)
        changed += json.dumps(again.get("answer")) != json.dumps(seen["answer"])
    return changed


def settled(caller: Caller, table: str, key: str, ask: dict[str, Any]) -> dict[str, Any]:
    """The end of a question, however long it takes."""
    for _ in range(20):
        reply = caller.ask(table, key=key, **ask)
        if reply.status == 200:
            found: dict[str, Any] = reply.json
            return found
        time.sleep(0.2)
    raise AssertionError(f"no answer: {reply.status} {reply.body[:200]!r}")


def timings(ann: Caller, tables: Sequence[str], times: int, ask: dict[str, Any]) -> list[list[float]]:
    """Seconds from question to answer, the tables in turn."""
    found: list[list[float]] = [[] for _ in tables]
    for _ in range(times):
        for seconds, table in zip(found, tables, strict=True):
            begun = time.perf_counter()
            reply = ann.ask(table, **ask)
            seconds.append(time.perf_counter() - begun)
            assert reply.status == 200, reply.body
    return found


def told_apart(one: Sequence[float], other: Sequence[float]) -> bool:
    """Kolmogorov and Smirnov's test of two samples of equal size, exact: false alarms below 1e-6.

    If both have the same law, every order of the 2n times is equally likely, and a gap of k of n has probability at
    most 2 C(2n, n - k) / C(2n, n): the reflection principle, once for each sign.
    """
    n = len(one)
    assert len(other) == n
    gap = max(abs(sum(x <= p for x in one) - sum(x <= p for x in other)) for p in (*one, *other))
    return 2 * math.comb(2 * n, n - gap) < FALSE_ALARM * math.comb(2 * n, n)


def seen_early(house: House, times: int = 3) -> int:
    """Questions of which something shows before they are due: in the answer, in the list, or by the next one's start.

    A question that was cancelled keeps its slot until then, so the next one of a server with one slot does not begin.
    """
    stage = Stage(house)
    table = stage.table(rows(100))
    ann, early = stage.analyst(100, table), 0
    ask: dict[str, Any] = {"ask": "count", "epsilon": "1/100"}
    ann.ask(table, **ask)  # rehearsed now
    for _ in range(times):
        first, second = (ann.ask(table, wait=0, **ask).json["id"] for _ in range(2))
        view = begun(ann, first)
        due = view["due"]
        while time.time() < moment(due) - 0.1:
            listed = {one["id"]: one["state"] for one in ann("GET", "/v1/answers").json}
            view = ann("GET", f"/v1/answers/{first}").json
            states = {view["state"], listed[first]}
            if time.time() < moment(due) and (states != {"running"} or view["due"] != due):
                early += 1
                break
            time.sleep(0.3)
        third = ann.ask(table, wait=0, **ask).json["id"]
        running = begun(ann, second)
        begun_at = moment(running["due"]) - running["seconds"]
        early += begun_at < moment(due) - 0.01  # times are shown in milliseconds
        ann("DELETE", f"/v1/answers/{second}")
        following = begun(ann, third)
        early += moment(following["due"]) - following["seconds"] < moment(running["due"]) - 0.01
    return early


def begun(ann: Caller, job: str) -> dict[str, Any]:
    """A question as it looks when it has begun; its first due time, unless that was missed already."""
    while (view := ann("GET", f"/v1/answers/{job}", head={"Prefer": "wait=0"}).json)["state"] == "queued":
        time.sleep(0.1)
    found: dict[str, Any] = view
    return found


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def tells_neighbours(house: House, times: int) -> bool:
    """Whether the time of an answer tells a table from the same one without a record."""
    stage, records = Stage(house), rows(1000)
    tables = stage.table(records, suffix="whole"), stage.table(records[1:], suffix="without")
    ann = stage.analyst(10**4, *tables)
    ask: dict[str, Any] = {"ask": "average", "of": "age", "epsilon": "1/100"}
    for table in tables:
        ann.ask(table, **ask)
    return told_apart(*timings(ann, tables, times, ask))


def large_and_small(stage: Stage, large: int, small: int) -> tuple[str, str]:
    """Two tables of the same public facts, and of very different numbers of records."""
    return tuple(stage.parquet(records, large, f"n{records}") for records in (large, small))  # type: ignore[return-value]


def tells_sizes(house: House, times: int, large: int, *, looks: int = 1, small: int = 1_000) -> bool:
    """Whether the time of an answer tells a large table from a small one, in one of ``looks`` samples of times.

    Each look has its own false alarms, so a sound server is looked at once. A busy machine can hide a difference, so
    a planted fault is given more.
    """
    stage = Stage(house)
    tables = large_and_small(stage, large, small)
    ann = stage.analyst(10**4, *tables)
    ask: dict[str, Any] = {"ask": "average", "of": "age", "epsilon": "1/100"}
    for table in tables:
        ann.ask(table, **ask)  # rehearsed and mapped
    return any(told_apart(*timings(ann, tables, times, ask)) for _ in range(looks))
