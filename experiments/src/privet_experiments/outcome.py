"""What an experiment comes to: tables, figures, and statements of its source with a verdict on each.

All of it is plain values, so that one command can print it, one function can draw it and one page can show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from privet.evaluation.figure import Figure

MOST_COLUMNS = 8  # more do not fit on a screen
Verdict = Literal["reproduced", "differs", "too few runs", "not recomputable"]


@dataclass(frozen=True)
class Table:
    """Cells as text, as they are printed everywhere."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_markdown(self) -> str:
        """As Markdown; a table that is too wide for a page becomes several, each with the columns that name its rows.

        >>> wide = Table("t", tuple("abcdefghij"), (tuple("x123456789"), tuple("y123456789")))
        >>> wide.to_markdown().splitlines()[::5]
        ['| a | b | c | d | e | f |', '| a | g | h | i | j |']
        """
        every, width = (self.columns, *self.rows), len(self.columns)
        if width <= MOST_COLUMNS:
            return _markdown(every)
        keys = next((n for n in (1, 2, 3) if len({row[:n] for row in self.rows}) == len(self.rows)), 1)
        parts = -(-(width - keys) // (MOST_COLUMNS - keys))
        size = -(-(width - keys) // parts)  # all of about the same width
        return "\n\n".join(
            _markdown([(*row[:keys], *row[start : start + size]) for row in every])
            for start in range(keys, width, size)
        )


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

    @property
    def chance(self) -> str:
        """That chance, as tables have it."""
        return "-" if self.flip is None else f"{100 * self.flip:.1f} %"


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
    agree, apart, few, closed = tally(statements)
    told = [f"{agree} of {len(statements) - closed} statements reproduced"]
    told += [f"{apart} {'differs' if apart == 1 else 'differ'}"] if apart else []
    told += [f"too few runs to judge {few}"] if few else []
    told += [f"{closed} not recomputable"] if closed else []
    return "; ".join(told)


def tally(statements: Sequence[Statement]) -> tuple[int, int, int, int]:
    """How many are reproduced, differ, have too few runs, and cannot be recomputed."""
    agree, apart, few, closed = (sum(one.verdict == verdict for one in statements) for verdict in get_args(Verdict))
    return agree, apart, few, closed


def statement_table(statements: Iterable[Statement], *, why: bool = True) -> Table:
    """Statements as a table."""
    rows = tuple((s.source, s.says, s.published, s.ours, s.verdict, s.chance, s.reason) for s in statements)
    columns = ("source", "says", "published", "ours", "verdict", "chance of a flip", "why")
    kept = len(columns) - (not why)
    return Table("What the source says", columns[:kept], tuple(row[:kept] for row in rows))


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    first, *others = map(_line, rows)
    return "\n".join([first, "|" + "---|" * len(rows[0]), *others])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"
