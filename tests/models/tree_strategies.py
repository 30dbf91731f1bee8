"""Random schemas and trees, every record they can tell apart, and a reference walk in plain Python."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from privet.models.tree import Tree
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold

VALUES = ("a", 'b "x"', "c\\", "d&<>", "e\n#;", True, 2.5, "é")  # what escaping must survive
CLASSES = ("no", "yes", ">50K")


@st.composite
def attributes(draw: Any, name: str) -> Numeric | Categorical:
    if draw(st.booleans()):
        cuts = sorted(draw(st.sets(st.integers(1, 9), min_size=1, max_size=3)))
        return Numeric(name, 0, 10, thresholds=tuple(map(float, cuts)), missing=draw(st.sampled_from([None, "?"])))
    values = draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=4, unique=True))
    return Categorical(name, tuple(values))


@st.composite
def schemas(draw: Any) -> Schema:
    names = ["age", "sex | job", "k%"][: draw(st.integers(1, 3))]
    classes = CLASSES[: draw(st.integers(2, 3))]
    return Schema(tuple(draw(attributes(name)) for name in names), Categorical("class", classes))


def tests_of(schema: Schema) -> list[Any]:
    """Every test that a node may carry."""
    found: list[Any] = []
    for a, attribute in enumerate(schema.attributes):
        if isinstance(attribute, Numeric):
            found += [Threshold(a, cut) for cut in range(attribute.arity - 1)]
        else:
            found += [OneCategory(a, value) for value in range(attribute.arity)]
        found.append(Multiway(a))
    return found


@st.composite
def trees(draw: Any, schema: Schema | None = None, max_depth: int = 4, counted: bool | None = None) -> Tree:
    """A random tree. Counts are released at some nodes; with ``counted`` at every leaf, else at none if False."""
    schema = schema or draw(schemas())
    possible = tests_of(schema)
    tests: list[Any] = [None]
    depths, first_child = [0], [-1]
    level = [0]
    while level:
        # From either end, so that children do not only come in the order of levels.
        node = level.pop(0 if draw(st.booleans()) else -1)
        if depths[node] >= max_depth or len(tests) > 40 or draw(st.integers(0, 2)) == 0:
            continue
        tests[node] = draw(st.sampled_from(possible))
        first_child[node] = len(tests)
        born = range(len(tests), len(tests) + tests[node].arity(schema))
        tests += [None] * len(born)
        depths += [depths[node] + 1] * len(born)
        first_child += [-1] * len(born)
        level += born
    classes, nodes = schema.n_classes, len(tests)
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=nodes, max_size=nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = rng.integers(-5, 60, size=(nodes, classes)).astype(float)
    if counted is not True:
        counts[rng.random(nodes) < (0.5 if counted is None else 2)] = np.nan
    draws = np.where(np.isnan(counts).any(axis=1), 0, rng.integers(0, 3, nodes))
    proba = rng.dirichlet(np.ones(classes), nodes)
    return Tree.build(schema, tests, first_child, labels, proba=proba, counts=counts, draws=draws)


def all_records(schema: Schema) -> np.ndarray[Any, Any]:
    """Every record that the schema can tell apart, as codes (attributes, records)."""
    return np.array(list(itertools.product(*map(range, schema.arities))), dtype=np.uint8).T.copy()


def leaves_by_hand(tree: Tree, features: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The leaf of each record by walking `Test.branch`, one record at a time."""
    leaves = []
    for record in features.T:
        node = 0
        while (test := tree.test(node)) is not None:
            node = tree.children(node)[int(test.branch(record[test.attribute : test.attribute + 1])[0])]
        leaves.append(node)
    return np.array(leaves, dtype=np.int32)


def same(one: Tree, other: Tree) -> bool:
    columns = ("attribute", "kind", "cut", "first_child", "label", "proba", "counts", "draws")
    equal = all(np.array_equal(getattr(one, c), getattr(other, c), equal_nan=c == "counts") for c in columns)
    return equal and one.schema == other.schema
