"""Every recipe has its page, and every page its recipe. That snippets run is tested in ``test_code_blocks.py``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from privet.estimators.registry import CLASSIFIERS, REGRESSORS

DOCS = Path(__file__).parents[2] / "docs"
ALL = CLASSIFIERS | REGRESSORS
RECIPES = [f"recipes/{name}.md" for name in ALL]


def test_every_page_is_a_recipes() -> None:
    assert {f"recipes/{page.name}" for page in (DOCS / "recipes").glob("*.md")} == {*RECIPES, "recipes/index.md"}


def test_the_guide_lists_every_class() -> None:
    text = (DOCS / "guide" / "estimators.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+(?:Classifier|Regressor))` \| \[([\w-]+)\]", text, re.M)
    assert {recipe: name for name, recipe in rows} == {name: kind.__name__ for name, kind in ALL.items()}


@pytest.mark.parametrize("page", RECIPES)
def test_a_page_names_its_recipe_and_class(page: str) -> None:
    name = Path(page).stem
    opening = f"Recipe `{name}`, class `{ALL[name].__name__}`, code ["
    assert opening in " ".join((DOCS / page).read_text("utf-8").split())  # wherever the line is wrapped
    assert f"({name}.md)" in (DOCS / "recipes" / "index.md").read_text("utf-8")
