"""Pages and comments: no line of a page is longer than 120 columns, and every file that is named exists."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WIDTH = 120
GUIDE = ROOT / "CONTRIBUTING.md"
PAGES = [ROOT / "README.md", GUIDE, *sorted((ROOT / "docs").rglob("*.md"))]
OTHER_PAGES = [*ROOT.glob("examples/**/*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("experiments/*.md")]
CODE = [
    file
    for folder in ("src", "experiments", "tests", "tools", "benchmarks", "examples")
    for file in sorted((ROOT / folder).rglob("*.py"))
]
MODULE = re.compile(r"[\w./-]*\w\.py\b")
FOLDER = re.compile(r"`((?:[\w.-]+/)+)`")
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s,]+)[)#]")


def too_long(text: str) -> list[int]:
    """The numbers of lines that should be wrapped. A row of a table, a formula and one long word cannot be."""
    lines = [line.strip() for line in text.splitlines()]
    long = [len(line) > WIDTH for line in text.splitlines()]
    return [n for n, line in enumerate(lines, 1) if long[n - 1] and not line.startswith(("|", "$$")) and " " in line]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_is_longer_than_120_columns(page: Path) -> None:
    assert too_long(page.read_text("utf-8")) == []


def test_the_check_can_fail() -> None:
    word = "x" * WIDTH
    assert too_long(f"short\n{word} y\n| {word} |\n<https://{word}>\n    {word} y") == [2, 5]


def endings(paths: Iterator[Path] | list[Path]) -> set[str]:
    """All ways to name a path: by itself, or with some of the folders above it."""
    parts = [path.relative_to(ROOT).parts for path in paths]
    return {"/".join(part[start:]) for part in parts for start in range(len(part))}


FILES = endings(CODE)
FOLDERS = endings([folder for file in CODE for folder in file.parents if ROOT in folder.parents])


def comments(source: str) -> Iterator[str]:
    """The comments and docstrings of a module."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def unknown_files(text: str) -> list[str]:
    return [name for name in MODULE.findall(text) if re.sub(r"^[./]+", "", name) not in FILES]


def test_every_file_that_a_page_names_exists() -> None:
    pages = [*PAGES, *OTHER_PAGES]
    named = {page: unknown_files(page.read_text("utf-8")) for page in pages}
    assert {str(page): names for page, names in named.items() if names} == {}
    links = [(page, link) for page in pages for link in LINK.findall(page.read_text("utf-8"))]
    assert [(str(page), link) for page, link in links if not (page.parent / link).exists()] == []


def test_every_folder_that_contributors_are_sent_to_exists() -> None:
    named = [name.rstrip("/") for name in FOLDER.findall(GUIDE.read_text("utf-8"))]
    assert len(named) > 5
    assert [name for name in named if name not in FOLDERS and not (ROOT / name).is_dir()] == []


def test_every_file_that_a_comment_names_exists() -> None:
    found = {file: unknown_files("\n".join(comments(file.read_text("utf-8")))) for file in CODE}
    assert {str(file): names for file, names in found.items() if names} == {}


def test_a_file_that_does_not_exist_is_found() -> None:
    gone = "growing/" + "hedge.py"
    assert list(comments(f'"""See {gone}."""\nx = "other.py"  # and {gone}\n')) == [f"# and {gone}", f"See {gone}."]
    assert unknown_files(f"`{gone}`, `privacy/noise.py`, test_pages.py") == [gone]
