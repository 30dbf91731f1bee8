"""``privet report``: a model as a page that anybody can open. Released numbers only, so it costs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.options import Json, ModelFile
from privet.cli.output import print_json
from privet.cli.writing import Force, put, writing

EXAMPLE = "Example: privet report tree.json -o tree.html"

PageFile = Annotated[
    Path, typer.Option("--output", "-o", metavar="PAGE.html", help="Where to write the page (one file, no network).")
]


def report(model: ModelFile, output: PageFile, force: Force = False, as_json: Json = False) -> None:
    """Write a model as a page: the tree, its rules, a case to follow, and what it promises. Spends no budget."""
    from privet.estimators.registry import load_model
    from privet.report.model_page import model_page

    with writing(output, "the page", inputs=(model,), force=force) as draft:
        page = model_page(load_model(model).model_)
        place = put(draft, page, output, "the page", force=force)
    said(place, page, as_json)


def said(place: Path, page: str, as_json: bool) -> None:
    """Say where a page is and how large."""
    size = len(page.encode())
    if as_json:
        print_json({"page": str(place), "bytes": size})
    else:
        print(f"{place}: {size / 1000:.0f} KB; open it in a browser, or send it: it is one file")


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command(epilog=EXAMPLE)(report)
