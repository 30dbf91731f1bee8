"""What was promised and what it cost, as data and as JSON; ``wording.py`` has the words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.kinds import ChargeKind
from privet.privacy import wording
from privet.privacy.budget import INFINITY, Neighbours, Total
from privet.privacy.losses import Loss
from privet.schema import Unit


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
        """The JSON form; the deltas, the mechanism and its scale are left out where there are none."""
        rest = {"delta": self.loss.delta, "adds_delta": self.added.delta, "mechanism": self.mechanism}
        known = {key: str(value) for key, value in (rest | {"scale": self.scale}).items() if value}
        amounts = {"epsilon": str(self.epsilon), "adds": str(self.adds)}
        return {"what": self.what, "kind": self.kind.value} | amounts | known


@dataclass(frozen=True, slots=True)
class Caveat:
    """A condition on the guarantee; one that ``voids`` it makes the total infinite."""

    text: str
    voids: bool = False


@dataclass(frozen=True, slots=True, repr=False)
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
    unit: Unit | None = None  # what is added, removed or replaced; None is one row

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
            "charges": [charge.to_dict() for charge in self.charges],
            "caveats": [{"text": c.text, "voids": c.voids} for c in self.caveats],
            "covers": wording.COVERS,
            "covers_not": wording.covers_not(self),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        """What ``to_dict`` wrote, with every type and range checked; raises :class:`ParameterError` for all else."""
        from privet.privacy.decoding import decode

        return decode(data)

    def __str__(self) -> str:
        return wording.text_of(self)

    def __repr__(self) -> str:
        return f"<Certificate: epsilon = {_write(self.epsilon)}, {self.neighbours.value}, {len(self.charges)} charges>"

    def _repr_html_(self) -> str:
        return wording.html_of(self)


def _write(value: Total) -> str:
    return "infinity" if value == INFINITY else str(value)
