"""Choosers: what they pick, and that each spends exactly what it is given."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.engines.memory import MemoryEngine
from privet.growing.greedy.candidates import Candidates, Domains
from privet.growing.greedy.choosing import JointChoice, NoisyGain, PointsFirst
from privet.privacy.counting import ROOT
from privet.privacy.ledger import Ledger
from privet.privacy.level import Level
from privet.privacy.mechanisms import Selection
from privet.privacy.scores import Gini
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, Threshold
from privet.tables.encoding import Codes
from privet.testing import SeededNoise, ZeroNoise, use_noise

LABEL = Categorical("ill", ("no", "yes"))
MIXED = Schema(
    (Numeric("age", 0, 9, bins=9), Categorical("town", ("a", "b", "c")), Numeric("weight", 0, 5, bins=5)), LABEL
)


def engine(schema: Schema, records: int = 400, seed: int = 0) -> MemoryEngine:
    """Random records whose label leans on every attribute a little, so that scores differ."""
    rng = np.random.default_rng(seed)
    features = np.array([rng.integers(0, arity, records) for arity in schema.arities], dtype=np.uint8)
    lean = (features / np.array(schema.arities)[:, None]).mean(axis=0)
    return MemoryEngine(schema, Codes(features, (rng.random(records) < lean).astype(np.uint8)))


def level(schema: Schema, ledger: Ledger, **how: int) -> Level:
    counted = engine(schema, **how)
    return Level(counted, ROOT, ledger)


def choose(chooser, schema: Schema, kind: str, epsilon: Fraction, **how: int) -> tuple[int, Ledger]:  # type: ignore[no-untyped-def]
    ledger = Ledger(epsilon)
    candidates = Candidates.of(schema, kind)  # type: ignore[arg-type]
    allowed = candidates.allowed(Domains.whole(schema))
    chosen = chooser.choose(level(schema, ledger, **how), np.arange(1), candidates, allowed, epsilon)
    return int(chosen[0]), ledger


@given(st.fractions(min_value=Fraction(1, 100), max_value=5), st.sampled_from(["joint", "points", "gain", "reuse"]))
def test_each_spends_exactly_what_it_is_given(epsilon: Fraction, how: str) -> None:
    chooser = {
        "joint": JointChoice(Gini()),
        "points": PointsFirst(Gini()),
        "gain": NoisyGain(),
        "reuse": NoisyGain(reuse_counts=True),
    }[how]
    with use_noise(SeededNoise(1)):
        _, ledger = choose(chooser, MIXED, "mixed" if how in ("joint", "points") else "multiway", epsilon)
    assert ledger.spent == epsilon


def test_points_first_pays_a_share_for_each_number_and_joint_pays_once() -> None:
    with use_noise(ZeroNoise()):
        _, joint = choose(JointChoice(Gini()), MIXED, "mixed", Fraction(3))
        _, points = choose(PointsFirst(Gini()), MIXED, "mixed", Fraction(3))
    assert [(c.what, c.epsilon) for c in joint.certificate().charges] == [("choice of tests", 3)]
    assert [(c.what, c.epsilon) for c in points.certificate().charges] == [
        ("split point of age", 1),
        ("split point of weight", 1),
        ("choice of tests", 1),
    ]


def test_points_first_counts_only_numbers_that_can_be_cut() -> None:
    uncut = Numeric("flag", 0, 0.5, integer=True)
    assert uncut.arity == 1
    schema = Schema((uncut, *MIXED.attributes), LABEL)
    with use_noise(ZeroNoise()):
        _, ledger = choose(PointsFirst(Gini()), schema, "mixed", Fraction(3))
        assert ledger.spent == 3
        _, ledger = choose(PointsFirst(Gini()), schema, "multiway", Fraction(3))
    assert [c.epsilon for c in ledger.certificate().charges] == [3]  # no thresholds, no points to buy


def test_points_first_skips_a_number_whose_domain_is_used_up() -> None:
    """The cell left of the lowest cut cannot cut age again; its neighbour can, and the ledger pays the dearer."""
    ledger = Ledger(3)
    cells = level(MIXED, ledger).split([Threshold(0, 0)])
    candidates = Candidates.of(MIXED, "mixed")
    allowed = candidates.allowed(Domains.whole(MIXED).split([Threshold(0, 0)]))
    with use_noise(ZeroNoise()):
        left = PointsFirst(Gini()).choose(cells, np.array([0]), candidates, allowed[:1], Fraction(3))
        assert ledger.spent == 2
        PointsFirst(Gini()).choose(cells, np.array([1]), candidates, allowed[1:], Fraction(3))
    assert ledger.spent == 3
    assert candidates.tests[int(left[0])].attribute != 0


@pytest.mark.parametrize("seed", range(20))
def test_without_noise_points_first_is_joint(seed: int) -> None:
    """Both then take the best test there is."""
    with use_noise(ZeroNoise()):
        joint, _ = choose(JointChoice(Gini()), MIXED, "mixed", Fraction(1), seed=seed)
        points, _ = choose(PointsFirst(Gini(), Selection("permute-and-flip")), MIXED, "mixed", Fraction(1), seed=seed)
    assert joint == points


def gain(schema: Schema, counted: MemoryEngine, attribute: int) -> float:
    """ID3's information gain, from the definition."""

    def entropy(classes: np.ndarray) -> float:
        shares = np.bincount(classes) / max(len(classes), 1)
        return -sum(p * math.log2(p) for p in shares if p > 0)

    column, labels = counted._features[attribute], counted._labels
    rest = sum((column == code).mean() * entropy(labels[column == code]) for code in range(schema.arities[attribute]))
    return entropy(labels) - rest


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_without_noise_noisy_gain_is_id3s_choice(seed: int, reuse: bool) -> None:
    schema = Schema(tuple(Categorical(f"a{i}", tuple(range(2 + i % 3))) for i in range(5)), LABEL)
    counted = engine(schema, seed=seed)
    with use_noise(ZeroNoise()):
        chosen, _ = choose(NoisyGain(reuse), schema, "multiway", Fraction(1), seed=seed)
    gains = [gain(schema, counted, attribute) for attribute in range(5)]
    assert np.diff(sorted(gains))[-1] > 1e-9, "a tie: take another seed"
    assert chosen == int(np.argmax(gains))


def test_noisy_gain_never_takes_a_used_attribute() -> None:
    schema = Schema(tuple(Categorical(f"a{i}", (0, 1)) for i in range(3)), LABEL)
    candidates = Candidates.of(schema, "multiway")
    allowed = candidates.allowed(Domains.whole(schema).split([Multiway(1)]))
    cells = level(schema, Ledger(1000)).split([Multiway(1)])
    for seed in range(30):
        with use_noise(SeededNoise(seed)):
            chosen = NoisyGain().choose(cells, np.arange(2), candidates, allowed, Fraction(1, 100))
        assert set(candidates.tests.attribute[chosen].tolist()) <= {0, 2}
