"""What is claimed of the random forest, on every table there is: not worse than the class shares alone.

NOT PRIVATE, like every evaluation. Two claims, for each table and epsilon, of means over folds: the accuracy is at
least that of the majority class less a point, and the log-loss at most that of the class shares that the forest itself
has released plus 0.02 nats. Small tables are dealt more often, since their means vary more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.experiments.evaluation import deal, part
from privet.experiments.experiment import Experiment, Found, Job, Row, axis
from privet.experiments.outcome import Outcome, Table
from privet.measures.scores import balanced_accuracy, log_loss, macro_auc
from privet.recipes.fitting import fit, own_ledger
from privet.recipes.random_forest import RandomForest
from privet.schema.frozen import freeze
from privet.trees.forest import Forest

EPSILONS = (0.1, 1.0, 10.0)
FOLDS = 5
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
class ForestClaims(Experiment):
    """The random forest with its defaults against the class shares alone. Claimed are an accuracy of at least the
    majority class less a point, and a log-loss of at most that of the class shares which the forest itself has released
    plus 0.02 nats.
    """

    tables: tuple[str, ...] = axis((), "A table of PRIVET_DATA; may be repeated. All by default.")
    epsilons: tuple[float, ...] = axis(EPSILONS, "A budget; may be repeated.")
    folds: int = axis(FOLDS, "Stratified folds.", least=2)

    def check(self) -> None:
        real.fetch(self.tables)

    def jobs(self) -> list[Job]:
        tables = self.tables or real.names()
        return [{"table": table, "epsilon": epsilon} for table in tables for epsilon in self.epsilons]

    def run(self, job: Job) -> Found:
        return {"claim": asdict(_claim(job["table"], job["epsilon"], self.folds))}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        claims = [Claim(**row["claim"]) for row in rows]
        table = Table("The random forest and the class shares alone", HEADINGS, tuple(claim.row() for claim in claims))
        return Outcome((table,), notes=(f"claims: {verdict_on(claims)}",))


def verdict_on(claims: Sequence[Claim]) -> str:
    missed = [f"{c.table} at {c.epsilon:g}" for c in claims if not (c.accurate and c.calibrated)]
    return f"missed on {', '.join(missed)}" if missed else f"all {len(claims)} hold"


def _claim(table: str, epsilon: float, folds: int) -> Claim:
    schema, columns = real.load(table)
    recipe, random = RandomForest(), np.random.default_rng(0)
    prepared, frozen = recipe.prepare(schema), freeze(schema, columns)
    codes = frozen.codes(prepared)
    assert codes.labels is not None
    repeats = min(MOST_REPEATS, max(1, math.ceil(PREDICTIONS / codes.labels.size)))
    splits = list(deal(codes.labels, folds, repeats, seed=0))
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
    return Claim(
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


def _error(differences: np.ndarray) -> float:
    return float(differences.std(ddof=1) / math.sqrt(differences.size))


FORMS = {
    "smoke": ForestClaims(("wbc",), (1.0,), 2),
    "quick": ForestClaims(("vote", "wilt"), folds=2),
    "full": ForestClaims(),
}
