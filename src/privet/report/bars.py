"""The answer to a question about records, for a page: bars with their error bars, and the same as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from privet.bidi import isolated, shortened
from privet.markup import Html, join, tag
from privet.models.number_tree import number_words
from privet.report.axis import Axis
from privet.report.curves import tick_text

WIDTH, NAMES, RIGHT, TOP, BOTTOM, LINE = 560, 190, 14, 6, 24, 24  # pixels; ``NAMES`` is for the names of the bars
BAR = 12  # pixels
LONGEST = 26  # characters of a name
MOST_BARS = 40  # in a picture; the table has the rest
NO_BARS = ("quantiles", "most-frequent")  # their error bars are numbers of records, not of values


def answer_context(ask: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """The question in words, a picture, the rows of a table, and how far noise may have moved each number.

    ``answer`` is what a server or :meth:`Answer.to_dict <privet.privacy.answers.Answer.to_dict>` says.
    """
    rows = answer["rows"]
    drawn = ask["ask"] not in NO_BARS and all(isinstance(row["value"], int | float) for row in rows)
    counts = not ask.get("of") or ask["ask"] == "histogram"
    named = [(_name(row), row) for row in rows]
    return {
        "question": answer["question"],
        "picture": bar_picture(named[:MOST_BARS], str(answer["question"])) if drawn and len(rows) > 1 else None,
        "rows": [(name, _words(row["value"]), _words(row["within"])) for name, row in named],
        "one": _words(rows[0]["value"]) if len(rows) == 1 else None,
        "within": _words(answer["within"]),
        "sentence": answer["sentence"],
        "notes": list(answer["notes"]),
        "negative": counts and any(isinstance(row["value"], int | float) and row["value"] < 0 for row in rows),
        "more": len(rows) > MOST_BARS,
    }


def bar_picture(rows: Sequence[tuple[str, Mapping[str, Any]]], title: str) -> Html:
    """Horizontal bars from zero, each with a line as far as noise may have moved it."""
    low = min(0.0, *(row["value"] - row["within"] for _, row in rows))
    high = max(0.0, *(row["value"] + row["within"] for _, row in rows))
    step = 10.0 ** math.floor(math.log10((high - low) or 1.0)) / 2
    ends = math.floor(low / step) * step, math.ceil(high / step) * step  # round numbers
    axis = Axis.of([ends[0], max(ends[1], ends[0] + step)], NAMES, WIDTH - RIGHT)
    height, zero = TOP + LINE * len(rows) + BOTTOM, axis.across(0.0)
    shapes: list[Html] = []
    for place, words in axis.ticks():
        anchor = "end" if place >= axis.right else "middle"
        shapes.append(tag("line", x1=f"{place:.1f}", x2=f"{place:.1f}", y1=TOP, y2=height - BOTTOM, class_="grid"))
        shapes.append(tick_text(words, f"{place:.1f}", height - 6, anchor))
    for line, (name, row) in enumerate(rows):
        middle, end = TOP + LINE * (line + 0.5), axis.across(row["value"])
        start, wide = min(zero, end), abs(end - zero)
        shapes.append(tag("text", shortened(name, LONGEST), x=NAMES - 8, y=middle + 4, text_anchor="end"))
        size = {"x": f"{start:.1f}", "y": middle - BAR / 2, "width": f"{wide:.1f}", "height": BAR}
        shapes.append(tag("rect", class_="c0", rx=2, **size))
        reach = [axis.across(row["value"] + sign * row["within"]) for sign in (-1, 1)]
        shapes.append(tag("line", x1=f"{reach[0]:.1f}", x2=f"{reach[1]:.1f}", y1=middle, y2=middle, class_="reach ink"))
    shapes.append(tag("line", x1=f"{zero:.1f}", x2=f"{zero:.1f}", y1=TOP, y2=height - BOTTOM, class_="grid middle"))
    label = f"{title}; the numbers follow"
    return tag("svg", join(shapes), role="img", aria_label=label, class_="shape wide", viewBox=f"0 0 {WIDTH} {height}")


def _name(row: Mapping[str, Any]) -> str:
    names = [isolated(row[part]) for part in ("by", "of") if row.get(part) is not None]
    return ", ".join(names)


def _words(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return isolated(value)
    return f"{value:,}" if isinstance(value, int) else number_words(value, 6)
