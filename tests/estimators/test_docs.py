"""The snippets of the recipe pages and of the guides to estimators, tuning and recipes run, from top to bottom."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from privet.estimators.registry import CLASSIFIERS

DOCS = Path(__file__).parents[2] / "docs"
RECIPES = [f"recipes/{name}.md" for name in CLASSIFIERS]
PAGES = [*RECIPES, "guide/estimators.md", "guide/tuning.md", "guide/report.md", "guide/write-a-recipe.md"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_run(page: str) -> None:
    snippets = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    assert snippets
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for snippet in snippets:
            exec(compile(snippet, page, "exec", dont_inherit=True), names)  # as a reader would, without our __future__


@pytest.mark.parametrize("page", PAGES)
def test_the_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((DOCS / page).parent / target).exists(), target


def test_every_page_is_a_recipes() -> None:
    assert {f"recipes/{page.name}" for page in (DOCS / "recipes").glob("*.md")} == set(RECIPES)


def test_the_guide_lists_every_class() -> None:
    text = (DOCS / "guide" / "estimators.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+Classifier)` \| \[([\w-]+)\]", text, re.M)
    assert {recipe: name for name, recipe in rows} == {name: kind.__name__ for name, kind in CLASSIFIERS.items()}


@pytest.mark.parametrize("page", RECIPES)
def test_a_page_names_its_recipe_and_class(page: str) -> None:
    name = Path(page).stem
    opening = f"Recipe `{name}`, class `{CLASSIFIERS[name].__name__}`, code ["
    assert opening in " ".join((DOCS / page).read_text("utf-8").split())  # wherever the line is wrapped
    assert f"({page})" in (DOCS / "index.md").read_text("utf-8")
