"""The books at the root of the accounts: what every entry means for them, under one lock, with a journal or without.

``Ledger`` is what people hold of them. All that reads or writes the books of several threads and processes is here.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from privet.errors import EpsilonError, PrivacyError
from privet.kinds import ChargeKind
from privet.privacy.accounts import Account
from privet.privacy.budget import check_digits
from privet.privacy.certificate import Caveat, Charge
from privet.privacy.claims import Claim
from privet.privacy.holds import Hold
from privet.privacy.journal import Journal
from privet.privacy.losses import NOTHING, UNLIMITED, Loss
from privet.privacy.records import Covered, Ended, Entry, Header, Note, Record, Reserved
from privet.schema import Unit

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger


def this_minute() -> str:
    """The time to the minute, UTC: finer ones would tell more than a log needs."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")


class Bookkeeping(Account):
    """The books of a data set. Only the root of a tree of accounts has any; those below ask it."""

    def _open_books(self, begun: Header, journal: Journal | None) -> None:
        self._parent = self._group = None
        self._journal = journal
        self._lock = threading.RLock()
        self._busy = False
        self._unread: dict[int, None] = {}  # lines of the journal that cannot be read and are not settled
        self._last_fault = 0  # the last line that is damaged, or before which something is missing
        self._analysts: dict[str, Ledger] = {}
        self._reservations: dict[int, Hold] = {}
        self._claims: dict[int, Claim] = {}  # of the reservations that this process made, if there is a journal
        self._made: weakref.WeakValueDictionary[int, Account] = weakref.WeakValueDictionary()
        self._set_up("the data set's budget", begun.cap)
        self.neighbours = begun.neighbours
        self._dataset = begun.dataset
        self._facts: Mapping[str, str] | None = None
        self._unit: Unit | None = None  # whom the relation adds, removes or replaces; None is a row

    def _enter(self, entry: Entry, analyst: str | None = None, hold: Hold | None = None) -> None:
        """With the books open: put an entry into the journal, if there is one, and into the books."""
        record = Record(entry, analyst, None if hold is None else hold.number)
        if self._journal is None:
            self._take_in(0, record)
        else:
            self._journal.append(record)
            self._take_over()

    def _take_in(self, line: int, record: Record, fault: str | None = None) -> None:
        """What a line means for the books. What makes no sense counts as a line that cannot be read."""
        understood = self._understood(line, record)
        if not understood or (fault is not None and line - 1 not in self._unread):  # if it is, that line is why
            self._unread[line] = None
        if not understood or fault is not None:
            self._last_fault = line

    def _understood(self, line: int, record: Record) -> bool:
        hold = None if record.reservation is None else self._reservations.get(record.reservation)
        if record.reservation is not None and hold is None:
            return False
        analyst = record.analyst if hold is None else hold.analyst
        account = self
        if analyst is not None:
            account = self._analysts.setdefault(analyst, self._child(analyst, UNLIMITED))
        booked = dict.fromkeys((self, account))
        match record.entry:
            case None:
                return False
            case Charge() as charge:
                if not self._is_countable(charge.added) or (hold is not None and not hold.open):
                    return False
                for one in booked:
                    one._book(charge)
                    one._holds.take(hold, charge.added)
                if hold is not None:
                    hold.charged += charge.added
            case Caveat() as caveat:
                for one in booked:
                    one._book(caveat)
            case Reserved() as taken:
                return self._take_hold(line, taken, analyst, booked)
            case Ended() if hold is not None:
                _close(hold, booked)
            case Covered():
                if not (self._holds if hold is None else hold.open):
                    return False  # there is no reservation that could cover it
                if hold is None:
                    self._last_fault = line
                else:
                    hold.hidden = True
            case Note("limit", text):
                account._limit -= account._limit - Loss.read(text)  # the smaller of the two
            case Note("dataset", name):
                self._dataset = name
            case Note("unit", facts):
                self._unit = facts and Unit(*facts)
            case Note("schema", facts):
                self._facts = facts
            case Note("settled", [settled, text]) if settled in self._unread:
                if not self._is_countable(cost := Loss.read(text)):
                    return False
                self._book(Charge(f"line {settled} of the journal, as settled", cost, cost, kind=ChargeKind.SETTLED))
                self._book(Caveat(f"line {settled} of the journal cannot be read; its cost is what the owner stated"))
                del self._unread[settled]
            case Note("settles", [number, text]) if number in self._reservations and self._reservations[number].open:
                if not self._is_countable(Loss.read(text)):
                    return False
                self._settle(self._reservations[number], Loss.read(text))
        return True

    def _take_hold(self, line: int, taken: Reserved, analyst: str | None, accounts: Iterable[Account]) -> bool:
        known = self._reservations.get(taken.number)
        if known is not None:
            return known.line == line  # an interrupt may hand out a line twice
        if not self._is_countable(taken.added):
            return False
        hold = Hold(taken.work, taken.number, taken.time, analyst, taken.added, line=line)
        for account in accounts:
            account._holds.put(hold, taken.added)
        self._reservations[taken.number] = hold
        return True

    def _settle(self, hold: Hold, cost: Loss) -> None:
        rest = (cost | self._least_cost(hold)) - hold.charged
        accounts = [self] if hold.analyst is None else [self, self._analysts[hold.analyst]]
        for account in accounts:
            if rest != NOTHING:
                account._book(Charge(f"{hold}, as settled", rest, rest, kind=ChargeKind.SETTLED))
            account._book(Caveat(f"{hold} was not ended; its cost is what the owner stated"))
        _close(hold, accounts)

    def _least_cost(self, hold: Hold) -> Loss:
        """What a reservation charged; all that it took, if a later line may hide a charge of it."""
        hold.hidden = hold.hidden or hold.line < self._last_fault
        return hold.reserved | hold.charged if hold.hidden else hold.charged

    def _is_countable(self, added: Loss) -> bool:
        """Whether the total can still be written down with this: sums of hostile fractions have endless digits."""
        try:
            self._check_countable(added)
        except EpsilonError:
            return False
        return True

    def _check_countable(self, added: Loss) -> None:
        total = self._spent + self._holds.total + added
        check_digits(total.epsilon, "the sum of all charges")
        check_digits(total.delta, "the sum of all deltas")

    def _hold(self, reservation: Ledger, loss: Loss, added: Loss, analyst: str | None) -> Hold:
        """With the books open: put a reservation into the books, and a claim beside the journal."""
        number = max(self._reservations, default=0) + 1
        claim = None if self._journal is None else self._journal.claim(number)
        if claim is not None:
            for other in self._reservations:
                self._is_running(other)  # removes what crashes left behind
            claim.take()
        try:
            self._enter(Reserved(number, reservation.name, this_minute(), loss, added), analyst)
        except BaseException:
            if claim is not None:
                claim.drop()
            raise
        self._made[number] = reservation
        if claim is not None:
            self._claims[number] = claim
            weakref.finalize(reservation, claim.close)  # who lets go of it without ending it no longer holds it
        return self._reservations[number]

    def _release(self, number: int) -> None:
        if (claim := self._claims.pop(number, None)) is not None:
            claim.drop()

    def _is_running(self, number: int) -> bool:
        if self._journal is None:
            return number in self._made
        return self._reservations[number].open and self._journal.claim(number).is_held()

    @contextmanager
    def _exclusive(self, *, writing: bool = False) -> Iterator[None]:
        """Lock the books against other threads and processes, and read what is new in the journal.

        The same thread can come here a second time, from a signal handler, a finaliser or a tracer. It may then read
        the books, but not write: the first time may be between a check and its entry.
        """
        with self._lock:
            if self._busy:
                if writing:
                    raise PrivacyError(
                        "the books are open: a signal handler cannot charge in the middle of a charge, nothing was "
                        "charged for it; let it set a flag, and charge when the call has returned"
                    )
                yield
                return
            self._busy = True
            try:
                if self._journal is None:
                    yield
                    return
                with self._journal.locked():
                    self._take_over()
                    yield
            finally:
                self._busy = False

    def _take_over(self) -> None:
        assert self._journal is not None
        for news in self._journal.read_new():
            self._take_in(*news)


def _close(hold: Hold, accounts: Iterable[Account]) -> None:
    hold.open = False
    for account in accounts:
        account._holds.drop(hold)
