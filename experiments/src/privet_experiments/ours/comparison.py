"""Everything that a user could pick, side by side on the same folds: privet's recipes and other libraries' learners.

NOT PRIVATE, like every evaluation. All have their default parameters, the same for all tables and epsilons. privet's
recipes are run here, in their sound forms. Other libraries need environments of their own: ``privet peers`` runs
them on the same folds and writes a file, which the option ``--peers`` puts beside ours; folds that are not the same are
refused. Besides what every evaluation measures there is the Jaccard index with CART: how much of what CART's rules look
at the private rules look at too.

Who is better is judged by two learners that were named beforehand, since the best of many is best partly by luck:
``exact`` for accuracy and ``additive`` for AUC and log-loss, as the guide recommends them. On one table the folds are
compared by the corrected resampled t-test, over all tables the means by Wilcoxon's signed ranks.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.estimators.references import SklearnTreeReference
from privet.evaluation.cross_validation import MAJORITY, REFERENCE_DEPTH, Fold, Records, stratified_folds
from privet.evaluation.significance import corrected_t, wilcoxon
from privet.recipes.registry import OWN, recipe_class
from privet.rules.rulelist import RuleList, rule_list
from privet.rules.similarity import compare_rules
from privet_experiments.experiment import Found, Job, Row, axis
from privet_experiments.folds import MEASURES, Learner, frozen_table
from privet_experiments.outcome import Outcome, Table
from privet_experiments.store import read_lines
from privet_experiments.sweep import Results, Sweep, measure_text, told_measure

CART = "CART"
LEVEL = 0.05  # below which a difference is called clear
MOST_RULES = 2000  # of a forest: more are not read by anybody, and take long to compare
CHAMPIONS = {"accuracy": "exact", "auc": "additive", "log_loss": "additive"}
DRAWN = ("exact", "additive", "random-forest")
WITH_DELTA, DELTA = "additive, delta", 1e-6  # what most peers promise
PEERS = "comparison-peers"
"""What the first line of a file of peers calls itself."""


def _learners() -> dict[str, Learner]:
    """Every recipe that has a sound form, the largest class, and a tree without privacy."""
    private = [name for name in OWN if "sound" in recipe_class(name).info.variants]
    named = {name: Learner(name, name) for name in private}
    named[WITH_DELTA] = Learner(WITH_DELTA, "additive", {"delta": DELTA})
    return named | {CART: Learner(CART, "sklearn-tree"), MAJORITY: Learner(MAJORITY, MAJORITY)}


@dataclass(frozen=True)
class Comparison(Sweep):
    """Accuracy, balanced accuracy, AUC, log-loss and the Jaccard index with CART of every recipe that has a sound form,
    and of other libraries' learners where a file of theirs is given; who wins by how much, and where privet loses.
    """

    known: ClassVar[dict[str, Learner]] = _learners()
    title: ClassVar[str] = "comparison"
    shown: ClassVar[tuple[str, ...]] = (*MEASURES, "jaccard")
    counted: ClassVar[str] = "clearly ahead : behind"
    """The head of the column that says on how many tables."""

    peers: str = axis("", "A file that `privet peers` has written, on the same folds.")

    def to_dict(self) -> dict[str, Any]:
        axes = super().to_dict()
        del axes["peers"]  # who stands beside us changes none of our results
        return axes

    def check(self) -> None:
        super().check()
        if self.peers and not Path(self.peers).is_file():
            raise ParameterError(f"peers names {self.peers!r}, which is no file; `privet peers` writes one")

    def run(self, job: Job) -> Found:
        labels, start = frozen_table(type(self).load, job["table"]).labels, time.process_time()
        found = super().run(job)
        seconds = (time.process_time() - start) / (self.tried or self.folds)
        return found | {"dealt": dealt(labels, self.folds, self.seed + job["repeat"]), "cpu_seconds": seconds}

    def more(self, fold: Fold) -> dict[str, float | None]:
        return {"jaccard": None if fold.certificate is None else _likeness(fold.trees, fold.known)}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        others = self._peer_rows(rows)
        results = Results([*rows, *others])
        ours = [learner.name for learner in self.learners()]
        everybody = [*ours, *dict.fromkeys(row["learner"] for row in others)]
        private = [name for name in everybody if name not in (CART, MAJORITY)]
        tables = [
            self._losses(results, [*(name for name in private if name not in ours), MAJORITY]),
            self._wins(results, private),
            *self._duels(results, private),
            *(self._by_table(results, measure, everybody) for measure in self.shown),
            self._seconds([*rows, *others], everybody),
        ]
        notes = (self._sentence(results, private, [name for name in private if name not in ours]),)
        return Outcome(tuple(one for one in tables if one.rows), tuple(self._figures(results)), (), notes)

    def drawn(self, results: Results) -> list[tuple[str, bool]]:
        """Those that a reader would choose among, or they hide each other."""
        ours = [(who.name, who.is_reference) for who in self.learners() if who.name in DRAWN or who.is_reference]
        return ours + [(name, False) for name in results.learners if name not in self.known]

    # ---- the peers' file -------------------------------------------------------------------------------------------

    def _peer_rows(self, rows: Sequence[Row]) -> list[Row]:
        """What others found on the tables and at the epsilons of this grid."""
        if not self.peers:
            return []
        head, lines = read_lines(Path(self.peers))
        if head.get("experiment") != PEERS:
            raise ParameterError(f"{self.peers!r} holds no results of peers; `privet peers` writes such a file")
        mine = {(row["table"], row["repeat"]): row["dealt"] for row in rows}
        found = []
        for line in lines:
            row = line["job"] | line["found"]
            where = (row["table"], row["repeat"])
            if where not in mine or row["epsilon"] not in self.epsilons:
                continue
            if row["dealt"] != mine[where]:
                raise ParameterError(
                    f"the peers in {self.peers!r} had other folds of {row['table']}: run `privet peers` with "
                    f"--folds {self.folds} --seed {self.seed} and on the same table"
                )
            found.append(row)
        return found

    # ---- tables ----------------------------------------------------------------------------------------------------

    def _by_table(self, results: Results, measure: str, learners: Sequence[str]) -> Table:
        rows = []
        for name in learners:
            cells = [[results.mean(table, name, e, measure) for e in self.epsilons] for table in self.tables]
            if name in (CART, MAJORITY):
                cells = [at[:1] for at in cells]  # the same at every epsilon
            if any(value is not None for at in cells for value in at):
                rows.append((name, *(" / ".join(measure_text(value, measure) for value in at) for at in cells)))
        told = "Jaccard index with CART" if measure == "jaccard" else told_measure(measure)
        return Table(f"{told} at epsilon {self._epsilons}", ("learner", *self.tables), tuple(rows))

    def _seconds(self, rows: Sequence[Row], learners: Sequence[str]) -> Table:
        """The processor time of a fold, ours with its predictions, over all tables and epsilons."""
        known = {
            name: [row["cpu_seconds"] for row in rows if row["learner"] == name and "cpu_seconds" in row]
            for name in learners
        }
        cells = [
            (name, str(len(found)), f"{np.median(found):.2f}", f"{max(found):.1f}")
            for name, found in known.items()
            if found
        ]
        return Table("CPU seconds of a fold", ("learner", "fits", "median", "most"), tuple(cells))

    def _wins(self, results: Results, learners: Sequence[str]) -> Table:
        """On how many tables a learner has the best mean."""
        rows = []
        for measure in CHAMPIONS:
            for epsilon in self.epsilons:
                best = [self._best(results, measure, table, epsilon, learners) for table in self.tables]
                counts = {name: sum(name in ones for ones in best) for name in learners}
                order = sorted((name for name in learners if counts[name]), key=lambda name: -counts[name])
                told = ", ".join(f"{name} {counts[name]}" for name in order)
                rows.append((told_measure(measure), f"{epsilon:g}", told))
        title = f"Best of all on how many of {len(self.tables)} tables (equals count for each)"
        return Table(title, ("measure", "epsilon", "learners"), tuple(rows))

    def _best(self, results: Results, measure: str, table: str, epsilon: float, learners: Sequence[str]) -> list[str]:
        found = {name: results.mean(table, name, epsilon, measure) for name in learners}
        known = {name: _gain(measure, value) for name, value in found.items() if value is not None}
        return [name for name, value in known.items() if value == max(known.values(), default=None)]

    def _duels(self, results: Results, learners: Sequence[str]) -> Iterator[Table]:
        """The champion of a measure against every other, over all tables."""
        for measure, champion in CHAMPIONS.items():
            columns = ("other", "tables", f"ahead by{_unit(measure)}", self.counted, "Wilcoxon p")
            rivals = [name for name in learners if name != champion] if champion in learners else []
            rows = []
            for rival in rivals:
                duels = [self._duel(results, measure, champion, rival, epsilon) for epsilon in self.epsilons]
                if any(duel[0] != "0" for duel in duels):
                    tables, *others = zip(*duels, strict=True)
                    told = tables[:1] if len(set(tables)) == 1 else tables
                    rows.append((rival, " / ".join(told), *(" / ".join(cells) for cells in others)))
            title = f"{told_measure(measure)}: {champion} against the others, at epsilon {self._epsilons}"
            yield Table(title, columns, tuple(rows))

    def _duel(self, results: Results, measure: str, champion: str, rival: str, epsilon: float) -> tuple[str, ...]:
        """Tables that both have learned from; by how much, how often clearly, and whether by chance."""
        means, clear = [], [0, 0]
        for table in self.tables:
            pairs = self._pairs(results, measure, table, champion, rival, epsilon)
            if pairs:
                means.append(np.mean(pairs, axis=0))
                ahead = self._clearly(pairs)
                clear[0] += ahead > 0
                clear[1] += ahead < 0
        if not means:
            return "0", "-", "-", "-"
        ours, theirs = np.transpose(means)
        ranks = wilcoxon(ours, theirs) if len(means) > 1 else None
        p = "-" if ranks is None else f"{ranks.p_value:.3f}"
        return f"{len(means)}", gap_text(float(np.mean(ours - theirs)), measure), f"{clear[0]} : {clear[1]}", p

    def _losses(self, results: Results, others: Sequence[str]) -> Table:
        """Wherever another library, or the largest class alone, is ahead of the champion."""
        rows = []
        for measure, champion in CHAMPIONS.items():
            for table in self.tables:
                for epsilon in self.epsilons:
                    for other in others:
                        pairs = self._pairs(results, measure, table, champion, other, epsilon)
                        gap = float(np.mean([a - b for a, b in pairs])) if pairs else 0.0
                        if gap < 0:
                            clear = "yes" if self._clearly(pairs) < 0 else "no"
                            place = (told_measure(measure), champion, table, f"{epsilon:g}")
                            rows.append((*place, other, gap_text(-gap, measure) + _unit(measure), clear))
        columns = ("measure", "privet", "table", "epsilon", "behind", "by", "clear")
        return Table("Where privet loses to another library, or to the largest class alone", columns, tuple(rows))

    def _clearly(self, pairs: Sequence[tuple[float, float]]) -> int:
        """1 for clearly ahead on a table's folds, -1 for clearly behind."""
        if len(pairs) < 2:
            return 0
        ours, theirs = zip(*pairs, strict=True)
        found = corrected_t(ours, theirs, test_to_train=1 / (self.folds - 1))
        return 0 if found is None or found.p_value >= LEVEL else (1 if found.difference > 0 else -1)

    def _pairs(
        self, results: Results, measure: str, table: str, first: str, second: str, epsilon: float
    ) -> list[tuple[float, float]]:
        """Both learners' folds, larger being better."""
        found = results.pairs(table, first, second, epsilon, measure)
        return [(_gain(measure, a), _gain(measure, b)) for a, b in found]

    # ---- words ----------------------------------------------------------------------------------------

    @property
    def _epsilons(self) -> str:
        return " / ".join(f"{epsilon:g}" for epsilon in self.epsilons)

    def _sentence(self, results: Results, private: Sequence[str], peers: Sequence[str]) -> str:
        """Over all tables and epsilons, against the best peer of each place: a hard measure, chosen after the fact."""
        told = []
        for measure, champion in CHAMPIONS.items():
            ahead, places, gaps = 0, 0, []
            for table in self.tables:
                for epsilon in self.epsilons:
                    ours = results.mean(table, champion, epsilon, measure)
                    theirs = [results.mean(table, peer, epsilon, measure) for peer in peers]
                    known = [_gain(measure, value) for value in theirs if value is not None]
                    if ours is not None and known:
                        gaps.append(_gain(measure, ours) - max(known))
                        ahead, places = ahead + (gaps[-1] >= 0), places + 1
            if places:
                mean = gap_text(float(np.mean(gaps)), measure) + _unit(measure)
                told.append(f"{told_measure(measure)}: {champion} in {ahead} of {places} places, by {mean} on average")
        if not told:
            return "No other library stands beside privet's recipes here: `privet peers` runs them."
        return f"Ahead of, or level with, the best of the other libraries. {'; '.join(told)}."


