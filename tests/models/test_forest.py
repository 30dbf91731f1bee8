"""Forests: one compiled pass is the same as asking tree by tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, leaves_by_hand, schemas, trees

from privet.errors import ParameterError
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.schema import Categorical, Schema
from privet.structure.descent import BLOCK

SCHEMA = Schema((Categorical("a", (0, 1)),), Categorical("class", ("x", "y", "z")))
ONE = np.array([[0]], dtype=np.uint8)


def leaf(*proba: float, label: int | None = None) -> Tree:
    opinion = np.array([proba])
    return Tree.build(SCHEMA, [None], [-1], [int(opinion.argmax()) if label is None else label], proba=opinion)


@st.composite
def forests(draw: Any) -> Forest:
    schema = draw(schemas())
    members = draw(st.lists(trees(schema), min_size=1, max_size=5))
    return Forest(schema, tuple(members), draw(st.sampled_from(["majority", "proba", "confidence"])))


@given(forests())
def test_the_compiled_pass_is_a_python_loop(forest: Forest) -> None:
    features = all_records(forest.schema)
    features = np.tile(features, 2 * BLOCK // features.shape[1] + 1)  # more than two blocks, the last not full
    classes = forest.schema.n_classes
    leaves = np.stack([leaves_by_hand(tree, all_records(forest.schema)) for tree in forest], axis=1)
    leaves = np.tile(leaves, (features.shape[1] // len(leaves), 1))
    assert np.array_equal(forest.apply(features), leaves)

    tally = np.zeros((len(leaves), classes))
    for t, tree in enumerate(forest):
        proba, label = tree.proba[leaves[:, t]], tree.label[leaves[:, t]]
        for c in range(classes):
            if forest.voting == "proba":
                tally[:, c] += proba[:, c]
            else:
                tally[:, c] += (label == c) * (proba[:, c] if forest.voting == "confidence" else 1)
    assert np.array_equal(forest.predict(features), tally.argmax(axis=1))
    shares = forest.predict_proba(features)
    assert np.allclose(shares, tally / tally.sum(axis=1, keepdims=True))
    assert np.allclose(shares.sum(axis=1), 1)


def test_the_three_ways_to_vote() -> None:
    members = (leaf(0.4, 0.35, 0.25), leaf(0.45, 0.4, 0.15), leaf(0.0, 0.9, 0.1))
    majority, proba, confidence = (Forest(SCHEMA, members, v) for v in ("majority", "proba", "confidence"))
    assert np.allclose(majority.predict_proba(ONE), [[2 / 3, 1 / 3, 0]])
    assert np.allclose(proba.predict_proba(ONE), [[0.85 / 3, 1.65 / 3, 0.5 / 3]])
    assert np.allclose(confidence.predict_proba(ONE), [[0.85 / 1.75, 0.9 / 1.75, 0]])
    assert [f.predict(ONE)[0] for f in (majority, proba, confidence)] == [0, 1, 1]


def test_ties_go_to_the_first_class() -> None:
    for order in ([1, 2], [2, 1]):
        forest = Forest(SCHEMA, tuple(leaf(*np.eye(3)[label]) for label in order))
        assert forest.predict(ONE)[0] == 1


def test_no_confidence_at_all_is_shared_equally() -> None:
    forest = Forest(SCHEMA, (leaf(0.0, 1.0, 0.0, label=0),), "confidence")
    assert np.allclose(forest.predict_proba(ONE), 1 / 3)


def test_invalid_forests() -> None:
    other = Schema((Categorical("b", (0, 1)),), SCHEMA.label)
    with pytest.raises(ParameterError, match="at least one tree"):
        Forest(SCHEMA, ())
    with pytest.raises(ParameterError, match="voting"):
        Forest(SCHEMA, (leaf(1, 0, 0),), "plurality")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="schema"):
        Forest(other, (leaf(1, 0, 0),))
    with pytest.raises(ParameterError, match="features"):
        Forest(SCHEMA, (leaf(1, 0, 0),)).predict(np.zeros((5, 1), dtype=np.uint8))
