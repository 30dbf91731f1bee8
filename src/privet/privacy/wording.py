"""What a certificate and a ledger say to people: as text for a terminal, and as HTML for a notebook."""

from __future__ import annotations

import textwrap
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from privet.bidi import isolated, padded, width_of
from privet.markup import Html, join, table, tag
from privet.privacy.budget import INFINITY, Neighbours, Total
from privet.privacy.losses import brief

if TYPE_CHECKING:
    from privet.privacy.accounts import Account
    from privet.privacy.certificate import Certificate, Charge

RELATION = {
    Neighbours.ADD_REMOVE: "tables that differ by one record added or removed",
    Neighbours.REPLACE_ONE: "tables of one size that differ in the contents of one record",
}
OF_UNITS = {
    Neighbours.ADD_REMOVE: "tables that differ by one {} added or removed, with all rows, of which at most {} enter",
    Neighbours.REPLACE_ONE: "tables that differ in the rows that one {} has, of which at most {} enter",
}

COVERS = (
    "what was computed through this account from the table that it was handed, of fewer than 2^32 records, by a schema "
    "and settings that were chosen without looking at that table"
)
COVERS_NOT = (
    "what was done with the records before (imputing, scaling, selecting, dealing them into folds: one record can then "
    "change others), what was chosen by exact scores after, and how long it took; whoever {} is protected at k times "
    "epsilon"
)


def relation(certificate: Certificate) -> str:
    """Which tables are compared."""
    unit = certificate.unit
    if unit is None:
        return RELATION[certificate.neighbours]
    return OF_UNITS[certificate.neighbours].format(isolated(unit.name), unit.max_rows)


def covers_not(certificate: Certificate) -> str:
    return COVERS_NOT.format("has k records" if certificate.unit is None else "is k units")


def headline(certificate: Certificate) -> str:
    """The promise in a line."""
    if not certificate.private:
        return "NOT differentially private (epsilon = infinity)"
    kind = f" and delta = {words(certificate.delta)}" if certificate.delta else " (pure, delta = 0)"
    return f"Differentially private with epsilon = {words(certificate.epsilon)}{kind}"


def text_of(certificate: Certificate) -> str:
    """A certificate as text."""
    lines = [headline(certificate), f"  neighbours: {relation(certificate)}", "  charges:"]
    alike = Counter(certificate.charges)  # keeps the order of first appearance
    width = max((width_of(isolated(charge.what)) for charge in alike), default=0)
    for charge, times in alike.items():
        each, adds = _paid(charge, times)
        many = f" x {times}" if times > 1 else ""
        lines.append(f"    {padded(isolated(charge.what), width)}  epsilon {each}{many}, adds {adds}")
    if not alike:
        lines.append("    none")
    if certificate.caveats:
        lines.append("  caveats:")
        lines.extend(f"    - {isolated(caveat.text)}" for caveat in certificate.caveats)
    if certificate.private:
        for heading, sentence in (("covers", COVERS), ("does not cover", covers_not(certificate))):
            lines.append(f"  {heading}:")
            lines.extend(textwrap.wrap(sentence, 96, initial_indent="    ", subsequent_indent="    "))
    return "\n".join(lines)


def html_of(certificate: Certificate) -> Html:
    """A certificate for a notebook: the promise, what was spent on what, and the conditions."""
    rows = ((charge.what, times, *_paid(charge, times)) for charge, times in Counter(certificate.charges).items())
    spent = table(("spent on", "times", "epsilon each", "adds"), rows)
    caveats = tag("ul", *(tag("li", caveat.text) for caveat in certificate.caveats)) if certificate.caveats else ""
    compared = tag("small", f"Between {relation(certificate)}.")
    limits = tag(
        "details",
        tag("summary", "what it covers"),
        tag("p", COVERS, "."),
        tag("p", "Not: ", covers_not(certificate), "."),
    )
    parts = (tag("strong", headline(certificate)), Html("<br>"), compared, spent, caveats)
    return tag("div", *parts, limits if certificate.private else "")


def html_of_ledger(ledger: Account) -> Html:
    """A ledger for a notebook: what is left, and its certificate."""
    spent, left = ledger.loss, ledger.left
    share = float(spent.epsilon / (spent.epsilon + left.epsilon)) if spent.epsilon else 0.0
    text = f"{ledger.name}: epsilon {spent:brief} spent, {left:brief} left"
    meter = tag("progress", value=f"{share:.4f}", max=1)
    return tag("div", tag("p", join((meter, " ", text))), html_of(ledger.certificate()))


def words(value: Total) -> str:
    """A number for people: as a decimal, followed by the exact number where the two differ."""
    if value == INFINITY:
        return "infinity"
    text = brief(Fraction(value))
    return f"{float(value):g} ({text})" if "/" in text else text


def _paid(charge: Charge, times: int) -> tuple[str, str]:
    """What each record paid for one such charge, and what all of them added to the total."""
    each = words(charge.epsilon) + (f" and delta {words(charge.loss.delta)}" if charge.loss.delta else "")
    total, delta = charge.adds * times, charge.added.delta * times
    if not total and not delta:
        return each, "nothing (disjoint records)"
    return each, words(total) + (f" and {words(delta)}" if delta else "")
