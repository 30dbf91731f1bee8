"""``privet reproduce bai``: trees in blocks of levels, as published and drawn exactly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json
from privet.cli.output import print_json, print_rich, progress, say, shout
from privet.cli.writing import Force, refuse

if TYPE_CHECKING:
    from privet.experiments.bai import Figures

EXAMPLE = "Example: privet reproduce bai --quick --tables vote --plots pictures"


def bai(
    quick: Annotated[bool, typer.Option("--quick", help="Two folds and chains of 100 steps: a first look.")] = False,
    tables: Annotated[
        list[str] | None,
        typer.Option("--tables", metavar="NAME", help="vote, mushroom or tic-tac-toe; may be repeated."),
    ] = None,
    folds: Annotated[int | None, typer.Option("--folds", min=2, metavar="K", help="Folds; 5 if not said.")] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, metavar="R", help="So often, with other folds.")] = 1,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, metavar="N", help="Cuts the chains short; the paper's if not said.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Also writes Figs. 3 to 6 there, as PNG.")
    ] = None,
    force: Force = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """Bai et al.'s embedding at depth d: does a mechanism for several levels beat one per level?

    Accuracy against epsilon of the published forms (not private), of DiffPC4.5 and of the exact mechanisms, and the
    distance of the published Markov chain from what it stands for. Needs the paper's tables: PRIVET_DATA names the
    directory with vote.csv.gz, vote.schema.json and so on.
    """
    from privet.experiments import bai as experiment
    from privet.experiments import bai_chain, bai_pictures
    from privet.experiments.evaluation import WARNING

    chosen = tables or experiment.TABLES
    followed_table = "mushroom" if "mushroom" in chosen else chosen[0]
    if plots is not None:
        bai_pictures.check_matplotlib()  # before the work, not after it
    experiment.check_tables(chosen)
    if plots is not None:
        places = [bai_pictures.picture_of(table, plots) for table in chosen]
        for place in (bai_pictures.picture_of_chain(followed_table, plots), *places):
            refuse(place, "the picture", force=force)
        plots.mkdir(parents=True, exist_ok=True)
    shout("Not private", WARNING)
    steps = steps or (experiment.QUICK_STEPS if quick else None)
    folds = folds or (experiment.QUICK_FOLDS if quick else experiment.FOLDS)
    with progress("cross-validating") as advance:
        figures = experiment.run(chosen, folds=folds, repeats=repeats, steps=steps, progress=advance)
    figures = figures.with_distances(bai_chain.distances())
    if plots is not None:
        pictures = bai_pictures.plot_figures(figures, plots)
        with progress("following the chain") as advance:
            followed = bai_chain.traces(followed_table, steps, advance)
        say(f"wrote {', '.join(map(str, [bai_pictures.plot_traces(followed, plots), *pictures]))}")
    if as_json:
        print_json(figures.to_dict())
    elif markdown:
        print(figures.to_markdown())
        print("\n".join(f"- {contest}" for contest in figures.contests))
    else:
        print_rich(*_grids(figures), *(f"verdict: {contest}" for contest in figures.contests))


def _grids(figures: Figures) -> list[Any]:
    from rich.table import Table

    grids = []
    for table, mine in figures.by_table.items():
        title = f"{table}: accuracy % ± standard error, {mine[0].folds} folds x {mine[0].repeats}"
        epsilons = dict.fromkeys(f"epsilon {point.epsilon:g}" for point in mine)
        grids.append(Table("method", "private", *epsilons, title=title))
        for method in dict.fromkeys(point.method for point in mine):
            row = [point for point in mine if point.method == method]
            grids[-1].add_row(method, "yes" if row[0].private else "[red]no[/]", *(point.text for point in row))
    steps = dict.fromkeys(f"{found.steps:,}" for found in figures.distances)
    grids.append(Table("arities", "eps'", *steps, title="How far the chain is from the mechanism, after so many steps"))
    for (arities, epsilon), distances in figures.by_space.items():
        cells = (f"{found.distance:.3f}" for found in distances)
        grids[-1].add_row(" ".join(map(str, arities)), f"{epsilon:g}", *cells)
    return grids


def register(papers: typer.Typer) -> None:
    """Hang the command on the tree."""
    papers.command("bai", epilog=EXAMPLE)(bai)
