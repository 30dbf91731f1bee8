"""Figures 7.1 to 7.3: the signal-to-noise forest DP-RF against Private-RDT (JPW)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privet.datasets import real
from privet.schema import Categorical, Schema
from privet.tables.encoding import encode
from privet_experiments.folds import Learner, Load
from privet_experiments.judge import Measure
from privet_experiments.sweep import Results, Sweep, all_of, declare

OURS, JPW = "DP-RF", "JPW"
BINS = 5


def load_in_bins(table: str) -> tuple[Schema, Any]:
    """A real table with its numbers as the thesis has them here: five categories of equal width."""
    schema, columns = real.load(table)
    cut = schema.with_bins(BINS)
    attributes = tuple(
        Categorical(a.name, tuple(range(arity))) for a, arity in zip(cut.attributes, cut.arities, strict=True)
    )
    codes = encode(cut, {name: columns[name] for name in (*cut.names, cut.label.name)})
    binned = {attribute.name: values for attribute, values in zip(attributes, codes.features, strict=True)}
    return Schema(attributes, schema.label, name=schema.name), binned | {schema.label.name: columns[schema.label.name]}


@dataclass(frozen=True)
class Signal(Sweep):
    """DP-RF against Private-RDT at seven budgets, numbers in five bins, on the thesis's nine tables."""

    title: ClassVar[str] = "TH Figs. 7.1 to 7.3"
    section: ClassVar[str] = "fletcher.fig71"
    known: ClassVar[Mapping[str, Learner]] = declare(
        {OURS: ("snr-forest", {}), JPW: ("jagannathan2012", {}), "majority": ("majority", {})}
    )
    load: ClassVar[Load] = load_in_bins

    def measures(self, results: Results) -> Iterator[Measure]:
        if not self.has(OURS, JPW):
            return
        gaps = {(t, b): results.gap(t, OURS, JPW, b) for t in self.tables for b in self.epsilons}
        behind = [t for t in self.tables if np.mean([gaps[t, b] for b in self.epsilons]) <= 0]
        yield Measure("tables", tables=len(self.tables), behind=behind, told=all_of(self.tables, behind))
        won = sum(gap > 0 for gap in gaps.values())
        yield Measure("most", won=won, places=len(gaps), share=won / len(gaps))
        best, worst = max(gaps, key=gaps.__getitem__), min(gaps, key=gaps.__getitem__)
        yield Measure("best", gap=gaps[best], table=best[0], epsilon=best[1])
        yield Measure("worst", gap=-gaps[worst], table=worst[0], epsilon=worst[1])
        if not self.few_folds:  # a few folds say little of how folds vary
            yield Measure("spread", spread=self.spread(results, OURS))

    def notes(self) -> tuple[str, ...]:
        return (
            "All nine tables of the thesis; of adult all 45,222 complete records, where the thesis has the 30,162 of "
            "the training part. Both learners are sound.",
        )
