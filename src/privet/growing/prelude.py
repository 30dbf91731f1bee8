"""The prelude of a fit: everything that is bought before growing, as one value.

A recipe may need approximate numbers of records and of each class, and where its numbers lie. Each is declared, or
bought once. A step of the prelude buys one of them and returns a prelude with it: the records as then cut, the epsilon
left, and sentences about the plan and its reasons. All of it follows from released numbers.

The owner may also state how many usable records to expect. Records of a label that the schema does not list are
dropped, and no error may say so: it would depend on rows. But a cheap noisy count of the usable records shows whether
something is wrong. Claim and proof: ``docs/proofs/refusals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.errors import FitStopped, ParameterError, Setting
from privet.growing.cutting.cuts import cut_at, find
from privet.growing.labels import LabelFacts, find_labels
from privet.growing.whole.depth_rules import COUNT_SHARE, cuts_share
from privet.privacy.concentrated import Currency
from privet.privacy.dataset import PrivateDataset
from privet.schema import Numeric, Schema

Floats = npt.NDArray[np.float64]

STOP_BELOW = Fraction(1, 4)  # of what is expected: half of it, less a quarter that is left to the noise
SURENESS = 14  # the noise exceeds its quarter with probability below e^-14, less than one in a million
MOST = Fraction(1, 10)  # of epsilon; where the count would cost more, the fit could not learn much either
MOST_RECORDS = 2**40

FIRST_SHARE = Fraction(1, 50)  # of epsilon, for class counts
MOST_SHARE = Fraction(1, 4)  # of epsilon, for counting again where the first counts are too vague
WANTED = 20.0  # noise scales: with as many records of each class, noise in their shares adds 1/400 to the log-loss
LEAST_EVIDENCE = 0.02  # of a record: p(1 - p) where one class is rare


@dataclass(frozen=True)
class Records:
    """The approximate number of records: declared by the owner, or a noisy count, at least 1."""

    number: int
    noise: float | None = None
    """The scale of a noisy count's noise; None for a declared number."""

    @property
    def declared(self) -> bool:
        return self.noise is None

    @property
    def surely(self) -> float:
        """A number of records that is most likely not too large."""
        return max(self.number - (self.noise or 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class Prelude:
    """What a fit knows so far; ``epsilon`` is the recipe's budget, ``spent`` what the steps here cost of it.

    Both are in what the account of ``data`` counts in, which is rho under zCDP.
    """

    data: PrivateDataset
    epsilon: Fraction
    spent: Fraction = Fraction(0)
    records: Records | None = None
    classes: ClassEstimate | None = None
    labels: LabelFacts | None = None
    notes: tuple[str, ...] = ()

    @property
    def left(self) -> Fraction:
        return self.epsilon - self.spent

    @property
    def counted(self) -> Records:
        """The number of records, after ``count``."""
        assert self.records is not None
        return self.records

    @property
    def strength(self) -> float:
        """Records times epsilon, over the steps of the neighbour relation: what a mechanism can see.

        In any currency: the records by the scale of the noise of a count that all of the budget buys.
        """
        ledger = self.data.ledger
        return float(self.counted.number / ledger.currency.scale(self.epsilon, ledger.steps))

    def note(self, *notes: str) -> Prelude:
        return replace(self, notes=(*self.notes, *notes))

    def note_records(self) -> Prelude:
        """Note for how many records the fit was planned."""
        how = "declared" if self.counted.declared else "a noisy count"
        about = f"about {self.counted.number:,} records ({how})"
        return self.note(f"Planned for {about} at {self.data.ledger.currency.value} {float(self.epsilon):g}.")

    def count(self, declared: int | None = None, share: Fraction = COUNT_SHARE) -> Prelude:
        """Add the number of records: ``declared``, or counted before, or bought now with a share of what is left."""
        if declared is not None:
            self.data.add_caveat(f"the number of records, {declared}, was declared public by the owner")
            return replace(self, records=Records(declared))
        if self.records is not None:
            return self
        price = self.left * share
        counted = int(self.data.noisy_count(price))
        return replace(self, records=_counted(self.data, counted, price), spent=self.spent + price)

    def count_classes(self) -> Prelude:
        """Buy class counts for a fiftieth of epsilon; count again, for up to a quarter, where noise is too large."""
        nothing = ClassEstimate(np.zeros(self.data.schema.n_classes), 0.0, Fraction(0))
        bought = nothing.refined(self.data, self.epsilon, FIRST_SHARE)
        again = WANTED * bought.counts.size / (max(float(bought.counted.sum()), 1.0) * float(self.epsilon))
        share = min(Fraction(again).limit_denominator(1000), MOST_SHARE)
        if share > 2 * FIRST_SHARE:
            bought = bought.refined(self.data, self.epsilon, share)
        return replace(self, classes=bought, spent=self.spent + self.epsilon * bought.share)

    def find_labels(self, share: Fraction) -> Prelude:
        """Buy where the numbers to predict lie, for at most a share of epsilon. The count must be known."""
        price = self.left * share
        facts, cost = find_labels(self.data, price, self.counted.surely)
        text = (
            f"Most labels lie from {facts.low:.4g} to {facts.high:.4g}, found out for {float(cost / self.epsilon):.2g}"
        )
        return replace(self, labels=facts, spent=self.spent + cost).note(f"{text} of epsilon.")

    def cut(
        self,
        numbers: Sequence[int],
        count: int,
        otherwise: Schema,
        part: Fraction = Fraction(1),
        likely: Schema | None = None,
    ) -> Prelude:
        """Cut ``numbers`` where their records lie, into about ``count`` + 1 parts each. The count must be known.

        A number whose records noise hides, and all of them if records are too few, keep the public cuts of
        ``otherwise``. ``part`` is as in ``cuts_share``. ``likely`` has the public cuts that get some weight
        (``Whereabouts.cuts``), if not those.
        """
        share = cuts_share(self.strength, len(numbers), part, self.data.ledger.currency)
        if not share:
            text = "Numbers are cut on a public grid: there are too few records, at this epsilon, to find out where "
            return replace(self, data=self.data.recut(otherwise)).note(f"{text}they lie.")
        found, cost = find(self.data, numbers, share * self.epsilon)
        public = [a.cuts.tolist() if isinstance(a, Numeric) else [] for a in (likely or otherwise).attributes]
        cuts = {a: where.cuts(count, public[a]) for a, where in found.items()}
        text = f"{len(numbers)} numbers are cut where their records lie, at about {count} points each"
        text += f", for {float(cost / self.epsilon):.2g} of {self.data.ledger.currency.value}."
        hidden = [otherwise.names[a] for a, points in cuts.items() if not points]
        if hidden:
            text += f" On a public grid, since noise hides them: {', '.join(hidden)}."
        return replace(self, data=self.data.recut(cut_at(otherwise, cuts)), spent=self.spent + cost).note(text)


# -- the number of usable records --------------------------------------------------------------------------------------


def _counted(data: PrivateDataset, noisy: int, price: Fraction) -> Records:
    return Records(max(noisy, 1), data.ledger.noise_scale(price))


def begin(data: PrivateDataset, epsilon: Fraction, expected: int | None = None) -> Prelude:
    """The prelude of a fit. If the owner expects a number of usable records, it is counted.

    A recipe that plans by the number of records then buys no other count.

    Raises ``FitStopped`` if the noisy count is below a quarter of ``expected``. With half of ``expected`` or more that
    happens less than once in a million fits; without any usable record it fails to happen as seldom.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(6000)
    >>> prelude = begin(privet.protect(table, schema, privet.Ledger(1)), Fraction(1), 5600)
    >>> prelude.left, 5000 < prelude.records.number < 7000
    (Fraction(99, 100), True)
    """
    if expected is None:
        return Prelude(data, epsilon)
    price = count_price(epsilon, expected, data.ledger.steps, data.ledger.currency)
    data.ledger.add_caveat(f"that about {expected} usable records are expected was stated by the owner as public")
    counted = int(data.level().count_all(price, what="number of usable records")[0])
    if counted < STOP_BELOW * expected:
        if data.ledger.currency is Currency.RHO:  # all was charged at once
            raise FitStopped(counted, int(expected), data.certificate().charges[0].epsilon, rest=False)
        raise FitStopped(counted, int(expected), price)
    return Prelude(data, epsilon - price, records=_counted(data, counted, price))


def count_price(epsilon: Fraction, expected: int, steps: int, currency: Currency = Currency.EPSILON) -> Fraction:
    """The price of the count: the least that tells a quarter of ``expected`` from noise. A function of public numbers.

    >>> count_price(Fraction(1), 5600, steps=1)
    Fraction(1, 100)
    """
    if isinstance(expected, bool) or not isinstance(expected, int | np.integer) or not 1 <= expected <= MOST_RECORDS:
        problem = f"must be a whole number from 1 to {MOST_RECORDS}, not {expected!r}"
        raise ParameterError(parameter="expected_records", problem=problem)
    price = currency.price(STOP_BELOW * int(expected) / SURENESS, steps)
    if price > MOST * epsilon:
        enough = math.ceil(SURENESS * currency.scale(MOST * epsilon, steps) / STOP_BELOW)
        raise ParameterError(
            (
                Setting("expected_records", int(expected)),
                f" is too few to be distinguished from noise by a tenth of {currency.value}: from {enough} on it works",
            ),
            parameter="expected_records",
            fix="leave it out, and let the data owner run `privet schema check` instead",
        )
    return price


# -- class counts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassEstimate:
    """The approximate number of records of each class, none below ``least``; and the ``share`` of epsilon it cost.

    ``counted`` are the noisy counts, and ``weight`` their precision: the sum of squares of the shares that bought them.
    """

    counted: Floats
    weight: float
    share: Fraction
    least: float = 1.0

    @property
    def counts(self) -> Floats:
        return np.maximum(self.counted, self.least)

    @property
    def records(self) -> float:
        return float(self.counts.sum())

    @property
    def shares(self) -> Floats:
        return np.asarray(self.counts / self.records)

    @property
    def evidence(self) -> float:
        """The approximate sum of p(1 - p) over all records, for predictions that are about right."""
        return self.records * max((1 - float((self.shares**2).sum())) / 2, LEAST_EVIDENCE)

    @property
    def offset(self) -> Floats:
        """The scores of a model that predicts the released shares for everyone."""
        logs = np.log(self.shares)
        return np.array([logs[1] - logs[0]]) if len(logs) == 2 else np.asarray(logs - logs.mean())

    def weighted(self, weights: Floats) -> ClassEstimate:
        """As if each class had that part of its records; a class of weight 0 stays possible."""
        return replace(self, counted=self.counts * weights)

    def refined(self, data: PrivateDataset, epsilon: Fraction, share: Fraction | None = None) -> ClassEstimate:
        """Counted once more, for a share of epsilon or all that is left; counts are weighted by precision."""
        more = 1 - self.share if share is None else share
        again = data.level().class_counts_all(epsilon * more)[0].astype(np.float64)
        weight = self.weight + float(more) ** 2
        both = (self.weight * self.counted + float(more) ** 2 * again) / weight
        # Counts below half the noise scale are raised to it: no class is ever ruled out.
        least = max(1.0, 0.5 * data.ledger.steps / (weight**0.5 * float(epsilon)))
        return ClassEstimate(both, weight, self.share + more, least)
