"""``privet export``: write a model for another program. It uses released numbers only and is free."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.options import Json, ModelFile
from privet.cli.output import print_json
from privet.cli.writing import Force, put, refuse_kind, writing
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.models.model import Model

EXAMPLE = "Example: privet export tree.json --to sql --dialect postgres --table patients -o tree.sql"


class Form(StrEnum):
    ONNX = "onnx"
    SQL = "sql"
    PMML = "pmml"
    PYTHON = "python"
    SHAP = "shap"


class DialectOption(StrEnum):
    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    SQLITE = "sqlite"


SUFFIX = {Form.SHAP: ".json"}  # of those that `refuse_kind` knows


def export(
    model: ModelFile,
    form: Annotated[Form, typer.Option("--to", help="The form: what the other program reads.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")],
    dialect: Annotated[
        DialectOption | None, typer.Option("--dialect", help="With --to sql: whose SQL; duckdb by default.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="NAME", help="With --to sql: the table of the records; records by default."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMN",
            help="With --to sql: a column to return beside the prediction, instead of the attributes; may be repeated.",
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a model for another program, with its certificate and the fingerprint of its schema. Spends no budget.

    onnx: a graph for onnxruntime and others (needs the extra onnx). sql: a SELECT for DuckDB, PostgreSQL or SQLite.
    pmml: PMML 4.4. python: one file, standard library only. shap: JSON for shap.TreeExplainer.
    """
    from privet.recipes.saved import read_model

    if form is not Form.SQL and not (dialect is None and table is None and not keep):
        raise ParameterError(f"--dialect, --table and --keep are for --to sql; leave them out with --to {form.value}")
    refuse_kind(output, f"for {form.value}", *((SUFFIX[form],) if form in SUFFIX else ()))
    with writing(output, "the export", inputs=(model,), force=force) as draft:
        content = _content(read_model(model)[0], form, dialect or DialectOption.DUCKDB, table or "records", keep)
        place = put(draft, content, "the export", force=force)
    size = len(content.encode() if isinstance(content, str) else content)
    if as_json:
        print_json({"file": str(place), "form": form.value, "bytes": size})
    else:
        print(f"{place}: {form.value}, {size / 1000:.0f} KB")


def _content(model: Model, form: Form, dialect: str, table: str, keep: list[str] | None) -> str | bytes:
    match form:
        case Form.ONNX:
            return model.to_onnx()
        case Form.SQL:
            return model.to_sql(dialect, table, keep or None)
        case Form.PMML:
            return model.to_pmml()
        case Form.PYTHON:
            return model.to_python()
        case Form.SHAP:
            from privet.models.export.shap import shap_json

            return shap_json(model)


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(export)
