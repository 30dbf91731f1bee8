"""Other spellings of a category as one line of text: ``female: f, W; male: m; missing: NA, -; fold``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MISSING, FOLD = "missing", "fold"
NONE = "-"  # no other spellings


def read_spellings(answer: str, values: list[Any]) -> dict[str, Any]:
    """Parse an answer: the keys ``spellings``, ``missing`` and ``fold`` of a schema.

    >>> read_spellings("female: f, W; missing: NA; fold", ["female", "male"])
    {'spellings': {'female': ['f', 'W']}, 'missing': ['NA'], 'fold': True}
    """
    if answer == NONE:
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


def spellings_text(facts: Mapping[str, Any]) -> str:
    """The line of these keys.

    >>> spellings_text({"spellings": {"female": ["f", "W"]}, "fold": True})
    'female: f, W; fold'
    """
    parts = [f"{value}: {', '.join(map(str, texts))}" for value, texts in (facts.get("spellings") or {}).items()]
    markers = facts.get(MISSING)
    if markers:
        parts.append(f"missing: {', '.join(map(str, markers if isinstance(markers, list) else [markers]))}")
    return "; ".join(parts + ([FOLD] if facts.get(FOLD) else [])) or NONE
