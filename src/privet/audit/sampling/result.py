"""The result of a sampled audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Look:
    """One bound: an event chosen before, counted in fresh fits of both tables."""

    number: int
    alpha: float
    bound: float
    event: str
    likelier_on: str
    hits: int
    tries: int
    other_hits: int
    other_tries: int


@dataclass(frozen=True)
class SampleResult:
    """What fits proved: with probability 1 - ``alpha`` the loss on ``pair`` is at least ``bound``.

    ``claimed`` and ``delta`` are those of the pair's relation, which may be several times the promise about one row.
    ``apart`` has the result of each relation, where there were several; this one is then the one with the strongest
    evidence.
    """

    claimed: float
    delta: float
    alpha: float
    bound: float = 0.0
    relation: str = ""
    pair: str = ""
    looks: tuple[Look, ...] = ()
    fits: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    screened: tuple[tuple[str, float], ...] = ()
    note: str = ""
    name: str = ""
    repeat: str = ""
    apart: tuple[SampleResult, ...] = field(default=(), repr=False)

    @property
    def verdict(self) -> str:
        """``violated``, or ``not refuted``: sampling never proves that a promise holds."""
        return "violated" if any(one.bound > one.claimed for one in (self, *self.apart)) else "not refuted"

    @property
    def best(self) -> Look | None:
        """The look with the largest bound."""
        return max(self.looks, key=lambda look: look.bound, default=None)

    @property
    def event(self) -> str:
        """The event behind the bound, in words."""
        if self.best is None or not self.best.event:
            return "no event told the tables apart"
        return self.best.event

    @property
    def counts(self) -> str:
        look = self.best
        if look is None or not look.event:
            return ""
        other = "second" if look.likelier_on == "first" else "first"
        return (
            f"{look.hits} of {look.tries} fits on the {look.likelier_on} table, "
            f"{look.other_hits} of {look.other_tries} on the {other}"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.verdict}: a loss of at least {self.bound:.4g} at a claim of {self.claimed:g}"
            + (f" (delta {self.delta:.3g})" if self.delta else "")
            + f", wrong with probability {self.alpha:g} at most",
            f"  pair:   {self.pair} ({self.relation})",
            f"  event:  {self.event}" + (f": {self.counts}" if self.counts else ""),
            f"  effort: {self.fits} fits, {len(self.looks)} looks, {self.cpu_seconds:.0f} CPU s",
        ]
        if self.note:
            lines.append(f"  note:   {self.note}")
        if self.repeat:
            lines.append(f"  repeat: {self.repeat}")
        lines += [
            f"  apart:  {one.relation}: {one.verdict}, {one.bound:.4g} at {one.claimed:g} on {one.pair}"
            for one in self.apart
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        look = self.best
        found = {
            "name": self.name,
            "claimed": self.claimed,
            "delta": self.delta,
            "alpha": self.alpha,
            "bound": self.bound,
            "verdict": self.verdict,
            "method": "sampled",
            "relation": self.relation,
            "pair": self.pair,
            "event": self.event,
            "hits": look.hits if look else 0,
            "tries": look.tries if look else 0,
            "other_hits": look.other_hits if look else 0,
            "other_tries": look.other_tries if look else 0,
            "looks": [vars(one) for one in self.looks],
            "fits": self.fits,
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu_seconds, 2),
            "screened": [list(one) for one in self.screened],
            "note": self.note,
            "repeat": self.repeat,
        }
        return found | ({"apart": [one.to_dict() for one in self.apart]} if self.apart else {})
