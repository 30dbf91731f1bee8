"""Predictions of a model that privet fitted, with Python's standard library alone.

    python FILE records.csv > predictions.csv

predicts every record of a CSV file. In a program, ``predict(record)`` and ``predict_proba(record)`` take one record as
a dictionary. Cells are read as privet reads them: a missing or unknown value has the code that the schema gives it.
METADATA holds the certificate and the fingerprint of the schema.
"""

import bisect
import csv
import math
import sys

# <the model>
METADATA: dict = {}
LABEL = ""
CLASSES: list = []
COMBINE, LINK, TAKEN, BOUNDS, LABELS, TIES = "sum", "identity", 0.0, None, None, None
COLUMNS: list = []  # (name, cuts or spellings, marker of a missing value, code of missing and unknown values)
SUMMANDS: list = []  # a table of numbers each, and how a record finds its row
# </the model>


def predict(record):
    """The label (or the number) of a record, a mapping from names of columns to cells."""
    return _answer(record)[0]


def predict_proba(record):
    """The probability of each class of a record, by label."""
    return dict(zip(CLASSES, _answer(record)[1], strict=True))


def _answer(record):
    codes = [_code(record[name], *column) for name, *column in COLUMNS]
    rows = [_row(summand, codes) for summand in SUMMANDS]
    scores = _combine([summand["table"][row] for summand, row in zip(SUMMANDS, rows, strict=True)], COMBINE)
    if LINK == "number":
        return scores[0] if BOUNDS is None else min(max(scores[0], BOUNDS[0]), BOUNDS[1]), []
    if LABELS is not None:
        return CLASSES[LABELS[rows[0]]], _probabilities(scores)
    decisive = scores
    if TIES is not None:
        second = _combine([table[row] for table, row in zip(TIES, rows, strict=True)], "sum")
        decisive = [tie if score == max(scores) else -1.0 for score, tie in zip(scores, second, strict=True)]
    return CLASSES[decisive.index(max(decisive))], _probabilities(scores)


def _code(cell, known, marker, fallback):
    if isinstance(known, dict):
        try:
            code = known.get(cell)
        except TypeError:  # a cell that cannot be a key
            return fallback
        if code is None and isinstance(cell, str):
            code = known.get(cell.strip())
        return fallback if code is None else code
    try:
        number = math.nan if cell is None else float(cell)
    except (TypeError, ValueError):
        return fallback
    except OverflowError:  # a whole number beyond every double
        number = math.inf if cell > 0 else -math.inf
    return fallback if math.isnan(number) or number == marker else bisect.bisect_left(known, number)


def _row(summand, codes):
    if "nodes" not in summand:
        row = 0
        for attribute, levels, side in summand["grid"]:
            row = row * side + levels[codes[attribute]]
        return row
    nodes = summand["nodes"]
    node = nodes[0]
    while node[0] >= 0:
        attribute, kind, cut, child = node
        code = codes[attribute]
        node = nodes[child + (code > cut, code != cut, code)[kind]]
    return node[1]


def _combine(rows, how):
    total = [0.0] * len(rows[0])
    for row in rows:
        pairs = zip(total, row, strict=True)
        total = [a + b for a, b in pairs] if how == "sum" else [max(a, b) for a, b in pairs]
    return total


def _probabilities(scores):
    if LINK == "identity":
        return scores
    top = max(scores)
    weights = [math.exp(score - top) if LINK == "softmax" else max(score, 0.0) for score in scores]
    if TAKEN:
        total = sum(weights)
        weights = [weight * (total - TAKEN * weight) for weight in weights]
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else [1 / len(weights)] * len(weights)


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} records.csv > predictions.csv")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([LABEL, *(f"P({label})" for label in CLASSES)])
    with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
        for record in csv.DictReader(file):
            label, shares = _answer(record)
            writer.writerow([label, *shares])


if __name__ == "__main__":
    main()
