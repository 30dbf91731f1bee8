"""Load on a server: what races accept, the time of a question, memory, a restart, and books with many charges.

Run: python benchmarks/server.py [--analysts 100] [--servers 1] [--postgresql] [--charges 100000]. It starts servers of
its own, on loopback, and a PostgreSQL if asked to, and stops them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / name) for name in ("server", "engines", "privacy/books")]
from house import Caller, House, Stage, rows, together  # noqa: E402

ASKS = 15  # of each analyst, at a tenth of the limit: ten of them fit
ASK = {"ask": "count", "epsilon": "1/10"}


def part(times: list[float], share: float) -> str:
    return f"{1000 * sorted(times)[int(share * (len(times) - 1))]:.0f} ms"


def memory_of(pid: int) -> float:
    """Megabytes of one process."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024


def cpu_of(pid: int) -> float:
    """CPU seconds of one process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def started(folder: Path, number: int, address: str | None) -> Iterator[list[House]]:
    flags = ("--books", address) if address else ()
    made = [House(folder, *flags) for _ in range(number)]
    try:
        for house in made:
            house.warm()
        yield made
    finally:
        for house in made:
            house.stop()


def race(houses: list[House], analysts: int) -> None:
    stage = Stage(houses[0])
    table = stage.table(rows(500))
    first = stage.analyst(100, table)
    first.ask(table, **ASK)  # rehearsed now

    def timed(ask: Any) -> tuple[int, float]:
        begun = time.perf_counter()
        return ask().status, time.perf_counter() - begun

    alone = [timed(lambda: first.ask(table, wait=0, **ASK))[1] for _ in range(40)]
    people = [stage.analyst(1, table) for _ in range(analysts)]

    def many(number: int) -> list[tuple[int, float]]:
        mine = [Caller(house.port, people[number].key) for house in houses]
        return [timed(lambda i=i: mine[i % len(mine)].ask(table, wait=0, **ASK)) for i in range(ASKS)]

    begun = time.perf_counter()
    found = together(*[lambda n=n: many(n) for n in range(analysts)])
    took = time.perf_counter() - begun
    accepted = [[status for status, _ in mine].count(202) for mine in found]
    others = {status for mine in found for status, _ in mine} - {202, 402}
    times = [seconds for mine in found for _, seconds in mine]
    crowd = stage.analyst("3/10", table)
    there = [Caller(house.port, crowd.key) for house in houses]
    rush = together(*[lambda i=i: there[i % len(there)].ask(table, wait=0, **ASK).status for i in range(60)])
    print(f"accept, one at a time: p50 {part(alone, 0.5)}, p95 {part(alone, 0.95)}")
    print(
        f"{analysts} analysts, {ASKS} questions of a tenth of the limit each: {sum(accepted)} accepted, of each ",
        end="",
    )
    print(f"{min(accepted)} to {max(accepted)}; other statuses: {others or 'none'}")
    print(f"accept, all at once: p50 {part(times, 0.5)}, p95 {part(times, 0.95)}; {len(times) / took:.0f} a second")
    print(f"60 at once with room for 3: {rush.count(202)} accepted, {rush.count(402)} refused")


def write_charges(folder: Path, number: int) -> None:
    """Books with so many questions that were charged and answered, by the transactions of a server."""
    from desk import furnish, question

    from privet.privacy.books import work
    from privet.privacy.books.storage import Books

    folder.mkdir(mode=0o700)

    def some(tx: Any) -> None:
        for _ in range(min(number, 1000)):
            job, _ = work.accept(tx, question(0.01), 1, 0.0, 10**6)
            work.begin(tx, job, 0.0)
            work.store(tx, job, 1, '{"value": 1}', 0)

    with Books(str(folder / "books.sqlite")) as books:
        furnish(books, cap=10**6, limit=10**6)
        for _ in range(0, number, 1000):
            books.do(some)


def restarts(house: House, what: str, times: int = 5) -> None:
    found, spent = [], []
    for _ in range(times):
        house.kill()
        found.append(house.start())
        spent.append(cpu_of(house.process.pid))
    print(f"HTTP answers {min(found):.2f} to {max(found):.2f} s after a restart, {what}; ", end="")
    print(f"the web process took {max(spent):.2f} CPU s until then")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=100)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--charges", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        if given.charges:
            write_charges(folder, given.charges)
            house = House(folder)
            try:
                restarts(house, f"with {given.charges} charges")
            finally:
                house.stop()
            return
        if given.postgresql:
            from servers import postgres_programs, running_postgres

            with (
                running_postgres(postgres_programs()) as database,
                started(folder, given.servers, database.address()) as houses,
            ):
                race(houses, given.analysts)
            return
        with started(folder, given.servers, None) as houses:
            race(houses, given.analysts)
            print(f"web process: {memory_of(houses[0].process.pid):.0f} MB")
            restarts(houses[0], "with these questions")


if __name__ == "__main__":
    main()
