"""Accounts: what was spent, what may still be, and what must be stated, in a tree.

What one account spends, its parent pays. The parent of a *parallel* group pays only the largest amount that a child has
spent, since the children hold disjoint records. Only the kernel makes such groups, because only it can be sure that
records are disjoint. What a piece of work has reserved counts as spent for all others until it ends. Proofs:
``docs/proofs/composition.md``, ``docs/proofs/reservations.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Self, cast

from privet.errors import BudgetExceeded, PrivacyError, ReservationError, Setting
from privet.kinds import ChargeKind
from privet.privacy.budget import INFINITY, Neighbours, check_digits
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.holds import Group, Hold, Holds
from privet.privacy.losses import NOTHING, UNLIMITED, Loss
from privet.privacy.receipts import Receipt

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger
    from privet.privacy.reservations import Reservation
    from privet.schema import Schema

_UNREADABLE = Caveat("the journal holds a record that cannot be read: all that was left counts as spent")
_CHOSEN_ON_THE_WAY = (
    "epsilon and delta add up amounts that were fixed beforehand; if some were chosen after seeing answers, what is "
    "promised is the limit, (epsilon, delta) = ({})"
)


class Account:
    """An account of the tree under a ledger. The ledger itself is the root, and keeps the lock and the journal."""

    neighbours: Neighbours
    _parent: Account | None
    _group: Group | None
    _own_hold: Hold | None = None  # of a reservation

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
            return Loss(min(room.epsilon for room in rooms), min(room.delta for room in rooms))

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

    def certificate(self) -> Certificate:
        """The guarantee for everything released through this account and those below it."""
        with self._root()._exclusive():
            void = any(caveat.voids for caveat in self._caveats)
            charges, caveats, used = list(self._charges), list(self._caveats), self._used()
            held = [(f"held by {hold}", rest) for hold, rest in self._holds if rest != NOTHING]
            charges += [Charge(what, rest, rest, kind=ChargeKind.HELD) for what, rest in held]
            if self._parent is None and self._root()._unread:
                rest = used - self._spent - self._holds.total
                charges.append(Charge("a record that cannot be read", rest, rest, kind=ChargeKind.LOST))
                caveats.append(_UNREADABLE)
            if used.delta:
                limit = next(account._limit for account, _, _ in self._path() if account._limit != UNLIMITED)
                caveats.append(Caveat(_CHOSEN_ON_THE_WAY.format(limit)))
            return Certificate(
                epsilon=INFINITY if void else used.epsilon,
                neighbours=self.neighbours,
                unit=self._root()._unit,
                charges=tuple(charges),
                caveats=tuple(caveats),
                delta=used.delta,
            )

    def __repr__(self) -> str:
        return f"<Ledger {self.name}: epsilon {self.loss:brief} spent, {self.left:brief} left, {self.neighbours.value}>"

    # -- spending ----------------------------------------------------------------------------------------------------

    def charge(
        self,
        loss: object,
        what: str,
        *,
        kind: ChargeKind = ChargeKind.OTHER,
        mechanism: str | None = None,
        scale: Fraction | None = None,
    ) -> Receipt:
        """Pay for one release, with an epsilon or a ``Loss``; raises ``BudgetExceeded`` before anything is drawn.

        ``kind``, ``mechanism`` and the ``scale`` of its noise are recorded, so that the journal can be added up in
        another way.
        """
        asked = Loss.of(loss)
        return self._charge(Charge(what, asked, asked, mechanism, scale, kind), 1)

    def _charge(self, charge: Charge, cells: int) -> Receipt:
        """Pay for one release in each of ``cells`` disjoint cells.

        For a level, which keeps the books of its own cells. ``charge.added`` is how much more the most expensive path
        costs with this charge; it is never more than the loss.
        """
        root = self._root()
        with root._exclusive(writing=True):
            costs = self._costs(charge.loss, charge.what, charge.loss - charge.added)
            # Outermost first: an interrupt between two lines then books too much, never too little.
            account, above, hold = costs[-1]
            root._enter(replace(charge, added=above), self._analyst(), hold)
            for account, cost, hold in reversed(costs):
                if not account._durable:
                    account._pay(replace(charge, added=cost), above, hold)
                above = cost
        return Receipt(self, charge.loss / self.steps, charge.what, cells)

    def check_nonprivate(self, what: str, why: str) -> None:
        """Refuse a release that no epsilon covers, unless ``allow_nonprivate`` was called on this account."""
        if not all(account._may_void for account, _, _ in self._path()):
            raise PrivacyError(
                f"{what!r} is not differentially private ({why}), and this ledger protects a budget",
                fix=("use ", Setting("variant", "sound"), ", or fit without a ledger on data that need no protection"),
            )

    def charge_nonprivate(self, what: str, why: str) -> None:
        """Record a release that no epsilon covers, if it is allowed."""
        self.check_nonprivate(what, why)
        self.add_caveat(f"{what} is not differentially private: {why}", voids=True)

    def allow_nonprivate(self) -> Self:
        """Let this account hold charges of epsilon = infinity, for reproducing published methods that leak."""
        if self._root()._journal is not None:
            raise PrivacyError("a journal-backed ledger cannot hold non-private charges; use Ledger(epsilon)")
        self._may_void = True
        return self

    def add_caveat(self, text: str, *, voids: bool = False) -> None:
        """A condition that this account's certificate, and those above it, must state."""
        caveat, root = Caveat(text, voids), self._root()
        with root._exclusive(writing=True):
            new = [account for account, _, _ in self._path() if caveat not in account._caveats]
            if any(account._durable for account in new):
                root._enter(caveat, self._analyst())
            for account in new:
                account._book(caveat)

    # -- accounts below ----------------------------------------------------------------------------------------------

    def reserve(self, loss: object, work: str, schema: Schema | None = None) -> Reservation:
        """Take the whole price of a piece of work, in one durable step. Refused if that is more than is left.

        With a ``schema`` also if the budget protects another data set or unit; then nothing is written down. What comes
        back is an account for the work, and a context manager that gives back what was not charged: use it before a
        record is read. See :class:`~privet.privacy.reservations.Reservation`.
        """
        from privet.privacy.reservations import Reservation

        return Reservation(self, Loss.of(loss), work, schema)

    def _parallel(self, count: int) -> tuple[Ledger, ...]:
        """Accounts over ``count`` disjoint parts of the records; this one pays for the most expensive one only.

        For ``PrivateDataset`` and ``Level`` alone, which know that the parts are disjoint.
        """
        group = Group()
        return tuple(self._child(f"part {i} of {self.name}", UNLIMITED, group) for i in range(count))

    def _child(self, name: str, limit: Loss, group: Group | None = None) -> Ledger:
        child = object.__new__(type(self._root()))
        child._hang(self, name, limit, group)
        return child

    def _hang(self, parent: Account, name: str, limit: Loss, group: Group | None = None) -> None:
        self._parent, self._group, self.neighbours = parent, group, parent.neighbours
        self._set_up(name, limit)
        self._may_void = parent._may_void

    # -- inside ------------------------------------------------------------------------------------------------------

    @property
    def _durable(self) -> bool:
        """Whether the journal, where there is one, keeps this account."""
        return self._parent is None or self._root()._analysts.get(self.name) is self

    def _root(self) -> Ledger:
        return cast("Ledger", self) if self._parent is None else self._parent._root()

    def _path(self, paid: Loss = NOTHING) -> Iterator[tuple[Account, Loss, Hold | None]]:
        """This account and those above it, innermost first.

        With each: how much of a charge here it has already paid, and the hold at it out of which such a charge is
        taken, if there is a reservation in between.
        """
        account: Account | None = self
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
            for account, free, hold in self._path(paid)
        ]

    def _costs(self, loss: Loss, what: str, paid: Loss = NOTHING) -> list[tuple[Account, Loss, Hold | None]]:
        """What each account on the way pays for a charge here, and out of which hold; or why there can be none."""
        path, root = list(self._path(paid)), self._root()
        if any(a._process != os.getpid() and not (a._durable and root._journal) for a, _, _ in path):
            why = "lives in the memory of the process that opened it, and a fork must not copy budget"
            raise PrivacyError(f"{self.name} {why}; give the ledger journal=path and open the account here")
        work = [account._own_hold for account, _, _ in path if account._own_hold is not None]
        for hold in work:
            if not hold.open:
                raise ReservationError(f"{what!r} cannot be charged: {hold} has ended; reserve anew")
        charged = path[-1][2].charged if path[-1][2] is not None else NOTHING
        rooms = self._rooms(paid)
        for currency in ("epsilon", "delta"):
            asked = getattr(loss, currency)
            room, holder = min(((getattr(room, currency), name) for room, name in rooms), key=itemgetter(0))
            if asked > room:
                raise BudgetExceeded(asked, room, holder, what, currency, getattr(charged, currency))
        costs = [(account, loss - free, hold) for account, free, hold in path]
        for currency in ("epsilon", "delta"):
            check_digits(getattr(root._spent + root._holds.total + costs[-1][1], currency), "the sum of all charges")
        return costs

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
