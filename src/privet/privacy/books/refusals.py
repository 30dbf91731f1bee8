"""A work that was refused. Nothing of it is kept."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """``kind`` is for programs (``budget``, ``cap``, ``frozen``, ...), ``facts`` are what may be told about it."""

    def __init__(self, kind: str, text: str = "", **facts: Any) -> None:
        super().__init__(text or kind)
        self.kind, self.text, self.facts = kind, text, facts
