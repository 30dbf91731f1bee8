"""The result of an audit."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from privet.audit.explorer import Transcript

TOLERANCE = 1e-9  # of a log-ratio computed in doubles
WHERE = ("pair", "witness", "reason", "container")


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit: ``lower_bound`` is a loss attained on ``pair`` by ``witness``.

    ``unbooked`` is by how much a loss exceeds the certificate of the same release, which may state less than the claim;
    then ``pair`` and ``witness`` show where. The witness is a :class:`Transcript`, or a release where whole output
    distributions were compared. ``leaks`` counts transcripts whose release depends on more than the draws. With a leak
    nothing is proved. Its loss is known only where one table never releases what the other does: it is infinite.
    ``container`` held the pair; ``containers`` lists all that were tried: those whose libraries are installed.
    """

    recipe: str
    variant: str
    claimed: float
    lower_bound: float
    neighbours: str
    method: str
    pair: str = ""
    witness: Transcript | Hashable = None
    runs: int = 0
    lumped: float = 0.0
    reason: str = ""
    leaks: int = 0
    container: str = ""
    containers: tuple[str, ...] = ()
    unbooked: float = 0.0

    @property
    def verdict(self) -> str:
        """``holds``, ``violated``, or ``unclear``: no loss above either bound was found, but something leaks."""
        if self.lower_bound > self.claimed + TOLERANCE or self.unbooked > TOLERANCE:
            return "violated"
        return "unclear" if self.leaks else "holds"

    def with_worse(self, other: AuditResult) -> AuditResult:
        """The worse of two results: one that breaks a certificate first, then the one with the larger loss."""
        more = other.unbooked > self.unbooked + TOLERANCE
        larger = other.lower_bound > self.lower_bound and (self.unbooked <= TOLERANCE or math.isinf(other.lower_bound))
        where = {name: getattr(other, name) for name in WHERE} if more or larger else {}
        loss, unbooked = max(self.lower_bound, other.lower_bound), max(self.unbooked, other.unbooked)
        return replace(self, lower_bound=loss, unbooked=unbooked, **where)

    def to_dict(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe,
            "variant": self.variant,
            "claimed": self.claimed,
            "lower_bound": "infinity" if math.isinf(self.lower_bound) else self.lower_bound,
            "method": self.method,
            "verdict": self.verdict,
            "neighbours": self.neighbours,
            "pair": self.pair,
            "runs": self.runs,
            "lumped": self.lumped,
            "reason": self.reason,
            "leaks": self.leaks,
            "container": self.container,
            "containers": list(self.containers),
            "unbooked": "infinity" if math.isinf(self.unbooked) else self.unbooked,
        }
