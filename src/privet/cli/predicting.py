"""``privet predict``: predict labels for new records from a model file. It uses released numbers only and is free."""

from __future__ import annotations

import csv
import io
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from privet.cli.options import Json, ModelFile, QuotedLineBreaks, Source
from privet.cli.output import print_json, say
from privet.cli.screen import exactly
from privet.cli.writing import Force, put, refuse_kind, writing
from privet.errors import ParameterError

EXAMPLE = "Example: privet predict tree.json new-patients.csv --proba -o predictions.csv"


def predict(
    model: ModelFile,
    table: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="OUT.csv", help="Where to write; stdout by default.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of each class.")] = False,
    quoted_line_breaks: QuotedLineBreaks = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Predict the label of every record of a table, in order. Spends no budget."""
    if output is not None:
        refuse_kind(output, "predictions as CSV", ".csv")
    from privet.engines.opening import load_table
    from privet.estimators.registry import load_model
    from privet.tables.files import unreadable_records, unreadable_words

    with ExitStack() as stack:
        draft = None
        if output is not None:
            draft = stack.enter_context(writing(output, "the predictions", inputs=(model, Path(table)), force=force))
        classifier = load_model(model)
        schema = classifier.schema_
        columns = load_table(table, schema, with_label=False, quoted_line_breaks=quoted_line_breaks)
        unreadable = unreadable_records(columns)
        if proba and schema.predicts_number:
            raise ParameterError("--proba is for classes, and this model predicts a number; leave it out")
        labels = classifier.predict(columns).tolist()
        classes = classifier.classes_.tolist() if proba else []
        shares = classifier.predict_proba(columns).tolist() if proba else [[]] * len(labels)
        header = [schema.label.name, *(f"P({value})" for value in classes)]
        rows = ([label, *(f"{share:.6g}" for share in graded)] for label, graded in zip(labels, shares, strict=True))
        if draft is not None:
            text = io.StringIO(newline="")
            _write(text, header, rows)
            assert output is not None
            place = put(draft, text.getvalue(), "the predictions", force=force)
            say(f"wrote {len(labels)} predictions to {place}")
        elif not as_json:
            _write(exactly(sys.stdout), header, rows)
    if as_json:
        graded = {"classes": classes, "probabilities": shares} if proba else {}
        lost = {"unreadable_lines": unreadable.size, "unreadable_records": (unreadable + 1).tolist()}
        print_json({"label": schema.label.name, "predictions": labels} | graded | lost)
    if unreadable.size:
        say(f"warning: {unreadable_words(unreadable, len(labels))}")


def _write(file: IO[str], header: list[str], rows: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(predict)
