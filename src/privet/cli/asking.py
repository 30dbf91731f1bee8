"""``privet ask``: a question about private records, for one charge."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.addresses import scheme_of
from privet.bidi import isolated
from privet.cli.options import (
    Budget,
    JournalFile,
    Json,
    MaxRows,
    Neighbours,
    QuotedLineBreaks,
    Settings,
    Source,
    Unit,
    mind_epsilon,
    parse_epsilon,
    with_unit,
)
from privet.cli.output import print_json, print_rich, progress, say, try_stdout
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.privacy.answers import Answer

SERVER = ("http", "https")
EXAMPLE = (
    'Example: privet ask patients.csv --schema patients.schema.json "count where age > 63.7 by ward" --epsilon 0.1 '
    "--journal patients.journal\n\n"
    "Questions: count; class counts; sum of X; average of X; histogram of X; quantiles 0.25, 0.5 of X; median of X; "
    "most frequent X. Each may go on with: where CONDITION and CONDITION ..., and then: by X. Conditions: X = value, "
    "X in (value, value), X <= number, X > number, X is missing. Put names and values with blanks in quotes.\n\n"
    "A server: privet ask https://privet.example.org visits count --epsilon 0.1"
)


def ask(
    table: Source,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION", help="The question, see below. Before it, a server's address needs a table."
        ),
    ] = None,
    epsilon: Annotated[
        Fraction | None,
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The price of the answer."),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", "-s", metavar="FILE", help="The public facts about the table, as JSON.")
    ] = None,
    unit: Unit = None,
    max_rows: MaxRows = None,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    neighbours: Neighbours = None,
    quoted_line_breaks: QuotedLineBreaks = False,
    of: Annotated[str | None, typer.Option("--of", metavar="ID", help="Of a server's score: the id of a fit.")] = None,
    recipe: Annotated[str | None, typer.Option("--recipe", "-r", metavar="NAME", help="Of a server's fit.")] = None,
    params: Settings = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to put a model from a server.")
    ] = None,
    price: Annotated[bool, typer.Option("--price", help="Only ask a server what it costs. Free.")] = False,
    trial: Annotated[bool, typer.Option("--trial", help="Ask a server about invented records. Free.")] = False,
    as_json: Json = False,
) -> None:
    """Ask private records a question: a count, a sum, an average, a histogram, quantiles, by value and by part.

    With the address of a server: PRIVET_KEY is your key; without words, it lists the tables that are open to you.
    """
    if scheme_of(table) in SERVER:
        from privet.cli.remote import Remote, ask_server

        asked_there = Remote(tuple(words or ()), epsilon, of, recipe, params or [], output, price, trial)
        ask_server(table, asked_there, as_json)
        return
    from privet.structure.grammar import parse_question

    asked = parse_question(" ".join(words or ()))
    if epsilon is None:
        raise ParameterError(parameter="--epsilon", problem="is missing", fix="say what the answer may cost")
    check_journal(journal, budget, analyst)
    mind_epsilon(epsilon)
    if schema is None:
        raise ParameterError("a table needs its public facts", parameter="--schema", fix="give --schema FILE")
    with progress("starting"):
        from privet.asking import answer
        from privet.schema.identifiers import unit_hint
        from privet.schema.written import read_schema
        from privet.work import Purse

        purse = Purse(journal, budget, analyst, neighbours)
        facts = with_unit(read_schema(schema), unit, max_rows)
        asked.check(facts)
        if hint := unit_hint(facts):
            say(f"note: {hint}")
    try_stdout()
    with progress("asking"):
        found, certificate = answer(table, facts, asked, epsilon, purse, quoted_line_breaks=quoted_line_breaks)
    if as_json:
        print_json(found.to_dict() | {"certificate": certificate.to_dict()} | rest_of(purse))
        return
    print_rich(grid_of(found))
    for sentence in (f"{found.sentence[0].upper()}{found.sentence[1:]}.", *(f"Note: {note}." for note in found.notes)):
        print(sentence)
    print(certificate)
    print_rest(purse)


def grid_of(found: Answer) -> Any:
    """The rows of an answer as a table."""
    from rich.table import Table as Grid

    grid = Grid(title=str(found.question))
    by, of = (any(getattr(row, side) is not None for row in found.rows) for side in ("by", "of"))
    for shown, name in ((by, found.question.by), (of, found.question.of or "class")):
        if shown:
            grid.add_column(isolated(str(name)))
    grid.add_column("answer", justify="right")
    grid.add_column("within", justify="right")
    for row in found.rows:
        names = [isolated(name) for shown, name in ((by, row.by), (of, row.of)) if shown and name is not None]
        value = isolated(row.value) if isinstance(row.value, str) else f"{row.value:.10g}"
        grid.add_row(*names, value, f"{row.within:.4g}")
    return grid


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(ask)
