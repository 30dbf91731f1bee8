"""The ledger: no receipt, no release.

A mechanism needs a receipt and takes its epsilon from it. Before the receipt is handed out, the charge is checked,
subtracted and (with a journal) on disk. Accounts form a tree: what one spends, its parent pays. The parent of a
*parallel* group pays only the largest amount that a child has spent, since the children hold disjoint records. Only the
kernel makes such groups, because only it can be sure that records are disjoint.
Proofs: ``docs/proofs/composition.md``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any

from privet.errors import BudgetExceeded, JournalError, ParameterError, PrivacyError
from privet.privacy.budget import INFINITY, Neighbours, check_digits, exact
from privet.privacy.budget import delta as parse_delta
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.journal import Entry, Header, Journal, Note
from privet.privacy.losses import NOTHING, UNLIMITED, Loss
from privet.privacy.receipts import Receipt
from privet.privacy.wording import html_of_ledger
from privet.schema import Unit
from privet.schema.fingerprint import changes

__all__ = ["Caveat", "Certificate", "Charge", "Ledger", "Receipt"]

_UNREADABLE = Caveat("the journal holds a record that cannot be read: all that was left counts as spent")


@dataclass(slots=True)
class _Group:
    """Accounts over disjoint records; ``peak`` is what the most expensive of them has spent."""

    peak: Loss = NOTHING


class Ledger:
    """A budget that cannot be overspent, copied or forgotten.

    Parameters
    ----------
    epsilon : number
        The cap over everything released. Read exactly: 0.1 is one tenth.
    delta : number, optional
        The cap over the deltas of what is released; 0, pure epsilon, unless something else is said.
    neighbours : "add-remove" or "replace-one"
        The relation that epsilon speaks about.
    journal : path, optional
        A file that remembers the charges across processes and crashes. If it exists already its cap holds, and
        ``epsilon`` may be left out.
    dataset : str, optional
        The name of the data set that this budget protects. A schema of another name is refused. Without it the first
        schema that has a name decides.

    Copying or deep-copying a ledger gives the same ledger, so ``sklearn.base.clone`` cannot mint budget.

    >>> ledger = Ledger(1)
    >>> receipt = ledger.charge(0.4, "noisy count")
    >>> ledger.remaining
    Fraction(3, 5)
    """

    def __init__(
        self,
        epsilon: object = None,
        delta: object = None,
        *,
        neighbours: str | Neighbours | None = None,
        journal: str | os.PathLike[str] | None = None,
        dataset: str | None = None,
    ) -> None:
        # Refuse wrong arguments before a file is made.
        relation = None if neighbours is None else Neighbours.parse(neighbours)
        if dataset is not None and (not isinstance(dataset, str) or not dataset):
            raise ParameterError(f"dataset must be a name such as 'clinic-2026', not {dataset!r}")
        header: Header | None = None
        if journal is None or epsilon is not None or delta is not None:
            cap = Loss(parse_epsilon(epsilon), parse_delta(0 if delta is None else delta))
            header = Header(cap, relation or Neighbours.ADD_REMOVE, dataset)
        self._parent: Ledger | None = None
        self._group: _Group | None = None
        self._journal = None if journal is None else Journal(journal, header)
        self._lock = threading.RLock()
        self._busy = False
        self._unread: dict[int, None] = {}  # lines of the journal that cannot be read and are not settled
        begun = self._journal.header if self._journal else header
        assert begun is not None
        self._set_up("the data set's budget", begun.cap)
        self.neighbours = begun.neighbours
        self._dataset = begun.dataset
        self._facts: Mapping[str, str] | None = None
        self._unit: Unit | None = None  # whom the relation adds, removes or replaces; None is a row
        with self._exclusive():
            pass  # takes over what the journal already holds
        if header is not None and header.cap != (self._limit if delta is not None else Loss(self._limit.epsilon)):
            raise JournalError(
                f"{journal} protects epsilon {self._limit}, not {header.cap}: opening a journal never changes its "
                "budget. Leave epsilon out to use what the journal says; lower_cap lowers it"
            )
        if relation not in (None, self.neighbours):
            holds = self.neighbours.value
            raise JournalError(f"{journal} counts in {holds} neighbours; leave neighbours out to follow it")
        if dataset is not None:
            self.bind(dataset)

    def _set_up(self, name: str, limit: Loss) -> None:
        self.name = name
        self._limit = limit
        self._spent = NOTHING
        self._charges: list[Charge] = []
        self._caveats: dict[Caveat, None] = {}
        self._analysts: dict[str, Ledger] = {}
        self._may_void = False
        self._process = os.getpid()

    # -- what there is ---------------------------------------------------------------------------------------------

    @property
    def loss(self) -> Loss:
        """What was spent, epsilon and delta."""
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
    def dataset(self) -> str | None:
        """The name of the data set that this budget protects, once there is one."""
        return self._root()._dataset

    @property
    def steps(self) -> int:
        """How many rows, added or removed, one change of this ledger's relation consists of."""
        unit = self._root()._unit
        return self.neighbours.steps * (1 if unit is None else unit.max_rows)

    @property
    def analysts(self) -> Mapping[str, Ledger]:
        """The analysts of this data set, by name."""
        return dict(self._root()._analysts)

    def certificate(self) -> Certificate:
        """The guarantee for everything released through this account and those below it."""
        with self._root()._exclusive():
            void = any(caveat.voids for caveat in self._caveats)
            charges, caveats, used = list(self._charges), list(self._caveats), self._used()
            if self._parent is None and self._unread:
                rest = used - self._spent
                charges.append(Charge("a record that cannot be read", rest, rest))
                caveats.append(_UNREADABLE)
            if used.delta:
                limit = next(account._limit for account, _ in self._path() if account._limit != UNLIMITED)
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

    def _repr_html_(self) -> str:
        return html_of_ledger(self)

    # -- spending --------------------------------------------------------------------------------------------------

    def charge(
        self, loss: object, what: str, *, mechanism: str | None = None, scale: Fraction | None = None
    ) -> Receipt:
        """Pay for one release, with an epsilon or a ``Loss``; raises ``BudgetExceeded`` before anything is drawn.

        ``mechanism`` and the ``scale`` of its noise are recorded, so that the journal can be added up in another way.
        """
        asked = Loss.of(loss)
        return self._charge(asked, what, 1, asked, mechanism, scale)

    def _charge(
        self, loss: Loss, what: str, cells: int, adds: Loss, mechanism: str | None = None, scale: Fraction | None = None
    ) -> Receipt:
        """Pay for one release in each of ``cells`` disjoint cells.

        For a frontier, which keeps the books of its own cells. ``adds`` is how much more the most expensive path costs
        with this charge; it is never more than the loss.
        """
        paid = loss - adds
        root = self._root()
        with root._exclusive(writing=True):
            if any(a._process != os.getpid() and not (a._durable and root._journal) for a, _ in self._path()):
                why = "lives in the memory of the process that opened it, and a fork must not copy budget"
                raise PrivacyError(f"{self.name} {why}; give the ledger journal=path and open the account here")
            self._check_room(loss, what, paid)
            costs = [(account, loss - free) for account, free in self._path(paid)]
            check_digits((root._spent + costs[-1][1]).epsilon, "the sum of all charges")
            # Outermost first: an interrupt between two lines then books too much, never too little.
            root._enter(Charge(what, loss, costs[-1][1], mechanism, scale), self._analyst())
            for account, cost in reversed(costs):
                if not account._durable:
                    account._book(Charge(what, loss, cost, mechanism, scale))
        return Receipt(self, loss / self.steps, what, cells)

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
        with root._exclusive(writing=True):
            new = [account for account, _ in self._path() if caveat not in account._caveats]
            if any(account._durable for account in new):
                root._enter(caveat, self._analyst())
            for account in new:
                account._book(caveat)

    # -- what the budget is for ------------------------------------------------------------------------------------

    def bind(self, dataset: str, facts: Mapping[str, str] | None = None, unit: Unit | None = None) -> str | None:
        """Tie the budget to the data set of that name, if it has one, and to what was declared about it.

        Another name or another unit is refused. If what was declared has changed, that is written down, certificates
        say so, and the sentence is returned.
        """
        root = self._root()
        with root._exclusive(writing=True):
            if dataset and root._dataset not in (None, dataset):
                raise ParameterError(
                    f"this ledger protects the data set {root._dataset!r}, not {dataset!r}: give each data set a "
                    "ledger and a journal of its own, or correct the name in the schema"
                )
            if facts and unit != root._unit:
                if root._facts or root._charges:
                    holds, wants = (one or "one row" for one in (root._unit, unit))
                    raise ParameterError(f"this ledger protects {holds}, not {wants}: its sums speak of no other unit")
                root._enter(Note("unit", unit and [unit.name, unit.max_rows]))
            if dataset and root._dataset is None:
                root._enter(Note("dataset", dataset))
            changed = changes(root._facts, facts) if root._facts and facts else ""
        caveat = f"the schema changed while this budget was in use: {changed}" if changed else None
        if caveat:
            self.add_caveat(caveat)
        if facts and facts != root._facts:
            with root._exclusive(writing=True):
                root._enter(Note("schema", dict(facts)))
        return caveat

    def lower_cap(self, epsilon: object, *, delta: object = None) -> None:
        """Lower the cap for good. It can never be raised, since people were promised the present one."""
        root = self._root()
        with root._exclusive(writing=True):
            lower = Loss(parse_epsilon(epsilon), root._limit.delta if delta is None else parse_delta(delta))
            if not lower <= root._limit:
                raise ParameterError(f"the cap is epsilon {root._limit}; it can be lowered, never raised to {lower}")
            root._enter(Note("limit", str(lower)))

    def settle(self, line: int, loss: object) -> None:
        """Say what an unreadable line of the journal cost, from 0 to the cap. The rest can then be spent again."""
        root, cost = self._root(), loss if isinstance(loss, Loss) else Loss(exact(loss, "epsilon"))
        with root._exclusive(writing=True):
            if line not in root._unread:
                lines = ", ".join(map(str, root._unread)) or "none"
                raise ParameterError(f"line must be one that cannot be read ({lines}), not {line!r}")
            if not cost <= root._limit:
                raise ParameterError(f"no record costs more than the whole budget, epsilon {root._limit}, as {cost} is")
            root._enter(Note("settled", [line, str(cost)]))

    def discard_unused(self) -> None:
        """Remove the journal if this ledger made it and nothing was charged, so that a refused call leaves no file."""
        root = self._root()
        if root._journal is not None and root._journal.created:
            with root._exclusive(writing=True):
                if not root._charges and not root._unread:
                    root._journal.path.unlink()  # other processes that have it open notice before their next charge

    # -- accounts --------------------------------------------------------------------------------------------------

    def analyst(self, name: str, loss: object = None) -> Ledger:
        """A budget of an analyst under this cap; kept by name in the journal, the same object each time.

        Open the analyst with a smaller limit to lower it; it cannot be raised. Without a limit the known one holds.
        """
        if self._parent is not None or not isinstance(name, str):
            raise ParameterError("analysts are opened on the data set's own ledger, by a name that is text")
        with self._exclusive(writing=True):
            known = self._analysts.get(name)
            old = UNLIMITED if known is None else known._limit
            limit = old if loss is None and old != UNLIMITED else Loss.of(loss)
            if not limit <= old:
                raise ParameterError(
                    f"analyst {name!r} already has epsilon {old}; it can be lowered, and cannot become {limit}"
                )
            if limit != old:
                self._enter(Note("limit", str(limit)), name)
            return self._analysts[name]

    def account(self, name: str, loss: object) -> Ledger:
        """A part of this budget for one piece of work, with a certificate of its own. Refused if too little is left."""
        limit = Loss.of(loss)
        with self._root()._exclusive():
            self._check_room(limit, name)
        return self._child(name, limit)

    def _parallel(self, count: int) -> tuple[Ledger, ...]:
        """Accounts over ``count`` disjoint parts of the records; this one pays for the most expensive one only.

        For ``PrivateDataset`` and ``Frontier`` alone, which know that the parts are disjoint.
        """
        group = _Group()
        return tuple(self._child(f"part {i} of {self.name}", UNLIMITED, group) for i in range(count))

    def _child(self, name: str, limit: Loss, group: _Group | None = None) -> Ledger:
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
        return self if self._parent is None else self._parent._root()

    def _path(self, paid: Loss = NOTHING) -> Iterator[tuple[Ledger, Loss]]:
        """This account and those above it, innermost first, and how much of a charge here each has already paid."""
        account: Ledger | None = self
        while account is not None:
            yield account, paid
            if account._group is not None:
                paid += account._group.peak - account._spent
            account = account._parent

    def _used(self) -> Loss:
        """What counts as spent. It is the whole budget while the journal holds a record that cannot be read."""
        return self._spent | self._limit if self._parent is None and self._unread else self._spent

    def _rooms(self, paid: Loss = NOTHING) -> list[tuple[Loss, str]]:
        """What each account on the way has left for a charge here, with its name."""
        return [(account._limit - account._used() + free, account.name) for account, free in self._path(paid)]

    def _check_room(self, loss: Loss, what: str, paid: Loss = NOTHING) -> None:
        rooms = self._rooms(paid)
        for currency in ("epsilon", "delta"):
            asked = getattr(loss, currency)
            room, holder = min(((getattr(room, currency), name) for room, name in rooms), key=itemgetter(0))
            if asked > room:
                raise BudgetExceeded(asked, room, holder, what, currency)

    def _analyst(self) -> str | None:
        """In whose name the journal keeps what is charged here."""
        return next((account.name for account, _ in self._path() if account._parent and account._durable), None)

    def _enter(self, entry: Entry, analyst: str | None = None) -> None:
        """On the root, with the books open: put an entry into the journal, if there is one, and into the books."""
        if self._journal is None:
            self._take_in(0, entry, analyst)
        else:
            self._journal.append(entry, analyst)
            self._take_over()

    def _take_in(self, line: int, entry: Entry | None, analyst: str | None) -> None:
        """On the root: what an entry means for the books."""
        account = self
        if analyst is not None:
            account = self._analysts.setdefault(analyst, self._child(analyst, UNLIMITED))
        match entry:
            case None:
                self._unread[line] = None
            case Charge() | Caveat():
                for booked in dict.fromkeys((self, account)):
                    booked._book(entry)
            case Note("limit", text):
                account._limit -= account._limit - Loss.read(text)  # the smaller of the two
            case Note("dataset", name):
                self._dataset = name
            case Note("unit", facts):
                self._unit = facts and Unit(*facts)
            case Note("schema", facts):
                self._facts = facts
            case Note("settled", [settled, text]) if settled in self._unread:
                self._book(Charge(f"line {settled} of the journal, as settled", Loss.read(text), Loss.read(text)))
                self._book(Caveat(f"line {settled} of the journal cannot be read; its cost is what the owner stated"))
                del self._unread[settled]

    def _book(self, entry: Charge | Caveat) -> None:
        if isinstance(entry, Caveat):
            self._caveats[entry] = None
            return
        self._charges.append(entry)
        self._spent += entry.added
        if self._group is not None:
            self._group.peak |= self._spent

    @contextmanager
    def _exclusive(self, *, writing: bool = False) -> Iterator[None]:
        """On the root: lock the books against other threads and processes, and read what is new in the journal.

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
        return _reopen, (path, None if self is root else self.name)


_CHOSEN_ON_THE_WAY = (
    "epsilon and delta add up amounts that were fixed beforehand; if some were chosen after seeing answers, what is "
    "promised is the limit, (epsilon, delta) = ({})"
)
_reopened: dict[str, Ledger] = {}


def _reopen(path: str, analyst: str | None) -> Ledger:
    root = _reopened[path] = _reopened.get(path) or Ledger(journal=path)
    return root if analyst is None else root.analyst(analyst)
