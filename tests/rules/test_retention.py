"""The toy of the thesis's Fig. 5.2, counts against a plain loop, and measures of the user's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet
from privet.errors import BudgetExceeded, ParameterError
from privet.models.rules import Condition, Rule, rules_of
from privet.models.tree import Tree
from privet.rules import (
    Matched,
    RuleList,
    pattern_accuracy,
    pattern_label_distance,
    pattern_support_distance,
    performance,
    private_retention,
    private_supports,
    retention_report,
)
from privet.rules.matching import count_matches
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold
from privet.tables.encoding import encode_features
from privet.testing import ZeroNoise, use_noise

TOY = Schema((Categorical("A0", ("a0", "a1", "a2")), Categorical("A1", ("b0", "b1"))), Categorical("C", ("c0", "c1")))
NAMES = ("A0", "A1", "C")


def table(*rows: str) -> dict[str, list[str]]:
    return dict(zip(NAMES, map(list, zip(*(row.split() for row in rows), strict=True)), strict=True))


X = table("a0 b0 c0", "a0 b0 c1", "a0 b0 c0", "a1 b1 c1", "a2 b0 c0", "a2 b1 c1")
Z = table("a0 b0 c0", "a0 b1 c1", "a1 b0 c0", "a2 b1 c1", "a2 b0 c0", "a2 b0 c1")
TREE = Tree.build(TOY, [Multiway(0), None, None, Multiway(1), None, None], [1, -1, -1, 4, -1, -1], [0, 0, 1, 0, 0, 1])


def test_the_toy_of_the_thesis() -> None:
    report = retention_report(X, Z, TREE, min_support=0)
    assert [str(rule.label) for rule in report.patterns] == ["c0", "c1", "c0", "c1"]
    assert report.psd == pytest.approx(0.083, abs=0.0005)
    assert report.pld == pytest.approx(0.3405, abs=0.00005)
    assert report.pattern_accuracy == pytest.approx(1 / 3)
    assert report.accuracy_anonymised == pytest.approx(0.5)  # what the thesis's Table 5.4 prints
    assert report.re == pytest.approx((1 / 3 + 0 + 1 + 0) / 4)
    rule, worst = report.most_changed(1)[0]
    assert rule.describe(TOY).startswith("IF A0 = a1")
    assert worst == 1
    assert pattern_accuracy(X, Z, TREE) == report.pattern_accuracy
    assert pattern_support_distance(X, Z, TREE) == report.psd
    assert pattern_label_distance(X, Z, TREE, min_support=0) == report.pld


def test_patterns_of_few_records_are_left_out_of_label_distances() -> None:
    report = retention_report(X, Z, TREE)
    assert math.isnan(report.pld)
    assert retention_report(X, Z, TREE, min_support=3).pld == pytest.approx(0.0286, abs=0.0001)


def test_a_pattern_that_is_gone_and_one_that_never_was() -> None:
    gone = retention_report(X, table("a2 b0 c0"), TREE, min_support=0)
    assert gone.by_pattern["PLD"].tolist() == [1, 1, 0, 1]
    never = retention_report(table("a2 b0 c0"), X, TREE, min_support=0)
    assert np.isnan(never.by_pattern["PLD"]).tolist() == [True, True, False, True]
    assert np.isnan(never.by_pattern["RE"]).tolist() == [True, True, False, True]


def test_a_measure_of_the_users_own() -> None:
    def younger(rule: Rule, x: Matched, z: Matched) -> float:
        assert x.features.shape == (2, x.support)
        assert np.bincount(z.labels, minlength=2).tolist() == z.class_counts.tolist()
        return float((x.features[1] == 0).sum() - (z.features[1] == 0).sum())

    report = retention_report(X, Z, TREE, measures={"b0": younger})
    assert report.by_pattern["b0"].tolist() == [2, -1, -1, 0]
    assert report.most_changed(1, by="b0")[0][1] == 2
    with pytest.raises(ParameterError, match="PSD, PLD, RE, b0"):
        report.most_changed(by="x")


def test_a_report_prints_its_path() -> None:
    report = retention_report(X, Z, TREE, min_support=0)
    assert "NOT PRIVATE" in str(report)
    assert report.to_dict()["patterns"][0]["support"] == [3, 2]


def test_models_beside_patterns() -> None:
    w = table("a0 b1 c0", "a1 b1 c0", "a2 b0 c1")
    leaf = Tree.build(TOY, [None], [-1], [0])
    report = retention_report(X, Z, TREE, models=(TREE, leaf), test=w)
    assert report.performances is not None
    ours, theirs = report.performances
    assert ours.accuracy == pytest.approx(1 / 3)  # by hand; the thesis's Table 5.4 prints 0.67
    assert (theirs.accuracy, theirs.auc) == (pytest.approx(2 / 3), 0.5)
    assert theirs.f1 == pytest.approx((0.8 + 0) / 2)
    assert report.to_dict()["performance"][1]["auc"] == 0.5
    assert "a model of the anonymised table: accuracy 0.6667" in str(report)
    with pytest.raises(ParameterError, match="go together"):
        retention_report(X, Z, TREE, test=w)


def test_overlapping_patterns_are_read_as_a_list() -> None:
    both = RuleList(TOY, (Rule((), "c0"), Rule((Condition(OneCategory(0, 1), 0),), "c1")))
    assert retention_report(X, X, both).accuracy_original == 0.5
    turned = RuleList(TOY, both.rules[::-1])
    assert retention_report(X, X, turned).accuracy_original == pytest.approx(4 / 6)
    unlabelled = RuleList(TOY, (Rule((), None),))
    assert retention_report(X, X, unlabelled).accuracy_original == 0
    assert retention_report(X, X, unlabelled).psd == 0


MIXED = Schema((Numeric("x", 0, 8, bins=8, missing="?"), Categorical("c", ("p", "q", "r"))), TOY.label)
conditions = st.one_of(
    st.builds(Condition, st.builds(Threshold, st.just(0), st.integers(0, 7)), st.integers(0, 1)),
    st.builds(Condition, st.builds(Threshold, st.just(1), st.integers(0, 1)), st.integers(0, 1)),
    st.builds(Condition, st.builds(OneCategory, st.just(1), st.integers(0, 2)), st.integers(0, 1)),
    st.builds(Condition, st.just(Multiway(1)), st.integers(0, 2)),
    st.builds(Condition, st.just(Multiway(0)), st.integers(0, 8)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(conditions, max_size=5), max_size=8), st.integers(0, 200), st.integers(0, 2**32 - 1))
def test_counts_are_those_of_a_plain_loop(found: list[list[Condition]], size: int, seed: int) -> None:
    from privet.tables.encoding import Codes

    random = np.random.default_rng(seed)
    features = np.array([random.integers(0, a, size) for a in MIXED.arities], dtype=np.uint8)
    codes = Codes(features, random.integers(0, 2, size).astype(np.uint8))
    rules = [Rule(tuple(some), "c0") for some in found]
    matches = count_matches(MIXED, rules, codes)
    free = np.ones(size, dtype=bool)
    for rule, counts, first in zip(rules, matches.counts, matches.first, strict=True):
        met = rule.matches(features)
        assert np.bincount(codes.labels[met], minlength=2).tolist() == counts.tolist()
        assert np.bincount(codes.labels[met & free], minlength=2).tolist() == first.tolist()
        free &= ~met


def test_protected_records_are_refused() -> None:
    data = privet.protect(X, TOY, privet.Ledger(1))
    for first, second in ((data, Z), (X, data)):
        with pytest.raises(ParameterError, match="private_retention"):
            retention_report(first, second, TREE)
    with pytest.raises(ParameterError, match="protected"):
        performance(TREE, data)
    assert data.ledger.spent == 0


def test_the_private_form_spends_once_and_agrees_without_noise() -> None:
    ledger = privet.Ledger(1)
    data = privet.protect(X, TOY, ledger)
    with use_noise(ZeroNoise()):
        report = private_retention(data, Z, TREE, 1, min_support=0)
        with pytest.raises(BudgetExceeded):
            private_supports(data, TREE, 1)
    exact = retention_report(X, Z, TREE, min_support=0)
    assert ledger.spent == 1
    assert (report.psd, report.pld, report.re) == pytest.approx((exact.psd, exact.pld, exact.re))
    assert report.pattern_accuracy == pytest.approx(exact.pattern_accuracy)
    assert "NOT PRIVATE" not in str(report)
    assert report.support_original.tolist() == exact.support_original.tolist()


def test_the_private_form_refuses_what_is_not_public() -> None:
    data = privet.protect(X, TOY, privet.Ledger(1))
    with pytest.raises(ParameterError, match="published table"):
        private_retention(data, data, TREE, 1)
    with pytest.raises(ParameterError, match="protected table"):
        private_supports(X, TREE, 1)  # type: ignore[arg-type]
    assert data.ledger.spent == 0


def test_private_supports_pass_the_exact_audit() -> None:
    from privet.audit import audit_learner, zoo

    def supports(data: privet.PrivateDataset, epsilon: object) -> object:
        tree = Tree.build(data.schema, [Multiway(0), *[None] * data.schema.arities[0]],
                          [1, *[-1] * data.schema.arities[0]], [0] * (1 + data.schema.arities[0]))  # fmt: skip
        return private_supports(data, tree, epsilon).tolist()

    found = audit_learner(supports, [pair for pair in zoo() if pair.ways is None][:12])
    assert found.verdict == "holds"
    assert found.lower_bound == pytest.approx(1)

    def with_the_true_number(data: privet.PrivateDataset, epsilon: object) -> object:
        return supports(data, epsilon), len(data._engine._labels)  # type: ignore[attr-defined]

    assert audit_learner(with_the_true_number, zoo()[:3]).verdict != "holds"


def test_rules_of_and_supports_go_by_the_same_order() -> None:
    data = privet.protect(X, TOY, privet.Ledger(1))
    with use_noise(ZeroNoise()):
        found = private_supports(data, TREE, 1)
    features = encode_features(TOY, X)
    assert found.sum(axis=1).tolist() == [int(rule.matches(features).sum()) for rule in rules_of(TREE)]
