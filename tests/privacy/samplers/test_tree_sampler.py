"""The whole-tree mechanism against explicit lists of trees, against exact arithmetic, and as it is really drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, norm

from privet import Categorical, Ledger, Numeric, ParameterError, Schema
from privet.engines.joint_counts import JointCounts
from privet.engines.memory import MemoryEngine
from privet.privacy.dataset import PrivateDataset
from privet.privacy.samplers import tree_sampler
from privet.privacy.samplers.tree_sampler import _Sampler
from privet.privacy.samplers.tree_space import Drawn, TreeSpace
from privet.schema.encoding import Codes
from privet.structure import compiled
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, OneCategory, Tests
from privet.testing import ReplayNoise, use_noise
from privet.testing.noise import ScriptEnded

Node = Any
"""A tree by hand: a label, or (test, first child, second child)."""


@dataclass(frozen=True, eq=False)
class Case:
    """A public space, a table and an epsilon."""

    schema: Schema
    features: np.ndarray  # (attribute, record)
    labels: np.ndarray
    leaf_prior: tuple[float, ...]
    epsilon: float
    favours: tuple[float, ...] | None = None  # weights of the tests
    class_weights: tuple[int, ...] | None = None  # in quarters

    @property
    def tests(self) -> Tests:
        return Tests.binary(self.schema)

    @property
    def space(self) -> TreeSpace:
        return TreeSpace(
            tests=self.tests,
            n_classes=self.schema.n_classes,
            leaf_prior=self.leaf_prior,
            test_prior=np.ones(len(self.tests)) if self.favours is None else np.array(self.favours),
            class_weights=self.class_weights or (1,) * self.schema.n_classes,
            weight_unit=4 if self.class_weights else 1,
        )

    @property
    def joint(self) -> JointCounts:
        cells = np.zeros(self.labels.size, dtype=np.int32)
        return JointCounts(self.features, self.labels, cells, self.tests, self.schema.n_classes)

    @property
    def sampler(self) -> _Sampler:
        return _Sampler(self.joint, self.space, self.unit_epsilon)

    @property
    def unit_epsilon(self) -> float:
        """What a unit of class weight counts."""
        return self.epsilon / self.space.weight_unit

    def data(self, ledger: Ledger) -> PrivateDataset:
        return PrivateDataset(MemoryEngine(self.schema, Codes(self.features, self.labels)), ledger)


def records(schema: Schema, n: int, seed: int, *, one_class: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Records whose class depends on the first attributes, with some noise."""
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, n) for arity in schema.arities], dtype=np.uint8)
    labels = (features[: 1 + seed % 2].sum(axis=0) + (rng.random(n) < 0.3)) % schema.n_classes
    return features, np.zeros_like(labels) if one_class else labels.astype(np.uint8)


def binary(attributes: int, classes: int = 2) -> Schema:
    names = tuple(range(classes))
    return Schema(tuple(Categorical(f"b{a}", (0, 1)) for a in range(attributes)), Categorical("class", names))


THREE_WAY = Schema((Categorical("t", ("a", "b", "c")), Categorical("b", (0, 1))), Categorical("class", (0, 1, 2)))
WITH_MISSING = Schema(
    (Numeric("x", 0, 3, bins=2, missing="?"), Categorical("b", (0, 1))), Categorical("class", ("no", "yes"))
)


def case(schema: Schema, n: int, leaf_prior: tuple[float, ...], epsilon: float, seed: int = 1, **more: Any) -> Case:
    features, labels = records(schema, n, seed, one_class=more.pop("one_class", False))
    return Case(schema, features, labels, leaf_prior, epsilon, **more)


