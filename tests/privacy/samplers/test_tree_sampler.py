"""The whole-tree mechanism against explicit lists of trees, as it is really drawn, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm
from tree_cases import CASES, THREE_WAY, Case, Node, binary, records

from privet import Ledger, ParameterError, Schema
from privet.engines.memory import MemoryEngine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers.tree_space import Drawn, TreeSpace
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, OneCategory, Tests
from privet.tables.encoding import Codes
from privet.testing import ReplayNoise, use_noise
from privet.testing.noise import ScriptEnded

# ---- all trees, one by one ----------------------------------------------------------------------------------------


def all_trees(case: Case) -> list[tuple[Node, np.longdouble, int]]:
    """(tree, log prior, weighted hits) of the whole space, from the definition and the records themselves."""
    tests, weights = list(case.tests), case.class_weights or (1,) * case.schema.n_classes
    children = np.array([test.branch(case.features[test.attribute]) for test in tests])
    favours = np.array([1.0] * len(tests) if case.favours is None else case.favours, dtype=np.longdouble)
    n_classes, one = case.schema.n_classes, np.longdouble(1)

    def below(here: np.ndarray, path: dict[int, int]) -> list[tuple[Node, np.longdouble, int]]:
        free = case.open_tests(path) if len(path) < len(case.leaf_prior) else []
        stop = np.longdouble(case.leaf_prior[len(path)]) if free else one
        found: list[tuple[Node, np.longdouble, int]] = []
        if stop > 0:
            for label in range(n_classes):
                hits = int((case.labels[here] == label).sum()) * weights[label]
                found.append((label, np.log(stop / n_classes), hits))
        for t in free:
            prior = np.log((one - stop) * favours[t] / favours[free].sum())
            left, right = (below(here & (children[t] == child), {**path, t: child}) for child in (0, 1))
            found += [((t, a, b), prior + x + y, i + j) for a, x, i in left for b, y, j in right]
        return found

    return below(np.ones(case.labels.size, dtype=bool), {})


def log_chances(case: Case, trees: list[tuple[Node, np.longdouble, int]]) -> np.ndarray:
    logs = np.array([prior for _, prior, _ in trees], dtype=np.longdouble)
    hits = np.array([hits for *_, hits in trees], dtype=np.longdouble)
    logs = logs + np.longdouble(case.unit_epsilon) * (hits - hits.max())
    return logs - logs.max() - np.log(np.exp(logs - logs.max()).sum())


def through_the_sampler(case: Case, trees: list[tuple[Node, np.longdouble, int]]) -> np.ndarray:
    """Log probabilities of whole trees, from the weights that the draws are made with."""
    sampler, joint, n_classes = case.sampler, case.joint, case.schema.n_classes

    @cache
    def choices(path: frozenset[tuple[int, bool]]) -> np.ndarray:
        logs = sampler._log_weights(dict(path)).astype(np.longdouble)
        return logs - logs.max() - np.log(np.exp(logs - logs.max()).sum())

    @cache
    def chance(node: Node, path: frozenset[tuple[int, bool]]) -> Any:
        if not isinstance(node, tuple):
            return choices(path)[node]
        test, *both = node
        met = int(joint.met[test])
        down = (chance(kid, path | {(test, child == met)}) for child, kid in enumerate(both))
        return choices(path)[n_classes + test] + sum(down)

    return np.array([chance(tree, frozenset()) for tree, *_ in trees], dtype=np.longdouble)


@pytest.mark.parametrize("name", CASES)
def test_probabilities_against_enumeration(name: str) -> None:
    trees = all_trees(CASES[name])
    assert len(trees) <= 10**5
    assert len({tree for tree, *_ in trees}) == len(trees)
    expected, got = log_chances(CASES[name], trees), through_the_sampler(CASES[name], trees)
    assert abs(float(np.exp(got).sum()) - 1) < 1e-12
    assert float(np.abs(expected).max()) >= 0
    # Relative 1e-12 of each probability; of its logarithm where the probability is beyond a double.
    off = np.abs(got - expected) / np.maximum(1, -expected / 700)
    assert float(off.max()) < 1e-12


def test_the_number_of_trees() -> None:
    """Known answers of the card: 16 binary attributes, labels left out, 2 and 3 layers."""
    assert [labelled(16, depth) for depth in (1, 2)] == [16, 3600]
    assert len(all_trees(CASES["depth 3"])) == 3 * (2 + 2 * (2 + 1 * 4) ** 2) ** 2


def labelled(tests: int, depth: int) -> int:
    return 1 if depth == 0 else tests * labelled(tests - 1, depth - 1) ** 2


@pytest.mark.parametrize("off", [0.7, 1.3])
def test_enumeration_notices_a_wrong_epsilon_and_a_wrong_prior(off: float) -> None:
    true = CASES["depth 2"]
    trees = all_trees(true)
    expected = log_chances(true, trees)
    for wrong in (
        replace(true, epsilon=true.epsilon * off),
        replace(true, leaf_prior=(0.0, 0.5 * off)),
        replace(true, favours=(1, 1, 1, off)),
    ):
        assert float(np.abs(through_the_sampler(wrong, trees) - expected).max()) > 1e-3


# ---- through the front door ---------------------------------------------------------------------------------------


def as_node(drawn: Drawn, i: int = 0) -> Node:
    tests, labels = drawn
    if tests[i] < 0:
        return labels[i]
    first = 1 + 2 * sum(test >= 0 for test in tests[:i])
    return tests[i], as_node(drawn, first), as_node(drawn, first + 1)


def explored(case: Case, charged: Fraction, neighbours: str) -> dict[Node, float]:
    """Every tree that the level can release, with its log probability, by scripting all draws."""
    found: dict[Node, float] = {}
    scripts: list[list[int]] = [[]]
    asked = set()
    while scripts:
        noise = ReplayNoise(scripts.pop())
        data = case.data(Ledger(charged, neighbours=neighbours))
        try:
            with use_noise(noise):
                [drawn] = data.level().sample_trees_all([case.space], charged)
        except ScriptEnded as ended:
            asked.add((ended.draw.kind, ended.draw.scale))
            scripts += [[*noise.script, outcome] for outcome in range(ended.draw.values.size)]
            continue
        node = as_node(drawn)
        assert node not in found
        found[node] = noise.log_probability
    assert asked == {("exponential", 1.0)}
    return found


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", ["depth 1", "depth 1, root always splits", "class weights", "depth 0, four classes"])
def test_released_trees_have_the_chances_of_the_certificate(name: str, neighbours: str) -> None:
    """Epsilon as charged, less the bound on rounding (a few parts in 100,000), halved under replace-one."""
    case = replace(CASES[name], leaf_prior=CASES[name].leaf_prior[:1])
    charged = Fraction(str(case.epsilon)) * (2 if neighbours == "replace-one" else 1)
    got = explored(case, charged, neighbours)
    trees = all_trees(case)
    assert set(got) == {tree for tree, *_ in trees}
    less = Fraction(str(case.epsilon)) - case.space.rounding(Fraction(str(case.epsilon)))
    expected = log_chances(replace(case, epsilon=float(less)), trees)
    np.testing.assert_allclose([got[tree] for tree, *_ in trees], expected.astype(float), rtol=0, atol=1e-12)
    as_asked = log_chances(case, trees)
    assert np.abs(as_asked - expected).max() < 1e-3
    assert (less < Fraction(str(case.epsilon))) or case.leaf_prior == ()


def test_trees_are_drawn_level_by_level() -> None:
    """Which children belong to whom follows from their number: the columns hold one whole tree, at most 3 deep."""
    case = CASES["depth 3"]
    for _ in range(20):
        [(tests, labels)] = case.data(Ledger(1)).level().sample_trees_all([case.space], 1)
        routes = Routes.in_level_order(case.schema, [case.space.tests[t] if t >= 0 else None for t in tests])
        assert len(routes.tests) == len(labels)
        assert routes.level.max() <= 3
        assert (np.array(labels)[~routes.is_leaf] == 0).all()


# ---- what is really drawn -----------------------------------------------------------------------------------------

NOMINAL = 1e-9  # of the chi-squared test; its approximation is off by far less than the 1000 that 1e-6 leaves
PROMISED = 1e-6  # false alarms, and misses of an epsilon 30 % off
LEAST = 60  # expected draws in a pooled cell


def pooled(expected: np.ndarray) -> np.ndarray:
    """The pool of each tree: rare ones are put together, from the rarest up, until they expect enough draws."""
    pool, held, found = 0, 0.0, np.empty(expected.size, dtype=np.intp)
    for i in np.argsort(expected):
        found[i] = pool
        held += float(expected[i])
        if held >= LEAST:
            pool, held = pool + 1, 0.0
    found[found == pool] = max(pool - 1, 0)
    return found


def accepts(seen: np.ndarray, chances: np.ndarray) -> bool:
    pool = pooled(chances * seen.sum())
    counts, expected = np.bincount(pool, seen), np.bincount(pool, chances * seen.sum())
    return bool(((counts - expected) ** 2 / expected).sum() <= chi2.isf(NOMINAL, counts.size - 1))


def miss(true: np.ndarray, wrong: np.ndarray, n: int) -> float:
    """The chance (normal approximation) that ``accepts`` takes n draws from ``wrong`` for draws from ``true``."""
    pool = pooled(true * n)
    p, q = np.bincount(pool, true), np.bincount(pool, wrong)
    apart = (q - p) / p
    mean = n * (apart * (q - p)).sum() + (q * (1 - q) / p).sum()
    variance = 4 * n * ((q * apart**2).sum() - (q * apart).sum() ** 2) + 2 * ((q / p) ** 2).sum()
    return float(norm.cdf((chi2.isf(NOMINAL, p.size - 1) - mean) / math.sqrt(variance)))


def drawn(case: Case, n: int, numbers: dict[Node, int]) -> np.ndarray:
    """Draw for the same table n times with the real noise; the weights of a node are worked out once."""
    known: dict[frozenset[tuple[int, bool]], np.ndarray] = {}
    sampler = case.sampler
    plain = sampler._log_weights

    def remembered(path: dict[int, bool]) -> np.ndarray:
        key = frozenset(path.items())
        return known[key] if key in known else known.setdefault(key, plain(path))

    sampler._log_weights = remembered  # type: ignore[method-assign]
    return np.bincount([numbers[as_node(sampler.draw())] for _ in range(n)], minlength=len(numbers))


def real_chances(case: Case) -> tuple[np.ndarray, dict[Node, int]]:
    trees = all_trees(case)
    return np.exp(log_chances(case, trees)).astype(float), {tree: i for i, (tree, *_) in enumerate(trees)}


@pytest.mark.parametrize(
    ("name", "sharper", "n"), [("depth 2", 1, 2500), ("class weights", 8, 1500), ("depth 3", 8, 2000)]
)
def test_draws_have_the_chances_they_should(name: str, sharper: float, n: int) -> None:
    """As many trees as it takes, at the epsilon where fewest will do, with up to fifteen OpenDP draws each.

    False alarm 1e-6 by the level of the test; the chance to miss an epsilon 30 % off either way is computed.
    """
    true = replace(CASES[name], epsilon=sharper * CASES[name].epsilon)
    law, numbers = real_chances(true)
    for off in (0.7, 1.3):
        wrong, _ = real_chances(replace(true, epsilon=true.epsilon * off))
        assert miss(law, wrong, n) < PROMISED, "too few draws to tell"
    assert accepts(drawn(true, n, numbers), law)


@pytest.mark.parametrize("off", [0.7, 1.3])
def test_draws_with_an_epsilon_off_are_noticed(off: float) -> None:
    """By the same test; missed with a chance below 1e-6."""
    true = CASES["depth 2"]
    law, numbers = real_chances(true)
    wrong = replace(true, epsilon=off * true.epsilon)
    assert miss(law, real_chances(wrong)[0], 2500) < PROMISED
    assert not accepts(drawn(wrong, 2500, numbers), law)


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_an_epsilon_that_rounding_would_eat_is_refused_before_it_is_charged(neighbours: str) -> None:
    case, ledger = CASES["depth 3"], Ledger(1, neighbours=neighbours)
    level = case.data(ledger).level()
    with pytest.raises(ParameterError, match="too small for exact weights"):
        level.sample_trees_all([case.space], 1e-13)
    assert ledger.spent == 0
    least = next(Fraction(1, 2**k) for k in range(100, 0, -1) if fits(case.space, Fraction(1, 2**k)))
    steps = 2 if neighbours == "replace-one" else 1
    with pytest.raises(ParameterError, match="too small"):
        level.sample_trees_all([case.space], least * steps / 2)
    assert ledger.spent == 0
    level.sample_trees_all([case.space], least * steps)
    assert ledger.spent == least * steps


def fits(space: TreeSpace, epsilon: Fraction) -> bool:
    try:
        space.check(epsilon, binary(3))
    except ParameterError:
        return False
    return True


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"test_prior": np.array([1.0, -1, 1, 1])}, "test_prior"),
        ({"test_prior": np.array([1.0, np.nan, 1, 1])}, "test_prior"),
        ({"test_prior": np.array([1.0, np.inf, 1, 1])}, "test_prior"),
        ({"test_prior": np.ones(3)}, "test_prior"),
        ({"test_prior": np.zeros(4)}, "test_prior"),
        ({"test_prior": np.array([1.0, 1e-10, 1, 1])}, "negligible"),
        ({"test_prior": np.array([1.0, 0, 0, 0])}, "lower max_depth"),
        ({"leaf_prior": (0.0, 1.0)}, "leaf_prior"),
        ({"leaf_prior": (0.0, -0.1)}, "leaf_prior"),
        ({"leaf_prior": (0.0, math.nan)}, "leaf_prior"),
        ({"leaf_prior": (0.5,) * 5}, "lower max_depth"),
        ({"class_weights": (1, 2)}, "class_weights"),
        ({"class_weights": (1, -1)}, "class_weights"),
        ({"class_weights": (1,)}, "class_weights"),
        ({"weight_unit": 0, "class_weights": (0, 0)}, "weight_unit"),
    ],
)
def test_invalid_spaces(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        replace(CASES["depth 2"].space, **change)


def test_tests_must_be_binary_or_multiway_all_of_them() -> None:
    tests = Tests.of(THREE_WAY, [Multiway(0), OneCategory(1, 0)])
    with pytest.raises(ParameterError, match="all be multiway"):
        TreeSpace(tests, 3, (0.5,), np.ones(len(tests)), (1, 1, 1))


@pytest.mark.parametrize("schema", [binary(3), binary(4, 3)], ids=["an attribute less", "a class more"])
def test_a_space_of_another_schema_is_refused_before_it_is_charged(schema: Schema) -> None:
    features, labels = records(schema, 20, 1)
    ledger = Ledger(1)
    level = PrivateDataset(MemoryEngine(schema, Codes(features, labels)), ledger).level()
    with pytest.raises(ParameterError, match="the schema of the records does not have"):
        level.sample_trees_all([CASES["depth 2"].space], 1)
    with pytest.raises(ParameterError, match="one entry for each cell"):
        level.sample_trees_all([], 1)
    assert ledger.spent == 0
