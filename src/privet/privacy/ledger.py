"""The ledger: no receipt, no release.

A charge is checked, subtracted and (with a journal) on disk before anybody holds the receipt that a mechanism needs,
and the mechanism takes its epsilon from that receipt. Accounts form a tree: what one spends, its parent pays, except
that the parent of a *parallel* group pays only the running maximum of its children (they hold disjoint records).
Proofs: ``docs/proofs/composition.md``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from privet.errors import BudgetExceeded, ParameterError, PrivacyError, ReceiptError
from privet.privacy.budget import INFINITY, Neighbours, Total
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.journal import Journal

__all__ = ["Caveat", "Certificate", "Charge", "Ledger", "Receipt"]


class Receipt:
    """Proof of a charge. It is good for one release in each of its cells, at the epsilon it carries.

    ``epsilon`` is what a mechanism for add/remove neighbours must use: half of what was charged under replace-one.
    """

    __slots__ = ("_ledger", "_open", "epsilon", "what")

    def __init__(self, ledger: Ledger, epsilon: Fraction, what: str, cells: int) -> None:
        self._ledger = ledger
        self._open = np.ones(cells, dtype=bool)
        self.epsilon = epsilon
        self.what = what

    def redeem(self, cells: npt.NDArray[np.intp] | None = None) -> Fraction:
        """Use the receipt up for ``cells`` (all of them by default) and learn the epsilon to draw with."""
        wanted = np.arange(self._open.size) if cells is None else cells
        if wanted.size and (wanted.min() < 0 or wanted.max() >= self._open.size):
            raise ReceiptError(f"the receipt for {self.what!r} does not cover that cell")
        if not self._open[wanted].all() or np.unique(wanted).size != wanted.size:
            raise ReceiptError(f"the receipt for {self.what!r} was redeemed already; make a new charge")
        self._open[wanted] = False
        return self.epsilon

    def mark(self, caveat: str | None) -> None:
        """Tell the ledger that the noise drawn for this receipt was not the real one."""
        if caveat is not None:
            self._ledger.add_caveat(caveat, voids=True)

    def __copy__(self) -> NoReturn:
        raise ReceiptError("a receipt cannot be copied: it is good for one release")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        self.__copy__()


class _Group:
    """Accounts over disjoint records; ``peak`` is what the most expensive of them has spent."""

    __slots__ = ("peak",)

    def __init__(self) -> None:
        self.peak = Fraction(0)


class Ledger:
    """A budget that cannot be overspent, copied or forgotten.

    Parameters
    ----------
    epsilon : number
        The cap over everything released. Read exactly: 0.1 is one tenth.
    neighbours : "add-remove" or "replace-one"
        The relation that epsilon speaks about.
    journal : path, optional
        A file that remembers the charges across processes and crashes. If it exists already its cap holds, and
        ``epsilon`` may be left out.

    Copying or deep-copying a ledger gives the same ledger, so ``sklearn.base.clone`` cannot mint budget.

    >>> ledger = Ledger(1)
    >>> receipt = ledger.charge(0.4, "noisy count")
    >>> ledger.remaining
    Fraction(3, 5)
    """

    def __init__(
        self,
        epsilon: object = None,
        *,
        neighbours: str | Neighbours | None = None,
        journal: str | os.PathLike[str] | None = None,
    ) -> None:
        cap = None if epsilon is None and journal is not None else parse_epsilon(epsilon)
        relation = None if neighbours is None else Neighbours.parse(neighbours)
        self._parent: Ledger | None = None
        self._group: _Group | None = None
        self._journal = None if journal is None else Journal(journal, cap, relation)
        self._analysts: dict[str, Ledger] = {}
        self._lock = threading.RLock()
        self._set_up("the data set's budget", self._journal.cap if self._journal else cap)
        self.neighbours = self._journal.neighbours if self._journal else relation or Neighbours.ADD_REMOVE
        with self._exclusive():
            pass  # takes over what the journal already holds

    def _set_up(self, name: str, limit: Fraction | None) -> None:
        self.name = name
        self._limit = limit
        self._spent = Fraction(0)
        self._charges: list[Charge] = []
        self._caveats: dict[Caveat, None] = {}
        self._may_void = False
        self._unreadable = False  # the journal holds a record whose amount is lost

    # -- what there is ---------------------------------------------------------------------------------------------

    @property
    def spent(self) -> Total:
        with self._root()._exclusive():
            return INFINITY if self._unreadable else self._spent

    @property
    def remaining(self) -> Fraction:
        """What a single charge may still take: the least that this account and those above it have left."""
        with self._root()._exclusive():
            return max(Fraction(0), self._remaining())

    def certificate(self) -> Certificate:
        """The guarantee for everything released through this account and those below it."""
        with self._root()._exclusive():
            void = any(caveat.voids for caveat in self._caveats)
            return Certificate(
                epsilon=INFINITY if void else self._spent,
                neighbours=self.neighbours,
                charges=tuple(self._charges),
                caveats=tuple(self._caveats),
            )

    def __repr__(self) -> str:
        return f"<Ledger {self.name}: epsilon {self.spent} spent, {self.remaining} left, {self.neighbours.value}>"

    # -- spending --------------------------------------------------------------------------------------------------

    def charge(self, epsilon: object, what: str, *, cells: int = 1, adds: Fraction | None = None) -> Receipt:
        """Pay for one release in each of ``cells`` disjoint cells; raises ``BudgetExceeded`` before anything is drawn.

        ``adds`` is for a frontier, which keeps the books of its own cells: what this charge adds to the most
        expensive path (never more than epsilon).
        """
        exact = parse_epsilon(epsilon)
        amount = exact if adds is None else min(max(adds, Fraction(0)), exact)
        root = self._root()
        with root._exclusive():
            path = list(self._path(amount))
            for account, increment in path:
                left = account._left()
                if increment > left:
                    raise BudgetExceeded(amount, max(Fraction(0), Fraction(left)), account.name, what)
            # Outermost first: an interrupt between two lines leaves too much on the books, never too little.
            for account, increment in reversed(path):
                if root._journal is None or not account._durable:
                    account._book(Charge(what, exact, increment))
            if root._journal is not None:
                analyst = next((account.name for account, _ in path if account._durable and account is not root), None)
                root._journal.append(Charge(what, exact, path[-1][1]), analyst)
                root._take_over()
        return Receipt(self, exact / self.neighbours.steps, what, cells)

    def charge_nonprivate(self, what: str, why: str) -> None:
        """Record a release that no epsilon covers. Refused unless ``allow_nonprivate`` was called on this account."""
        if not all(account._may_void for account, _ in self._path(Fraction(0))):
            raise PrivacyError(
                f"{what!r} is not differentially private ({why}), and this ledger protects a budget; fit it without "
                "ledger=, on data that need no protection, or use variant='sound'"
            )
        self.add_caveat(f"{what} is not differentially private: {why}", voids=True)

    def allow_nonprivate(self) -> Ledger:
        """Let this account hold charges of epsilon = infinity, for reproducing published methods that leak."""
        if self._root()._journal is not None:
            raise PrivacyError("a journal-backed ledger cannot hold non-private charges; use Ledger(epsilon)")
        self._may_void = True
        return self

    def add_caveat(self, text: str, *, voids: bool = False) -> None:
        """A condition that this account's certificate, and those above it, must state."""
        for account, _ in self._path(Fraction(0)):
            account._caveats[Caveat(text, voids)] = None

    # -- accounts --------------------------------------------------------------------------------------------------

    def analyst(self, name: str, epsilon: object) -> Ledger:
        """A budget of an analyst under this cap; kept by name in the journal, the same object each time."""
        if self._parent is not None:
            raise ParameterError("analysts are opened on the data set's own ledger, not under another account")
        limit = parse_epsilon(epsilon)
        with self._exclusive():
            known = self._analysts.get(name)
            if known is None:
                known = self._analysts[name] = self._child(name, limit)
            elif known._limit is None:
                known._limit = limit  # seen in the journal before it was opened here
            elif known._limit != limit:
                raise ParameterError(f"analyst {name!r} already has epsilon {known._limit}; it cannot become {limit}")
            return known

    def account(self, name: str, epsilon: object) -> Ledger:
        """A part of this budget for one piece of work, with a certificate of its own. Refused if too little is left."""
        limit = parse_epsilon(epsilon)
        with self._root()._exclusive():
            if limit > self._remaining():
                raise BudgetExceeded(limit, max(Fraction(0), self._remaining()), self.name, name)
        return self._child(name, limit)

    def parallel(self, count: int) -> tuple[Ledger, ...]:
        """Accounts over ``count`` disjoint parts of the records; this one pays the running maximum of theirs."""
        group = _Group()
        return tuple(self._child(f"part {i} of {self.name}", None, group) for i in range(count))

    def _child(self, name: str, limit: Fraction | None, group: _Group | None = None) -> Ledger:
        child = object.__new__(Ledger)
        child._parent, child._group, child._journal, child.neighbours = self, group, None, self.neighbours
        child._set_up(name, limit)
        child._may_void = self._may_void
        return child

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _durable(self) -> bool:
        """Whether the journal, where there is one, keeps this account."""
        return self._parent is None or self._parent._analysts.get(self.name) is self

    def _root(self) -> Ledger:
        account = self
        while account._parent is not None:
            account = account._parent
        return account

    def _path(self, amount: Fraction) -> Iterator[tuple[Ledger, Fraction]]:
        """This account and those above it, innermost first, with what ``amount`` here costs each."""
        account: Ledger | None = self
        while account is not None:
            yield account, amount
            if account._group is not None:
                amount = max(Fraction(0), account._spent + amount - account._group.peak)
            account = account._parent

    def _book(self, charge: Charge) -> None:
        self._charges.append(charge)
        self._spent += charge.adds
        if self._group is not None:
            self._group.peak = max(self._group.peak, self._spent)

    def _left(self) -> Total:
        if self._unreadable:
            return Fraction(0)
        return INFINITY if self._limit is None else self._limit - self._spent

    def _remaining(self) -> Fraction:
        # Inside a parallel group a charge may cost those above less than it says; the least is a safe answer.
        return Fraction(min(account._left() for account, _ in self._path(Fraction(0))))

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """On the root: hold the books against other threads and processes, with the journal's news taken in."""
        with self._lock:
            if self._journal is None:
                yield
                return
            with self._journal.locked():
                self._take_over()
                yield

    def _take_over(self) -> None:
        assert self._journal is not None
        for charge, analyst in self._journal.read_new():
            if charge is None:
                self.add_caveat("the journal holds a torn record of unknown size; the owner must settle it", voids=True)
                self._unreadable = True
                continue
            self._book(charge)
            if analyst is not None:
                if analyst not in self._analysts:
                    self._analysts[analyst] = self._child(analyst, None)
                self._analysts[analyst]._book(charge)

    # -- one ledger is one ledger ----------------------------------------------------------------------------------

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        root = self._root()
        if root._journal is None or not self._durable:
            raise PrivacyError(
                "this ledger lives in memory, so a pickled copy would be a second budget; give it journal=path, and "
                "every process will spend from the same file"
            )
        return _reopen, (str(root._journal.path), None if self is root else self.name, self._limit)


_reopened: dict[str, Ledger] = {}


def _reopen(path: str, analyst: str | None, limit: Fraction) -> Ledger:
    root = _reopened.setdefault(path, Ledger(journal=path))
    return root if analyst is None else root.analyst(analyst, limit)

