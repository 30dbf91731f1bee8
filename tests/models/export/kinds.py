"""A model of every kind over one schema: tests of all kinds, all ways of voting, sums with curves, pairs and a tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np

from privet.models.additive import Additive, Part
from privet.models.forest import Forest
from privet.models.number_tree import NumberTree
from privet.models.released import Released
from privet.models.tree import Tree
from privet.models.voting import Voting
from privet.schema import Categorical, Numeric, Schema
from privet.structure.routes import Routes
from privet.structure.splits import Multiway, Tests

SCHEMA = Schema(
    (
        Numeric("label", 0, 1, thresholds=(0.1, 0.3, 1 / 3)),  # the name of an output; decimals that no double holds
        Numeric("age | years", 0, 120, integer=True, missing=-9, bins=6),
        Numeric("dose", -5, 5, missing="?"),
        Categorical("sex & 'kind'", ("f", "m", 'o"x', "<new>\n")),
        Categorical("ward", (1, 2.5, "true", " A", "A", "other")),
    ),
    Categorical("state", ("well", "it's bad", "dead")),
)
PLAIN = replace(SCHEMA, attributes=(*SCHEMA.attributes[:-1], Categorical("ward", (1, 2.5, "true", "A", "other"))))
TWO = Schema(SCHEMA.attributes, Categorical("state", ("well", "it's bad")))


def grown(schema: Schema, rng: Any, depth: int = 4) -> Tree:
    """A random tree of all kinds of tests."""
    binary = Tests.binary(schema)
    tests: list[Any] = []
    level = 1
    for _ in range(depth):
        chosen = [
            None if rng.random() < 0.2 and tests
            else Multiway(int(rng.integers(len(schema.attributes)))) if rng.random() < 0.2
            else binary[int(rng.integers(len(binary)))]
            for _ in range(level)
        ]  # fmt: skip
        tests += chosen
        level = sum(test.arity(schema) for test in chosen if test is not None)
    routes = Routes.in_level_order(schema, [*tests, *[None] * level])
    nodes = len(routes.tests)
    proba = rng.dirichlet(np.ones(schema.n_classes), nodes)
    counts = rng.normal(5, 10, (nodes, schema.n_classes)).round()
    columns = routes.tests.attribute, routes.tests.kind, routes.tests.cut, routes.first_child
    return Tree(schema, *columns, rng.integers(0, schema.n_classes, nodes), proba, counts)


def summed(schema: Schema, rng: Any, tree: Tree) -> Additive:
    parts = []
    for attributes in [(0,), (1,), (2,), (3,), (4,), (1, 3), (2, 4)]:
        arities = [schema.arities[a] for a in attributes]
        levels = [np.unique(rng.integers(0, arity, arity), return_inverse=True)[1].reshape(-1) for arity in arities]
        rows = int(np.prod([column.max() + 1 for column in levels]))
        parts.append(Part(attributes, tuple(levels), rng.normal(0, 2, (rows, schema.n_scores)), 0.1))
    parts.append(Part((), (), rng.normal(0, 1, (tree.n_leaves, schema.n_scores)), 0.1))
    return Additive(schema, tuple(parts), rng.normal(0, 1, schema.n_scores), tree.routes, margin=1.4)


def every_kind(schema: Schema = SCHEMA, seed: int = 1, trees: int = 4, depth: int = 4) -> dict[str, Released]:
    """By name. Forests of one set of trees, with each way of voting."""
    rng = np.random.default_rng(seed)
    members = tuple(grown(schema, rng, depth) for _ in range(trees))
    found: dict[str, Released] = {"tree": members[0], "stump": grown(schema, rng, 0)}
    found |= {voting: Forest(schema, members, voting, 0.5) for voting in get_args(Voting)}
    return found | {"additive": summed(schema, rng, members[0])}


NUMBER = Schema(PLAIN.attributes, Numeric("wage", 0, 80))


def number_tree(seed: int = 3) -> NumberTree:
    """A regression tree of all kinds of tests."""
    rng = np.random.default_rng(seed)
    tree = grown(replace(PLAIN, label=SCHEMA.label), rng)
    nodes, structure = len(tree), (tree.attribute, tree.kind, tree.cut, tree.first_child)
    nothing = np.zeros(nodes, dtype=np.int32)
    released = np.ones((nodes, 1)), rng.uniform(0, 9, (nodes, 1)), nothing, rng.uniform(0, 80, nodes), np.ones(nodes)
    return NumberTree(NUMBER, *structure, nothing, *released)


def number_sum(seed: int = 4) -> Additive:
    """A sum of curves, pairs and a tree that predicts a number, with sums below, between and above the bounds."""
    model = summed(NUMBER, np.random.default_rng(seed), number_tree())
    parts = tuple(replace(part, table=part.table * 15) for part in model.parts)
    return replace(model, parts=parts, offset=np.array([40.0]), margin=0.0)
