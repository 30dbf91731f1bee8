"""Checks that a sound server passes and a planted fault fails."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
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
