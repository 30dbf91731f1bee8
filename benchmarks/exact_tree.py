"""The exact whole tree: whole fits on real tables, time against records, memory of a large space.

    python benchmarks/exact_tree.py [adult-3] [adult-4] [mushroom-4] [records] [memory]

Runs all parts, or those that are named. The first three need the tables of PRIVET_DATA and are skipped, loudly, without
them. Each tree is one draw, also where "auto" would take fewer levels. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time

import numpy as np

from privet import Categorical, ExactTreeClassifier, Numeric, ParameterError, Schema
from privet.datasets import real
from privet.datasets.clinic import clinic
from privet.growing import whole_tree as whole
from privet.structure.splits import Tests

FITS = {  # part: table, depth, seconds at most
    "adult-3": ("adult-complete", 3, 5.0),
    "adult-4": ("adult-complete", 4, 120.0),
    "mushroom-4": ("mushroom", 4, 20.0),
}
MOST_BYTES = 2 * 2**30
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
LINEAR = 1.5  # at most so many times the time that the straight line through the smallest sizes gives


def warm() -> None:
    """Compile, or read from the cache, before the clock runs."""
    schema, table = clinic(500)
    for depth in (1, 2, 3, 4):
        ExactTreeClassifier(schema, 1, depth).fit(table)


def fit(name: str, depth: int, most: float) -> bool:
    try:
        schema, table = real.load(name)
    except ParameterError as error:
        print(f"  SKIPPED: {error}")
        return True
    start = time.perf_counter()
    tree = ExactTreeClassifier(schema, 1, depth, grid="even").fit(table)
    seconds = time.perf_counter() - start
    tests = len(Tests.binary(tree.schema_))
    records = len(next(iter(table.values())))
    accuracy = 100 * tree.score(table, table[schema.label.name])
    print(f"  {records:,} records, {tests} tests, depth {depth}: {seconds:.1f} s (target {most:g} s),", end=" ")
    print(f"{accuracy:.1f} % of the training records")
    return seconds <= most


def synthetic(n: int) -> tuple[Schema, dict[str, np.ndarray]]:
    """5 numbers of 20 bins and 5 categories of 10: 145 tests."""
    random = np.random.default_rng(0)
    schema = Schema(
        (
            *(Numeric(f"x{i}", 0, 1) for i in range(5)),
            *(Categorical(f"c{i}", tuple(range(10))) for i in range(5)),
        ),
        Categorical("class", (0, 1)),
    )
    table: dict[str, np.ndarray] = {f"x{i}": random.random(n) for i in range(5)}
    table |= {f"c{i}": random.integers(0, 10, n) for i in range(5)}
    table["class"] = ((table["x0"] > 0.4) ^ (table["c0"] > 4) ^ (random.random(n) < 0.2)).astype(np.int64)
    return schema, table


def records() -> bool:
    """The same 145 tests, more and more records, depth 3: the weights cost the same, the counts grow in proportion."""
    times = []
    for n in SIZES:
        schema, table = synthetic(n)
        best = np.inf
        for _ in range(2):
            start = time.perf_counter()
            ExactTreeClassifier(schema, 0.1, 3, grid="even").fit(table)
            best = min(best, time.perf_counter() - start)
        times.append(best)
        print(f"  {n:>9,} records: {best:6.2f} s, {1e6 * best / n:8.2f} µs a record")
    # A fixed part and a part that grows: from the smallest size and one ten times as large.
    slope = (times[2] - times[0]) / (SIZES[2] - SIZES[0])
    line = times[0] + slope * (SIZES[-1] - SIZES[0])
    print(f"  {SIZES[-1]:,} records take {times[-1] / line:.2f} times what a straight line says (target {LINEAR})")
    return times[-1] <= LINEAR * line


def memory() -> bool:
    """In a process of its own, so that the peak is that of one fit."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--large-space"], capture_output=True, text=True, check=True)
    peak = int(done.stdout)
    print(
        f"  1,000 tests, depth 3, 10,000 records: peak {peak / 2**30:.2f} GB (target {MOST_BYTES / 2**30:.0f} GB),",
        end=" ",
    )
    print(f"{time.perf_counter() - start:.0f} s with the start of Python")
    return peak <= MOST_BYTES


def large_space() -> None:
    random = np.random.default_rng(0)
    schema = Schema(tuple(Categorical(f"c{i}", tuple(range(10))) for i in range(100)), Categorical("class", (0, 1)))
    assert len(Tests.binary(schema)) == 1000
    table = {f"c{i}": random.integers(0, 10, 10_000) for i in range(100)}
    table["class"] = ((table["c0"] > 4) ^ (random.random(10_000) < 0.2)).astype(np.int64)
    ExactTreeClassifier(schema, 1, 3).fit(table)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def main() -> int:
    whole.MAX_OPERATIONS = 10**11  # or deep trees would be drawn in blocks
    if "--large-space" in sys.argv:
        large_space()
        return 0
    parts = [*FITS, "records", "memory"]
    asked = sys.argv[1:] or parts
    if unknown := set(asked) - set(parts):
        print(f"no part is called {unknown.pop()!r}; the parts are {', '.join(parts)}")
        return 2
    warm()
    met = True
    for part in asked:
        print(f"{part} (load {os.getloadavg()[0]:.1f})")
        if part in FITS:
            met &= fit(*FITS[part])
        else:
            met &= records() if part == "records" else memory()
    if not met and os.getloadavg()[0] > 1:
        print(f"the machine is busy (load {os.getloadavg()[0]:.1f}): measure again at rest")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
