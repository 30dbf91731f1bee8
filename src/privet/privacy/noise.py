"""The only caller of OpenDP: exact samplers fed by the operating system's entropy.

A ``NoiseSource`` is asked *after* scales and scores are computed. So the auditor can swap it and change nothing
that the proofs are about. A source with a ``caveat`` marks the certificate of every ledger it serves.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Law = Literal["laplace", "gaussian"]

PACKAGE = "opendp"  # as installers know it: a model says which version drew its noise


class NoiseSource(Protocol):
    """Where randomness comes from."""

    @property
    def caveat(self) -> str | None:
        """Why releases made with this source are not private; None for the real one."""

    def laplace(self, values: Ints, scale: float) -> Ints:
        """Each integer plus independent noise with probability proportional to exp(-|noise| / scale)."""

    def gaussian(self, values: Ints, scale: float) -> Ints:
        """Each integer plus independent noise with probability proportional to exp(-noise^2 / (2 scale^2))."""

    def exponential(self, scores: Floats, scale: float) -> int:
        """An index drawn with probability proportional to exp(score / scale)."""

    def branching(self, weights: Floats) -> int:
        """``exponential`` at scale 1, for a node of a tree that is drawn as a whole: audits know what that means."""

    def permute_and_flip(self, scores: Floats, scale: float) -> int:
        """The first index of a random order whose coin of bias exp((score - max) / scale) shows heads."""

    def hidden(self, law: Law, size: int, scale: float) -> Ints:
        """Whole noise that goes into an objective and is not released: discrete Laplace or discrete Gaussian."""

    def covering(self, values: Ints, scale: float) -> Ints:
        """``laplace``, for what a fit with hidden noise releases: audits know what such a release means."""

    def coins(self, sides: int, size: int) -> Ints:
        """``size`` independent throws of a fair coin with ``sides`` sides."""


class OpenDPNoise:
    """OpenDP's exact samplers. A whole vector gets one call, since set-up costs more than the draws."""

    caveat = None

    def laplace(self, values: Ints, scale: float) -> Ints:
        return _noisy(values, _laplace(scale))

    covering = laplace

    def gaussian(self, values: Ints, scale: float) -> Ints:
        return _noisy(values, _gaussian(scale))

    def hidden(self, law: Law, size: int, scale: float) -> Ints:
        return _noisy(np.zeros(size, dtype=np.int64), _laplace(scale) if law == "laplace" else _gaussian(scale))

    def exponential(self, scores: Floats, scale: float) -> int:
        return int(_exponential(scale)(scores.tolist()))

    def branching(self, weights: Floats) -> int:
        return self.exponential(weights, 1.0)

    def permute_and_flip(self, scores: Floats, scale: float) -> int:
        return int(_permute_and_flip(scale)(scores.tolist()))

    def coins(self, sides: int, size: int) -> Ints:
        # A bias of sides / 2**64 does not depend on the data, so it cannot cost privacy.
        words = np.frombuffer(os.urandom(8 * size), dtype=np.uint64)
        return (words % np.uint64(sides)).astype(np.int64)


_OPENDP = OpenDPNoise()
_source: ContextVar[NoiseSource] = ContextVar("privet_noise")
_declared: ContextVar[list[tuple[object, ...]] | None] = ContextVar("privet_declared", default=None)


def declare(what: str, *facts: object) -> None:
    """Write down what a mechanism takes for public, if an audit listens: it must be the same for two neighbours.

    For inputs that no draw shows. The noise of a fit hides its plan, and a choice its candidates.
    """
    listener = _declared.get()
    if listener is not None:
        listener.append((what, *facts))


def current_source() -> NoiseSource:
    """OpenDP, unless the auditor or a test has put another source in its place for this context."""
    return _source.get(_OPENDP)


def _noisy(values: Ints, draw: Any) -> Ints:
    if values.size == 0:
        return values.copy()
    drawn = draw(np.ascontiguousarray(values, dtype=np.int64).ravel())
    return np.asarray(drawn, dtype=np.int64).reshape(values.shape)


@lru_cache(maxsize=256)
def _laplace(scale: float) -> Any:
    domains, metrics, _, measurements = _opendp()
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l1_distance(T="i64")
    return measurements.make_laplace(*space, scale=scale)


@lru_cache(maxsize=256)
def _gaussian(scale: float) -> Any:
    domains, metrics, _, measurements = _opendp()
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l2_distance(T="f64")
    return measurements.make_gaussian(*space, scale=scale)


@lru_cache(maxsize=256)
def _exponential(scale: float) -> Any:
    # Under zCDP OpenDP's noisy max adds exact Gumbel noise, which is the exponential mechanism.
    return _noisy_max(scale, "zero_concentrated_divergence")


@lru_cache(maxsize=256)
def _permute_and_flip(scale: float) -> Any:
    return _noisy_max(scale, "max_divergence")


def _noisy_max(scale: float, measure: str) -> Any:
    domains, metrics, measures, measurements = _opendp()
    space = domains.vector_domain(domains.atom_domain(T="f64", nan=False)), metrics.linf_distance(T="f64")
    return measurements.make_noisy_max(*space, getattr(measures, measure)(), scale=scale)


@lru_cache(maxsize=1)
def _opendp() -> tuple[Any, Any, Any, Any]:
    # Imported at the first draw: it takes half a second, too long for `privet --help`.
    from opendp import domains, measurements, measures, metrics
    from opendp.mod import enable_features

    enable_features("contrib")
    return domains, metrics, measures, measurements
