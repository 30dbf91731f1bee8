"""The nodes of a tree for display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from privet.bidi import isolated
from privet.models.counts import NodeCounts, ShownCounts
from privet.models.number_tree import about
from privet.models.rules import evidence
from privet.models.simplifying import Sketch
from privet.models.tree import Tree


@dataclass(frozen=True, slots=True)
class ShownNode:
    """A node for display. ``node`` is its number in the model."""

    node: int
    code: int
    """The code of the label."""
    label: str
    """The label in words; for a node that stands for several labels, the most frequent one."""
    probability: float | None
    """The tree's probability of the label; None where leaves have labels only."""
    counts: NodeCounts | None
    leaves: int
    """How many leaves of the model it stands for; 0 for an inner node."""
    evidence: str
    """Support and confidence or probability, in words; empty if nothing was released."""

    @property
    def hidden(self) -> bool:
        """Whether noise alone could have made its count."""
        return self.counts is not None and self.counts.total.hidden

    @property
    def support(self) -> float | None:
        return None if self.counts is None else self.counts.total.value


class ShownNodes(Mapping[int, ShownNode]):
    """The shown nodes, each made at its first access: few nodes of a huge tree are."""

    def __init__(self, sketch: Sketch, counts: ShownCounts, *, raw: bool) -> None:
        self._sketch, self._counts, self._raw = sketch, counts, raw
        self._graded = not np.isin(sketch.tree.proba[sketch.tree.is_leaf], (0.0, 1.0)).all()
        self._made: dict[int, ShownNode] = {}

    def __getitem__(self, node: int) -> ShownNode:
        if node not in self._made:
            self._made[node] = self._make(node)
        return self._made[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self._counts.row)

    def __len__(self) -> int:
        return len(self._counts.row)

    def _make(self, node: int) -> ShownNode:
        sketch, counts = self._sketch, self._counts[node]
        code, mixed = sketch.label[node], node in sketch.mixed
        leaves = 0 if node in sketch.branches else sketch.leaves[node]
        if sketch.tree.schema.predicts_number:
            probability, words = None, about(float(sketch.outcome[node, 0]), float(sketch.deviation[node]))
        else:
            probability = float(sketch.outcome[node, code]) if self._graded else None
            words = f"{'mostly ' if mixed else ''}{isolated(sketch.tree.schema.classes[code])}"
        known = released(sketch.tree, node) if self._raw else leaf_evidence(counts, code, probability, leaves, mixed)
        return ShownNode(node, code, words, probability, counts, leaves, known)


def leaf_evidence(counts: NodeCounts | None, code: int, probability: float | None, leaves: int, mixed: bool) -> str:
    """The evidence for a leaf. Its probability, which also uses the counts above it, replaces the confidence."""
    known = [f"{leaves} leaves"] if mixed else []
    if counts is not None:
        certain = probability is not None or len(counts.classes) == 1  # a number has no confidence
        known += evidence(counts.total.value, None if certain else counts.share(code), counts.total.below)
        known += [] if probability is None else [f"probability {probability:.2f}"]
    return f" ({', '.join(known)})" if known else ""


def released(tree: Tree, node: int) -> str:
    """The counts of a node exactly as released."""
    counts = tree.counts[node]
    if np.isnan(counts).all():
        return ""
    names = ["records"] if tree.schema.predicts_number else map(isolated, tree.schema.classes)
    text = (f"{name} {count:g}" for name, count in zip(names, counts, strict=True))
    return f" (released: {', '.join(text)})"
