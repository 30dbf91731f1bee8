"""Which codes of each attribute a path admits. It follows from the tests alone, so it is public."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.models.tree import Tree

Bools = npt.NDArray[np.bool_]
Fan = tuple[int, list[tuple[int, Bools]]]
"""What a node asks for, and the codes that lead to each child."""


def walk_admitted(fan: Callable[[int], Fan | None], root: int = 0) -> Iterator[tuple[int, dict[int, Bools]]]:
    """Each node that a record can reach, in order of reading, with the codes that its path admits of each attribute.

    The mapping has the attributes in the order in which they are asked for, and changes as the walk goes on.
    """
    admitted: dict[int, Bools] = {}
    stack: list[tuple[int | None, int, Bools | None]] = [(root, -1, None)]
    while stack:
        node, attribute, codes = stack.pop()
        if codes is not None:
            admitted[attribute] = codes
        elif attribute >= 0:
            del admitted[attribute]
        if node is None:  # all below a test was met: what held above it holds again
            continue
        yield node, admitted
        asked = fan(node)
        if asked is None:
            continue
        a, children = asked
        above = admitted.get(a)
        stack.append((None, a, above))
        for child, leads in reversed(children):
            both = leads if above is None else leads & above
            if both.any():
                stack.append((child, a, both))


def reached(tree: Tree) -> Bools:
    """(node,) whether a record can get there. Elsewhere the conditions of the path contradict each other.

    >>> from privet.schema import Categorical, Numeric, Schema
    >>> from privet.structure.splits import Threshold
    >>> schema = Schema((Numeric("age", 0, 90, bins=3),), Categorical("ill", ("no", "yes")))
    >>> tests = [Threshold(0, 0), Threshold(0, 1), None, None, None]
    >>> reached(Tree.build(schema, tests, [1, 3, -1, -1, -1], [0, 0, 1, 0, 1])).tolist()
    [True, True, True, True, False]
    """
    found = np.zeros(len(tree), dtype=np.bool_)

    def fan(node: int) -> Fan | None:
        test = tree.test(node)
        if test is None:
            return None
        goes: npt.NDArray[Any] = test.branch(np.arange(tree.schema.arities[test.attribute]))
        return test.attribute, [(child, goes == number) for number, child in enumerate(tree.children(node))]

    for node, _ in walk_admitted(fan):
        found[node] = True
    return found
