"""The seam between the kernel and the samplers. Distributions are tested in tests/statistical."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from privet.privacy.noise import OpenDPNoise, current_source
from privet.testing import ZeroNoise, use_noise


def test_the_real_source_is_the_default_and_carries_no_caveat() -> None:
    assert isinstance(current_source(), OpenDPNoise)
    assert current_source().caveat is None


def test_a_test_source_ends_with_its_block() -> None:
    zero = ZeroNoise()
    with use_noise(zero):
        assert current_source() is zero
        with use_noise(ZeroNoise()) as inner:
            assert current_source() is inner
        assert current_source() is zero
    assert isinstance(current_source(), OpenDPNoise)


def test_a_test_source_ends_with_an_error() -> None:
    def fail() -> None:
        with use_noise(ZeroNoise()):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert isinstance(current_source(), OpenDPNoise)


def test_other_threads_keep_the_real_source() -> None:
    seen: list[object] = []
    with use_noise(ZeroNoise()):
        thread = threading.Thread(target=lambda: seen.append(current_source()))
        thread.start()
        thread.join()
    assert isinstance(seen[0], OpenDPNoise)


@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (2, 3), (2, 0, 3), (4, 2, 2)])
def test_laplace_keeps_shape_and_input(shape: tuple[int, ...]) -> None:
    values = np.full(shape, 1000, dtype=np.int64)
    noisy = OpenDPNoise().laplace(values, 2.0)
    assert noisy.shape == shape
    assert noisy.dtype == np.int64
    assert (values == 1000).all()
    assert noisy is not values


def test_laplace_takes_what_is_not_contiguous_or_writable() -> None:
    values = np.arange(12, dtype=np.int64).reshape(3, 4)[:, ::2]
    values.setflags(write=False)
    assert OpenDPNoise().laplace(values, 1e-3).tolist() == values.tolist()


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300])
def test_extreme_scales_do_not_fail(scale: float) -> None:
    source = OpenDPNoise()
    assert source.laplace(np.array([7]), scale).shape == (1,)
    assert source.exponential(np.array([0.0, 1.0]), scale) in (0, 1)
    assert source.permute_and_flip(np.array([0.0, 1.0]), scale) in (0, 1)


def test_laplace_at_the_end_of_the_integers_saturates() -> None:
    ends = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    noisy = OpenDPNoise().laplace(np.repeat(ends, 50), 1e6)
    assert (noisy[:50] < 0).all()
    assert (noisy[50:] > 0).all()


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
def test_a_hopeless_candidate_loses(name: str) -> None:
    draw = getattr(OpenDPNoise(), name)
    assert {draw(np.array([0.0, 1000.0, -np.inf]), 1.0) for _ in range(20)} == {1}
    assert draw(np.array([3.0]), 1.0) == 0


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
def test_the_order_of_candidates_does_not_count(name: str) -> None:
    """All equal: each comes up (the chance that one does not in 300 draws of 3 is below 1e-50)."""
    draw = getattr(OpenDPNoise(), name)
    assert {draw(np.zeros(3), 1.0) for _ in range(300)} == {0, 1, 2}


@pytest.mark.parametrize("sides", [1, 2, 7])
def test_coins_have_their_sides(sides: int) -> None:
    thrown = OpenDPNoise().coins(sides, 1000)
    assert thrown.shape == (1000,)
    assert set(thrown.tolist()) == set(range(sides))
    assert OpenDPNoise().coins(sides, 0).size == 0
