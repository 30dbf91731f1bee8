"""``demo``, ``recipes`` and ``sample``: what to look at before a fit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, print_rich
from privet.cli.writing import Force, refuse, writing


def demo(as_json: Json = False) -> None:
    """A tour: private questions to a clinic's table, a budget that runs out, trees and their certificate."""
    from privet.cli.demo import tell, tour

    if as_json:
        print_json(tour())
    else:
        tell()


def recipes(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Tell all about this one.")] = None,
    as_json: Json = False,
) -> None:
    """The methods there are and what they promise; with a NAME, all about one: source, budget, parameters."""
    from privet.cli.methods import explained, listed, parameters
    from privet.recipes.registry import recipe_class, recipe_classes

    if name is not None:
        recipe = recipe_class(name)
        if as_json:
            print_json(recipe.info.to_dict() | {"parameters": [asdict(one) for one in parameters(recipe)]})
        else:
            print_rich(*explained(recipe))
        return
    known = list(recipe_classes().values())
    if as_json:
        print_json({"recipes": [recipe.info.to_dict() for recipe in known]})
    else:
        print_rich(*listed(known))


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
    app.command(epilog="Example: privet recipes exact")(recipes)
    app.command(epilog="Example: privet sample -o hospital")(sample)
