"""Two servers on one PostgreSQL: limits hold across both, and one does the work of another that was killed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent)]  # importlib mode leaves it off
from house import Caller, House, Stage, rows, together  # noqa: E402


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, request: Any) -> Iterator[tuple[House, House]]:
    pytest.importorskip("psycopg", reason="NOT TESTED: servers on PostgreSQL; pip install psycopg")
    address = request.getfixturevalue("postgres_server").fresh().address()
    folder = tmp_path_factory.mktemp("pair") / "folder"
    made = [House(folder, "--slots", "1", "--books", address) for _ in range(2)]
    for one in made:
        one.warm()
    yield made[0], made[1]
    for one in made:
        one.stop()


def test_two_servers_keep_one_limit_and_finish_each_others_work(pair: tuple[House, House]) -> None:
    first, second = pair
    stage = Stage(first)
    table = stage.table(rows(100))
    ann = stage.analyst("3/10", table)
    stage.analyst(1, table).ask(table, ask="count", epsilon="1/10")  # rehearsed now
    ask: dict[str, Any] = {"ask": "count", "epsilon": "1/10"}
    both = [Caller(house.port, ann.key) for house in pair]
    got = together(*[lambda i=i: both[i % 2].ask(table, wait=0, **ask).status for i in range(60)])
    assert (got.count(202), got.count(402)) == (3, 57)
    bob = stage.analyst(10, table)
    jobs = [bob.ask(table, wait=0, **ask).json["id"] for _ in range(4)]
    first.kill()
    there = Caller(second.port, bob.key)
    for job in jobs:
        for _ in range(4):
            reply = there("GET", f"/v1/answers/{job}", head={"Prefer": "wait=30"})
            if reply.status == 200:
                break
        assert reply.json["state"] == "done", reply.body
    charges = [one for one in stage_entries(second, stage.tag) if one["kind"] == "charge"]
    assert len(charges) == 1 + 3 + 4


def stage_entries(house: House, tag: str) -> Any:
    return house.owner("GET", f"/v1/populations/{tag}/entries").json
