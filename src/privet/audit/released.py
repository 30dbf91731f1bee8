"""What a fit releases, as values: to tell whether two are equal, and whether a table can release one at all."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.audit.draws import FAR, Call, Fit, Outcome, Script, run
from privet.trees.forest import Forest
from privet.trees.tree import Tree

TRIES = 60


@dataclass(frozen=True, slots=True)
class TreeValue:
    """A tree as a value that equal trees share: its tests, shape and labels, and the numbers in its nodes."""

    shape: tuple[tuple[int, ...], ...]
    numbers: bytes


def canonical(model: Any) -> Hashable:
    """A model as a value that two equal models share; other values must be hashable and stand for themselves."""
    if isinstance(model, Forest):
        return tuple(canonical(tree) for tree in model.trees)
    if isinstance(model, Tree):
        columns = (model.attribute, model.kind, model.cut, model.first_child, model.label)
        shape = tuple(tuple(column.tolist()) for column in columns)
        return TreeValue(shape, model.proba.tobytes() + model.counts.tobytes())
    hash(model)
    return model


def skeleton(released: Hashable) -> Hashable:
    """What is left of a release without its numbers: shapes, tests, labels, errors, purposes of charges."""
    if isinstance(released, TreeValue):
        return released.shape
    if isinstance(released, tuple):
        return tuple(skeleton(part) for part in released)
    if isinstance(released, int | float) and not isinstance(released, bool):
        return type(released).__name__
    return getattr(released, "what", released)


class Reach:
    """The skeletons that a fit was seen to release, under many random scripts."""

    def __init__(self, fit: Fit, seed: int = 0) -> None:
        self._fit = fit
        self._random = np.random.default_rng(seed)
        self._seen: set[Hashable] = set()
        self._tries = 0

    def has(self, released: Hashable) -> bool:
        """Whether the fit was seen to release something of that shape; a no is as good as the number of tries."""
        wanted = skeleton(released)
        while wanted not in self._seen and self._tries < TRIES:
            self._tries += 1
            self._seen.add(skeleton(run(self._fit, Script((), self._anything))))
        return wanted in self._seen

    def _anything(self, call: Call, number: int) -> Outcome:
        if call.kind == "laplace":
            away = self._random.choice([0, 1, math.ceil(FAR * call.scale)], size=call.values.size)
            return tuple((call.values + away * self._random.choice([-1, 1], size=call.values.size)).tolist())
        if call.kind == "coins":
            return tuple(self._random.integers(0, int(call.scale), call.values.size).tolist())
        return (int(self._random.choice(np.flatnonzero(np.isfinite(call.log_chances())))),)
