"""What a question bought: numbers with their price and their error bars, made from released values only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.bidi import isolated
from privet.errors import ParameterError
from privet.structure.questions import Ask, Question

MISSED = 0.05  # of the cases, in which an error bar does not reach


@dataclass(frozen=True)
class Row:
    """One number: of which part (``by``), of which bin, class or share (``of``), and how far noise may move it."""

    value: Any
    within: float
    by: str | None = None
    of: str | None = None
    between: tuple[float, float] | None = None
    """The bounds of a number's bin: above the first, at most the second."""

    def to_dict(self) -> dict[str, Any]:
        names = {"by": self.by, "of": self.of, "between": None if self.between is None else list(self.between)}
        return {key: known for key, known in names.items() if known is not None} | {
            "value": self.value,
            "within": self.within,
        }


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    ``within`` of a row is its error bar: noise moves the number further in at most 5 of 100 cases. For a quantile and
    for the most frequent value it is a number of records, see ``sentence``. ``notes`` say what was read otherwise than
    it was written.
    """

    question: Question
    rows: tuple[Row, ...]
    epsilon: Fraction
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> Any:
        """The number of an answer that has only one."""
        if len(self.rows) != 1:
            raise ParameterError("the answer has several rows; use values or rows")
        return self.rows[0].value

    @property
    def values(self) -> dict[Any, Any]:
        """The numbers by part, by bin, or by both where the question has both."""
        return {(row.by, row.of) if None not in (row.by, row.of) else row.by or row.of: row.value for row in self.rows}

    @property
    def within(self) -> float:
        """The widest error bar."""
        return max(row.within for row in self.rows)

    @property
    def sentence(self) -> str:
        """The error bar in words."""
        reach, of = f"{self.within:,.4g}", "" if self.question.of is None else isolated(self.question.of)
        cases = f"in {100 - round(100 * MISSED)} of 100 cases"
        each = "the number is" if len(self.rows) == 1 else "each number is"
        match self.question.ask:
            case Ask.QUANTILES:
                return f"{each} at a place in the order of {of} that is right within {reach} records, {cases}"
            case Ask.MOST_FREQUENT:
                return f"no value of {of} is more frequent by over {reach} records, {cases}"
            case _:
                return f"{each} within {reach} of the exact one, {cases}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the question in both forms, the rows, the price and the error bar."""
        return {
            "question": str(self.question),
            "ask": self.question.to_dict(),
            "epsilon": str(self.epsilon),
            "rows": [row.to_dict() for row in self.rows],
            "within": self.within,
            "sentence": self.sentence,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [
            f"{' '.join(isolated(name) for name in (row.by, row.of) if name is not None)} {row.value}".strip()
            for row in self.rows
        ]
        return "\n".join([*lines, f"({self.sentence}; epsilon {self.epsilon})", *self.notes])


def laplace_reach(scale: float, missed: float = MISSED) -> int:
    """The least whole number that discrete Laplace noise of this scale exceeds in at most ``missed`` of the cases.

    P(|X| > t) = 2 a^(t + 1) / (1 + a) with a = exp(-1 / scale).

    >>> laplace_reach(10.0)
    30
    """
    a = math.exp(-1 / scale)
    return max(0, math.ceil(scale * math.log(2 / (missed * (1 + a))) - 1))


def choice_reach(scale: float, candidates: int, missed: float = MISSED) -> float:
    """How far the score of a drawn candidate falls below the best one, at most, but for ``missed`` of the cases.

    ``scale`` is that of the exponential mechanism: a candidate's weight is exp(score / scale).
    """
    return scale * math.log(candidates / missed)
