"""What publishing does to patterns and to trees (Fletcher 2017, 5.7, 5.8 and 3.4).

First question: what do the measures of retention say of each anonymiser? Second: is it better to publish a table and
let everybody grow trees from it, or to grow a tree privately from the records, at the same epsilon? Both are answered
over folds, on records that the anonymiser did not see. NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.datasets import real
from privet.engines.opening import protect
from privet.estimators.references import SklearnTreeReference
from privet.estimators.registry import make_classifier
from privet.experiments.cross_validation import standard_error
from privet.experiments.experiment import Experiment, Found, Job, Row, axis
from privet.experiments.outcome import Figure, Outcome, Point, Series, Statement, Table, judged
from privet.experiments.rule_similarity import known_labels, stratified, take
from privet.experiments.thesis.retention import budgets, correlations, trends
from privet.measures import performance, retention_report
from privet.privacy.ledger import Ledger
from privet.publishing import DiffGen, DPCube, gaussian_noise, publish, uniform_noise
from privet.schema import Schema

RETENTION_TABLES = ("banknote", "wilt", "wall-robot-4")
RATES = (0.02, 0.1, 0.2, 0.3)
EPSILONS = (0.02, 0.1, 0.5, 1.0)
CONTEST_TABLES = ("adult-complete", "nursery")
CONTEST_EPSILONS = (0.1, 0.5, 1.0)
FOLDS = 5
LEAST, DEPTH = 0.02, 12  # of the thesis's trees (5.7): records in a leaf, tests on a path
PUBLISHERS: dict[str, Any] = {"dpcube": DPCube(), "diffgen": DiffGen()}
NOISES: dict[str, Any] = {"uniform": uniform_noise, "gaussian": gaussian_noise}
GROWERS = ("exact", "diffpc45", "random-forest")
REFERENCE = "CART on the records"
WAYS = (*(f"CART on {name}" for name in PUBLISHERS), *GROWERS, REFERENCE)


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

    def jobs(self) -> list[Job]:
        settings = [(name, rate) for name in NOISES for rate in self.rates]
        settings += [(name, epsilon) for name in PUBLISHERS for epsilon in self.epsilons]
        return [{"table": t, "method": name, "setting": value} for t in self.tables for name, value in settings]

    def run(self, job: Job) -> Found:
        return _retained(job["table"], job["method"], job["setting"], self.folds)

    def conclude(self, rows: Sequence[Row]) -> Outcome:
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
        statements = (
            *(one for table in self.tables for one in self._statements(rows, table)),
            *trends(rows),
            *correlations(rows),
            *budgets(rows),
        )
        return Outcome((Table("What anonymisers leave of patterns", heads, cells),), figures, statements)

    def _statements(self, rows: Sequence[Row], table: str) -> list[Statement]:
        mine = {(row["method"], row["setting"]): row for row in rows if row["table"] == table}
        uniform, gaussian = ([mine[name, rate]["pld"] for rate in self.rates if rate] for name in NOISES)
        holds = all(g < u for g, u in zip(gaussian, uniform, strict=True))
        ours = ", ".join(f"{g:.3f} against {u:.3f}" for g, u in zip(gaussian, uniform, strict=True))
        says = f"{table}: Gaussian noise changes patterns less than uniform noise at the same rate"
        why = f"PLD at rates {', '.join(f'{rate:g}' for rate in self.rates if rate)}"
        found = [Statement("TH 5.7.1", says, "less at every rate", ours, judged(holds), why)]
        worst = mine["uniform", max(self.rates)]
        ours = f"one record in {1 / worst['pattern_accuracy']:.0f}" if worst["pattern_accuracy"] else "none"
        return [*found, self._blind(mine, table, ours)]

    def _blind(self, mine: dict[tuple[str, float], Row], table: str, moved: str) -> Statement:
        low, high = min(self.rates), max(self.rates)
        lost = 100 * (mine["uniform", low]["accuracy"] - mine["uniform", high]["accuracy"])
        grown = mine["uniform", high]["psd"] - mine["uniform", low]["psd"]
        ours = f"{lost:.1f} points of accuracy; PSD {grown:+.4f}; {moved} leaves its pattern"
        says = f"{table}: a tree's accuracy hides what noise does to patterns"
        why = f"uniform noise at {high:g} against {low:g}: at most five points of accuracy, and PSD grows"
        return Statement("TH 5.7", says, "accuracy stays, patterns change", ours, judged(lost <= 5 and grown > 0), why)


def _lost(rows: Sequence[Row], table: str) -> tuple[Series, ...]:
    series = []
    for method in (*NOISES, *PUBLISHERS):
        mine = [row for row in rows if (row["table"], row["method"]) == (table, method)]
        points = tuple(Point(row["setting"], row["pld"]) for row in mine)
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
        return {"accuracy": _grown(job["table"], job["way"], job["epsilon"], self.folds)}

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


def _retained(table: str, method: str, setting: float, folds: int) -> Found:
    schema, kept, splits = _folds(table, folds)
    random = np.random.default_rng(0)
    runs = []
    for train, test in splits:
        x, w = take(kept, train), take(kept, test)
        least = max(1, round(LEAST * len(train)))
        patterns = SklearnTreeReference(schema, DEPTH, min_samples_leaf=least).fit(x)
        if method in NOISES:
            z = NOISES[method](x, schema, setting, random=random).columns
        else:
            z = publish(PUBLISHERS[method], protect(x, schema, Ledger(setting)), setting).records(random)
        report = retention_report(x, z, patterns)
        from_z = performance(SklearnTreeReference(schema, DEPTH, min_samples_leaf=least).fit(z), w)
        runs.append((report.pattern_accuracy, report.psd, report.pld, from_z.accuracy, from_z.f1, from_z.auc))
    names = ("pattern_accuracy", "psd", "pld", "accuracy", "f1", "auc")
    return {name: _mean(column) for name, column in zip(names, zip(*runs, strict=True), strict=True)}


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that are defined."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def _grown(table: str, way: str, epsilon: float | None, folds: int) -> list[float]:
    """Accuracy fold by fold."""
    schema, kept, splits = _folds(table, folds)
    random = np.random.default_rng(0)
    found = []
    for train, test in splits:
        x, w = take(kept, train), take(kept, test)
        if way in GROWERS:
            learner = make_classifier(way, schema=schema, epsilon=epsilon).fit(x)
        else:
            publisher = PUBLISHERS.get(way.removeprefix("CART on "))
            if publisher is not None:
                assert epsilon is not None
                x = publish(publisher, protect(x, schema, Ledger(epsilon)), epsilon).records(random)
            least = max(1, round(LEAST / 4 * len(train)))
            learner = SklearnTreeReference(schema, DEPTH, min_samples_leaf=least).fit(x)
        found.append(performance(learner, w).accuracy or 0.0)
    return found


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _folds(table: str, folds: int) -> tuple[Schema, dict[str, Any], Any]:
    schema, columns = real.load(table)
    kept = known_labels(schema, columns)
    labels = schema.encode(kept).labels
    assert labels is not None
    return schema, kept, stratified(labels, folds)


RETENTION_FORMS = {
    "smoke": Retention(("banknote",), (0.02, 0.3), (1.0,), 2),
    "quick": Retention(folds=2),
    "full": Retention((*RETENTION_TABLES, "vehicle", "wine-red", "page-blocks", "magic", "yeast")),
}
CONTEST_FORMS = {
    "smoke": Contest(("banknote",), (1.0,), 2),
    "quick": Contest(("nursery",), folds=2),
    "full": Contest(),
}
