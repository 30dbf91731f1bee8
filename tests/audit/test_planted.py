"""The list of planted faults is true: every test that it names is there, and plants something."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "proofs" / "planted_faults.md"
LEAST = 45  # faults that the list must have


def listed() -> list[tuple[str, str]]:
    """(file, test) of each row of the page."""
    return re.findall(r"^\| .+ \| `(tests/\S+\.py)::(test_\w+)` \|$", PAGE.read_text("utf-8"), flags=re.MULTILINE)


def test_there_are_enough_and_each_once() -> None:
    rows = [
        line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ") and "| caught by |" not in line
    ]
    assert len(rows) == len(listed()) == len(set(listed())), "a row names no test, or two rows name the same"
    assert len(rows) >= LEAST


@pytest.mark.parametrize(("file", "name"), listed())
def test_each_is_where_the_page_says(file: str, name: str) -> None:
    found = [
        node
        for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    assert len(found) == 1
    assert any(isinstance(node, ast.Assert) or "raises" in ast.unparse(node) for node in ast.walk(found[0]))
