"""Docstrings for the site: examples become code, and Sphinx's roles become plain code. A griffe extension."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc|data):`~?([^`]+)`")


class Docstrings(griffe.Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None and not obj.is_alias:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """The same docstring with its bare examples in blocks of code, and without roles.

    An example below the heading "Examples" is left alone: the parser of docstrings knows it.
    """
    text = ROLE.sub(r"`\1`", text)
    before, heading, after = text.partition("\nExamples\n---")
    lines: list[str] = []
    inside = False
    for line in before.splitlines():
        starts = line.lstrip().startswith(">>> ")
        if starts and not inside:
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    if inside:
        lines.append("```")
    return "\n".join(lines) + heading + after
