"""How alike the rules of two learners are: Table 4.3 and Figures 9.1 and 9.2 of Fletcher's thesis.

Table 4.3 compares scikit-learn's trees by Gini index and by information gain: much the same accuracy, other rules.
Figures 9.1 and 9.2 compare private trees with a non-private one. NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.errors import ParameterError
from privet.estimators.references import SklearnTreeReference
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import WARNING
from privet.experiments.workers import share_out
from privet.measures import compare_rules, performance, rule_list
from privet.schema import Categorical, Schema
from privet.schema.frozen import Frozen, freeze

# Table 4.3: our name of the table -> (the thesis's, Jaccard index, sizes of the smaller set and the larger, accuracy
# difference).
TABLE_43 = {
    "wbc": ("WBC", 0.077, 6, 8, 0.007),
    "vehicle": ("Vehicle", 0.184, 21, 24, 0.011),
    "banknote": ("Banknotes", 0.750, 7, 7, 0.027),
    "wine-red": ("RedWine", 0.125, 21, 24, 0.013),
    "spambase": ("Spambase", 0.100, 21, 23, 0.008),
    "page-blocks": ("PageBlocks", 0.546, 14, 16, 0.004),
    "optdigits": ("OptDigits", 0.019, 26, 29, 0.022),
    "pendigits": ("PenWritten", 0.000, 21, 24, 0.020),
    "magic": ("GammaTele", 0.310, 18, 20, 0.005),
    "shuttle": ("Shuttle", 0.714, 6, 6, 0.000),
    "credit-approval": ("Credit", 0.136, 12, 13, 0.014),
    "yeast": ("Yeast", 0.364, 14, 16, 0.004),
    "cardiotocography": ("Cardio", 0.143, 7, 9, 0.007),
    "adult-complete": ("Adult", 0.400, 17, 18, 0.001),
    "bank": ("Bank", 0.172, 17, 17, 0.008),
    "tic-tac-toe": ("TicTacToe", 0.161, 17, 19, 0.004),
    "car": ("Car", 0.400, 6, 8, 0.028),
    "nursery": ("Nursery", 0.615, 10, 11, 0.000),
    "chess-krkp": ("Chess", 0.476, 14, 17, 0.005),
}
QUICK_TABLES = ("wbc", "banknote", "car")
FOLDS, QUICK_FOLDS = 5, 2
LEAST = 0.02  # of the records, in a leaf

FIG_TABLES = ("vote", "wbc", "banknote", "car", "nursery")  # the thesis does not name its five
FIG_EPSILONS = (2.0, 0.5)
DEPTH = 5
# The thesis's trees: depth 5, one tree. DPDF is its own (ch. 6), FS is Friedman & Schuster's.
RECIPES: dict[str, dict[str, Any]] = {
    "exact": {"max_depth": DEPTH},
    "greedy-forest": {"trees": 1, "max_depth": DEPTH},
    "diffpc45": {"max_depth": DEPTH},
}
CART = "CART"


@dataclass(frozen=True)
class Row:
    """A line of Table 4.3, as found and as printed: means over folds."""

    table: str
    jaccard: float
    upper: float
    sizes: tuple[float, float]
    difference: float
    published_jaccard: float
    published_sizes: tuple[int, int]
    published_difference: float


@dataclass(frozen=True)
class Point:
    """One learner at one epsilon on one table: how alike CART's its rules are, and how often it is right."""

    table: str
    method: str
    epsilon: float
    jaccard: float
    upper: float
    accuracy: float


