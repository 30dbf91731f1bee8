"""Questions about private records, as values: what is asked, of which column, of which records, by what.

``privet ask``, :meth:`PrivateDataset.ask <privet.privacy.dataset.PrivateDataset.ask>` and the server share them. A
question is checked against a schema before anything is charged. Its text form is parsed in
:mod:`privet.structure.grammar`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from privet.bidi import isolated
from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.limits import brief
from privet.structure.comparisons import LABEL, Comparison, column_of

MOST_WHERE = 8  # comparisons of one question
MOST_PARTS = 100  # values of ``by``: a table that a person can read
MOST_QUANTILES = 100
MOST_DIGITS = 4  # decimals of a quantile: its score is then a whole number that a double holds exactly


class Ask(StrEnum):
    """The kinds of questions."""

    COUNT = "count"
    CLASS_COUNTS = "class-counts"
    SUM = "sum"
    AVERAGE = "average"
    HISTOGRAM = "histogram"
    QUANTILES = "quantiles"
    MOST_FREQUENT = "most-frequent"


_OF = {Ask.SUM, Ask.AVERAGE, Ask.HISTOGRAM, Ask.QUANTILES, Ask.MOST_FREQUENT}
_NUMBERS = {Ask.SUM, Ask.AVERAGE, Ask.QUANTILES}


@dataclass(frozen=True)
class Question:
    """A question: its kind, the column it is ``of``, the records ``where`` it is asked, and the parts ``by`` a column.

    Parts are disjoint, so asking all of them costs epsilon once. ``at`` are the shares of a quantile question.

    >>> print(Question("average", "age", [Comparison("ward", "is", "A")], by="sex"))
    average of age where ward = A by sex
    >>> Question("quantiles", "age", at=[0.5]).to_dict()
    {'ask': 'quantiles', 'of': 'age', 'at': [0.5]}
    """

    ask: Ask
    of: str | None = None
    where: tuple[Comparison, ...] = ()
    by: str | None = None
    at: Sequence[Any] = ()

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "ask", Ask(self.ask))
        except ValueError:
            kinds = ", ".join(kind.value for kind in Ask)
            raise ParameterError(
                parameter="ask", problem=f"{brief(self.ask)} is no question", fix=f"ask one of {kinds}"
            ) from None
        if (self.of is not None) != (self.ask in _OF):
            fix = "name a column" if self.ask in _OF else "leave it out"
            raise ParameterError(parameter="of", problem=f"does not suit a {self.ask.value} question", fix=fix)
        for name in (self.of, self.by):
            if name is not None and (not isinstance(name, str) or not name):
                raise ParameterError(f"a column must be named by a text, not {brief(name)}", parameter="of")
        if not isinstance(self.where, Iterable) or isinstance(self.where, str):
            raise ParameterError(parameter="where", problem="must be a list of comparisons")
        object.__setattr__(self, "where", tuple(self.where))
        if any(type(one) is not Comparison for one in self.where) or len(self.where) > MOST_WHERE:
            raise ParameterError(parameter="where", problem=f"must be a list of at most {MOST_WHERE} comparisons")
        if isinstance(self.at, str) or not isinstance(self.at, Iterable):
            raise ParameterError(parameter="at", problem="must be a list of shares, such as [0.5]")
        object.__setattr__(self, "at", tuple(_share(one) for one in self.at))
        if bool(self.at) != (self.ask is Ask.QUANTILES) or len(self.at) > MOST_QUANTILES:
            raise ParameterError(
                parameter="at", problem="is for quantiles", fix=f"give quantiles 1 to {MOST_QUANTILES} shares, as 0.5"
            )

    def __str__(self) -> str:
        shares = ", ".join(f"{float(one):g}" for one in self.at)
        column = "" if self.of is None else isolated(self.of)
        match self.ask:
            case Ask.CLASS_COUNTS:
                text = "class counts"
            case Ask.MOST_FREQUENT:
                text = f"most frequent {column}"
            case Ask.QUANTILES:
                text = f"quantiles {shares} of {column}"
            case _:
                text = self.ask.value + (f" of {column}" if column else "")
        where = f" where {' and '.join(map(str, self.where))}" if self.where else ""
        return text + where + ("" if self.by is None else f" by {isolated(self.by)}")

    def check(self, schema: Schema) -> None:
        """Refuse a question that the schema cannot answer. All of it is public."""
        for one in self.where:
            one.kept(schema)
        if self.of is not None:
            fact = fact_of(schema, self.of)
            if self.ask in _NUMBERS and not isinstance(fact, Numeric):
                raise ParameterError(
                    f"{self.of!r} is categorical; sums, averages and quantiles need a numeric attribute",
                    parameter="of",
                    fix="ask for its histogram, or its most frequent value",
                )
            if self.ask is Ask.MOST_FREQUENT and not isinstance(fact, Categorical):
                raise ParameterError(
                    f"{self.of!r} is numeric: no value of it need occur twice",
                    parameter="of",
                    fix="ask for its histogram or its quantiles",
                )
        if self.ask is Ask.CLASS_COUNTS:
            fact_of(schema, schema.label.name)
        if self.by is not None and self.by == self.of:
            raise ParameterError(parameter="by", problem="must be another column than that of the question")
        if self.by is not None and fact_of(schema, self.by).arity > MOST_PARTS:
            raise ParameterError(
                f"{self.by!r} has more than {MOST_PARTS} values", parameter="by", fix="ask by another, or use where"
            )

    def to_dict(self) -> dict[str, Any]:
        """The form of the server's ``ask``, without what was not given."""
        facts: dict[str, Any] = {"ask": self.ask.value}
        if self.of is not None:
            facts["of"] = self.of
        if self.at:
            facts["at"] = [float(one) for one in self.at]
        if self.where:
            facts["where"] = [one.to_dict() for one in self.where]
        return facts | ({} if self.by is None else {"by": self.by})

    @classmethod
    def from_dict(cls, facts: Any) -> Question:
        """From that form; other keys are refused."""
        keys = {"ask", "of", "where", "by", "at"}
        if not isinstance(facts, dict) or "ask" not in facts or not facts.keys() <= keys:
            raise ParameterError(parameter="ask", problem=f"must be an object with {', '.join(sorted(keys))} at most")
        where, at = facts.get("where", []), facts.get("at", [])
        if not isinstance(where, list) or not isinstance(at, list):
            raise ParameterError(parameter="where", problem="and at must be lists")
        return cls(facts["ask"], facts.get("of"), tuple(map(Comparison.from_dict, where)), facts.get("by"), tuple(at))


def fact_of(schema: Schema, name: str) -> Numeric | Categorical:
    """The attribute, or the label, of that name."""
    place = column_of(schema, name)
    return schema.label if place == LABEL else schema.attributes[place]


def _share(value: Any) -> Fraction:
    try:
        share = Fraction(str(value)) if not isinstance(value, bool) else Fraction(-1)
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 < share < 1 or 10**MOST_DIGITS % share.denominator:
        raise ParameterError(
            parameter="at",
            problem=f"must hold shares between 0 and 1 with at most {MOST_DIGITS} decimals, not {brief(value)}",
            fix="write 0.5 for the median",
        )
    return share
