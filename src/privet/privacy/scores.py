"""Scores of a split, each beside the most that one record can change it.

A score of a test is the sum over its children of ``node(class counts)``. All scores here are one-sided: adding a
record moves the score of *every* candidate in the same direction, by at most ``sensitivity``. That is what lets the
exponential mechanism use ``exp(eps q / S)`` where the textbook has ``exp(eps q / 2S)``.
Proofs: ``docs/proofs/scores.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError, ScoreError, Setting
from privet.privacy.budget import float_up
from privet.schema import Schema
from privet.structure.splits import Kind, Tests

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MAX_RECORDS = 2**32
"""Rounding bounds below hold up to this many records; a public constant, never compared with a table's size."""

_ULP = Fraction(1, 2**52)


@dataclass(frozen=True, slots=True)
class Max:
    """Records that the majority classes of the children classify correctly."""

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(1)

    def node(self, counts: Counts) -> Floats:
        return np.asarray(counts.max(axis=-1), dtype=np.float64)

    def rounding(self, terms: int) -> Fraction:
        return Fraction(0)  # integers below 2**53 are exact doubles


@dataclass(frozen=True, slots=True)
class Gini:
    """Minus the size-weighted Gini impurity of the children; *not* divided by the private number of records."""

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(2)

    def node(self, counts: Counts) -> Floats:
        exact = counts.astype(np.float64)
        size = exact.sum(axis=-1)
        squares = np.einsum("...c,...c->...", exact, exact)
        return np.asarray(np.divide(squares, size, out=np.zeros_like(size), where=size > 0) - size)

    def rounding(self, terms: int) -> Fraction:
        return terms * MAX_RECORDS * _ULP


@dataclass(frozen=True, slots=True)
class InfoGain:
    """Minus the size-weighted entropy of the children, in bits.

    ``max_records`` is a bound on the number of records that the data owner declares; the promise holds for tables
    no larger than it. It is public and is never compared with the table.
    """

    max_records: int

    def __post_init__(self) -> None:
        if isinstance(self.max_records, bool) or not isinstance(self.max_records, int | np.integer):
            raise ParameterError("InfoGain needs max_records, a whole number that the data owner declares")
        if not 1 <= self.max_records <= MAX_RECORDS:
            raise ParameterError(f"max_records must lie between 1 and {MAX_RECORDS}, not {self.max_records}")

    @property
    def sensitivity(self) -> Fraction:
        bits = math.log2(int(self.max_records) + 1) + 1 / math.log(2)
        return Fraction(math.nextafter(bits * (1 + 2**-50), math.inf))

    def node(self, counts: Counts) -> Floats:
        exact = counts.astype(np.float64)
        size = exact.sum(axis=-1, keepdims=True)
        share = np.divide(exact, size, out=np.ones_like(exact), where=exact > 0)
        return np.asarray((exact * np.log2(share)).sum(axis=-1))

    def rounding(self, terms: int) -> Fraction:
        return terms * int(self.max_records) * 64 * _ULP  # |log2 share| <= 32, and 2 ulp for the logarithm


@dataclass(frozen=True, slots=True)
class Hits:
    """Records of one class: the score of a label for a leaf, or (summed over leaves) of a labelled tree."""

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(1)

    def node(self, counts: Counts) -> Floats:
        return counts.astype(np.float64)

    def rounding(self, terms: int) -> Fraction:
        return Fraction(0)


@dataclass(frozen=True, slots=True)
class Wins:
    """1 for the classes with most records, 0 for the others: the score of a label in Fletcher's thesis (ch. 8).

    A record can move it up or down, but all labels to the same side.
    """

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(1)

    def node(self, counts: Counts) -> Floats:
        return np.asarray(counts == counts.max(axis=-1, keepdims=True), dtype=np.float64)

    def rounding(self, terms: int) -> Fraction:
        return Fraction(0)


@dataclass(frozen=True, slots=True)
class LogLoss:
    """Minus the log-loss of public probabilities, in steps; ``most`` is where the loss of one record is cut off."""

    most: int

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(self.most)

    def node(self, counts: Counts) -> Floats:
        return -counts.astype(np.float64)

    def rounding(self, terms: int) -> Fraction:
        return MAX_RECORDS * self.most * _ULP  # sums are exact integers; adding a public prior to them may round


@dataclass(frozen=True, slots=True)
class Rank:
    """Minus the records by which a bin of a number misses the quantile ``share``, times its denominator.

    0 for the bin that holds the quantile. A record can move the scores of bins on its two sides apart, so a choice by
    them is two-sided.
    """

    share: Fraction

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(max(self.share.numerator, self.share.denominator - self.share.numerator))

    def node(self, counts: Counts) -> Floats:
        part, whole = self.share.numerator, self.share.denominator
        upto = counts.cumsum(axis=-1)
        wanted = part * upto[..., -1:]
        beyond = np.maximum(whole * (upto - counts) - wanted, wanted - whole * upto)
        return np.asarray(-np.maximum(beyond, 0), dtype=np.float64)

    def rounding(self, terms: int) -> Fraction:
        return Fraction(0)  # whole numbers below 2**53: denominators are at most 10,000


