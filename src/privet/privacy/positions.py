"""Where an account stands: its parent, the records it shares with others, what it has spent and has left.

What one account spends, its parent pays; the parent of a *parallel* group pays for the largest child only. An account
can also count in rho (``docs/proofs/zcdp.md``). Then those above it were charged an (epsilon, delta) for all of it,
before anything was drawn: what is charged there and below ends there, and nothing is given back. How charges are made
is in ``accounts.py``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from privet.privacy.budget import Neighbours
from privet.privacy.certificate import Caveat, Charge
from privet.privacy.concentrated import Currency, choice_epsilon
from privet.privacy.holds import Group, Hold, Holds
from privet.privacy.losses import CURRENCIES, NOTHING, Loss

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger


class Position:
    """A place in the tree of accounts under a ledger, and what was spent there. The ledger itself is the root."""

    neighbours: Neighbours
    _parent: Position | None
    _group: Group | None
    _own_hold: Hold | None = None  # of a reservation
    _price: Charge | None = None  # of an account in rho: what the accounts above were charged for all of it

    def _set_up(self, name: str, limit: Loss) -> None:
        self.name = name
        self._limit = limit
        self._spent = NOTHING
        self._holds = Holds()  # what work that is not done may still charge here
        self._charges: list[Charge] = []
        self._caveats: dict[Caveat, None] = {}
        self._may_void = False
        self._process = os.getpid()

    # -- what there is -----------------------------------------------------------------------------------------------

    @property
    def loss(self) -> Loss:
        """What counts as spent, epsilon and delta: what was charged, and what is reserved for work that is not done."""
        with self._root()._exclusive():
            return self._used()

    @property
    def left(self) -> Loss:
        """What a single charge here may still take, epsilon and delta."""
        with self._root()._exclusive():
            rooms = [room for room, _ in self._rooms()]
            return Loss(*(min(getattr(room, currency) for room in rooms) for currency in CURRENCIES))

    @property
    def spent(self) -> Fraction:
        return self.loss.epsilon

    @property
    def remaining(self) -> Fraction:
        """The epsilon that a single charge here may still take."""
        return self.left.epsilon

    @property
    def steps(self) -> int:
        """How many rows, added or removed, one change of this ledger's relation consists of."""
        unit = self._root()._unit
        return self.neighbours.steps * (1 if unit is None else unit.max_rows)

    @property
    def currency(self) -> Currency:
        """What a number means that is spent here: an epsilon, or a rho inside work under zCDP."""
        return Currency.EPSILON if self._in_rho() is None else Currency.RHO

    def noise_scale(self, amount: Fraction) -> float:
        """The scale of the noise of a count that an amount buys here."""
        return float(self.currency.scale(amount, self.steps))

    def drawn_with(self, amount: Fraction) -> Fraction:
        """The epsilon of an exponential mechanism that an amount buys here."""
        return choice_epsilon(self.currency.loss(amount) / self.steps)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _child(self, name: str, limit: Loss, group: Group | None = None) -> Ledger:
        child = object.__new__(type(self._root()))
        child._hang(self, name, limit, group)
        return child

    def _hang(self, parent: Position, name: str, limit: Loss, group: Group | None = None) -> None:
        self._parent, self._group, self.neighbours = parent, group, parent.neighbours
        self._set_up(name, limit)
        self._may_void = parent._may_void

    @property
    def _durable(self) -> bool:
        """Whether the journal, where there is one, keeps this account."""
        return self._parent is None or self._root()._analysts.get(self.name) is self

    def _root(self) -> Ledger:
        return cast("Ledger", self) if self._parent is None else self._parent._root()

    def _path(self, paid: Loss = NOTHING) -> Iterator[tuple[Position, Loss, Hold | None]]:
        """This account and those above it, innermost first.

        With each: how much of a charge here it has already paid, and the hold at it out of which such a charge is
        taken, if there is a reservation in between.
        """
        account: Position | None = self
        hold: Hold | None = None
        while account is not None:
            yield account, paid, hold
            hold = account._own_hold or hold
            paid += account._credit(hold)
            account = account._parent

    def _credit(self, hold: Hold | None) -> Loss:
        """What the account above has paid for a parallel group, and need not pay again for a charge of this part."""
        if self._group is None:
            return NOTHING
        if hold is not None:
            return hold.credits.get(self, NOTHING)
        promised = sum((other.credits.get(self, NOTHING) for other, _ in self._holds), NOTHING)
        return self._group.paid - self._spent - promised

    def _in_rho(self) -> Position | None:
        """The account at which charges of this one end, if it counts in rho."""
        account: Position | None = self
        while account is not None and account._price is None:
            account = account._parent
        return account

    def _payers(self, paid: Loss = NOTHING) -> Iterator[tuple[Position, Loss, Hold | None]]:
        """Those on the path that pay for a charge here: up to one in rho, or all."""
        for step in self._path(paid):
            yield step
            if step[0]._price is not None:
                return

    def _used(self) -> Loss:
        """What counts as spent. It is the whole budget while the journal holds a record that cannot be read."""
        used = self._spent + self._holds.total
        return used | self._limit if self._parent is None and self._root()._unread else used

    def _rooms(self, paid: Loss = NOTHING) -> list[tuple[Loss, str]]:
        """What each account on the way has left for a charge here, with its name."""
        return [
            (account._limit - account._used() + free, account.name)
            if hold is None
            else (account._holds.left(hold) + free, str(hold))
            for account, free, hold in self._payers(paid)
        ]

    def _analyst(self) -> str | None:
        """In whose name the journal keeps what is charged here."""
        return next((account.name for account, _, _ in self._path() if account._parent and account._durable), None)

    def _pay(self, charge: Charge, above: Loss, hold: Hold | None) -> None:
        """Book a charge for which the account above has booked ``above``."""
        if self._group is not None:
            if hold is not None:
                hold.credits[self] = hold.credits.get(self, NOTHING) - charge.added
            self._group.paid += above
        self._book(charge)
        self._holds.take(hold, charge.added)

    def _book(self, entry: Charge | Caveat) -> None:
        if isinstance(entry, Caveat):
            self._caveats[entry] = None
            return
        self._charges.append(entry)
        self._spent += entry.added
