"""The pictures of the pages of papers: verdicts, what sources print beside what we found, and experiments' own figures.

They are drawn from what the pages print, by the command that writes them, so that the two cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from privet.evaluation.figure import Figure, Point, Series
from privet_experiments.outcome import Outcome, Statement, tally

COUNTS = ("reproduced", "differ", "too few runs", "not recomputable")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NUMBERS = re.compile(rf"({NUMBER.pattern}(?:(?: and |, | ){NUMBER.pattern})*)(?: ± [\d.]+)?( %)?")
MOST_TIMES = 100  # the median: a chart has some 300 pixels from bottom to top
LEAST_NUMBERS = 5  # fewer are read faster in the table


def verdicts(groups: Mapping[str, Sequence[Statement]], kind: str) -> Figure:
    """How many statements of each group (a work, or an experiment) have which verdict."""
    shown = {name: statements for name, statements in groups.items() if statements} or groups
    counts = {name: tally(statements) for name, statements in shown.items()}
    series = (
        Series(verdict, tuple(Point(name, found[i]) for name, found in counts.items()))
        for i, verdict in enumerate(COUNTS)
    )
    return Figure(f"Verdicts on the statements of each {kind}", kind, "statements", tuple(series))


def figures_of(outcome: Outcome) -> list[Figure]:
    """What a page shows of an experiment: ours beside its source's numbers, and the first of its own figures.

    Its own command draws the others.
    """
    beside = numbers_beside(outcome.statements)
    return [*([beside] if beside else []), *outcome.figures[:1]]


def numbers_beside(statements: Sequence[Statement]) -> Figure | None:
    """Ours beside what the source prints, where both are as many numbers of one unit; None where these are few.

    None too where one number is so large that the others would vanish beside it.

    >>> said = [Statement("A", "a", f"{n} %", f"{n + 1} ± 1 %", "reproduced") for n in (50, 40, 60, 70, 80)]
    >>> [[point.y for point in one.points] for one in numbers_beside(said).series]
    [[40.0, 50.0, 60.0, 70.0, 80.0], [41.0, 51.0, 61.0, 71.0, 81.0]]
    >>> numbers_beside(said[:4])
    >>> row = Statement("A", "a", "0.2 and 7.2", "0.0 and 6.7", "reproduced")
    >>> [[point.y for point in one.points] for one in numbers_beside([row] * 3).series]
    [[0.2, 0.2, 0.2, 7.2, 7.2, 7.2], [0.0, 0.0, 0.0, 6.7, 6.7, 6.7]]
    """
    units: dict[str, list[tuple[float, float]]] = {}
    for one in statements:
        said, found = NUMBERS.fullmatch(one.published), NUMBERS.fullmatch(one.ours)
        if said and found and said[2] == found[2]:
            rows = [list(map(float, NUMBER.findall(row[1]))) for row in (said, found)]
            if len(rows[0]) == len(rows[1]):
                units.setdefault((said[2] or "").strip(), []).extend(zip(*rows, strict=True))
    unit, pairs = max(units.items(), key=lambda one: len(one[1]), default=("", []))
    sizes = sorted(abs(said) for said, _ in pairs)
    if len(pairs) < LEAST_NUMBERS or sizes[-1] > MOST_TIMES * sizes[len(sizes) // 2]:
        return None
    pairs.sort()
    published = tuple(Point(rank, said) for rank, (said, _) in enumerate(pairs, 1))
    ours = tuple(Point(rank, found) for rank, (_, found) in enumerate(pairs, 1))
    series = (Series("published", published, dashed=True), Series("ours", ours))
    title = "Numbers that the source prints, from the smallest to the largest, and ours beside them"
    return Figure(title, "number", unit or "value", series)
