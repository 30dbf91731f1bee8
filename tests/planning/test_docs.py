"""The guide to choosing epsilon: its snippets print what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = "guide/choosing-epsilon.md"


def test_the_snippets_run_and_their_numbers_are_true() -> None:
    snippets = re.findall(r"```python\n(.*?)```", (DOCS / GUIDE).read_text("utf-8"), re.DOTALL)
    assert len(snippets) == 3
    names: dict[str, object] = {}
    for snippet in snippets:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet, GUIDE, "exec"), names)
        promised = re.findall(r"^print\(.*\)  # (.*)$", snippet, re.MULTILINE)
        for line, text in zip(printed.getvalue().splitlines(), promised, strict=False):
            number = re.match(r"[\d.]+(?=\D|$)", text)
            if number is None:
                assert line == text
            else:
                assert float(line) == pytest.approx(float(number[0].rstrip(".")), rel=0.005)
