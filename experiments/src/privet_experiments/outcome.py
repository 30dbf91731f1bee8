"""What an experiment comes to: tables, figures, and statements of its source with a verdict on each.

All of it is plain values, so that one command can print it, one function can draw it and one page can show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from privet.evaluation.figure import Figure

Verdict = Literal["reproduced", "differs", "too few runs", "not recomputable"]


@dataclass(frozen=True)
class Table:
    """Cells as text, as they are printed everywhere."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_markdown(self) -> str:
        lines = [_line(self.columns), "|" + "---|" * len(self.columns), *(_line(row) for row in self.rows)]
        return "\n".join(lines)


@dataclass(frozen=True)
class Statement:
    """Something the source says that can be asked again: its number or order, ours, and whether they agree."""

    source: str
    """Such as "FS Fig. 3"."""
    says: str
    """What the source says, in our words."""
    published: str
    ours: str
    verdict: Verdict
    reason: str = ""
    """Why it differs, or cannot be recomputed, or by which rule it agrees."""
    flip: float | None = None
    """The chance that other runs would give another verdict; None where nothing is drawn."""


@dataclass(frozen=True)
class Outcome:
    """What was found. Only statements that the rows at hand can decide are in it: a smaller form decides fewer."""

    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    """Paragraphs that a reader needs beside the tables."""

    @property
    def verdict(self) -> str:
        return count_verdicts(self.statements)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"verdict": self.verdict}


def judged(holds: bool) -> Verdict:
    """The verdict on what could be asked again."""
    return "reproduced" if holds else "differs"


def count_verdicts(statements: Sequence[Statement]) -> str:
    """How many agree, in words.

    >>> count_verdicts([Statement("FS", "a", "1", "1", "reproduced"), Statement("FS", "b", "1", "2", "differs")])
    '1 of 2 statements reproduced; 1 differs'
    >>> count_verdicts([])
    'nothing of a source is judged'
    """
    if not statements:
        return "nothing of a source is judged"
    agree, apart, few, closed = (sum(one.verdict == verdict for one in statements) for verdict in get_args(Verdict))
    told = [f"{agree} of {len(statements) - closed} statements reproduced"]
    told += [f"{apart} {'differs' if apart == 1 else 'differ'}"] if apart else []
    told += [f"too few runs to judge {few}"] if few else []
    told += [f"{closed} not recomputable"] if closed else []
    return "; ".join(told)


def statement_table(statements: Iterable[Statement], title: str = "What the source says") -> Table:
    """Statements as a table."""
    rows = tuple((s.source, s.says, s.published, s.ours, s.verdict, s.reason) for s in statements)
    return Table(title, ("source", "says", "published", "ours", "verdict", "why"), rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"
