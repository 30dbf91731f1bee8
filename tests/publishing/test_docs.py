"""The snippets of the guides to measures and to publishing run, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("guide/measures.md", "guide/publishing.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_run(page: str) -> None:
    snippets = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    assert len(snippets) >= 4
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), names)


@pytest.mark.parametrize("page", [*PAGES, "proofs/publishing.md", "experiments/knowledge.md"])
def test_the_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((DOCS / page).parent / target).exists(), target
