"""Pages can be read beside the code: no line is longer than 120 columns, as everywhere else in the house."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WIDTH = 120
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def too_long(text: str) -> list[int]:
    """The numbers of lines that should be wrapped. A row of a table and one long word (a link) cannot be."""
    lines = [line.strip() for line in text.splitlines()]
    long = [len(line) > WIDTH for line in text.splitlines()]
    return [n for n, line in enumerate(lines, 1) if long[n - 1] and not line.startswith("|") and " " in line]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_is_longer_than_120_columns(page: Path) -> None:
    assert too_long(page.read_text("utf-8")) == []


def test_the_check_can_fail() -> None:
    word = "x" * WIDTH
    assert too_long(f"short\n{word} y\n| {word} |\n<https://{word}>\n    {word} y") == [2, 5]
