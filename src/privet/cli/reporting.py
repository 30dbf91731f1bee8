"""``privet report``: write a model as a page for any browser. It uses released numbers only and is free."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.options import Json, MaxLeaves, MinSupport, ModelFile
from privet.cli.output import print_json, say
from privet.cli.writing import Force, put, refuse_kind, writing

EXAMPLE = "Example: privet report tree.json -o tree.html"

PageFile = Annotated[
    Path, typer.Option("--output", "-o", metavar="PAGE.html", help="Where to write the page (one file, no network).")
]


def report(
    model: ModelFile,
    output: PageFile,
    max_leaves: MaxLeaves = None,
    min_support: MinSupport = None,
    score: Annotated[
        Path | None,
        typer.Option("--score", metavar="SCORE.json", help="What privet score --json printed: how good the model is."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a model as a page: the tree, its rules, a case to follow, and what it promises. Spends no budget."""

    def page() -> str:
        from privet.recipes.saved import read_model
        from privet.report.page import model_page

        bought = None if score is None else _read_score(score)
        return model_page(read_model(model)[0], bought, max_leaves=max_leaves, min_support=min_support)

    write_page(output, page, inputs=(model, *([] if score is None else [score])), force=force, as_json=as_json)


def _read_score(path: Path) -> Any:
    from privet.errors import ParameterError

    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise ParameterError(
            parameter="score", problem=f"cannot be read from {str(path)!r}", fix="give what privet score --json printed"
        ) from None


def write_page(output: Path, make: Callable[[], str], *, inputs: Sequence[Path], force: bool, as_json: bool) -> None:
    """Make a page and write it, and print its path and size. An output that cannot be written fails before the work."""
    refuse_kind(output, "a page, HTML,", ".html", ".htm")
    with writing(output, "the page", inputs=inputs, force=force) as draft:
        page = make()
        place = put(draft, page, "the page", force=force)
    size = len(page.encode())
    if as_json:
        print_json({"page": str(place), "bytes": size})
    else:
        print(f"{place}: {size / 1000:.0f} KB; open it in a browser, or send it: it is one file")


WritePage = Callable[[Callable[[Any], str]], None]
"""Takes a function from the module ``report.evaluation_page`` to a page; the module is loaded only if needed."""


@contextmanager
def page_for(output: Path | None, *, inputs: Sequence[Path | None], force: bool) -> Iterator[WritePage]:
    """A writer for an optional page of another command; an output that cannot be written fails before the work."""
    if output is None:
        yield lambda make: None
        return
    with writing(output, "the page", inputs=inputs, force=force) as draft:

        def write(make: Callable[[Any], str]) -> None:
            from privet.report import evaluation_page

            say(f"wrote the page {put(draft, make(evaluation_page), 'the page', force=force)}")

        yield write


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(report)
