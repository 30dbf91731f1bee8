"""Whether an anonymised table keeps the patterns of the original (Fletcher 2017, chapter 5).

NOT PRIVATE: both tables are counted exactly. It is for an owner who holds both, and for tables that need no protection;
its results about private records must not be released. :mod:`privet.rules.private` has a private form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.evaluation.metrics import Performance, performance
from privet.models.rules import Rule
from privet.privacy.dataset import PrivateDataset
from privet.rules.matching import Ints, Matched, count_matches
from privet.rules.rulelist import RuleList, rule_list
from privet.schema import Schema
from privet.tables.encoding import Codes, encode

Floats = npt.NDArray[np.float64]
Measure = Callable[[Rule, Matched, Matched], float]
"""A user-defined measure of a pattern, its matching records in x and those in z. NaN leaves the pattern out."""

MIN_SUPPORT = 5  # a chi-squared distance between fewer labels means little (thesis, 5.5.3)


# ---- one pattern ----------------------------------------------------------------------------------------------------


def support_distance(rule: Rule, x: Matched, z: Matched) -> float:
    """The change in the number of matching records, relative to all records of x."""
    return abs(x.support - z.support) / x.total if x.total else math.nan


def relative_error(rule: Rule, x: Matched, z: Matched) -> float:
    """The same, relative to the matching records of x; NaN if there are none."""
    return abs(x.support - z.support) / x.support if x.support else math.nan


def label_distance(rule: Rule, x: Matched, z: Matched) -> float:
    """The chi-squared distance of the label distributions; 1 if none match in z, NaN if none match in x."""
    return chi_squared(x.class_counts, z.class_counts)


def chi_squared(x: npt.NDArray[Any], z: npt.NDArray[Any]) -> float:
    """Half the sum of (f - g)^2 / (f + g) over the shares of two histograms.

    >>> round(chi_squared(np.array([2, 1]), np.array([1, 1])), 4)
    0.0286
    """
    before, after = float(x.sum()), float(z.sum())
    if before <= 0:
        return math.nan
    if after <= 0:
        return 1.0
    f, g = x / before, z / after
    both = f + g
    return float(np.divide((f - g) ** 2, both, out=np.zeros(len(both)), where=both > 0).sum() / 2)


MEASURES: dict[str, Measure] = {"PSD": support_distance, "PLD": label_distance, "RE": relative_error}


# ---- all patterns ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RetentionReport:
    """How well z retains the patterns of x. 0 is perfect retention in every measure.

    ``by_pattern`` has a value for each pattern and measure, NaN where a pattern was left out.
    """

    patterns: RuleList
    accuracy_original: float
    accuracy_anonymised: float
    support_original: Ints
    support_anonymised: Ints
    by_pattern: Mapping[str, Floats]
    min_support: float
    records: tuple[int, int]
    notes: tuple[str, ...] = field(default=("NOT PRIVATE: both tables were counted exactly.",))
    performances: tuple[Performance, Performance] | None = None
    """Accuracy, F1 and AUC of a model of x and one of z on unseen records, if these were given."""

    @property
    def pattern_accuracy(self) -> float:
        return abs(self.accuracy_original - self.accuracy_anonymised)

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over its patterns; NaN where there are none."""
        return {name: _mean(values) for name, values in self.by_pattern.items()}

    @property
    def psd(self) -> float:
        return self.means["PSD"]

    @property
    def pld(self) -> float:
        return self.means["PLD"]

    @property
    def re(self) -> float:
        return self.means["RE"]

    def most_changed(self, number: int = 5, by: str = "PLD") -> list[tuple[Rule, float]]:
        """The patterns that changed most by a measure, the worst first."""
        if by not in self.by_pattern:
            raise ParameterError(f"by must be one of {', '.join(self.by_pattern)}, not {by!r}")
        values = self.by_pattern[by]
        order = sorted(np.flatnonzero(~np.isnan(values)).tolist(), key=lambda i: -values[i])
        return [(self.patterns[i], float(values[i])) for i in order[:number]]

    def to_dict(self) -> dict[str, Any]:
        rows = [
            {
                "rule": rule.describe(self.patterns.schema),
                "support": [int(self.support_original[i]), int(self.support_anonymised[i])],
                **{name: float(values[i]) for name, values in self.by_pattern.items()},
            }
            for i, rule in enumerate(self.patterns)
        ]
        return {
            "pattern_accuracy": self.pattern_accuracy,
            "accuracy_original": self.accuracy_original,
            "accuracy_anonymised": self.accuracy_anonymised,
            "means": self.means,
            "performance": None if self.performances is None else [asdict(each) for each in self.performances],
            "min_support": self.min_support,
            "notes": list(self.notes),
            "patterns": rows,
        }

    def __str__(self) -> str:
        lines = [f"pattern accuracy {self.pattern_accuracy:.4f} "
                 f"({self.accuracy_original:.4f} before, {self.accuracy_anonymised:.4f} after)"]  # fmt: skip
        lines += [f"{name} {value:.4f}" for name, value in self.means.items()]
        for whose, each in zip(("original", "anonymised"), self.performances or (), strict=False):
            text = ", ".join(f"{name} {value:.4f}" for name, value in asdict(each).items() if value is not None)
            lines.append(f"a model of the {whose} table: {text}")
        lines.append("changed most by label:")
        lines += [f"  {value:.3f}  {rule.describe(self.patterns.schema)}" for rule, value in self.most_changed(3)]
        return "\n".join([*lines, *self.notes])


