"""One public tree for a list of rules: its leaves know what they match, and one noisy histogram counts all rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet
from privet.errors import ParameterError
from privet.models.rules import Condition, Rule
from privet.rules import RuleList, private_retention, private_supports, retention_report
from privet.rules.common_tree import CommonTree
from privet.rules.matching import count_matches
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Tests
from privet.tables.encoding import Codes
from privet.testing import ZeroNoise, use_noise

SCHEMA = Schema(
    (
        Numeric("age", 0, 8, thresholds=(1.5, 3, 6), missing="?"),
        Categorical("ward", ("a", "b", "c")),
        Categorical("sex", ("f", "m")),
    ),
    Categorical("ill", ("no", "yes")),
)
EVERY = [*Tests.binary(SCHEMA), *Tests.multiway(SCHEMA)]
CONDITIONS = [Condition(test, child) for test in EVERY for child in range(test.arity(SCHEMA))]
RULES = st.lists(
    st.builds(Rule, st.lists(st.sampled_from(CONDITIONS), max_size=3).map(tuple), st.sampled_from(("no", "yes"))),
    min_size=1,
    max_size=4,
)
RECORDS = np.array(np.meshgrid(*(range(arity) for arity in SCHEMA.arities))).reshape(3, -1)  # every kind of record
COLUMNS = {
    "age": [[1, 2, 5, 8, "?"][code] for code in RECORDS[0]],
    "ward": ["abc"[code] for code in RECORDS[1]],
    "sex": ["fm"[code] for code in RECORDS[2]],
    "ill": [("no", "yes")[(i // 2) % 2] for i in range(RECORDS.shape[1])],
}


@settings(max_examples=100, deadline=None)
@given(RULES)
def test_every_record_is_in_a_leaf_that_matches_what_it_matches(rules: list[Rule]) -> None:
    listed = RuleList(SCHEMA, tuple(rules))
    tree = CommonTree.of(listed)
    leaves = tree.routes.leaves.tolist()
    place = {leaf: number for number, leaf in enumerate(leaves)}
    ends = [place[int(node)] for node in tree.routes.apply(np.ascontiguousarray(RECORDS, dtype=np.uint8))[:, 0]]
    met = np.array([rule.matches(RECORDS) for rule in rules]).T
    assert (tree.matched[ends] == met).all()
    labels = np.array([("no", "yes").index(one) for one in COLUMNS["ill"]])
    counts = count_matches(SCHEMA, rules, Codes(RECORDS.astype(np.uint8), labels))
    first = tree.first[ends]
    for number in range(len(rules)):
        assert int((first == number).sum()) == int(counts.first[number].sum())


@settings(max_examples=15, deadline=None)
@given(RULES)
def test_without_noise_the_private_figures_are_the_exact_ones(rules: list[Rule]) -> None:
    listed = RuleList(SCHEMA, tuple(rules))
    half = {name: column[::2] for name, column in COLUMNS.items()}
    ledger = privet.Ledger(1)
    with use_noise(ZeroNoise()):
        found = private_retention(privet.protect(COLUMNS, SCHEMA, ledger), half, listed, 1, min_support=0)
    exact = retention_report(COLUMNS, half, listed, min_support=0)
    assert ledger.spent == 1  # once for all rules, however they overlap
    assert found.support_original.tolist() == exact.support_original.tolist()
    assert found.means == pytest.approx(exact.means, nan_ok=True)
    assert found.pattern_accuracy == pytest.approx(exact.pattern_accuracy)


def test_overlapping_rules_pass_the_exact_audit_and_a_planted_fault_does_not() -> None:
    from privet.audit import audit_learner, zoo

    pairs = [pair for pair in zoo() if pair.ways is None][:12]

    def overlapping(data: privet.PrivateDataset) -> RuleList:
        tests = [Condition(test, 0) for test in Tests.binary(data.schema)][:2]
        every = Rule((), data.schema.classes[0])
        return RuleList(data.schema, (every, *(Rule((one,), data.schema.classes[0]) for one in tests)))

    def once(data: privet.PrivateDataset, epsilon: object) -> object:
        return private_supports(data, overlapping(data), epsilon).tolist()

    found = audit_learner(once, pairs)
    assert (found.verdict, found.lower_bound) == ("holds", pytest.approx(1))

    def each_for_all_of_epsilon(data: privet.PrivateDataset, epsilon: object) -> object:
        """Every rule counted by itself for all of epsilon, as if they did not overlap, on a ledger that allows it."""
        free = privet.PrivateDataset(data._engine, privet.Ledger(100))
        rules = overlapping(data)
        return [private_supports(free, RuleList(rules.schema, (rule,)), epsilon).tolist() for rule in rules]

    assert audit_learner(each_for_all_of_epsilon, pairs[:3]).verdict != "holds"


def test_too_many_overlaps_are_refused_before_anything_is_spent() -> None:
    schema = Schema(tuple(Categorical(f"a{i}", ("x", "y")) for i in range(12)), Categorical("ill", ("no", "yes")))
    rules = RuleList(schema, tuple(Rule((Condition(Tests.binary(schema)[i], 0),), "no") for i in range(12)))
    ledger = privet.Ledger(1)
    data = privet.protect({name: ["x"] for name in schema.columns} | {"ill": ["no"]}, schema, ledger)
    with pytest.raises(ParameterError, match="ask about fewer rules at once"):
        private_supports(data, rules, 1)
    assert ledger.spent == 0
