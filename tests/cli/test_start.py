"""The recipes, as people read about them, and forests in a few lines."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from typing import Any

import pytest
from rich.console import Console

from privet.cli.options import RESERVED
from privet.cli.recipes import explained, listed, parameters
from privet.recipes.registry import DEFAULT, recipe_class, recipe_classes


def printed(parts: Any, width: int = 100) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    for part in parts:
        console.print(part, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_the_list_fits_a_hundred_columns_a_line_each() -> None:
    known = recipe_classes()
    lines = printed(listed(list(known.values())))
    assert max(len(line.rstrip()) for line in lines) <= 100
    assert len(lines) <= len(known) + 12
    for name, recipe in known.items():
        (row,) = [line for line in lines if line.split()[:1] == [name]]
        assert recipe.info.title in row
        assert ("*" in row.split()) == bool(recipe.info.recommended)
        assert ("†" in row) == bool(recipe.unsound)
    first = next(line for line in lines if line.split()[:1] and line.split()[0] in known)
    assert recipe_class(first.split()[0]).info.recommended  # the recommended ones come first
    assert any("privet recipes NAME" in line for line in lines)


def test_the_default_is_recommended() -> None:
    assert "default" in recipe_class(DEFAULT).info.recommended


@pytest.mark.parametrize("name", recipe_classes())
def test_a_page_has_all_facts(name: str) -> None:
    recipe = recipe_class(name)
    lines = printed(explained(recipe))
    assert max(len(line.rstrip()) for line in lines) <= 100
    text = " ".join(" ".join(printed(explained(recipe), width=800)).split())
    info = recipe.info
    for fact in (info.citation, info.budget, info.depth, info.trees, info.numeric, *info.guarantee):
        assert " ".join(fact.split()) in text
    assert text.count("NOT PRIVATE") == len(recipe.unsound)
    settings = {one.option: one for one in parameters(recipe)}
    for field in fields(recipe):
        if field.name != "variant":
            one = settings[RESERVED.get(field.name, f"--set {field.name}=")]
            assert one.explanation, f"{field.name} is not explained"
            assert one.default == str(field.default)


def test_json(shared_desk: Any) -> None:
    listed = json.loads(shared_desk.ok("recipes", "--json").stdout)["recipes"]
    assert [one["name"] for one in listed if one["recommended"]].count(DEFAULT) == 1
    one = json.loads(shared_desk.ok("recipes", DEFAULT, "--json").stdout)
    assert one["name"] == DEFAULT
    assert {"option", "default", "takes", "explanation"} == set(one["parameters"][0])


def test_a_forest_is_a_summary(desk: Any) -> None:
    assert desk.fit("-o", desk["forest.json"], "--set", "n_estimators=4", recipe="random-forest").exit_code == 0
    text = desk.ok("show", desk["forest.json"]).stdout
    assert text.startswith("random-forest: 4 trees, ")
    assert "What the trees test:" in text
    assert len(text.splitlines()) < 60
    everything = desk.ok("show", desk["forest.json"], "--tree", "all").stdout
    second = desk.ok("show", desk["forest.json"], "--tree", 2).stdout
    assert second.startswith("random-forest: 1 tree, ")
    assert second.split("\n", 1)[1] in everything
    rules = desk.ok("show", desk["forest.json"], "--tree", 2, "--format", "rules").stdout
    assert 0 < rules.count("\n") < desk.ok("show", desk["forest.json"], "--format", "rules").stdout.count("\n")
    alone = desk.ok("show", desk["forest.json"], "--format", "certificate").stdout
    assert alone.startswith("Differentially private")