def retention_report(
    original: Any,
    anonymised: Any,
    patterns: Any,
    *,
    min_support: float = MIN_SUPPORT,
    measures: Mapping[str, Measure] | None = None,
    models: tuple[Any, Any] | None = None,
    test: Any = None,
) -> RetentionReport:
    """Measure what an anonymised table retains of the original's patterns. NOT PRIVATE: it counts both exactly.

    Parameters
    ----------
    original, anonymised : tables with labels, as a fit takes them
    patterns : the rules of a model, or a RuleList
        A record is predicted by the first pattern that it matches; matching none is an error.
    min_support : the fewest matching records of the original for a pattern's label distance
    measures : more measures by name: functions of (rule, records of x, records of z), see :class:`Matched`
    models, test : a model of x, one of z, and labelled records to test both on: adds accuracy, F1 and AUC

    >>> from privet.datasets.clinic import clinic
    >>> from privet.estimators.references import SklearnTreeReference
    >>> from privet.publishing import uniform_noise
    >>> schema, table = clinic(1000)
    >>> changed = uniform_noise(table, schema, 0.2, random=np.random.default_rng(0))
    >>> report = retention_report(table, changed.columns, SklearnTreeReference(schema, 3).fit(table))
    >>> 0 < report.psd < 0.2 and report.pattern_accuracy < 0.3
    True
    """
    rules = rule_list(patterns)
    if (models is None) != (test is None):
        raise ParameterError("models and test go together: two models, and records to test them on")
    x, z = _codes(rules.schema, original, "original"), _codes(rules.schema, anonymised, "anonymised")
    before, after = count_matches(rules.schema, rules.rules, x), count_matches(rules.schema, rules.rules, z)
    chosen = MEASURES | dict(measures or {})
    by_pattern = {name: np.full(len(rules), np.nan) for name in chosen}
    for i, rule in enumerate(rules):
        here = Matched(rule, x, before.counts[i], before.records)
        there = Matched(rule, z, after.counts[i], after.records)
        for name, measure in chosen.items():
            if name != "PLD" or here.support >= min_support:
                by_pattern[name][i] = measure(rule, here, there)
    return RetentionReport(
        rules,
        accuracy(rules, before.first, before.records),
        accuracy(rules, after.first, after.records),
        before.counts.sum(axis=1),
        after.counts.sum(axis=1),
        by_pattern,
        min_support,
        (before.records, after.records),
        performances=None if models is None else (performance(models[0], test), performance(models[1], test)),
    )


def pattern_accuracy(original: Any, anonymised: Any, patterns: Any) -> float:
    """The change in the accuracy of the patterns from x to z. NOT PRIVATE."""
    return retention_report(original, anonymised, patterns).pattern_accuracy


def pattern_support_distance(original: Any, anonymised: Any, patterns: Any) -> float:
    """PSD: the mean change of support, relative to the records of x. NOT PRIVATE."""
    return retention_report(original, anonymised, patterns).psd


def pattern_label_distance(original: Any, anonymised: Any, patterns: Any, *, min_support: float = MIN_SUPPORT) -> float:
    """PLD: the mean chi-squared distance of the patterns' label distributions. NOT PRIVATE."""
    return retention_report(original, anonymised, patterns, min_support=min_support).pld


def accuracy(rules: RuleList, first: npt.NDArray[Any], records: float) -> float:
    """The share of records that have the label of their pattern; 0 for an empty table."""
    values = [str(value) for value in rules.schema.classes]
    right = sum(
        float(first[i, values.index(str(rule.label))]) for i, rule in enumerate(rules) if rule.label is not None
    )
    return right / records if records > 0 else 0.0


def _codes(schema: Schema, table: Any, what: str) -> Codes:
    if isinstance(table, PrivateDataset):
        raise ParameterError(
            f"{what} is a protected table, and this measure would count it without noise; "
            "privet.rules.private_retention spends an epsilon on it instead"
        )
    return table if isinstance(table, Codes) else encode(schema, table)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan
