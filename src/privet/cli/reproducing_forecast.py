"""``privet reproduce``, third part: the planner's forecast against the truth."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, print_rich, progress, shout

EXAMPLE = "Example: privet reproduce forecast --table vote --worlds 10"


def forecast(
    table: Annotated[
        list[str] | None, typer.Option("--table", metavar="T", help="A table of PRIVET_DATA; may be repeated.")
    ] = None,
    folds: Annotated[int | None, typer.Option("--folds", min=2, metavar="K", help="Stratified folds.")] = None,
    worlds: Annotated[
        int | None, typer.Option("--worlds", min=3, metavar="K", help="Invented tables a forecast.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One table and few invented ones, for a first look.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as Markdown, as the docs have it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """What `privet plan` foresees on six real tables, and what privacy really costs there. NOT PRIVATE.

    The tables are read from the directory that the environment variable PRIVET_DATA names.
    """
    from privet.experiments import forecast as experiment
    from privet.experiments.evaluation import WARNING

    shout("NOT PRIVATE", WARNING)
    with progress("foreseeing and measuring") as advance:
        result = experiment.run(
            table or (("vote",) if quick else experiment.TABLES),
            folds=folds or experiment.FOLDS,
            worlds=worlds or (experiment.QUICK_WORLDS if quick else experiment.WORLDS),
            progress=advance,
        )
    if as_json:
        print_json(result.to_dict())
    elif markdown:
        print(result.to_markdown())
        print("\n".join(["", result.verdict, *(result.verdict_at(e) for e in experiment.EPSILONS)]))
    else:
        from rich.table import Table as Grid

        grid = Grid(*experiment.HEADINGS, title=f"points lost, and as foreseen; {result.folds} folds")
        for row, cells in zip(result.rows, result.cells(), strict=True):
            grid.add_row(*cells, style=None if row.within else "red")
        print_rich(grid, f"verdict: {result.verdict}", *(result.verdict_at(e) for e in experiment.EPSILONS))


def register(papers: typer.Typer) -> None:
    """Hang the command on ``reproduce``."""
    papers.command("forecast", epilog=EXAMPLE)(forecast)
