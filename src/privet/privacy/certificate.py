"""What was promised and what it cost, as data, as JSON and in words."""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.privacy.budget import INFINITY, Neighbours, Total
from privet.privacy.losses import Loss

_LONGEST = 200  # bits of a denominator that is still printed
_RELATION_WORDS = {
    Neighbours.ADD_REMOVE: "tables that differ by one record added or removed",
    Neighbours.REPLACE_ONE: "tables of one size that differ in the contents of one record",
}

COVERS = (
    "what was computed through this account from the table that it was handed, of fewer than 2^32 records, by a schema "
    "and settings that were chosen without looking at that table"
)
COVERS_NOT = (
    "what was done with the records before (imputing, scaling, selecting, dealing them into folds: one record can then "
    "change others), what was chosen by exact scores after, and how long it took; whoever has k records is protected "
    "at k times epsilon"
)


@dataclass(frozen=True, slots=True)
class Charge:
    """One purpose, what each record in its scope paid for it, and what that added to the account's total."""

    what: str
    loss: Loss
    added: Loss
    mechanism: str | None = None
    scale: Fraction | None = None

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
        """The JSON form; the deltas, the mechanism and its scale are left out where there are none."""
        rest = {"delta": self.loss.delta, "adds_delta": self.added.delta, "mechanism": self.mechanism}
        known = {key: str(value) for key, value in (rest | {"scale": self.scale}).items() if value}
        return {"what": self.what, "epsilon": str(self.epsilon), "adds": str(self.adds)} | known

    @classmethod
    def from_dict(cls, data: Mapping[str, str]) -> Charge:
        numbers = {key: Fraction(text) for key, text in data.items() if key not in ("what", "mechanism")}
        loss = Loss(numbers["epsilon"], numbers.get("delta", Fraction(0)))
        added = Loss(numbers["adds"], numbers.get("adds_delta", Fraction(0)))
        return cls(str(data["what"]), loss, added, data.get("mechanism"), numbers.get("scale"))


@dataclass(frozen=True, slots=True)
class Caveat:
    """A condition on the guarantee; one that ``voids`` it makes the total infinite."""

    text: str
    voids: bool = False


@dataclass(frozen=True, slots=True)
class Certificate:
    """The guarantee of everything released through one account, for the table that the account was handed.

    It does not cover what was done with the records before (an imputer or scaler that looked at all rows, folds dealt
    by position), nor what is chosen by exact scores after. Its text says so.

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
            "epsilon": _write(self.epsilon),
            "delta": _write(self.delta),
            "charges": [charge.to_dict() for charge in self.charges],
            "caveats": [{"text": c.text, "voids": c.voids} for c in self.caveats],
            "covers": COVERS,
            "covers_not": COVERS_NOT,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        return cls(
            epsilon=_read(data["epsilon"]),
            neighbours=Neighbours.parse(data["neighbours"]),
            charges=tuple(map(Charge.from_dict, data["charges"])),
            caveats=tuple(Caveat(str(c["text"]), bool(c["voids"])) for c in data["caveats"]),
            delta=Fraction(data["delta"]),
        )

    def __str__(self) -> str:
        if self.private:
            kind = f" and delta = {words(self.delta)}" if self.delta else " (pure, delta = 0)"
            headline = f"Differentially private with epsilon = {words(self.epsilon)}{kind}"
        else:
            headline = "NOT differentially private (epsilon = infinity)"
        lines = [headline, f"  neighbours: {_RELATION_WORDS[self.neighbours]}", "  charges:"]
        alike = Counter(self.charges)  # keeps the order of first appearance
        width = max((len(charge.what) for charge in alike), default=0)
        for charge, times in alike.items():
            total, total_delta = charge.adds * times, charge.added.delta * times
            added = f"adds {words(total)}" if total or total_delta else "adds nothing (disjoint records)"
            added += f" and {words(total_delta)}" if total_delta else ""
            delta = f" and delta {words(charge.loss.delta)}" if charge.loss.delta else ""
            many = f" x {times}" if times > 1 else ""
            lines.append(f"    {charge.what:<{width}}  epsilon {words(charge.epsilon)}{delta}{many}, {added}")
        if not alike:
            lines.append("    none")
        if self.caveats:
            lines.append("  caveats:")
            lines.extend(f"    - {caveat.text}" for caveat in self.caveats)
        if self.private:
            for heading, sentence in (("covers", COVERS), ("does not cover", COVERS_NOT)):
                lines.append(f"  {heading}:")
                lines.extend(textwrap.wrap(sentence, 110, initial_indent="    ", subsequent_indent="    "))
        return "\n".join(lines)


def words(value: Total) -> str:
    """A number for people: as a decimal, followed by the exact number where the two differ."""
    if value == INFINITY:
        return "infinity"
    short = f"{float(value):.6g}"
    if Fraction(short) == value:
        return short
    return f"{short} ({value})" if Fraction(value).denominator.bit_length() <= _LONGEST else f"about {short}"


def _write(value: Total) -> str:
    return "infinity" if value == INFINITY else str(value)


def _read(text: str) -> Total:
    return math.inf if text == "infinity" else Fraction(text)
