"""Search for worse pairs: variations of a pair that change the rows which both tables share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from privet.audit.sampling.pairs import TablePair, rows_of, size_of, take


def worse(pair: TablePair, random: np.random.Generator) -> Iterator[TablePair]:
    """Variations of a pair: fewer other rows, more of them, in another order, with other labels.

    Only where the differing rows stand in one place; other pairs have no variations. Both tables change alike, so they
    differ in the same rows as before.
    """
    before, after = _shared(pair)
    common = before + after
    if common < 2:
        return
    everyone = list(range(common))
    half = sorted(random.choice(common, (common + 1) // 2, replace=False).tolist())
    orders = {
        "half of the others": (half, sum(i < before for i in half)),
        "the others twice": ([*everyone[:before] * 2, *everyone[before:] * 2], 2 * before),
        "the others reversed": (everyone[::-1], after),
        "the others shuffled": (random.permutation(common).tolist(), before),
        "the differing rows first": (everyone, 0),
        "the differing rows last": (everyone, common),
    }
    for name, (order, split) in orders.items():
        yield _arranged(f"{pair.name}; {name}", pair, before, after, order, split)
    yield from _relabelled(pair, before, after, random)


def _shared(pair: TablePair) -> tuple[int, int]:
    """How many rows before and after the differing ones both tables share; (0, 0) if they differ in several places."""
    ours, theirs = rows_of(pair.ours), rows_of(pair.theirs)
    shorter = min(len(ours), len(theirs))
    before = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
    most = shorter - before
    after = next((i for i in range(most) if ours[-1 - i] != theirs[-1 - i]), most)
    in_one_place = len(ours) + len(theirs) - 2 * (before + after) == sum(pair.differences)
    return (before, after) if in_one_place else (0, 0)


def _arranged(name: str, pair: TablePair, before: int, after: int, order: list[int], split: int) -> TablePair:
    """The shared rows in another order, the differing ones after the first ``split`` of them."""
    sides = []
    for X, y in (pair.ours, pair.theirs):
        size = size_of(X)
        shared = [*range(before), *range(size - after, size)]
        placed = [shared[i] for i in order]
        rows = [*placed[:split], *range(before, size - after), *placed[split:]]
        sides.append((take(X, rows), take(y, rows)))
    return TablePair(name, sides[0], sides[1], pair.unit)


def _relabelled(pair: TablePair, before: int, after: int, random: np.random.Generator) -> Iterator[TablePair]:
    """The labels of the shared rows dealt out anew, the same way in both tables."""
    deal = random.permutation(before + after)
    sides = []
    for X, y in (pair.ours, pair.theirs):
        size = len(y)
        shared = [*range(before), *range(size - after, size)]
        rows = list(range(size))
        for i, j in zip(shared, deal.tolist(), strict=True):
            rows[i] = shared[j]
        sides.append((X, take(y, rows)))
    yield TablePair(f"{pair.name}; the others' labels shuffled", sides[0], sides[1], pair.unit)
