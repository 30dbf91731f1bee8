"""``demo``, ``recipes`` and ``sample``: what to look at before a fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, print_rich
from privet.cli.writing import Force, refuse, writing

if TYPE_CHECKING:
    from privet.recipes.recipe import Recipe

HOW = {"greedily": "greedy", "at random": "random", "the whole tree": "whole"}
# Of the table of recipes, and how they share the width that names leave.
COLUMNS = {"name": None, "tests": None, "budget B": 22, "depth": 14, "trees": 12, "numbers": 14, "promise": 15}
LEGEND = (
    "Tests are chosen one by one (greedy), by lot (random) or all at once (whole). d is the depth, n the number of "
    "records, m that of attributes."
)


def demo(as_json: Json = False) -> None:
    """A tour: private questions to a clinic's table, a budget that runs out, trees and their certificate."""
    from privet.cli.demo import tell, tour

    if as_json:
        print_json(tour())
    else:
        tell()


def recipes(as_json: Json = False) -> None:
    """The methods there are, what they cost and what they promise."""
    from privet.recipes.registry import recipe_classes

    known = list(recipe_classes().values())
    if as_json:
        print_json({"recipes": [recipe.info.to_dict() for recipe in known]})
    else:
        print_rich(_methods(known), LEGEND, _sources(known))


def _methods(known: list[type[Recipe]]) -> Any:
    """How the methods work, a row each as in Fletcher's Table 9.1."""
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(title="Recipes", box=box.HORIZONTALS, show_lines=True, pad_edge=False, expand=True)
    grid.collapse_padding = True
    for heading, ratio in COLUMNS.items():
        grid.add_column(heading, overflow="fold", ratio=ratio, no_wrap=ratio is None)
    for recipe in known:
        info = recipe.info
        facts = HOW[info.chooses], info.budget, info.depth, info.trees, info.numeric
        grid.add_row(info.name, *facts, _promise(recipe))
    return grid


def _promise(recipe: type[Recipe]) -> str:
    kept = [what for variant, what in recipe.info.guarantee.items() if variant not in recipe.unsound]
    return "\n".join([*dict.fromkeys(kept), *(["published: none"] if recipe.unsound else [])])


def _sources(known: list[type[Recipe]]) -> Any:
    """Where the methods come from, and why some are not private as published."""
    from rich.table import Table as Grid

    grid = Grid(title="Sources", box=None, pad_edge=False, show_header=False)
    for _ in range(2):
        grid.add_column(overflow="fold")
    for recipe in known:
        why = "".join(f" Not private as published: {reason}." for reason in recipe.unsound.values())
        grid.add_row(recipe.info.name, f"{recipe.info.title}. {recipe.info.citation}.{why}")
    return grid


def sample(
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to put the files.")],
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Copy the sample out: a table of invented patients, its schema, held-out and new patients. The guides use it."""
    from privet.datasets.patients import sample_files

    folder.mkdir(parents=True, exist_ok=True)
    files = sample_files()
    for name in files:
        refuse(folder / name, "the sample", force=force)
    for name, text in files.items():
        with writing(folder / name, "the sample", force=force) as draft:
            draft.write(text)
            draft.publish(replace=force)
    if as_json:
        print_json({"folder": str(folder), "files": list(files)})
        return
    print(f"Invented patients, in {folder}:")
    for name, text in files.items():
        lines = f"{text.count(chr(10)) - 1:,} records" if name.endswith(".csv") else "the public facts about them"
        print(f"  {name:22} {lines}")
    print(f"Next: cd {folder}; privet fit patients.csv --schema patients.schema.json --epsilon 1 -o tree.json")


def register(app: typer.Typer) -> None:
    """Hang these commands on the tree."""
    app.command(epilog="Example: privet demo")(demo)
    app.command(epilog="Example: privet recipes --json")(recipes)
    app.command(epilog="Example: privet sample -o hospital")(sample)
