"""Random splits by coins: ``CoinFold``, for ``cv=``, and ``holdout``, once.

A secret coin is tossed for each record, so that adding a record moves no other. That is all that a private evaluation
needs of a split, and no split by position has it. Claim and proof: ``docs/proofs/folds.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator

from privet.engines.memory import MemoryEngine
from privet.engines.opening import gathered
from privet.errors import ParameterError, TableError
from privet.privacy.dataset import PrivateDataset
from privet.privacy.noise import current_source
from privet.tables.files import Records
from privet.tables.frozen import Frozen

Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


class CoinFold(BaseCrossValidator):
    """A scikit-learn splitter that tosses a coin for each record, with one side for each fold.

    Models of all folds, released together, cost ``n_splits - 1`` times what one of them costs: a record is in so many
    training parts, and moves no other. Exact scores on the test parts are not covered; ``privet.private_score``
    buys private ones. The coins come from the operating system and cannot be seeded. They are tossed again at every
    call of ``split`` and not stored.

    Folds differ in size, by chance, and with very few records one can be empty.

    Parameters
    ----------
    n_splits : int
        The number of folds, from 2 on.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> from sklearn.model_selection import cross_val_score
    >>> import pandas as pd
    >>> schema, table = clinic(1000)
    >>> tree = privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=2)
    >>> len(cross_val_score(tree, pd.DataFrame(table), table["class"], cv=privet.CoinFold(5)))  # exact: not released
    5
    """

    def __init__(self, n_splits: int = 5) -> None:
        if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer) or n_splits < 2:
            raise ParameterError(f"n_splits must be a whole number of at least 2, not {n_splits!r}")
        self.n_splits = int(n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Index, Index]]:
        """(train, test) positions of the records, fold by fold. As private as the records."""
        if groups is not None:
            raise ParameterError("CoinFold tosses a coin for each record and ignores groups; leave groups out")
        thrown = current_source().coins(self.n_splits, number_of_records(X))
        for side in range(self.n_splits):
            yield np.flatnonzero(thrown != side), np.flatnonzero(thrown == side)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def __repr__(self) -> str:
        return f"CoinFold(n_splits={self.n_splits})"


def holdout(X: Any, y: Any = None, *, test: object = 0.25) -> tuple[Any, ...]:
    """Two parts of a table, to fit on one and score on the other: a secret coin decides for each record.

    Parameters
    ----------
    X : pandas, polars or pyarrow table, dict of columns, or array
    y : labels, one for each record; without them X holds the label's column
    test : the chance of each record to be held out, read exactly: 0.25 is a quarter

    Returns ``X_train, X_test`` or, with labels, ``X_train, X_test, y_train, y_test``, each of the type it had.

    >>> import privet
    >>> train, test = privet.holdout({"age": list(range(1000))})
    >>> sorted(train["age"] + test["age"]) == list(range(1000))
    True
    """
    out = held_out(number_of_records(X), test)
    tables = (X,) if y is None else (X, y)
    return tuple(take(table, side) for table in tables for side in (~out, out))


def split_protected(data: PrivateDataset, test: object, work: str) -> tuple[Frozen, Frozen]:
    """Two parts of protected records, for training and scoring: a secret coin decides for each record.

    They are as private as the records, and may be cut again. The rows of a unit are bounded before the split: otherwise
    a unit could have its full number of rows in each part.
    """
    records = gathered(data._engine, work, values=True).frozen(data._cells)
    out = held_out(records.labels.size, test)
    return records.take(np.flatnonzero(~out)), records.take(np.flatnonzero(out))


def engine_over(part: Frozen, data: PrivateDataset) -> MemoryEngine:
    """An engine over a part of a data set's records, with the caveats of the whole."""
    return MemoryEngine(part.schema, part.codes(part.schema), part, caveats=data._engine.caveats)


def held_out(records: int, test: object) -> Mask:
    """A coin for each record: whether it is held out."""
    rate = check_rate(test)
    return np.asarray(current_source().coins(rate.denominator, records) < rate.numerator)


def check_rate(test: object) -> Fraction:
    """A probability, read exactly: 0.25 is a quarter."""
    if isinstance(test, int | float | Fraction | np.number) and not isinstance(test, bool) and 0 < test < 1:
        rate = Fraction(str(test))
        if rate.denominator <= 2**32:
            return rate
    raise ParameterError(f"test must be a chance above 0 and below 1, such as 0.25, not {test!r}")


def number_of_records(X: Any) -> int:
    """The number of records, to toss as many coins. Never released."""
    if isinstance(X, PrivateDataset):
        raise ParameterError("a protected table has no positions; give the table itself, or use its shards method")
    if isinstance(X, Mapping):
        return len(next(iter(X.values()), ()))
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(table: Any, mask: Mask) -> Any:
    """The records of a table, or the entries of a column, that a mask selects."""
    if isinstance(table, Mapping):
        part = {name: take(column, mask) for name, column in table.items()}
        if isinstance(table, Records):  # a part keeps the caveats of the whole
            part = Records(part)
            part.caveats = table.caveats
        return part
    if isinstance(table, np.ndarray):
        return table[mask]
    if isinstance(table, list | tuple):
        return [table[i] for i in np.flatnonzero(mask)]
    if not mask.size:
        return table  # libraries raise for an empty mask, taking it for another type
    try:
        return nw.from_native(table, eager_only=True, allow_series=True).filter(mask.tolist()).to_native()
    except TypeError:
        if hasattr(table, "filter") and hasattr(table, "__arrow_c_array__"):  # an Arrow array, not a series
            return table.filter(mask.tolist())
        if hasattr(table, "__array__") and hasattr(table, "__getitem__"):  # an array or an index of pandas
            return table[mask]
        kinds = "a pandas, polars or pyarrow table, a mapping of columns, an array or a list"
        raise TableError(f"cannot split a {type(table).__name__}: give {kinds}") from None
