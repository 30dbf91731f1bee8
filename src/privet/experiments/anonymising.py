"""What publishing does to patterns and to trees (Fletcher 2017, 5.7, 5.8 and 3.4).

First question: what do the measures of retention say of each anonymiser? Second: is it better to publish a table and
let everybody grow trees from it, or to grow a tree privately from the records, at the same epsilon? Both are answered
over folds, on records that the anonymiser did not see. NOT PRIVATE, like every evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from privet.datasets import real
from privet.engines.opening import protect
from privet.estimators.references import SklearnTreeReference
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import WARNING
from privet.experiments.rule_similarity import known_labels, stratified, take
from privet.experiments.workers import share_out
from privet.measures import performance, retention_report
from privet.privacy.ledger import Ledger
from privet.publishing import DiffGen, DPCube, gaussian_noise, publish, uniform_noise
from privet.schema import Schema

RETENTION_TABLES = ("banknote", "wilt", "wall-robot-4")
RATES = (0.02, 0.1, 0.2, 0.3)
EPSILONS = (0.02, 0.1, 0.5, 1.0)
CONTEST_TABLES = ("adult-complete", "nursery")
CONTEST_EPSILONS = (0.1, 0.5, 1.0)
QUICK_TABLES = ("banknote",)
FOLDS, QUICK_FOLDS = 5, 2
LEAST, DEPTH = 0.02, 12  # of the thesis's trees (5.7): records in a leaf, tests on a path
PUBLISHERS: dict[str, Any] = {"dpcube": DPCube(), "diffgen": DiffGen()}
NOISES: dict[str, Any] = {"uniform": uniform_noise, "gaussian": gaussian_noise}
GROWERS = ("exact", "diffpc45", "random-forest")
REFERENCE = "CART on the records"


@dataclass(frozen=True)
class Retained:
    """One anonymiser at one setting on one table: 0 is perfect in the first three, the others are the tree's from z."""

    table: str
    method: str
    setting: float
    private: bool
    pattern_accuracy: float
    psd: float
    pld: float
    accuracy: float
    f1: float
    auc: float


@dataclass(frozen=True)
class Retention:
    results: tuple[Retained, ...]
    folds: int

    def to_dict(self) -> dict[str, Any]:
        results = [asdict(one) for one in self.results]
        return {"experiment": "fletcher-retention", "warning": WARNING, "folds": self.folds, "results": results}

    def to_markdown(self) -> str:
        heads = "table | method | rate or epsilon | pattern accuracy | PSD | PLD | accuracy % | F1 | AUC"
        lines = [f"| {heads} |", "|---" * 9 + "|"]
        lines += [
            f"| {r.table} | {r.method} | {r.setting:g} | {r.pattern_accuracy:.3f} | {r.psd:.4f} | {r.pld:.3f} | "
            f"{100 * r.accuracy:.1f} | {r.f1:.3f} | {r.auc:.3f} |"
            for r in self.results
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Grown:
    """The accuracy of a tree: grown from a published table, or privately from the records, or without privacy."""

    table: str
    way: str
    epsilon: float
    published: bool
    accuracy: float
    error: float
    """The standard error over folds."""


@dataclass(frozen=True)
class Contest:
    results: tuple[Grown, ...]
    folds: int

    def to_dict(self) -> dict[str, Any]:
        results = [asdict(one) for one in self.results]
        return {"experiment": "publish-or-grow", "warning": WARNING, "folds": self.folds, "results": results}

    def to_markdown(self) -> str:
        epsilons = list(dict.fromkeys(one.epsilon for one in self.results))
        lines = [f"| table | way | {' | '.join(f'eps {e:g}' for e in epsilons)} |", "|---" * (len(epsilons) + 2) + "|"]
        for table, way in dict.fromkeys((one.table, one.way) for one in self.results):
            mine = {one.epsilon: one for one in self.results if (one.table, one.way) == (table, way)}
            told = (f"{100 * mine[e].accuracy:.1f} ± {100 * mine[e].error:.1f}" for e in epsilons)
            lines.append(f"| {table} | {way} | {' | '.join(told)} |")
        return "\n".join(lines)


def run_retention(
    tables: Sequence[str] = RETENTION_TABLES,
    *,
    rates: Sequence[float] = RATES,
    epsilons: Sequence[float] = EPSILONS,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Retention:
    """Every anonymiser at every setting, measured by the patterns of CART on the original records."""
    settings = [(name, rate) for name in NOISES for rate in rates]
    settings += [(name, epsilon) for name in PUBLISHERS for epsilon in epsilons]
    jobs = [(table, *setting, folds, data_dir) for table in tables for setting in settings]
    found = {(r.table, r.method, r.setting): r for r in share_out(_retained, jobs, processes, progress)}
    return Retention(tuple(found[job[:3]] for job in jobs), folds)


def run_contest(
    tables: Sequence[str] = CONTEST_TABLES,
    epsilons: Sequence[float] = CONTEST_EPSILONS,
    *,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Contest:
    """Trees from published tables against trees grown privately from the records, at the same epsilon."""
    ways = [*(f"CART on {name}" for name in PUBLISHERS), *GROWERS, REFERENCE]
    jobs = [(table, way, epsilon, folds, data_dir) for table in tables for way in ways for epsilon in epsilons]
    found = {(g.table, g.way, g.epsilon): g for g in share_out(_grown, jobs, processes, progress)}
    return Contest(tuple(found[job[:3]] for job in jobs), folds)


def _retained(table: str, method: str, setting: float, folds: int, data_dir: str | PathLike[str] | None) -> Retained:
    schema, kept, splits = _folds(table, folds, data_dir)
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
        scores = [value if value is not None else np.nan for value in (from_z.accuracy, from_z.f1, from_z.auc)]
        runs.append([report.pattern_accuracy, report.psd, report.pld, *scores])
    return Retained(table, method, setting, method in PUBLISHERS, *np.nanmean(runs, axis=0).tolist())


def _grown(table: str, way: str, epsilon: float, folds: int, data_dir: str | PathLike[str] | None) -> Grown:
    schema, kept, splits = _folds(table, folds, data_dir)
    random = np.random.default_rng(0)
    found = []
    for train, test in splits:
        x, w = take(kept, train), take(kept, test)
        if way in GROWERS:
            learner = make_classifier(way, schema=schema, epsilon=epsilon).fit(x)
        else:
            publisher = PUBLISHERS.get(way.removeprefix("CART on "))
            if publisher is not None:
                x = publish(publisher, protect(x, schema, Ledger(epsilon)), epsilon).records(random)
            least = max(1, round(LEAST / 4 * len(train)))
            learner = SklearnTreeReference(schema, DEPTH, min_samples_leaf=least).fit(x)
        found.append(performance(learner, w).accuracy or 0.0)
    error = float(np.std(found, ddof=1) / np.sqrt(len(found)))
    return Grown(table, way, epsilon, way.startswith("CART on d"), float(np.mean(found)), error)


def _folds(table: str, folds: int, data_dir: str | PathLike[str] | None) -> tuple[Schema, dict[str, Any], Any]:
    schema, columns = real.load(table, data_dir)
    kept = known_labels(schema, columns)
    labels = schema.encode(kept).labels
    assert labels is not None
    return schema, kept, stratified(labels, folds)
