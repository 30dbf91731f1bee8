"""The calls of a fit to the noise source, and scripts that answer them.

A script sees what the real sampler would see (:mod:`privet.audit.seam`), so its probabilities are the real code's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.audit.channels import described
from privet.audit.declared import NotComparable, is_fit
from privet.audit.seam import ScriptedNoise, use_noise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Outcome = tuple[int, ...]
"""What a call answered: the released integers of a vector of counts, the index of a choice, a side for every coin."""
Fit = Callable[[], Hashable]
"""Runs a fit under the noise source in force and returns what it released, as a value that can be compared."""
Policy = Callable[["Call", int], Outcome]
"""Answers a call that the script does not cover; it gets the number of calls before it."""

RAISED = "raised"
NOISY = ("laplace", "gaussian")
"""A vector of counts with noise."""
FITTED = ("hidden", "covering")
"""The noise of a perturbed fit. What is released follows a law that no single draw shows: one table's draw stands for
another draw of the other table. A walk leaves such a release as it is, since :mod:`privet.audit.fits` audits its law by
integration, and checks everything around it: what goes in (:mod:`privet.audit.declared`) and what is made of it."""
FAR = 40  # scales: such a count has probability exp(-40), and the ratio of two tables is constant long before


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call into the noise source: a vector of counts, a choice, or a coin (of ``scale`` sides) per record."""

    kind: str  # "exponential", "permute-and-flip", "coins", or one of NOISY or FITTED
    values: Floats | Ints
    scale: float
    in_tree: bool = False  # a node of a tree that is drawn as a whole

    @property
    def shape(self) -> tuple[str, int]:
        return self.kind, self.values.size

    def log_chance(self, outcome: Outcome) -> float:
        """The log probability of an outcome, without underflow."""
        if self.kind == "laplace":
            away = np.abs(np.asarray(outcome) - self.values).sum()
            return float(self.values.size * math.log(math.tanh(0.5 / self.scale)) - away / self.scale)
        if self.kind == "gaussian":
            reach = np.arange(-math.ceil(FAR * self.scale), math.ceil(FAR * self.scale) + 1)
            every = math.log(np.exp(-((reach / self.scale) ** 2) / 2).sum())
            away = ((np.asarray(outcome) - self.values) ** 2).sum()
            return float(-self.values.size * every - away / (2 * self.scale**2))
        if self.kind == "coins":
            return -self.values.size * math.log(self.scale)
        return float(self.log_chances()[outcome[0]])

    def log_chances(self) -> Floats:
        """The log probabilities of all outcomes of a choice."""
        behind = (self.values - self.values.max()) / self.scale
        if self.kind == "exponential":
            return np.asarray(behind - np.log(np.exp(behind).sum()))
        # P(r) is accept_r times the integral over t in [0, 1] of the product over the others of (1 - accept_s t). The
        # integrand is a polynomial of degree size - 1, for which this rule is exact.
        nodes, weights = np.polynomial.legendre.leggauss(behind.size // 2 + 1)
        refuse = 1 - np.outer(np.exp(behind), (nodes + 1) / 2)
        return np.asarray(behind + np.log((np.prod(refuse, axis=0) / refuse) @ (weights / 2)))


def fitted(call: Call) -> Outcome:
    """A script's answer for a perturbed fit: no hidden noise, and a release of nonzero numbers.

    They are some tenths of log-odds, of both signs. Zeros would hide what a learner multiplies them by.
    """
    if call.kind == "hidden":
        return (0,) * call.values.size
    i = np.arange(call.values.size)
    return tuple(((2**32 + 2**30 * (i % 7) + i) * (-1) ** i).tolist())  # in steps of 2**-34


def gain(ours: Call, outcome: Outcome, theirs: Call, their_outcome: Outcome) -> float:
    """The log-ratio of an outcome's probabilities on our table and on theirs. Coins are never released: they give 0."""
    if ours.kind == "coins" or ours.kind in FITTED:
        return 0.0
    if ours.kind == "laplace" and ours.scale == theirs.scale:
        # Cancel the distances before rounding: equal counts give exactly 0.
        drawn = np.asarray(outcome)
        return float((np.abs(drawn - theirs.values) - np.abs(drawn - ours.values)).sum() / ours.scale)
    p, q = ours.log_chance(outcome), theirs.log_chance(their_outcome)
    return 0.0 if p == q else p - q


class Departed(BaseException):
    """A fit made a call that its script cannot answer. Not an Exception, so that no fit can swallow it."""


class Script(ScriptedNoise):
    """A noise source that answers from a list, then by a policy, and records all calls and answers."""

    def __init__(self, outcomes: Sequence[Outcome], policy: Policy) -> None:
        self.calls: list[Call] = []
        self.outcomes = list(outcomes)
        self._policy = policy

    def answer(self, kind: str, values: Floats | Ints, scale: float) -> Outcome:
        if kind == "covering" and not is_fit(values.size, scale):
            kind = "laplace"  # which it is: its chances can be compared
        number, call = len(self.calls), Call(kind, values, scale, self.in_tree)
        self.calls.append(call)
        if number == len(self.outcomes):
            self.outcomes.append(self._policy(call, number))
        return self.outcomes[number]


def run(fit: Fit, script: Script) -> Hashable:
    """What a fit releases under a script: its model, or its error; None where the script cannot answer."""
    try:
        with use_noise(script):
            return fit()
    except Departed:
        return None
    except NotComparable:
        raise
    except Exception as error:
        return RAISED, described(error)
