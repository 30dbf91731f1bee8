"""``privet retention``: what a published table retains of the patterns of the original."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.options import Budget, JournalFile, Json, SchemaFile, Source, mind_epsilon, parse_epsilon
from privet.cli.output import print_json, progress, say
from privet.cli.spending import Analyst, check_journal, print_rest, rest_of

EXAMPLE = "Example: privet retention patients.csv published.csv --schema patients.schema.json --patterns rules.txt"
EXACT = "OUTSIDE PRIVACY: both tables are counted exactly; for the owner's eyes. --epsilon E buys figures to publish."


def retention(
    original: Source,
    published: Annotated[Path, typer.Argument(metavar="PUBLISHED", help="The published table.")],
    schema: SchemaFile,
    patterns: Annotated[
        Path,
        typer.Option(
            "--patterns",
            metavar="FILE",
            help="Rules, one a line (IF age > 63.7 THEN ill) or as JSON; or a model that `privet fit` wrote.",
        ),
    ],
    min_support: Annotated[
        float, typer.Option("--min-support", metavar="N", min=0, help="Leave patterns of fewer records out of PLD.")
    ] = 5,
    epsilon: Annotated[
        Fraction | None,
        typer.Option(
            "--epsilon", "-e", metavar="E", parser=parse_epsilon, help="Count the original privately; needs one tree."
        ),
    ] = None,
    journal: JournalFile = None,
    budget: Budget = None,
    analyst: Analyst = None,
    as_json: Json = False,
) -> None:
    """Measure how the owner's patterns fare in a published table: pattern accuracy, PSD, PLD and RE."""
    from privet.engines.opening import load_table
    from privet.rules.private import private_retention
    from privet.rules.retention import retention_report
    from privet.schema.written import read_schema
    from privet.work import Purse, Work

    check_journal(journal, budget, analyst)
    with progress("starting"):
        facts = read_schema(schema)
        rules = _patterns(facts, patterns)
        after = load_table(str(published), facts)
    if epsilon is None:
        say(EXACT)
        found: Any = retention_report(load_table(original, facts), after, rules, min_support=min_support)
        print_json(found.to_dict() | {"private": False}) if as_json else print(found)
        return
    mind_epsilon(epsilon)
    purse = Purse(journal, budget, analyst)
    with progress("counting"), Work(original, facts, epsilon, "retention", purse) as work, work.records() as data:
        found = private_retention(data, after, rules, epsilon, min_support=min_support)
        certificate = data.certificate()
    if as_json:
        print_json(found.to_dict() | {"private": True, "certificate": certificate.to_dict()} | rest_of(purse))
        return
    print(found)
    print(certificate)
    print_rest(purse)


def _patterns(schema: Any, file: Path) -> Any:
    """A model, a list of rules that privet wrote, or rules that a person wrote."""
    from privet.estimators.registry import load_model
    from privet.rules.by_value import read_rules
    from privet.rules.rulelist import FORMAT, RuleList

    text = file.read_text("utf-8-sig")
    if text.lstrip().startswith("{"):
        return RuleList.from_json(text) if f'"{FORMAT}"' in text[:200] else load_model(file)
    return read_rules(schema, text)


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(retention)
