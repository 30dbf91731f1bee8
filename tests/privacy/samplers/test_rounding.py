"""What floating point does to the weights of trees stays within its bound, against exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from tree_cases import CASES, DEEPER, Case, all_paths, binary, spaces

from privet import Schema
from privet.privacy.samplers.tree_space import TreeSpace
from privet.structure.splits import Tests


def exact_weights(case: Case, epsilon: float) -> dict[tuple[tuple[int, int], ...], list[Decimal]]:
    """Log probabilities of all choices at all nodes, to 40 digits, from the recursion as the proof page states it."""
    tests = list(case.tests)
    children = np.array([test.branch(case.features[test.attribute]) for test in tests])
    n_classes, depth = case.schema.n_classes, len(case.leaf_prior)
    quarters = case.class_weights or (1,) * n_classes
    prior = [Decimal(float(w)) for w in (case.favours or (1.0,) * len(tests))]
    each = Decimal(epsilon)

    @cache
    def power(misses: int) -> Decimal:
        return (-each * misses).exp()

    @cache
    def terms(path: tuple[tuple[int, int], ...]) -> list[Decimal]:
        here = np.ones(case.labels.size, dtype=bool)
        for t, child in path:
            here &= children[t] == child
        counts = [int((case.labels[here] == c).sum()) * quarters[c] for c in range(n_classes)]
        free = case.open_tests(dict(path)) if len(path) < depth else []
        stop = Decimal(case.leaf_prior[len(path)]) if free else Decimal(1)
        found = [stop / n_classes * power(sum(counts) - n) for n in counts]
        if stop == 1:
            return found
        left = sum(prior[t] for t in free)
        for t, w in enumerate(prior):
            if t not in free:
                found.append(Decimal(0))
                continue
            both = [sum(terms(tuple(sorted([*path, (t, child)])))) for child in (0, 1)]
            found.append((1 - stop) * w / left * both[0] * both[1])
        return found

    def logs(weights: list[Decimal]) -> list[Decimal]:
        total = sum(weights, Decimal(0))
        return [(w / total).ln() if w else Decimal("-Infinity") for w in weights]

    return {path: logs(terms(path)) for path in (tuple(sorted(p.items())) for p in all_paths(case))}


def worst_error(case: Case) -> float:
    """Of the log probability of a choice at a node: from the doubles, against 40 digits."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 40, -(10**9), 10**9
        sampler, met = case.sampler, case.joint.met
        worst = Decimal(0)
        forbidden = {t for t, w in enumerate(case.space.test_prior) if w == 0}
        for path, expected in exact_weights(case, case.unit_epsilon).items():
            if forbidden & {t for t, _ in path}:
                continue
            weights = sampler._log_weights({t: child == met[t] for t, child in path})
            got = [Decimal(float(w)) for w in weights]
            total = sum(((w - max(got)).exp() for w in got if w.is_finite()), Decimal(0)).ln() + max(got)
            assert [w.is_finite() for w in expected] == [w.is_finite() for w in got][: len(expected)]
            pairs = zip(expected, got, strict=False)  # at full depth the tests are still listed, with no weight
            worst = max([worst, *(abs(g - total - e) for e, g in pairs if e.is_finite())])
        return float(worst)


def promised(case: Case) -> float:
    """What the bound allows for one factor of a tree's probability: there are levels of them, on two tables."""
    levels = len(case.leaf_prior) + 1
    return float(case.space.rounding(Fraction(case.epsilon)) / (2 * levels))


def test_rounding_at_depth_four() -> None:
    assert worst_error(DEEPER) <= promised(DEEPER)


@given(spaces())
@settings(max_examples=40)
def test_rounding_stays_within_its_bound(case: Case) -> None:
    assert worst_error(case) <= promised(case)


def parity(n_bits: int, spare: int, copies: int = 1) -> tuple[Schema, np.ndarray, np.ndarray]:
    """All words of some bits, their parity, constant attributes beside: nothing short of a full tree beats a leaf."""
    words = (np.arange(1 << n_bits)[None] >> np.arange(n_bits)[:, None] & 1).astype(np.uint8)
    features = np.repeat(np.concatenate([words, np.zeros((spare, words.shape[1]), np.uint8)]), copies, axis=1)
    return binary(n_bits + spare), features, features.sum(axis=0).astype(np.uint8) % 2


@pytest.mark.parametrize("epsilon", [20.0, 46.5, 1000.0])
def test_rounding_where_the_best_tree_is_very_unlikely_beforehand(epsilon: float) -> None:
    """The prior of the best tree is far below the smallest double, and a leaf's weight beside it is too."""
    schema, features, labels = parity(6, 1)
    favours = (*(2e-9,) * 6, 1.0)
    case = Case(schema, features, labels, (0.5, *(0.999,) * 5), epsilon, favours=favours)
    assert worst_error(case) <= promised(case)


def test_no_tree_becomes_impossible_with_one_record_more() -> None:
    """Fifteen misses weigh exp(-705) and sixteen exp(-752), beside a best tree of prior exp(-870): all must count.

    The parity of five bits where the first is 1, nothing to learn where it is 0.
    """
    schema, features, labels = parity(6, 1)
    labels = labels * features[0]
    case = Case(schema, features, labels, (0.5, *(0.999,) * 5), 47.0, favours=(*(2e-9,) * 6, 1.0))
    without = replace(case, features=features[:, :-1], labels=labels[:-1])
    one, other = (c.sampler._log_weights({}).astype(np.longdouble) for c in (case, without))
    assert np.isfinite(one).all()
    assert np.isfinite(other).all()
    logs = [x - x.max() - np.log(np.exp(x - x.max()).sum()) for x in (one, other)]
    assert np.abs(logs[0] - logs[1]).max() <= 47.0 + 1e-9


def test_the_bound_is_from_public_numbers_and_grows_with_the_space() -> None:
    case = CASES["depth 2"]
    bounds = [replace(case, leaf_prior=(0.5,) * depth).space.rounding(Fraction(1)) for depth in range(5)]
    assert bounds == sorted(bounds)
    assert all(isinstance(bound, Fraction) and 0 < bound < Fraction(1, 10**4) for bound in bounds)


def adult_like(depth: int, n_tests: int = 208) -> TreeSpace:
    schema = binary(n_tests)
    return TreeSpace(Tests.binary(schema), 2, (0.5,) * depth, np.ones(n_tests), (1, 1))


def test_what_rounding_costs() -> None:
    assert adult_like(3).rounding(Fraction(1)) < Fraction(4, 10**5)
    assert adult_like(4).rounding(Fraction(1, 100)) < Fraction(4, 10**5)
