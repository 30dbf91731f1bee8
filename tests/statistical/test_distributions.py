"""What is really drawn, by OpenDP, through the real code path, has the scale that the proofs speak of.

Every test here can fail: `judge` draws at the true scale and must accept, then at a scale 30 % too small and 30 % too
large, through the same path, and must reject, all with one threshold.

The test is Pearson's chi-squared on cells pooled to at least LEAST expected draws. It is run at a nominal level of
1e-9: the chi-squared tail is an approximation, and with 100 draws a cell it is off by far less than the factor 1000
that is left to the promised false alarm of 1e-6. The chance to miss a scale 30 % off is computed for each test from the
normal approximation of the statistic under the wrong scale, and must be below 1e-6 as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

from privet import Categorical, Ledger, Numeric, PrivateDataset, Schema, protect
from privet.engines.memory import MemoryEngine
from privet.privacy.counting import ROOT, class_counts
from privet.privacy.level import Level
from privet.privacy.mechanisms import Selection
from privet.privacy.noise import OpenDPNoise
from privet.privacy.scores import Gini, InfoGain, Max, Score
from privet.structure.splits import Multiway, Tests, Threshold
from privet.tables.encoding import encode
from privet.testing import SeededNoise, use_noise

NOMINAL = 1e-9  # the level of each chi-squared test
PROMISED = 1e-6  # false alarms and misses, each
LEAST = 100  # expected draws in a pooled cell
OFF = (0.7, 1.3)

Chances = np.ndarray
Counts = np.ndarray


# ---- the test -----------------------------------------------------------------------------------------------------


def pools(chances: Chances, n: int) -> np.ndarray:
    """The pool of each cell: neighbours are put together until they expect enough draws."""
    enough = LEAST / n
    pool, held, found = 0, 0.0, np.empty(chances.size, dtype=np.intp)
    for i, chance in enumerate(chances.tolist()):
        found[i] = pool
        held += chance
        if held >= enough:
            pool, held = pool + 1, 0.0
    found[found == pool] = max(pool - 1, 0)  # the last one, which did not get enough
    return found


def accepts(counts: Counts, chances: Chances) -> bool:
    n = int(counts.sum())
    pool = pools(chances, n)
    seen, expected = np.bincount(pool, counts), n * np.bincount(pool, chances)
    assert seen.size > 1, "nothing to compare: too few draws"
    return bool(((seen - expected) ** 2 / expected).sum() <= chi2.isf(NOMINAL, seen.size - 1))


def miss(true: Chances, wrong: Chances, n: int) -> float:
    """The chance that ``accepts`` takes n draws from ``wrong`` for draws from ``true``."""
    pool = pools(true, n)
    p, q = np.bincount(pool, true), np.bincount(pool, wrong)
    apart = (q - p) / p
    mean = n * (apart * (q - p)).sum() + (q * (1 - q) / p).sum()
    variance = 4 * n * ((q * apart**2).sum() - (q * apart).sum() ** 2) + 2 * ((q / p) ** 2).sum()
    return float(norm.cdf((chi2.isf(NOMINAL, p.size - 1) - mean) / math.sqrt(variance)))


def judge(draw: Callable[[float], Counts], law: Callable[[float], Chances]) -> None:
    """``draw`` gives counts of outcomes at a multiple of the true scale, ``law`` the chances of the outcomes there."""
    true = law(1.0)
    assert true.sum() == pytest.approx(1, abs=1e-9)
    counts = draw(1.0)
    assert accepts(counts, true), "the draws do not have the scale they should have"
    for off in OFF:
        assert miss(true, law(off), int(counts.sum())) < PROMISED, "too few draws to tell"
        assert not accepts(draw(off), true), f"a scale {off} times the true one was not noticed"


def test_the_test_itself() -> None:
    """Fair dice pass (each of 500 times), and dice loaded by as much as a scale 30 % off do not."""
    rng = np.random.default_rng(0)
    fair, loaded = np.full(6, 1 / 6), np.array([7, 5, 6, 6, 7, 5]) / 36
    assert all(accepts(rng.multinomial(20_000, fair), fair) for _ in range(500))
    assert miss(fair, loaded, 20_000) < PROMISED
    assert not any(accepts(rng.multinomial(20_000, loaded), fair) for _ in range(500))


def test_the_computed_power_is_real() -> None:
    """Where the formula says that a fifth is missed, about a fifth is missed."""
    rng = np.random.default_rng(1)
    fair, loaded = np.full(6, 1 / 6), np.array([7, 5, 6, 6, 7, 5]) / 36
    n = next(n for n in range(1000, 6000, 50) if miss(fair, loaded, n) < 0.2)
    missed = np.mean([accepts(rng.multinomial(n, loaded), fair) for _ in range(2000)])
    assert 0.1 < missed < 0.3


# ---- many equal cells ---------------------------------------------------------------------------------------------

SIDE = 18
CELLS = SIDE**3
IN_A_CELL = [(0.5, "a")] * 3 + [(1.5, "b")] * 2 + [(2.5, "a")] + [(3.5, "c")] * 2
LABEL_COUNTS = np.array([4, 2, 2, 0])
SCHEMA = Schema(
    (
        *(Categorical(name, tuple(range(SIDE))) for name in ("i", "j", "k")),
        Numeric("x", 0, 4, thresholds=(1.0, 2.0, 3.0)),
    ),
    Categorical("class", ("a", "b", "c", "d")),
)
THRESHOLDS = Tests.of(SCHEMA, [Threshold(3, cut) for cut in range(3)])


@cache
def engine() -> MemoryEngine:
    """A table that falls into 5832 cells with the same records in each: one question is 5832 draws."""
    places = np.array(list(product(range(SIDE), repeat=3)), dtype=np.int64).repeat(len(IN_A_CELL), axis=0)
    table: dict[str, Any] = {name: places[:, a] for a, name in enumerate(("i", "j", "k"))}
    table["x"] = np.tile([x for x, _ in IN_A_CELL], CELLS)
    table["class"] = np.tile([label for _, label in IN_A_CELL], CELLS)
    return MemoryEngine(SCHEMA, encode(SCHEMA, table))


def cells(ledger: Ledger | None = None) -> Level:
    level = PrivateDataset(engine(), ledger or Ledger(10**9)).level()
    for a in range(3):
        level = level.split([Multiway(a)] * level.size)
    return level


def in_cells(outcomes: np.ndarray, size: int) -> Counts:
    return np.bincount(np.clip(outcomes, 0, size - 1), minlength=size)


# ---- discrete Laplace ---------------------------------------------------------------------------------------------


def laplace_law(scale: float, window: int) -> Chances:
    """P(k) for k = -window..window, the tails added to the ends."""
    k = np.arange(-window, window + 1)
    ratio = math.exp(-1 / scale)
    chances = (1 - ratio) / (1 + ratio) * np.exp(-np.abs(k) / scale)
    chances[[0, -1]] = math.exp(-window / scale) / (1 + ratio)
    return chances


def laplace_counts(noise: np.ndarray, window: int) -> Counts:
    return in_cells(noise.ravel() + window, 2 * window + 1)


@pytest.mark.parametrize("source", [OpenDPNoise, lambda: SeededNoise(3)], ids=["opendp", "seeded"])
@pytest.mark.parametrize("epsilon", [4, 1.25, 1, 0.1, 0.001])
def test_class_counts(epsilon: float, source: Callable[[], Any]) -> None:
    """The scales run from 1/4 to 1000."""
    window = math.ceil(12 / epsilon) + 4

    def draw(off: float) -> Counts:
        with use_noise(source()):
            noisy = cells().class_counts_all(epsilon / off)
        return laplace_counts(noisy - LABEL_COUNTS, window)

    judge(draw, lambda off: laplace_law(off / epsilon, window))


def test_counts() -> None:
    judge(
        lambda off: laplace_counts(cells().count_all(0.5 / off) - len(IN_A_CELL), 30),
        lambda off: laplace_law(off / 0.5, 30),
    )


def test_attribute_counts() -> None:
    """Two attributes share epsilon, so each count has twice the noise."""
    some = np.arange(CELLS)[::6]
    asked = np.zeros((some.size, 4), dtype=bool)
    asked[:, [0, 3]] = True
    exact = np.zeros((some.size, SIDE + 4), dtype=np.int64)
    exact[np.arange(some.size), some // SIDE**2] = len(IN_A_CELL)  # all records of a cell have the same i
    exact[:, SIDE:] = [3, 2, 1, 2]  # and these x

    def draw(off: float) -> Counts:
        noisy = cells().attribute_counts_all(1 / off, asked, some, by_class=False)
        assert not noisy[:, SIDE : 3 * SIDE].any()
        return laplace_counts(np.delete(noisy, slice(SIDE, 3 * SIDE), axis=1) - exact, 30)

    judge(draw, lambda off: laplace_law(2 * off, 30))


def test_replace_one_doubles_the_noise() -> None:
    def draw(off: float) -> Counts:
        level = cells(Ledger(10**9, neighbours="replace-one"))
        return laplace_counts(level.class_counts_all(1 / off) - LABEL_COUNTS, 30)

    judge(draw, lambda off: laplace_law(2 * off, 30))


def signs(noise: np.ndarray) -> Counts:
    """How often each pair of signs follows one another: (-, 0, +) twice."""
    pairs = np.sign(noise.ravel()[: noise.size // 2 * 2]).astype(np.int64).reshape(-1, 2) + 1
    return in_cells(pairs[:, 0] * 3 + pairs[:, 1], 9)


def test_the_noise_of_a_vector_is_independent() -> None:
    one = np.array([laplace_law(1, 1)[i] for i in range(3)])
    law = np.outer(one, one).ravel()
    noise = OpenDPNoise().laplace(np.zeros(20_000, dtype=np.int64), 1.0)
    assert accepts(signs(noise), law)
    assert not accepts(signs(np.repeat(noise[::2], 2)), law)  # planted: each draw used twice


# ---- queries of a data set ----------------------------------------------------------------------------------------

QUERIES = 3500
AMOUNTS = Schema((Numeric("amount", 0, 10, integer=True),), Categorical("class", ("a", "b")))
AMOUNT_TABLE = {"amount": [7] * 30 + [2] * 10, "class": ["a"] * 40}
TOTAL = 230


def asked_often(question: Callable[[PrivateDataset, float], float], epsilon: float) -> np.ndarray:
    data = protect(AMOUNT_TABLE, AMOUNTS, Ledger(10**9))
    return np.array([question(data, epsilon) for _ in range(QUERIES)])


def test_noisy_count() -> None:
    def draw(off: float) -> Counts:
        counts = asked_often(lambda data, epsilon: data.noisy_count(epsilon), 0.5 / off)
        return laplace_counts(counts.astype(np.int64) - 40, 30)

    judge(draw, lambda off: laplace_law(off / 0.5, 30))


def test_noisy_sum() -> None:
    """One record moves the sum by up to 10, so the scale is 10 / epsilon."""

    def draw(off: float) -> Counts:
        sums = asked_often(lambda data, epsilon: data.noisy_sum("amount", epsilon), 2 / off)
        return laplace_counts(np.rint(sums).astype(np.int64) - TOTAL, 75)

    judge(draw, lambda off: laplace_law(off * 10 / 2, 75))


def test_noisy_average() -> None:
    """The quotient of two noisy numbers: the sum of (amount - 5), and the count times 5, both of scale 10 / epsilon."""
    epsilon, count, centred = 1.0, 40, TOTAL - 5 * 40
    edges = 5 + centred / count + np.sinh(np.linspace(-2.2, 2.2, 15)) * 0.1 * math.sqrt(2)

    def law(off: float) -> Chances:
        scale = 10 * off / epsilon
        k = np.arange(-600, 601)
        noise = laplace_law(scale, 600)
        below = np.cumsum(noise)
        divisor = np.maximum((5 * count + k) / 5, 1.0)
        highest = np.floor(np.outer(edges - 5, divisor)).astype(np.int64) - centred  # of the noise on the sum
        cdf = np.where(highest < -600, 0.0, below[np.clip(highest + 600, 0, 1200)]) @ noise
        return np.diff(cdf, prepend=0.0, append=1.0)

    def draw(off: float) -> Counts:
        means = asked_often(lambda data, e: data.noisy_average("amount", e), epsilon / off)
        assert ((means >= 0) & (means <= 10)).all()
        return in_cells(np.searchsorted(edges, means), edges.size + 1)

    judge(draw, law)


# ---- selection ----------------------------------------------------------------------------------------------------


def exponential_law(scores: np.ndarray, scale: float, prior: np.ndarray | None = None) -> Chances:
    weights = np.exp((scores - scores.max()) / scale) * (1 if prior is None else prior)
    return weights / weights.sum()


def permute_and_flip_law(scores: np.ndarray, scale: float) -> Chances:
    """By its definition: over all orders, the first whose coin shows heads."""
    accept = np.exp((scores - scores.max()) / scale)
    chances = np.zeros(scores.size)
    for order in permutations(range(scores.size)):
        reached = 1.0
        for r in order:
            chances[r] += reached * accept[r]
            reached *= 1 - accept[r]
    return chances / math.factorial(scores.size)


LAWS: dict[str, Callable[[np.ndarray, float], Chances]] = {
    "exponential": exponential_law,
    "permute-and-flip": permute_and_flip_law,
}


@pytest.mark.parametrize("source", [OpenDPNoise, lambda: SeededNoise(4)], ids=["opendp", "seeded"])
@pytest.mark.parametrize("constant", ["one-sided", "two-sided"])
@pytest.mark.parametrize("mechanism", list(LAWS))
def test_labels(mechanism: Any, constant: Any, source: Callable[[], Any]) -> None:
    selection = Selection(mechanism, constant)
    epsilon = 0.8 if constant == "one-sided" else 1.6
    factor = {"one-sided": 1, "two-sided": 2}[constant]

    def draw(off: float) -> Counts:
        with use_noise(source()):
            return in_cells(cells().choose_labels_all(epsilon / off, selection=selection), 4)

    judge(draw, lambda off: LAWS[mechanism](LABEL_COUNTS.astype(float), off * factor / epsilon))


def test_two_sided_is_not_one_sided() -> None:
    """The constants differ by a factor 2, so confusing them is seen as well."""
    drawn = in_cells(cells().choose_labels_all(0.8, selection=Selection("exponential", "two-sided")), 4)
    assert not accepts(drawn, exponential_law(LABEL_COUNTS.astype(float), 1 / 0.8))
    assert accepts(drawn, exponential_law(LABEL_COUNTS.astype(float), 2 / 0.8))


def by_hand(score: Score) -> tuple[np.ndarray, float]:
    """The scores of the three thresholds and their sensitivity, from the formulas of the papers."""
    found = []
    for cut in (1, 2, 3):
        total = 0.0
        for side in ([c for x, c in IN_A_CELL if x <= cut], [c for x, c in IN_A_CELL if x > cut]):
            n = [side.count(c) for c in "abcd" if c in side]
            if isinstance(score, Max):
                total += max(n)
            elif isinstance(score, Gini):
                total -= sum(n) * (1 - sum((c / sum(n)) ** 2 for c in n))
            else:
                total += sum(c * math.log2(c / sum(n)) for c in n)
        found.append(total)
    sensitivity = {Max: 1.0, Gini: 2.0}.get(type(score), math.log2(101) + 1 / math.log(2))
    return np.array(found), sensitivity


PRIOR = np.array([0.4, 0.5, 0.1])  # against the scores, so that every test has a chance
CHOICES: dict[str, tuple[Score, Selection, float, np.ndarray | None]] = {
    "Max": (Max(), Selection(), 2, None),
    "Max, two-sided": (Max(), Selection("exponential", "two-sided"), 4, None),
    "Gini": (Gini(), Selection(), 6, None),
    "Gini, permute-and-flip": (Gini(), Selection("permute-and-flip"), 5, None),
    "InfoGain": (InfoGain(100), Selection(), 8, None),
    "Max, prior": (Max(), Selection(), 3, PRIOR),
    "Gini, two-sided, prior": (Gini(), Selection("exponential", "two-sided"), 12, PRIOR),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choice_of_tests(name: str) -> None:
    score, selection, epsilon, prior = CHOICES[name]
    scores, sensitivity = by_hand(score)

    def draw(off: float) -> Counts:
        log_prior = None if prior is None else np.tile(np.log(prior), (CELLS, 1))
        chosen = cells().choose_all(THRESHOLDS, score, epsilon / off, selection=selection, log_prior=log_prior)
        return in_cells(chosen, 3)

    def law(off: float) -> Chances:
        scale = off * sensitivity * selection.factor / epsilon
        if selection.mechanism == "exponential":
            return exponential_law(scores, scale, prior)
        return permute_and_flip_law(scores, scale)

    judge(draw, law)


# ---- coins --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [2, 3, 10])
def test_coins(sides: int) -> None:
    """A coin has no scale: what is 30 % off here is the chance of a side."""
    n, fair = 60_000, np.full(sides, 1 / sides)
    thrown = OpenDPNoise().coins(sides, n)
    assert accepts(in_cells(thrown, sides), fair)
    pairs = in_cells(thrown[::2] * sides + thrown[1::2], sides**2)
    assert accepts(pairs, np.full(sides**2, 1 / sides**2))  # and one does not tell the next
    for off in OFF:
        loaded = fair * (1 - (off - 1) / (sides - 1))
        loaded[0] = off / sides
        assert miss(fair, loaded, n) < PROMISED
        # Some coins that show 0 are thrown again, or some others turned to 0, until 0 is as rare or common as planned.
        again = OpenDPNoise().coins(10_000, n) / 10_000
        unfair = np.where((thrown == 0) & (again > off), OpenDPNoise().coins(sides - 1, n) + 1, thrown)
        unfair = np.where((thrown != 0) & (again < (off - 1) / (sides - 1)), 0, unfair)
        assert not accepts(in_cells(unfair, sides), fair)


def test_shards() -> None:
    root = ROOT
    sizes = class_counts(engine(), engine().shards(root, 5, OpenDPNoise().coins)).sum(axis=1)
    assert sizes.sum() == CELLS * len(IN_A_CELL)
    assert accepts(sizes, np.full(5, 1 / 5))
    fixed = np.full(5, sizes.sum() // 5)
    assert not np.array_equal(sizes, fixed)  # sizes are random: equal shards would mean places, not coins
