"""``privet reproduce``, second part: every recipe on real tables, and the forests' own experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, Markdown
from privet.cli.output import print_json, print_markdown, print_rich, progress, shout
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.experiments.fletcher_fig81 import Figure81

FIG81 = "Example: privet reproduce fletcher-fig81 --quick"
SETTINGS = "Example: privet reproduce forest-settings --quick"
CLAIMS = "Example: privet reproduce forest-claims --table vote --epsilon 0.1"

Quick = Annotated[bool, typer.Option("--quick", help="Fewer tables and folds, for a first look.")]
Folds = Annotated[int | None, typer.Option("--folds", min=2, metavar="K", help="Stratified folds.")]


def _grid(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:
    from rich.table import Table as Grid

    grid = Grid(*headings, title=title)
    for row in rows:
        grid.add_row(*row)
    return grid


def fletcher_fig81(
    quick: Quick = False,
    folds: Folds = None,
    search: Annotated[
        int, typer.Option("--search", min=0, metavar="N", help="Instead: both published columns over N instances.")
    ] = 0,
    table: Annotated[
        list[str] | None, typer.Option("--table", metavar="T", help="A letter from A to G; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Fletcher's Figure 8.1: smooth and global sensitivity on SynthA to SynthG, and the sound form beside them.

    The thesis does not say which instances of its random tables it drew; --search shows how far instances differ.
    """
    from privet.experiments import fletcher_fig81 as experiment
    from privet.experiments import fletcher_instances as instances

    tables = tuple(table or (experiment.QUICK_TABLES if quick else experiment.SYNTH))
    if search and folds:
        raise ParameterError("--search works out expected accuracies and has no folds; drop --folds")
    for name in tables:
        if name not in experiment.SYNTH:
            raise ParameterError(f"no synthetic table is called {name!r}; choose among {', '.join(experiment.SYNTH)}")
    with progress("running Figure 8.1") as advance:
        if search:
            found = instances.search(tables, search, progress=advance)
        else:
            wanted = folds or (experiment.QUICK_FOLDS if quick else experiment.FOLDS)
            figure = experiment.run(tables, folds=wanted, progress=advance)
    if search:
        nearest = {name: instances.nearest(name, scores) for name, scores in found.items()}
        if as_json:
            print_json({"experiment": "fletcher-fig81", "nearest": nearest, "accuracy": found})
        else:
            print_rich(*(_spread(name, found[name], nearest[name]) for name in tables))
    elif as_json:
        print_json(figure.to_dict())
    else:
        print_rich(_figure(figure), f"verdict: {figure.verdict}, on instances that were searched for")


def _spread(table: str, scores: dict[int, dict[str, float]], nearest: int) -> str:
    ranges = {column: [by[column] for by in scores.values()] for column in ("smooth", "global")}
    told = ", ".join(
        f"{column} {min(values):.1f} to {max(values):.1f}, on average {sum(values) / len(values):.1f}"
        for column, values in ranges.items()
    )
    best = ", ".join(f"{column} {scores[nearest][column]:.1f}" for column in ranges)
    return f"Synth{table}: {told} over {len(scores)} instances; nearest to the thesis is seed {nearest} ({best})"


def _figure(figure: Figure81) -> Any:
    from rich.table import Table as Grid

    grid = Grid("table", "seed", "depth", "smooth", "global", "sound", "random-forest", "verdict")
    for row in figure.rows:
        judged = [f"{row.accuracy[name]:.1f} (thesis {row.published[name]:g})" for name in row.published]
        others = [f"{row.accuracy[name]:.1f}" for name in row.accuracy if name not in row.published]
        grid.add_row(f"Synth{row.table}", str(row.seed), str(row.depth), *judged, *others, row.verdict)
    return grid


def forest_settings(
    quick: Quick = False, folds: Folds = None, markdown: Markdown = False, as_json: Json = False
) -> None:
    """Settings of the random forest against each other, over twelve tables. NOT PRIVATE: every fold is a fit."""
    from privet.experiments import forest_settings as experiment
    from privet.experiments.evaluation import WARNING

    shout("NOT PRIVATE", WARNING)
    with progress("cross-validating") as advance:
        result = experiment.run(
            experiment.QUICK_TABLES if quick else experiment.TABLES,
            folds=folds or (experiment.QUICK_FOLDS if quick else experiment.FOLDS),
            progress=advance,
        )
    if as_json:
        print_json(result.to_dict())
    elif markdown:
        print(result.to_markdown())
    else:
        from rich.table import Table as Grid

        grid = Grid("setting", *(f"epsilon {e:g}" for e in result.epsilons), title="mean accuracy %")
        for one in result.results:
            grid.add_row(one.setting, *(f"{100 * one.mean(e):.2f}" for e in result.epsilons))
        print_rich(grid)


def forest_claims(
    table: Annotated[
        list[str] | None, typer.Option("--table", metavar="T", help="A table of PRIVET_DATA; may be repeated.")
    ] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option("--epsilon", "-e", metavar="E", help="A budget; may be repeated.")
    ] = None,
    quick: Quick = False,
    folds: Folds = None,
    markdown: Markdown = False,
    as_json: Json = False,
) -> None:
    """The random forest against the class shares alone, on every table there is. NOT PRIVATE: every fold is a fit.

    Claimed are an accuracy of at least the majority class less a point, and a log-loss of at most that of the class
    shares which the forest itself has released plus 0.02 nats.
    """
    from privet.experiments import forest_claims as experiment
    from privet.experiments.evaluation import WARNING

    shout("NOT PRIVATE", WARNING)
    with progress("cross-validating") as advance:
        result = experiment.run(
            table or (experiment.QUICK_TABLES if quick else None),
            epsilon or experiment.EPSILONS,
            folds=folds or (experiment.QUICK_FOLDS if quick else experiment.FOLDS),
            progress=advance,
        )
    if as_json:
        print_json(result.to_dict())
        return
    rows = [claim.row() for claim in result.claims]
    if markdown:
        print_markdown(experiment.HEADINGS, rows)
    else:
        print_rich(_grid("the random forest and the class shares alone", experiment.HEADINGS, rows))
    print(f"\nclaims: {result.verdict}")


def register(papers: typer.Typer) -> None:
    """Hang these commands on ``reproduce``."""
    papers.command("fletcher-fig81", epilog=FIG81)(fletcher_fig81)
    papers.command("forest-settings", epilog=SETTINGS)(forest_settings)
    papers.command("forest-claims", epilog=CLAIMS)(forest_claims)
