"""``privet plan``: forecast what a budget buys, before any of it is spent."""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.guiding import (
    Alpha,
    Arms,
    Events,
    Miss,
    Money,
    Power,
    Tell,
    Within,
    samples_grid,
    samples_of,
    worth_grid,
    worth_of,
)
from privet.cli.options import Json, SchemaFile, parse_epsilon
from privet.cli.output import print_json, print_rich, progress, say
from privet.cli.writing import Force, put, writing
from privet.recipes.registry import refuse_unknown

if TYPE_CHECKING:
    from privet.planning.forecast import Answer, Forecast

EXAMPLE = (
    "Example: privet plan --schema patients.schema.json --records 5000 --signal medium --epsilon 0.1 --epsilon 1 "
    "--plot plan.png --event 0.02:500 --money 10000 --tell 0.5:0.6"
)


def plan(
    schema: SchemaFile,
    records: Annotated[int, typer.Option("--records", "-n", metavar="N", help="The rough number of records.")],
    signal: Annotated[
        str,
        typer.Option(
            "--signal", metavar="S", help="How well labels can be predicted, at a guess: weak, medium or strong."
        ),
    ] = "medium",
    epsilon: Annotated[
        list[Fraction] | None,
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="A candidate budget; may be repeated."),
    ] = None,
    recipe: Annotated[
        list[str] | None, typer.Option("--recipe", "-r", metavar="R", help="A method; may be repeated.")
    ] = None,
    largest_class: Annotated[
        float | None,
        typer.Option("--largest-class", metavar="SHARE", help="The rough share of the most common label, such as 0.7."),
    ] = None,
    worlds: Annotated[
        int | None,
        typer.Option("--worlds", metavar="K", help="Invent K tables; by default up to 20, in about 20 seconds."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seeds the invented tables. Noise is never seeded.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also draw points lost against epsilon, as PNG.")
    ] = None,
    event: Events = None,
    money: Money = None,
    within: Within = 0.1,
    miss: Miss = 0.05,
    tell: Tell = None,
    arms: Arms = 1,
    alpha: Alpha = 0.05,
    power: Power = 0.8,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Forecast what privacy costs, without any data and without spending any budget.

    From the schema, a rough number of records and a guess at the strength of the signal, invent tables and fit each
    method with and without noise. The result: the points of accuracy lost (of R2, where the label is a number), the
    records that a leaf needs, and the error of an answer. With --event, also what epsilon is worth in money; with
    --tell, the records that a test needs.
    """
    refuse_unknown(recipe or [])
    with progress("starting"):
        from privet.planning import pictures, planner
        from privet.privacy.budget import epsilon as parse_budget
        from privet.schema import Schema

    facts, chosen = Schema.from_json(schema), epsilon or [parse_budget(one) for one in planner.EPSILONS]
    worth, samples = worth_of(records, event, money, within, miss), samples_of(tell, arms, alpha, power)
    further = ({} if worth is None else {"economics": worth.to_dict(chosen)}) | (
        {} if samples is None else {"sample_size": samples.to_dict(chosen)}
    )
    if plot is not None:
        pictures.check_matplotlib()  # before the work, not after it
    with writing(plot, "the picture", inputs=[schema], force=force) if plot is not None else nullcontext() as draft:
        with progress("simulating") as advance:
            forecast = planner.plan(
                facts,
                records,
                signal=signal,
                epsilons=chosen,
                recipes=recipe,
                largest_class=largest_class,
                worlds=planner.WORLDS if worlds is None else worlds,
                seconds=planner.SECONDS if worlds is None else None,
                seed=seed,
                progress=advance,
            )
        if draft is not None:
            say(f"wrote {put(draft, pictures.draw(forecast), 'the picture', force=force)}")
    if as_json:
        print_json(forecast.to_dict() | further)
    else:
        grids = [] if worth is None else worth_grid(worth, chosen)
        grids += [] if samples is None else samples_grid(samples, chosen)
        print_rich(_learners(forecast), _answers(forecast), *forecast.notes, *grids)


def _learners(forecast: Forecast) -> Any:
    from rich.table import Table as Grid

    balance = "" if forecast.largest_class is None else f", {100 * forecast.largest_class:g} % of one class"
    title = (
        f"{forecast.schema}: about {forecast.records:,} records{balance}, {forecast.signal.name} signal "
        f"({forecast.worlds} invented tables)"
    )
    grid = Grid("learner", title=title)
    leaves = any(line.leaf_records is not None for line in forecast.lines)
    headings = ["epsilon", f"{forecast.measure} %", "without noise %", "points lost"]
    for heading in [*headings, "a leaf needs"] if leaves else headings:
        grid.add_column(heading, justify="right")
    for learner in forecast.learners:
        for place, line in enumerate(forecast.of(learner)):
            grid.add_row(
                "" if place else learner,
                f"{line.epsilon:g}",
                f"{100 * line.score:.1f}",
                f"{100 * line.without_noise:.1f}",
                str(line),
                *([] if line.leaf_records is None else [f"{line.leaf_records:,} records"]),
            )
        grid.add_section()
    return grid


def _answers(forecast: Forecast) -> Any:
    from rich.table import Table as Grid

    grid = Grid(title=f"An answer's error, {100 * forecast.confidence:g} % of the time at most")
    classes = any(answer.class_counts_within is not None for answer in forecast.answers)
    for heading in ("epsilon", "a count", *(("all class counts",) if classes else ())):
        grid.add_column(heading, justify="right")
    for answer in forecast.answers:
        grid.add_row(f"{answer.epsilon:g}", *_errors(answer, forecast.records))
    return grid


def _errors(answer: Answer, records: int) -> list[str]:
    known = [off for off in (answer.count_within, answer.class_counts_within) if off is not None]
    return [f"± {off:,} ({100 * off / records:.2g} % of the records)" for off in known]


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(plan)
