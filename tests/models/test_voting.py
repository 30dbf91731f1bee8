"""How trees are heard: every rule against a loop over records, trees and classes; and its way through a file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, leaves_by_hand, schemas, trees

from privet.errors import ModelFileError, ParameterError
from privet.models import codec
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.tree import Tree
from privet.models.voting import LEAST, Voting
from privet.schema import Categorical, Schema
from privet.structure.splits import Multiway

SCHEMA = Schema((Categorical("a", (0, 1)),), Categorical("class", ("x", "y", "z")))
ONE = np.array([[0]], dtype=np.uint8)
VOTINGS: tuple[Voting, ...] = get_args(Voting)


def leaf(*proba: float, label: int | None = None, counts: list[float] | None = None) -> Tree:
    opinion = np.array([proba])
    numbers = None if counts is None else np.array([counts], dtype=float)
    labels = [int(opinion.argmax()) if label is None else label]
    return Tree.build(SCHEMA, [None], [-1], labels, proba=opinion, counts=numbers)


@st.composite
def forests(draw: Any) -> Forest:
    schema = draw(schemas())
    members = draw(st.lists(trees(schema), min_size=1, max_size=5))
    weight = draw(st.floats(0.01, 1))
    return Forest(schema, tuple(members), draw(st.sampled_from(VOTINGS)), weight)


def heard(forest: Forest, leaves: list[int]) -> tuple[list[float], list[float]]:
    """(score of each class, what decides between equals), from the leaf that a record reaches in each tree."""
    classes = range(forest.schema.n_classes)
    scores, ties = [0.0] * len(classes), [0.0] * len(classes)
    for tree, leaf in zip(forest, leaves, strict=True):
        label = int(tree.label[leaf])
        for c in classes:
            sure = float(tree.proba[leaf, c])
            match forest.voting:
                case "majority":
                    scores[c] += label == c
                case "proba":
                    scores[c] += sure
                case "confidence":
                    scores[c] += sure if label == c else 0
                case "counts":
                    count = float(tree.counts[leaf, c])
                    scores[c] += 0 if math.isnan(count) else count
                case "surest":
                    scores[c] = max(scores[c], sure if label == c else 0)
                    ties[c] += sure
                case "evidence":
                    scores[c] += forest.weight * math.log(max(sure, LEAST) / max(float(tree.proba[0, c]), LEAST))
    if forest.voting == "evidence":
        for c in classes:
            prior = sum(float(tree.proba[0, c]) for tree in forest) / len(forest)
            scores[c] += math.log(max(prior, LEAST))
    return scores, ties


@given(forests())
def test_every_rule_is_a_python_loop(forest: Forest) -> None:
    features = all_records(forest.schema)
    leaves = np.stack([leaves_by_hand(tree, features) for tree in forest], axis=1)
    predicted, proba = forest.predict(features), forest.predict_proba(features)
    for i, reached in enumerate(leaves.tolist()):
        scores, ties = heard(forest, reached)
        best = max(scores)
        if forest.voting == "surest":
            among = [c for c, score in enumerate(scores) if score == best]
            assert predicted[i] == max(among, key=lambda c: (ties[c], -c))
        elif forest.voting == "evidence":  # logarithms may differ in their last digit
            assert scores[predicted[i]] > best - 1e-9
        else:
            assert predicted[i] == scores.index(best)
        weights = [math.exp(s - best) if forest.voting == "evidence" else max(s, 0) for s in scores]
        total = sum(weights)
        expected = [w / total for w in weights] if total > 0 else [1 / len(weights)] * len(weights)
        np.testing.assert_allclose(proba[i], expected, atol=1e-9)


def test_each_rule_by_hand() -> None:
    """Three trees of one leaf, of which every rule makes something else."""
    members = (
        leaf(0.4, 0.35, 0.25, counts=[4, 3, 2]),
        leaf(0.45, 0.4, 0.15, counts=[5, 4, 1]),
        leaf(0.0, 0.3, 0.7, counts=[0, 9, -8], label=2),
    )
    shares = {voting: Forest(SCHEMA, members, voting).predict_proba(ONE)[0] for voting in VOTINGS}
    np.testing.assert_allclose(shares["majority"], [2 / 3, 0, 1 / 3])
    np.testing.assert_allclose(shares["proba"], np.array([0.85, 1.05, 1.1]) / 3)
    np.testing.assert_allclose(shares["confidence"], np.array([0.85, 0, 0.7]) / 1.55)
    np.testing.assert_allclose(shares["counts"], np.array([9, 16, 0]) / 25)
    np.testing.assert_allclose(shares["surest"], np.array([0.45, 0, 0.7]) / 1.15)
    np.testing.assert_allclose(shares["evidence"], np.array([0.85, 1.05, 1.1]) / 3)  # a root has nothing to add
    labels = {voting: int(Forest(SCHEMA, members, voting).predict(ONE)[0]) for voting in VOTINGS}
    assert labels == {"majority": 0, "proba": 2, "confidence": 0, "counts": 1, "surest": 2, "evidence": 2}


def test_evidence_is_naive_bayes() -> None:
    """Two trees on independent attributes, each with exact shares: the posterior is Bayes's own."""
    schema = Schema((Categorical("a", (0, 1)), Categorical("b", (0, 1))), Categorical("class", ("x", "y")))
    prior = np.array([0.7, 0.3])
    given_a, given_b = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.6, 0.4], [0.1, 0.9]])

    def tree(attribute: int, chance: np.ndarray) -> Tree:
        joint = chance.T * prior  # (value, class)
        proba = np.vstack([prior, joint / joint.sum(axis=1, keepdims=True)])
        return Tree.build(schema, [Multiway(attribute), None, None], [1, -1, -1], proba.argmax(axis=1), proba=proba)

    forest = Forest(schema, (tree(0, given_a), tree(1, given_b)), "evidence")
    for a in (0, 1):
        for b in (0, 1):
            joint = prior * given_a[:, a] * given_b[:, b]
            found = forest.predict_proba(np.array([[a], [b]], dtype=np.uint8))[0]
            np.testing.assert_allclose(found, joint / joint.sum())


