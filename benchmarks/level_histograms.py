"""Level histograms: all (cell, attribute, bin, class) counts of a level, against numpy's bincount, in one run.

    python benchmarks/level_histograms.py [--records 1000000] [--repeats 40]

Exits with 1 when the kernel takes more than a fifth of numpy's time.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from privet.engines import kernels
from privet.structure.compiled import thread_count

ATTRIBUTES, BINS, CLASSES, CELLS = 14, 20, 2, 32
TARGET = 1 / 5


def by_attribute(features, labels, cells):
    """One bincount for each attribute."""
    base = (cells.astype(np.int64) * CLASSES + labels) * BINS
    return np.stack([np.bincount(base + column, minlength=CELLS * CLASSES * BINS) for column in features])


def in_a_buffer(features, labels, cells):
    """The same, without a new array of keys for each attribute."""
    base = (cells.astype(np.int64) * CLASSES + labels) * BINS
    keys = np.empty_like(base)
    counts = []
    for column in features:
        np.add(base, column, out=keys)
        counts.append(np.bincount(keys, minlength=CELLS * CLASSES * BINS))
    return np.stack(counts)


def in_blocks(features, labels, cells, block=1 << 16):
    """The same, in blocks of records whose keys stay in the cache."""
    counts = np.zeros((ATTRIBUTES, CELLS * CLASSES * BINS), dtype=np.int64)
    keys = np.empty(block, dtype=np.int64)
    for start in range(0, labels.size, block):
        here = slice(start, start + block)
        base = (cells[here].astype(np.int64) * CLASSES + labels[here]) * BINS
        for a in range(ATTRIBUTES):
            out = keys[: base.size]
            np.add(base, features[a, here], out=out)
            counts[a] += np.bincount(out, minlength=CELLS * CLASSES * BINS)
    return counts


def at_once(features, labels, cells):
    """One bincount for everything."""
    base = (cells.astype(np.int64) * CLASSES + labels) * BINS
    shift = np.arange(ATTRIBUTES)[:, None] * (CELLS * CLASSES * BINS)
    counts = np.bincount((base + shift + features).ravel(), minlength=ATTRIBUTES * CELLS * CLASSES * BINS)
    return counts.reshape(ATTRIBUTES, -1)


NUMPY = [by_attribute, in_a_buffer, in_blocks, at_once]


def least(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The least of many times of each, taken in turn: what the machine does beside this only ever adds."""
    times = dict.fromkeys(calls, math.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=40)
    asked = parser.parse_args()

    random = np.random.default_rng(0)
    features = random.integers(0, BINS, (ATTRIBUTES, asked.records), dtype=np.uint8)
    labels = random.integers(0, CLASSES, asked.records, dtype=np.uint8)
    cells = random.integers(0, CELLS, asked.records, dtype=np.int32)
    offsets = np.arange(ATTRIBUTES + 1) * BINS
    threads = thread_count()

    def kernel(threads: int) -> np.ndarray:
        return kernels.level_histogram(features, labels, cells, offsets, CELLS, CLASSES, threads)

    mine = kernel(threads)  # compiled, or read from the cache, before the clock runs
    expected = mine.reshape(CELLS, ATTRIBUTES, BINS, CLASSES).transpose(1, 0, 3, 2).reshape(ATTRIBUTES, -1)
    for form in NUMPY:
        assert np.array_equal(form(features, labels, cells), expected), form.__name__

    calls = {f"numpy bincount, {f.__name__}": partial(f, features, labels, cells) for f in NUMPY}
    calls |= {f"privet kernel, {n} of {threads} threads": partial(kernel, n) for n in {1, threads}}
    times = least(calls, asked.repeats)
    print(f"{asked.records:,} records x {ATTRIBUTES} attributes of {BINS} bins, {CLASSES} classes, {CELLS} cells")
    for name, seconds in times.items():
        print(f"  {name:<32}{1e3 * seconds:8.2f} ms")
    best = {who: min(t for name, t in times.items() if name.startswith(who)) for who in ("numpy", "privet")}
    ratio = best["privet"] / best["numpy"]
    print(f"  ratio {ratio:.3f}, 1/{1 / ratio:.1f}: privet's best by numpy's best; target at most 1/{1 / TARGET:.0f}")
    if ratio > TARGET and os.getloadavg()[0] > 1:
        print(f"  the machine is busy (load {os.getloadavg()[0]:.1f}), which costs threads most: measure again at rest")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
