"""The meaning of a certificate for people: as sentences, as a bet, as a list of charges, and in a notebook.

Reports, notebooks and commands use these words. The text of ``print(certificate)`` is in the kernel.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from privet.bidi import isolated
from privet.kinds import ChargeKind
from privet.markup import Html, join, table, tag
from privet.models.counts import SCALES
from privet.models.intervals import noise_reach
from privet.privacy.budget import Neighbours
from privet.privacy.certificate import COVERS, Certificate, Charge, covers_not, headline, paid, tables_compared, words
from privet.privacy.ledger import Ledger

__all__ = [
    "COVERS",
    "DO_NOT_CONCLUDE",
    "Certificate",
    "Ledger",
    "Spent",
    "amounts",
    "covers_not",
    "guess",
    "headline",
    "html_of",
    "html_of_ledger",
    "odds",
    "relation",
    "sentence",
    "spending",
    "strength",
]

MECHANISMS = {
    "discrete Laplace": "noise added to counts",
    "discrete Gaussian": "noise added to counts",
    "exponential": "chosen at random, better ones with higher probability",
    "permute-and-flip": "chosen at random, better ones with higher probability",
    "exponential over trees": "a whole tree chosen at random, better ones with higher probability",
}
"""What a mechanism does. Of one that is not here the name is shown."""

STRONG = 1  # up to here nothing is more than 2.72 times as likely
WEAK = 3  # above it something may be more than 20 times as likely
_COMES_OUT = {
    "strong": "would have come out almost the same way",
    "moderate": "would probably have come out in a similar way",
    "weak": "might well have come out otherwise",
}

DO_NOT_CONCLUDE = (
    (
        "No causes.",
        "The model says what goes together in these records. It does not say that one thing causes another, or what "
        "would happen if something were changed.",
    ),
    (
        "Empty does not mean nobody.",
        "A leaf with a count near zero, or below, may still hold people, and a leaf with a small count may hold none. "
        "Noise hides small groups on purpose.",
    ),
    (
        "Noise is not sampling error.",
        "Intervals on this page say how far the noise may have moved a count. Sampling error, because the records are "
        "only a sample, comes in addition.",
    ),
    (
        "A missing split is not evidence.",
        "An attribute that the model does not use may still matter: with another draw of the noise, another attribute "
        "might be in its place.",
    ),
    (
        "Nothing about one person.",
        "What the model predicts for someone is a statement about records like theirs. The promise above protects "
        "what is particular to a record, not what is true of everyone like it.",
    ),
)


def strength(epsilon: Fraction | float) -> str:
    """How strong a promise with this epsilon is, in one word: strong, moderate or weak.

    >>> strength(0.5), strength(2), strength(5)
    ('strong', 'moderate', 'weak')
    """
    return "strong" if epsilon <= STRONG else "moderate" if epsilon <= WEAK else "weak"


def sentence(certificate: Certificate, released: str = "this page") -> str:
    """The promise about what was released, in one sentence; a second one says so if it is weak."""
    if not certificate.private:
        return (
            "This is NOT differentially private: it may reveal the records it was learned from, and nothing on this "
            "page limits how much."
        )
    epsilon = float(certificate.epsilon)
    factor = odds(epsilon)
    one = _one(certificate)
    same, between = f"If {one} had not been in the table", "with them as without them, or the other way round"
    if certificate.neighbours is Neighbours.REPLACE_ONE:
        same, between = f"If {one} had been different", "with the one as with the other"
    elif certificate.unit is None:
        between = "with the record as without it, or the other way round"
    but = f", except with a probability of {words(certificate.delta)}" if certificate.delta else ""
    how = strength(epsilon)
    weak = " That is a weak promise." if how == "weak" else ""
    return (
        f"{same}, {released} {_COMES_OUT[how]}: nothing in it is more than {factor} times as likely "
        f"{between}{but}.{weak}"
    )


def _one(certificate: Certificate) -> str:
    return "any one record" if certificate.unit is None else f"all rows of any one {isolated(certificate.unit.name)}"


def guess(certificate: Certificate) -> str:
    """The promise as a bet, which is easier to weigh."""
    epsilon, delta = min(float(certificate.epsilon), 700.0), float(certificate.delta)
    right = (math.exp(epsilon) + delta) / (math.exp(epsilon) + 1)
    whose = (
        "one person's record is"
        if certificate.unit is None
        else f"the rows of one {isolated(certificate.unit.name)} are"
    )
    about = f"whether {whose} in the table"
    if certificate.neighbours is Neighbours.REPLACE_ONE:
        about = f"which of two things {whose.rpartition(' ')[0]} say{'s' if certificate.unit is None else ''}"
    return (
        f"Someone who knows every other record, and tosses a coin about {about}, is right 50 times in 100. After "
        f"reading all that was released they are right at most {_share(right)} times in 100, whatever they do with it."
    )


def odds(epsilon: float) -> str:
    """How many times as likely something may be, at most, under a promise with this epsilon.

    >>> odds(1)
    '2.72'
    """
    return _factor(math.exp(min(epsilon, 700.0)))


def relation(certificate: Certificate) -> tuple[str, str]:
    """Which tables the promise compares, and what it protects."""
    unit = "one record (one row of the table); a person with k records is protected at k times epsilon"
    if certificate.unit is not None:
        unit = f"{certificate.unit}, whichever it is; a person with k of them is protected at k times epsilon"
        return tables_compared(certificate), unit
    if certificate.neighbours is Neighbours.ADD_REMOVE:
        return "the table with and without any one record (add or remove one)", unit
    return "two tables of the same size that differ in what any one record says (replace one)", unit


def amounts(certificate: Certificate) -> str:
    """Epsilon and delta as they are usually quoted."""
    if not certificate.private:
        return "epsilon = infinity"
    delta = f", delta = {words(certificate.delta)}" if certificate.delta else ""
    return f"epsilon = {words(certificate.epsilon)}{delta}"


@dataclass(frozen=True, slots=True)
class Spent:
    """One purpose, the number of its charges, and what they added to the total."""

    what: str
    how: str
    each: str
    times: int
    adds: str
    adds_epsilon: Fraction
    share: float
    """Of the total, between 0 and 1."""


def spending(certificate: Certificate) -> tuple[Spent, ...]:
    """The charges by purpose, in the order of first appearance.

    What was paid for as a whole, under zCDP, is shown by the shares that its parts have of rho.
    """
    total = float(certificate.epsilon) if certificate.private else math.inf
    charges = Counter(charge for charge in certificate.charges if bool(charge.loss.rho) == bool(certificate.rho))
    return tuple(_spent(charge, times, total, certificate.rho) for charge, times in charges.items())


def _spent(charge: Charge, times: int, total: float, rho: Fraction) -> Spent:
    if rho:
        share, adds = float(charge.added.rho * times / rho), charge.added.rho * times
        whole = Fraction(share) * Fraction(total) if math.isfinite(total) else Fraction(0)
        text = f"rho {float(adds):.3g}" if adds else "nothing: other records"
        return Spent(charge.what, _how(charge), f"rho {float(charge.loss.rho):.3g}", times, text, whole, share)
    adds = charge.adds * times
    share = float(adds) / total if 0 < total < math.inf else 0.0
    delta = f" and delta {words(charge.added.delta * times)}" if charge.added.delta else ""
    text = f"{words(adds)}{delta}" if adds or delta else "nothing: other records"
    return Spent(charge.what, _how(charge), words(charge.epsilon), times, text, adds, share)


def _how(charge: Charge) -> str:
    how = MECHANISMS.get(charge.mechanism or "", charge.mechanism or "")
    if charge.kind is ChargeKind.FIT:
        how = f"curves fitted once, by an {how}"
    if charge.mechanism in SCALES and charge.scale is not None:
        how += f": 95 of 100 draws lie within ±{noise_reach(SCALES[charge.mechanism] * float(charge.scale)):,}"
    return how


def _factor(factor: float) -> str:
    """Rounded up to three digits: the bound must hold."""
    step = 10.0 ** (math.floor(math.log10(factor)) - 2)
    bound = math.ceil(factor / step) * step
    return f"{bound:.3g}" if bound < 1000 else f"{bound:,.0f}" if bound < 1e9 else f"{bound:.2e}"


def _share(right: float) -> str:
    """Rounded up: the bound must hold."""
    percent = math.ceil(1000 * right) / 10
    return f"{percent:g}"


# -- in a notebook ----------------------------------------------------------------------------------------------------


def html_of(certificate: Certificate) -> Html:
    """A certificate for a notebook: the promise, what was spent on what, and the conditions."""
    rows = ((charge.what, times, *paid(charge, times)) for charge, times in Counter(certificate.charges).items())
    spent = table(("spent on", "times", "epsilon each", "adds"), rows)
    caveats = tag("ul", *(tag("li", caveat.text) for caveat in certificate.caveats)) if certificate.caveats else ""
    compared = tag("small", f"Between {tables_compared(certificate)}.")
    limits = tag(
        "details",
        tag("summary", "what it covers"),
        tag("p", COVERS, "."),
        tag("p", "Not: ", covers_not(certificate), "."),
    )
    parts = (tag("strong", headline(certificate)), Html("<br>"), compared, spent, caveats)
    return tag("div", *parts, limits if certificate.private else "")


def html_of_ledger(ledger: Ledger) -> Html:
    """A ledger for a notebook: what is left, and its certificate."""
    spent, left = ledger.loss, ledger.left
    share = float(spent.epsilon / (spent.epsilon + left.epsilon)) if spent.epsilon else 0.0
    text = f"{ledger.name}: epsilon {spent:brief} spent, {left:brief} left"
    meter = tag("progress", value=f"{share:.4f}", max=1)
    return tag("div", tag("p", join((meter, " ", text))), html_of(ledger.certificate()))


# The kernel knows no HTML, so notebook views of its two public classes are registered here.
_SHOWN_BY = "_repr_html_"
setattr(Certificate, _SHOWN_BY, html_of)
setattr(Ledger, _SHOWN_BY, html_of_ledger)
