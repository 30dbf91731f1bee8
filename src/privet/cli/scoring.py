"""``privet score``: score a model on private records, for one charge."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.bidi import isolated
from privet.cli.options import (
    Budget,
    JournalFile,
    Json,
    ModelFile,
    Neighbours,
    QuotedLineBreaks,
    Source,
    mind_epsilon,
    parse_epsilon,
)
from privet.cli.output import print_json, print_rich, progress, try_stdout
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of

if TYPE_CHECKING:
    from privet.evaluation.number_score import PrivateNumberScore
    from privet.evaluation.private_result import PrivateScore

TITLE = "Private scores, with intervals of 95 % (noise and sampling)"
EXAMPLE = "Example: privet score tree.json held-out.csv --epsilon 0.5 --held-out --journal patients.journal"


def score(
    model: ModelFile,
    table: Source,
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The budget of the score.")
    ],
    held_out: Annotated[
        bool | None,
        typer.Option(
            "--held-out/--trained",
            help="Whether these records had no part in training the model; the certificate repeats it.",
        ),
    ] = None,
    bins: Annotated[
        int | None,
        typer.Option("--bins", metavar="N", help="Bins of confidence, 5 by default; 1 for a confusion matrix alone."),
    ] = None,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    neighbours: Neighbours = None,
    quoted_line_breaks: QuotedLineBreaks = False,
    as_json: Json = False,
) -> None:
    """Score a model on private records: one charge buys noisy counts, from which all scores follow.

    Of classes it buys a confusion matrix. Of a number it buys how far predictions are off: R2, MAE and RMSE.
    """
    check_journal(journal, budget, analyst)
    mind_epsilon(epsilon)
    with progress("starting"):
        from privet.estimators.registry import load_model
        from privet.evaluation.number_score import PrivateNumberScore
        from privet.evaluation.private_score import BINS, private_score
        from privet.work import Purse

        classifier, purse = load_model(model), Purse(journal, budget, analyst, neighbours)
    try_stdout()
    with progress("scoring"):
        found = private_score(
            classifier,
            table,
            None,
            epsilon,
            purse,
            held_out=held_out,
            bins=BINS if bins is None else bins,
            quoted_line_breaks=quoted_line_breaks,
        )
    if as_json:
        print_json(found.to_dict() | rest_of(purse))
    else:
        print_rich(*(_of_numbers(found) if isinstance(found, PrivateNumberScore) else (_grid(found), *_curve(found))))
        print(found.certificate)
        print_rest(purse)


def _of_numbers(found: PrivateNumberScore) -> list[Any]:
    from rich.table import Table as Grid

    grid = Grid("", title=TITLE)
    grid.add_column(f"score for {isolated(found.label.name)}", justify="right")
    for name, value in found.written.items():
        grid.add_row(name, value)
    return [grid, f"Errors above {found.clip:.4g} count as that: noise hides what is further off."]


def _grid(found: PrivateScore) -> Any:
    from rich.table import Table as Grid

    grid = Grid(title=TITLE)
    grid.add_column("")
    columns = ("precision", "recall", "f1")
    for heading in ("score", *columns, *(f"taken for {isolated(label)}" for label in found.classes)):
        grid.add_column(heading, justify="right")
    for name in ("accuracy", "balanced_accuracy", "auc", "log_loss"):
        if (value := getattr(found, name)) is not None:
            grid.add_row(name.replace("_", " "), str(value))
    macro = (found.macro_precision, found.macro_recall, found.macro_f1)
    grid.add_row("mean of the classes", "", *map(str, macro))
    grid.add_section()
    for label, row in zip(found.classes, found.confusion.tolist(), strict=True):
        grid.add_row(isolated(label), "", *(str(getattr(found, name)[label]) for name in columns), *map(str, row))
    return grid


def _curve(found: PrivateScore) -> list[Any]:
    from rich.table import Table as Grid

    if not found.reliability:
        return []
    grid = Grid(title="How sure, and how often right")
    grid.add_column("confidence")
    grid.add_column("right", justify="right")
    for low, high, share in found.reliability:
        grid.add_row(f"{low:.2f} to {high:.2f}", str(share))
    return [grid]


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(score)
