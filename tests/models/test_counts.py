"""Released counts as people see them: never negative, adding up, with the interval that their noise gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import trees

from privet.kinds import ChargeKind
from privet.models.counts import (
    LAPLACE,
    Count,
    Estimates,
    NodeCounts,
    ShownCounts,
    estimates,
    noise_scale,
    not_negative,
)
from privet.models.intervals import noise_reach
from privet.models.tree import Tree
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms import LAPLACE as KERNELS_NAME
from privet.schema import Categorical, Schema
from privet.structure.splits import Multiway


def node_counts(released: list[float], draws: float, scale: float | None) -> NodeCounts | None:
    """What is shown of a lone leaf."""
    found = Estimates(np.array([released]), np.array([draws]))
    return ShownCounts.of([0], lambda node: (), found, scale)[0]


def chance_beyond(reach: int, scale: float, draws: int) -> float:
    """The exact chance that the sum of so many draws is further from 0 than ``reach``, from its generating function."""
    q, size = np.exp(-1 / scale), 2**16
    angle = 2 * np.pi * np.arange(size) / size
    characteristic = ((1 - q) ** 2 / (1 - 2 * q * np.cos(angle) + q * q)) ** draws
    chances = np.fft.ifft(characteristic).real
    return 1 - float(chances[: reach + 1].sum() + chances[size - reach :].sum())


@pytest.mark.parametrize("scale", [0.5, 2.0, 15.0, 120.0])
@pytest.mark.parametrize("draws", [1, 2, 3, 10, 60])
def test_the_reach_of_the_noise_is_that_of_95_in_100(scale: float, draws: int) -> None:
    reach = noise_reach(scale, draws)
    assert chance_beyond(reach, scale, draws) <= 0.0502
    # Not wider than it must be, but for a twentieth and whole numbers.
    assert chance_beyond(round(0.95 * reach) - 2, scale, draws) > 0.05


def test_the_scale_is_that_of_the_class_counts() -> None:
    assert LAPLACE == KERNELS_NAME
    ledger = Ledger(1)
    ledger.charge(0.25, "choice of tests", mechanism="exponential", scale=8)
    assert noise_scale(ledger.certificate().to_dict()) is None
    ledger.charge(0.25, "leaf counts", kind=ChargeKind.CLASS_COUNTS, mechanism=LAPLACE, scale=4)
    ledger.charge(0.125, "number of records", mechanism=LAPLACE, scale=9)
    assert noise_scale(ledger.certificate().to_dict()) == 4


def test_the_intervals_of_a_node() -> None:
    counts = node_counts([8, 127], 3, 4.0)  # the sum of three noisy counts
    assert counts is not None
    reach = noise_reach(4, 3)
    assert [(one.value, one.low, one.high) for one in counts.classes] == [
        (8, 0, 8 + reach),
        (127, 127 - reach, 127 + reach),
    ]
    assert counts.total.high - counts.total.value == noise_reach(4, 6)
    assert not counts.total.hidden
    assert counts.classes[0].words() == "fewer than 30"
    assert counts.total.words() == "135"


def test_one_leaf_is_not_25_here_and_minus_38_there() -> None:
    """It was, of the counts 25 and -63: `show` clipped the classes, and pages added them up."""
    counts = node_counts([25, -63], 1, 20.0)
    assert counts is not None
    assert (counts.total.value, [one.value for one in counts.classes]) == (0, [0, 0])
    assert counts.total.words() == "fewer than 50"  # -38 + 86
    far = node_counts([-40, -50], 1, 4.0)
    assert far is not None
    assert far.total.words() == "about 0"


def test_without_known_noise_there_is_no_interval() -> None:
    for known in (node_counts([8, 127], 0, 4.0), node_counts([8, 127], 1, None)):
        assert known is not None
        assert not known.total.known
        assert (known.total.hidden, known.total.interval) == (False, "")
    assert node_counts([8, np.nan], 1, 4.0) is None


@pytest.mark.parametrize(
    ("high", "words"), [(0.4, "about 0"), (6, "fewer than 7"), (87, "fewer than 90"), (12_345, "fewer than 13,000")]
)
def test_bounds_are_rounded_up(high: float, words: str) -> None:
    assert Count(0, 0, high, True).words(",") == words


@given(st.lists(st.integers(-60, 90), min_size=1, max_size=6))
def test_the_nearest_numbers_that_are_not_negative(counts: list[int]) -> None:
    """By an independent way: halve in on what must be taken from all so that the sum stays."""
    given_counts = np.array(counts, float)
    found, total = not_negative(given_counts), max(float(given_counts.sum()), 0.0)
    low, high = -1e3, 1e3
    for _ in range(100):
        taken = (low + high) / 2
        low, high = (taken, high) if np.maximum(given_counts - taken, 0).sum() > total else (low, taken)
    assert np.allclose(found, np.maximum(given_counts - high, 0), atol=1e-6)
    if (given_counts >= 0).all():
        assert found.tolist() == counts  # what was released, unless noise has made it impossible


# ---- all nodes together ---------------------------------------------------------------------------------------------


def by_matrix(tree: Tree) -> Any:
    """The least squares by a matrix: unknown are the leaves' counts, and every node has a noisy sum of them."""
    leaves = np.flatnonzero(tree.is_leaf)
    below = np.zeros((len(tree), len(leaves)))
    below[leaves, np.arange(len(leaves))] = 1
    for node in reversed(range(len(tree))):
        for child in tree.children(node):
            below[node] += below[child]
    weight = 1 / np.sqrt(tree.draws)[:, None]
    found, *_ = np.linalg.lstsq(below * weight, tree.counts * weight, rcond=None)
    variance = np.linalg.inv((below * weight).T @ (below * weight))
    return below @ found, np.diag(below @ variance @ below.T)


