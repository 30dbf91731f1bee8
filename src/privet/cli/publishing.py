"""``privet publish``: make a public table from private records."""

from __future__ import annotations

import json
from dataclasses import fields
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import (
    Budget,
    JournalFile,
    Json,
    MaxDepth,
    Neighbours,
    QuotedLineBreaks,
    SchemaFile,
    Settings,
    Source,
    mind_epsilon,
    parse_epsilon,
    parse_settings,
    refuse_settings,
)
from privet.cli.output import print_json, progress, shout
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of
from privet.cli.writing import Force, put, refuse_kind, writing
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.publishing import Publisher
    from privet.schema import Schema

EXAMPLE = "Example: privet publish patients.csv --schema patients.schema.json -m diffgen --epsilon 1 -o published.csv"


class Method(StrEnum):
    DPCUBE = "dpcube"
    DIFFGEN = "diffgen"
    UNIFORM = "uniform"
    GAUSSIAN = "gaussian"


PRIVATE = (Method.DPCUBE, Method.DIFFGEN)


def publish(
    table: Source,
    schema: SchemaFile,
    method: Annotated[
        Method,
        typer.Option("--method", "-m", help="dpcube and diffgen are private; uniform and gaussian noise are NOT."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="CSV", help="Where to write the table.")],
    epsilon: Annotated[
        Fraction | None,
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The budget of dpcube or diffgen."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="P", help="The share of the values to change, 0 to 1.")
    ] = None,
    max_depth: MaxDepth = None,
    settings: Settings = None,
    taxonomy: Annotated[
        Path | None,
        typer.Option("--taxonomy", metavar="FILE", help="Public groups of categories by attribute, JSON; for diffgen."),
    ] = None,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    neighbours: Neighbours = None,
    quoted_line_breaks: QuotedLineBreaks = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Publish a table: synthetic records from noisy counts, or (not private) the records with noise on their values."""
    refuse_kind(output, "a table as CSV", ".csv")
    with progress("starting"):
        from privet.engines.opening import load_table
        from privet.privacy.certificate import Certificate
        from privet.publishing import publish as release
        from privet.publishing.release import csv_text
        from privet.schema import Schema
        from privet.work import ROOM, Purse, Work, deliver

    check_journal(journal, budget, analyst)
    facts = Schema.from_json(schema)
    params = parse_settings(settings or []) | ({} if max_depth is None else {"max_depth": max_depth})
    _check_options(method, epsilon, rate, journal, bool(params or taxonomy))
    publisher = make_publisher(method, params, taxonomy) if method in PRIVATE else None
    purse = Purse(journal, budget, analyst, neighbours)
    released: Any
    with writing(output, "the table", inputs=(Path(table), schema, journal, taxonomy), force=force, room=ROOM) as draft:
        if publisher is None:
            with progress("reading the table"):
                columns = load_table(table, facts, quoted_line_breaks=quoted_line_breaks)
            released = _with_noise(method, columns, facts, rate)
            text = csv_text(released.columns)
            place = put(draft, text, "the table", force=force)
        else:
            assert epsilon is not None
            mind_epsilon(epsilon)
            facts.refuse_number("a published table")
            name = f"publishing by {publisher.name}"
            with (
                progress(name) as advance,
                Work(table, facts, epsilon, name, purse, quoted_line_breaks=quoted_line_breaks) as work,
                work.records() as data,
            ):
                released = release(publisher, data, epsilon, advance)
                text = released.to_csv()
                place = deliver(draft, data.ledger, lambda: text, "the table", replace=force)
    if as_json:
        result = {"table": str(place), "method": method.value, "certificate": released.certificate}
        print_json(result if publisher is None else result | rest_of(purse))
        return
    print(f"{place}: {method.value}, {text.count(chr(10)) - 1} records")
    print(Certificate.from_dict(released.certificate))
    if publisher is not None:
        print_rest(purse)


def _check_options(
    method: Method, epsilon: Fraction | None, rate: float | None, journal: Path | None, has_params: bool
) -> None:
    if method in PRIVATE:
        if epsilon is None:
            raise ParameterError(f"--method {method.value} spends a budget; give --epsilon, such as --epsilon 1")
        if rate is not None:
            raise ParameterError("--rate is for --method uniform or gaussian")
        return
    if rate is None:
        raise ParameterError(f"--method {method.value} needs --rate, the part of the values to change, such as 0.2")
    if epsilon is not None or journal is not None:
        raise ParameterError(
            f"--method {method.value} is not differentially private, so no --epsilon or --journal can cover it; use "
            "--method diffgen or dpcube"
        )
    if has_params:
        raise ParameterError(f"--method {method.value} has no other parameters than --rate")


def make_publisher(method: str, params: dict[str, Any], taxonomy: Path | None = None) -> Publisher:
    """A private way to publish, from its name and its parameters."""
    from privet.publishing import DiffGen, DPCube

    method = Method(method)
    kind: Any = DiffGen if method is Method.DIFFGEN else DPCube
    offered = {field.name for field in fields(kind)} - {"taxonomies"}
    refuse_settings(method.value, params, offered)
    if taxonomy is not None:
        if method is not Method.DIFFGEN:
            raise ParameterError("--taxonomy is for --method diffgen")
        try:
            params["taxonomies"] = json.loads(taxonomy.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ParameterError(f"the taxonomy file {str(taxonomy)!r} is not valid JSON: {error}") from error
        if not isinstance(params["taxonomies"], dict):
            raise ParameterError("the taxonomy file must hold an object: nested lists of values by attribute name")
    made: Publisher = kind(**params)
    return made


def _with_noise(method: Method, columns: Any, facts: Schema, rate: float | None) -> Any:
    from privet.publishing import gaussian_noise, uniform_noise

    assert rate is not None
    released = (uniform_noise if method is Method.UNIFORM else gaussian_noise)(columns, facts, rate)
    shout("NOT PRIVATE", f"{method.value} noise at a rate protects nobody: most values stay as they are.")
    return released


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(publish)
