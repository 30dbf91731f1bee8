"""Reservations: a piece of work takes its whole price before it reads a record, and gives back what it did not need.

If several fits check the budget and then spend it in small steps, together they can spend all of it before any of them
ends. So the price is taken in one step that other threads and processes see. Proof: ``docs/proofs/reservations.md``.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from privet.errors import JournalError, ParameterError
from privet.privacy.accounts import Account
from privet.privacy.chain import is_hash
from privet.privacy.holds import Hold
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.privacy.positions import Position
from privet.privacy.records import Ended
from privet.schema import Schema


class Reservation(Ledger):
    """What a piece of work may spend: an account of its own, and a context manager that ends it.

    Charges come out of it and never exceed it. It ends with its ``with`` block, however that is left, or with ``end``;
    then what was not charged is given back. If the process dies first, all of it counts as spent until the owner says
    what it cost: :meth:`Ledger.settle_reservation`. A reservation inside another one takes from that, and is not
    written down.

    >>> ledger = Ledger(1)
    >>> with ledger.reserve(0.5, "two counts") as work:
    ...     receipt = work.charge(0.2, "a count")
    ...     ledger.remaining, work.remaining
    (Fraction(1, 2), Fraction(3, 10))
    >>> ledger.remaining
    Fraction(4, 5)
    """

    def __init__(self, parent: Account, loss: Loss, work: str, schema: Schema | None = None) -> None:
        if not isinstance(work, str) or not work:
            raise ParameterError(f"work must say what is done, such as 'fit of exact', not {work!r}")
        root = parent._root()
        self._hang(parent, work, loss)
        try:
            with root._exclusive(writing=True):
                if schema is not None:
                    root._check_binding(schema.name, schema.unit)
                self._take(root, parent._costs(loss, work))
        except BaseException:
            self.end()
            raise

    def _take(self, root: Ledger, costs: list[tuple[Position, Loss, Hold | None]]) -> None:
        """Hold the price at every account that pays, the outermost first. One that is held already holds no more."""
        # What counts in rho was paid for, and is not written down either.
        inside = costs[-1][0] is not root or any(account._own_hold is not None for account, _, _ in costs)
        hold = self._own_hold = (
            Hold(self.name) if inside else root._hold(self, self._limit, costs[-1][1], self._analyst())
        )
        above = costs[-1][1]
        for account, cost, around in reversed(costs):
            if around is None:
                if account._group is not None:
                    hold.credits[account] = cost - above
                if inside or not account._durable:
                    account._holds.put(hold, cost)
            above = cost

    @property
    def number(self) -> int | None:
        """Its number in the journal; None inside another reservation."""
        return None if self._own_hold is None else self._own_hold.number

    def end(self, output: str | None = None) -> None:
        """Give back what was not charged. ``output`` is the SHA-256 of what was made, for the journal.

        Ending twice is harmless, and a process that was forked meanwhile ends nothing.
        """
        if not (output is None or is_hash(output)):
            raise ParameterError("output must be a SHA-256 in hexadecimal, or None")
        hold, root = self._own_hold, self._root()
        if hold is None or not hold.open or self._process != os.getpid():
            return
        try:
            with root._exclusive(writing=True):
                if hold.number is not None and hold.open:
                    root._enter(Ended(output), hold=hold)
                    root._release(hold.number)
                hold.open = False
                for account, _, _ in self._path():
                    account._holds.drop(hold)
        except JournalError as error:
            raise JournalError(
                f"{hold} could not be ended: {error}. Its results stay; all of it counts as spent until the owner "
                "settles it"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()
