"""``privet schema``: draft, finish, check and explain the public facts about a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.bidi import isolated
from privet.cli.options import Json, QuotedLineBreaks, SchemaFile, Source
from privet.cli.output import complain, print_json, print_rich, say
from privet.cli.writing import Force, put, writing

if TYPE_CHECKING:
    from privet.owner.drafting import DraftedSchema

OUTSIDE = "This read the records themselves: it is outside privacy, for the data owner only; do not publish."
EXAMPLES = {
    "draft": "Example: privet schema draft patients.csv --label readmitted -o my.schema.json",
    "edit": "Example: privet schema edit my.schema.json",
    "check": "Example: privet schema check patients.csv --schema patients.schema.json",
    "keys": "Example: privet schema keys --json > privet-schema.json   (for an editor)",
}


def draft(
    table: Source,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The draft: .json or .yaml.")],
    label: Annotated[str | None, typer.Option("--label", "-l", metavar="COLUMN", help="The column to predict.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Draft a schema: the names and types of a table's columns, with the public facts for you to fill in or confirm.

    OUTSIDE PRIVACY: for the data owner. No fit takes a draft until its facts are confirmed.
    """
    from privet.engines.opening import load_first
    from privet.owner import drafting
    from privet.schema.written import facts_text
    from privet.tables.files import is_there

    with writing(output, "the draft", inputs=[Path(table)], force=force) as file:
        if is_there(Path(table)):
            drafted = drafting.draft(table, label)
        else:
            names, records = load_first(table, drafting.MOST_RECORDS)
            drafted = drafting.draft_table(table, names, records, label)
        place = put(file, facts_text(drafted.facts, output), "the draft", force=force)
    if as_json:
        columns = [{"column": c.name, "taken_for": c.taken_for, "to_do": c.to_do} for c in drafted.columns]
        facts = {"private": False, "draft": str(place), "columns": columns, "unreadable_lines": drafted.unreadable}
        facts["repeated_identifiers"] = list(drafted.repeated)
        print_json(facts | {"schema": drafted.facts})
        return
    say(OUTSIDE)
    print_rich(_table_of(drafted), drafting.WHY, "")
    for why, count in drafted.unreadable.items():
        print_rich(f"{count} lines cannot be read, and no fit would learn from them: they {why}", "")
    for name in drafted.repeated:
        print(f"{isolated(name)} looks like an identifier, and some value of it occurs twice: can one person have")
        print("several rows? Without a unit epsilon protects a row, not a person; `privet schema edit` asks.")
    if drafted.facts["class"] is None:
        print("Which column is to be predicted is open, too: its name is the class.")
    print(f"The draft is in {place}. Nothing is fitted with it until it is confirmed. Next, one of")
    print(f"  privet schema edit {place}     asks column by column")
    print("  privet schema keys     explains what the file may contain, to edit it by hand")


def _table_of(drafted: DraftedSchema) -> Any:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid("column", "looks like", "to do", box=box.SIMPLE_HEAD, pad_edge=False)
    kept = {attribute["name"] for attribute in drafted.facts["attributes"]}
    for column in drafted.columns:
        is_class = column.name == drafted.facts["class"]
        left_out = not is_class and column.name not in kept
        note = "the class: " if is_class else "left out; " if left_out else ""
        grid.add_row(
            Text(isolated(column.name)), column.taken_for, note + column.to_do, style="dim" if left_out else None
        )
    return grid


def edit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A draft or a schema, .json or .yaml; new if missing.")],
    everything: Annotated[bool, typer.Option("--all", help="Ask about confirmed columns too.")] = False,
) -> None:
    """Ask for the public facts, column by column. Every answer is saved at once, so you can stop and go on later.

    No table is read: every question can be answered without looking at the records, and should be.
    """
    from privet.cli.editing import Editor

    Editor(file, everything).run()


def check(
    table: Source,
    schema: SchemaFile,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="The most bad rows and values to list of each kind.")
    ] = 10,
    most: Annotated[
        float,
        typer.Option("--most", metavar="SHARE", min=0, max=1, help="Fail if more of the records have one fault."),
    ] = 0.05,
    quoted_line_breaks: QuotedLineBreaks = False,
    as_json: Json = False,
) -> None:
    """Count and locate values outside the schema, and explain how a fit reads them. Fails if there are many.

    OUTSIDE PRIVACY: for the data owner only; do not publish.
    """
    from privet.engines.opening import load_table
    from privet.owner.inspection import check_table
    from privet.schema import Schema

    facts = Schema.from_json(schema)
    report = check_table(facts, load_table(table, facts, quoted_line_breaks=quoted_line_breaks), limit=limit)
    ruinous = report.ruinous(most)
    if as_json:
        print_json(report.to_dict() | {"most": most, "passed": not ruinous})
    else:
        print(report)
    if ruinous:
        columns = ", ".join(dict.fromkeys(finding.column for finding in ruinous))
        complain(f"more than {most:.1%} of the records have the same fault in {columns}: a fit learns little from that")
        raise typer.Exit(1)


def keys(as_json: Json = False) -> None:
    """Explain every key of a schema file. With --json, the JSON Schema that lets an editor complete and check one."""
    from privet.schema.keys import CATEGORY, FACTS, NUMBER, json_schema

    if as_json:
        print_json(json_schema())
        return
    titles = {
        FACTS: "A schema",
        NUMBER: "An attribute that is a number",
        CATEGORY: "An attribute that is one of a list",
    }
    print_rich(*(_explained(what, title) for what, title in titles.items()))


def _explained(what: str, title: str) -> Any:
    from rich import box
    from rich.table import Table as Grid

    from privet.schema.keys import json_schema, properties

    needed = json_schema()["required"] if what == "schema" else json_schema()["$defs"][what]["required"]
    grid = Grid("key", "", "", title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    grid.columns[0].no_wrap = True
    for key, facts in properties(what).items():
        grid.add_row(key, "needed" if key in needed else "", facts["description"])
    return grid


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Write and check schemas, the public facts about a table.", no_args_is_help=True)
    for command in (draft, edit, check, keys):
        group.command(epilog=EXAMPLES[command.__name__])(command)
    app.add_typer(group, name="schema")
