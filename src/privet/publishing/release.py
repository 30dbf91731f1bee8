"""The release of a publisher: a public partition with noisy class counts, and synthetic records drawn from it.

The partition is a tree whose leaves are boxes of codes. Records are drawn from it by ordinary randomness: everything
that depends on the private table is in the tree already, paid for by the ledger, so drawing is free and can be
repeated. Proof: ``docs/proofs/publishing.md``.
"""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privet.growing.greedy.candidates import Domains
from privet.models.leaf_counts import Floats
from privet.models.tree import Tree
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.progress import Progress, check_progress
from privet.publishing.drawing import draw_values, round_at_random
from privet.schema import Schema
from privet.structure.splits import Test


@dataclass(frozen=True)
class Publisher(ABC):
    """The parameters of a private way to publish a table."""

    name: ClassVar[str]

    @property
    def params(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def prepare(self, schema: Schema) -> Schema:
        """The schema with the publisher's own cuts."""
        return schema

    @abstractmethod
    def grow(self, data: PrivateDataset, epsilon: Fraction, progress: Progress | None = None) -> Tree:
        """Buy a partition with noisy class counts in its leaves, for at most ``epsilon``."""


@dataclass(frozen=True, eq=False)
class Release:
    """A published table: its partition, its certificate, and any number of synthetic tables."""

    method: str
    tree: Tree
    params: Mapping[str, Any]
    certificate: Mapping[str, Any]

    @property
    def schema(self) -> Schema:
        return self.tree.schema

    @property
    def counts(self) -> Floats:
        """(leaf, class) numbers of records: the noisy ones, made non-negative with the same sum."""
        return at_least_zero(self.tree.counts[self.tree.routes.leaves])

    def records(self, random: np.random.Generator | None = None) -> dict[str, npt.NDArray[np.object_]]:
        """Draw synthetic records, as columns by name, each value within its leaf's box. This costs nothing more."""
        random = random or np.random.default_rng()
        schema, boxes = self.schema, _boxes(self.tree)
        wanted = round_at_random(self.counts, random)
        by_leaf = wanted.sum(axis=1)
        columns = {
            attribute.name: draw_values(attribute, boxes[:, Domains.whole(schema).bins(a)], by_leaf, random)
            for a, attribute in enumerate(schema.attributes)
        }
        labels = np.array(schema.classes, dtype=object)
        codes = np.repeat(np.tile(np.arange(schema.n_classes), len(wanted)), wanted.ravel())
        order = random.permutation(len(codes))
        named = columns | {schema.label.name: labels[codes]}
        return {name: column[order] for name, column in named.items()}

    def to_csv(self, random: np.random.Generator | None = None) -> str:
        """Draw synthetic records as a CSV file that every command of privet reads."""
        return csv_text(self.records(random))


def publish(publisher: Publisher, data: PrivateDataset, epsilon: object, progress: Progress | None = None) -> Release:
    """Publish a protected table for at most ``epsilon``, which is reserved first."""
    exact = parse_epsilon(epsilon)
    check_progress(progress)
    params = publisher.params | {"epsilon": exact, "neighbours": data.ledger.neighbours.value}
    with data.for_work(exact, f"publishing by {publisher.name}", publisher.prepare(data.schema)) as work:
        tree = publisher.grow(work, exact, progress)
        return Release(publisher.name, tree, params, work.certificate().to_dict())


def csv_text(columns: Mapping[str, Any]) -> str:
    """Columns as CSV, quoted where needed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(("" if v is None else v for v in column) for column in columns.values()), strict=True))
    return text.getvalue()


def at_least_zero(counts: Floats) -> Floats:
    """Project counts onto the nearest non-negative ones with the same sum: subtract a constant and clip.

    Clipping alone would add the noise of every empty cell to the table.

    >>> at_least_zero(np.array([5.0, -2.0, 1.0, 0.0])).tolist()
    [4.0, 0.0, 0.0, 0.0]
    """
    flat, total = counts.ravel(), max(float(counts.sum()), 0.0)
    ordered = np.sort(flat)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    kept = np.flatnonzero(ordered > excess)
    taken = excess[kept[-1]] if len(kept) and total > 0 else np.inf
    return np.asarray(np.maximum(flat - taken, 0.0).reshape(counts.shape))


def _boxes(tree: Tree) -> npt.NDArray[np.bool_]:
    """(leaf, bin) whether a leaf's box contains a bin, by the number of the leaf."""
    boxes = np.zeros((len(tree), tree.schema.total_bins), dtype=bool)
    boxes[0] = True
    for node in range(len(tree)):
        test: Test | None = tree.test(node)
        if test is not None:
            children = Domains(tree.schema, boxes[node : node + 1]).split([test]).possible
            boxes[list(tree.children(node))] = children
    return boxes[tree.routes.leaves]
