"""``privet evaluate``: score recipes on a table that needs no protection or, privately, on one that does."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from privet.bidi import isolated
from privet.cli.fitting import make_params
from privet.cli.options import (
    Budget,
    JournalFile,
    Json,
    Markdown,
    MaxDepth,
    QuotedLineBreaks,
    SchemaFile,
    Settings,
    Source,
    Variant,
    mind_epsilon,
    parse_epsilon,
)
from privet.cli.output import print_json, print_markdown, print_rich, progress, shout, try_stdout
from privet.cli.reporting import page_for
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of
from privet.cli.writing import Force
from privet.errors import ParameterError
from privet.recipes.registry import DEFAULT, default_recipe, refuse_unknown

if TYPE_CHECKING:
    from privet.evaluation.outcome import Evaluation, FoldScore
    from privet.evaluation.private_evaluation import Evaluated
    from privet.evaluation.private_result import PrivateScore

EXAMPLE = (
    "Example: privet evaluate patients.csv --schema patients.schema.json --recipe exact --recipe diffpc45 "
    "--epsilon 0.1 --epsilon 1 --folds 5. And one that may be published: privet evaluate patients.csv --schema "
    "patients.schema.json --epsilon 1 --private --epsilon-scores 0.5"
)


def evaluate(
    table: Source,
    schema: SchemaFile,
    epsilon: Annotated[
        list[Fraction],
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="A budget; may be repeated."),
    ],
    recipe: Annotated[
        list[str] | None,
        typer.Option("--recipe", "-r", metavar="R", help=f"A method, {DEFAULT} if none is named; may be repeated."),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", metavar="K", help="Stratified folds, from 2 on.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="How often, with other folds.")] = 1,
    variant: Variant = "sound",
    max_depth: MaxDepth = None,
    settings: Settings = None,
    references: Annotated[bool, typer.Option(help="Also run non-private learners, for comparison.")] = True,
    positive: Annotated[
        str | None, typer.Option("--positive", metavar="LABEL", help="Also measure F-beta of this class.")
    ] = None,
    beta: Annotated[
        float, typer.Option("--beta", metavar="B", help="How much more recall counts than precision in F-beta.")
    ] = 1.0,
    records: Annotated[
        list[int] | None,
        typer.Option("--records", metavar="N", min=1, help="Also fit to N records of each fold; may be repeated."),
    ] = None,
    stability: Annotated[
        bool, typer.Option("--stability", help="Also fit every fold twice: how alike are two fits of one table?")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seeds the folds. Noise is never seeded.")] = 0,
    private: Annotated[
        bool,
        typer.Option("--private", help="A publishable evaluation: fit on a random part, score the rest with noise."),
    ] = False,
    epsilon_scores: Annotated[
        Fraction | None,
        typer.Option("--epsilon-scores", metavar="E", parser=parse_epsilon, help="The epsilon of each private score."),
    ] = None,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    quoted_line_breaks: QuotedLineBreaks = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="PAGE.html", help="Also write a page: accuracy against epsilon, with spread."),
    ] = None,
    force: Force = False,
    markdown: Markdown = False,
    as_json: Json = False,
) -> None:
    """Cross-validate recipes on a table. NOT PRIVATE without --private: every fold is a fit.

    With --private, --folds, --repeats, --records, --stability, --seed and the non-private references have no effect.
    """
    refuse_unknown(recipe or [])
    with progress("starting"):
        from privet.engines.opening import load_table
        from privet.estimators.registry import make_classifier
        from privet.evaluation import cross_validation as evaluation
        from privet.evaluation.metrics import check_positive
        from privet.evaluation.private_evaluation import evaluate_privately
        from privet.privacy.budget import epsilon as check_epsilon
        from privet.schema import Schema
        from privet.work import Purse

    if private != (epsilon_scores is not None):
        raise ParameterError("--private and --epsilon-scores E go together: private scores cost E each")
    if journal is not None and not private:
        raise ParameterError("--journal is for --private: no budget covers exact scores")
    check_journal(journal, budget, analyst)
    facts, purse = Schema.from_json(schema), Purse(journal, budget, analyst)
    if positive is not None:
        check_positive(facts.classes, positive, beta)
    classifiers = [
        make_classifier(name, epsilon=check_epsilon(one), variant=variant, **make_params(name, max_depth, settings))
        for name in recipe or [default_recipe(facts)]
        for one in epsilon
    ]
    for classifier in classifiers:
        classifier.recipe()  # checks its parameters before a table is read
    with page_for(report, inputs=(Path(table), schema, journal), force=force) as write_page:
        if epsilon_scores is not None:
            for price in (*epsilon, epsilon_scores):
                mind_epsilon(price)
            try_stdout()
            with progress("fitting and scoring") as advance:
                results, certificate = evaluate_privately(
                    [classifier.set_params(schema=facts) for classifier in classifiers],
                    table,
                    epsilon_scores,
                    purse,
                    progress=advance,
                    quoted_line_breaks=quoted_line_breaks,
                )
            if as_json:
                found = [one.to_dict() | _f_beta(one, positive, beta) for one in results]
                print_json({"results": found, "certificate": certificate.to_dict()} | rest_of(purse))
            else:
                print_rich(_private_grid(results, positive, beta))
                print(certificate)
                print_rest(purse)
            write_page(lambda pages: pages.private_evaluation_page(results, certificate, facts))
            return
        with progress("reading the table"):
            columns = load_table(table, facts, quoted_line_breaks=quoted_line_breaks)
        shout("NOT PRIVATE", evaluation.WARNING)
        with progress("cross-validating") as advance:
            result = evaluation.evaluate(
                facts,
                columns,
                classifiers,
                folds=folds,
                repeats=repeats,
                seed=seed,
                references=evaluation.references_for(facts, baseline_only=not references),
                max_depth=max_depth,
                positive=positive,
                beta=beta,
                records=records or (),
                stability=stability,
                progress=advance,
            )
        if as_json:
            print_json(result.to_dict())
        elif markdown:
            print_markdown(_headings(result), [_row(score, result) for score in (*result.results, *result.references)])
        else:
            print_rich(_grid(result))
        write_page(lambda pages: pages.evaluation_page(result, facts))


def _f_beta(result: Evaluated, positive: str | None, beta: float) -> dict[str, Any]:
    return (
        {} if positive is None else {"f_beta": _score_of_classes(result).f_beta(positive, beta).to_dict(), "beta": beta}
    )


def _score_of_classes(result: Evaluated) -> PrivateScore:
    return cast("PrivateScore", result.score)  # a positive class was found in the schema


def _private_grid(results: tuple[Evaluated, ...], positive: str | None, beta: float) -> Any:
    from rich.table import Table as Grid

    grid = Grid(title="Private scores on a quarter of the records, with intervals of 95 % (noise and sampling)")
    grid.add_column("recipe")
    grid.add_column("variant")
    measure = () if positive is None else (f"F{beta:g} of {isolated(positive)}",)
    for heading in ("epsilon", *results[0].score.written, *measure, "epsilon of the score"):
        grid.add_column(heading, justify="right")
    for result in results:
        more = () if positive is None else (str(_score_of_classes(result).f_beta(positive, beta)),)
        scores = *result.score.written.values(), *more, f"{float(result.score.epsilon):g}"
        grid.add_row(result.recipe, result.variant, f"{float(result.epsilon):g}", *scores)
    return grid


def _grid(result: Evaluation) -> Any:
    from rich.table import Table as Grid

    folds = [*result.results, *result.references][0]
    grid = Grid(title=f"{folds.folds} folds x {folds.repeats} (not private)")
    for heading in _headings(result):
        grid.add_column(heading, justify="left" if heading in ("recipe", "variant") else "right")
    for score in result.results:
        grid.add_row(*_row(score, result))
    grid.add_section()
    for score in result.references:
        grid.add_row(*_row(score, result), style="dim")
    return grid


def _headings(result: Evaluation) -> tuple[str, ...]:
    first = [*result.results, *result.references][0]
    sizes = ("records",) if _sized(result) else ()
    measure = () if result.f_beta is None else (isolated(result.f_beta),)
    main = f"{first.measure} %" if first.percent else first.measure
    alike = ("agreement", "rules alike") if result.compared else ()
    return ("recipe", "variant", "epsilon", *sizes, main, *first.others, *measure, *alike, "fit s")


def _sized(result: Evaluation) -> bool:
    return any(score.records is not None for score in result.results)


def _row(score: FoldScore, result: Evaluation) -> tuple[str, ...]:
    def part(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    return (
        score.recipe,
        score.variant,
        "none" if score.epsilon is None else f"{score.epsilon:g}",
        *(("all" if score.records is None else f"{score.records}",) if _sized(result) else ()),
        f"{100 * score.mean:.2f} ± {100 * score.std:.2f}" if score.percent else f"{score.mean:.3f} ± {score.std:.3f}",
        *map(part, score.others.values()),
        *(() if result.f_beta is None else (part(score.f_beta_mean),)),
        *((part(score.agreement_mean), part(score.rules_alike_mean)) if result.compared else ()),
        f"{score.fit_seconds_mean:.3f}",
    )


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(evaluate)
