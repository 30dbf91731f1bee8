"""A question about a table, in the safe order of charged work: refuse, reserve, read, answer."""

from __future__ import annotations

from typing import Any

from privet.privacy.answers import Answer
from privet.privacy.certificate import Certificate
from privet.privacy.ledger import Ledger
from privet.schema import Schema
from privet.structure.grammar import parse_question
from privet.structure.questions import Question
from privet.work import Purse, Work


def answer(
    source: Any,
    schema: Schema,
    question: Question | str,
    epsilon: object,
    ledger: Ledger | Purse,
    *,
    quoted_line_breaks: bool = False,
) -> tuple[Answer, Certificate]:
    """The answer to one question, and what was promised for it.

    ``source`` is what :func:`privet.protect` takes, or what it returns.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(1000)
    >>> found, certificate = answer(table, schema, "average of temperature by weight", 0.5, privet.Ledger(1))
    >>> list(found.values), certificate.epsilon
    (['Underweight', 'Normal', 'Overweight'], Fraction(1, 2))
    """
    asked = parse_question(question) if isinstance(question, str) else question
    asked.check(schema)
    work = Work(source, schema, epsilon, str(asked), ledger, quoted_line_breaks=quoted_line_breaks)
    with work, work.records() as data:
        return data.ask(asked, epsilon), data.certificate()
