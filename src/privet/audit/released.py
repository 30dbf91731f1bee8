"""Releases as comparable values: whether two are equal, and whether a table can release one at all."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
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
# A release has hundreds of parts, and most are of these types: they are looked up first, and others compared in turn.
AS_THEY_ARE = frozenset({str, bool, int, Fraction, type(None)})
COUNTED = {kind: kind.__name__ for kind in (int, float, Fraction)}

Path = tuple[Any, ...]
Fact = tuple[Path, Hashable]


@dataclass(frozen=True, slots=True)
class TreeValue:
    """A tree as a value that equal trees share: tests, shape, labels, which nodes have counts; numbers; schema."""

    shape: tuple[tuple[int, ...], ...]
    numbers: bytes
    schema: str


def canonical(model: Any) -> Hashable:
    """A release as a value that equal releases share, including all nested fields."""
    kind = type(model)
    if kind in AS_THEY_ARE or (kind is float and model == model):
        return cast(Hashable, model)
    if kind is tuple or kind is list:
        return tuple(map(canonical, model))
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
    return _collect(released, (), [])


def facts(released: Hashable) -> list[Fact]:
    """(kind, value) of the facts about a release without its numbers, of the whole and of its parts.

    A forest has too many skeletons to enumerate, but a tree has few possible roots.
    """
    found: list[Fact] = []
    _collect(released, (), found)
    return found


def _collect(released: Hashable, where: Path, found: list[Fact]) -> Hashable:
    """The skeleton of a part of a release; its facts are added to ``found``."""
    kind = type(released)
    without: Hashable = released
    if kind in COUNTED:
        without = COUNTED[kind]
    elif kind is TreeValue:
        tree = cast(TreeValue, released)
        without = tree.shape, tree.schema
        found.append(((*where, "schema"), tree.schema))
        found.append(((*where, "tests"), tree.shape[:4]))
        found.append(((*where, "root"), tuple(column[0] for column in tree.shape[:3])))
    elif isinstance(released, tuple):
        without = tuple([_collect(part, (*where, i), found) for i, part in enumerate(released)])
        found.append(((*where, "parts"), len(released)))
    elif kind is not str and kind is not bool and isinstance(released, int | float | Fraction):
        without = kind.__name__
    found.append(((*where, "all"), without))
    return without


class Reach:
    """The releases of a fit that were seen under many random scripts."""

    def __init__(self, fit: Fit, seed: int = 0) -> None:
        self._fit = fit
        self._random = np.random.default_rng(seed)
        self._seen: defaultdict[Path, Counter[Hashable]] = defaultdict(Counter)
        self._tries = 0

    def has(self, released: Hashable, outcomes: Sequence[Outcome] = ()) -> bool:
        """Whether the fit can release something of that shape, as far as the tries show.

        It cannot if some fact about it was never seen, although facts of that kind are few: each was seen more than
        once or twice. ``outcomes`` are those that led another table there. Half of the tries reuse its counts.
        """
        missing = self._unseen(facts(released))
        for tried in range(min(TRIES, MOST_TRIES - self._tries)):
            if not missing or (tried >= HOPELESS and all(map(self._unsettled, missing))):
                return True  # not excluded
            self._tries += 1
            guide = outcomes if tried % 2 else ()
            for kind, value in facts(run(self._fit, Script((), partial(self._anything, guide)))):
                self._seen[kind][value] += 1
            missing = self._unseen(missing)
        enough = self._tries < MOST_TRIES
        return not enough or all(map(self._unsettled, missing))

    def _unseen(self, wanted: list[Fact]) -> list[Fact]:
        return [(kind, value) for kind, value in wanted if value not in self._seen.get(kind, ())]

    def _unsettled(self, fact: Fact) -> bool:
        return min(self._seen.get(fact[0], {None: 0}).values()) < OFTEN

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
