"""Simulated tables with a signal of a given strength, over any schema, on which the planner tries learners.

A random tree of Friedman & Schuster's generator (:mod:`privet.datasets.fs`) labels uniform records; a share of the
labels is then drawn anew. One tree alone is harder than most real tables, where many attributes carry some of the same
information. So the attributes that the tree does not use *lean*: each class has values of its own there, and some of
the records take one of those instead of any. If the owner gives the share of the largest class, classes are drawn
accordingly; a learner that sees only noise reaches just that accuracy.

Three strengths, chosen once for all schemas (docs/experiments/forecast.md shows how well they fit real tables):

- ``strong``: one attribute nearly decides, and most others lean with it (party lines in votes, edible mushrooms);
- ``medium``: two attributes together, with exceptions (incomes from census data);
- ``weak``: three, among much that nobody can predict (who will answer an advertisement).

>>> from privet.datasets.fs import domain
>>> rng = np.random.default_rng(0)
>>> world = World.draw(domain(), STRENGTHS["strong"], rng)
>>> records = world.sample(2000, rng)
>>> share = float((world.tree.classify(records) == records.labels).mean())
>>> 0.9 < share < 1  # one label in ten is drawn anew, which may be the same again
True
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.datasets.fs import HiddenTree, Sample, random_tree, sample
from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.tables.encoding import Codes
from privet.tables.frozen import Frozen

POOL = 4  # the ratio of drawn to kept records if class shares are given
LEVELS = 5  # of a number: as many as a hidden tree of three tests tells apart
AROUND_LEVEL = 0.05  # of the declared range: a fifth of the deviation of the levels themselves

Home = tuple[NDArray[Any], ...]
"""For each class, its own values of an attribute, or the two ends of its range."""


@dataclass(frozen=True)
class Strength:
    """The strength of a signal.

    Parameters
    ----------
    name : the name for owners
    depth : the most tests on a path of the hidden tree
    label_noise : the share of labels drawn anew, by the class shares of the whole table
    lean : the largest share of records that take a value of their class in an attribute that the tree does not use;
        each such attribute draws its own share between 0 and this
    """

    name: str
    depth: int
    label_noise: float
    lean: float

    @property
    def margin(self) -> float:
        """The lead of the largest class of a pure leaf over any other, as a share of the records."""
        return 1 - self.label_noise


STRENGTHS = {
    signal.name: signal
    for signal in (
        Strength("weak", depth=3, label_noise=0.6, lean=0.3),
        Strength("medium", depth=2, label_noise=0.3, lean=0.6),
        Strength("strong", depth=1, label_noise=0.1, lean=0.8),
    )
}


def parse_strength(signal: Strength | str) -> Strength:
    """A strength, or one by its name."""
    if isinstance(signal, Strength):
        return signal
    if signal not in STRENGTHS:
        raise ParameterError(
            parameter="signal", problem=f"must be one of {', '.join(map(repr, STRENGTHS))}, not {signal!r}"
        )
    return STRENGTHS[signal]


@dataclass(frozen=True, eq=False)
class World:
    """A distribution of tables: a hidden tree, the leaning of the other attributes, and the class shares."""

    tree: HiddenTree
    signal: Strength
    homes: dict[int, Home]
    leaning: dict[int, float]
    balance: NDArray[np.float64] | None = None  # the share of each class; None for those of the tree

    @classmethod
    def draw(
        cls, schema: Schema, signal: Strength, rng: np.random.Generator, largest_class: float | None = None
    ) -> World:
        tree = random_tree(schema, signal.depth, rng)
        used = set(tree.attribute.tolist())
        others = [a for a, arity in enumerate(schema.arities) if a not in used and arity > 1]
        homes = {a: _home(schema, a, rng) for a in others}
        leaning = {a: signal.lean * float(rng.random()) for a in others}
        return cls(tree, signal, homes, leaning, _balance(tree, largest_class, rng))

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Draw ``n`` simulated records."""
        schema = self.tree.schema
        plain = sample(self.tree, n, rng) if self.balance is None else self._balanced(n, rng)
        features, values = plain.features.copy(), {a: column.copy() for a, column in plain.values.items()}
        for a, home in self.homes.items():
            leaning = rng.random(n) < self.leaning[a]
            for c, own in enumerate(home):
                here = np.flatnonzero(leaning & (plain.labels == c))
                if a in values:
                    values[a][here] = _between(schema.attributes[a], own, len(here), rng)
                else:
                    features[a][here] = rng.choice(own, len(here))
        labels = plain.labels.copy()
        where = np.flatnonzero(rng.random(n) < self.signal.label_noise)
        labels[where] = rng.choice(schema.n_classes, len(where), p=self.balance)
        for a, column in values.items():
            features[a] = _bins(schema, a, column)
        return Sample(schema, features, labels, values)

    def _balanced(self, n: int, rng: np.random.Generator) -> Sample:
        """Records of the tree, subsampled to the given class shares."""
        assert self.balance is not None
        pool = sample(self.tree, POOL * n, rng)
        of_class = [np.flatnonzero(pool.labels == c) for c in range(len(self.balance))]
        shares = self.balance * [there.size > 0 for there in of_class]  # a tiny leaf may be missing from the pool
        sizes = rng.multinomial(n, shares / shares.sum())
        chosen = rng.permutation(
            np.concatenate(
                [
                    rng.choice(there, size, replace=size > there.size)
                    for there, size in zip(of_class, sizes, strict=True)
                    if size
                ]
            )
        )
        values = {a: column[chosen] for a, column in pool.values.items()}
        return Sample(pool.schema, pool.features[:, chosen], pool.labels[chosen], values)


