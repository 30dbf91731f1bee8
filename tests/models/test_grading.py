"""How sure labelled leaves are: as sure as their counts where these are clear, as the whole tree where they drown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.models.grading import grade, hit_rate
from privet.schema import Categorical, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, Tests


def leaves_of(classes: int, leaves: int) -> Routes:
    """A root with some leaves below it."""
    labels = Categorical("ill", tuple(range(classes)))
    schema = Schema((Categorical("town", tuple(range(leaves))),), labels)
    return Routes(schema, Tests.of(schema, [Multiway(0), *[None] * leaves]), [1, *[-1] * leaves], [0])


def test_clear_counts_decide_alone() -> None:
    counts = np.array([[np.nan] * 3, [8000.0, 1000.0, 1000.0], [500.0, 9000.0, 500.0]])
    proba = grade(leaves_of(3, 2), counts, np.array([0, 0, 1]), scale=0.01)
    np.testing.assert_allclose(proba[1:], [[0.8, 0.1, 0.1], [0.05, 0.9, 0.05]], atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_counts_below_the_noise_give_a_probability_between_chance_and_certainty(classes: int) -> None:
    labels = np.array([0, 0, 1])
    proba = grade(leaves_of(classes, 2), np.zeros((3, classes)), labels, scale=1e9)
    np.testing.assert_allclose(proba[[1, 2], labels[1:]], (1 + 1 / classes) / 2, atol=1e-6)


def test_a_leaf_below_the_noise_takes_the_mean_accuracy_of_all_leaves() -> None:
    """Fifty leaves of 95 % and one that has next to no records: what a leaf is worth is known from the others."""
    counts = np.vstack([np.full(2, np.nan), np.tile([9500.0, 500.0], (50, 1)), [3.0, 1.0]])
    counts[1:26] = counts[1:26, ::-1]
    labels = np.array([0, *[1] * 25, *[0] * 25, 1])
    proba = grade(leaves_of(2, 51), counts, labels, scale=10.0)
    assert 0.9 < proba[-1, 1] < 0.96
    assert proba[0, 1] == pytest.approx(0.5, abs=0.01)  # the root says what all records say


def test_one_class_is_certain() -> None:
    proba = grade(leaves_of(2, 2), np.array([[0.0], [5.0], [-3.0]]), np.zeros(3, dtype=np.intp), 1.0)
    assert proba.tolist() == [[1.0]] * 3


@given(st.data())
def test_the_label_is_the_likeliest_class_whatever_was_counted(data: st.DataObject) -> None:
    classes, leaves = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 4))
    rows = st.lists(st.floats(-1e6, 1e6), min_size=classes, max_size=classes)
    counts = np.array([[np.nan] * classes, *(data.draw(rows) for _ in range(leaves))])
    labels = np.array([0, *(data.draw(st.integers(0, classes - 1)) for _ in range(leaves))])
    scale = data.draw(st.floats(1e-3, 1e9))
    proba = grade(leaves_of(classes, leaves), counts, labels, scale)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
    assert (proba >= 0).all()
    assert proba[1:].argmax(axis=1).tolist() == labels[1:].tolist()
    assert 1 / classes <= hit_rate(counts[1:], labels[1:], scale) <= 1
