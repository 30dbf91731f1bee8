"""``privet reproduce shapes``: the exact tree on tables of many shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, print_rich, progress

if TYPE_CHECKING:
    from privet.experiments.shapes import ShapeSuite

EXAMPLE = "Example: privet reproduce shapes --quick"


def shapes(
    shape: Annotated[
        list[str] | None, typer.Option("--shape", metavar="S", help="A shape; may be repeated. All by default.")
    ] = None,
    records: Annotated[
        list[int] | None, typer.Option("--records", "-n", min=10, metavar="N", help="A size; may be repeated.")
    ] = None,
    classes: Annotated[
        list[int] | None, typer.Option("--classes", min=2, metavar="K", help="How many labels; may be repeated.")
    ] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option("--epsilon", "-e", metavar="E", help="A budget; may be repeated.")
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, metavar="N", help="How often, on other records.")] = 3,
    quick: Annotated[bool, typer.Option("--quick", help="Three shapes of 2,000 and 20,000 records, once.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as Markdown, as the docs have it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The exact tree on invented tables of nine shapes, against a fixed list of others.

    Each table has eight numbers. Shapes say how they lie inside their declared bounds, up to a million times too wide.
    """
    from privet.experiments import shapes as experiment

    with progress("fitting shapes") as advance:
        suite = experiment.run(
            shape or (experiment.QUICK if quick else tuple(experiment.SHAPES)),
            records or (experiment.SIZES[:2] if quick else (*experiment.SIZES, experiment.LARGEST)),
            classes or experiment.CLASSES,
            epsilon or experiment.EPSILONS,
            repeats=1 if quick else repeats,
            progress=advance,
        )
    if as_json:
        print_json(suite.to_dict())
    elif markdown:
        print(suite.to_markdown())
    else:
        print_rich(_grid(suite), _conclusion(suite))


def _grid(suite: ShapeSuite) -> Any:
    from rich.table import Table as Grid

    grid = Grid("shape", "classes", "records", "epsilon", "exact", "best of the list", "majority", "s", "verdict")
    for cell in suite.cells:
        grid.add_row(
            cell.shape,
            str(cell.classes),
            f"{cell.records:,}",
            f"{cell.epsilon:g}",
            f"{cell.accuracy['exact']:.1f}",
            f"{cell.accuracy[cell.best]:.1f} {cell.best}",
            f"{cell.majority:.1f}",
            f"{cell.seconds['exact']:.1f}",
            f"[red]{cell.verdict}[/]" if cell in suite.missed else cell.verdict,
        )
    return grid


def _conclusion(suite: ShapeSuite) -> str:
    if not suite.missed:
        return "verdict: close to the best wherever there is signal enough, and never below the majority class"
    return f"verdict: {len(suite.missed)} of {len(suite.cells)} cells miss their target"


def register(papers: typer.Typer) -> None:
    """Hang this command on ``reproduce``."""
    papers.command("shapes", epilog=EXAMPLE)(shapes)
