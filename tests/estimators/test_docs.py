"""The snippets of the recipe pages and of the guide to estimators run, from top to bottom."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["recipes/sulq.md", "recipes/diffpid3.md", "recipes/diffpc45.md", "guide/estimators.md"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_run(page: str) -> None:
    snippets = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    assert snippets
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for snippet in snippets:
            exec(compile(snippet, page, "exec"), names)


@pytest.mark.parametrize("page", PAGES)
def test_the_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((DOCS / page).parent / target).exists(), target
