"""The question of ``privet schema edit`` about other spellings of a category, and what stands for a missing cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., Any]
MISSING, FOLD = "missing", "fold"
QUESTION = "Other spellings? As female: f, W; male: m; missing: NA, -; fold if capitals do not matter (- if none)"


def ask_spellings(values: list[Any], old: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """The keys ``spellings``, ``missing`` and ``fold`` of a category, as the owner says them.

    A file of spellings stays as it is.
    """
    before = {key: old[key] for key in ("spellings", MISSING, FOLD) if old.get(key)}
    if isinstance(before.get("spellings"), str):
        return before
    shown = _shown(before)

    def read(answer: str) -> dict[str, Any]:
        return before if answer == shown else read_spellings(answer, values)

    found: dict[str, Any] = ask(QUESTION, read, shown)
    return found


def read_spellings(answer: str, values: list[Any]) -> dict[str, Any]:
    """Parse an answer.

    >>> read_spellings("female: f, W; missing: NA; fold", ["female", "male"])
    {'spellings': {'female': ['f', 'W']}, 'missing': ['NA'], 'fold': True}
    """
    if answer == "-":
        return {}
    known = {str(value): value for value in values}
    found: dict[str, Any] = {}
    for part in answer.split(";"):
        name, colon, rest = (piece.strip() for piece in part.partition(":"))
        words = [word.strip() for word in rest.split(",") if word.strip()]
        if name == FOLD and not colon:
            found[FOLD] = True
        elif name == MISSING and words and MISSING not in known:
            found[MISSING] = words
        elif name in known and words:
            found.setdefault("spellings", {})[known[name]] = words
        else:
            raise ValueError("write value: spelling, spelling; with a value of the list, missing: and markers, or fold")
    return {key: found[key] for key in ("spellings", MISSING, FOLD) if key in found}


def _shown(before: dict[str, Any]) -> str:
    parts = [f"{value}: {', '.join(map(str, texts))}" for value, texts in (before.get("spellings") or {}).items()]
    markers = before.get(MISSING)
    if markers:
        parts.append(f"missing: {', '.join(map(str, markers if isinstance(markers, list) else [markers]))}")
    return "; ".join(parts + ([FOLD] if before.get(FOLD) else [])) or "-"
