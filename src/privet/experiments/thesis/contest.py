"""Figures 8.8 to 8.11, 3.4 and 9.3: the thesis's forests against others at epsilon 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privet.experiments.cross_validation import Learner
from privet.experiments.evaluation import Fold, Records, Way
from privet.experiments.outcome import Statement
from privet.experiments.sweep import Results, Sweep, all_but, declare
from privet.experiments.thesis.published import CONTEST, NAMES
from privet.experiments.thesis.smooth import AS_PUBLISHED, MOST_LEAVES, SmoothSweep
from privet.experiments.thesis.tables import TABLES, TWO_CLASSES
from privet.experiments.worked.printed import claimed
from privet.measures.scores import rare_f1

OURS, SOUND, JPW, FS, RGV, FOREST = "smooth", "sound", "JPW", "FS", "RGV", "random forest"
TIE = 0.5  # points
NEAR = 3.0  # points
WHY = (
    "JPW here leaves out leaves whose noisy counts add up to nothing and adds counts up; how the thesis's votes is not "
    "said. FS here has the Max score; in chapter 6 the thesis's chooses nearly by chance (fletcher-fig61)"
)


@dataclass(frozen=True)
class Contest(SmoothSweep):
    """The forest of chapter 8 against Private-RDT, FS's tree, RGV's forest and Breiman's, at epsilon 1."""

    title: ClassVar[str] = "TH Figs. 8.8 to 8.11"
    shown: ClassVar[tuple[str, ...]] = ("accuracy", "auc", "rare_f1")
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            OURS: ("smooth-forest", AS_PUBLISHED),
            SOUND: ("smooth-forest", {}),
            JPW: ("jagannathan2012", {}),
            FS: ("diffpc45", {"max_depth": 5, "variant": "as-published"}),
            RGV: ("rana2016", {}),
            FOREST: ("sklearn-forest", {"trees": 20, "max_depth": None}),
        }
    )

    def more(self, way: Way, known: Records, unseen: Records, fold: Fold) -> dict[str, float | None]:
        """F1 of the rarer class, which is the thesis's positive one."""
        trees = fold.trees
        codes = unseen.codes if trees.schema == way.schema else unseen.frozen.codes(trees.schema)
        assert codes.labels is not None
        return {"rare_f1": rare_f1(codes.labels, trees.predict(codes.features))}

    def statements(self, results: Results) -> Iterator[Statement]:
        epsilon = self.epsilons[0]
        if not self.has(OURS, JPW, FS, FOREST) or epsilon != 1:
            return
        jpw, fs, forest = ({t: results.gap(t, OURS, who, 1.0) for t in self.tables} for who in (JPW, FS, FOREST))
        lost = [t for t in self.tables if jpw[t] <= 0]
        says = "the forest is more accurate than JPW on every table but claves"
        told = all_but(lost)
        yield claimed("TH Fig. 8.8", says, "all but claves", told, set(lost) <= {"claves"}, WHY)
        lost = [t for t in self.tables if fs[t] <= 0]
        says = "it is more accurate than FS on every table"
        yield claimed("TH Fig. 8.8", says, "all", all_but(lost), not lost, WHY)
        facts = (("claves", JPW, jpw, -2.5), ("adult-complete", JPW, jpw, 3.5))
        for table, who, gaps, said in facts:
            if table in gaps:
                near = abs(gaps[table] - said) <= NEAR
                says = f"points ahead of {who} on {table}"
                yield claimed("TH 8.5.2", says, f"{said:+g}", f"{gaps[table]:+.1f}", near, WHY)
        if "SynthA" in jpw:
            told = f"{jpw['SynthA']:.1f} and {fs['SynthA']:.1f}"
            holds = min(jpw["SynthA"], fs["SynthA"]) > 35 - NEAR
            says = "over 35 points ahead of both JPW and FS on SynthA"
            yield claimed("TH 8.5.2", says, "35 and 35", told, holds, WHY)
        below = [t for t in self.tables if forest[t] >= 0]
        says = "Breiman's forest is the most accurate on every table"
        told = all_but(below)
        yield claimed("TH Fig. 8.8", says, "every table", told, not below)
        ahead = [t for t in self.tables if results.gap(t, JPW, FS, 1.0) > 0]
        says = "JPW is more accurate than FS at epsilon 1"
        told = f"on {len(ahead)} of {len(self.tables)}"
        yield claimed("TH Fig. 3.4", says, "seven tables", told, len(ahead) == len(self.tables), WHY)
        yield from self._binary(results)
        yield from self._against_rgv(results)

    def _binary(self, results: Results) -> Iterator[Statement]:
        """Figs. 8.9 and 8.10: within one standard deviation is a tie."""
        tables = [t for t in self.tables if t in TWO_CLASSES]
        tally = {"wins": 0, "ties": 0, "losses": 0}
        for measure in ("auc", "rare_f1"):
            for table in tables:
                one, other = (results.folds(table, who, 1.0, measure) for who in (OURS, JPW))
                gap, spread = float(np.mean(one) - np.mean(other)), max(float(np.std(one)), float(np.std(other)))
                tally["ties" if abs(gap) <= spread else "wins" if gap > 0 else "losses"] += 1
        if not tables:
            return
        said = f"11, 8, 1 of 20; here of {2 * len(tables)}"
        told = ", ".join(str(value) for value in tally.values())
        says = "AUC and F1 against JPW: wins, ties and losses on tables of two classes"
        holds = tally["losses"] <= 0.1 * 2 * len(tables) and tally["wins"] >= tally["losses"]
        rule = "judged as one loss in ten at most, and not fewer wins than losses"
        yield claimed("TH Figs. 8.9, 8.10", says, said, told, holds, WHY, rule=rule)

    def _against_rgv(self, results: Results) -> Iterator[Statement]:
        for name, (ours, rgv) in CONTEST.items():
            table = NAMES.get(name, name)
            if table not in self.tables or not self.has(RGV):
                continue
            mean, other = (results.mean(table, who, 1.0) or 0.0 for who in (OURS, RGV))
            if not name.startswith("Synth"):  # synthetic ones are in Fig. 8.1, and depend on the instance
                why = "numbers are cut within declared bounds here, the records' own there; leaves are capped"
                says = f"accuracy of the forest on {table}"
                yield claimed("TH Fig. 8.11", says, ours, f"{mean:.1f}", abs(mean - ours) <= NEAR, why)
            said, found = ours - rgv, mean - other
            holds = abs(found) <= NEAR if abs(said) <= TIE else found * said > 0
            why = (
                "RGV's formula wants 110 to 1385 trees and needs a least support that the thesis does not say; 100 here"
            )
            says = f"points ahead of RGV on {table}"
            yield claimed("TH Fig. 8.11", says, f"{said:+.1f}", f"{found:+.1f}", holds, why, rule="the same sign")

    def notes(self) -> tuple[str, ...]:
        return (
            "As published the forest is not differentially private; the sound one stands beside it. RGV never is, and "
            "is for two classes. SynthA to SynthG are those nearest to Fig. 8.1. Breiman's forest has 20 trees.",
        )


