"""How similar two fits of one table are: what noise alone changes in a model. NOT PRIVATE, like every evaluation.

Friedman and Schuster name it as an open problem. Two measures: how often both models predict the same for records that
neither has seen, and the Jaccard index of their rules, as :mod:`privet.rules.similarity` has it: a rule is the set of
attributes that it tests, with its label. Numbers that rules predict are noisy, so they are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.evaluation.fold_scores import AnyFold, NumberFold, mean_of_defined
from privet.models.released import Released


@dataclass(frozen=True)
class Stability:
    """Of two fits, or the mean over such pairs. None where a measure is undefined."""

    agreement: float | None
    """The share of records with the same predicted class; of numbers, the correlation of the predictions."""
    rules: float | None
    """The Jaccard index of the rules; models without trees have none."""


def compare_fits(pairs: Sequence[tuple[AnyFold, AnyFold]]) -> Stability:
    """The mean over pairs of fits to the same records."""
    found = [_of_pair(first, second) for first, second in pairs]
    return Stability(mean_of_defined(one.agreement for one in found), mean_of_defined(one.rules for one in found))


def _of_pair(first: AnyFold, second: AnyFold) -> Stability:
    numbers = isinstance(first, NumberFold)
    agreement = _correlation if numbers else _agreement
    one, other = (_rules(fold.trees, numbers) for fold in (first, second))
    rules = len(one & other) / len(one | other) if one and other else None
    return Stability(agreement(first.predicted, second.predicted), rules)


def _rules(trees: Released, numbers: bool) -> set[tuple[frozenset[int], Any]]:
    return {(rule.attributes, None if numbers else rule.label) for rule in trees.rules()}


def _agreement(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    return float((first == second).mean())


def _correlation(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float | None:
    """None where a model predicts one number only."""
    return float(np.corrcoef(first, second)[0, 1]) if np.ptp(first) and np.ptp(second) else None
