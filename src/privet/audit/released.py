"""Releases as comparable values: whether two are equal, and whether a table can release one at all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np

from privet.audit.draws import FAR, FITTED, NOISY, Call, Fit, NotComparable, Outcome, Script, fitted, run
from privet.models.additive import Part
from privet.models.tree import Tree
from privet.schema import Schema

TRIES, MOST_TRIES = 120, 600  # for one release, and for all releases of a table together
HOPELESS = 30  # tries, if there are too many possible values to see them all
OFTEN = 3  # sightings of each value before we assume that there are no others


@dataclass(frozen=True, slots=True)
class TreeValue:
    """A tree as a value that equal trees share: tests, shape, labels, which nodes have counts; numbers; schema."""

    shape: tuple[tuple[int, ...], ...]
    numbers: bytes
    schema: str


def canonical(model: Any) -> Hashable:
    """A release as a value that equal releases share, including all nested fields."""
    if isinstance(model, Tree):
        counted = np.asarray(~np.isnan(model.counts).any(axis=1))
        columns = (model.attribute, model.kind, model.cut, model.first_child, model.label, counted, model.draws)
        shape = tuple(tuple(column.tolist()) for column in columns)
        return TreeValue(shape, model.proba.tobytes() + model.counts.tobytes(), written(model.schema))
    if isinstance(model, Schema):
        return written(model)
    if isinstance(model, Part):
        # As text, like a schema: noise cannot explain another knot or another level.
        public = repr((model.attributes, [column.tolist() for column in model.levels], model.knots))
        return "Part", public, canonical(model.table), model.deviation, canonical(model.widest)
    if isinstance(model, np.ndarray):
        return str(model.dtype), canonical(model.tolist())
    if isinstance(model, Mapping):
        return tuple((canonical(key), canonical(value)) for key, value in model.items())
    if isinstance(model, tuple | list):
        return tuple(map(canonical, model))
    if is_dataclass(model) and not isinstance(model, type):
        return type(model).__name__, *(canonical(getattr(model, field.name)) for field in fields(model))
    if isinstance(model, np.generic):
        return canonical(model.item())
    if isinstance(model, float) and math.isnan(model):
        return "nan"  # which is not equal to itself
    own: Any = type(model).__hash__
    if model is not None and own in (None, object.__hash__):
        raise NotComparable(
            f"cannot compare two releases of type {type(model).__name__}; release a tree, a forest, a dataclass or "
            "plain numbers and text"
        )
    return cast(Hashable, model)


_written: dict[int, tuple[Schema, str]] = {}


def written(schema: Schema) -> str:
    """A schema as text, with every fact and remark. Unlike in :func:`skeleton`, its numbers must agree too."""
    known = _written.get(id(schema))
    if known is None:
        if len(_written) > 1000:
            _written.clear()
        parts = (canonical(getattr(schema, field.name)) for field in fields(schema))
        known = _written[id(schema)] = schema, repr(tuple(parts))  # with the schema, so that no other gets its id
    return known[1]


def skeleton(released: Hashable) -> Hashable:
    """A release without its numbers: shapes, tests, labels, errors, purposes of charges."""
    if isinstance(released, TreeValue):
        return released.shape, released.schema
    if isinstance(released, tuple):
        return tuple(skeleton(part) for part in released)
    if isinstance(released, int | float | Fraction) and not isinstance(released, bool):
        return type(released).__name__
    return released


def facts(released: Hashable, where: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Hashable]]:
    """(kind, value) of the facts about a release without its numbers, of the whole and of its parts.

    A forest has too many skeletons to enumerate, but a tree has few possible roots.
    """
    yield (*where, "all"), skeleton(released)
    if isinstance(released, TreeValue):
        yield (*where, "schema"), released.schema
        yield (*where, "tests"), released.shape[:4]
        yield (*where, "root"), tuple(column[0] for column in released.shape[:3])
    elif isinstance(released, tuple):
        yield (*where, "parts"), len(released)
        for i, part in enumerate(released):
            yield from facts(part, (*where, i))


class Reach:
    """The releases of a fit that were seen under many random scripts."""

    def __init__(self, fit: Fit, seed: int = 0) -> None:
        self._fit = fit
        self._random = np.random.default_rng(seed)
        self._seen: dict[tuple[Any, ...], Counter[Hashable]] = {}
        self._tries = 0

    def has(self, released: Hashable, outcomes: Sequence[Outcome] = ()) -> bool:
        """Whether the fit can release something of that shape, as far as the tries show.

        It cannot if some fact about it was never seen, although facts of that kind are few: each was seen more than
        once or twice. ``outcomes`` are those that led another table there. Half of the tries reuse its counts.
        """
        wanted = list(facts(released))
        for tried in range(min(TRIES, MOST_TRIES - self._tries)):
            missing = [kind for kind, value in wanted if not self._has_seen(kind, value)]
            if not missing or (tried >= HOPELESS and all(map(self._unsettled, missing))):
                return True  # not excluded
            self._tries += 1
            guide = outcomes if tried % 2 else ()
            for kind, value in facts(run(self._fit, Script((), partial(self._anything, guide)))):
                self._seen.setdefault(kind, Counter())[value] += 1
        enough = self._tries < MOST_TRIES
        return not enough or all(self._has_seen(*fact) or self._unsettled(fact[0]) for fact in wanted)

    def _has_seen(self, kind: tuple[Any, ...], value: Hashable) -> bool:
        return value in self._seen.get(kind, ())

    def _unsettled(self, kind: tuple[Any, ...]) -> bool:
        return min(self._seen.get(kind, {None: 0}).values()) < OFTEN

    def _anything(self, guide: Sequence[Outcome], call: Call, number: int) -> Outcome:
        if call.kind in NOISY and number < len(guide) and len(guide[number]) == call.values.size:
            return guide[number]
        if call.kind in NOISY:
            away = self._random.choice([0, 1, math.ceil(FAR * call.scale)], size=call.values.size)
            return tuple((call.values + away * self._random.choice([-1, 1], size=call.values.size)).tolist())
        if call.kind in FITTED:
            return fitted(call)
        if call.kind == "coins":
            return tuple(self._random.integers(0, int(call.scale), call.values.size).tolist())
        return (int(self._random.choice(np.flatnonzero(np.isfinite(call.log_chances())))),)
