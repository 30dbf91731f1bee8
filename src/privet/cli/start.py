"""``demo``, ``recipes`` and ``sample``: commands to try before a fit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, print_rich
from privet.cli.writing import Force, put, refuse, writing


def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where to put the files; a new folder by default."),
    ] = None,
    browse: Annotated[bool, typer.Option("--open", help="Open the page of the tree in a browser.")] = False,
    as_json: Json = False,
) -> None:
    """Tour privet on invented patients: questions, a persistent budget, a tree and its page, its price, an audit."""
    import tempfile
    import webbrowser

    from privet.cli.demo import JOURNAL, MODEL, PAGE, Tour, run
    from privet.cli.demo_text import tell

    place = Path(tempfile.mkdtemp(prefix="privet-demo-")) if folder is None else folder
    place.mkdir(parents=True, exist_ok=True)
    for name in (JOURNAL, MODEL, PAGE):
        refuse(place / name, "the demo's file")
    if as_json:
        print_json(run(place).to_dict())
    else:
        tell(Tour(place))
    if browse:
        webbrowser.open((place / PAGE).resolve().as_uri())


def recipes(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A recipe to describe in full.")] = None,
    as_json: Json = False,
) -> None:
    """List the methods and their promises; with a NAME, describe one: source, budget, parameters."""
    from privet.cli.recipes import explained, listed, parameters
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
    """Write the sample of the guides: a table of invented patients, its schema, held-out and new patients."""
    from privet.datasets.patients import sample_files

    folder.mkdir(parents=True, exist_ok=True)
    files = sample_files()
    for name in files:
        refuse(folder / name, "the sample", force=force)
    for name, text in files.items():
        with writing(folder / name, "the sample", force=force) as draft:
            put(draft, text, "the sample", force=force)
    if as_json:
        print_json({"folder": str(folder), "files": list(files)})
        return
    print(f"Invented patients, in {folder}:")
    for name, text in files.items():
        lines = f"{text.count(chr(10)) - 1:,} records" if name.endswith(".csv") else "the public facts about them"
        print(f"  {name:22} {lines}")
    print(f"Next: cd {folder}; privet fit patients.csv --schema patients.schema.json --epsilon 1 -o tree.json")


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: privet demo")(demo)
    app.command(epilog="Example: privet recipes exact")(recipes)
    app.command(epilog="Example: privet sample -o hospital")(sample)
