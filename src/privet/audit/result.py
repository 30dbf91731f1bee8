"""What an audit found."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from privet.audit.explorer import Transcript

TOLERANCE = 1e-9  # of a log-ratio computed in doubles


@dataclass(frozen=True)
class AuditResult:
    """What an audit found: ``lower_bound`` is a loss that is attained, on ``pair``, by ``witness``.

    The witness is a :class:`Transcript`, or what was released where whole output distributions were compared.
    ``leaks`` counts transcripts whose release depends on more than the draws. With a leak nothing is proved. Its loss
    is known only where one table never releases what the other does: it is infinite. ``container`` is what the pair
    came in, ``containers`` are all that were tried: those whose libraries are installed.
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

    @property
    def verdict(self) -> str:
        """``holds``, ``violated``, or ``unclear``: no loss above the claim was found, but something leaks."""
        if self.lower_bound > self.claimed + TOLERANCE:
            return "violated"
        return "unclear" if self.leaks else "holds"

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
        }
