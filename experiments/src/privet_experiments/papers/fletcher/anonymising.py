"""What publishing does to patterns and to trees (Fletcher 2017, 5.7, 5.8 and 3.4).

First question: what do the measures of retention say of each anonymiser? Second: is it better to publish a table and
let everybody grow trees from it, or to grow a tree privately from the records, at the same epsilon? Both are answered
over folds, on records that the anonymiser did not see. NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.datasets import real
from privet.engines.opening import protect
from privet.estimators.references import SklearnTreeReference
from privet.estimators.registry import make_classifier
from privet.evaluation.cross_validation import Index, each_fold, part
from privet.evaluation.figure import Figure, Point, Series
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.privacy.ledger import Ledger
from privet.publishing import DiffGen, DPCube, gaussian_noise, publish, uniform_noise
from privet.rules import performance, retention_report
from privet.schema import Numeric, Schema
from privet.tables.encoding import Codes, encode
from privet_experiments.experiment import Experiment, Found, Job, Row, axis
from privet_experiments.folds import by_name, standard_error
from privet_experiments.judge import Measure, judge
from privet_experiments.outcome import Outcome, Table
from privet_experiments.papers.fletcher.retention import budgets, correlations, printed_matrix, trends
from privet_experiments.papers.fletcher.rule_similarity import labelled, take
from privet_experiments.settling import averaged

RETENTION_TABLES = ("banknote", "wilt", "wall-robot-4")  # that are also published privately
RATES = (0.02, 0.1, 0.2, 0.3)
EPSILONS = (0.02, 0.1, 0.5, 1.0)
CONTEST_TABLES = ("adult-complete", "nursery")
CONTEST_EPSILONS = (0.1, 0.5, 1.0)
FOLDS = 10
LEAST, DEPTH = 0.02, 12  # of the thesis's trees (5.7): records in a leaf, tests on a path
PUBLISHERS: dict[str, Any] = {"dpcube": DPCube(), "diffgen": DiffGen()}
NOISES: dict[str, Any] = {"uniform": uniform_noise, "gaussian": gaussian_noise}
GROWERS = ("exact", "diffpc45", "random-forest")
REFERENCE = "CART on the records"
WAYS = (*(f"CART on {name}" for name in PUBLISHERS), *GROWERS, REFERENCE)


class Dealt(NamedTuple):
    """What all anonymisers have in common in one fold: its records, and the patterns of CART on them."""

    records: dict[str, npt.NDArray[Any]]
    known: Codes
    unseen: Codes
    cart: SklearnTreeReference
    patterns: Tree | Forest


@lru_cache(maxsize=1)  # jobs of one table stand side by side
def _dealt(table: str, folds: int) -> list[Dealt]:
    schema, kept, labels = labelled(table)
    cut = schema.with_bins(SklearnTreeReference(schema).max_bins)
    codes = encode(cut, kept)

    def fold(train: Index, test: Index) -> Dealt:
        cart = SklearnTreeReference(schema, DEPTH, min_samples_leaf=max(1, round(LEAST * len(train))))
        known = part(codes, train)
        return Dealt(take(kept, train), known, part(codes, test), cart, cart.grow(cut, known))

    return each_fold(labels, fold, folds=folds)


def _plain(schema: Schema, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The same table with arrays of numbers where no cell is missing: they are read at once, not cell by cell."""
    plain = dict(columns)
    for attribute in schema.attributes:
        if isinstance(attribute, Numeric):
            with suppress(TypeError, ValueError):
                plain[attribute.name] = np.asarray(plain[attribute.name]).astype(np.float64)
    return plain