@dataclass(frozen=True, slots=True)
class Balance:
    """The smaller of public multiples of two counts: of the records in one set, and in another.

    If the second set is what the first leaves, it is largest where the first has its share of the records: half of
    them if both multiples are 1. A record more is in none of the two, in one or in both. So it raises the score of
    every pair of sets by at least 0 and at most the larger multiple.
    """

    first: int
    second: int

    def __post_init__(self) -> None:
        if not all(type(one) is int and 1 <= one <= MOST_MULTIPLE for one in (self.first, self.second)):
            raise ParameterError(f"first and second must be whole numbers from 1 to {MOST_MULTIPLE}")

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(max(self.first, self.second))

    def node(self, counts: Counts) -> Floats:
        """Of (..., 2) counts, of the first set and of the second."""
        return np.minimum(self.first * counts[..., 0], self.second * counts[..., 1]).astype(np.float64)

    def rounding(self, terms: int) -> Fraction:
        return Fraction(0)


Score = Max | Gini | InfoGain | Hits | Wins | LogLoss | Rank | Balance

SPLIT_SCORES = (Max, Gini, InfoGain)
"""The closed set of scores of a test. Each has a proof; what is not among them has none."""
LABEL_SCORES = (Hits, Wins)
"""And of a label."""
MOST_MULTIPLE = 2**10  # of a balance: times 2**32 records it is still an exact double


def check_score(score: object, closed: tuple[type, ...]) -> str:
    """Refuse all but the closed set, subclasses and look-alikes too; the condition of the score's bound, or ""."""
    if type(score) not in closed:
        names = ", ".join(kind.__name__ for kind in closed)
        raise ScoreError(f"score must be one of {names}, not {type(score).__name__}: only these have proven bounds")
    bound = "the promise holds for tables of at most {} records, as declared"
    return bound.format(score.max_records) if isinstance(score, InfoGain) else ""


def parse_score(name: str, max_records: int | None = None) -> Score:
    """The split score called ``name``.

    >>> parse_score("gini")
    Gini()
    """
    known: dict[str, Score] = {"max": Max(), "gini": Gini()}
    if isinstance(name, str) and name in known:
        return known[name]
    if name == "infogain":
        if max_records is None:
            raise ParameterError(
                (Setting("criterion", "infogain"), " needs ", Setting("max_records"), ", a declared bound on the "
                 "number of records: its sensitivity grows with that bound"),
                parameter="max_records",
                fix=("declare one, or use ", Setting("criterion", "gini"), " or 'max', which need none"),
            )  # fmt: skip
        return InfoGain(max_records)
    if name == "gainratio":
        raise ScoreError(
            (Setting("criterion", name), " is refused: one record can move the gain ratio over its whole range [0, 1], "
             "so a mechanism calibrated to it chooses at random"),
            parameter="criterion",
            fix="use 'max', 'gini' or 'infogain'",
        )  # fmt: skip
    raise ScoreError(f"unknown criterion {name!r}", parameter="criterion", fix="choose 'max', 'gini' or 'infogain'")


def float_sensitivity(score: Score, terms: int, shift: float = 0.0) -> Fraction:
    """The sensitivity of the score *as computed in doubles* from ``terms`` class counts, plus a public ``shift``.

    A computed score is within ``u`` of the true one, so its change lies in ``[-2u, S + 2u]`` up to direction and the
    exponential mechanism loses what it would lose at ``S + 4u`` (``docs/proofs/scores.md``).
    """
    offset = Fraction(float_up(Fraction(abs(shift)))) + MAX_RECORDS if shift else Fraction(0)
    return score.sensitivity + 4 * (score.rounding(terms) + offset * _ULP)


def score_tests(counts: Counts, tests: Tests, score: Score, schema: Schema) -> tuple[Floats, int]:
    """(cell, test) scores and the largest number of class counts that one of them sums."""
    cells, _, classes = counts.shape
    scores = np.empty((cells, len(tests)))
    terms = 0
    for attribute in np.unique(tests.attribute):
        bins = counts[:, schema.offsets[attribute] : schema.offsets[attribute + 1]]
        mine = np.flatnonzero(tests.attribute == attribute)
        kinds = tests.kind[mine]
        multiway = mine[kinds == Kind.MULTIWAY]
        if multiway.size:
            scores[:, multiway] = score.node(bins).sum(axis=1, keepdims=True)
            terms = max(terms, bins.shape[1] * classes)
        total = bins.sum(axis=1, keepdims=True)
        for kind, first in ((Kind.THRESHOLD, bins.cumsum(axis=1)), (Kind.ONE_CATEGORY, bins)):
            binary = mine[kinds == kind]
            if binary.size:
                left = first[:, tests.cut[binary]]
                scores[:, binary] = score.node(left) + score.node(total - left)
                terms = max(terms, 2 * classes)
    return scores, terms + 8  # and a few roundings more: square, quotient, difference, prior
