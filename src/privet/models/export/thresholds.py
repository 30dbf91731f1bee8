"""A tree in which every test is ``code <= number``, for runtimes that know no other: ONNX and SHAP."""

from __future__ import annotations

from dataclasses import dataclass, field

from privet.models.formula import Summand
from privet.structure.splits import LEAF, Kind

NOWHERE = -1  # the child of a leaf


@dataclass
class Thresholds:
    """Columns of nodes, the root first. A leaf has no children and stands for node ``origin`` of the summand's tree."""

    attribute: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    origin: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.attribute)

    @classmethod
    def of(cls, summand: Summand) -> Thresholds:
        """Split one-category tests in two, and multiway tests by halves.

        An inner node that was added stands for the node that it was made from.
        """
        routes = summand.routes
        assert routes is not None
        tree, tests, first = cls(), routes.tests, routes.first_child.tolist()
        attributes, kinds, cuts, arities = (c.tolist() for c in (tests.attribute, tests.kind, tests.cut, tests.arity))
        # (column and place for the number of the new node, node of the tree, the codes that a split test has left)
        waiting: list[tuple[list[int], int, int, range | None]] = [([], 0, 0, None)]
        while waiting:
            column, parent, node, span = waiting.pop()
            while kinds[node] == Kind.MULTIWAY and arities[node] == 1:  # a test of an attribute with one value
                node = first[node]
            here = tree._add(attributes[node], node)
            if column:
                column[parent] = here
            if attributes[node] == LEAF:
                continue
            cut, child = cuts[node], first[node]
            sides: tuple[tuple[int, range | None], tuple[int, range | None]]
            if kinds[node] == Kind.THRESHOLD:
                sides = (child, None), (child + 1, None)
            elif kinds[node] == Kind.MULTIWAY:
                codes = span or range(arities[node])
                half = len(codes) // 2
                cut = codes[half - 1]
                sides = tree._half(node, child, codes[:half]), tree._half(node, child, codes[half:])
            elif span is None and cut > 0:  # first the codes below the category, then it against those above
                cut, sides = cut - 1, ((child + 1, None), (node, range(cut, cut + 1)))
            else:
                sides = (child, None), (child + 1, None)
            tree.cut[here] = cut
            waiting += [(tree.right, here, *sides[1]), (tree.left, here, *sides[0])]
        return tree

    @staticmethod
    def _half(node: int, child: int, codes: range) -> tuple[int, range | None]:
        return (child + codes[0], None) if len(codes) == 1 else (node, codes)

    def _add(self, attribute: int, origin: int) -> int:
        for column, value in zip(
            (self.attribute, self.cut, self.left, self.right, self.origin),
            (attribute, 0, NOWHERE, NOWHERE, origin),
            strict=True,
        ):
            column.append(value)
        return len(self) - 1
