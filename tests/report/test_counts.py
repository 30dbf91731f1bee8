"""Every released count has the interval that its noise gives it."""

from __future__ import annotations

import numpy as np
import pytest

from privet.privacy.certificate import Certificate
from privet.report.counts import node_counts, noise_scale
from privet.scoring.intervals import noise_reach
from privet.trees.codec import Model


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


def test_the_intervals_of_a_node(tree_model: Model) -> None:
    tree, scale = tree_model.trees, noise_scale(Certificate.from_dict(tree_model.certificate))
    assert scale == 4
    counts = node_counts(tree, 5, scale)  # the sum of three noisy counts
    assert counts is not None
    assert [(one.value, one.low, one.high) for one in counts.classes] == [
        (8, 0, 8 + noise_reach(4, 3)),
        (127, 127 - noise_reach(4, 3), 127 + noise_reach(4, 3)),
    ]
    assert counts.total.high - counts.total.value == noise_reach(4, 6)
    assert [node for node in range(3, 8) if node_counts(tree, node, scale).hidden] == [4]


def test_without_known_noise_there_is_no_interval(tree_model: Model) -> None:
    counts = node_counts(tree_model.trees, 5, None)
    assert counts is not None
    assert not counts.known
    assert not counts.hidden


def test_a_count_that_noise_pushed_below_zero_is_none_at_all(tree_model: Model) -> None:
    tree = type(tree_model.trees).build(tree_model.schema, [None], [-1], [0], counts=[[-40, -50]], draws=[1])
    counts = node_counts(tree, 0, 4.0)
    assert counts is not None
    assert counts.hidden
    assert (counts.classes[0].low, counts.classes[0].high) == (0, 0)
