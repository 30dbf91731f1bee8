"""Bought cuts: find where the records lie inside the declared bounds, for all numbers at once.

Bounds are public but rarely tight, so cuts that are spread over them miss the data. For each number a public *ladder*
of points is laid over its bounds: evenly, and ever closer towards both ends (towards zero, if that is inside). One
noisy histogram over the ladder's intervals, of all numbers together, shows where the records are. Intervals with many
records are cut finer and counted again. Few, well-placed cuts follow from the released counts: everything after the
noise is arithmetic and costs nothing. Claim and proof: ``docs/proofs/cuts.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.cutting.points import few_values, inside
from privet.privacy.dataset import PrivateDataset
from privet.schema import Attribute, Numeric, Schema

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

EVEN, OCTAVES = 32, 24  # rungs of equal width, and how often they are halved towards an end: a factor of 16 million
ROUNDS = 4  # a ladder, and finer ones where records crowd
AGAIN = Fraction(1, 2)  # the cost of a further round, relative to the first: it only counts where many records are
FINER = 128  # into how many intervals the crowded ones of a number are cut; three times that is a factor of 2 million
CROWDED, CROWD = 0.25, 0.8  # of the records: in an interval for it to be crowded, and in all such for a finer ladder
CLEAR = 30.0  # noise scales: with fewer records, an interval is not worth a finer ladder
FAINT = 20.0  # noise scales: with fewer records, a number's histogram is useless
SURE = 1.0  # standard deviations of noise that the sum of a row of intervals must exceed
ATOM = 1.01 * 0.5**OCTAVES  # of the bounds: an interval as narrow as that is a single value
HEAVY = 0.4  # of the cuts inside an interval, about, at most
HIDDEN = 25.0  # noise scales: so many records are spread over the public grid
TRACE = 1e-9  # of the records, in every interval: the cumulative count is then increasing and can be inverted


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Where the values of a number lie: approximate numbers of records between public edges."""

    attribute: Numeric
    edges: Floats
    records: Floats
    scale: float  # of the noise of the first ladder's counts

    @classmethod
    def of(cls, attribute: Numeric, rungs: tuple[float, ...], counts: Floats, scale: float) -> Whereabouts:
        """From noisy counts between the rungs of a ladder."""
        return cls(attribute, np.array([attribute.low, *rungs, attribute.high]), believed(counts, scale), scale)

    @property
    def crowded(self) -> Bools:
        """The intervals with many records that are not a single value: a finer ladder locates the records in them."""
        total = self.records.sum()
        many = (self.records >= max(CROWDED * total, CLEAR * self.scale)) & ~self.single
        return np.asarray(many if self.records[many].sum() >= CROWD * total else np.zeros_like(many))

    def finer(self) -> tuple[float, ...]:
        """Points inside the crowded intervals, and at their ends; empty if there are none."""
        crowded = np.flatnonzero(self.crowded)
        parts = FINER // max(len(crowded), 1)
        rungs = [np.linspace(self.edges[i], self.edges[i + 1], parts + 1) for i in crowded]
        return inside(self.attribute, np.concatenate(rungs)) if rungs else ()

    def refined(self, rungs: tuple[float, ...], counts: Floats, scale: float) -> Whereabouts:
        """The records of each crowded interval, redistributed by the noisy counts between the rungs."""
        asked = np.array([self.attribute.low, *rungs, self.attribute.high])
        edges = np.union1d(self.edges, asked)
        starts = edges[:-1]
        inside, within = (np.searchsorted(among, starts, side="right") - 1 for among in (self.edges, asked))
        records = self.records[inside]
        for i in np.flatnonzero(self.crowded):
            mine = np.flatnonzero(inside == i)
            parts = believed(counts[within[mine]], scale)
            known = parts.sum() > 0
            records[mine] *= parts / parts.sum() if known else 1 / len(mine)
        return replace(self, edges=edges, records=records)

    def cuts(self, count: int, public: Sequence[float] = ()) -> tuple[float, ...]:
        """About ``count`` cuts with about as many records between them; none where noise hides all.

        ``public`` cuts, if given, are the cuts to use without records. They weigh as if some records, no more than
        noise could hide, were spread over the intervals between them.

        A single value needs only a cut on either side, however many records have it. So it weighs at most one cut's
        share, to leave cuts for the others. An interval that was not counted again may hide one, and weighs less than
        half.
        """
        if self.records.sum() < FAINT * self.scale:
            return ()
        weights = self.records + self.scale * self._hidden(public)
        most = np.where(self.single, 1 / (count + 1), HEAVY)
        for _ in range(count):  # each time some are lowered, the share of a cut shrinks a little
            weights = np.minimum(weights, most * weights.sum())
        below = np.concatenate([[0.0], np.cumsum(weights + TRACE * weights.sum())])
        wanted = np.arange(1, count + 1) / (count + 1) * below[-1]
        found = np.unique(np.interp(wanted, below, self.edges))
        return inside(self.attribute, rounded(found, self.attribute.low, self.attribute.high))

    def _hidden(self, public: Sequence[float]) -> Floats:
        """``HIDDEN`` records, the same number between any two public cuts, and evenly within."""
        if not public:
            return np.zeros_like(self.records)
        ends = np.array([self.attribute.low, *public, self.attribute.high])
        return HIDDEN * np.diff(np.interp(self.edges, ends, np.linspace(0.0, 1.0, len(ends))))

    @property
    def single(self) -> Bools:
        """The intervals that are (nearly) a single value."""
        widths, whole = np.diff(self.edges), self.attribute.high - self.attribute.low
        return np.asarray(widths <= (max(1.0, ATOM * whole) if self.attribute.integer else ATOM * whole))