@dataclass(frozen=True, eq=False)
class NumberWorld:
    """A world of classes in which every class stands for a level of a number, with a little spread around it.

    The levels of the hidden tree's classes are evenly spaced over the middle half of the declared bounds. A share of
    the labels is drawn anew, as in any world: no learner explains these.

    >>> from privet.schema import Categorical
    >>> schema = Schema((Categorical("sex", ("f", "m")), Numeric("age", 0, 100)), Numeric("wage", 0, 80))
    >>> rng = np.random.default_rng(0)
    >>> labels = NumberWorld.draw(schema, STRENGTHS["strong"], rng).sample(1000, rng).labels
    >>> bool(0 <= labels.min() < 30 < 50 < labels.max() <= 80)
    True
    """

    schema: Schema
    classes: World
    levels: NDArray[np.float64]
    """Of each class, from 0 to 1."""

    @classmethod
    def draw(cls, schema: Schema, signal: Strength, rng: np.random.Generator) -> NumberWorld:
        classes = World.draw(replace(schema, label=Categorical(schema.label.name, tuple(range(LEVELS)))), signal, rng)
        present = np.unique(classes.tree.label[classes.tree.label >= 0])
        levels = rng.random(LEVELS)
        levels[present] = rng.permutation(np.linspace(0, 1, len(present)))
        return cls(schema, classes, levels)

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Draw ``n`` simulated records."""
        plain, label = self.classes.sample(n, rng), self.schema.number
        place = 0.25 + self.levels[plain.labels] / 2 + rng.normal(0, AROUND_LEVEL, n)
        numbers = np.clip(label.low + (label.high - label.low) * place, label.low, label.high)
        return Sample(self.schema, plain.features, np.rint(numbers) if label.integer else numbers, plain.values)


def draw_world(
    schema: Schema, signal: Strength, rng: np.random.Generator, largest_class: float | None = None
) -> World | NumberWorld:
    """A random world for the schema's kind of label."""
    if schema.predicts_number:
        return NumberWorld.draw(schema, signal, rng)
    return World.draw(schema, signal, rng, largest_class)


def codes_for(records: Sample, schema: Schema) -> Codes:
    """Encode records by the same schema with other cuts, as a recipe prepares it."""
    features = records.features.astype(np.uint8 if max(schema.arities) <= 256 else np.uint16)
    for a, column in records.values.items():
        features[a] = _bins(schema, a, column)
    features.setflags(write=False)
    return Codes(features, frozen_of(records).label_codes(schema))


def frozen_of(records: Sample) -> Frozen:
    """Records in the form of an engine that can cut numbers anew."""
    columns = [records.values.get(a, codes) for a, codes in enumerate(records.features)]
    return Frozen(records.schema, tuple(columns), records.labels)


def _balance(tree: HiddenTree, largest_class: float | None, rng: np.random.Generator) -> NDArray[np.float64] | None:
    """Class shares: one class of the tree is the largest, the others share the rest; None for a tree of one class."""
    present = np.unique(tree.label[tree.label >= 0])
    if largest_class is None or len(present) < 2:
        return None
    shares = np.zeros(tree.schema.n_classes)
    shares[present] = (1 - largest_class) / (len(present) - 1)
    shares[rng.choice(present)] = largest_class
    return shares


def _home(schema: Schema, a: int, rng: np.random.Generator) -> Home:
    attribute, classes = schema.attributes[a], schema.n_classes
    place = rng.permutation(classes)
    if isinstance(attribute, Numeric):
        inner = np.sort(rng.uniform(attribute.low, attribute.high, classes - 1))
        ends = np.concatenate([[attribute.low], inner, [attribute.high]])
        return tuple(ends[place[c] : place[c] + 2] for c in range(classes))
    dealt = rng.permutation(attribute.arity)
    hands = min(classes, attribute.arity)  # with more classes than values, some share theirs
    return tuple(dealt[place[c] % hands :: hands] for c in range(classes))


def _between(attribute: Any, ends: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    drawn = rng.uniform(ends[0], ends[1], n)
    if attribute.integer:
        return np.clip(np.rint(drawn), np.ceil(attribute.low), np.floor(attribute.high))
    return drawn


def _bins(schema: Schema, a: int, column: NDArray[np.float64]) -> NDArray[np.intp]:
    attribute = schema.attributes[a]
    assert isinstance(attribute, Numeric)
    return np.searchsorted(attribute.cuts, column, side="left")