@dataclass(frozen=True)
class Table43:
    rows: tuple[Row, ...]
    folds: int

    def to_dict(self) -> dict[str, Any]:
        rows = [asdict(row) for row in self.rows]
        return {"experiment": "fletcher-table43", "warning": WARNING, "folds": self.folds, "rows": rows}

    def to_markdown(self) -> str:
        lines = [
            "| table | Jaccard | thesis | upper | sizes | thesis | accuracy difference | thesis |",
            "|---" * 8 + "|",
        ]
        lines += [
            f"| {row.table} | {row.jaccard:.3f} | {row.published_jaccard:.3f} | {row.upper:.3f} | "
            f"{row.sizes[0]:.1f}/{row.sizes[1]:.1f} | {row.published_sizes[0]}/{row.published_sizes[1]} | "
            f"{row.difference:.3f} | {row.published_difference:.3f} |"
            for row in self.rows
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Figure91:
    points: tuple[Point, ...]
    folds: int

    def to_dict(self) -> dict[str, Any]:
        points = [asdict(point) for point in self.points]
        return {"experiment": "fletcher-fig91", "warning": WARNING, "folds": self.folds, "results": points}

    def to_markdown(self) -> str:
        lines = ["| table | epsilon | method | Jaccard with CART | upper | accuracy % |", "|---" * 6 + "|"]
        lines += [
            f"| {p.table} | {p.epsilon:g} | {p.method} | {p.jaccard:.3f} | {p.upper:.3f} | {100 * p.accuracy:.1f} |"
            for p in self.points
        ]
        return "\n".join(lines)


def run_table43(
    tables: Sequence[str] = tuple(TABLE_43),
    *,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Table43:
    """Table 4.3 again: scikit-learn's trees of leaves of 2 % at least, by two criteria, over stratified folds."""
    for table in tables:
        if table not in TABLE_43:
            raise ParameterError(f"Table 4.3 has no {table!r}; choose among {', '.join(TABLE_43)}")
    found = {row.table: row for row in share_out(_row, [(t, folds, data_dir) for t in tables], processes, progress)}
    return Table43(tuple(found[table] for table in tables), folds)


def run_fig91(
    tables: Sequence[str] = FIG_TABLES,
    epsilons: Sequence[float] = FIG_EPSILONS,
    *,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Figure91:
    """Figures 9.1 and 9.2 again, with the exact tree beside the thesis's two, and CART's own accuracy."""
    jobs = [(table, epsilon, folds, data_dir) for table in tables for epsilon in epsilons]
    found = {(points[0].table, points[0].epsilon): points for points in share_out(_points, jobs, processes, progress)}
    return Figure91(tuple(p for table, epsilon, *_ in jobs for p in found[table, epsilon]), folds)


# ---- Table 4.3 ------------------------------------------------------------------------------------------------------


def _row(table: str, folds: int, data_dir: str | PathLike[str] | None) -> Row:
    from sklearn.tree import DecisionTreeClassifier

    schema, columns = real.load(table, data_dir)
    x, labels, names = matrix(freeze(schema, columns))
    attribute_of = {column: name for column, name in names if column != name}
    runs = []
    for train, test in stratified(labels, folds):
        least = max(1, round(LEAST * len(train)))
        gini, gain = (
            DecisionTreeClassifier(criterion=criterion, min_samples_leaf=least, random_state=0).fit(
                x[train], labels[train]
            )
            for criterion in ("gini", "entropy")
        )
        lists = [rule_list(tree, names=[column for column, _ in names]) for tree in (gini, gain)]
        found = compare_rules(*lists, attribute_of=attribute_of)
        apart = abs(gini.score(x[test], labels[test]) - gain.score(x[test], labels[test]))
        runs.append((found.index, found.upper, *sorted((len(found.first), len(found.second))), apart))
    jaccard, upper, shorter, longer, apart = np.mean(runs, axis=0).tolist()
    _, index, few, many, difference = TABLE_43[table]
    return Row(table, jaccard, upper, (shorter, longer), apart, index, (few, many), difference)


def matrix(frozen: Frozen) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any], list[tuple[str, str]]]:
    """Complete records as scikit-learn wants them: numbers, a column of 0 and 1 for each category, and labels.

    The third answer has (column, attribute) names.
    """
    columns, names = [], []
    whole = np.ones(frozen.labels.size, dtype=bool)
    for attribute, column in zip(frozen.schema.attributes, frozen.columns, strict=True):
        if isinstance(attribute, Categorical):
            whole &= ~np.isin(column, [code for code, value in enumerate(attribute.values) if value == "?"])
            for code, value in enumerate(attribute.values):
                columns.append((column == code).astype(np.float64))
                names.append((f"{attribute.name}={value}", attribute.name))
        else:
            whole &= ~np.isnan(column)
            columns.append(column)
            names.append((attribute.name, attribute.name))
    return np.array(columns).T[whole], frozen.labels[whole], names


def stratified(labels: npt.NDArray[Any], folds: int) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """The folds of every experiment here, dealt the same way each time."""
    import warnings

    from sklearn.model_selection import StratifiedKFold

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class rarer than the folds is missing from some of them
        return list(StratifiedKFold(folds, shuffle=True, random_state=0).split(np.empty((len(labels), 0)), labels))


# ---- Figures 9.1 and 9.2 --------------------------------------------------------------------------------------------


def _points(table: str, epsilon: float, folds: int, data_dir: str | PathLike[str] | None) -> list[Point]:
    schema, columns = real.load(table, data_dir)
    labels = schema.encode(columns).labels
    assert labels is not None
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in (*RECIPES, CART)}
    kept = known_labels(schema, columns)
    for train, test in stratified(labels, folds):
        seen, unseen = take(kept, train), take(kept, test)
        cart = SklearnTreeReference(schema, DEPTH).fit(seen)
        runs[CART].append((1.0, 1.0, performance(cart, unseen).accuracy or 0.0))
        for name, params in RECIPES.items():
            learner = make_classifier(name, schema=schema, epsilon=epsilon, **params).fit(seen)
            found = compare_rules(learner, cart)
            runs[name].append((found.index, found.upper, performance(learner, unseen).accuracy or 0.0))
    return [Point(table, name, epsilon, *np.mean(each, axis=0).tolist()) for name, each in runs.items()]


def known_labels(schema: Schema, columns: Any) -> dict[str, npt.NDArray[Any]]:
    """The records whose label is one of the schema's, as a fit has them."""
    from privet.schema.encoding import label_codes

    known = label_codes(schema, np.asarray(columns[schema.label.name], dtype=object)) >= 0
    return take(columns, np.flatnonzero(known))


def take(columns: Any, rows: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[Any]]:
    return {name: np.asarray(column, dtype=object)[rows] for name, column in columns.items()}
