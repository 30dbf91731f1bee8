"""What accounts share: the payments of a parallel group, and what is held for work that is not done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from privet.privacy.losses import NOTHING, Loss

if TYPE_CHECKING:
    from privet.privacy.positions import Position


@dataclass(slots=True)
class Group:
    """Accounts over disjoint records; ``paid`` is what was paid above for all of them, at least what any has spent."""

    paid: Loss = NOTHING


@dataclass(eq=False, slots=True)
class Hold:
    """What a reservation took: from the accounts above it, and of the credit that parallel groups on the way have."""

    work: str
    number: int | None = None  # in the ledger's books; None for work inside other work, which has paid already
    time: str = ""
    analyst: str | None = None
    reserved: Loss = NOTHING
    charged: Loss = NOTHING
    hidden: bool = False  # a line that cannot be read may hold a charge of it
    open: bool = True
    line: int = 0  # of the journal
    credits: dict[Position, Loss] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.work if self.number is None else f"reservation {self.number} ({self.work})"


class Holds:
    """What is held at one account, and the sum of it."""

    def __init__(self) -> None:
        self.total = NOTHING
        self._left: dict[Hold, Loss] = {}

    def __iter__(self) -> Iterator[tuple[Hold, Loss]]:
        return iter(self._left.items())

    def __bool__(self) -> bool:
        return bool(self._left)

    def left(self, hold: Hold) -> Loss:
        return self._left.get(hold, NOTHING)

    def put(self, hold: Hold, loss: Loss) -> None:
        self.total += loss
        self._left[hold] = loss

    def take(self, hold: Hold | None, loss: Loss) -> None:
        """A charge came out of the hold, if there is one."""
        if hold is not None and hold in self._left:
            before = self._left[hold]
            self._left[hold] = before - loss
            self.total -= before - self._left[hold]  # last: after an interrupt too much is held, never too little

    def drop(self, hold: Hold) -> None:
        """The work is done."""
        self.total -= self._left.pop(hold, NOTHING)
