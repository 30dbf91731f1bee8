"""Which epsilon, how many records? Two answers that need no data: money (Hsu et al. 2014), and the sample size of a
test (Vu & Slavkovic 2009). Fletcher 2017, section 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.planning.economics import Study, base_cost, compensation, extra_cost
from privet.planning.samples import one_share, two_shares


@dataclass(frozen=True)
class Worth:
    """What epsilon is worth to the people in the table: the compensation that taking part asks for.

    >>> worth = Worth(records=1_000, events=((0.001, 50_000), (0.02, 500)), money=10_000, within=0.1, miss=0.05)
    >>> worth.cost, [round(line["each"], 2) for line in worth.lines([Fraction(1, 10)])]
    (60.0, [6.31])
    >>> print(worth.verdict)
    possible with epsilon from 0.0662 to 0.154: 1,000 people are owed 4,106 to 10,000
    """

    records: int
    events: Sequence[tuple[float, float]]
    """(chance, cost) of bad events to a person who is not in the table."""
    money: float | None = None
    within: float = 0.1
    miss: float = 0.05

    @property
    def cost(self) -> float:
        return base_cost(self.events)

    @property
    def verdict(self) -> str | None:
        """Whether the money is enough for a share of the records to be known well enough; None without money."""
        if self.money is None:
            return None
        return str(Study(self.records, self.cost, self.money, self.within, self.miss))

    def lines(self, epsilons: Iterable[Fraction]) -> list[dict[str, Any]]:
        """For each epsilon, what a person is owed, and all of them."""
        return [
            {"epsilon": float(e), "each": extra_cost(e, self.cost), "all": compensation(e, self.records, self.cost)}
            for e in epsilons
        ]

    def to_dict(self, epsilons: Iterable[Fraction]) -> dict[str, Any]:
        facts: dict[str, Any] = {"base_cost": self.cost, "lines": self.lines(epsilons)}
        if self.money is None:
            return facts
        study = Study(self.records, self.cost, self.money, self.within, self.miss)
        bounds = {"smallest_epsilon": study.smallest_epsilon, "largest_epsilon": study.largest_epsilon}
        known = {name: value if math.isfinite(value) else None for name, value in bounds.items()}
        return facts | {"possible": study.possible, "verdict": self.verdict} | known


@dataclass(frozen=True)
class SampleSize:
    """The records that tell two shares apart, with noise and without.

    >>> [line["records"] for line in SampleSize((0.5, 0.6)).lines([Fraction(1, 10), Fraction(1)])]
    [505, 202]
    """

    shares: tuple[float, float]
    arms: int = 1
    """1: a share of the records against a known one; 2: the shares of two groups, and the records of each."""
    alpha: float = 0.05
    power: float = 0.8

    @property
    def without_privacy(self) -> int:
        return self._needed(None)

    def lines(self, epsilons: Iterable[Fraction]) -> list[dict[str, Any]]:
        plain = self.without_privacy
        found = [(epsilon, self._needed(epsilon)) for epsilon in epsilons]
        return [{"epsilon": float(e), "records": needed, "factor": needed / plain} for e, needed in found]

    def to_dict(self, epsilons: Iterable[Fraction]) -> dict[str, Any]:
        settings = {"shares": list(self.shares), "arms": self.arms, "alpha": self.alpha, "power": self.power}
        return settings | {"without_privacy": self.without_privacy, "lines": self.lines(epsilons)}

    def _needed(self, epsilon: Fraction | None) -> int:
        how = one_share if self.arms == 1 else two_shares
        return how(*self.shares, epsilon=epsilon, alpha=self.alpha, power=self.power)
