"""The loop of Fletcher 2017, Fig. 5.1, on one budget: publish, assess, change, publish again.

The patterns are counted privately once. Each way to publish is then tried in turn, and its table compared with those
counts, until one retains the patterns well enough. What is tried next depends on released numbers only, so the whole
loop costs the counts and the tables that were made, by composition (``docs/proofs/publishing.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from privet.bidi import isolated
from privet.errors import ParameterError
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.losses import Loss
from privet.progress import Progress
from privet.publishing import Publisher, Release, publish
from privet.rules.private import count_patterns
from privet.rules.retention import MIN_SUPPORT, RetentionReport


@dataclass(frozen=True)
class Goal:
    """The most that each measure may be; None leaves one out. 0 is perfect retention.

    >>> print(Goal(psd=0.02))
    PSD <= 0.02
    """

    psd: float | None = None
    pld: float | None = None
    accuracy: float | None = None

    def __post_init__(self) -> None:
        for name, limit in self.limits.items():
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= 1:
                raise ParameterError(parameter=name, problem=f"must be a number above 0, up to 1, not {limit!r}")
        if not self.limits:
            raise ParameterError("there is no goal", parameter="goal", fix="give one, such as psd=0.02")

    @property
    def limits(self) -> dict[str, float]:
        named = {"PSD": self.psd, "PLD": self.pld, "pattern accuracy": self.accuracy}
        return {name: limit for name, limit in named.items() if limit is not None}

    def distance(self, report: RetentionReport) -> float:
        """How many times the worst measure exceeds its limit; at most 1 if all are met, infinity if one is unknown."""
        found = {"PSD": report.psd, "PLD": report.pld, "pattern accuracy": report.pattern_accuracy}
        far = [found[name] / limit for name, limit in self.limits.items()]
        return math.inf if any(math.isnan(one) for one in far) else max(far)

    def __str__(self) -> str:
        return ", ".join(f"{name} <= {limit:g}" for name, limit in self.limits.items())


@dataclass(frozen=True, eq=False)
class Round:
    """One way to publish, its table, and what that retains."""

    publisher: Publisher
    release: Release
    columns: dict[str, Any]
    report: RetentionReport
    distance: float

    @property
    def met(self) -> bool:
        return self.distance <= 1

    def __str__(self) -> str:
        given = ", ".join(f"{name}={isolated(value)}" for name, value in self.publisher.params.items() if value)
        means = ", ".join(f"{name} {value:.4f}" for name, value in self.report.means.items())
        verdict = "good enough" if self.met else "not good enough"
        return (
            f"{self.publisher.name} ({given}): pattern accuracy {self.report.pattern_accuracy:.4f}, {means}: {verdict}"
        )

    def to_dict(self) -> dict[str, Any]:
        given = {name: value for name, value in self.publisher.params.items() if value is not None}
        facts = {"method": self.publisher.name, "params": {name: str(value) for name, value in given.items()}}
        return facts | {"met": self.met, "retention": self.report.to_dict()}


@dataclass(frozen=True, eq=False)
class Refined:
    """All rounds, and the one to hand out: the first that meets the goal, else the nearest to it."""

    goal: Goal
    rounds: tuple[Round, ...]

    @property
    def chosen(self) -> Round:
        return min(self.rounds, key=lambda one: one.distance)

    def __str__(self) -> str:
        return "\n".join(f"{number}. {one}" for number, one in enumerate(self.rounds, 1))


def price_of(ways: Sequence[Publisher], epsilon: object, epsilon_patterns: object) -> Loss:
    """The most that the loop can cost: the counts, and a table for every way."""
    if not ways:
        raise ParameterError("there is no way to publish", parameter="ways", fix="name one, such as DiffGen()")
    exact = parse_epsilon(epsilon)
    return Loss(parse_epsilon(epsilon_patterns, "epsilon_patterns") + len(ways) * exact)


def refine(
    data: PrivateDataset,
    ways: Sequence[Publisher],
    patterns: Any,
    goal: Goal,
    *,
    epsilon: object,
    epsilon_patterns: object,
    min_support: float = MIN_SUPPORT,
    progress: Progress | None = None,
) -> Refined:
    """Publish by one way after the other until the table retains the patterns well enough.

    Spends ``epsilon_patterns`` once and ``epsilon`` for each table that is made. The price of all is reserved first.

    Parameters
    ----------
    ways : the publishers to try, in this order
    patterns : public rules, or the tree of a released model
    goal : what is good enough
    min_support : the fewest (noisy) records of a pattern for its label distance; well above 1/epsilon_patterns

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> from privet.publishing import DiffGen
    >>> from privet.rules.by_value import rules_by_value
    >>> schema, table = clinic(2000)
    >>> ledger = privet.Ledger(10)
    >>> rules = rules_by_value(schema, ["IF temperature > 38 THEN Sick", "ALWAYS Healthy"])
    >>> ways = [DiffGen(max_depth=1), DiffGen(max_depth=3)]
    >>> found = refine(privet.protect(table, schema, ledger), ways, rules, Goal(psd=1), epsilon=2, epsilon_patterns=1)
    >>> len(found.rounds), ledger.spent  # the first is good enough
    (1, Fraction(3, 1))
    """
    price, rounds = price_of(ways, epsilon, epsilon_patterns), list[Round]()
    with data.for_work(price, "publishing and assessing", data.schema) as work:
        counted = count_patterns(work, patterns, epsilon_patterns)
        for publisher in ways:
            release = publish(publisher, work, epsilon, progress)
            columns = release.records()
            report = counted.report(columns, min_support=min_support)
            rounds.append(Round(publisher, release, columns, report, goal.distance(report)))
            if rounds[-1].met:
                break
    return Refined(goal, tuple(rounds))
