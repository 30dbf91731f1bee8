"""``privet refine``: publish, assess, change, publish again, on one budget."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.options import (
    Budget,
    JournalFile,
    Json,
    Neighbours,
    SchemaFile,
    Source,
    mind_epsilon,
    parse_epsilon,
    read_value,
)
from privet.cli.output import print_json, progress
from privet.cli.publishing import PRIVATE, make_publisher
from privet.cli.retaining import Patterns, read_patterns
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of
from privet.cli.writing import Force, refuse_kind, writing
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.publishing import Publisher

EXAMPLE = (
    "Example: privet refine patients.csv --schema patients.schema.json --patterns rules.txt --try diffgen:max_depth=3 "
    "--try diffgen:max_depth=6 --epsilon 0.5 --epsilon-patterns 0.2 --psd 0.02 -o published.csv"
)


def refine(
    table: Source,
    schema: SchemaFile,
    patterns: Patterns,
    ways: Annotated[
        list[str],
        typer.Option("--try", metavar="METHOD[:NAME=VALUE]", help="A way to publish; repeat it for the next one."),
    ],
    epsilon: Annotated[
        Fraction,
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The budget of each published table."),
    ],
    epsilon_patterns: Annotated[
        Fraction,
        typer.Option(
            "--epsilon-patterns", metavar="E", parser=parse_epsilon, help="What counting the patterns costs, once."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="CSV", help="Where to write the chosen table.")],
    psd: Annotated[float | None, typer.Option("--psd", metavar="P", help="The most that PSD may be.")] = None,
    pld: Annotated[float | None, typer.Option("--pld", metavar="P", help="The most that PLD may be.")] = None,
    accuracy: Annotated[
        float | None, typer.Option("--accuracy", metavar="P", help="The most that pattern accuracy may change.")
    ] = None,
    min_support: Annotated[
        float, typer.Option("--min-support", metavar="N", min=0, help="Leave patterns of fewer records out of PLD.")
    ] = 5,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    neighbours: Neighbours = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Publish a table that retains the owner's patterns: try one way after the other until one is good enough.

    The patterns are counted once, for --epsilon-patterns; each table costs --epsilon. The price of all is reserved
    first, and what is not spent is given back. If no table is good enough, the nearest is written.
    """
    refuse_kind(output, "a table as CSV", ".csv")
    check_journal(journal, budget, analyst)
    with progress("starting"):
        from privet.publishing.release import csv_text
        from privet.rules.refining import Goal, price_of
        from privet.rules.refining import refine as run
        from privet.schema.written import read_schema
        from privet.work import ROOM, Purse, Work, deliver

        facts, goal = read_schema(schema), Goal(psd, pld, accuracy)
        publishers = [_way(way) for way in ways]
        rules = read_patterns(facts, patterns)
        price = price_of(publishers, epsilon, epsilon_patterns)
    mind_epsilon(price.epsilon)
    facts.refuse_number("a published table")
    purse = Purse(journal, budget, analyst, neighbours)
    inputs = (Path(table), schema, journal, patterns)
    with (
        writing(output, "the table", inputs=inputs, force=force, room=ROOM) as draft,
        progress("publishing and assessing") as advance,
        Work(table, facts, price, "publishing and assessing", purse) as work,
        work.records() as data,
    ):
        found = run(
            data,
            publishers,
            rules,
            goal,
            epsilon=epsilon,
            epsilon_patterns=epsilon_patterns,
            min_support=min_support,
            progress=advance,
        )
        place = deliver(draft, data.ledger, lambda: csv_text(found.chosen.columns), "the table", replace=force)
        certificate = data.certificate()
    if as_json:
        facts_of = {"table": str(place), "goal": goal.limits, "rounds": [one.to_dict() for one in found.rounds]}
        chosen = {"chosen": found.rounds.index(found.chosen), "met": found.chosen.met}
        print_json(facts_of | chosen | {"certificate": certificate.to_dict()} | rest_of(purse))
        return
    print(found)
    result = "is good enough" if found.chosen.met else "comes nearest, and is not good enough"
    print(f"{place}: round {found.rounds.index(found.chosen) + 1} {result} ({goal})")
    print(certificate)
    print_rest(purse)


def _way(text: str) -> Publisher:
    """A publisher from METHOD:NAME=VALUE:NAME=VALUE."""
    method, *settings = text.split(":")
    if method not in [one.value for one in PRIVATE]:
        names = " or ".join(one.value for one in PRIVATE)
        raise ParameterError(
            parameter="--try", problem=f"must begin with {names}, not {method!r}", fix="write diffgen:max_depth=4"
        )
    params = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(parameter="--try", problem=f"{setting!r} is not of the form name=value")
        params[name.strip().replace("-", "_")] = read_value(value.strip())
    return make_publisher(method, params)


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(refine)
