"""The synthetic tasks of Friedman & Schuster, *Data Mining with Differential Privacy* (KDD 2010), section 5.1.

A random tree labels uniform records; then each value and each class is replaced, with probability ``p_noise``, by a
uniform one (which may be the same). Test sets are drawn without noise.

>>> rng = np.random.default_rng(1)
>>> tree = random_tree(domain(), depth=1, rng=rng)
>>> train, test = sample(tree, 1000, rng, p_noise=0.1), sample(tree, 10_000, rng)
>>> train.features.shape, float((tree.classify(test) == test.labels).mean())
((10, 1000), 1.0)

The paper leaves three things open. Split points of numeric attributes below the root are drawn uniformly from what the
path has left of the attribute's range. "The third level" counts the root as the first, so the root and its children
are never turned into leaves early. A single split whose arity differs from the number of classes deals the classes
round, in random order, so its leaves differ as far as they can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import Codes, Quantum

FIRST_LEAF_DEPTH = 2  # splits above the paper's "third level"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@lru_cache(maxsize=64)  # a schema is built once for the thousands of runs of an experiment
def domain(nominal: int = 10, arity: int = 2, numeric: int = 0, classes: int = 2, bins: int = 20) -> Schema:
    """The paper's domain: nominal attributes of one arity, then numeric ones over [0, 100], and a class.

    >>> print(domain(nominal=7, numeric=3))
    fs: 3 numeric and 7 categorical attributes, label 'class' with 2 values
    """
    values = tuple(f"v{v}" for v in range(arity))
    names = [f"a{i + 1}" for i in range(nominal + numeric)]
    return Schema(
        (
            *(Categorical(name, values) for name in names[:nominal]),
            *(Numeric(name, 0, 100, bins=bins) for name in names[nominal:]),
        ),
        Categorical("class", tuple(f"c{c}" for c in range(classes))),
        name="fs",
    )


@dataclass(frozen=True, eq=False)
class Sample:
    """Records as integer codes, with the exact values of numeric attributes beside."""

    schema: Schema
    features: NDArray[Any]  # (attributes, records), by the schema's own codes
    labels: NDArray[Any]  # (records,)
    values: Mapping[int, Floats] = field(default_factory=dict)  # numeric attribute index -> values

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def codes(self) -> Codes:
        """What :func:`privet.tables.encoding.encode` makes of :meth:`table`, without the way through the table."""
        levels = {a: Quantum.of(_numeric(self.schema, a)).levels(_numeric(self.schema, a), self.values[a])
                  for a in self.values}  # fmt: skip
        return Codes(self.features, self.labels, levels)

    def table(self) -> dict[str, NDArray[Any]]:
        """The records as a mapping of named columns, the class last."""
        columns = {
            attribute.name: self.values[a] if a in self.values else _decoded(attribute, self.features[a])
            for a, attribute in enumerate(self.schema.attributes)
        }
        return columns | {self.schema.label.name: _decoded(self.schema.label, self.labels)}


@dataclass(frozen=True, eq=False)
class HiddenTree:
    """The tree that labels the records. Nodes are numbered level by level, the children of one node in a row."""

    schema: Schema
    attribute: Ints  # the attribute a node splits on, -1 at leaves
    point: Floats  # numeric splits: values at most this go to the first child, others to the second; else NaN
    first_child: Ints  # -1 at leaves
    label: Ints  # -1 at inner nodes

    def classify(self, records: Sample) -> NDArray[Any]:
        """The class of every record, by its values (not its bins: a split point need not be a public cut)."""
        node = np.zeros(len(records), dtype=np.int64)
        attribute = self.attribute[node]
        while (present := np.flatnonzero(np.bincount(attribute + 1)[1:])).size:
            for a in present.tolist():
                here: Any = np.flatnonzero(attribute == a)
                at = node[here]
                if a in records.values:
                    branch = records.values[a][here] > self.point[at]
                else:
                    branch = records.features[a][here]
                node[here] = self.first_child[at] + branch
            attribute = self.attribute[node]
        return self.label[node].astype(_code_type(self.schema.n_classes))


def random_tree(
    schema: Schema,
    depth: int,
    rng: np.random.Generator,
    *,
    p_leaf: float = 0.3,
    root: str | None = None,
    point: float | None = None,
) -> HiddenTree:
    """A random tree of at most ``depth`` splits on a path.

    Parameters
    ----------
    schema : Schema
        The domain: :func:`domain`, or any other. No attribute may have fewer than two values.
    depth : int
        At least 1. With depth 1 the leaves differ in class; otherwise each leaf's class is uniform.
    rng : numpy.random.Generator
        Public randomness; the tree and the records are no secret.
    p_leaf : float
        From the third level on, the probability that a node becomes a leaf early.
    root, point :
        Fix the root's attribute and, for a numeric one, its split point (the paper's Figure 4 puts it at 35).

    >>> tree = random_tree(domain(7, numeric=3), 1, np.random.default_rng(0), root="a9", point=35)
    >>> tree.point[0], tree.label[0], sorted(tree.label[1:].tolist())
    (np.float64(35.0), np.int64(-1), [0, 1])
    """
    if depth < 1:
        raise ParameterError(f"depth must be at least 1, not {depth!r}")
    _check_probability("p_leaf", p_leaf)
    is_numeric = np.array([isinstance(a, Numeric) for a in schema.attributes])
    is_whole = np.array([isinstance(a, Numeric) and a.integer for a in schema.attributes])
    n_branches = np.array([2 if isinstance(a, Numeric) else a.arity for a in schema.attributes])
    ends = [_ends(a) if isinstance(a, Numeric) else (0.0, 1.0) for a in schema.attributes]
    # What a path leaves open, one row per node of the level: the ends of each range, with (0, 0) for what is used up.
    low, high = (np.array([end], dtype=np.float64) for end in zip(*ends, strict=True))
    low, high = np.where(n_branches > 1, low, 0.0), np.where(n_branches > 1, high, 0.0)

    levels: list[tuple[Ints, Floats, Ints]] = []
    next_child = 1
    for level in range(depth + 1):
        size = len(low)
        available = high > low
        splits = available.any(axis=1) & (level < depth)
        if level >= FIRST_LEAF_DEPTH:
            splits &= rng.random(size) >= p_leaf
        chosen = np.where(available, rng.random(available.shape), -1.0).argmax(axis=1)
        if level == 0 and root is not None:
            chosen[0] = schema.index(root)
            if not available[0, chosen[0]]:
                raise ParameterError(f"root {root!r} has fewer than two values and cannot be split on")
        rows = np.arange(size)
        left, right = low[rows, chosen], high[rows, chosen]
        points = left + rng.random(size) * (right - left)
        points = np.where(is_whole[chosen], np.floor(points) + 0.5, points)
        if level == 0 and point is not None:
            if not is_numeric[chosen[0]] or not left[0] <= point < right[0]:
                raise ParameterError(f"point {point!r} needs a numeric root whose bounds hold it")
            points[0] = point

        children = np.where(splits, n_branches[chosen], 0)
        first = next_child + np.cumsum(children) - children
        levels.append(
            (
                np.where(splits, chosen, -1),
                np.where(splits & is_numeric[chosen], points, np.nan),
                np.where(splits, first, -1),
            )
        )
        total = int(children.sum())
        if not total:
            break
        parent = np.repeat(rows, children)
        branch = np.arange(next_child, next_child + total) - first[parent]
        next_child += total
        low, high = low[parent], high[parent]
        kids, split_on = np.arange(total), chosen[parent]
        numeric, cut, whole = is_numeric[split_on], points[parent], is_whole[split_on]
        low[kids, split_on] = np.where(numeric & (branch == 1), cut + 0.5 * whole, low[kids, split_on])
        high[kids, split_on] = np.where(numeric & (branch == 0), cut - 0.5 * whole, high[kids, split_on])
        high[kids[~numeric], split_on[~numeric]] = 0.0

    attribute, at, first_child = (np.concatenate(part) for part in zip(*levels, strict=True))
    leaf = attribute < 0
    if depth == 1:
        classes = np.resize(rng.permutation(schema.n_classes), int(leaf.sum()))
    else:
        classes = rng.integers(schema.n_classes, size=int(leaf.sum()))
    label = np.full(len(attribute), -1)
    label[leaf] = classes
    return HiddenTree(schema, attribute, at, first_child, label)


def sample(tree: HiddenTree, n: int, rng: np.random.Generator, *, p_noise: float = 0.0) -> Sample:
    """``n`` uniform records labelled by the tree; each value and class is then replaced with probability ``p_noise``.

    >>> tree = random_tree(domain(nominal=2), 1, np.random.default_rng(0))
    >>> {name: column.tolist() for name, column in sample(tree, 3, np.random.default_rng(0)).table().items()}
    {'a1': ['v0', 'v1', 'v1'], 'a2': ['v1', 'v1', 'v1'], 'class': ['c0', 'c1', 'c1']}
    """
    if n < 0:
        raise ParameterError(f"n must not be negative, not {n!r}")
    _check_probability("p_noise", p_noise)
    schema = tree.schema
    features = np.empty((len(schema.attributes), n), dtype=_code_type(max(schema.arities)))
    values: dict[int, Floats] = {}
    by_arity: dict[int, list[int]] = {}
    for a, attribute in enumerate(schema.attributes):
        if isinstance(attribute, Numeric):
            values[a] = _uniform(attribute, n, rng)
        else:
            by_arity.setdefault(attribute.arity, []).append(a)
    # Attributes of one arity are drawn together: a call a column would cost more than its random numbers.
    for arity, group in by_arity.items():
        features[group] = rng.integers(arity, size=(len(group), n), dtype=features.dtype)
    labels = tree.classify(Sample(schema, features, np.empty(n), values))
    if p_noise:
        for arity, group in by_arity.items():
            block = features[group]
            _replace(block.reshape(-1), arity, p_noise, rng)
            features[group] = block
        for a, column in values.items():
            where = np.flatnonzero(_hits(n, p_noise, rng))
            column[where] = _uniform(_numeric(schema, a), len(where), rng)
        _replace(labels, schema.n_classes, p_noise, rng)
    for a, column in values.items():
        features[a] = np.searchsorted(_numeric(schema, a).cuts, column, side="left")
    for array in (features, labels, *values.values()):
        array.setflags(write=False)
    return Sample(schema, features, labels, values)


def _replace(codes: NDArray[Any], arity: int, p: float, rng: np.random.Generator) -> None:
    where = np.flatnonzero(_hits(codes.size, p, rng))
    codes[where] = rng.integers(arity, size=len(where), dtype=codes.dtype)


def _hits(n: int, p: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    # Half the width of doubles is twice as fast, and moves p by less than 1e-7.
    return rng.random(n, dtype=np.float32) < p


def _uniform(attribute: Numeric, n: int, rng: np.random.Generator) -> Floats:
    low, high = _ends(attribute)
    if attribute.integer:
        return rng.integers(int(low), int(high), size=n, endpoint=True).astype(np.float64)
    return rng.uniform(low, high, size=n)


def _ends(attribute: Numeric) -> tuple[float, float]:
    """The smallest and largest value a record can take."""
    if attribute.integer:
        return float(np.ceil(attribute.low)), float(np.floor(attribute.high))
    return attribute.low, attribute.high


def _numeric(schema: Schema, a: int) -> Numeric:
    attribute = schema.attributes[a]
    assert isinstance(attribute, Numeric)
    return attribute


def _decoded(attribute: Categorical | Numeric, codes: NDArray[Any]) -> NDArray[Any]:
    assert isinstance(attribute, Categorical)
    alike = len({type(value) for value in attribute.values}) == 1
    values: NDArray[Any] = np.asarray(attribute.values, dtype=None if alike else object)
    decoded: NDArray[Any] = values[codes]
    return decoded


def _code_type(arity: int) -> type[np.uint8] | type[np.uint16]:
    return np.uint8 if arity <= 256 else np.uint16


def _check_probability(name: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise ParameterError(f"{name} must be a probability between 0 and 1, not {p!r}")