CASES = {
    "depth 0": case(binary(3), 20, (), 0.5),
    "depth 0, four classes": case(binary(2, 4), 20, (), 0.5),
    "depth 1": case(binary(4), 30, (0.5,), 0.3),
    "depth 1, root always splits": case(binary(4), 30, (0.0,), 0.3),
    "depth 2": case(binary(4), 40, (0.0, 0.5), 0.3),
    "depth 2, other prior at each depth": case(binary(4), 40, (0.2, 0.9), 0.3, seed=2),
    "depth 2, never an early leaf": case(binary(4), 40, (0.0, 0.0), 0.3, seed=2),
    "depth 2, three classes": case(THREE_WAY, 40, (0.1, 0.5), 0.4),
    "depth 2, four classes": case(binary(3, 4), 50, (0.0, 0.4), 0.4),
    "depth 3": case(binary(3), 60, (0.0, 0.5, 0.3), 0.2),
    "depth 3, other prior at each depth": case(binary(3), 60, (0.1, 0.7, 0.25), 0.2, seed=4, favours=(1, 2, 3)),
    "missing values": case(WITH_MISSING, 40, (0.0, 0.5), 0.4),
    "missing values, depth 3": case(WITH_MISSING, 40, (0.3, 0.5, 0.5), 0.4),
    "forbidden test": case(binary(4), 40, (0.0, 0.5), 0.3, favours=(1, 0, 1, 1)),
    "only as many tests as levels": case(binary(4), 40, (0.0, 0.5, 0.5), 0.3, favours=(0, 1, 1, 5)),
    "favoured tests": case(binary(4), 40, (0.0, 0.5), 0.3, favours=(1, 10, 0.5, 1e-3)),
    "hardly anything else": case(binary(3), 40, (0.0, 0.5, 0.5), 0.3, favours=(1, 2e-9, 3e-9)),
    "class weights": case(binary(4), 40, (0.0, 0.5), 0.9, class_weights=(4, 1)),
    "class weights, one 0": case(binary(3, 3), 40, (0.0, 0.5, 0.0), 0.9, class_weights=(4, 0, 3)),
    "empty": case(binary(3), 0, (0.1, 0.5), 1.0),
    "empty, depth 3": case(binary(3), 0, (0.1, 0.5, 0.5), 1.0),
    "one record": case(binary(3), 1, (0.1, 0.5), 1.0),
    "one class": case(binary(3), 50, (0.0, 0.5, 0.5), 0.5, one_class=True),
    "tiny epsilon": case(binary(4), 50, (0.0, 0.5), 1e-6),
    "large epsilon": case(binary(4), 50, (0.0, 0.5), 60.0),  # weights beyond a double's range
    "huge epsilon": case(binary(3), 50, (0.0, 0.5, 0.5), 2000.0),
    "huge epsilon, class weights": case(binary(3), 50, (0.3, 0.5), 4000.0, class_weights=(3, 4)),
}
# Too many trees to list; for what can be said of every region.
DEEPER = case(binary(5), 60, (0.1, 0.5, 0.3, 0.7), 0.2, favours=(1, 2, 3, 4, 0.5))


# ---- all trees, one by one ----------------------------------------------------------------------------------------


def all_trees(case: Case) -> list[tuple[Node, np.longdouble, int]]:
    """(tree, log prior, weighted hits) of the whole space, from the definition and the records themselves."""
    tests, weights = list(case.tests), case.class_weights or (1,) * case.schema.n_classes
    children = np.array([test.branch(case.features[test.attribute]) for test in tests])
    favours = np.array([1.0] * len(tests) if case.favours is None else case.favours, dtype=np.longdouble)
    n_classes, one = case.schema.n_classes, np.longdouble(1)

    def below(here: np.ndarray, path: tuple[int, ...]) -> list[tuple[Node, np.longdouble, int]]:
        stop = one if len(path) == len(case.leaf_prior) else np.longdouble(case.leaf_prior[len(path)])
        found: list[tuple[Node, np.longdouble, int]] = []
        if stop > 0:
            for label in range(n_classes):
                hits = int((case.labels[here] == label).sum()) * weights[label]
                found.append((label, np.log(stop / n_classes), hits))
        free = [t for t in range(len(tests)) if t not in path and favours[t] > 0]
        for t in free if stop < 1 else []:
            prior = np.log((one - stop) * favours[t] / favours[free].sum())
            left, right = (below(here & (children[t] == child), (*path, t)) for child in (0, 1))
            found += [((t, a, b), prior + x + y, i + j) for a, x, i in left for b, y, j in right]
        return found

    return below(np.ones(case.labels.size, dtype=bool), ())


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
    """Every tree that the frontier can release, with its log probability, by scripting all draws."""
    found: dict[Node, float] = {}
    scripts: list[list[int]] = [[]]
    asked = set()
    while scripts:
        noise = ReplayNoise(scripts.pop())
        data = case.data(Ledger(charged, neighbours=neighbours))
        try:
            with use_noise(noise):
                [drawn] = data.frontier().sample_trees_all([case.space], charged)
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
        [(tests, labels)] = case.data(Ledger(1)).frontier().sample_trees_all([case.space], 1)
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


