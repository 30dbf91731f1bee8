"""The field's words: names that readers stumbled over stay away from the product's code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "privet"

# Old name -> what to write instead.
RENAMED = {
    "Frontier": "Level",
    "plot_frontier": "plot_tradeoff",
    "Cells": "Partition",
    "Outlook": "ClassEstimate or Forecast",
    "prospects": "depth_rules",
    "Signal": "Strength",
    "Shape": "FitLayout or Distribution",
    "DenseTrees": "MedianTrees",
    "median_trees": "MedianTrees",
    "hear": "buy_count",
    "_told": "with_count",
    "Wishes": "Preferences",
    "drowned": "noise_ratio",
    "told": "text",
    "said": "text",
    "says": "label",
    "heard": "released",
}


def identifiers(text: str) -> Iterator[str]:
    """Every name that a module defines or uses: variables, attributes, arguments, functions, classes, imports."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")


def old_names(folder: Path) -> list[str]:
    found = []
    for file in sorted(folder.rglob("*.py")):
        names = {*identifiers(file.read_text("utf-8")), *file.relative_to(folder).with_suffix("").parts}
        found += [f"{file.relative_to(folder)}: {name} is {RENAMED[name]}" for name in sorted(names & RENAMED.keys())]
    return found


def test_no_old_name_is_left() -> None:
    assert old_names(SRC) == []


def test_an_old_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(told):\n    return told\n")
    (tmp_path / "prospects.py").write_text("")
    assert len(old_names(tmp_path)) == 2
