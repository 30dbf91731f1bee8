"""``privet show``: sub-rules, and which rules are listed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from privet.models.model import Model
from privet.models.shown import ShownTree
from privet.models.tree import Tree
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import OneCategory, Threshold

SCHEMA = Schema(
    (Numeric("age", 0, 100, bins=4), Categorical("ward", ("a", "b"))), Categorical("ill", ("no", "yes")), name="toy"
)
NAN = [np.nan] * 2
TREE = Tree.build(
    SCHEMA,
    [Threshold(0, 1), OneCategory(1, 0), None, None, None],
    [1, 3, -1, -1, -1],
    [1, 0, 1, 0, 1],
    counts=np.array([NAN, NAN, [4.0, 70], [90, 10], [20, 40]]),
    draws=[0, 0, 1, 1, 1],
)


def test_a_sub_rule_has_the_support_of_the_rules_below_it() -> None:
    shown = ShownTree.of(TREE, scale=1)
    assert [str(rule) for rule in shown.all_rules] == [
        "ALWAYS yes (support 234, confidence 0.51)",
        "IF age <= 50 THEN no (support 160, confidence 0.69)",
        "IF age <= 50 AND ward = a THEN no (support 100, confidence 0.90)",
        "IF age > 50 THEN yes (support 74, confidence 0.95)",
        "IF age <= 50 AND ward = b THEN yes (support 60, confidence 0.67)",
    ]
    assert set(shown.rules) < set(shown.all_rules)


@pytest.fixture
def rules_of(shared_desk: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    from privet.recipes import saved

    model = Model("exact", TREE)
    monkeypatch.setattr(saved, "read_model", lambda path: (model, "no certificate"))

    def run(*more: object) -> list[str]:
        found = shared_desk.ok("show", shared_desk["tree.json"], "--format", "rules", *more)
        return [line for line in found.stdout.splitlines() if not line.startswith("#")]

    return run


@pytest.mark.parametrize(
    ("options", "many"),
    [
        ((), 3),
        (("--sub-rules",), 5),
        (("--label", "yes"), 2),
        (("--sub-rules", "--label", "yes"), 3),
        (("--about", "ward"), 2),
        (("--about", "ward", "--about", "age", "--label", "no"), 1),
        (("--min-confidence", "0.8"), 2),
        (("--sub-rules", "--min-confidence", "0.8", "--about", "age"), 2),
        (("--sub-rules", "--min-support", "100"), 3),
        (("--about", "ward", "--min-confidence", "0.99"), 0),
    ],
)
def test_filters(rules_of: Any, options: tuple[str, ...], many: int) -> None:
    assert len(rules_of(*options)) == many


def test_filters_of_a_fitted_model(shared_desk: Any) -> None:
    tree = shared_desk["tree.json"]
    facts = json.loads(shared_desk.ok("show", tree, "--json", "--sub-rules", "--label", "Sick").stdout)
    assert {rule["label"] for rule in facts["rules"]} <= {"Sick"}
    every = json.loads(shared_desk.ok("show", tree, "--json", "--sub-rules").stdout)["rules"]
    assert len(every) > facts["leaves"]
    assert every[0]["conditions"] == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--label", "yes"), "add --format rules"),
        (("--sub-rules",), "add --format rules"),
        (("--format", "rules", "--label", "maybe"), "--label must be one of Healthy, Sick, not 'maybe'"),
        (("--format", "rules", "--about", "colour"), "'colour' is no column; they are "),
    ],
)
def test_refusals(shared_desk: Any, options: tuple[str, ...], says: str) -> None:
    found = shared_desk.run("show", shared_desk["tree.json"], *options)
    assert (found.exit_code, says in found.stderr) == (1, True), found.stderr
