"""Test noise: honest about its probabilities, and about itself on the certificate."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet.testing
from privet import Categorical, Ledger, Schema, protect
from privet.testing import Draw, ReplayNoise, SeededNoise, ZeroNoise, use_noise
from privet.testing.noise import ScriptEnded, discrete_laplace

SCHEMA = Schema((Categorical("x", ("a", "b")),), Categorical("class", ("no", "yes")))
TABLE = {"x": ["a", "b", "a"], "class": ["yes", "no", "yes"]}


@pytest.mark.parametrize(
    "source", [SeededNoise(0), ZeroNoise(), ReplayNoise([1, 1, 1])], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("ask", ["noisy_count", "shards", "analyst"])
def test_every_source_marks_the_certificate(source: Any, ask: str) -> None:
    source = type(source)([1] * 9) if isinstance(source, ReplayNoise) else source
    ledger = Ledger(1)
    with use_noise(source):
        if ask == "noisy_count":
            protect(TABLE, SCHEMA, ledger).noisy_count(1)
        elif ask == "shards":
            protect(TABLE, SCHEMA, ledger).shards(2)
        else:
            protect(TABLE, SCHEMA, ledger.analyst("ann", 1)).noisy_count(1)
    certificate = ledger.certificate()
    assert certificate.epsilon == math.inf
    assert source.caveat in [caveat.text for caveat in certificate.caveats]


def test_real_noise_leaves_no_mark() -> None:
    ledger = Ledger(1)
    protect(TABLE, SCHEMA, ledger).noisy_count(1)
    assert ledger.certificate().epsilon == 1


def test_seeded_noise_repeats() -> None:
    def draws(seed: int) -> list[Any]:
        source = SeededNoise(seed)
        return [
            source.laplace(np.zeros(5, dtype=np.int64), 10.0).tolist(),
            [source.exponential(np.arange(4.0), 2.0) for _ in range(9)],
            [source.permute_and_flip(np.arange(4.0), 2.0) for _ in range(9)],
            source.coins(3, 9).tolist(),
        ]

    assert draws(7) == draws(7)
    assert draws(7) != draws(8)


def test_zero_noise_is_exact() -> None:
    source, values = ZeroNoise(), np.array([[3, 4]])
    released = source.laplace(values, 5.0)
    assert released.tolist() == [[3, 4]]
    released[0, 0] = 9
    assert values[0, 0] == 3
    assert source.exponential(np.array([1.0, 3.0, 3.0]), 1.0) == 1
    assert source.permute_and_flip(np.array([1.0, 3.0, 3.0]), 1.0) == 1
    assert set(source.coins(2, 100).tolist()) == {0, 1}
    assert source.coins(2, 100).tolist() != source.coins(2, 100).tolist()
    alike = ZeroNoise(same_coins=True)
    assert alike.coins(2, 100).tolist() == alike.coins(2, 100).tolist()


# ---- replay -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_discrete_laplace_is_a_distribution(scale: float) -> None:
    chances = {noise: discrete_laplace(noise, scale) for noise in range(-2000, 2001)}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
    assert chances[3] == chances[-3]
    if scale >= 1:
        assert chances[1] / chances[0] == pytest.approx(math.exp(-1 / scale))


def by_definition(scores: np.ndarray, scale: float) -> np.ndarray:
    """Permute-and-flip as it is described: every order, every coin."""
    accept = np.exp((scores - scores.max()) / scale)
    chances = np.zeros(scores.size)
    for order in permutations(range(scores.size)):
        reached = 1.0
        for r in order:
            chances[r] += reached * accept[r]
            reached *= 1 - accept[r]
    return chances / math.factorial(scores.size)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6), st.floats(0.1, 10))
def test_permute_and_flip_by_its_definition(scores: list[float], scale: float) -> None:
    values = np.array(scores)
    got = Draw("permute-and-flip", values, scale).probabilities()
    assert got == pytest.approx(by_definition(values, scale), abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 31, 200, 1000])
@pytest.mark.parametrize("kind", ["exponential", "permute-and-flip"])
def test_chances_of_many_candidates(kind: Any, size: int) -> None:
    equal = Draw(kind, np.zeros(size), 1.0).probabilities()
    assert equal == pytest.approx(np.full(size, 1 / size), rel=1e-8)
    varied = Draw(kind, np.linspace(-9, 9, size), 2.0).probabilities()
    assert varied.sum() == pytest.approx(1, abs=1e-9)
    assert (np.diff(varied) >= -1e-15).all()


def ask_everything(data: Any) -> list[Any]:
    from privet.privacy.mechanisms import Selection

    front = data.level()
    return [
        data.noisy_count(1),
        front.choose_labels_all(1, selection=Selection("exponential"))[0],
        front.choose_labels_all(1, selection=Selection("permute-and-flip"))[0],
    ]


def test_a_script_decides_every_outcome_and_its_probability_is_the_product() -> None:
    source = ReplayNoise([5, 0, 1])
    with use_noise(source):
        assert ask_everything(protect(TABLE, SCHEMA, Ledger(9))) == [5, 0, 1]
    assert [draw.kind for draw in source.draws] == ["laplace", "exponential", "permute-and-flip"]
    expected = sum(math.log(d.probability(o)) for d, o in zip(source.draws, source.script, strict=True))
    assert source.log_probability == pytest.approx(expected)
    assert source.draws[0].probability(5) == pytest.approx(discrete_laplace(2, 1.0))
    assert source.draws[1].probabilities() == pytest.approx(np.exp([1, 2]) / np.exp([1, 2]).sum())
    assert source.draws[2].probabilities() == pytest.approx([math.exp(-1) / 2, 1 - math.exp(-1) / 2])


def test_choices_and_coins_of_all_scripts_add_up_to_one() -> None:
    total = 0.0
    for script in product(range(2), repeat=5):
        source = ReplayNoise(script)
        with use_noise(source):
            first, _ = protect(TABLE, SCHEMA, Ledger(9)).shards(2)
            first.level().choose_labels_all(1)
            first.level().choose_labels_all(2)
        total += math.exp(source.log_probability)
    assert total == pytest.approx(1)


def test_a_script_that_ends_names_the_next_draw() -> None:
    with use_noise(ReplayNoise([5])), pytest.raises(ScriptEnded) as ended:
        ask_everything(protect(TABLE, SCHEMA, Ledger(9)))
    assert ended.value.draw.kind == "exponential"
    assert ended.value.draw.values.tolist() == [1, 2]


def test_an_impossible_outcome_has_probability_zero() -> None:
    source = ReplayNoise([1])
    assert source.exponential(np.array([0.0, -np.inf]), 1.0) == 1
    assert source.log_probability == -math.inf


# ---- the package --------------------------------------------------------------------------------------------------


def test_hypothesis_is_imported_only_by_the_strategies() -> None:
    probe = "import sys, privet.testing as t; t.ZeroNoise; assert 'hypothesis' not in sys.modules; t.tables"
    subprocess.run([sys.executable, "-c", probe + "; assert 'hypothesis' in sys.modules"], check=True)


def test_names() -> None:
    for name in privet.testing.__all__:
        assert getattr(privet.testing, name).__name__ == name
    with pytest.raises(AttributeError, match="'OnNoise'"):
        privet.testing.OnNoise  # noqa: B018
