"""Public trees of tests: what is no tree is refused, and the flat arrays say what a walk in Python says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import all_records, leaves_by_hand, schemas, trees

from privet.errors import ParameterError
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Kind, Multiway, OneCategory, Test, Tests, Threshold

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
    "no tree": ("must ascend from 0", lambda: routes(PAIR, [1, -1, -1], ())),
    "no node": ("no nodes", lambda: routes([], [])),
    "a first root that is not the first node": ("must ascend from 0", lambda: routes(PAIR, [1, -1, -1], (1,))),
    "a root twice": ("must ascend from 0", lambda: routes([None, None], [-1, -1], (0, 0))),
    "roots that descend": ("must ascend from 0", lambda: routes([None] * 3, [-1] * 3, (0, 2, 1))),
    "a root beyond the nodes": ("must ascend from 0", lambda: routes([None, None], [-1, -1], (0, 2))),
    "too few entries": ("one entry for each of 3", lambda: routes(PAIR, [1, -1])),
    "too many": ("one entry for each of 3", lambda: routes(PAIR, [1, -1, -1, -1])),
    "two dimensions": ("one entry for each of 1", lambda: Routes(SCHEMA, Tests.of(SCHEMA, [None]), [[-1]], [0])),  # type: ignore[arg-type]
    "a child beyond the nodes": ("out of place", lambda: routes(PAIR, [2, -1, -1])),
    "no child": ("out of place", lambda: routes(PAIR, [-1, -1, -1])),
    "a far child": ("out of place", lambda: routes(PAIR, [2**31 - 1, -1, -1])),
    "its own child": ("out of place", lambda: routes(PAIR, [0, -1, -1])),
    "a circle": ("out of place", lambda: routes(THREE, [1, 0, -1, -1, -1])),
    "two parents": ("exactly once", lambda: routes([*THREE, None, None], [1, 2, -1, -1, -1, -1, -1])),
    "an orphan": ("exactly once", lambda: routes([*PAIR, None], [1, -1, -1, -1])),
    "more children than its test has": ("exactly once", lambda: routes([*PAIR, None], [2, -1, -1, -1])),
    "fewer children": ("out of place", lambda: routes([Multiway(1), None, None], [1, -1, -1])),
    "a child in another tree": (
        "lie in its tree",
        lambda: routes([Threshold(0, 1), None, None, None], [1, -1, -1, -1], (0, 2)),
    ),
    "a root that is a child": ("lie in its tree", lambda: routes(PAIR, [1, -1, -1], (0, 1))),
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
    with pytest.raises(ParameterError, match=r"schema does not have|but the schema has|unknown kind|but its test has"):
        Routes(SCHEMA, table, np.array([1] + [-1] * arity), np.array([0]))


def test_columns_beyond_the_schema_are_refused_and_not_an_accident() -> None:
    for attribute in (3, 4, 99, -7):
        table = Tests.of_columns(SCHEMA, np.array([attribute, -1, -1]), np.zeros(3), np.zeros(3))
        with pytest.raises(ParameterError, match=f"tests attribute {attribute} at node 0, but the schema has 3"):
            Routes(SCHEMA, table, np.array([1, -1, -1]), np.array([0]))


def test_checked_parameters_cannot_change() -> None:
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
    made = Forest(members[0].schema, tuple(members)).routes
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
    made = Forest(members[0].schema, tuple(members)).routes
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
    made = Forest(members[0].schema, tuple(members)).routes
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


@given(forests())
def test_level_order_is_enough(members: list[Tree]) -> None:
    """A tree is known by its tests level by level: its children follow from their number."""
    for tree in members:
        order = [0]
        for node in order:
            order += tree.children(node)
        made, codes = Routes.in_level_order(tree.schema, map(tree.test, order)), all_records(tree.schema)
        assert np.array(order)[made.apply(codes)[:, 0]].tolist() == leaves_by_hand(tree, codes).tolist()


def test_many_records_take_the_same_way() -> None:
    """From some number of records on several threads work, a block each; nobody can tell."""
    made = routes(THREE, [1, 3, -1, -1, -1])
    few = all_records(SCHEMA)
    many = np.tile(few, 100_000 // few.shape[1])
    assert np.array_equal(made.apply(many), np.resize(made.apply(few), (many.shape[1], 1)))
