"""Arguments that several commands share, and how they are parsed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.schema import Schema

RESERVED = {
    "schema": "--schema",
    "epsilon": "--epsilon",
    "max_depth": "--max-depth",
    "variant": "--variant",
    "neighbours": "--neighbours",
    "expected_records": "--expect",
    "ledger": "--journal",
    "random_state": "--seed",
    "public": "--public",
}
"""Parameters of a classifier that have an option of their own, and so cannot be given with --set."""


def parse_epsilon(text: str | Fraction) -> Fraction:
    """Parse a number exactly: 0.1 is one tenth, and 1/3 is a third. The library checks its range."""
    from privet.privacy.budget import read_fraction

    if isinstance(text, Fraction):  # an option's default
        return text
    try:
        return read_fraction(text.strip(), "it")
    except ParameterError:
        shown = repr(text) if len(text) <= SHOWN else "this"
        raise typer.BadParameter(f"{shown} is not a number; {_number_hint(text[:SHOWN])}") from None


SHOWN = 40  # characters of a wrong number in a message


def _number_hint(text: str) -> str:
    """How to write the number that was meant.

    >>> [_number_hint(text) for text in ("1,5", "10%", "much")]
    ['write a decimal point: 1.5', 'write a plain number: 10/100', 'write it like 0.5 or 1/3']
    """
    if re.fullmatch(r"\d*,\d+", text):
        return f"write a decimal point: {text.replace(',', '.')}"
    if re.fullmatch(r"\d+\s*%", text):
        return f"write a plain number: {text.rstrip(' %')}/100"
    return "write it like 0.5 or 1/3"


HUGE = 10  # an epsilon beyond it promises nothing to rely on


def mind_epsilon(epsilon: Fraction) -> None:
    """Warn about an epsilon that promises almost nothing."""
    from privet.cli.output import warn

    if epsilon > HUGE:
        factor = f"{math.exp(epsilon):.0e}" if epsilon < 700 else "more than 1e300"
        warn(
            f"epsilon {float(epsilon):g} promises almost nothing: one record may make an outcome {factor} "
            "times as likely. Usual values are 0.1 to 2; `privet plan` shows what they cost"
        )


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """Parse ``name=value`` pairs; a value is JSON if possible (3, 0.5, true, null) and text otherwise."""
    parsed: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise typer.BadParameter(f"{setting!r} is not of the form name=value", param_hint="--set")
        if name in RESERVED:
            raise typer.BadParameter(f"{name} has an option of its own, {RESERVED[name]}", param_hint="--set")
        if name in parsed:
            raise typer.BadParameter(f"{name} is set twice", param_hint="--set")
        parsed[name] = read_value(text.strip())
    return parsed


def refuse_settings(who: str, params: dict[str, Any], offered: Collection[str]) -> None:
    """Refuse an unknown name for --set, and list the known ones."""
    from privet.recipes.unoffered import UnknownArgument

    for name in params:
        if name not in offered:
            spelt = {one: RESERVED.get(one, f"--set {one}") for one in offered}
            raise UnknownArgument(who, name, set(offered) - set(RESERVED), spelt)


def check_unit(table: str, schema: Schema, unit: str | None) -> None:
    """Refuse a unit that is not a column of a file, with a message about the option."""
    from privet.tables.files import column_names
    from privet.tables.foreign import nearest_column

    if unit is None or not Path(table).is_file():
        return
    names = column_names(table)
    if unit not in names:
        fix = (
            nearest_column(unit, schema.columns, names)
            or "name the column that says who a row belongs to, spelt as in the table's header"
        )
        raise ParameterError(f"--unit {unit!r} is not a column of the table", parameter="unit", fix=fix)


def with_unit(schema: Schema, unit: str | None, max_rows: int | None) -> Schema:
    """Add the unit of the command line to a schema; it must not contradict that of the file."""
    from privet.schema import Unit

    if (unit is None) != (max_rows is None):
        raise ParameterError("--unit and --max-rows go together: whose rows, and how many of each")
    if unit is None or max_rows is None:
        return schema
    wanted = Unit(unit, max_rows)
    if schema.unit not in (None, wanted):
        raise ParameterError(
            f"the schema protects {schema.unit}; leave --unit and --max-rows out, or change the schema"
        )
    return replace(schema, unit=wanted)


def read_value(text: str) -> Any:
    python = {"True": True, "False": False, "None": None}  # Python's spelling, beside JSON's
    if text in python:
        return python[text]
    try:
        return json.loads(text)
    except ValueError:
        return text


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `privet fit` wrote.")]
Source = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="The records: .csv, .csv.gz or .parquet, a pattern of such files in quotes, a folder of Parquet files, "
        "duckdb:///FILE?table=T or postgresql://HOST/DB?table=T (passwords better in PGPASSWORD or a service file), "
        "or an address that an installed package reads.",
    ),
]
QuotedLineBreaks = Annotated[
    bool,
    typer.Option(
        "--quoted-line-breaks",
        help="Cells of the CSV may hold line breaks, in quotes. Only for well-formed files; the certificate says so.",
    ),
]
SchemaFile = Annotated[
    Path, typer.Option("--schema", "-s", metavar="FILE", help="The public facts about the table, as JSON.")
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="COLUMN",
        help="Protect a person instead of a row: the column that identifies the person. Needs --max-rows.",
    ),
]
MaxRows = Annotated[
    int | None, typer.Option("--max-rows", metavar="K", min=1, help="With --unit: the most rows of each to use.")
]
MaxDepth = Annotated[int | None, typer.Option("--max-depth", metavar="D", help="The most tests on a path.")]
MaxLeaves = Annotated[
    int | None,
    typer.Option(
        "--max-leaves", metavar="N", min=1, help="Show at most N leaves of a tree; small branches are folded."
    ),
]
MinSupport = Annotated[
    float | None,
    typer.Option("--min-support", metavar="N", min=0, help="Fold branches whose leaves all have fewer than N records."),
]
Variant = Annotated[
    str,
    typer.Option(
        "--variant",
        metavar="V",
        help="sound, or as-published (some published methods break their promise), or another variant of the recipe.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Another parameter of the recipe; may be repeated."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=2**32 - 1, help="Seeds public choices only. Noise is never seeded."),
]
JournalFile = Annotated[
    Path | None,
    typer.Option("--journal", metavar="FILE", help="Spend from the budget in this file; created if missing."),
]
Budget = Annotated[
    Fraction | None,
    typer.Option(
        "--budget",
        metavar="B",
        parser=parse_epsilon,
        help="The cap of a new journal; by default what this command spends.",
    ),
]
Neighbours = Annotated[
    str | None, typer.Option("--neighbours", metavar="N", help="add-remove (the default) or replace-one.")
]
Delta = Annotated[
    float | None,
    typer.Option(
        "--delta",
        metavar="D",
        help="Promise (epsilon, delta), such as 1e-6, where the recipe can do more with it. Without it, pure epsilon.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")]