# ---- pieces --------------------------------------------------------------------------------------------------------


def folds_of(labels: npt.NDArray[Any], folds: int, seed: int) -> npt.NDArray[np.bool_]:
    """(fold, record) whether a record is learned from."""
    train = np.zeros((folds, labels.size), dtype=bool)
    for number, (part, _) in enumerate(stratified_folds(labels, folds, 1, seed)):
        train[number, part] = True
    return train


def dealt(labels: npt.NDArray[Any], folds: int, seed: int) -> str:
    """What tells folds apart: a hash of which records are tested in which, and of the labels of all."""
    digest = hashlib.sha256(np.ascontiguousarray(labels, dtype=np.int64).tobytes())
    for _, test in stratified_folds(labels, folds, 1, seed):
        digest.update(np.ascontiguousarray(test, dtype=np.int64).tobytes())
    return digest.hexdigest()[:16]


def _gain(measure: str, value: float) -> float:
    """A measure so that more is better."""
    return -value if measure == "log_loss" else value


def gap_text(gap: float, measure: str) -> str:
    return f"{gap:+.1f}" if measure.endswith("accuracy") else f"{gap:+.3f}"


def _unit(measure: str) -> str:
    return " points" if measure.endswith("accuracy") else ""


_CART_RULES: dict[bytes, RuleList] = {}  # of the folds last seen: every learner is compared with the same tree
_KEPT = 64


def _likeness(trees: Any, known: Records) -> float | None:
    """The Jaccard index of a model's rules and those of CART from the same records; None without a list of rules."""
    members = getattr(trees, "members", ())
    if not members or (len(members) > 1 and sum(tree.n_leaves for tree in members) > MOST_RULES):
        return None
    digest = hashlib.blake2b(known.frozen.labels.tobytes())
    for column in known.frozen.columns:
        digest.update(column.tobytes())
    key = digest.digest()
    if key not in _CART_RULES:
        if len(_CART_RULES) >= _KEPT:
            _CART_RULES.clear()
        schema = known.frozen.schema
        cart = SklearnTreeReference(schema, REFERENCE_DEPTH)
        prepared = schema.with_bins(cart.max_bins)
        _CART_RULES[key] = rule_list(cart.grow(prepared, known.frozen.codes(prepared)))
    return compare_rules(trees, _CART_RULES[key]).index
