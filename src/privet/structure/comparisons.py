"""Conditions on a record, by value: the closed set of ``where`` operators.

The same five operators serve ``PrivateDataset.where``, ``privet ask``, rules that people write, and the server:

========  ================================  ==============================================
operator  also written                      a record meets it if its cell
========  ================================  ==============================================
is        ``=``, ``==``                     is this value
in                                          is one of these values
at_most   ``<=``, ``at most``               is a number up to this one
above     ``>``                             is a number above this one
missing   ``is missing``                    is missing, where the schema has a code for it
========  ================================  ==============================================

A missing number is neither at most nor above anything. A comparison reads one code of a record, so it is a public
table from codes to yes and no (:meth:`Comparison.kept`). The proof is in ``docs/proofs/questions.md``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.bidi import isolated
from privet.errors import ParameterError, SchemaError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.attributes import MAX_CODES
from privet.schema.limits import brief
from privet.structure.splits import Multiway

LABEL = -1  # the label, where a column is meant by number
MOST_VALUES = 1_000  # of one ``in``: a list that a person or a program writes, not a table
ABSENT = ("?", "missing")  # listed categories that stand for a missing cell


class Op(StrEnum):
    """How a cell is compared."""

    IS = "is"
    IN = "in"
    AT_MOST = "at_most"
    ABOVE = "above"
    MISSING = "missing"

    @classmethod
    def parse(cls, text: object) -> Op:
        """The operator of that name or spelling.

        >>> Op.parse(">").value, Op.parse("at most").value
        ('above', 'at_most')
        """
        found = _SPELLINGS.get(text.strip().lower()) if isinstance(text, str) else None
        if found is None:
            fix = _INSTEAD.get(text) if isinstance(text, str) else None
            raise ParameterError(
                parameter="op",
                problem=f"{brief(text)} is no operator",
                fix=fix or "use is, in, at_most (<=), above (>) or missing",
            )
        return found


_SPELLINGS = {
    **{op.value: op for op in Op},
    **{"=": Op.IS, "==": Op.IS, "<=": Op.AT_MOST, "at most": Op.AT_MOST, ">": Op.ABOVE, "is missing": Op.MISSING},
}
_INSTEAD = {
    "<": "use <=, with the largest value that is meant",
    ">=": "use >, with the largest value that is not meant",
    "!=": "use in, with the values that are meant",
    "<>": "use in, with the values that are meant",
}


class Kept(NamedTuple):
    """What a comparison means under a schema."""

    attribute: int  # its number; LABEL for the label
    codes: NDArray[np.bool_]  # for each code, whether it meets the comparison
    note: str = ""  # what was read instead, where the cut lies between public points


@dataclass(frozen=True)
class Comparison:
    """A column, an operator and a value.

    >>> print(Comparison("age", ">", 63.7))
    age > 63.7
    >>> Comparison("ward", "in", ["a", "b"]).to_dict()
    {'column': 'ward', 'op': 'in', 'value': ['a', 'b']}
    """

    column: str
    op: Op
    value: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise ParameterError(parameter="column", problem=f"must be the name of a column, not {brief(self.column)}")
        object.__setattr__(self, "op", Op.parse(self.op))
        object.__setattr__(self, "value", _checked(self.op, self.value))

    def __str__(self) -> str:
        name = isolated(self.column)
        match self.op:
            case Op.MISSING:
                return f"{name} is missing"
            case Op.IN:
                return f"{name} in ({', '.join(isolated(str(value)) for value in self.value)})"
            case Op.IS:
                return f"{name} = {isolated(str(self.value))}"
            case _:
                return f"{name} {'<=' if self.op is Op.AT_MOST else '>'} {self.value:.10g}"

    def to_dict(self) -> dict[str, Any]:
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"column": self.column, "op": self.op.value} | ({} if self.op is Op.MISSING else {"value": value})

    @classmethod
    def from_dict(cls, facts: Any) -> Comparison:
        """From ``{"column": ..., "op": ..., "value": ...}``; other keys are refused."""
        if not isinstance(facts, dict) or not {"column", "op"} <= facts.keys() <= {"column", "op", "value"}:
            raise ParameterError(parameter="where", problem="must list objects with column, op and value, and no more")
        return cls(facts["column"], facts["op"], facts.get("value"))

    def kept(self, schema: Schema) -> Kept:
        """The codes that meet it. A cut between public points is moved to the nearest one, and the note says so."""
        place = column_of(schema, self.column)
        fact = schema.label if place == LABEL else schema.attributes[place]
        if isinstance(fact, Categorical):
            return Kept(place, self._categories(fact))
        codes, note = self._bins(fact)
        return Kept(place, codes, note)

    def cuts(self, schema: Schema) -> tuple[float, ...]:
        """The cuts of a number at which no record would be on the wrong side; empty for categories."""
        place = column_of(schema, self.column)
        if place == LABEL or self.op is Op.MISSING:
            return ()
        fact = schema.attributes[place]
        if isinstance(fact, Categorical):
            return ()
        if self.op in (Op.AT_MOST, Op.ABOVE):
            wanted = [self._cut(fact)]
        else:
            wanted = [end for value in _several(self.value) for end in _ends(_whole(fact, value))]
        return tuple(cut for cut in wanted if fact.low < cut < fact.high)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _categories(self, fact: Categorical) -> NDArray[np.bool_]:
        kept = np.zeros(fact.arity, dtype=np.bool_)
        if self.op is Op.MISSING:
            absent = [code for code, value in enumerate(fact.values) if str(value).strip().lower() in ABSENT]
            if not absent:
                raise ParameterError(
                    f"{fact.name!r} has no value for missing cells", parameter=fact.name, fix="list '?' in the schema"
                )
            kept[absent[0]] = True
        elif self.op in (Op.AT_MOST, Op.ABOVE):
            numbers = [_number(value) for value in fact.values]
            if any(math.isnan(number) for number in numbers):
                raise ParameterError(
                    f"{fact.name!r} is a category: it has no order", parameter=fact.name, fix="use is or in"
                )
            kept[:] = np.array(numbers) <= self.value
            kept ^= self.op is Op.ABOVE
        else:
            kept[[_code(fact, value) for value in _several(self.value)]] = True
        return kept

    def _bins(self, fact: Numeric) -> tuple[NDArray[np.bool_], str]:
        kept = np.zeros(fact.arity, dtype=np.bool_)
        if self.op is Op.MISSING:
            if fact.missing is None:
                raise ParameterError(
                    f"{fact.name!r} has no marker of missing values: they are read as the middle of the bounds",
                    parameter=fact.name,
                    fix="declare missing in the schema",
                )
            kept[-1] = True
            return kept, ""
        present = len(fact.cuts) + 1
        if self.op in (Op.IS, Op.IN):
            values = [_whole(fact, value) for value in _several(self.value)]
            codes = np.searchsorted(fact.cuts, values, side="left")
            kept[codes] = True
            edges = np.concatenate([[-math.inf], fact.cuts, [math.inf]])
            exact = all(_alone(fact, value) for value in values)
            runs = ", ".join(sorted({f"({edges[c]:.10g}, {edges[c + 1]:.10g}]" for c in codes}))
            return kept, "" if exact else self._note(f"{isolated(self.column)} in {runs}")
        cut = self._cut(fact)
        if cut >= fact.high:
            kept[:present] = True  # only at_most comes here
            return kept, ""
        if not fact.cuts.size:
            raise ParameterError(f"{fact.name!r} has no public cut", parameter=fact.name, fix="declare thresholds")
        nearest = int(np.argmin(np.abs(fact.cuts - cut)))
        if self.op is Op.AT_MOST:
            kept[: nearest + 1] = True
        else:
            kept[nearest + 1 : present] = True
        exact = fact.cuts[nearest] == cut or (fact.integer and math.floor(fact.cuts[nearest]) == math.floor(cut))
        sign = "<=" if self.op is Op.AT_MOST else ">"
        return kept, "" if exact else self._note(f"{isolated(self.column)} {sign} {fact.cuts[nearest]:.10g}")

    def _cut(self, fact: Numeric) -> float:
        """The cut that separates exactly: half-way between whole numbers, else the value itself."""
        value = float(self.value)
        if not fact.low <= value <= fact.high or (self.op is Op.ABOVE and value == fact.high):
            raise ParameterError(
                f"{self} lies beyond the declared bounds of {fact.name!r}, {fact.low:g} to {fact.high:g}",
                parameter=fact.name,
                fix="compare with a number between them; values beyond a bound count as the bound",
            )
        if fact.integer:
            return math.floor(value) + 0.5 if value < math.floor(fact.high) else fact.high
        return math.nextafter(fact.low, math.inf) if value == fact.low else value

    def _note(self, read: str) -> str:
        return f"{self} was read as {read}: cuts lie on a public grid"


def column_of(schema: Schema, name: str) -> int:
    """The number of an attribute, or ``LABEL``."""
    if name == schema.label.name:
        if isinstance(schema.label, Categorical):
            return LABEL
        raise ParameterError(
            f"the label {name!r} is a number", parameter="column", fix="declare it as an attribute to ask about it"
        )
    if name in schema.names:
        return schema.names.index(name)
    close = difflib.get_close_matches(name, (*schema.names, schema.label.name), 1)
    hint = f"did you mean {close[0]!r}?" if close else f"they are {', '.join((*schema.names, schema.label.name))}"
    raise SchemaError(f"no attribute is called {brief(name)}", parameter="column", fix=hint)


def code_names(schema: Schema, place: int) -> list[Any]:
    """The codes of a column in words: the values of a category, the bins of a number."""
    fact = schema.label if place == LABEL else schema.attributes[place]
    if isinstance(fact, Categorical):
        return list(fact.values)
    return [Multiway(place).describe(schema, code) for code in range(fact.arity)]


def with_cuts(schema: Schema, comparisons: Iterable[Comparison]) -> Schema:
    """The schema with further cuts, so that the comparisons need no snapping. Earlier cuts stay."""
    wanted: dict[int, set[float]] = {}
    for one in comparisons:
        if cuts := one.cuts(schema):
            wanted.setdefault(column_of(schema, one.column), set()).update(cuts)
    attributes = list(schema.attributes)
    for a, further in wanted.items():
        attributes[a] = cut_finer(attributes[a], sorted(further))
    return schema if tuple(attributes) == schema.attributes else replace(schema, attributes=tuple(attributes))


def cut_finer(fact: Any, cuts: Sequence[float]) -> Numeric:
    """A number with further cuts; as it is, where they are there or do not fit."""
    assert isinstance(fact, Numeric)
    if fact.integer:  # 40 and 40.5 tell the same whole numbers apart
        cuts = [cut for cut in cuts if math.floor(cut) not in np.floor(fact.cuts)]
    union = np.union1d(fact.cuts, cuts)
    fits = union.size <= MAX_CODES and fact.low < union[0] and union[-1] < fact.high
    return replace(fact, thresholds=tuple(union.tolist())) if fits and union.size > fact.cuts.size else fact


def _checked(op: Op, value: Any) -> Any:
    if op is Op.MISSING:
        if value is not None:
            raise ParameterError(parameter="value", problem="must be left out: missing compares with nothing")
        return None
    if op is Op.IN:
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            raise ParameterError(parameter="value", problem="must be a list of values", fix="use is for a single one")
        values = tuple(_plain(one) for one in value)
        if not 1 <= len(values) <= MOST_VALUES:
            raise ParameterError(parameter="value", problem=f"must list 1 to {MOST_VALUES} values")
        return values
    if op is Op.IS:
        return _plain(value)
    number = _number(value)
    if not math.isfinite(number):
        raise ParameterError(parameter="value", problem=f"must be a number, not {brief(value)}", fix="or use is or in")
    return number


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | int | float) or plain != plain:
        raise ParameterError(parameter="value", problem=f"must be a text or a number, not {brief(value)}")
    return plain


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _number(value: Any) -> float:
    """The number that a value is or spells; NaN if none."""
    if isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _code(fact: Categorical, value: Any) -> int:
    """The code of a declared value: equal and of its type, else of the same text, else of the same number."""
    for alike in (
        lambda one: one == value and isinstance(one, bool) == isinstance(value, bool),
        lambda one: str(one).strip() == str(value).strip(),
        lambda one: _number(one) == _number(value),
        lambda one: isinstance(one, bool) and str(one).lower() == str(value).strip().lower(),
    ):
        for code, one in enumerate(fact.values):
            if alike(one):
                return code
    texts = [str(one) for one in fact.values]
    close = difflib.get_close_matches(str(value), texts, 1)
    listed = ", ".join(texts[:10]) + (", ..." if len(texts) > 10 else "")
    hint = f"did you mean {close[0]!r}?" if close else f"the values are {listed}"
    raise ParameterError(f"{brief(value)} is no value of {fact.name!r}", parameter=fact.name, fix=hint)


def _whole(fact: Numeric, value: Any) -> float:
    """A whole number that ``is`` can ask for."""
    number = _number(value)
    if not fact.integer or not number.is_integer() or not fact.low <= number <= fact.high:
        what = "whole number within its bounds" if fact.integer else "whole-number attribute"
        raise ParameterError(
            f"{fact.name!r} is numeric: is and in need a {what}", parameter=fact.name, fix="use at_most and above"
        )
    return number


def _ends(value: float) -> tuple[float, float]:
    return value - 0.5, value + 0.5


def _alone(fact: Numeric, value: float) -> bool:
    """Whether no other whole number within the bounds has the value's code."""
    others = [other for other in (value - 1, value + 1) if fact.low <= other <= fact.high]
    mine = np.searchsorted(fact.cuts, value, side="left")
    return all(np.searchsorted(fact.cuts, other, side="left") != mine for other in others)
