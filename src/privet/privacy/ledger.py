"""The ledger: no receipt, no release.

A mechanism needs a receipt and takes its epsilon from it. Before the receipt is handed out, the charge is checked,
subtracted and (with a journal) on disk. How charges add up is in ``accounts.py``. Here are the books of a data set: the
lock and the journal, what the budget is for, its analysts, and why a copy is no second budget.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from privet.errors import JournalError, ParameterError, PrivacyError
from privet.privacy.accounts import Account
from privet.privacy.budget import Neighbours, exact
from privet.privacy.budget import delta as parse_delta
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.journal import Entry, Header, Journal, Note
from privet.privacy.losses import UNLIMITED, Loss
from privet.privacy.receipts import Receipt
from privet.schema import Unit
from privet.schema.fingerprint import changes

__all__ = ["Caveat", "Certificate", "Charge", "Ledger", "Receipt"]


class Ledger(Account):
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
        self._parent = self._group = None
        self._journal = None if journal is None else Journal(journal, header)
        self._lock = threading.RLock()
        self._busy = False
        self._unread: dict[int, None] = {}  # lines of the journal that cannot be read and are not settled
        self._analysts: dict[str, Ledger] = {}
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

    # -- what there is ---------------------------------------------------------------------------------------------

    @property
    def dataset(self) -> str | None:
        """The name of the data set that this budget protects, once there is one."""
        return self._root()._dataset

    @property
    def analysts(self) -> Mapping[str, Ledger]:
        """The analysts of this data set, by name."""
        return dict(self._root()._analysts)

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

    # -- analysts --------------------------------------------------------------------------------------------------

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

    # -- inside ----------------------------------------------------------------------------------------------------

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


_reopened: dict[str, Ledger] = {}


def _reopen(path: str, analyst: str | None) -> Ledger:
    root = _reopened[path] = _reopened.get(path) or Ledger(journal=path)
    return root if analyst is None else root.analyst(analyst)
