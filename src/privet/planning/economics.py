"""What epsilon is worth in money: the economic model of Hsu et al., *Differential Privacy: An Economic Method for
Choosing Epsilon* (CSF 2014); Fletcher 2017, section 3.5.

A participant of a study risks something: that an insurer raises her premium, that a neighbour learns of her illness.
The **base cost** E is what such events cost her on average if she does *not* take part, for they can happen anyway. By
the promise of epsilon, taking part multiplies the chance of any event by at most e^epsilon. So it costs her at most
(e^epsilon - 1) E more, and that is a fair compensation.

Money bounds epsilon from above: N participants must not cost more than the budget B,

    N (e^epsilon - 1) E <= B.

Accuracy bounds it from below: noise of scale 1/(epsilon N) on a share must stay small. A study is possible if an
epsilon is left in between. E and B are in the same currency; chances and shares lie between 0 and 1.

>>> E = base_cost([(0.001, 50_000), (0.02, 500)])  # (chance, cost) of two bad events, without the study
>>> E
60.0
>>> round(largest_epsilon(budget=10_000, records=1_000, base_cost=E), 3)
0.154
>>> study = Study(records=1_000, base_cost=E, budget=10_000, within=0.1, miss=0.05)
>>> study.possible, round(study.smallest_epsilon, 3), round(study.largest_epsilon, 3)
(True, 0.066, 0.154)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from privet.privacy.budget import epsilon as parse_epsilon
from privet.recipes.parameters import check_number, check_whole

MOST_RECORDS = 10**12  # more than there are people
MOST_MONEY = 1e15


def base_cost(events: Iterable[tuple[float, float]]) -> float:
    """E, the expected cost of bad events to someone who does not take part: the sum of chance times cost.

    Hsu et al. weigh the consequences of any *result* of the study by how likely that result is without her; a list of
    events and their chances is that sum worked out.

    >>> base_cost([(0.01, 1_000), (0.001, 20_000)])
    30.0
    """
    total = 0.0
    for chance, cost in events:
        check_number(chance, "the chance of an event", 0, 1)
        check_number(cost, "the cost of an event", 0, MOST_MONEY)
        total += float(chance) * float(cost)
    return total


def extra_cost(epsilon: object, base_cost: float) -> float:
    """(e^epsilon - 1) E: the most that taking part adds to a participant's expected cost, and so her compensation.

    >>> round(extra_cost(0.1, base_cost=60), 2)
    6.31
    """
    check_number(base_cost, "base_cost", 0, MOST_MONEY)
    try:
        return math.expm1(float(parse_epsilon(epsilon))) * base_cost
    except OverflowError:
        return math.inf


def compensation(epsilon: object, records: int, base_cost: float) -> float:
    """N (e^epsilon - 1) E: the compensation of all participants together.

    >>> round(compensation(0.1, records=1_000, base_cost=60))
    6310
    """
    return check_whole(records, "records", 1, MOST_RECORDS) * extra_cost(epsilon, base_cost)


def largest_epsilon(budget: float, records: int, base_cost: float) -> float:
    """ln(1 + B / (N E)): the epsilon at which the compensation uses up the budget.

    Without a budget there is no epsilon; if nothing bad can happen (E = 0) any will do: infinity.

    >>> round(largest_epsilon(6_310, 1_000, 60), 3)
    0.1
    """
    check_number(budget, "budget", 0, MOST_MONEY)
    check_number(base_cost, "base_cost", 0, MOST_MONEY)
    people = check_whole(records, "records", 1, MOST_RECORDS)
    return math.log1p(budget / (people * base_cost)) if base_cost else math.inf


def chance_of_missing(epsilon: float, records: int, within: float) -> float:
    """An upper bound on the chance that a noisy share of N records is further than T from the population's.

    Half of T is for sampling, 2 exp(-N T^2 / 2) by Hoeffding, half for the noise of scale 1/(epsilon N),
    exp(-epsilon N T / 2). (This bound is derived here; the paper's own constants may differ.)

    >>> round(chance_of_missing(0.1, records=2_000, within=0.1), 4)
    0.0001
    """
    people = check_whole(records, "records", 1, MOST_RECORDS)
    check_number(within, "within", 1e-9, 1)
    check_number(epsilon, "epsilon", 0, math.inf)
    return min(1.0, _by_sampling(people, within) + math.exp(-epsilon * people * within / 2))


def smallest_epsilon(records: int, within: float, miss: float) -> float:
    """The epsilon from which a share is off by more than T with probability at most ``miss``.

    Infinity if sampling alone misses more often: then only more records help.

    >>> round(smallest_epsilon(1_000, within=0.1, miss=0.05), 4)
    0.0662
    >>> smallest_epsilon(100, within=0.1, miss=0.05)
    inf
    """
    people = check_whole(records, "records", 1, MOST_RECORDS)
    check_number(within, "within", 1e-9, 1)
    check_number(miss, "miss", 1e-12, 0.999)
    left = miss - _by_sampling(people, within)
    return -2 * math.log(left) / (people * within) if left > 0 else math.inf


def _by_sampling(people: int, within: float) -> float:
    return 2 * math.exp(-people * within**2 / 2)


@dataclass(frozen=True)
class Study:
    """A study that estimates a share, and the range of epsilons that money and accuracy allow.

    Parameters
    ----------
    records : N, the number of participants
    base_cost : E, the mean cost of bad events to a participant without the study; money
    budget : B, the money to compensate them all
    within : T, how far off the share may be
    miss : the probability that it is further off

    >>> print(Study(records=1_000, base_cost=60, budget=10_000, within=0.1, miss=0.05))
    possible with epsilon from 0.0662 to 0.154: 1,000 people are owed 4,106 to 10,000
    >>> print(Study(records=1_000, base_cost=60, budget=2_000, within=0.1, miss=0.05))
    impossible: the money allows epsilon up to 0.0328, the accuracy asks for 0.0662 at least
    """

    records: int
    base_cost: float
    budget: float
    within: float
    miss: float

    @property
    def smallest_epsilon(self) -> float:
        return smallest_epsilon(self.records, self.within, self.miss)

    @property
    def largest_epsilon(self) -> float:
        return largest_epsilon(self.budget, self.records, self.base_cost)

    @property
    def possible(self) -> bool:
        return self.smallest_epsilon <= self.largest_epsilon and math.isfinite(self.smallest_epsilon)

    def __str__(self) -> str:
        low, high = self.smallest_epsilon, self.largest_epsilon
        if math.isinf(low):
            return f"impossible: {self.records:,} records are too few to come within {self.within:g}, whatever epsilon"
        if not self.possible:
            return f"impossible: the money allows epsilon up to {high:.3g}, the accuracy asks for {low:.3g} at least"
        owed = compensation(low, self.records, self.base_cost)
        most = f" to {self.budget:,.0f}" if math.isfinite(high) else ""
        return f"possible with epsilon from {low:.3g} to {high:.3g}: {self.records:,} people are owed {owed:,.0f}{most}"
