"""The text form of a question, and of a comparison: a small grammar, parsed and never evaluated.

::

    question    = what [ "where" comparison { "and" comparison } ] [ "by" column ]
    what        = "count" | "class counts" | "sum of" column | "average of" column | "histogram of" column
                | "quantiles" share { "," share } "of" column | "median of" column | "most frequent" column
    comparison  = column ( "=" | "is" ) value | column "in" "(" value { "," value } ")"
                | column ( "<=" | "at most" ) number | column ( ">" | "above" ) number | column "is missing"
    rule        = ( "if" condition { "and" condition } "then" value | "always" value ) [ "(" fact { "," fact } ")" ]
    condition   = comparison [ "or is missing" ]
    fact        = ( "support" | "confidence" | "below" | "deviation" ) number

A column or a value with blanks, commas, brackets or operators in it, or one that is also a word of the grammar, is put
in single or double quotes; a quote in it is written twice. Words of the grammar are read in any case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from privet.errors import ParameterError
from privet.structure.comparisons import Comparison, Op
from privet.structure.questions import Ask, Question

LONGEST = 10_000  # characters of a question
_TOKEN = re.compile(r"""\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|(<=|>=|==|!=|<>|[=<>(),])|([^\s"'=<>!(),]+))""")


_WORDS = {"above", "always", "and", "at", "by", "if", "in", "is", "missing", "most", "of", "or", "then", "where"}
RULE_FACTS = ("support", "confidence", "below", "deviation")  # what a rule can say about itself
Meant = tuple[Comparison, ...]
"""Comparisons of one column, of which a record meets at least one."""


class RuleText(NamedTuple):
    """A rule as it is written: its conditions, what it predicts, and what is known about it."""

    conditions: tuple[Meant, ...]
    label: str
    facts: dict[str, float]


def parse_question(text: str) -> Question:
    """A question from its text.

    >>> parse_question("count where age > 63.7 and ward in (A, 'B 2') by sex").by
    'sex'
    >>> print(parse_question("median of age"))
    quantiles 0.5 of age
    """
    reader = _Reader(text)
    question = reader.question()
    reader.end()
    return question


def parse_comparison(text: str) -> Comparison:
    """A comparison from its text.

    >>> parse_comparison("age > 63.7").op.value
    'above'
    """
    reader = _Reader(text)
    comparison = reader.comparison()
    reader.end()
    return comparison


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    quoted: bool = False
    sign: bool = False

    def is_word(self, *words: str) -> bool:
        return not self.quoted and self.text.lower() in words


class _Reader:
    def __init__(self, text: object) -> None:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise ParameterError(parameter="question", problem=f"must be a text of at most {LONGEST} characters")
        self._text = text
        self._tokens = self._read(text)
        self._next = 0

    def _read(self, text: str) -> list[_Token]:
        tokens, place = [], 0
        end = len(text.rstrip())
        while place < end:
            match = _TOKEN.match(text, place)
            if match is None:
                self._fail("has a quote that is not closed, or a sign it does not know", place, "close each quote")
            double, single, sign, word = match.groups()
            if double is not None or single is not None:
                plain = double.replace('""', '"') if double is not None else single.replace("''", "'")
                tokens.append(_Token(plain, match.start(), quoted=True))
            else:
                tokens.append(_Token(sign or word, match.start(), sign=sign is not None))
            place = match.end()
        return tokens

    def question(self) -> Question:
        ask, of, at = self._what()
        where: list[Comparison] = []
        if self._take("where"):
            where.append(self.comparison())
            while self._take("and"):
                where.append(self.comparison())
        by = self._name("a column after 'by'") if self._take("by") else None
        return Question(ask, of, tuple(where), by, tuple(at))

    def comparison(self) -> Comparison:
        column = self._name("a column")
        if self._take("is"):
            if self._take("missing"):
                return Comparison(column, Op.MISSING)
            return Comparison(column, Op.IS, self._name("a value"))
        if self._take("=", "=="):
            return Comparison(column, Op.IS, self._name("a value"))
        if self._take("in"):
            self._sign("(")
            values = [self._name("a value")]
            while self._take(","):
                values.append(self._name("a value"))
            self._sign(")")
            return Comparison(column, Op.IN, values)
        if self._take("<=") or (self._take("at") and (self._take("most") or self._expected("'most'"))):
            return Comparison(column, Op.AT_MOST, self._name("a number"))
        if self._take(">", "above"):
            return Comparison(column, Op.ABOVE, self._name("a number"))
        token = self._peek()
        if token is not None and token.sign:
            Op.parse(token.text)  # says what to write instead of <, >= and !=
        self._expected("=, in, <=, > or 'is missing'")

    def condition(self) -> Meant:
        first = self.comparison()
        if not self._take("or"):
            return (first,)
        self._take("is")
        if not self._take("missing"):
            self._expected("'missing'")
        return first, Comparison(first.column, Op.MISSING)

    def rule(self) -> RuleText:
        found: list[Meant] = []
        if not self._take("always"):
            if not self._take("if"):
                self._expected("'if' or 'always'")
            found.append(self.condition())
            while self._take("and"):
                found.append(self.condition())
            if not self._take("then"):
                self._expected("'and' or 'then'")
        label = self._name("a value to predict")
        return RuleText(tuple(found), label, self._facts())

    def _facts(self) -> dict[str, float]:
        """What is known about a rule, in brackets after it."""
        found: dict[str, float] = {}
        if not self._take("("):
            return found
        while True:
            name = self._name("support or confidence").lower()
            if name not in RULE_FACTS:
                self._fail(f"expects one of {', '.join(RULE_FACTS)}", 0, "quote a value that ends in brackets")
            try:
                found[name] = float(self._name(f"a number after {name!r}"))
            except ValueError:
                self._expected(f"a number after {name!r}")
            if not self._take(","):
                self._sign(")")
                return found

    def end(self) -> None:
        if self._peek() is not None:
            self._expected("'where', 'and', 'by' or nothing")

    def _what(self) -> tuple[Ask, str | None, list[str]]:
        if self._take("count"):
            return Ask.COUNT, None, []
        if self._take("class-counts") or (self._take("class") and (self._take("counts") or self._expected("'counts'"))):
            return Ask.CLASS_COUNTS, None, []
        if self._take("most-frequent") or (
            self._take("most") and (self._take("frequent") or self._expected("'frequent'"))
        ):
            return Ask.MOST_FREQUENT, self._name("a column"), []
        if self._take("median"):
            return Ask.QUANTILES, self._of(), ["0.5"]
        if self._take("quantiles", "quantile"):
            at = [self._name("a share such as 0.5")]
            while self._take(","):
                at.append(self._name("a share such as 0.5"))
            return Ask.QUANTILES, self._of(), at
        for ask in (Ask.SUM, Ask.AVERAGE, Ask.HISTOGRAM):
            if self._take(ask.value):
                return ask, self._of(), []
        self._expected("count, class counts, sum, average, histogram, quantiles, median or most frequent")

    def _of(self) -> str:
        if not self._take("of"):
            self._expected("'of' and a column")
        return self._name("a column")

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self, *words: str) -> bool:
        token = self._peek()
        if token is None or not token.is_word(*words):
            return False
        self._next += 1
        return True

    def _sign(self, sign: str) -> None:
        if not self._take(sign):
            self._expected(repr(sign))

    def _name(self, what: str) -> str:
        token = self._peek()
        if token is None or token.sign:
            self._expected(what)
        self._next += 1
        return token.text

    def _expected(self, what: str) -> NoReturn:
        token = self._peek()
        self._fail(f"expects {what}", len(self._text) if token is None else token.start, "see `privet ask --help`")

    def _fail(self, problem: str, place: int, fix: str) -> NoReturn:
        rest = self._text[place:].strip()[:40]
        where = f"at {rest!r}" if rest else "at its end"
        raise ParameterError(parameter="question", problem=f"{problem} {where}", fix=fix)


