"""The options of ``privet plan`` about money and sample sizes, and how their answers are printed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.planning.guidance import SampleSize, Worth

Events = Annotated[
    list[str] | None,
    typer.Option(
        "--event",
        metavar="CHANCE:COST",
        help="A bad event to a person outside the table, such as 0.02:500; prints what epsilon is worth. Repeatable.",
    ),
]
Money = Annotated[
    float | None, typer.Option("--money", metavar="B", min=0, help="With --event: the money to compensate all persons.")
]
Within = Annotated[
    float, typer.Option("--within", metavar="T", help="With --money: how far off a share of the records may be.")
]
Miss = Annotated[float, typer.Option("--miss", metavar="P", help="With --money: how often it may be further off.")]
Tell = Annotated[
    str | None,
    typer.Option("--tell", metavar="P:Q", help="Two shares to tell apart, such as 0.5:0.6; prints the records needed."),
]
Arms = Annotated[
    int, typer.Option("--arms", metavar="N", min=1, max=2, help="With --tell: 2 compares the shares of two groups.")
]
Alpha = Annotated[float, typer.Option("--alpha", metavar="P", help="With --tell: the rate of false alarms.")]
Power = Annotated[float, typer.Option("--power", metavar="P", help="With --tell: the rate of true differences found.")]


def worth_of(
    records: int, events: Sequence[str] | None, money: float | None, within: float, miss: float
) -> Worth | None:
    from privet.planning.guidance import Worth

    if not events:
        if money is not None:
            raise ParameterError("--money needs what it is for", fix="add --event CHANCE:COST")
        return None
    return Worth(records, tuple(_pair(event, "--event", "0.02:500") for event in events), money, within, miss)


def samples_of(tell: str | None, arms: int, alpha: float, power: float) -> SampleSize | None:
    from privet.planning.guidance import SampleSize

    return None if tell is None else SampleSize(_pair(tell, "--tell", "0.5:0.6"), arms, alpha, power)


def worth_grid(worth: Worth, epsilons: Sequence[Fraction]) -> list[Any]:
    from rich.table import Table as Grid

    grid = Grid(title="What epsilon is worth (Hsu et al. 2014)")
    for heading in ("epsilon", "owed to each", "owed to all"):
        grid.add_column(heading, justify="right")
    for line in worth.lines(epsilons):
        grid.add_row(f"{line['epsilon']:g}", f"{line['each']:,.2f}", f"{line['all']:,.0f}")
    about = f"Bad events cost {worth.cost:,.2f} per person without the table."
    return [grid, about, *(() if worth.verdict is None else (f"With {worth.money:,.0f}: {worth.verdict}.",))]


def samples_grid(samples: SampleSize, epsilons: Sequence[Fraction]) -> list[Any]:
    from rich.table import Table as Grid

    each = " in each of two groups" if samples.arms == 2 else ""
    first, second = samples.shares
    title = f"Records{each} that tell {100 * first:g} % from {100 * second:g} % (Vu & Slavkovic 2009)"
    grid = Grid(title=title)
    for heading in ("epsilon", "records", "times as many"):
        grid.add_column(heading, justify="right")
    grid.add_row("no privacy", f"{samples.without_privacy:,}", "1")
    for line in samples.lines(epsilons):
        grid.add_row(f"{line['epsilon']:g}", f"{line['records']:,}", f"{line['factor']:.2f}")
    return [grid, f"At level {samples.alpha:g}, with power {samples.power:g}."]


def _pair(text: str, option: str, example: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(":"))
    except ValueError:
        raise ParameterError(
            parameter=option, problem=f"must be two numbers, such as {example}, not {text!r}"
        ) from None
    return first, second