# ---- weights depend on a region's counts and nothing else ---------------------------------------------------------


def all_paths(case: Case) -> list[dict[int, int]]:
    """Paths to nodes of the space, as the child taken at each test."""
    found: list[dict[int, int]] = [{}]
    level: list[dict[int, int]] = [{}]
    for _ in case.leaf_prior:
        level = [
            {**path, t: child}
            for path in level
            for t in range(max(path, default=-1) + 1, len(case.tests))
            for child in (0, 1)
        ]
        found += level
    return found


def weights_by_path(case: Case) -> dict[tuple[tuple[int, int], ...], bytes]:
    sampler, met = case.sampler, case.joint.met
    return {
        tuple(sorted(path.items())): sampler._log_weights({t: c == met[t] for t, c in path.items()}).tobytes()
        for path in all_paths(case)
    }


@st.composite
def spaces(draw: st.DrawFn) -> Case:
    """Small spaces with awkward priors, and small tables."""
    schema = draw(st.sampled_from([binary(4), binary(5), binary(3, 3), THREE_WAY, WITH_MISSING]))
    n_tests = len(Tests.binary(schema))
    depth = draw(st.integers(0, 3))
    n = draw(st.integers(0, 30))
    prior = st.sampled_from([0.0, 1.0, 1.0, 1 / 3, 0.7, 1e-5])
    favours = draw(st.lists(prior, min_size=n_tests, max_size=n_tests).filter(lambda f: sum(w > 0 for w in f) >= depth))
    column = st.lists(st.integers(0, 99), min_size=n, max_size=n)
    features = np.array([draw(column) for _ in schema.arities], dtype=np.int64).reshape(len(schema.arities), n)
    features %= np.array(schema.arities)[:, None]
    return Case(
        schema,
        features.astype(np.uint8),
        (np.array(draw(column), dtype=np.int64) % schema.n_classes).astype(np.uint8),
        tuple(draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1 / 3]), min_size=depth, max_size=depth))),
        draw(st.sampled_from([0.01, 0.1, 1 / 3, 0.77, 3.0, 100.0])),
        tuple(favours) if any(favours) else None,
        draw(st.sampled_from([None, (4, 3, 1)[: schema.n_classes]])),
    )


