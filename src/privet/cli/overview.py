"""The page of ``privet schema edit``: what is decided, and what is still to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privet.bidi import isolated

LONGEST = 60  # characters of a list that is shown
TO_DO = "(to do)"


def overview(facts: dict[str, Any], is_whole: Callable[[dict[str, Any]], bool], *, class_is_whole: bool) -> str:
    """A line for each column, the class and the unit, with the numbers that ``:go`` takes."""
    rows = [(one["name"], _column(one) if is_whole(one) else TO_DO) for one in facts.get("attributes", [])]
    labels = facts.get("labels")
    known = _range(labels) if isinstance(labels, dict) else _listed(labels or [])
    basis = f"; {isolated(facts['labels_basis'])}" if class_is_whole and facts.get("labels_basis") else ""
    rows.append((f"the class: {isolated(facts.get('class') or '?')}", known + basis if class_is_whole else TO_DO))
    rows.append(("the unit", _unit(facts)))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{number:>4}  {isolated(name):<{width}}  {text}" for number, (name, text) in enumerate(rows, 1))


def _column(one: dict[str, Any]) -> str:
    text = _range(one) if one.get("type") == "continuous" else _listed(one.get("values") or [])
    if one.get("missing") not in (None, []):
        markers = one["missing"] if isinstance(one["missing"], list) else [one["missing"]]
        text += f"; missing: {_listed(markers)}"
    if isinstance(one.get("spellings"), dict):
        many = sum(map(len, one["spellings"].values()))
        text += f"; {many} other spelling{'s'[: many > 1]}"
    elif one.get("spellings"):
        text += f"; spellings of {isolated(one['spellings'])}"
    text += "; capitals do not matter" if one.get("fold") else ""
    text += f"; first {one['prefix']} characters" if one.get("prefix") else ""
    if isinstance(one.get("date"), dict):
        text += f"; the {one['date'].get('part')} of {isolated(one.get('from') or one['name'])}"
    return f"{text}; {isolated(one['basis'])}" if one.get("basis") else text


def _range(one: dict[str, Any]) -> str:
    return f"{'whole numbers' if one.get('integer') else 'numbers'} from {one.get('min')} to {one.get('max')}"


def _listed(values: list[Any]) -> str:
    text = ", ".join(isolated(value) for value in values)
    return text if len(text) <= LONGEST else f"{len(values)} values: {text[:LONGEST]}..."


def _unit(facts: dict[str, Any]) -> str:
    if "unit" not in facts:
        return TO_DO
    unit = facts["unit"]
    if not isinstance(unit, dict):
        return "one row is one person"
    return f"one {isolated(unit.get('name'))}, with at most {unit.get('max_rows')} rows"
