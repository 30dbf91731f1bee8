"""The table of recipes, as people see it."""

from __future__ import annotations

import io

from rich.console import Console

from privet.cli.exploring import LEGEND, _methods, _sources
from privet.recipes.registry import recipe_classes


def printed(width: int) -> list[str]:
    known = list(recipe_classes().values())
    console = Console(file=io.StringIO(), width=width)
    for part in (_methods(known), LEGEND, _sources(known)):
        console.print(part, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_a_hundred_columns_are_enough() -> None:
    lines = printed(100)
    assert max(map(len, lines)) <= 100
    for name, recipe in recipe_classes().items():
        rows = [line.split() for line in lines if line.split()[:1] == [name]]
        assert len(rows) == 2, "a method and its source, no name broken over lines"
        assert rows[0][1] in ("greedy", "random", "whole")
        assert recipe.info.title.split()[0] == rows[1][1].rstrip(".")


def test_every_fact_is_there_and_broken_promises_are_named() -> None:
    lines = printed(800)
    for name, recipe in recipe_classes().items():
        method, source = [line for line in lines if line.split()[:1] == [name]]
        info = recipe.info
        assert all(fact in method for fact in (info.budget, info.depth, info.trees, info.numeric))
        assert ("pure epsilon" in method) == ("sound" in info.variants)
        assert all(f"Not private as published: {why}" in source for why in recipe.unsound.values())
    assert sum("published: none" in line for line in lines) == sum(bool(r.unsound) for r in recipe_classes().values())