@dataclass(frozen=True)
class Retention(Experiment):
    """Every anonymiser at every setting, measured by the patterns of CART on the original records. In the first three
    measures 0 is perfect; accuracy, F1 and AUC are those of a tree grown from what was published.
    """

    tables: tuple[str, ...] = axis(RETENTION_TABLES, "A table of PRIVET_DATA; may be repeated.")
    rates: tuple[float, ...] = axis(RATES, "A rate of noise; may be repeated.")
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    folds: int = axis(FOLDS, "Stratified folds.", least=2)

    def check(self) -> None:
        real.fetch(self.tables)

    @property
    def n_runs(self) -> int:
        return self.folds

    def jobs(self) -> list[Job]:
        noises = [(name, rate) for name in NOISES for rate in self.rates]
        budgets = [(name, epsilon) for name in PUBLISHERS for epsilon in self.epsilons]
        return [
            {"table": table, "method": name, "setting": value}
            for table in self.tables
            for name, value in (noises + budgets if table in RETENTION_TABLES else noises)
        ]

    def run(self, job: Job) -> Found:
        schema = labelled(job["table"])[0]
        method, setting, random = job["method"], job["setting"], np.random.default_rng(0)
        found: list[dict[str, float | None]] = []
        for one in _dealt(job["table"], self.folds):
            if method in NOISES:
                z = NOISES[method](one.records, schema, setting, random=random).columns
            else:
                guarded = protect(one.records, schema, Ledger(setting))
                z = publish(PUBLISHERS[method], guarded, setting).records(random)
            anonymised = encode(one.patterns.schema, _plain(schema, z))
            report = retention_report(one.known, anonymised, one.patterns)
            tree = performance(one.cart.grow(one.patterns.schema, anonymised), one.unseen)
            patterns = {"pattern_accuracy": report.pattern_accuracy, "psd": report.psd, "pld": report.pld}
            found.append({**patterns, "accuracy": tree.accuracy, "f1": tree.f1, "auc": tree.auc})
        return by_name(found)

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        rows = [averaged(row) for row in rows]
        heads = ("table", "method", "rate or epsilon", "pattern accuracy", "PSD", "PLD", "accuracy %", "F1", "AUC")
        cells = tuple(
            (
                row["table"],
                row["method"],
                f"{row['setting']:g}",
                *(_number(row[name], digits) for name, digits in (("pattern_accuracy", 3), ("psd", 4), ("pld", 3))),
                _number(None if row["accuracy"] is None else 100 * row["accuracy"], 1),
                *(_number(row[name], 3) for name in ("f1", "auc")),
            )
            for row in rows
        )
        title = "what is lost of label distributions"
        figures = tuple(
            Figure(f"{table}: {title}", "rate or epsilon", "PLD", _lost(rows, table), logarithmic=True)
            for table in self.tables
        )
        return Outcome(
            (*printed_matrix(rows), Table("What anonymisers leave of patterns", heads, cells)),
            figures,
            judge("fletcher.retention", self._measures(rows)),
        )

    def _measures(self, rows: Sequence[Row]) -> Iterator[Measure]:
        low, high = min(self.rates), max(self.rates)
        for table in self.tables:
            mine = {(row["method"], row["setting"]): row for row in rows if row["table"] == table}
            rates = [rate for rate in self.rates if rate]
            uniform, gaussian = ([mine[name, rate]["pld"] for rate in rates] for name in NOISES)
            told = ", ".join(f"{g:.3f} against {u:.3f}" for g, u in zip(gaussian, uniform, strict=True))
            yield Measure("gaussian", table=table, told=told, uniform=uniform, gaussian=gaussian, rates=rates)
            worst, least = mine["uniform", high], mine["uniform", low]
            changed = worst["pattern_accuracy"]
            yield Measure(
                "blind",
                table=table,
                low=low,
                high=high,
                lost=100 * (least["accuracy"] - worst["accuracy"]),
                grown=worst["psd"] - least["psd"],
                moved=f"one record in {1 / changed:.0f}" if changed else "none",
            )
        yield from (*trends(rows), *correlations(rows), *budgets(rows))


def _lost(rows: Sequence[Row], table: str) -> tuple[Series, ...]:
    series = []
    for method in (*NOISES, *PUBLISHERS):
        mine = [row for row in rows if (row["table"], row["method"]) == (table, method)]
        points = tuple(Point(row["setting"], row["pld"]) for row in mine if row["setting"])  # an axis in powers of ten
        if points:
            series.append(Series(method, points, dashed=method in NOISES))
    return tuple(series)


@dataclass(frozen=True)
class Contest(Experiment):
    """Trees from published tables against trees grown privately from the records, at the same epsilon: accuracy in per
    cent and its standard error.
    """

    tables: tuple[str, ...] = axis(CONTEST_TABLES, "A table of PRIVET_DATA; may be repeated.")
    epsilons: tuple[float, ...] = axis(CONTEST_EPSILONS, "A budget; may be repeated.")
    folds: int = axis(FOLDS, "Stratified folds.", least=2)

    def check(self) -> None:
        real.fetch(self.tables)

    def jobs(self) -> list[Job]:
        return [
            {"table": table, "way": way, "epsilon": epsilon}
            for table in self.tables
            for way in WAYS
            for epsilon in ((None,) if way == REFERENCE else self.epsilons)
        ]

    def run(self, job: Job) -> Found:
        schema, kept, labels = labelled(job["table"])
        way, epsilon, random = job["way"], job["epsilon"], np.random.default_rng(0)

        def fold(train: Index, test: Index) -> float:
            x = take(kept, train)
            if way in GROWERS:
                learner = make_classifier(way, schema=schema, epsilon=epsilon)
            else:
                publisher = PUBLISHERS.get(way.removeprefix("CART on "))
                if publisher is not None:
                    x = publish(publisher, protect(x, schema, Ledger(epsilon)), epsilon).records(random)
                least = max(1, round(LEAST / 4 * len(train)))
                learner = SklearnTreeReference(schema, DEPTH, min_samples_leaf=least)
            return performance(learner.fit(x), take(kept, test)).accuracy or 0.0

        return {"accuracy": each_fold(labels, fold, folds=self.folds)}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        found = {(row["table"], row["way"], row["epsilon"]): row["accuracy"] for row in rows}

        def at(table: str, way: str, epsilon: float) -> list[float]:
            values: list[float] = found[table, way, None if way == REFERENCE else epsilon]
            return [100 * value for value in values]

        def text(values: list[float]) -> str:
            return f"{np.mean(values):.1f} ± {standard_error(values):.1f}"

        cells = tuple((t, way, *(text(at(t, way, e)) for e in self.epsilons)) for t in self.tables for way in WAYS)
        figures = tuple(
            Figure(
                f"{table}: publish or grow",
                "epsilon",
                "accuracy %",
                tuple(
                    Series(
                        way,
                        tuple(
                            Point(e, float(np.mean(at(table, way, e))), standard_error(at(table, way, e)))
                            for e in self.epsilons
                        ),
                        dashed=way not in GROWERS,
                    )
                    for way in WAYS
                ),
                logarithmic=True,
            )
            for table in self.tables
        )
        heads = ("table", "way", *(f"eps {epsilon:g}" for epsilon in self.epsilons))
        return Outcome((Table("Publish or grow? accuracy % ± standard error", heads, cells),), figures)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
