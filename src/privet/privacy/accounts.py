"""Accounts: what was spent, what may still be, and what must be stated, in a tree.

What one account spends, its parent pays. The parent of a *parallel* group pays only the largest amount that a child has
spent, since the children hold disjoint records. Only the kernel makes such groups, because only it can be sure that
records are disjoint. What a piece of work has reserved counts as spent for all others until it ends. Proofs:
``docs/proofs/composition.md``, ``docs/proofs/reservations.md``, ``docs/proofs/zcdp.md``. Where an account stands in the
tree is in ``positions.py``.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Self

from privet.errors import BudgetExceeded, PrivacyError, ReservationError, Setting
from privet.kinds import ChargeKind
from privet.privacy.budget import INFINITY, check_digits
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.concentrated import ZCDP, rho_of
from privet.privacy.holds import Group, Hold
from privet.privacy.losses import CURRENCIES, NOTHING, UNLIMITED, Loss
from privet.privacy.positions import Position
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


class Account(Position):
    """An account of the tree under a ledger. The ledger itself is the root, and keeps the lock and the journal."""

    # -- what there is -----------------------------------------------------------------------------------------------

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
            head = self._in_rho()
            if head is not None and head._price is not None:  # what is promised was paid for as a whole
                used, charges = head._price.loss, [head._price, *charges]
            elif used.delta:
                limit = next(account._limit for account, _, _ in self._path() if account._limit != UNLIMITED)
                caveats.append(Caveat(_CHOSEN_ON_THE_WAY.format(limit)))
            return Certificate(
                epsilon=INFINITY if void else used.epsilon,
                neighbours=self.neighbours,
                unit=self._root()._unit,
                charges=tuple(charges),
                caveats=tuple(caveats),
                delta=used.delta,
                rho=NOTHING.rho if head is None else head._limit.rho,
            )

    def __repr__(self) -> str:
        spent, relation = f"{self.currency.value} {self.loss:brief} spent", self.neighbours.value
        return f"<Ledger {self.name}: {spent}, {self.left:brief} left, {relation}>"

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
        """Pay for one release, with a number or a ``Loss``; raises ``BudgetExceeded`` before anything is drawn.

        A number is an epsilon, or a rho where the account counts in it.

        ``kind``, ``mechanism`` and the ``scale`` of its noise are recorded, so that the journal can be added up in
        another way.
        """
        asked = self.currency.loss(loss)
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
            if account is root:
                root._enter(replace(charge, added=above), self._analyst(), hold)
            else:  # in rho, which was paid for: the books only say what for
                *_, (_, _, hold) = self._path()
                root._enter(replace(charge, added=NOTHING), self._analyst(), hold)
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

        return Reservation(self, self.currency.loss(loss), work, schema)

    def _concentrate(self, loss: Loss, what: str) -> Ledger:
        """An account in rho below this one, for work under zCDP that is paid for here, as a whole and at once.

        For ``PrivateDataset``. The rho is what (epsilon, delta) allow; nothing of them is given back.
        """
        rho = Loss(rho=rho_of(loss.epsilon, loss.delta))
        price = Charge(what, loss, loss, ZCDP, kind=ChargeKind.CONCENTRATED)
        self._charge(price, 1)
        child = self._child(self.name, rho)
        child._price, child._caveats = price, dict(self._caveats)
        return child

    def _parallel(self, count: int) -> tuple[Ledger, ...]:
        """Accounts over ``count`` disjoint parts of the records; this one pays for the most expensive one only.

        For ``PrivateDataset`` and ``Level`` alone, which know that the parts are disjoint.
        """
        group = Group()
        return tuple(self._child(f"part {i} of {self.name}", UNLIMITED, group) for i in range(count))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _costs(self, loss: Loss, what: str, paid: Loss = NOTHING) -> list[tuple[Position, Loss, Hold | None]]:
        """What each account on the way pays for a charge here, and out of which hold; or why there can be none."""
        path, root = list(self._path(paid)), self._root()
        if any(a._process != os.getpid() and not (a._durable and root._journal) for a, _, _ in path):
            why = "lives in the memory of the process that opened it, and a fork must not copy budget"
            raise PrivacyError(f"{self.name} {why}; give the ledger journal=path and open the account here")
        work = [account._own_hold for account, _, _ in path if account._own_hold is not None]
        for hold in work:
            if not hold.open:
                raise ReservationError(f"{what!r} cannot be charged: {hold} has ended; reserve again")
        charged = path[-1][2].charged if path[-1][2] is not None else NOTHING
        rooms = self._rooms(paid)
        for currency in CURRENCIES:
            asked = getattr(loss, currency)
            room, holder = min(((getattr(room, currency), name) for room, name in rooms), key=itemgetter(0))
            if asked > room:
                raise BudgetExceeded(asked, room, holder, what, currency, getattr(charged, currency))
        costs = [(account, loss - free, hold) for account, free, hold in self._payers(paid)]
        outermost, cost, _ = costs[-1]
        for currency in CURRENCIES:
            check_digits(getattr(outermost._spent + outermost._holds.total + cost, currency), "the sum of all charges")
        return costs