def parse_condition(text: str) -> Meant:
    """A condition of a rule: a comparison, or one ``or is missing``.

    >>> [str(one) for one in parse_condition("age > 63.7 or is missing")]
    ['age > 63.7', 'age is missing']
    """
    reader = _Reader(text)
    condition = reader.condition()
    reader.end()
    return condition


def parse_rule(text: str) -> RuleText:
    """A rule: ``IF condition AND condition THEN value``, or ``ALWAYS value``, with what is known about it.

    >>> rule = parse_rule("IF age > 63.7 AND ward in (a, b) THEN ill (support 40)")
    >>> [str(one) for (one,) in rule.conditions], rule.label, rule.facts
    (['age > 63.7', 'ward in (a, b)'], 'ill', {'support': 40.0})
    """
    reader = _Reader(text)
    rule = reader.rule()
    reader.end()
    return rule


def quoted(word: str) -> str:
    """A column or a value as the grammar reads it: in quotes where it has to be.

    >>> quoted("age"), quoted("ward 2"), quoted("and"), quoted('6" pipe')
    ('age', '"ward 2"', '"and"', '"6"" pipe"')
    """
    plain = _TOKEN.fullmatch(word)
    if plain is not None and plain[4] == word and word.lower() not in _WORDS:
        return word
    return '"' + word.replace('"', '""') + '"'
