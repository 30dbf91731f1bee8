"""Are probabilities what they say? Records in groups by what was predicted, against what they are. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from privet.datasets import real
from privet.experiments.evaluation import WARNING
from privet.experiments.graded import cross_predict

TABLES = ("adult", "bank", "magic")
GROUPS, FOLDS = 10, 10


@dataclass(frozen=True)
class Curve:
    """Predicted and observed shares of the second class, in groups of equal size, and their mean distance."""

    table: str
    recipe: str
    epsilon: float
    predicted: tuple[float, ...]
    observed: tuple[float, ...]

    @property
    def error(self) -> float:
        return float(np.mean(np.abs(np.subtract(self.predicted, self.observed))))


@dataclass(frozen=True)
class Reliability:
    """A curve for each table."""

    curves: tuple[Curve, ...]

    def to_dict(self) -> dict[str, Any]:
        found = [asdict(curve) | {"error": curve.error} for curve in self.curves]
        return {"experiment": "reliability", "warning": WARNING, "results": found}

    def to_markdown(self) -> str:
        groups = range(1, len(self.curves[0].predicted) + 1)
        lines = [f"| table | {' | '.join(map(str, groups))} | apart |", "|" + "---|" * (len(groups) + 2)]
        for curve in self.curves:
            pairs = zip(curve.predicted, curve.observed, strict=True)
            said = " | ".join(f"{100 * p:.0f} / {100 * o:.0f}" for p, o in pairs)
            lines.append(f"| {curve.table} | {said} | {100 * curve.error:.1f} |")
        return "\n".join(lines)


def run(
    tables: Sequence[str] = TABLES,
    recipe: str = "additive",
    epsilon: float = 1.0,
    *,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
) -> Reliability:
    """Predictions for records that a model has not seen, all folds together; tables of two classes."""
    return Reliability(tuple(_curve(table, recipe, epsilon, folds, data_dir) for table in tables))


def _curve(table: str, recipe: str, epsilon: float, folds: int, data_dir: str | PathLike[str] | None) -> Curve:
    schema, columns = real.load(table, data_dir)
    labels, proba = cross_predict(schema, columns, recipe, epsilon, folds=folds)
    groups = np.array_split(np.argsort(proba[:, 1], kind="stable"), GROUPS)
    predicted = tuple(float(proba[group, 1].mean()) for group in groups)
    observed = tuple(float((labels[group] == 1).mean()) for group in groups)
    return Curve(table, recipe, epsilon, predicted, observed)
