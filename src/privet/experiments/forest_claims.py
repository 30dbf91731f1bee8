"""What is claimed of the random forest, on every table there is: not worse than the class shares alone.

NOT PRIVATE, like every evaluation. Two claims, for each table and epsilon, of means over folds: the accuracy is at
least that of the majority class less a point, and the log-loss at most that of the class shares that the forest itself
has released plus 0.02 nats. Small tables are dealt more often, since their means vary more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.experiments.evaluation import WARNING, deal, part
from privet.experiments.workers import share_out
from privet.measures.scores import balanced_accuracy, log_loss, macro_auc
from privet.recipes.fitting import fit, own_ledger
from privet.recipes.random_forest import RandomForest
from privet.schema.frozen import freeze
from privet.trees.forest import Forest

EPSILONS = (0.1, 1.0, 10.0)
FOLDS, QUICK_FOLDS = 5, 2
QUICK_TABLES = ("vote", "wilt")
MOST_REPEATS = 24
PREDICTIONS = 20_000  # of a table, at least, before it is dealt no more
BELOW_MAJORITY, ABOVE_SHARES = 0.01, 0.02


@dataclass(frozen=True)
class Claim:
    """Means over ``fits`` folds, with the standard errors of the two differences that are judged."""

    table: str
    epsilon: float
    fits: int
    majority: float
    accuracy: float
    accuracy_error: float
    shares_log_loss: float
    log_loss: float
    log_loss_error: float
    balanced_accuracy: float
    auc: float | None

    @property
    def accurate(self) -> bool:
        return self.accuracy >= self.majority - BELOW_MAJORITY

    @property
    def calibrated(self) -> bool:
        return self.log_loss <= self.shares_log_loss + ABOVE_SHARES

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"accurate": self.accurate, "calibrated": self.calibrated}

    def row(self) -> tuple[str, ...]:
        return (
            self.table,
            f"{self.epsilon:g}",
            f"{100 * self.majority:.1f}",
            f"{100 * self.accuracy:.1f} ± {100 * self.accuracy_error:.1f}",
            f"{self.shares_log_loss:.3f}",
            f"{self.log_loss:.3f} ± {self.log_loss_error:.3f}",
            f"{100 * self.balanced_accuracy:.1f}",
            "-" if self.auc is None else f"{self.auc:.3f}",
            "yes" if self.accurate and self.calibrated else "no",
        )


HEADINGS = (
    "table",
    "epsilon",
    "majority %",
    "accuracy %",
    "log-loss of the shares",
    "log-loss",
    "balanced %",
    "AUC",
    "holds",
)


@dataclass(frozen=True)
class Claims:
    claims: tuple[Claim, ...]
    folds: int

    @property
    def verdict(self) -> str:
        missed = [f"{c.table} at {c.epsilon:g}" for c in self.claims if not (c.accurate and c.calibrated)]
        return f"missed on {', '.join(missed)}" if missed else f"all {len(self.claims)} hold"

    def to_dict(self) -> dict[str, Any]:
        claims = [claim.to_dict() for claim in self.claims]
        return {
            "experiment": "forest-claims",
            "warning": WARNING,
            "folds": self.folds,
            "verdict": self.verdict,
            "results": claims,
        }


def run(
    tables: Sequence[str] | None = None,
    epsilons: Sequence[float] = EPSILONS,
    *,
    folds: int = FOLDS,
    data_dir: str | PathLike[str] | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Claims:
    """Cross-validate the forest with its defaults on the tables, on all that there are by default."""
    chosen = real.names(data_dir) if tables is None else tuple(tables)
    jobs = [(table, tuple(epsilons), folds, data_dir) for table in chosen]
    found = {claims[0].table: claims for claims in share_out(_claims, jobs, processes, progress)}
    return Claims(tuple(claim for table in chosen for claim in found[table]), folds)


def _claims(
    table: str, epsilons: tuple[float, ...], folds: int, data_dir: str | PathLike[str] | None
) -> tuple[Claim, ...]:
    schema, columns = real.load(table, data_dir)
    recipe, random = RandomForest(), np.random.default_rng(0)
    prepared, frozen = recipe.prepare(schema), freeze(schema, columns)
    codes = frozen.codes(prepared)
    assert codes.labels is not None
    repeats = min(MOST_REPEATS, max(1, math.ceil(PREDICTIONS / codes.labels.size)))
    splits = list(deal(codes.labels, folds, repeats, seed=0))
    claims = []
    for epsilon in epsilons:
        runs = []
        for train, test in splits:
            known, ledger = part(codes, train), own_ledger(recipe, epsilon)
            engine = MemoryEngine(prepared, known, frozen.take(train))
            forest = fit(recipe, engine, ledger, epsilon, random=random).trees
            assert isinstance(forest, Forest)
            unseen = frozen.take(test).codes(forest.schema)  # numbers are cut where the forest says
            assert known.labels is not None
            assert unseen.labels is not None
            predicted, proba = forest.predict(unseen.features), forest.predict_proba(unseen.features)
            largest = np.bincount(known.labels, minlength=schema.n_classes).argmax()
            alone = np.broadcast_to(forest.prior, proba.shape)
            runs.append(
                (
                    float((unseen.labels == largest).mean()),
                    float((unseen.labels == predicted).mean()),
                    log_loss(unseen.labels, alone),
                    log_loss(unseen.labels, proba),
                    balanced_accuracy(unseen.labels, predicted),
                    macro_auc(unseen.labels, proba),
                )
            )
        columns_ = np.array(runs, dtype=np.float64)  # None becomes NaN
        majority, accuracy, alone_loss, loss, balanced, auc = columns_.T
        claims.append(
            Claim(
                table=table,
                epsilon=epsilon,
                fits=len(runs),
                majority=float(majority.mean()),
                accuracy=float(accuracy.mean()),
                accuracy_error=_error(accuracy - majority),
                shares_log_loss=float(alone_loss.mean()),
                log_loss=float(loss.mean()),
                log_loss_error=_error(loss - alone_loss),
                balanced_accuracy=float(balanced.mean()),
                auc=None if np.isnan(auc).all() else float(np.nanmean(auc)),
            )
        )
    return tuple(claims)


def _error(differences: np.ndarray) -> float:
    return float(differences.std(ddof=1) / math.sqrt(differences.size))
