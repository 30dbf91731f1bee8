"""Docstrings for the site: examples become code, and Sphinx's roles become plain code. A griffe extension."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc|data):`~?([^`]+)`")
PARAMETERS = "\n\nParameters\n----------\n"
PARAMETER = re.compile(r"\*{0,2}\w+(, \w+)* : |\s")  # how a paragraph in the list of parameters begins
HEADED = re.compile(r".+\n-+\n")


class Docstrings(griffe.Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None and not obj.is_alias:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """The same docstring with its bare examples in blocks of code, and without roles.

    An example below the heading "Examples" is left alone: the parser of docstrings knows it.
    """
    text = parameters_last(ROLE.sub(r"`\1`", text))
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


def parameters_last(text: str) -> str:
    """The same docstring, with the sentences from below the parameters above them, and the examples under a heading.

    The parser would take both for parameters.

    >>> parameters_last("Cap.\\n\\nParameters\\n----------\\na : int\\n\\nNot copied.\\n\\n>>> f(1)")
    'Cap.\\n\\nNot copied.\\n\\nParameters\\n----------\\na : int\\n\\nExamples\\n--------\\n>>> f(1)'
    """
    above, heading, below = text.partition(PARAMETERS)
    if not heading:
        return text
    parts = below.split("\n\n")
    end = next((place for place, part in enumerate(parts) if HEADED.match(part)), len(parts))
    listed = [part for part in parts[:end] if PARAMETER.match(part)]
    examples = [part for part in parts[:end] if part.startswith(">>> ")]
    sentences = [part for part in parts[:end] if part not in listed and part not in examples]
    shown = ["Examples\n--------\n" + "\n\n".join(examples)] if examples else []
    return "\n\n".join([above, *sentences, heading.strip() + "\n" + "\n\n".join(listed), *shown, *parts[end:]])
