"""Trees whose leaves carry values: known answers, enumeration, and the classifier as a special case."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from privet.engines.joint_counts import JointCounts
from privet.errors import ParameterError
from privet.growing.whole.number_trees import UNIT, gains
from privet.privacy.samplers.tree_sampler import _Sampler
from privet.privacy.samplers.tree_space import TreeSpace
from privet.schema import Categorical, Schema
from privet.structure.splits import Tests

HALVES = np.array([0.0, 0.5, 1.0])


def schema_of(attributes: int, bins: int = 3) -> Schema:
    return Schema(tuple(Categorical(f"x{i}", (0, 1)) for i in range(attributes)), Categorical("y", tuple(range(bins))))


def sampler_of(schema, features, labels, leaf_prior, epsilon, table, unit=UNIT) -> _Sampler:
    tests = Tests.binary(schema).take(np.arange(0, len(Tests.binary(schema))))
    keep = np.unique(tests.attribute, return_index=True)[1]  # one test for each binary attribute
    tests = tests.take(keep)
    space = TreeSpace(
        tests=tests,
        n_classes=schema.n_classes,
        leaf_prior=leaf_prior,
        test_prior=np.ones(len(tests)),
        class_weights=(1,) * schema.n_classes,
        weight_unit=unit,
        gains=table,
    )
    cells = np.zeros(len(labels), dtype=np.int32)
    joint = JointCounts(np.array(features, dtype=np.uint8), np.array(labels), cells, tests, schema.n_classes)
    return _Sampler(joint, space, space.answers(schema), epsilon / unit)


def chances(logs) -> np.ndarray:
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


@pytest.mark.parametrize(("reach", "expected"), [(1.0, (0.6037, 0.3662, 0.0301)), (0.5, (0.8438, 0.1142, 0.0420))])
def test_known_answers_of_one_leaf(reach, expected):
    schema, labels = schema_of(1), np.array([0, 0, 0, 1], dtype=np.uint8)
    leaf = sampler_of(schema, np.zeros((1, 4)), labels, (), 1.0, gains(HALVES, HALVES, reach))
    assert chances(leaf._log_weights({})) == pytest.approx(expected, abs=5e-5)


def test_known_answer_of_a_stump():
    features, labels = np.array([[0, 0, 1, 1]]), np.array([0, 0, 2, 2], dtype=np.uint8)
    stump = sampler_of(schema_of(1), features, labels, (0.5,), 1.0, gains(HALVES, HALVES, 1.0))
    assert chances(stump._log_weights({}))[3:].sum() == pytest.approx(0.6130, abs=1e-4)


def brute_force(features, labels, table, leaf_prior, epsilon):
    """(weight of every tree, by its shape) of the recursion, from the records themselves."""
    table = np.array(table)

    def total(here, unasked, depth):
        leaf = np.exp(epsilon * table[labels[here]].sum(axis=0)).mean()
        if depth == len(leaf_prior) or not unasked:
            return leaf
        splits = [
            total(here & (features[t] == 1), unasked - {t}, depth + 1)
            * total(here & (features[t] == 0), unasked - {t}, depth + 1)
            for t in unasked
        ]
        return leaf_prior[depth] * leaf + (1 - leaf_prior[depth]) * np.mean(splits)

    everyone, tests = np.ones(len(labels), dtype=bool), frozenset(range(len(features)))
    leaves = leaf_prior[0] * np.exp(epsilon * table[labels].sum(axis=0)) / table.shape[1]
    splits = [
        (1 - leaf_prior[0]) / len(tests)
        * total(everyone & (features[t] == 1), tests - {t}, 1) * total(everyone & (features[t] == 0), tests - {t}, 1)
        for t in sorted(tests)
    ]  # fmt: skip
    found = np.array([*leaves, *splits])
    return found / found.sum()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_chances_at_the_root_against_brute_force(depth):
    random = np.random.default_rng(depth)
    features, labels = random.integers(0, 2, (3, 40)), random.integers(0, 4, 40).astype(np.uint8)
    table = tuple(map(tuple, random.integers(0, 9, (4, 5)).tolist()))
    prior = (0.3, 0.5, 0.4)[:depth]
    sampler = sampler_of(schema_of(3, 4), features, labels, prior, 0.7 * 8, table, unit=8)
    assert chances(sampler._log_weights({})) == pytest.approx(
        brute_force(features, labels, table, prior, 0.7), rel=1e-9
    )


def test_gains_of_0_and_1_are_the_classifier_bit_for_bit():
    random = np.random.default_rng(5)
    features, labels = random.integers(0, 2, (4, 300)), random.integers(0, 3, 300).astype(np.uint8)
    one = tuple(map(tuple, np.eye(3, dtype=int).tolist()))
    numbers = sampler_of(schema_of(4), features, labels, (0.0, 0.5, 0.5), 0.3, one, unit=1)
    classes = sampler_of(schema_of(4), features, labels, (0.0, 0.5, 0.5), 0.3, None, unit=1)
    for size in range(3):
        for tests in itertools.permutations(range(4), size):
            for signs in itertools.product((False, True), repeat=size):
                path = dict(zip(tests, signs, strict=True))
                assert np.array_equal(numbers._log_weights(path), classes._log_weights(path))


def test_a_record_moves_every_leaf_value_by_at_most_one_and_up():
    table = np.array(gains(np.linspace(0, 1, 16), np.linspace(0, 1, 33), 0.35))
    assert table.min() == 0
    assert table.max() == UNIT


@pytest.mark.parametrize(
    "wrong", [((1, 2), (3, 4)), ((0, 200), (0, 1), (1, 0)), ((0, -1), (0, 1), (1, 0))], ids=["few", "large", "negative"]
)
def test_gains_that_cannot_be_are_refused(wrong):
    space = sampler_of(schema_of(1), np.zeros((1, 1)), np.zeros(1, np.uint8), (), 1.0, None)._space
    with pytest.raises(ParameterError, match="gains"):
        replace(space, gains=wrong)
