"""Settings of the random forest against each other, over twelve tables at once: where its defaults come from.

NOT PRIVATE, like every evaluation; the tables need no protection. One setting is changed at a time. The defaults are
those that do well on average over all tables and both budgets, never for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from privet.datasets import real
from privet.errors import ParameterError
from privet.estimators.registry import make_classifier
from privet.experiments.evaluation import WARNING, evaluate
from privet.experiments.workers import share_out

TABLES = (
    "adult-complete",
    "bank",
    "banknote",
    "car",
    "chess-krkp",
    "magic",
    "mushroom",
    "nursery",
    "pendigits",
    "tic-tac-toe",
    "vote",
    "wbc",
)
QUICK_TABLES = ("vote", "tic-tac-toe")
EPSILONS = (0.1, 1.0)
FOLDS, QUICK_FOLDS = 5, 2
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "disjoint parts": {"sharing": "disjoint"},
    "a tree for each attribute, whatever the noise": {"share_of_trees": 1},
    "half as many trees": {"share_of_trees": 0.5},
    "twice as many trees": {"share_of_trees": 2},
    "one test deep": {"max_depth": 1},
    "two tests deep, whatever the noise": {"max_depth": 2, "min_signal": 0},
    "three tests deep, whatever the noise": {"max_depth": 3, "min_signal": 0},
    "at most two tests deep": {"max_depth": 2},
    "at most four tests deep": {"max_depth": 4},
    "min_signal 1": {"min_signal": 1},
    "min_signal 2": {"min_signal": 2},
    "min_signal 8": {"min_signal": 8},
    "5 bins": {"bins": 5},
    "10 bins": {"bins": 10},
    "20 bins": {"bins": 20},
    "binary tests, at most six deep": {"tests": "binary", "max_depth": 6},
    "no shrinkage": {"shrinkage": 0},
    "shrinkage 2": {"shrinkage": 2},
    "pruned below noise": {"prune": True},
    "pruned, no shrinkage": {"prune": True, "shrinkage": 0},
    "evidence 0.5": {"evidence": 0.5},
    "evidence 2": {"evidence": 2},
    "a weight that is guessed, not bought": {"weight_share": 0},
    "5 % for the weight": {"weight_share": 0.05},
    "20 % for the weight": {"weight_share": 0.2},
    "mean probability": {"voting": "proba"},
    "majority vote": {"voting": "majority"},
    "the surest tree": {"voting": "surest"},
    "as in the thesis: 100 deep disjoint trees": {
        "trees": 100,
        "max_depth": 8,
        "min_signal": 0,
        "tests": "mixed",
        "bins": 64,
        "sharing": "disjoint",
        "shrinkage": 0,
        "voting": "majority",
    },
}


@dataclass(frozen=True)
class Result:
    """Accuracy as a fraction, by table and epsilon."""

    setting: str
    accuracy: dict[str, dict[float, float]]

    def mean(self, epsilon: float) -> float:
        return float(np.mean([by_epsilon[epsilon] for by_epsilon in self.accuracy.values()]))


@dataclass(frozen=True)
class Settings:
    results: tuple[Result, ...]
    epsilons: tuple[float, ...]
    folds: int

    def to_dict(self) -> dict[str, Any]:
        results = [asdict(result) | {"mean": {e: result.mean(e) for e in self.epsilons}} for result in self.results]
        return {"experiment": "forest-settings", "warning": WARNING, "folds": self.folds, "results": results}

    def to_markdown(self) -> str:
        heads = " | ".join(f"eps {epsilon:g}" for epsilon in self.epsilons)
        lines = [f"| setting | {heads} | both |", "|" + "---|" * (len(self.epsilons) + 2)]
        for result in self.results:
            means = [100 * result.mean(epsilon) for epsilon in self.epsilons]
            lines.append(f"| {result.setting} | {' | '.join(f'{m:.2f}' for m in means)} | {np.mean(means):.2f} |")
        return "\n".join(lines)


def run(
    tables: Sequence[str] = TABLES,
    settings: Sequence[str] = tuple(SETTINGS),
    epsilons: Sequence[float] = EPSILONS,
    *,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Settings:
    """Cross-validate the settings on the tables."""
    unknown = [name for name in settings if name not in SETTINGS]
    if unknown:
        raise ParameterError(f"unknown setting {unknown[0]!r}; choose among {', '.join(SETTINGS)}")
    jobs = [(table, setting, tuple(epsilons), folds, data_dir) for table in tables for setting in settings]
    found = {(table, setting): scores for table, setting, scores in share_out(_scores, jobs, processes, progress)}
    results = [Result(setting, {table: found[table, setting] for table in tables}) for setting in settings]
    return Settings(tuple(results), tuple(epsilons), folds)


def _scores(
    table: str, setting: str, epsilons: tuple[float, ...], folds: int, data_dir: str | PathLike[str] | None
) -> tuple[str, str, dict[float, float]]:
    schema, columns = real.load(table, data_dir)
    params = dict(SETTINGS[setting])
    if "share_of_trees" in params:
        params["trees"] = max(1, round(params.pop("share_of_trees") * len(schema.attributes)))
    made = [make_classifier("random-forest", epsilon=epsilon, **params) for epsilon in epsilons]
    scores = evaluate(schema, columns, made, folds=folds, references=()).results
    return table, setting, {e: score.accuracy_mean for e, score in zip(epsilons, scores, strict=True)}
