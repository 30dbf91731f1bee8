"""``privet predict``: predict labels for new records from a model file. It uses released numbers only and is free."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, ModelFile, QuotedLineBreaks, Source
from privet.cli.output import print_json, say, warn
from privet.cli.screen import exactly
from privet.cli.writing import Force, put, refuse_kind, writing
from privet.errors import MissingColumnsError, ParameterError, TableError

if TYPE_CHECKING:
    from privet.models.drafts import Draft

EXAMPLE = "Example: privet predict tree.json new-patients.csv --proba -o predictions.csv"
PARQUET = ".parquet"


def predict(
    model: ModelFile,
    table: Source,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where to write: .csv, .parquet, duckdb:///FILE?table=T or postgresql://HOST/DB?table=T; stdout by "
            "default.",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of each class.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Also write this column of the table; may be repeated."),
    ] = None,
    quoted_line_breaks: QuotedLineBreaks = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Predict the label of every record of a table, in order. Spends no budget."""
    from privet.addresses import is_address
    from privet.engines.opening import load_table
    from privet.engines.sinks import Sink, open_sink
    from privet.estimators.registry import load_model
    from privet.tables.files import unreadable_records, unreadable_words

    kept = list(dict.fromkeys(keep or ()))
    with ExitStack() as stack:
        target: Draft | Sink | None = None
        if output is not None and is_address(output):
            target = open_sink(output, "the predictions", replace=force, source=table)
        elif output is not None:
            refuse_kind(Path(output), "predictions as CSV or Parquet", ".csv", PARQUET)
            inputs = (model, Path(table))
            target = stack.enter_context(writing(Path(output), "the predictions", inputs=inputs, force=force))
        classifier = load_model(model)
        schema = classifier.schema_
        if proba and schema.predicts_number:
            raise ParameterError("--proba is for classes, and this model predicts a number; leave it out")
        if schema.label.name in kept:
            raise ParameterError(f"--keep {schema.label.name} is the name of the prediction; leave it out")
        try:
            columns = load_table(table, schema, with_label=False, also=kept, quoted_line_breaks=quoted_line_breaks)
        except MissingColumnsError as error:
            unknown = next((name for name in kept if name in error.columns and name not in schema.names), None)
            if unknown is None:
                raise
            raise TableError(f"--keep {unknown}: the table has no such column; check its name") from None
        unreadable = unreadable_records(columns)
        labels = classifier.predict(columns).tolist()
        found: dict[str, list[Any]] = {name: _cells(columns[name]) for name in kept}
        found[schema.label.name] = labels
        classes = classifier.classes_.tolist() if proba else []
        shares = classifier.predict_proba(columns) if proba else None
        if shares is not None:
            found |= {f"P({value})": shares[:, c].tolist() for c, value in enumerate(classes)}
        if target is not None:
            where = _deliver(found, target, str(output), force)
            say(f"wrote {len(labels)} predictions to {where}")
        elif not as_json:
            exactly(sys.stdout).write(_csv(found))
    if as_json:
        graded = {} if shares is None else {"classes": classes, "probabilities": shares.tolist()}
        lost = {"unreadable_lines": unreadable.size, "unreadable_records": (unreadable + 1).tolist()}
        more = {"kept": {name: found[name] for name in kept}} if kept else {}
        print_json({"label": schema.label.name, "predictions": labels} | graded | more | lost)
    if unreadable.size:
        warn(unreadable_words(unreadable, len(labels)))


def _deliver(found: Mapping[str, Sequence[Any]], target: Any, output: str, force: bool) -> str:
    """Write the columns to a file or a database, and return the place as messages show it."""
    from privet.addresses import is_address, safe

    if is_address(output):
        target.write(_arrow(found))
        return safe(output)
    content: str | bytes
    if Path(output).suffix.lower() == PARQUET:
        table = _arrow(found)
        from pyarrow import parquet  # type: ignore[import-untyped]

        buffer = io.BytesIO()
        parquet.write_table(table, buffer)
        content = buffer.getvalue()
    else:
        content = _csv(found)
    return str(put(target, content, "the predictions", force=force))


def _arrow(found: Mapping[str, Sequence[Any]]) -> Any:
    """An Arrow table; a column whose cells differ in type becomes text."""
    try:
        import pyarrow
    except ImportError:
        raise TableError("writing Parquet needs the package pyarrow: run `pip install pyarrow`, or write CSV") from None
    columns = {}
    for name, cells in found.items():
        alike = len({type(cell) for cell in cells if cell is not None}) <= 1
        columns[name] = pyarrow.array(cells if alike else [None if cell is None else str(cell) for cell in cells])
    return pyarrow.table(columns)


def _cells(column: Any) -> list[Any]:
    """The cells of a column of text or of an Arrow table."""
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.tolist())


def _csv(found: Mapping[str, Sequence[Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(found)
    shown = ([f"{cell:.6g}" for cell in cells] if name.startswith("P(") else cells for name, cells in found.items())
    writer.writerows(zip(*shown, strict=True))
    return text.getvalue()


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(predict)
