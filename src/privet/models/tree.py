"""A tree as flat read-only arrays, children contiguous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.models.formula import Formula, leaf_values
from privet.models.released import Floats, Released
from privet.schema import Schema
from privet.structure.routes import Routes
from privet.structure.splits import LEAF, Test, Tests, make_test


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Released):
    """A decision tree over integer codes.

    Node 0 is the root. An inner node ``i`` has the test (``attribute[i]``, ``kind[i]``, ``cut[i]``) and the children
    ``first_child[i]``, ``first_child[i] + 1``, ...; a leaf has attribute -1. ``label[i]`` is the predicted class and
    ``proba[i]`` the class probabilities. ``counts`` holds released noisy class counts, NaN where none were released;
    they may be negative. ``draws[i]`` is the number of noisy counts in each count of node ``i``, from which its noise
    follows; 0 if a count is anything else.
    """

    title: ClassVar[str] = "decision tree"

    schema: Schema
    attribute: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int8]
    cut: npt.NDArray[np.int32]
    first_child: npt.NDArray[np.int32]
    label: npt.NDArray[np.int32]
    proba: Floats
    counts: Floats
    draws: npt.NDArray[np.int32] = None  # type: ignore[assignment]  # becomes zeros

    def __post_init__(self) -> None:
        nodes, classes = len(self.attribute), self.columns
        if self.draws is None:
            object.__setattr__(self, "draws", np.zeros(nodes, np.int32))
        dtypes = {"attribute": np.int32, "kind": np.int8, "cut": np.int32, "first_child": np.int32}
        dtypes |= {"label": np.int32, "draws": np.int32}
        for name, dtype in dtypes.items():
            column = read_only(getattr(self, name), dtype)
            if column.shape != (nodes,):
                raise ParameterError(f"tree column {name} must have one entry for each of {nodes} nodes")
            object.__setattr__(self, name, column)
        for name in ("proba", "counts"):
            matrix = read_only(getattr(self, name), np.float64)
            if matrix.shape != (nodes, classes):
                raise ParameterError(f"tree column {name} must be {nodes} nodes x {classes} classes")
            object.__setattr__(self, name, matrix)

    @classmethod
    def build(
        cls,
        schema: Schema,
        tests: Sequence[Test | None],
        first_child: Sequence[int] | npt.NDArray[Any],
        label: Sequence[int] | npt.NDArray[Any],
        *,
        proba: Floats | None = None,
        counts: Floats | None = None,
        draws: npt.NDArray[Any] | None = None,
    ) -> Tree:
        """Build a tree from one test (or None) per node. Without ``proba`` a node gives its label probability 1."""
        table = Tests.of(schema, tests)
        labels = np.asarray(label, dtype=np.int32)
        if proba is None:
            proba = np.eye(schema.n_classes)[labels]
        if counts is None:
            counts = np.full((len(tests), schema.n_classes), np.nan)
        children = np.asarray(first_child, dtype=np.int32)
        return cls(schema, table.attribute, table.kind, table.cut, children, labels, proba, counts, draws)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.attribute)

    def __repr__(self) -> str:
        leaves = "1 leaf" if self.n_leaves == 1 else f"{self.n_leaves} leaves"
        return f"<Tree of {leaves}, depth {self.depth}, for {self.schema.label.name!r}>"

    @property
    def columns(self) -> int:
        """The columns of ``proba`` and ``counts``: one for each class."""
        return self.schema.n_classes

    @property
    def outcome(self) -> Floats:
        """(node, column) what each node predicts: class probabilities."""
        return self.proba

    @property
    def members(self) -> tuple[Tree, ...]:
        return (self,)

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        leaf = np.asarray(self.attribute == LEAF)
        leaf.setflags(write=False)
        return leaf

    @property
    def n_leaves(self) -> int:
        return int(self.is_leaf.sum())

    @property
    def depth(self) -> int:
        """The largest number of tests on a path."""
        return int(self.routes.level.max())

    def test(self, node: int) -> Test | None:
        if self.attribute[node] == LEAF:
            return None
        return make_test(int(self.kind[node]), int(self.attribute[node]), int(self.cut[node]))

    def children(self, node: int) -> range:
        first, arity = self._families
        return range(first[node], first[node] + arity[node])

    @cached_property
    def _families(self) -> tuple[list[int], list[int]]:
        """The first child of each node and the number of children, as lists: reading one entry is much faster."""
        tests = Tests.of_columns(self.schema, self.attribute, self.kind, self.cut)
        return self.first_child.tolist(), tests.arity.tolist()

    def walk(self, deepest: int | None = None) -> Iterator[tuple[int, int]]:
        """(node, depth) from the root, parents before children, in reading order; not below ``deepest`` tests."""
        stack = [(0, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            if deepest is None or depth < deepest:
                stack.extend((child, depth + 1) for child in reversed(self.children(node)))

    @cached_property
    def routes(self) -> Routes:
        """The checked structure alone, which leads records to leaves. It holds no released values."""
        return Routes.end_to_end(self.schema, [(self.attribute, self.kind, self.cut, self.first_child)])

    def apply(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The leaf of each record; ``features`` are codes (attributes, records) from ``encode_features``."""
        return self.routes.apply(features)[:, 0]

    def predict(self, features: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        return self.label[self.apply(features)]

    def predict_proba(self, features: npt.NDArray[Any]) -> Floats:
        return self.proba[self.apply(features)]

    predict_scores = predict_proba

    def formula(self) -> Formula:
        return Formula(self.schema, (leaf_values(self.routes, self.proba),), labels=self.label[self.is_leaf])


def read_only(values: Any, dtype: Any) -> npt.NDArray[Any]:
    """A read-only copy of some values."""
    column = np.array(values, dtype=dtype, copy=True)
    column.setflags(write=False)
    return column
