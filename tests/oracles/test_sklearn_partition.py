"""Without noise our greedy binary Gini tree cuts the records as scikit-learn's does, wherever the best cut is unique.

scikit-learn sees the same binned codes: whole numbers for numeric attributes, one column a category for the others. It
breaks ties at random and stops in pure nodes, so both trees are walked together: in every node our test must have the
best score that a brute force over all tests finds, and where all tests of that score cut the records alike,
scikit-learn must have cut them so too. Below a tie the trees may differ with good reason, and the walk ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from privet.datasets import real
from privet.engines.memory import MemoryEngine
from privet.models.tree import Tree
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes.papers.diffpid3 import DiffPID3
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Test, Tests
from privet.tables.encoding import Codes, encode
from privet.testing import ZeroNoise, use_noise

DEPTH = 7
# Data set -> how many splits must have been compared at least: about half of what the walk reaches today.
TABLES = {"adult-complete": 40, "banknote": 12, "magic": 50, "nursery": 16, "pendigits": 40}


def our_tree(schema: Schema, codes: Codes, criterion: str = "gini") -> Tree:
    ledger = Ledger(10**9)
    data = PrivateDataset(MemoryEngine(schema, codes), ledger)
    with use_noise(ZeroNoise()):
        recipe = DiffPID3(max_depth=DEPTH, criterion=criterion, tests="binary")
        return recipe.grow(data, ledger.remaining, np.random.default_rng(0))


@dataclass
class Theirs:
    """scikit-learn's tree over codes, through the public arrays of ``tree_``."""

    matrix: np.ndarray
    tree: Any

    @classmethod
    def fit(cls, schema: Schema, codes: Codes) -> Theirs:
        columns = []
        for attribute, row in zip(schema.attributes, codes.features, strict=True):
            if isinstance(attribute, Numeric):
                columns.append(row[:, None].astype(np.float32))
            else:
                encoder = OneHotEncoder(categories=[range(attribute.arity)], sparse_output=False, dtype=np.float32)
                columns.append(encoder.fit_transform(row[:, None]))
        matrix = np.hstack(columns)
        return cls(matrix, DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(matrix, codes.labels).tree_)

    def cut(self, node: int, records: np.ndarray) -> np.ndarray | None:
        """Which of the records go left; None in a leaf."""
        if self.tree.children_left[node] < 0:
            return None
        return self.matrix[records, self.tree.feature[node]] <= np.float32(self.tree.threshold[node])


def goes_first(test: Test, codes: Codes, records: np.ndarray) -> np.ndarray:
    return np.asarray(test.branch(codes.features[test.attribute][records])) == 0


def impurity(labels: np.ndarray) -> float:
    """Size-weighted Gini impurity, from the definition."""
    shares = np.bincount(labels) / max(len(labels), 1)
    return len(labels) * (1 - float((shares**2).sum()))


def best_tests(schema: Schema, codes: Codes, records: np.ndarray) -> tuple[float, list[Test]]:
    """The least impurity after a cut, and every test that reaches it up to rounding; brute force."""
    labels = codes.labels[records]
    impurities = []
    for test in Tests.binary(schema):
        first = goes_first(test, codes, records)
        impurities.append(impurity(labels[first]) + impurity(labels[~first]))
    least = min(impurities)
    near = 1e-9 * len(records)
    return least, [t for t, i in zip(Tests.binary(schema), impurities, strict=True) if i <= least + near]


@dataclass
class Walk:
    schema: Schema
    codes: Codes
    ours: Tree
    theirs: Theirs
    compared: int = 0

    def faults(self) -> Iterator[str]:
        yield from self._faults(0, 0, np.arange(self.codes.labels.size))

    def _faults(self, node: int, their: int, records: np.ndarray) -> Iterator[str]:
        test = self.ours.test(node)
        if test is None or np.unique(self.codes.labels[records]).size < 2:
            return
        labels, first = self.codes.labels[records], goes_first(test, self.codes, records)
        least, best = best_tests(self.schema, self.codes, records)
        if impurity(labels[first]) + impurity(labels[~first]) > least + 1e-9 * len(records):
            yield f"node {node}: {test} is not the best cut"
            return
        cuts = {canonical(goes_first(other, self.codes, records)) for other in best}
        if len(cuts) > 1 or first.all() or not first.any():
            return  # a tie, or nothing left that separates
        left = self.theirs.cut(their, records)
        if left is None or canonical(left) not in cuts:
            yield f"node {node}: scikit-learn cuts {len(records)} records another way than {test}"
            return
        self.compared += 1
        children = [int(self.theirs.tree.children_left[their]), int(self.theirs.tree.children_right[their])]
        if not np.array_equal(left, first):  # the same two parts, named the other way round
            children.reverse()
        for child, their_child, part in zip(self.ours.children(node), children, (first, ~first), strict=True):
            yield from self._faults(child, their_child, records[part])


def canonical(side: np.ndarray) -> bytes:
    """A cut in two, whichever side is called the first."""
    return np.packbits(side if side[0] else ~side).tobytes()


def prepared(name: str, data_dir: Path) -> tuple[Schema, Codes]:
    schema, table = real.load(name, data_dir)
    schema = DiffPID3(max_bins=20).prepare(schema)
    return schema, encode(schema, table)


@pytest.mark.parametrize("name", TABLES)
def test_the_same_partition(name: str, data_dir: Path) -> None:
    schema, codes = prepared(name, data_dir)
    walk = Walk(schema, codes, our_tree(schema, codes), Theirs.fit(schema, codes))
    assert list(walk.faults()) == []
    assert walk.compared >= TABLES[name], "too few unique cuts for the test to mean anything"


def test_another_criterion_is_found_out(data_dir: Path) -> None:
    schema, codes = prepared("banknote", data_dir)
    assert list(Walk(schema, codes, our_tree(schema, codes, "max"), Theirs.fit(schema, codes)).faults())


def test_another_tree_of_theirs_is_found_out(data_dir: Path) -> None:
    schema, codes = prepared("banknote", data_dir)
    shuffled = Codes(codes.features, np.random.default_rng(0).permutation(codes.labels))
    assert list(Walk(schema, codes, our_tree(schema, codes), Theirs.fit(schema, shuffled)).faults())


def test_a_made_up_table() -> None:
    """The same walk where no real tables are: random codes, labels that lean on all attributes."""
    schema = Schema(
        (
            Numeric("x", 0, 12, bins=12),
            Categorical("t", tuple("abcd")),
            Categorical("s", ("f", "m")),
            Numeric("z", 0, 5, bins=5),
        ),
        Categorical("class", (0, 1, 2)),
    )
    rng = np.random.default_rng(0)
    features = np.array([rng.integers(0, arity, 3000) for arity in schema.arities], dtype=np.uint8)
    labels = ((features.sum(axis=0) + rng.integers(0, 6, 3000)) // 8).clip(0, 2).astype(np.uint8)
    codes = Codes(features, labels)
    walk = Walk(schema, codes, our_tree(schema, codes), Theirs.fit(schema, codes))
    assert list(walk.faults()) == []
    assert walk.compared > 30
