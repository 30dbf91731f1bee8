"""The question of ``privet schema edit`` about other spellings of a category, and what stands for a missing cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privet.owner.spellings import FOLD, MISSING, read_spellings, spellings_text

Ask = Callable[..., Any]
QUESTION = "Other spellings? As female: f, W; male: m; missing: NA, -; fold if capitals do not matter (- if none)"


def ask_spellings(values: list[Any], old: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """The keys ``spellings``, ``missing`` and ``fold`` of a category, as the owner says them.

    A file of spellings stays as it is.
    """
    before = {key: old[key] for key in ("spellings", MISSING, FOLD) if old.get(key)}
    if isinstance(before.get("spellings"), str):
        return before
    shown = spellings_text(before)

    def read(answer: str) -> dict[str, Any]:
        return before if answer == shown else read_spellings(answer, values)

    found: dict[str, Any] = ask(QUESTION, read, shown)
    return found