SIXTH, SEVENTH, EIGHTH, CART = "chapter 6", "chapter 7", "chapter 8", "CART"


@dataclass(frozen=True)
class Chapters(Sweep):
    """The thesis's three forests, CART and Breiman's forest at epsilon 1."""

    title: ClassVar[str] = "TH Fig. 9.3"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {
            SIXTH: ("greedy-forest", {"variant": "as-published"}),
            SEVENTH: ("snr-forest", {}),
            EIGHTH: ("smooth-forest", {"variant": "as-published", "max_leaves": MOST_LEAVES}),
            f"{SIXTH}, sound": ("greedy-forest", {}),
            f"{EIGHTH}, sound": ("smooth-forest", {}),
            CART: ("sklearn-tree", {"max_depth": None, "min_samples_leaf": 10}),
            FOREST: ("sklearn-forest", {"trees": 20, "max_depth": None}),
        }
    )

    def statements(self, results: Results) -> Iterator[Statement]:
        if not self.has(SIXTH, SEVENTH, EIGHTH, CART, FOREST):
            return
        epsilon = self.epsilons[0]
        for better, worse, said in ((EIGHTH, SEVENTH, "High over Medium"), (SEVENTH, SIXTH, "Medium over Low")):
            gaps = {t: results.gap(t, better, worse, epsilon) for t in self.tables}
            told = ", ".join(f"{table} {gap:+.1f}" for table, gap in gaps.items())
            says = f"the forest of {better} is more accurate than that of {worse}"
            why = "the three tables of Fig. 9.3 are not named, and no numbers are printed; these are ours"
            yield claimed("TH Fig. 9.3, Table 9.2", says, said, told, min(gaps.values()) > 0, why)
        best = {t: max(results.mean(t, who, epsilon) or 0.0 for who in (SIXTH, SEVENTH, EIGHTH)) for t in self.tables}
        short = [t for t in self.tables if min(results.mean(t, who) or 0.0 for who in (CART, FOREST)) <= best[t]]
        says = "CART and Breiman's forest are above all three"
        yield claimed("TH Fig. 9.3", says, "above", all_but(short), not short)


FORMS = {
    "smoke": Contest(("nursery",), folds=2, who=(OURS, SOUND, JPW)),
    "quick": Contest(("SynthA", "SynthB", "magic", "mushroom", "claves", "nursery"), tried=2),
    "full": Contest(TABLES, folds=10, repeats=10),
}
CHAPTERS = {
    "smoke": Chapters(("nursery",), folds=2, who=(SIXTH, SEVENTH, EIGHTH, CART)),
    "quick": Chapters(("nursery", "mushroom", "adult-complete"), tried=2),
    "full": Chapters(("nursery", "mushroom", "adult-complete"), folds=10, repeats=10),
}