def test_evidence_that_counts_nothing_leaves_the_class_shares() -> None:
    proba = np.array([[0.5, 0.3, 0.2], [0.8, 0.1, 0.1], [0.0, 0.0, 1.0]])
    tree = Tree.build(SCHEMA, [Multiway(0), None, None], [1, -1, -1], [0, 0, 2], proba=proba)
    found = Forest(SCHEMA, (tree,), "evidence", 0)
    np.testing.assert_allclose(found.prior, proba[0])
    np.testing.assert_allclose(found.predict_proba(np.array([[0, 1]])), [proba[0], proba[0]])


def test_evidence_counts_by_weight() -> None:
    proba = np.array([[0.5, 0.5, 0], [0.8, 0.2, 0], [0.2, 0.8, 0]])
    tree = Tree.build(SCHEMA, [Multiway(0), None, None], [1, -1, -1], [0, 0, 1], proba=proba)
    for weight in (1.0, 0.5, 0.25):
        odds = 4**weight
        found = Forest(SCHEMA, (tree,), "evidence", weight).predict_proba(ONE)[0]
        np.testing.assert_allclose(found[:2], [odds / (odds + 1), 1 / (odds + 1)], atol=1e-8)
        assert found[2] < 1e-8  # ruled out, but by a number that others can outweigh
        assert found[2] > 0


def test_ties_between_sure_trees_are_broken_by_all_probabilities() -> None:
    """Two trees are 0.6 sure, of x and of y; all in all y has more."""
    members = (leaf(0.6, 0.3, 0.1), leaf(0.1, 0.6, 0.3), leaf(0.4, 0.3, 0.3))
    assert Forest(SCHEMA, members, "surest").predict(ONE)[0] == 1
    members = (leaf(0.6, 0.1, 0.3), leaf(0.3, 0.6, 0.1), leaf(0.2, 0.35, 0.45))
    assert Forest(SCHEMA, members, "surest").predict(ONE)[0] == 0
    # z has most of all, but nobody who is as sure of it.
    members = (leaf(0.5, 0.0, 0.5, label=0), leaf(0.0, 0.5, 0.5, label=1), leaf(0.3, 0.3, 0.4))
    assert Forest(SCHEMA, members, "surest").predict(ONE)[0] == 0
    # Equal in both: the first class.
    members = (leaf(0.2, 0.5, 0.3), leaf(0.2, 0.3, 0.5))
    assert Forest(SCHEMA, members, "surest").predict(ONE)[0] == 1


@pytest.mark.parametrize("weight", [-0.5, 1.5, math.nan, math.inf, "1", None, True])
def test_invalid_weights(weight: Any) -> None:
    with pytest.raises(ParameterError, match="weight must be from 0 to 1"):
        Forest(SCHEMA, (leaf(1, 0, 0),), "evidence", weight)


# -- in a file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("weight", [1, 1.0, 0.1, 5e-324])
def test_a_way_of_voting_survives_its_file(tmp_path: Path, voting: Voting, weight: float) -> None:
    forest = Forest(SCHEMA, (leaf(0.2, 0.5, 0.3, counts=[1, 2, -3]), leaf(0.6, 0.3, 0.1)), voting, weight)
    Model("snr-forest", forest, {}).save(tmp_path / "model.json")
    loaded = Model.read(tmp_path / "model.json").trees
    assert isinstance(loaded, Forest)
    assert (loaded.voting, loaded.weight) == (voting, weight)
    assert np.array_equal(loaded.predict_proba(ONE), forest.predict_proba(ONE))


def rewrite(path: Path, change: Any) -> None:
    document = json.loads(path.read_text())
    change(document["model"])
    document["sha256"] = codec._checksum(document["model"])
    path.write_text(json.dumps(document))


def test_a_file_from_before_weights(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    Model("diffpid3", Forest(SCHEMA, (leaf(0.2, 0.5, 0.3),) * 2, "proba", 0.5), {}).save(path)
    rewrite(path, lambda model: model.pop("weight"))
    loaded = Model.read(path).trees
    assert isinstance(loaded, Forest)
    assert loaded.weight == 1.0


@pytest.mark.parametrize("weight", [-1.0, 1.5, 2, 0, "0.5", [0.5], {}, True, False])
def test_a_tampered_weight(tmp_path: Path, weight: Any) -> None:
    path = tmp_path / "model.json"
    Model("random-forest", Forest(SCHEMA, (leaf(0.2, 0.5, 0.3),), "evidence", 0.5), {}).save(path)
    rewrite(path, lambda model: model.update(weight=weight))
    with pytest.raises(ModelFileError, match="weight"):
        Model.read(path)
    document = json.loads(path.read_text())
    document["model"]["weight"] = 0.75  # and without a new checksum nothing passes at all
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError):
        Model.read(path)
