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
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from privet.errors import BudgetExceeded, ParameterError, PrivacyError, ReceiptError
from privet.privacy.budget import INFINITY, Neighbours
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.journal import Journal

__all__ = ["Caveat", "Certificate", "Charge", "Ledger", "Receipt"]

_UNREADABLE = Caveat("the journal holds a record that cannot be read: all that was left counts as spent")


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

    def _refuse(self, *_: object) -> NoReturn:
        raise ReceiptError("a receipt cannot be copied: it is good for one release")

    __copy__ = __deepcopy__ = __reduce__ = _refuse


@dataclass(slots=True)
class _Group:
    """Accounts over disjoint records; ``peak`` is what the most expensive of them has spent."""

    peak: Fraction = Fraction(0)


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
        self._analysts: dict[str, Ledger] = {}
        self._may_void = False
        self._process = os.getpid()

    # -- what there is ---------------------------------------------------------------------------------------------

    @property
    def spent(self) -> Fraction:
        with self._root()._exclusive():
            return self._spent

    @property
    def remaining(self) -> Fraction:
        """What a single charge here may still take."""
        with self._root()._exclusive():
            return self._room()[0]

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

    def charge(self, epsilon: object, what: str) -> Receipt:
        """Pay for one release; raises ``BudgetExceeded`` before anything is drawn."""
        exact = parse_epsilon(epsilon)
        return self._charge(exact, what, 1, exact)

    def _charge(self, exact: Fraction, what: str, cells: int, adds: Fraction) -> Receipt:
        """Pay for one release in each of ``cells`` disjoint cells.

        For a frontier, which keeps the books of its own cells: ``adds`` is what the charge adds to the most expensive
        path, never more than epsilon.
        """
        paid = exact - min(max(adds, Fraction(0)), exact)
        root = self._root()
        with root._exclusive():
            if any(a._process != os.getpid() and not (a._durable and root._journal) for a, _ in self._path()):
                why = "lives in the memory of the process that opened it, and a fork must not copy budget"
                raise PrivacyError(f"{self.name} {why}; give the ledger journal=path and open the account here")
            room, holder = self._room(paid)
            if exact > room:
                raise BudgetExceeded(exact, room, holder, what)
            costs = [(account, max(Fraction(0), exact - free)) for account, free in self._path(paid)]
            # Outermost first: what breaks off between two lines leaves too much on the books, never too little.
            if root._journal is not None:
                root._journal.append(Charge(what, exact, costs[-1][1]), self._analyst())
                root._take_over()
            for account, cost in reversed(costs):
                if root._journal is None or not account._durable:
                    account._book(Charge(what, exact, cost))
        return Receipt(self, exact / self.neighbours.steps, what, cells)

    def charge_nonprivate(self, what: str, why: str) -> None:
        """Record a release that no epsilon covers. Refused unless ``allow_nonprivate`` was called on this account."""
        if not all(account._may_void for account, _ in self._path()):
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
        caveat, root = Caveat(text, voids), self._root()
        with root._exclusive():
            new = [account for account, _ in self._path() if caveat not in account._caveats]
            if root._journal is not None and any(account._durable for account in new):
                root._journal.append(caveat, self._analyst())
            for account in new:
                account._book(caveat)

    # -- accounts --------------------------------------------------------------------------------------------------

    def analyst(self, name: str, epsilon: object) -> Ledger:
        """A budget of an analyst under this cap; kept by name in the journal, the same object each time."""
        if self._parent is not None or not isinstance(name, str):
            raise ParameterError("analysts are opened on the data set's own ledger, by a name that is text")
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
            room, holder = self._room()
            if limit > room:
                raise BudgetExceeded(limit, room, holder, name)
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
        *_, (root, _) = self._path()
        return root

    def _path(self, paid: Fraction = Fraction(0)) -> Iterator[tuple[Ledger, Fraction]]:
        """This account and those above it, innermost first, with how much of a charge here each has paid already."""
        account: Ledger | None = self
        while account is not None:
            yield account, paid
            if account._group is not None:
                paid += account._group.peak - account._spent
            account = account._parent

    def _room(self, paid: Fraction = Fraction(0)) -> tuple[Fraction, str]:
        """The largest charge that fits here, and the name of the account that allows no more."""
        limited = [(a._limit - a._spent + free, a.name) for a, free in self._path(paid) if a._limit is not None]
        room, name = min(limited, key=lambda pair: pair[0])
        return max(Fraction(0), room), name

    def _analyst(self) -> str | None:
        """In whose name the journal keeps what is charged here."""
        return next((account.name for account, _ in self._path() if account._parent and account._durable), None)

    def _book(self, entry: Charge | Caveat) -> None:
        if isinstance(entry, Caveat):
            self._caveats[entry] = None
            return
        self._charges.append(entry)
        self._spent += entry.adds
        if self._group is not None:
            self._group.peak = max(self._group.peak, self._spent)

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
        for entry, analyst in self._journal.read_new():
            if entry is None:
                rest = max(Fraction(0), self._journal.cap - self._spent)
                entry = Charge("a record that cannot be read", rest, rest)
                self._book(_UNREADABLE)
            if analyst is not None:
                self._analysts.setdefault(analyst, self._child(analyst, None))._book(entry)
            self._book(entry)

    # -- one ledger is one ledger ----------------------------------------------------------------------------------

    def __deepcopy__(self, memo: object = None) -> Ledger:
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        root = self._root()
        if root._journal is None or not self._durable:
            raise PrivacyError(
                "this ledger lives in memory, so a pickled copy would be a second budget; give it journal=path, and "
                "every process will spend from the same file"
            )
        path = str(root._journal.path)
        _reopened.setdefault(path, root)
        return _reopen, (path, None if self is root else self.name, self._limit)


_reopened: dict[str, Ledger] = {}


def _reopen(path: str, analyst: str | None, limit: Fraction) -> Ledger:
    root = _reopened[path] = _reopened.get(path) or Ledger(journal=path)
    return root if analyst is None else root.analyst(analyst, limit)
