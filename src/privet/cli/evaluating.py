"""``privet evaluate``: how good a recipe is on a table that needs no protection."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.fitting import make_params
from privet.cli.options import Json, MaxDepth, QuotedLineBreaks, SchemaFile, Settings, Table, Variant, parse_epsilon
from privet.cli.output import print_json, print_rich, progress, shout

if TYPE_CHECKING:
    from privet.experiments.evaluation import Evaluation, Score

EXAMPLE = (
    "Example: privet evaluate adult.csv.gz --schema adult.schema.json --recipe diffpc45 --recipe diffpid3 "
    "--epsilon 0.1 --epsilon 1 --folds 10"
)


def evaluate(
    table: Table,
    schema: SchemaFile,
    recipe: Annotated[list[str], typer.Option("--recipe", "-r", metavar="R", help="A method; may be repeated.")],
    epsilon: Annotated[
        list[Fraction],
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="A budget; may be repeated."),
    ],
    folds: Annotated[int, typer.Option("--folds", metavar="K", help="Stratified folds, from 2 on.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="How often, with other folds.")] = 1,
    variant: Variant = "sound",
    max_depth: MaxDepth = None,
    settings: Settings = None,
    references: Annotated[bool, typer.Option(help="Also run non-private learners, for comparison.")] = True,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Deals the folds. Noise is never seeded.")] = 0,
    quoted_line_breaks: QuotedLineBreaks = False,
    as_json: Json = False,
) -> None:
    """Cross-validate recipes on a table. NOT PRIVATE: every fold is a fit."""
    from privet.estimators.references import REFERENCES
    from privet.estimators.registry import make_classifier
    from privet.experiments import evaluation
    from privet.privacy.budget import epsilon as check_epsilon
    from privet.schema import Schema
    from privet.schema.declared import refuse_source
    from privet.schema.files import read_table

    facts = Schema.from_json(schema)
    classifiers = [
        make_classifier(name, epsilon=check_epsilon(one), variant=variant, **make_params(name, max_depth, settings))
        for name in recipe
        for one in epsilon
    ]
    for classifier in classifiers:
        classifier.recipe()  # says what is wrong with its parameters before a table is read
    columns = read_table(table, facts, quoted_line_breaks=quoted_line_breaks)
    refuse_source(facts, columns, with_label=True)
    shout("NOT PRIVATE", evaluation.WARNING)
    with progress("cross-validating") as advance:
        result = evaluation.evaluate(
            facts,
            columns,
            classifiers,
            folds=folds,
            repeats=repeats,
            seed=seed,
            references=tuple(REFERENCES) if references else (),
            max_depth=max_depth,
            progress=advance,
        )
    if as_json:
        print_json(result.to_dict())
    else:
        print_rich(_grid(result))


def _grid(result: Evaluation) -> Any:
    from rich.table import Table as Grid

    folds = [*result.results, *result.references][0]
    grid = Grid(title=f"{folds.folds} folds x {folds.repeats} (not private)")
    grid.add_column("recipe")
    grid.add_column("variant")
    for heading in ("epsilon", "accuracy %", "AUC", "fit s"):
        grid.add_column(heading, justify="right")
    for score in result.results:
        grid.add_row(*_row(score))
    grid.add_section()
    for score in result.references:
        grid.add_row(*_row(score), style="dim")
    return grid


def _row(score: Score) -> tuple[str, ...]:
    return (
        score.recipe,
        score.variant,
        "none" if score.epsilon is None else f"{score.epsilon:g}",
        f"{100 * score.accuracy_mean:.2f} ± {100 * score.accuracy_std:.2f}",
        "-" if score.auc_mean is None else f"{score.auc_mean:.3f}",
        f"{score.fit_seconds_mean:.3f}",
    )


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command(epilog=EXAMPLE)(evaluate)
