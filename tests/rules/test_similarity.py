"""Figures of the thesis's chapter 4, and what a similarity must obey."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.models.rules import Condition, Rule
from privet.rules import RuleList, compare_rules
from privet.rules.similarity import element_texts, encode, jaccard, lower_bound, possible_elements, upper_bound
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Threshold

WBC = (
    "Clump Thickness",
    "Uniformity of Cell Size",
    "Uniformity of Cell Shape",
    "Marginal Adhesion",
    "Single Epithelial Cell Size",
    "Bare Nuclei",
    "Bland Chromatin",
    "Normal Nucleoli",
    "Mitoses",
)
SCHEMA = Schema(
    tuple(Numeric(name, 1, 10, integer=True) for name in WBC), Categorical("Class", ("Benign", "Malignant"))
)


def rule(label: str | None, *conditions: tuple[int, str, float]) -> Rule:
    cuts = SCHEMA.attributes[0].cuts.tolist()  # type: ignore[union-attr]
    met = (Condition(Threshold(a, cuts.index(cut)), "<=>".index(sign) // 2) for a, sign, cut in conditions)
    return Rule(tuple(met), label)


# Table 4.1.
TABLE = RuleList(
    SCHEMA,
    (
        rule("Benign", (0, "<", 5.5), (1, "<", 2.5), (5, "<", 4.5)),
        rule("Benign", (1, ">", 2.5), (2, "<", 2.5)),
        rule("Malignant", (0, ">", 6.5), (1, ">", 2.5), (1, "<", 4.5), (2, ">", 2.5), (5, ">", 2.5), (8, "<", 1.5)),
        rule("Malignant", (1, ">", 4.5), (2, ">", 2.5), (6, ">", 4.5)),
    ),
)


def test_table_4_2() -> None:
    assert element_texts(TABLE) == ["110001000a", "011000000a", "111001001b", "011000100b"]
    assert element_texts(TABLE.without_labels()) == ["110001000", "011000000", "111001001", "011000100"]


def test_the_bound_of_the_thesis() -> None:
    assert possible_elements(5, 5, 2) == 62
    assert lower_bound(100, 62) == pytest.approx(0.61, abs=0.005)


def test_comparing() -> None:
    other = RuleList(SCHEMA, (TABLE[0], rule("Malignant", (1, "<", 2.5), (2, "<", 2.5))))
    found = compare_rules(TABLE, other)
    assert found.index == pytest.approx(1 / 5)
    assert found.upper == pytest.approx(2 / 4)
    assert found.lower == 0
    assert compare_rules(TABLE, other, labels=False).index == pytest.approx(2 / 4)
    facts = found.to_dict()
    assert [row["label"] for row in facts["only_second"]] == ["Malignant"]
    assert facts["shared"] == [{"attributes": sorted(WBC[a] for a in (0, 1, 5)), "label": "Benign"}]


def test_columns_of_one_attribute() -> None:
    renamed = dict.fromkeys(WBC[:3], "cells")
    assert ("cells", "Bare Nuclei") not in encode(TABLE)
    assert (frozenset({"cells"}), "Benign") in encode(TABLE, attribute_of=renamed)


def test_other_attributes_are_refused() -> None:
    other = RuleList(Schema(SCHEMA.attributes[1:], SCHEMA.label), ())
    with pytest.raises(ParameterError, match="Clump Thickness"):
        compare_rules(TABLE, other)


def test_empty_lists_and_a_single_leaf() -> None:
    nothing = RuleList(SCHEMA, ())
    assert compare_rules(nothing, nothing).index == 1
    assert compare_rules(nothing, TABLE).index == 0
    leaf = RuleList(SCHEMA, (Rule((), "Benign"),))
    assert compare_rules(leaf, leaf).index == 1
    assert compare_rules(leaf, leaf).possible == 2


elements = st.frozensets(st.tuples(st.frozensets(st.integers(0, 3), min_size=1), st.sampled_from("ab")), max_size=30)


@given(elements, elements, elements)
def test_the_triangle_inequality_that_holds(s: frozenset, t: frozenset, u: frozenset) -> None:
    assert jaccard(s, u) >= jaccard(s, t) + jaccard(t, u) - 1 - 1e-12


def test_the_triangle_inequality_of_the_thesis_does_not_hold() -> None:
    same = frozenset({1})
    assert not jaccard(same, same) >= jaccard(same, same) + jaccard(same, same)


@given(elements, elements)
def test_the_bounds_hold(s: frozenset, t: frozenset) -> None:
    assert upper_bound(len(s), len(t)) >= jaccard(s, t) >= lower_bound(len(s) + len(t), possible_elements(4, 4, 2))
    assert jaccard(s, t) == jaccard(t, s)
    assert (jaccard(s, t) == 1) == (s == t)
