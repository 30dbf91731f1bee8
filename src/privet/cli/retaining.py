"""``privet retention``: what a published table retains of the patterns of the original."""

from __future__ import annotations

import importlib
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.options import Budget, JournalFile, Json, SchemaFile, Source, mind_epsilon, parse_epsilon
from privet.cli.output import print_json, progress, say
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of
from privet.errors import ParameterError
from privet.models.drafts import why

EXAMPLE = "Example: privet retention patients.csv published.csv --schema patients.schema.json --patterns rules.txt"
EXACT = "OUTSIDE PRIVACY: both tables are counted exactly; for the owner only. --epsilon E buys figures to publish."


Patterns = Annotated[
    Path,
    typer.Option(
        "--patterns",
        metavar="FILE",
        help="Rules, one a line (IF age > 63.7 THEN ill) or as JSON; or a model that `privet fit` wrote.",
    ),
]


def retention(
    original: Source,
    published: Annotated[Path, typer.Argument(metavar="PUBLISHED", help="The published table.")],
    schema: SchemaFile,
    patterns: Patterns,
    min_support: Annotated[
        float, typer.Option("--min-support", metavar="N", min=0, help="Leave patterns of fewer records out of PLD.")
    ] = 5,
    epsilon: Annotated[
        Fraction | None,
        typer.Option(
            "--epsilon",
            "-e",
            metavar="E",
            parser=parse_epsilon,
            help="Count the original privately, to publish figures.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="MODULE:FUNCTION",
            help="A measure of your own: a function of a rule and its records in both tables. Not with --epsilon.",
        ),
    ] = None,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    as_json: Json = False,
) -> None:
    """Measure how well a published table retains the owner's patterns: pattern accuracy, PSD, PLD and RE."""
    from privet.engines.opening import load_table
    from privet.rules.private import private_retention
    from privet.rules.retention import retention_report
    from privet.schema.written import read_schema
    from privet.work import Purse, Work

    check_journal(journal, budget, analyst)
    if measure and epsilon is not None:
        raise ParameterError("--measure reads records exactly, so it goes without --epsilon", fix="leave one out")
    own = {name.rpartition(":")[2]: load_function(name) for name in measure or ()}
    with progress("starting"):
        facts = read_schema(schema)
        rules = read_patterns(facts, patterns)
        after = load_table(str(published), facts)
    if epsilon is None:
        say(EXACT)
        found: Any = retention_report(load_table(original, facts), after, rules, min_support=min_support, measures=own)
        print_json(found.to_dict() | {"private": False}) if as_json else print(found)
        return
    mind_epsilon(epsilon)
    purse = Purse(journal, budget, analyst)
    with (
        progress("counting"),
        Work(original, facts, epsilon, "retention", purse, cut=rules.schema) as work,
        work.records() as data,
    ):
        found = private_retention(data, after, rules, epsilon, min_support=min_support)
        certificate = data.certificate()
    if as_json:
        print_json(found.to_dict() | {"private": True, "certificate": certificate.to_dict()} | rest_of(purse))
        return
    print(found)
    print(certificate)
    print_rest(purse)


def read_patterns(schema: Any, file: Path) -> Any:
    """A model, a list of rules that privet wrote, or rules that a person wrote."""
    from privet.recipes.saved import read_model
    from privet.rules.by_value import read_rules
    from privet.rules.rulelist import FORMAT, RuleList

    try:
        text = file.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise ParameterError(f"cannot read the patterns {str(file)!r}: {why(error)}") from None
    if text.lstrip().startswith("{"):
        return RuleList.from_json(text) if f'"{FORMAT}"' in text[:200] else read_model(file)[0]
    return read_rules(schema, text)


def load_function(name: str) -> Any:
    """A function by its name, MODULE:FUNCTION; modules of the working directory are found too."""
    module, _, function = name.rpartition(":")
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), function) if module and function else None
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(f"cannot find the measure {name!r}: {error}", fix="write MODULE:FUNCTION") from None
    finally:
        sys.path.remove(here)
    if not callable(found):
        raise ParameterError(parameter="--measure", problem=f"{name!r} is no function", fix="write MODULE:FUNCTION")
    return found


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(retention)
