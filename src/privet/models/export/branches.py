"""The rows of a summand as nested tests, for forms that are read by people: SQL and PMML.

Trees of any tests and tables over levels of codes become the same: a :class:`Branch` on one attribute splits its
codes into groups, in order, and each group leads to another branch or to a row. Whatever is in no earlier group belongs
to the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from privet.errors import ParameterError
from privet.models.formula import Summand
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import LEAF, make_test
from privet.tables.cells import spellings_of

DEEPEST = 100  # nested tests; DuckDB and SQLite stop at a thousand nested expressions, and a test takes several

Node: TypeAlias = "Branch | int"


@dataclass(frozen=True)
class Branch:
    """Groups of codes of one attribute and where they lead; an int is a row of the table.

    The groups of a number ascend, so a group needs only its upper end: see ``ends``.
    """

    attribute: int
    groups: tuple[tuple[tuple[int, ...], Node], ...]


def branches(schema: Schema, summand: Summand, form: str) -> Node:
    """The tests that lead a record to its row; refuses trees that are too deep for ``form``."""
    if summand.routes is None:
        return _grid(schema, summand, 0, 0)
    deepest = int(summand.routes.level.max())
    if deepest > DEEPEST:
        raise ParameterError(
            f"a tree of this model is {deepest:,} tests deep, and {form} can nest {DEEPEST}; use ONNX or Python instead"
        )
    return _node(schema, summand, 0)


def ends(numeric: Numeric, branch: Branch) -> Iterator[tuple[float | None, Node]]:
    """(cut, node) for each group but the last: values up to the cut; all that are not missing if the cut is None."""
    for codes, node in branch.groups[:-1]:
        yield (float(numeric.cuts[codes[-1]]) if codes[-1] < len(numeric.cuts) else None), node


def texts(categorical: Categorical) -> list[str]:
    """The values as texts without spaces around, by code. If two have the same, as 1 and "1", their codes are added."""
    plain = [str(value).strip() for value in categorical.values]
    often = Counter(plain)
    return [text if often[text] == 1 else f"{text} #{code}" for code, text in enumerate(plain)]


def spelled(categorical: Categorical) -> tuple[dict[str, int], dict[str, int]]:
    """Texts that mean a value other than the fallback, and its code: those with spaces around, and the others."""
    known = {text: code for text, code in spellings_of(categorical).items() if isinstance(text, str)}
    whole = {text: code for text, code in known.items() if text != text.strip()}
    bare = {text: code for text, code in known.items() if text == text.strip() and code != categorical.fallback}
    return whole, bare


def _node(schema: Schema, summand: Summand, node: int) -> Node:
    routes = summand.routes
    assert routes is not None
    attribute = int(routes.tests.attribute[node])
    if attribute == LEAF:
        return int(summand.leaf_row[node])
    test = make_test(int(routes.tests.kind[node]), attribute, int(routes.tests.cut[node]))
    child = test.branch(np.arange(schema.arities[attribute]))
    below = [_node(schema, summand, int(routes.first_child[node]) + k) for k in range(test.arity(schema))]
    return _branch(schema, attribute, child, below)


def _grid(schema: Schema, summand: Summand, place: int, row: int) -> Node:
    if place == len(summand.attributes):
        return row
    attribute, levels, side = summand.attributes[place], summand.levels[place], summand.sides[place]
    below = [_grid(schema, summand, place + 1, row * side + level) for level in range(side)]
    return _branch(schema, attribute, levels, below)


def _branch(schema: Schema, attribute: int, child: Any, below: list[Node]) -> Node:
    """A branch in which code ``c`` leads to ``below[child[c]]``; no branch if all codes lead to one place."""
    children = [int(k) for k in child]
    runs: list[tuple[list[int], int]] = []
    if isinstance(schema.attributes[attribute], Numeric):
        for code, k in enumerate(children):
            if runs and runs[-1][1] == k:
                runs[-1][0].append(code)
            else:
                runs.append(([code], k))
    else:
        together: dict[int, list[int]] = {}
        for code, k in enumerate(children):
            together.setdefault(k, []).append(code)
        runs = sorted(((codes, k) for k, codes in together.items()), key=lambda run: len(run[0]))
    if len(runs) == 1:
        return below[runs[0][1]]
    return Branch(attribute, tuple((tuple(codes), below[k]) for codes, k in runs))
