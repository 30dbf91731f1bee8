"""``privet predict``: labels for new records, from a model file. Released numbers only, so it costs nothing."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from privet.cli.options import Json, ModelFile, QuotedLineBreaks, Table
from privet.cli.output import print_json, say

EXAMPLE = "Example: privet predict tree.json new-patients.csv --proba -o predictions.csv"


def predict(
    model: ModelFile,
    table: Table,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="OUT.csv", help="Where to write; stdout if left out.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probability of each class.")] = False,
    quoted_line_breaks: QuotedLineBreaks = False,
    as_json: Json = False,
) -> None:
    """Predict the label of every record of a table, in its order. Spends no budget."""
    from privet.estimators.registry import load_model
    from privet.schema.files import read_table

    classifier = load_model(model)
    schema = classifier.schema_
    columns = read_table(table, schema, with_label=False, quoted_line_breaks=quoted_line_breaks)
    labels = classifier.predict(columns).tolist()
    classes = classifier.classes_.tolist() if proba else []
    shares = classifier.predict_proba(columns).tolist() if proba else [[]] * len(labels)
    if as_json:
        graded = {"classes": classes, "probabilities": shares} if proba else {}
        print_json({"label": schema.label.name, "predictions": labels} | graded)
        if output is None:
            return
    header = [schema.label.name, *(f"P({value})" for value in classes)]
    rows = ([label, *(f"{share:.6g}" for share in graded)] for label, graded in zip(labels, shares, strict=True))
    if output is None:
        _write(sys.stdout, header, rows)
        return
    with open(output, "w", encoding="utf-8", newline="") as file:
        _write(file, header, rows)
    say(f"wrote {len(labels)} predictions to {output}")


def _write(file: IO[str], header: list[str], rows: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


def register(app: typer.Typer) -> None:
    """Hang this command on the tree."""
    app.command(epilog=EXAMPLE)(predict)