def ladder(attribute: Numeric, even: int = EVEN, octaves: int = OCTAVES) -> tuple[float, ...]:
    """The public points of a number: ``even`` intervals of equal width, and two points for each halving towards an end.

    >>> ladder(Numeric("share", 0, 1), even=2, octaves=3)
    (0.125, 0.1875, 0.25, 0.375, 0.5, 0.625, 0.75, 0.8125, 0.875)
    """
    low, high = attribute.low, attribute.high
    steps = (high - low) * np.outer(0.5 ** np.arange(1, octaves + 1), (1.0, 1.5)).ravel()
    ends = ((0.0, 1), (0.0, -1)) if low < 0 < high else ((low, 1), (high, -1))
    rungs = [np.linspace(low, high, even + 1)[1:-1], np.zeros(1), *(end + side * steps for end, side in ends)]
    return inside(attribute, np.concatenate(rungs))


def worth_finding(schema: Schema, count: int) -> tuple[int, ...]:
    """The numbers whose cuts are worth buying: no declared cuts, and more values than ``count`` cuts separate.

    A public fact: without such numbers, nothing is ever bought.
    """
    return tuple(a for a, attribute in enumerate(schema.attributes) if _worth_finding(attribute, count))


def _worth_finding(attribute: Attribute, count: int) -> bool:
    if not isinstance(attribute, Numeric) or attribute.thresholds is not None:
        return False
    return not few_values(attribute, count + 1) and bool(ladder(attribute))


def most_cost(price: Fraction) -> Fraction:
    """The most that ``find`` spends: all rounds for all numbers."""
    return price * (1 + (ROUNDS - 1) * AGAIN)


def find(data: PrivateDataset, attributes: Iterable[int], price: Fraction) -> tuple[dict[int, Whereabouts], Fraction]:
    """Buy where some numbers lie, and return what that cost.

    The cost is ``price`` for all of them together, and up to ``most_cost`` where records crowd: each number pays its
    part of ``price``, and some of it again in each further round that it needs.
    """
    ladders: dict[int, tuple[float, ...]] = {a: ladder(_number(data.schema, a)) for a in attributes}
    found: dict[int, Whereabouts] = {}
    cost, each = Fraction(0), price / max(len(ladders), 1)
    again = AGAIN * each
    for _ in range(ROUNDS):
        if not ladders:
            break
        view, paid = data.recut(cut_at(data.schema, ladders)), each * len(ladders)
        counts, cost = histograms(view, list(ladders), paid), cost + paid
        scale = data.ledger.noise_scale(each)
        for a, rungs in ladders.items():
            known = found.get(a)
            found[a] = (
                Whereabouts.of(_number(data.schema, a), rungs, counts[a], scale)
                if known is None
                else known.refined(rungs, counts[a], scale)
            )
        ladders, each = {a: rungs for a in ladders if (rungs := found[a].finer())}, again
    return found, cost


def histograms(data: PrivateDataset, attributes: Sequence[int], price: Fraction) -> dict[int, Floats]:
    """Noisy counts between the cuts of some numbers, without missing values: one release, which costs ``price``."""
    asked = np.zeros((1, len(data.schema.attributes)), dtype=bool)
    asked[0, list(attributes)] = True
    counts = data.level().attribute_counts_all(price, asked, by_class=False)[0].astype(np.float64)
    first = data.schema.offsets
    return {a: counts[first[a] : first[a] + len(_number(data.schema, a).cuts) + 1] for a in attributes}


def cut_at(schema: Schema, cuts: Mapping[int, tuple[float, ...]]) -> Schema:
    """The schema with some numbers cut at these points; a number without points stays as it is."""
    attributes = [
        replace(_number(schema, a), thresholds=cuts[a]) if cuts.get(a) else attribute
        for a, attribute in enumerate(schema.attributes)
    ]
    return replace(schema, attributes=tuple(attributes))


def _number(schema: Schema, a: int) -> Numeric:
    attribute = schema.attributes[a]
    assert isinstance(attribute, Numeric)
    return attribute


def rounded(points: Floats, low: float, high: float) -> Floats:
    """Ascending points, rounded to at most a twentieth of the distance to the nearer neighbour or bound.

    Bought points are no more precise than that, and people read them.

    >>> rounded(np.array([25.61891998, 45.49104838, 45.49104841, 110.1608431]), 0, 5000).tolist()
    [26.0, 45.49104838, 45.49104841, 110.0]
    """
    gaps = np.diff(np.concatenate([[low], points, [high]]))
    nearer = np.minimum(gaps[:-1], gaps[1:])
    digits = -np.floor(np.log10(np.maximum(nearer / 10, np.finfo(float).tiny))).astype(int)  # half a step at most
    return np.array([round(float(point), int(places)) for point, places in zip(points, digits, strict=True)])


def believed(counts: Floats, scale: float) -> Floats:
    """Denoised numbers of records in a row of intervals, from counts with noise of that scale.

    The row is halved again and again, and a half whose sum could be noise alone is dropped. If that holds for both
    halves, the total is spread evenly.

    >>> believed(np.array([2.0, -1.0, 0.0, 1.0, 90.0, 110.0, -3.0, 2.0]), scale=2.0).round().tolist()
    [0.0, 0.0, 0.0, 0.0, 90.0, 110.0, 0.0, 0.0]
    """
    if len(counts) == 1:
        return np.maximum(counts, 0.0)
    halves = counts[: len(counts) // 2], counts[len(counts) // 2 :]
    sure = [half.sum() >= SURE * scale * math.sqrt(2 * len(half)) for half in halves]
    if not any(sure):
        return np.full_like(counts, max(float(counts.mean()), 0.0))
    return np.concatenate(
        [believed(half, scale) if kept else np.zeros_like(half) for half, kept in zip(halves, sure, strict=True)]
    )
