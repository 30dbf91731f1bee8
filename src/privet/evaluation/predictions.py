"""The cell of each record under a public model, and noisy counts of these cells.

A prediction is a function of the public model and of that record alone: codes by the model's schema, then leaves and
votes, record by record. So a table of (true class, predicted class, bin of confidence), or of sizes of errors, is a
table like any other: a record is in one cell of it, and one record more changes one count by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.engines.memory import MemoryEngine
from privet.engines.opening import gathered
from privet.evaluation.rounding import rounded, sizes_of
from privet.kinds import ChargeKind
from privet.models.released import Released
from privet.privacy.counting import ROOT
from privet.privacy.dataset import PrivateDataset
from privet.privacy.level import Level
from privet.schema import Categorical, Schema
from privet.schema.attributes import MAX_CODES
from privet.tables.encoding import Codes, code_type

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MOST_CELLS = MAX_CODES


def predicted_cells(trees: Released, codes: Codes, bins: int) -> Ints:
    """The number of each record's cell among (true class, predicted class, bin of confidence), the bin running fastest.

    Confidence is the probability of the predicted class, from 1 / classes to 1, in ``bins`` of equal width.
    """
    assert codes.labels is not None
    classes = trees.schema.n_classes
    predicted = trees.predict(codes.features).astype(np.int64)
    cells = codes.labels.astype(np.int64) * classes + predicted
    if bins == 1:
        return cells
    confidence = trees.predict_proba(codes.features)[np.arange(predicted.size), predicted]
    place = np.floor((confidence - 1 / classes) / (1 - 1 / classes) * bins).astype(np.int64)
    return np.asarray(cells * bins + np.clip(place, 0, bins - 1))


def errors_of(trees: Released, codes: Codes, labels: Floats) -> Floats:
    """How far each record's label is from its prediction, at most the width of the declared bounds."""
    bounds = trees.schema.number.low, trees.schema.number.high
    return np.asarray(np.clip(labels, *bounds) - np.clip(trees.predict(codes.features), *bounds))


def noisy_errors(data: PrivateDataset, errors: Floats, epsilon: object, what: str) -> Ints:
    """The noisy number of records whose error has each size of the label's grid; ``errors`` are those of ``data``."""
    grid = sizes_of(data.schema.number)
    return noisy_cells(data, rounded(np.abs(errors), grid), grid.size, epsilon, what)


def codes_of(data: PrivateDataset, work: str) -> Codes:
    """The codes of a data set's records, all in memory. As private as the records."""
    return gathered(data._engine, work).codes(data._cells)


def labels_of(data: PrivateDataset, work: str) -> Floats:
    """The numbers to predict of a data set's records, in the order of ``codes_of``. As private as the records."""
    return np.asarray(gathered(data._engine, work, values=True).frozen(data._cells).labels, dtype=np.float64)


def noisy_cells(data: PrivateDataset, cells: Ints, count: int, epsilon: object, what: str) -> Ints:
    """The noisy number of records in each of ``count`` cells; ``cells`` has the cell of each record of ``data``.

    Costs epsilon once. It takes the data set and no ledger: the ledger of a data set is bound to its unit, and another
    would charge a unit of many rows as if it were one row.
    """
    schema = Schema((Categorical("all", ("records",)),), Categorical("cell", tuple(range(count))))
    codes = Codes(np.zeros((1, cells.size), np.uint8), cells.astype(code_type(count)), unit=data.schema.unit)
    level = Level(MemoryEngine(schema, codes), ROOT, data.ledger)
    return level.class_counts_all(epsilon, what=what, kind=ChargeKind.SCORE)[0]
