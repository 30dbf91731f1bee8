"""Compiled counting over integer codes. All sums are of integers, so the order of threads cannot change them."""

from __future__ import annotations

import math

import numpy as np

from privet.errors import ParameterError
from privet.structure.compiled import kernel, spread
from privet.structure.descent import BLOCK, child, descend
from privet.structure.evidence import STEPS

OUTSIDE = -1
"""The cell of a record that has left the level."""

TUPLE_GRAIN = 2**24  # codes of tuples that a thread counts at a time: some 50 ms, so that Ctrl-C is noticed


def level_histogram(features, labels, cells, offsets, n_cells, n_classes, threads):
    """(cell, bin, class) counts of a level: one pass, with a private histogram per thread.

    features (attributes, records), labels and cells (records,); cells holds OUTSIDE for records that do not count.
    """
    partial = np.zeros((threads, n_cells + 1, n_classes, int(offsets[-1])), dtype=np.uint32)  # fewer than 2**32 records
    spread(_add_level, threads, features, labels, cells, offsets, n_cells, n_classes, partial)
    counts = np.zeros((n_cells, int(offsets[-1]), n_classes), dtype=np.int64)
    spread(_merge, n_cells, partial, counts, least=max(n_cells // threads, 1))
    return counts


def class_histogram(labels, cells, n_cells, n_classes, threads):
    """(cell, class) counts."""
    partial = np.zeros((threads, n_cells, n_classes), dtype=np.int64)
    spread(_add_classes, threads, labels, cells, partial)
    return partial.sum(axis=0)


def add_tuples(features, labels, cells, members, arities, ends, offsets, counts):
    """Add these records to (cell, bin, class) counts over tuples of attributes, chunk by chunk.

    See ``privet.privacy.counting.Tally``. Tuple t is ``members[ends[t - 1]:ends[t]]``, and its bins begin at
    ``offsets[t]``. Threads take different tuples.
    """
    if counts.size >= 2**32:  # indices have 32 bits, half of what a loop over records reads
        raise ParameterError("counts over several attributes have 2**32 entries or more; ask for fewer tuples at once")
    inside = cells >= 0
    if not inside.all():
        features, labels, cells = np.compress(inside, features, axis=1), labels[inside], cells[inside]
        features.setflags(write=False)  # unchanged flags: no second version of the kernel is compiled
        labels.setflags(write=False)
    few = 1 + TUPLE_GRAIN // (labels.size + 1)
    flat, width = counts.reshape(-1), counts.shape[1] * counts.shape[2]
    facts = members, arities, ends, offsets, width, counts.shape[2]
    spread(_add_tuples, ends.size, features, labels, cells, *facts, flat, least=few)


def value_sums(values, cells, n_cells, threads):
    """(cell,) sums of an integer column."""
    partial = np.zeros((threads, n_cells), dtype=np.int64)
    spread(_add_values, threads, values, cells, partial)
    return partial.sum(axis=0)


def loss_sums(features, labels, cells, evidence, n_cells, threads):
    """(cell, weight) sums of log-loss, in steps; see ``privet.privacy.counting.LossSums``."""
    partial = np.zeros((threads, n_cells, evidence.weights.size), dtype=np.int64)
    records = features, labels, cells, *evidence.routes.descent
    taken, counted = -math.expm1(-evidence.margin), evidence.counted * STEPS
    how = evidence.votes, evidence.start, evidence.weights, evidence.fixed, evidence.most, taken, counted
    spread(_add_losses, threads, *records, *how, partial)
    return partial.sum(axis=0)


def route(features, cells, attribute, kind, cut, first_child, least):
    """The cell of each record one level down; ``least`` is the minimum number of records per thread.

    attribute, kind, cut and first_child describe the test of each old cell; attribute -1 means that it has none.
    Kinds are those of ``privet.structure.splits.Kind``: 0 threshold, 1 one category, 2 multiway.
    """
    routed = np.empty(cells.shape[0], dtype=np.int32)
    spread(_route, len(cells), features, cells, attribute, kind, cut, first_child, routed, least=least)
    return routed


def send_down(features, cells, place, descent, least):
    """The leaf of each record in the tree of its cell; ``least`` is the minimum number of records per thread.

    place (nodes,) numbers the leaves among themselves. Records outside go down the first tree and stay outside.
    """
    arrived = np.empty(cells.shape[0], dtype=np.int32)
    blocks = -(-len(cells) // BLOCK)
    spread(_send_down, blocks, features, cells, place, *descent, arrived, least=-(-least // BLOCK))
    return arrived


@kernel
def _add_level(first, last, features, labels, cells, offsets, n_cells, n_classes, partial):
    """Three tricks make it fast. The inner loops have no branch and no signed index: records outside go to a cell of
    their own, which is dropped. Attributes come in pairs: one load of the key serves both. Counters have 32 bits.
    """
    n_attributes, n_records = features.shape
    n_bins, threads = offsets[n_attributes], partial.shape[0]
    one = np.uint32(1)
    block = 4096  # records; their cell-and-class keys stay in the first-level cache for all attributes
    n_blocks = (n_records + block - 1) // block
    keys = np.empty(block, dtype=np.int64)
    for thread in range(first, last):
        mine = partial[thread].reshape(-1)
        for b in range(thread, n_blocks, threads):
            start = b * block
            size = min(block, n_records - start)
            for i in range(size):
                cell = cells[start + i]
                keys[i] = ((n_cells if cell < 0 else cell) * n_classes + labels[start + i]) * n_bins
            for a in range(0, n_attributes - 1, 2):
                left, right = features[a, start : start + size], features[a + 1, start : start + size]
                of_left, of_right = mine[offsets[a] :], mine[offsets[a + 1] :]
                for i in range(size):
                    key = np.uintp(keys[i])
                    of_left[key + np.uintp(left[i])] += one
                    of_right[key + np.uintp(right[i])] += one
            if n_attributes % 2:
                last_one, of_last = features[n_attributes - 1, start : start + size], mine[offsets[n_attributes - 1] :]
                for i in range(size):
                    of_last[np.uintp(keys[i]) + np.uintp(last_one[i])] += one


@kernel
def _merge(start, stop, partial, counts):
    threads, _, n_classes, n_bins = partial.shape
    for cell in range(start, stop):
        for thread in range(threads):
            for label in range(n_classes):
                for b in range(n_bins):
                    counts[cell, b, label] += partial[thread, cell, label, b]


@kernel
def _add_classes(first, last, labels, cells, partial):
    n_records, threads = labels.shape[0], partial.shape[0]
    for thread in range(first, last):
        for i in range(thread * n_records // threads, (thread + 1) * n_records // threads):
            if cells[i] >= 0:
                partial[thread, cells[i], labels[i]] += 1


@kernel
def _add_values(first, last, values, cells, partial):
    n_records, threads = values.shape[0], partial.shape[0]
    for thread in range(first, last):
        for i in range(thread * n_records // threads, (thread + 1) * n_records // threads):
            if cells[i] >= 0:
                partial[thread, cells[i]] += values[i]


@kernel
def _add_losses(
    first,
    last,
    features,
    labels,
    cells,
    roots,
    depths,
    attribute,
    kind,
    cut,
    first_child,
    votes,
    prior,
    weights,
    fixed,
    most,
    taken,
    counted,
    partial,
):
    """Trees come in order, so a record's score does not depend on threads or on other records."""
    records, classes, threads = labels.shape[0], prior.shape[0], partial.shape[0]
    for thread in range(first, last):
        for start in range(thread * BLOCK, records, threads * BLOCK):
            node = np.empty(min(BLOCK, records - start), dtype=np.int32)
            evidence, sure = np.zeros((len(node), classes)), np.empty((len(node), classes))
            sure[:] = prior
            for t in range(len(roots)):
                node[:] = roots[t]
                descend(features, start, node, depths[t], attribute, kind, cut, first_child)
                counts = sure if t < fixed else evidence
                for j in range(len(node)):
                    for c in range(classes):
                        counts[j, c] += votes[node[j], c]
            for j in range(len(node)):
                cell, label = cells[start + j], labels[start + j]
                if cell < 0:
                    continue
                for w in range(weights.shape[0]):
                    # log sum exp over the classes, less the score of the label: never below 0
                    own = sure[j, label] + weights[w] * evidence[j, label]
                    odds, squares = 0.0, 0.0
                    for c in range(classes):
                        ratio = np.exp(min(sure[j, c] + weights[w] * evidence[j, c] - own, 700.0))
                        odds += ratio
                        squares += ratio * ratio
                    loss = np.log(odds)
                    if taken > 0.0:  # by the link, a class has its share q times 1 - taken q
                        loss += np.log1p(-taken * (squares / odds / odds)) - np.log1p(-taken / odds)
                        if loss < 0.0:  # rounding
                            loss = 0.0
                    loss *= counted[label]
                    # Count a loss as it is only if it is surely below the cut-off: NaN is not.
                    partial[thread, cell, w] += np.int64(loss + 0.5) if 0.0 <= loss < most else most


@kernel
def _route(start, stop, features, cells, attribute, kind, cut, first_child, routed):
    for i in range(start, stop):
        cell = cells[i]
        if cell < 0 or attribute[cell] < 0:
            routed[i] = OUTSIDE
            continue
        routed[i] = first_child[cell] + child(features[attribute[cell], i], kind[cell], cut[cell])


@kernel
def _send_down(first, last, features, cells, place, roots, depths, attribute, kind, cut, first_child, arrived):
    records = cells.shape[0]
    depth = depths.max()
    for block in range(first, last):
        start = block * BLOCK
        node = np.empty(min(BLOCK, records - start), dtype=np.int32)
        for j in range(len(node)):
            node[j] = roots[max(cells[start + j], 0)]
        descend(features, start, node, depth, attribute, kind, cut, first_child)
        for j in range(len(node)):
            arrived[start + j] = OUTSIDE if cells[start + j] < 0 else place[node[j]]


@kernel
def _add_tuples(first, last, features, labels, cells, members, arities, ends, offsets, width, n_classes, counts):
    """Tuples ``first`` to ``last``, block after block of records. The next tuple often differs only in its last
    attribute, so the combined code of the others is kept.
    """
    n_records = labels.size
    block = 2**16  # records; their keys stay in the second-level cache, beside the table of a tuple
    places = np.empty(block, dtype=np.uint32)
    keys = np.empty(block, dtype=np.uint32)
    for start in range(0, n_records, block):
        size = min(block, n_records - start)
        for i in range(size):
            places[i] = cells[start + i] * width + labels[start + i]
        for t in range(first, last):
            begin, end = ends[t - 1] if t else 0, ends[t]
            before = begin - (end - begin)  # where the tuple before begins, if it is as long
            known = t > first and before == (ends[t - 2] if t > 1 else 0)
            for m in range(begin, end - 1):
                known = known and members[m] == members[m - begin + before]
            if not known:
                for i in range(size):
                    keys[i] = 0
                for m in range(begin, end - 1):
                    column, arity = features[members[m], start : start + size], np.uint32(arities[m])
                    for i in range(size):
                        keys[i] = keys[i] * arity + np.uint32(column[i])
            mine = counts[offsets[t] * n_classes :]
            classes = np.uint32(n_classes)
            if begin == end:
                for i in range(size):
                    mine[np.uintp(places[i])] += 1
                continue
            column, arity = features[members[end - 1], start : start + size], np.uint32(arities[end - 1])
            for i in range(size):
                mine[np.uintp(places[i] + (keys[i] * arity + np.uint32(column[i])) * classes)] += 1