@given(trees(counted=True), st.integers(0, 2**32 - 1))
def test_every_released_count_counts(tree: Tree, seed: int) -> None:
    tree = Tree.build(
        tree.schema,
        [tree.test(node) for node in range(len(tree))],
        tree.first_child,
        tree.label,
        counts=tree.counts,
        draws=np.random.default_rng(seed).integers(1, 4, len(tree)),
    )
    counts, draws = estimates(tree)
    expected, variance = by_matrix(tree)
    assert np.allclose(counts, expected, atol=1e-5)
    # Where the counts of a node are the sum of its children's by chance, they are not taken for new ones.
    assert (draws >= variance - 1e-6).all()


@given(trees())
def test_shown_numbers_add_up_and_are_never_negative(tree: Tree) -> None:
    order = [node for node, _ in tree.walk()]
    shown = ShownCounts.of(order, tree.children, estimates(tree), 3.0)
    for node in order:
        above, below = shown[node], [shown[child] for child in tree.children(node)]
        if above is None:
            continue
        assert all(0 <= count.low <= count.value <= count.high for count in (above.total, *above.classes))
        numbers = np.array([count.value for count in above.classes])
        assert above.total.value == pytest.approx(numbers.sum())
        known = np.array([[count.value for count in counts.classes] for counts in below if counts is not None])
        if below and None not in below:
            assert np.allclose(numbers, known.sum(axis=0))
        elif len(known):
            assert (numbers >= known.sum(axis=0) - 1e-9).all()


def test_leaves_that_alone_bought_counts_keep_them() -> None:
    schema = Schema((Categorical("sex", ("f", "m")),), Categorical("ill", ("no", "yes")))
    for above in ([np.nan, np.nan], [88.0, -1.0]):  # not bought, or the sum of what was
        counts = np.array([above, [60, 10], [28, -11]])
        draws = np.array([2, 1, 1]) * ~np.isnan(counts).any(axis=1)
        tree = Tree.build(schema, [Multiway(0), None, None], [1, -1, -1], [0, 0, 0], counts=counts, draws=draws)
        found = estimates(tree)
        assert found.counts.tolist() == [[88, -1], [60, 10], [28, -11]]
        assert found.draws.tolist() == [2, 1, 1]
        # What nobody can reach holds nobody: its noise does not count.
        assert estimates(tree, np.array([True, True, False])).counts[0].tolist() == [60, 10]
