"""The one judge: what a source states is a row of data, what we measured comes from an experiment.

``statements/<work>.toml`` has a row for every measure, ``[section.measure]``:

- ``source``, ``says``, ``published``: where it stands, what it says in our words, and the value it prints. Where a row
  stands for a printed table, ``published`` has a value for every place (``at`` of the measure); places that the source
  does not print are not judged.
- ``ours``: how our numbers are shown. ``rule``: a condition on our numbers and ``published``. ``how``: the rule in
  words, shown always. ``why``: shown where it differs, for all places or for each (``else`` for the others); without
  one the page says that no reason is known.
- ``rule = "prints"``: our numbers, rounded, are the digits that are printed. No rule: it cannot be recomputed.

Texts are templates of the measure's values and of the section's own texts. A list is joined by ", ", or by what follows
a bar: ``{shares:.2f| and }``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from string import Formatter
from typing import Any

from privet_experiments.outcome import Statement, Verdict

ALLOWED = {one.__name__: one for one in (abs, all, any, float, len, max, min, pairwise, round, set, sorted, sum, zip)}
"""What a rule may call."""


class Measure:
    """What an experiment found out about one statement: the name of its row, and numbers and words by name."""

    def __init__(self, name: str, **values: Any) -> None:
        self.name, self.values = name, values


@cache
def rows_of(section: str) -> dict[str, Any]:
    """The rows of a section, such as ``"fletcher.fig81"``, by measure; and texts that several of them share."""
    work, _, part = section.partition(".")
    text = files("privet_experiments").joinpath("statements", f"{work}.toml").read_text("utf-8")
    rows: dict[str, Any] = tomllib.loads(text)[part]
    return rows


def published(section: str, measure: str) -> Any:
    """What the source prints, for an experiment that shows it beside its own numbers."""
    return rows_of(section)[measure]["published"]


def judge(section: str, measures: Iterable[Measure]) -> tuple[Statement, ...]:
    """A statement for every measure, in their order. A measure without a row is a fault of the experiment's."""
    rows = rows_of(section)
    shared = {name: text for name, text in rows.items() if isinstance(text, str)}
    found = (_judged(rows[measure.name], shared | measure.values) for measure in measures)
    return tuple(statement for statement in found if statement is not None)


def rounds_to(value: float, text: str) -> bool:
    """Whether a number is printed so, rounded to as many digits.

    >>> rounds_to(0.0196, "0.02"), rounds_to(0.904837, "0.90483")
    (True, False)
    """
    return abs(value - float(text)) <= 10.0 ** -_decimals(text) * (0.5 + 1e-9)


def _judged(row: Mapping[str, Any], values: Mapping[str, Any]) -> Statement | None:
    said = row["published"]
    at = values.get("at")
    if isinstance(said, dict):
        if at not in said:
            return None
        said = said[at]
    known = {**values, "published": said}
    why = row.get("why", "")
    if isinstance(why, dict):
        why = why.get(at) or why.get("else", "")
    if row.get("rule") == "prints":
        ours, wrong = _printed(said, values["value"])
        reason = [". ".join(text for text in ("; ".join(wrong), _fill(why, known)) if text)]
        verdict: Verdict = "differs" if wrong else "reproduced"
    else:
        ours = _fill(row["ours"], known)
        reason = [_fill(why, known) or "no reason is known"]
        verdict = _verdict(row.get("rule"), known)
    how = _fill(row.get("how", ""), known)
    shown = [how, *(reason if verdict != "reproduced" else ())]
    return Statement(
        _fill(row["source"], known),
        _fill(row["says"], known),
        _fill(row.get("printed", "{published}"), known),
        ours,
        verdict,
        "; ".join(text for text in shown if text),
    )


def _verdict(rule: str | None, known: Mapping[str, Any]) -> Verdict:
    if rule is None:
        return "not recomputable"
    # The rows are files of this package: a rule is our own text, and reaches nothing but these names.
    names = {"__builtins__": {}, **ALLOWED, **known}
    return "reproduced" if eval(rule, names) else "differs"


def _printed(said: str | Sequence[str], value: Any) -> tuple[str, list[str]]:
    """Our numbers with as many digits, two more for a single one; and those that differ, if it is a row of them."""
    if isinstance(said, str):
        return f"{value:.{_decimals(said) + 2}f}", [] if rounds_to(value, said) else [""]
    pairs = list(zip(said, value, strict=True))
    wrong = [f"{text} is {one:.{_decimals(text) + 1}f}" for text, one in pairs if not rounds_to(one, text)]
    return " ".join(f"{one:.{_decimals(text)}f}" for text, one in pairs), wrong


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


class _Lists(Formatter):
    """Formats every item of a list, and the values of a dictionary behind their names."""

    def format_field(self, value: Any, format_spec: str) -> str:
        spec, bar, between = format_spec.partition("|")
        if isinstance(value, dict):
            return (between if bar else ", ").join(f"{name} {format(one, spec)}" for name, one in value.items())
        if isinstance(value, list | tuple):
            return (between if bar else ", ").join(format(one, spec) for one in value)
        return format(value, spec)


def _fill(template: Any, known: Mapping[str, Any]) -> str:
    return _Lists().vformat(str(template), (), known) if isinstance(template, str) else str(template)
