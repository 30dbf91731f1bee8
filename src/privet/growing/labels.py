"""Where the numbers to predict lie inside their declared bounds, found out for a small share of epsilon.

Two draws come first: a point of the public ladder of ``growing/cutting/cuts.py`` with half of the labels below it, and
a distance from there within which most labels are. The ladder has points wherever labels can be, even in bounds that
are a million times too wide, and both draws work with few records. Where there are more, an even histogram of the
labels around that point says the rest. Everything after is arithmetic on released numbers. Claims and proofs:
``docs/proofs/labels.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.growing.cutting.cuts import ladder
from privet.growing.cutting.points import inside
from privet.kinds import ChargeKind
from privet.privacy.dataset import PrivateDataset
from privet.privacy.label_questions import choose_label_set
from privet.privacy.scores import Balance
from privet.schema import Numeric, Schema

Floats = npt.NDArray[np.float64]

PART = Fraction(1, 4)  # of the price, for each of two draws and up to two histograms
CLEAR = 40.0  # noise scales of records that a draw needs; with fewer, the two draws get all
HALF, MOST_LABELS = Balance(1, 1), Balance(3, 7)  # half of the labels on either side, and seven in ten inside
FINEST = 32  # how often the declared range is halved around the middle, at most
AROUND = 5.0  # distances to either side of the middle that a histogram covers
NEAR = 2.0  # the same for the range without a histogram: most of the labels
USUALLY = 0.7  # standard deviations of normal labels in a distance: it is once to twice what seven in ten need
EVEN = 64  # intervals of a histogram
WORTH = 100.0  # noise scales of records, from which on a histogram says more than the draws
CROWDED = 8  # intervals: where the usual labels are in fewer, their stretch is counted again
EMPTY = 1.0  # noise scales: an interval of fewer records does not belong to the stretch by itself
TAIL = 0.02  # of the labels, on either side: what is left outside the range
USUAL = 0.16, 0.5, 0.84  # quantiles: the middle one, and a standard deviation to either side, if labels are normal


@dataclass(frozen=True)
class LabelFacts:
    """Approximate facts about the labels: the range of most of them, their median, and their standard deviation."""

    low: float
    high: float
    centre: float
    deviation: float

    @property
    def width(self) -> float:
        return self.high - self.low


def find_labels(data: PrivateDataset, price: Fraction, records: float) -> tuple[LabelFacts, Fraction]:
    """Buy where the labels lie for at most ``price``, and return what it cost; ``records`` is their released number."""
    label, steps = data.schema.number, data.ledger.steps
    each = price * (PART if records * float(price * PART) >= CLEAR * steps else 2 * PART)
    centre = _middle(data, each)
    away = _distance(data, centre, each)
    low, high = max(centre - NEAR * away, label.low), min(centre + NEAR * away, label.high)
    facts = LabelFacts(low, high, centre, USUALLY * away)
    scale, cost = float(steps / each), 2 * each
    around = max(centre - AROUND * away, label.low), min(centre + AROUND * away, label.high)
    while cost < price and records >= WORTH * scale:
        edges = np.array([label.low, *inside(label, np.linspace(*around, EVEN + 1)), label.high])
        counts, cost = _histogram(data, edges, each), cost + each
        facts = facts_of(label, edges, counts, scale)
        if facts.width * EVEN > CROWDED * (around[1] - around[0]):
            break
        around = facts.low - facts.width, facts.high + facts.width
    return _sound(label, facts), cost


def _middle(data: PrivateDataset, price: Fraction) -> float:
    """The middle of an interval of the ladder, drawn by how many labels reach it from either side."""
    view = data.recut(cut_labels(data.schema, np.array(ladder(data.schema.number))))
    up_to = np.tri(view.schema.n_classes, dtype=bool)
    chosen = choose_label_set(view.level(), price, (up_to, up_to.T), HALF)
    label = view.schema.number
    return float(bin_values(label, label.low, label.high)[chosen])


def _distance(data: PrivateDataset, centre: float, price: Fraction) -> float:
    """A distance from the centre within which seven in ten labels lie, drawn from halvings of the declared range.

    Half of it does not suffice: the second set of a pair is what lies outside that.
    """
    label = data.schema.number
    aways = (label.high - label.low) * 0.5 ** np.arange(FINEST + 1)
    view = data.recut(cut_labels(data.schema, np.concatenate([centre - aways, centre + aways])))
    values = bin_values(view.schema.number, label.low, label.high)
    within = np.abs(values - centre) <= np.append(aways, 0.0)[:, None]
    chosen = choose_label_set(view.level(), price, (within[:-1], ~within[1:]), MOST_LABELS)
    return float(aways[chosen])


def _histogram(data: PrivateDataset, edges: Floats, price: Fraction) -> Floats:
    view = data.recut(cut_labels(data.schema, edges[1:-1]))
    counts = view.level().class_counts_all(price, what="where the labels lie", kind=ChargeKind.ATTRIBUTE_COUNTS)[0]
    return counts.astype(np.float64)


def facts_of(label: Numeric, edges: Floats, counts: Floats, scale: float) -> LabelFacts:
    """The facts that noisy counts between edges tell.

    >>> label, counts = Numeric("wage", 0, 100), np.array([0, 0, 10, 40, 40, 10, 0, 0, 0, 0.0])
    >>> facts_of(label, np.linspace(0, 100, 11), counts, scale=1.0)
    LabelFacts(low=22.0, high=58.0, centre=40.0, deviation=8.5)
    """
    start, stop = stretch(counts, scale)
    shares = np.maximum(counts[start:stop], 0.0)
    shares = shares / shares.sum() if shares.any() else np.full(stop - start, 1 / (stop - start))
    below, ends = np.concatenate([[0.0], np.cumsum(shares)]), edges[start : stop + 1]
    low, early, middle, late, high = np.interp([TAIL, *USUAL, 1 - TAIL], below, ends).tolist()
    return LabelFacts(low, high, middle, (late - early) / 2)


def _sound(label: Numeric, facts: LabelFacts) -> LabelFacts:
    """The facts with a range of some width inside the bounds, and whole ends of whole numbers."""
    low, high = facts.low, facts.high
    if label.integer:
        low, high = math.floor(low + 0.5), math.ceil(high - 0.5)
    least = 1.0 if label.integer else (label.high - label.low) * 0.5**FINEST
    low, high = max(min(low, high - least), label.low), min(max(high, low + least), label.high)
    return replace(facts, low=low, high=high, deviation=max(facts.deviation, (high - low) / EVEN))


def stretch(counts: Floats, scale: float) -> tuple[int, int]:
    """The run of intervals with the most records beyond what empty ones could have: start and stop.

    >>> stretch(np.array([0, -2, 0, 30, 20, -1, 25, 0, 1, -1, 0.0]), scale=1.0)
    (3, 7)
    """
    above = np.concatenate([[0.0], np.cumsum(counts - EMPTY * scale)])
    stop = int(np.argmax((above - np.minimum.accumulate(above))[1:])) + 1
    return int(np.argmin(above[:stop])), stop


def cut_labels(schema: Schema, points: Floats) -> Schema:
    """The schema with its number cut at those points that can be cuts."""
    return replace(schema, label=replace(schema.number, thresholds=inside(schema.number, points) or None, bins=2))


def bin_values(label: Numeric, low: float, high: float) -> Floats:
    """The middle of each bin of a label that is cut inside (low, high); the bins at the ends end there.

    >>> bin_values(Numeric("wage", 0, 1000, thresholds=(10, 20, 30)), 0, 40)
    array([ 5., 15., 25., 35.])
    >>> bin_values(Numeric("stars", 0, 5, integer=True, thresholds=(1.5, 2.5)), 1, 3)
    array([1., 2., 3.])
    """
    half = 0.5 if label.integer else 0.0
    edges = np.concatenate([[min(low - half, label.cuts[0])], label.cuts, [max(high + half, label.cuts[-1])]])
    return np.asarray(edges[:-1] / 2 + edges[1:] / 2)
