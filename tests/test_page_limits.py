"""What keeps the pages readable: their length, their pictures, how wide tables are, how long sentences are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
WORDS = 3000  # of a page, outside of tables: a quarter of an hour of reading
SENTENCE = 20  # words, in the mean
COLUMNS = 8  # of a table: more do not fit on a screen
# Pages that a command writes.
WRITTEN = sorted(DOCS.glob("experiments/reproduction/*.md"))
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page not in WRITTEN]
GUIDES = [DOCS / "tutorial.md", *sorted(DOCS.glob("guide/*.md")), *sorted(DOCS.glob("explanation/*.md"))]
PICTURED = [
    *(DOCS / "tutorial.md", DOCS / "guide" / "start.md"),  # the tutorials
    *(page for page in sorted(DOCS.glob("recipes/*.md")) if page.name != "index.md"),
    *sorted(DOCS.glob("experiments/**/*.md")),
]
TABLE = re.compile(r"^\|.*$", re.MULTILINE)
BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def mean_sentence(text: str) -> float:
    """The mean number of words in a sentence; code is a word, and tables, headings and blocks are none."""
    text = TABLE.sub("", BLOCK.sub("", text))
    text = re.sub(r"^#.*$|<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    parts = re.split(r"\n\s*\n", re.sub(r"^\s*(?:[-*]|\d+\.) ", "\n\n", text, flags=re.MULTILINE))
    sentences = [one for part in parts for one in re.split(r"(?<=[.!?])[\"')*]*\s+", part.strip()) if one.split()]
    return sum(len(one.split()) for one in sentences) / max(len(sentences), 1)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_is_too_long(page: Path) -> None:
    words = len(TABLE.sub("", page.read_text("utf-8")).split())
    assert words <= WORDS, f"{words} words: split the page"


def widest_table(text: str) -> int:
    """The most columns of a row, outside of blocks of code; a bar behind a backslash is a bar."""
    return max(
        (len(re.findall(r"(?<!\\)\|", row.rstrip())) - 1 for row in TABLE.findall(BLOCK.sub("", text))), default=0
    )


@pytest.mark.parametrize("page", [*PAGES, *WRITTEN], ids=name)
def test_no_table_is_too_wide(page: Path) -> None:
    assert widest_table(page.read_text("utf-8")) <= COLUMNS, "split the table, or drop a column"


@pytest.mark.parametrize("page", GUIDES, ids=name)
def test_sentences_of_guides_are_short(page: Path) -> None:
    assert mean_sentence(page.read_text("utf-8")) < SENTENCE


@pytest.mark.parametrize("page", PICTURED, ids=name)
def test_every_tutorial_recipe_and_experiment_has_a_picture(page: Path) -> None:
    pictures = re.findall(r"^!\[[^\]]+\]\(([^)]+\.svg)\)", page.read_text("utf-8"), re.MULTILINE)
    assert pictures
    assert all((page.parent / picture).is_file() for picture in pictures)


def test_the_checks_can_fail() -> None:
    assert widest_table("text\n| a | b \\| c | d |\n|---|---|---|\n\n```\n| a | b | c | d |\n```\n") == 3
    assert mean_sentence("word " * 30 + ".") > SENTENCE
    assert mean_sentence("# A heading of many words\n\nOne two. Three four!\n\n- five six\n- `a b c` x") == 2
