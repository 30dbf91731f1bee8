"""Load on a server: the time of a question that is accepted, one at a time and with many analysts, and its memory.

Run: python benchmarks/server.py [analysts]. It starts a server of its own, on loopback, and stops it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "server"))
from house import House, Stage, rows, together


def part(times: list[float], share: float) -> float:
    return 1000 * sorted(times)[int(share * (len(times) - 1))]


def memory_of(pid: int) -> float:
    """Megabytes of one process."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024


def main(analysts: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        house = House(Path(place) / "folder").warm()
        try:
            stage = Stage(house)
            table = stage.table(rows(500))
            ask = {"ask": "count", "epsilon": "1/1000"}
            first = stage.analyst(100, table)
            first.ask(table, **ask)  # rehearsed now

            def timed(caller, times):
                found = []
                for _ in range(times):
                    begun = time.perf_counter()
                    assert caller.ask(table, wait=0, **ask).status in (200, 202)
                    found.append(time.perf_counter() - begun)
                return found

            alone = timed(first, 40)
            people = [stage.analyst(10, table) for _ in range(analysts)]
            begun = time.perf_counter()
            crowd = [one for found in together(*[lambda p=p: timed(p, 15) for p in people]) for one in found]
            took = time.perf_counter() - begun
            print(f"accept, one at a time: p50 {part(alone, 0.5):.0f} ms, p95 {part(alone, 0.95):.0f} ms")
            print(f"accept, {analysts} analysts at once: p50 {part(crowd, 0.5):.0f} ms, p95 {part(crowd, 0.95):.0f} ms")
            print(f"{len(crowd) / took:.0f} questions accepted a second")
            print(f"web process: {memory_of(house.process.pid):.0f} MB")
            house.kill()
            print(f"HTTP answers {house.start():.2f} s after a restart")
        finally:
            house.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
