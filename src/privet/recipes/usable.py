"""Buying the number of usable records before a fit, to stop one that would learn from next to nothing.

Records of a label that the schema does not list are dropped, and no error may say so: it would depend on rows. But the
owner can say about how many records there should be, and then a noisy count of those that were kept tells, for little,
whether something is wrong. Claim and proof: ``docs/proofs/refusals.md``.
"""

from __future__ import annotations

from fractions import Fraction

from privet.errors import FitStopped, ParameterError, Setting
from privet.growing.forests.leaf_counts import Counted
from privet.privacy.dataset import PrivateDataset
from privet.recipes.recipe import check_whole

STOP_BELOW = Fraction(1, 4)  # of what is expected: half of it, less a quarter that is left to the noise
SURENESS = 14  # the noise passes its quarter with a chance below e^-14, which is less than one in a million
MOST = Fraction(1, 10)  # of epsilon; where the count would cost more, the fit could not learn much either
MOST_RECORDS = 2**40


def count_price(epsilon: Fraction, expected: int, steps: int) -> Fraction:
    """What the count costs: as little as tells a quarter of ``expected`` from noise. A function of public numbers.

    >>> count_price(Fraction(1), 5600, steps=1)
    Fraction(1, 100)
    """
    check_whole(expected, "expected_records", 1, MOST_RECORDS)
    price = Fraction(SURENESS * steps, int(expected)) / STOP_BELOW
    if price > MOST * epsilon:
        raise ParameterError(
            (
                Setting("expected_records", int(expected)),
                " is too few to be told from noise by a tenth of epsilon: from "
                f"{-(-price * expected // (MOST * epsilon))} on it works",
            ),
            parameter="expected_records",
            fix="leave it out, and let the data owner run `privet schema check` instead",
        )
    return price


def confirm_usable(data: PrivateDataset, epsilon: Fraction, expected: int | None) -> tuple[Fraction, Counted | None]:
    """Buy the number of usable records, if one is expected; what is left of epsilon for the fit, and the number.

    A recipe that plans by the number of records is told this one, and buys no other.

    Raises ``FitStopped`` if the noisy count is below a quarter of ``expected``. With half of ``expected`` or more that
    happens less than once in a million fits; without any usable record it fails to happen as seldom.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(6000)
    >>> data = privet.protect(table, schema, privet.Ledger(1))
    >>> left, counted = confirm_usable(data, Fraction(1), 5600)
    >>> left, 5000 < counted < 7000
    (Fraction(99, 100), True)
    """
    if expected is None:
        return epsilon, None
    price = count_price(epsilon, expected, data.ledger.steps)
    data.ledger.add_caveat(f"that about {expected} usable records are expected was stated by the owner as public")
    counted = int(data.level().count_all(price, what="number of usable records")[0])
    if counted < STOP_BELOW * expected:
        raise FitStopped(counted, int(expected), price)
    return epsilon - price, Counted.of(counted, data, price)
