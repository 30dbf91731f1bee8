"""The losses that a convex fit can have: a closed set of public values.

A loss says what a record leaves unexplained, given its score: a *residual*, which the kernel must be able to bound, and
how fast it changes, the curvature. ``docs/proofs/perturbed_fit.md`` has the bounds, and
:mod:`privet.engines.fit_kernels` the sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_VALUE = 64.0  # units of a number: beyond a few, residuals do not tell records apart any more
MOST_MARGIN = 32.0  # log-odds: beyond, residuals do not tell records apart any more


@dataclass(frozen=True)
class MarginLoss:
    """The log-loss of a record as if its own class had ``margin`` less: the log-loss itself for 0.

    A residual stays between 0 and 1 and is near 1 for every record that is not clearly on the right side. Divided by
    e^margin, it is that of the log-loss, capped at e^-margin. So noise, which is calibrated to the largest residual, is
    smaller in relation to them.
    """

    margin: float = 0.0

    @property
    def fault(self) -> str | None:
        """Why no fit can have this loss, or None."""
        if not math.isfinite(self.margin) or not 0 <= self.margin <= MOST_MARGIN:
            return f"the margin of a fit must lie between 0 and {MOST_MARGIN:g}"
        return None


@dataclass(frozen=True)
class LogCosh:
    """ln cosh of what a score is off: ``values[c]`` is what a record of class c, a bin of a number, should score.

    A residual is the hyperbolic tangent of it, between -1 and 1, and its curvature 1 less its square. So labels far off
    have no more influence than those a few units off.
    """

    values: tuple[float, ...]

    @property
    def fault(self) -> str | None:
        if not self.values or not all(abs(value) <= MOST_VALUE for value in self.values):  # NaN fails too
            return f"the values of a fit must lie within {MOST_VALUE:g} units of 0"
        return None


FitLoss = MarginLoss | LogCosh
LOG_LOSS = MarginLoss()
