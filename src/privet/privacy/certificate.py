"""What was promised and what it cost, as data, as JSON and as text. :mod:`privet.promise` explains it to people."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.bidi import isolated, padded, width_of
from privet.kinds import ChargeKind
from privet.privacy.budget import INFINITY, Neighbours, Total
from privet.privacy.losses import Loss, brief
from privet.schema import Unit

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
    "what was done with the records before (imputing, scaling, selecting, splitting them into folds: one record can "
    "then change others), what was chosen by exact scores after, and how long it took; a person with k {} is protected "
    "at k times epsilon"
)


@dataclass(frozen=True, slots=True)
class Charge:
    """One purpose, what each record in its scope paid for it, and what that added to the account's total.

    ``what`` is for people, ``kind`` for code.
    """

    what: str
    loss: Loss
    added: Loss
    mechanism: str | None = None
    scale: Fraction | None = None
    kind: ChargeKind = ChargeKind.OTHER

    def __post_init__(self) -> None:
        for name in ("loss", "added"):
            value = getattr(self, name)
            object.__setattr__(self, name, value if isinstance(value, Loss) else Loss(value))  # an epsilon alone

    @property
    def epsilon(self) -> Fraction:
        return self.loss.epsilon

    @property
    def adds(self) -> Fraction:
        return self.added.epsilon

    def to_dict(self) -> dict[str, str]:
        """The JSON form; the deltas, rhos, the mechanism and its scale are left out where there are none."""
        rest = {"delta": self.loss.delta, "adds_delta": self.added.delta, "mechanism": self.mechanism}
        rest |= {"rho": self.loss.rho, "adds_rho": self.added.rho}
        known = {key: str(value) for key, value in (rest | {"scale": self.scale}).items() if value}
        amounts = {"epsilon": str(self.epsilon), "adds": str(self.adds)}
        return {"what": self.what, "kind": self.kind.value} | amounts | known


@dataclass(frozen=True, slots=True)
class Caveat:
    """A condition on the promise; one that ``voids`` it makes the total infinite."""

    text: str
    voids: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """The promise about everything released through one account, for the table that the account was handed.

    It does not cover what was done with the records before (an imputer or scaler that looked at all rows, folds by
    position), or what is chosen by exact scores after. Its text says so.

    >>> from privet import Ledger
    >>> ledger = Ledger(1)
    >>> receipt = ledger.charge(0.25, "noisy count")
    >>> ledger.certificate().epsilon
    Fraction(1, 4)
    """

    epsilon: Total
    neighbours: Neighbours
    charges: tuple[Charge, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    delta: Fraction = Fraction(0)
    unit: Unit | None = None  # what is added, removed or replaced; None is one row
    rho: Fraction = Fraction(0)  # what epsilon and delta bought for work under zCDP, to which its charges add up

    @property
    def private(self) -> bool:
        return self.epsilon != INFINITY

    @property
    def definition(self) -> str:
        if not self.private:
            return "not differentially private"
        return "(epsilon, delta)-differential privacy" if self.delta else "epsilon-differential privacy"

    def to_dict(self) -> dict[str, Any]:
        return {
            "definition": self.definition,
            "neighbours": self.neighbours.value,
            **({} if self.unit is None else {"unit": {"name": self.unit.name, "max_rows": self.unit.max_rows}}),
            "epsilon": _write(self.epsilon),
            "delta": _write(self.delta),
            **({"rho": _write(self.rho)} if self.rho else {}),
            "charges": [charge.to_dict() for charge in self.charges],
            "caveats": [{"text": c.text, "voids": c.voids} for c in self.caveats],
            "covers": COVERS,
            "covers_not": covers_not(self),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        """What ``to_dict`` wrote, with every type and range checked; raises :class:`ParameterError` for all else."""
        from privet.privacy.decoding import decode

        return decode(data)

    def __str__(self) -> str:
        return _text(self)

    def __repr__(self) -> str:
        return f"<Certificate: epsilon = {_write(self.epsilon)}, {self.neighbours.value}, {len(self.charges)} charges>"


def _write(value: Total) -> str:
    return "infinity" if value == INFINITY else str(value)


def tables_compared(certificate: Certificate) -> str:
    """Which tables are compared."""
    unit = certificate.unit
    if unit is None:
        return RELATION[certificate.neighbours]
    return OF_UNITS[certificate.neighbours].format(isolated(unit.name), unit.max_rows)


def covers_not(certificate: Certificate) -> str:
    return COVERS_NOT.format("records" if certificate.unit is None else "units")


def headline(certificate: Certificate) -> str:
    """The promise in a line."""
    if not certificate.private:
        return "NOT differentially private (epsilon = infinity)"
    kind = f" and delta = {words(certificate.delta)}" if certificate.delta else " (pure, delta = 0)"
    return f"Differentially private with epsilon = {words(certificate.epsilon)}{kind}"


def _text(certificate: Certificate) -> str:
    lines = [headline(certificate), f"  neighbours: {tables_compared(certificate)}", "  charges:"]
    alike = Counter(certificate.charges)  # keeps the order of first appearance
    width = max((width_of(isolated(charge.what)) for charge in alike), default=0)
    for charge, times in alike.items():
        each, adds = paid(charge, times)
        many = f" x {times}" if times > 1 else ""
        amount = each if charge.loss.rho else f"epsilon {each}"
        lines.append(f"    {padded(isolated(charge.what), width)}  {amount}{many}, adds {adds}")
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


def words(value: Total) -> str:
    """A number for people: as a decimal, followed by the exact number where the two differ."""
    if value == INFINITY:
        return "infinity"
    text = brief(Fraction(value))
    return f"{float(value):g} ({text})" if "/" in text else text


def paid(charge: Charge, times: int) -> tuple[str, str]:
    """What each record paid for one such charge, and what all of them added to the total."""
    if charge.loss.rho:
        return f"rho {words(charge.loss.rho)}", _in_rho(charge.added.rho * times)
    each = words(charge.epsilon) + (f" and delta {words(charge.loss.delta)}" if charge.loss.delta else "")
    total, delta = charge.adds * times, charge.added.delta * times
    if not total and not delta:
        return each, "nothing (disjoint records)"
    return each, words(total) + (f" and {words(delta)}" if delta else "")


def _in_rho(added: Fraction) -> str:
    return f"rho {words(added)}" if added else "nothing (disjoint records, or paid for as a whole)"