@given(spaces(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_the_order_of_records_does_not_matter(case: Case, random: Any) -> None:
    order = list(range(case.labels.size))
    random.shuffle(order)
    shuffled = replace(case, features=case.features[:, order].copy(), labels=case.labels[order].copy())
    assert weights_by_path(shuffled) == weights_by_path(case)


@given(spaces(), st.data())
@settings(max_examples=60)
def test_records_outside_a_region_do_not_matter_bit_for_bit(case: Case, data: st.DataObject) -> None:
    """The proof needs it: a record changes the factors of the nodes on its own path and no others.

    Up to thirty equal records come in, so that the side of a test that is counted changes too.
    """
    n = data.draw(st.integers(1, 30))
    record = np.array([data.draw(st.integers(0, arity - 1)) for arity in case.schema.arities], dtype=np.uint8)
    label = data.draw(st.integers(0, case.schema.n_classes - 1))
    larger = replace(
        case,
        features=np.concatenate([case.features, np.repeat(record[:, None], n, axis=1)], axis=1),
        labels=np.concatenate([case.labels, np.full(n, label, dtype=np.uint8)]),
    )
    child = [int(test.branch(record[test.attribute : test.attribute + 1])[0]) for test in case.tests]
    before, after = weights_by_path(case), weights_by_path(larger)
    for path, weights in before.items():
        if any(child[t] != taken for t, taken in path):
            assert after[path] == weights, path


def test_untouched_regions_keep_their_weights_when_the_counted_side_flips() -> None:
    """Many regions at once, each a sum of two logs and a prior: associated otherwise, some would differ by an ulp."""
    schema = binary(6)
    features, labels = records(schema, 60, 3)
    features[0] = 0
    features[0, :30] = 1  # half meet the test: one record more and the other side is counted
    small = Case(schema, features, labels, (0.3, 0.3, 0.3), 0.37, favours=(1, 2, 3, 5, 7, 11))
    extra = np.zeros((6, 3), dtype=np.uint8)
    flips = 0
    for bit in (0, 1):
        extra[0] = bit
        larger = replace(
            small, features=np.concatenate([features, extra], axis=1), labels=np.concatenate([labels, labels[:3]])
        )
        flips += int(larger.joint.met[0] != small.joint.met[0])
        child = [int(test.branch(extra[test.attribute, :1])[0]) for test in small.tests]
        before, after = weights_by_path(small), weights_by_path(larger)
        untouched = [path for path in before if any(child[t] != taken for t, taken in path)]
        assert len(untouched) > 100
        assert all(before[path] == after[path] for path in untouched)
    assert flips == 1


def test_the_number_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    case = DEEPER
    with compiled.threads(1):
        alone = weights_by_path(case)
    monkeypatch.setattr(tree_sampler, "GRAIN", 1)  # or so small a case would keep to one
    with compiled.threads(4):
        assert weights_by_path(case) == alone


def test_blocks_of_prefixes_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    case = replace(DEEPER, leaf_prior=DEEPER.leaf_prior[:3])
    whole = weights_by_path(case)
    monkeypatch.setattr(tree_sampler, "BLOCK_BYTES", 1)
    assert weights_by_path(case) == whole


# ---- rounding -----------------------------------------------------------------------------------------------------


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
        stop = Decimal(1) if len(path) == depth else Decimal(case.leaf_prior[len(path)])
        found = [stop / n_classes * power(sum(counts) - n) for n in counts]
        if stop == 1:
            return found
        taken = {t for t, _ in path}
        left = sum(w for t, w in enumerate(prior) if t not in taken)
        for t, w in enumerate(prior):
            if t in taken or w == 0:
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


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_an_epsilon_that_rounding_would_eat_is_refused_before_it_is_charged(neighbours: str) -> None:
    case, ledger = CASES["depth 3"], Ledger(1, neighbours=neighbours)
    frontier = case.data(ledger).frontier()
    with pytest.raises(ParameterError, match="too small for exact weights"):
        frontier.sample_trees_all([case.space], 1e-13)
    assert ledger.spent == 0
    least = next(Fraction(1, 2**k) for k in range(100, 0, -1) if fits(case.space, Fraction(1, 2**k)))
    steps = 2 if neighbours == "replace-one" else 1
    with pytest.raises(ParameterError, match="too small"):
        frontier.sample_trees_all([case.space], least * steps / 2)
    assert ledger.spent == 0
    frontier.sample_trees_all([case.space], least * steps)
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
def test_spaces_that_cannot_be(change: dict[str, Any], says: str) -> None:
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
    frontier = PrivateDataset(MemoryEngine(schema, Codes(features, labels)), ledger).frontier()
    with pytest.raises(ParameterError, match="the schema of the records does not have"):
        frontier.sample_trees_all([CASES["depth 2"].space], 1)
    with pytest.raises(ParameterError, match="one entry for each cell"):
        frontier.sample_trees_all([], 1)
    assert ledger.spent == 0
