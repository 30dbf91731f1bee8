"""Exact losses between tables that differ in one unit; and what a choice by the order of rows loses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privet import Unit
from privet.audit import audit_learner
from privet.audit.zoo import Pair, tiny_schema
from privet.privacy.dataset import PrivateDataset
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.tables import frozen

SCHEMA = replace(tiny_schema(), unit=Unit("who", max_rows=2))
NO, YES = ("red", 1.0, False, "no"), ("blue", 9.0, True, "yes")
OTHER = ("red", 9.0, True, "yes")


def pair(name: str, units: dict[str, list[Any]], gone: str) -> Pair:
    """A table, and the same without one unit; the rows of the others come in another order, as databases have it."""
    rows = [(*row, unit) for unit, some in units.items() for row in some]
    rest = [row for row in reversed(rows) if row[-1] != gone]
    return Pair(name, SCHEMA, tuple(rows), tuple(rest))


PAIRS = [
    pair("a unit of many equal rows", {"a": [NO, YES], "b": [YES] * 5, "c": [NO]}, "b"),
    pair("a unit alone", {"b": [NO] * 4}, "b"),
    pair("others have more rows than enter", {"a": [NO, NO, YES, YES], "b": [YES] * 3, "c": [NO] * 3 + [OTHER]}, "b"),
]


def counts(data: PrivateDataset, epsilon: Fraction) -> Any:
    return tuple(data.class_counts(epsilon).items())


def tree(data: PrivateDataset, epsilon: Fraction) -> Any:
    return DiffPID3(max_depth=1).grow(data, epsilon, np.random.default_rng(0))


@pytest.mark.parametrize("learner", [counts, tree], ids=["counts", "tree"])
def test_a_unit_loses_what_is_promised(learner: Any) -> None:
    found = audit_learner(learner, PAIRS)
    assert found.verdict == "holds"
    if learner is counts:
        assert found.lower_bound == pytest.approx(1)  # and not less: two rows at half an epsilon each


def test_a_choice_by_the_order_of_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(ids: Any, rows: Any, most: int, key: bytes) -> Any:
        seen: dict[bytes, int] = {}
        mask = np.zeros(len(ids), dtype=bool)
        for i, unit in enumerate(ids):
            seen[unit.tobytes()] = seen.get(unit.tobytes(), 0) + 1
            mask[i] = seen[unit.tobytes()] <= most
        return mask

    monkeypatch.setattr(frozen, "choose", first)
    found = audit_learner(counts, PAIRS)
    assert found.verdict == "violated"
    assert found.lower_bound > 1.9
    assert found.pair == "others have more rows than enter"


def test_rows_paid_as_if_they_were_one_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.privacy.ledger import Ledger

    monkeypatch.setattr(Ledger, "steps", property(lambda self: self.neighbours.steps))
    found = audit_learner(counts, PAIRS)
    assert found.lower_bound == pytest.approx(2)
