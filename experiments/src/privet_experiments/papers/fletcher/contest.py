"""Figures 8.8 to 8.11, 3.4 and 9.3: the thesis's forests against others at epsilon 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privet.evaluation.cross_validation import Fold
from privet.evaluation.metrics import rare_f1
from privet_experiments.folds import Learner
from privet_experiments.judge import Measure, published
from privet_experiments.papers.fletcher.smooth import AS_PUBLISHED, MOST_LEAVES, SmoothSweep
from privet_experiments.papers.fletcher.tables import TWO_CLASSES
from privet_experiments.sweep import Results, Sweep, all_but, declare

OURS, SOUND, JPW, FS, RGV, FOREST = "smooth", "sound", "JPW", "FS", "RGV", "random forest"


@dataclass(frozen=True)
class Contest(SmoothSweep):
    """The forest of chapter 8 against Private-RDT, FS's tree, RGV's forest and Breiman's, at epsilon 1."""

    title: ClassVar[str] = "TH Figs. 8.8 to 8.11"
    section: ClassVar[str] = "fletcher.fig88"
    shown: ClassVar[tuple[str, ...]] = ("accuracy", "auc", "rare_f1")
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            OURS: ("smooth-forest", AS_PUBLISHED),
            SOUND: ("smooth-forest", {}),
            JPW: ("jagannathan2012", {}),
            FS: ("diffpc45", {"max_depth": 5, "variant": "as-published"}),
            RGV: ("rana2016", {}),
            FOREST: ("sklearn-forest", {"n_estimators": 20, "max_depth": None}),
        }
    )

    def more(self, fold: Fold) -> dict[str, float | None]:
        """F1 of the rarer class, which is the thesis's positive one."""
        return {"rare_f1": rare_f1(fold.labels, fold.predicted)}

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(OURS, JPW, FS, FOREST) or self.epsilons[0] != 1:
            return
        jpw, fs, forest = ({t: results.gap(t, OURS, who, 1.0) for t in self.tables} for who in (JPW, FS, FOREST))
        for name, gaps in (("jpw", jpw), ("fs", fs)):
            lost = [t for t in self.tables if gaps[t] <= 0]
            yield Measure(name, lost=lost, told=all_but(lost))
        for table in ("claves", "adult-complete"):
            if table in jpw:
                yield Measure("points", at=table, gap=jpw[table])
        if "SynthA" in jpw:
            yield Measure("both", gaps=[jpw["SynthA"], fs["SynthA"]])
        below = [t for t in self.tables if forest[t] >= 0]
        yield Measure("breiman", below=below, told=all_but(below))
        ahead = sum(results.gap(t, JPW, FS, 1.0) > 0 for t in self.tables)
        yield Measure("order", ahead=ahead, tables=len(self.tables))
        yield from self._binary(results)
        for table in published("fletcher.fig88", "rgv") if self.has(RGV) else ():
            if table in self.tables:
                accuracy = results.mean(table, OURS, 1.0) or 0.0
                yield Measure("accuracy", at=table, accuracy=accuracy)
                yield Measure("rgv", at=table, ahead=accuracy - (results.mean(table, RGV, 1.0) or 0.0))

    def _binary(self, results: Results) -> Iterator[Measure]:
        """Figs. 8.9 and 8.10: within one standard deviation is a tie."""
        tables = [t for t in self.tables if t in TWO_CLASSES]
        tally = {"wins": 0, "ties": 0, "losses": 0}
        for measure in ("auc", "rare_f1"):
            for table in tables:
                one, other = (results.folds(table, who, 1.0, measure) for who in (OURS, JPW))
                gap, spread = float(np.mean(one) - np.mean(other)), max(float(np.std(one)), float(np.std(other)))
                tally["ties" if abs(gap) <= spread else "wins" if gap > 0 else "losses"] += 1
        if tables:
            yield Measure("binary", places=2 * len(tables), **tally)

    def notes(self) -> tuple[str, ...]:
        beside = "; the sound one stands beside it" if self.has(SOUND) else ""
        return (
            f"As published the forest is not differentially private{beside}. RGV never is, and "
            "is for two classes. SynthA to SynthG are those nearest to Fig. 8.1. Breiman's forest has 20 trees.",
        )


SIXTH, SEVENTH, EIGHTH, CART = "chapter 6", "chapter 7", "chapter 8", "CART"


@dataclass(frozen=True)
class Chapters(Sweep):
    """The thesis's three forests, CART and Breiman's forest at epsilon 1."""

    title: ClassVar[str] = "TH Fig. 9.3"
    section: ClassVar[str] = "fletcher.fig93"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            SIXTH: ("greedy-forest", {"variant": "as-published"}),
            SEVENTH: ("snr-forest", {}),
            EIGHTH: ("smooth-forest", {"variant": "as-published", "max_leaves": MOST_LEAVES}),
            f"{SIXTH}, sound": ("greedy-forest", {}),
            f"{EIGHTH}, sound": ("smooth-forest", {}),
            CART: ("sklearn-tree", {"max_depth": None, "min_samples_leaf": 10}),
            FOREST: ("sklearn-forest", {"n_estimators": 20, "max_depth": None}),
        }
    )

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(SIXTH, SEVENTH, EIGHTH, CART, FOREST):
            return
        epsilon = self.epsilons[0]
        for better, worse, said in ((EIGHTH, SEVENTH, "High over Medium"), (SEVENTH, SIXTH, "Medium over Low")):
            gaps = {t: results.gap(t, better, worse, epsilon) for t in self.tables}
            yield Measure("order", better=better, worse=worse, said=said, gaps=gaps)
        best = {t: max(results.mean(t, who, epsilon) or 0.0 for who in (SIXTH, SEVENTH, EIGHTH)) for t in self.tables}
        short = [t for t in self.tables if min(results.mean(t, who) or 0.0 for who in (CART, FOREST)) <= best[t]]
        yield Measure("above", short=short, told=all_but(short))
