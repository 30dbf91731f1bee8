"""Public trees of tests: what is no tree is refused, and the flat arrays say what a walk in Python says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, leaves_by_hand, schemas, trees

from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Kind, Multiway, OneCategory, Test, Tests, Threshold
from privet.trees.tree import Tree

SCHEMA = Schema(
    (Numeric("x", 0, 4, bins=4), Categorical("c", ("u", "v", "w")), Categorical("one", ("z",))),
    Categorical("y", ("a", "b")),
)
PAIR: list[Test | None] = [Threshold(0, 1), None, None]
THREE: list[Test | None] = [Threshold(0, 1), OneCategory(1, 2), None, None, None]


def routes(tests: list[Test | None], first_child: list[int], roots: tuple[int, ...] = (0,)) -> Routes:
    return Routes(SCHEMA, Tests.of(SCHEMA, tests), np.array(first_child), np.array(roots))


def test_what_is_a_tree() -> None:
    assert len(routes(PAIR, [1, -1, -1])) == 1
    assert len(routes(THREE, [1, 3, -1, -1, -1])) == 1
    assert len(routes([*PAIR, *PAIR], [1, -1, -1, 4, -1, -1], (0, 3))) == 2
    assert len(routes([None], [7])) == 1  # nobody follows the pointer of a leaf


STRUCTURES: dict[str, tuple[str, Any]] = {
    "no tree": ("roots must ascend", lambda: routes(PAIR, [1, -1, -1], ())),
    "no node": ("roots must ascend", lambda: routes([], [])),
    "a first root that is not the first node": ("roots must ascend", lambda: routes(PAIR, [1, -1, -1], (1,))),
    "a root twice": ("roots must ascend", lambda: routes([None, None], [-1, -1], (0, 0))),
    "roots that descend": ("roots must ascend", lambda: routes([None] * 3, [-1] * 3, (0, 2, 1))),
    "a root beyond the nodes": ("roots must ascend", lambda: routes([None, None], [-1, -1], (0, 2))),
    "too few entries": ("one entry for each of 3", lambda: routes(PAIR, [1, -1])),
    "too many": ("one entry for each of 3", lambda: routes(PAIR, [1, -1, -1, -1])),
    "two dimensions": ("one entry for each of 1", lambda: Routes(SCHEMA, Tests.of(SCHEMA, [None]), [[-1]], [0])),  # type: ignore[arg-type]
    "a child beyond the nodes": ("children must follow", lambda: routes(PAIR, [2, -1, -1])),
    "no child": ("children must follow", lambda: routes(PAIR, [-1, -1, -1])),
    "a far child": ("children must follow", lambda: routes(PAIR, [2**31 - 1, -1, -1])),
    "its own child": ("children must follow", lambda: routes(PAIR, [0, -1, -1])),
    "a circle": ("children must follow", lambda: routes(THREE, [1, 0, -1, -1, -1])),
    "two parents": ("exactly one parent", lambda: routes([*THREE, None, None], [1, 2, -1, -1, -1, -1, -1])),
    "an orphan": ("exactly one parent", lambda: routes([*PAIR, None], [1, -1, -1, -1])),
    "more children than its test has": ("exactly one parent", lambda: routes([*PAIR, None], [2, -1, -1, -1])),
    "fewer children": ("children must follow", lambda: routes([Multiway(1), None, None], [1, -1, -1])),
    "a child in another tree": (
        "within its tree",
        lambda: routes([Threshold(0, 1), None, None, None], [1, -1, -1, -1], (0, 2)),
    ),
    "a root that is a child": ("within its tree", lambda: routes(PAIR, [1, -1, -1], (0, 1))),
}


@pytest.mark.parametrize(("says", "build"), STRUCTURES.values(), ids=STRUCTURES)
def test_what_is_none(says: str, build: Any) -> None:
    with pytest.raises(ParameterError, match=says):
        build()


@pytest.mark.parametrize(
    "column",
    [
        (3, Kind.MULTIWAY, 0, 3),  # no such attribute
        (99, Kind.THRESHOLD, 0, 2),
        (0, Kind.THRESHOLD, 3, 2),  # three cuts between four bins
        (0, Kind.THRESHOLD, -1, 2),
        (1, Kind.ONE_CATEGORY, 3, 2),
        (1, Kind.ONE_CATEGORY, -1, 2),
        (1, Kind.MULTIWAY, 1, 3),
        (1, Kind.MULTIWAY, 0, 2),  # three values, two children
        (0, Kind.THRESHOLD, 1, 3),
        (1, 3, 0, 2),  # no such kind
        (2, Kind.THRESHOLD, 0, 2),  # one value has no cut
    ],
)
def test_a_test_that_the_schema_lacks(column: tuple[int, int, int, int]) -> None:
    """Whatever the structure says: a code beyond the schema would send a record beyond the leaves."""
    attribute, kind, cut, arity = column
    table = Tests(
        np.array([attribute] + [-1] * arity, np.int32),
        np.array([kind] + [0] * arity, np.int8),
        np.array([cut] + [0] * arity, np.int32),
        np.array([arity] + [0] * arity, np.int32),
    )
    with pytest.raises(ParameterError, match="the schema does not have"):
        Routes(SCHEMA, table, np.array([1] + [-1] * arity), np.array([0]))


def test_columns_beyond_the_schema_are_refused_and_not_an_accident() -> None:
    for attribute in (3, 4, 99, -7):
        columns = np.array([attribute, -1, -1]), np.zeros(3), np.zeros(3)
        table = Tests.of_columns(SCHEMA, *columns)
        if attribute < 0:  # a leaf, as every negative attribute
            assert Routes(SCHEMA, table.take(np.array([0])), np.array([1]), np.array([0])).leaves.tolist() == [0]
            continue
        with pytest.raises(ParameterError, match="the schema does not have"):
            Routes(SCHEMA, table, np.array([1, -1, -1]), np.array([0]))


def test_what_was_checked_cannot_change() -> None:
    first_child, roots = np.array([1, -1, -1], np.int32), np.array([0], np.int32)
    made = Routes(SCHEMA, Tests.of_columns(SCHEMA, np.array([0, -1, -1]), np.zeros(3), np.zeros(3)), first_child, roots)
    first_child[0] = roots[0] = 99
    assert made.first_child[0] == 1
    assert made.roots[0] == 0
    taken = made.tree(0)
    for column in (made.first_child, made.roots, *vars(made.tests).values(), *vars(taken.tests).values()):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 7


# -- the arrays against a walk ----------------------------------------------------------------------------------------


@st.composite
def forests(draw: Any) -> list[Tree]:
    schema = draw(schemas())
    return draw(st.lists(trees(schema), min_size=1, max_size=4))


@given(forests())
def test_parents_levels_leaves_and_owners(members: list[Tree]) -> None:
    made = Routes.of_trees(members[0].schema, members)
    first = 0
    leaves, by_level = [], dict[int, list[int]]()
    for t, tree in enumerate(members):
        assert made.roots[t] == first
        assert made.nodes_of(t).tolist() == list(range(first, first + len(tree)))
        assert made.parent[first] == -1
        for node, depth in tree.walk():
            assert made.owner[first + node] == t
            assert made.level[first + node] == depth
            assert [made.parent[first + child] for child in tree.children(node)] == [first + node] * len(
                tree.children(node)
            )
            assert made.tests.arity[first + node] == len(tree.children(node))
            leaves += [first + node] if tree.test(node) is None else []
            by_level.setdefault(depth, []).append(first + node)
        first += len(tree)
    assert made.leaves.tolist() == sorted(leaves)
    assert made.is_leaf.tolist() == [node in set(leaves) for node in range(first)]
    assert [nodes.tolist() for nodes in made.levels] == [sorted(by_level[d]) for d in range(len(by_level))]
    assert made.descent.depths.tolist() == [tree.depth for tree in members]


@given(forests())
def test_one_of_the_trees_alone(members: list[Tree]) -> None:
    made = Routes.of_trees(members[0].schema, members)
    for t, tree in enumerate(members):
        alone = made.tree(t)
        assert (len(alone), len(alone.tests)) == (1, len(tree))
        inner = ~tree.is_leaf
        assert np.array_equal(alone.first_child[inner], tree.first_child[inner])
        for node, test in enumerate(alone.tests):
            assert tree.test(node) == (None if tree.is_leaf[node] else test)


@given(forests())
def test_a_leaf_of_the_descent_leads_to_itself(members: list[Tree]) -> None:
    """What the compiled walk relies on: it takes as many steps as the deepest tree has, whoever has arrived."""
    made = Routes.of_trees(members[0].schema, members)
    way, codes = made.descent, all_records(made.schema)
    assert (way.attribute >= 0).all()
    for record in codes.T[:20]:
        for t, tree in enumerate(members):
            node = int(way.roots[t])
            for _ in range(int(way.depths.max())):
                code, kind, cut = int(record[way.attribute[node]]), way.kind[node], way.cut[node]
                side = code if kind == Kind.MULTIWAY else int(code > cut if kind == Kind.THRESHOLD else code != cut)
                node = int(way.first_child[node]) + side
            assert node - way.roots[t] == leaves_by_hand(tree, record[:, None])[0]
