"""The ledger: no receipt, no release.

A mechanism needs a receipt and takes its epsilon from it. Before the receipt is handed out, the charge is checked,
subtracted and (with a journal) on disk. How charges add up is in ``accounts.py``, how the books are kept in
``bookkeeping.py``. Here is what people do with a budget: say what it is for, share it among analysts, settle what a
crash left open; and why a copy is no second budget.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from privet.errors import EpsilonError, JournalError, ParameterError, PrivacyError, ReservationError
from privet.privacy.bookkeeping import Bookkeeping
from privet.privacy.budget import Neighbours, exact
from privet.privacy.budget import delta as parse_delta
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.certificate import Caveat, Certificate, Charge
from privet.privacy.holds import Hold
from privet.privacy.journal import Journal
from privet.privacy.losses import UNLIMITED, Loss
from privet.privacy.receipts import Receipt
from privet.privacy.records import Header, Note
from privet.schema import Unit
from privet.schema.fingerprint import changes

__all__ = ["Caveat", "Certificate", "Charge", "Ledger", "Receipt"]


class Ledger(Bookkeeping):
    """A budget that cannot be overspent, copied or forgotten.

    Parameters
    ----------
    epsilon : number
        The cap over everything released. Read exactly: 0.1 is one tenth.
    delta : number, optional
        The cap over the deltas of what is released; 0, pure epsilon, unless something else is said.
    neighbours : "add-remove" or "replace-one"
        The relation between neighbouring tables.
    journal : path, optional
        A file that keeps the charges across processes and crashes. If it exists already its cap holds, and
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
            raise ParameterError(parameter="dataset", problem=f"must be a name such as 'clinic-2026', not {dataset!r}")
        header: Header | None = None
        if journal is None or epsilon is not None or delta is not None:
            cap = Loss(parse_epsilon(epsilon), parse_delta(0 if delta is None else delta))
            header = Header(cap, relation or Neighbours.ADD_REMOVE, dataset)
        kept = None if journal is None else Journal(journal, header)
        begun = kept.header if kept else header
        assert begun is not None
        self._open_books(begun, kept)
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

    @property
    def whole(self) -> Ledger:
        """The budget of the data set, which all accounts below it share."""
        return self._root()

    @property
    def reservations(self) -> Mapping[int, Hold]:
        """The reservations that were not ended, by number: work that goes on, or was cut off by a crash."""
        root = self._root()
        with root._exclusive():
            found = {number: hold for number, hold in root._reservations.items() if hold.open}
            for hold in found.values():
                root._least_cost(hold)
            return found

    @property
    def head(self) -> str | None:
        """The head of the journal's chain: keep it elsewhere to check later that nothing was cut off."""
        root = self._root()
        with root._exclusive():
            return None if root._journal is None else root._journal.head

    # -- what the budget is for ------------------------------------------------------------------------------------

    def bind(self, dataset: str, facts: Mapping[str, str] | None = None, unit: Unit | None = None) -> str | None:
        """Tie the budget to the data set of that name, if it has one, and to what was declared about it.

        Another name or another unit is refused. If what was declared has changed, that is written down, certificates
        say so, and the sentence is returned.
        """
        root = self._root()
        with root._exclusive(writing=True):
            root._check_binding(dataset, unit if facts else root._unit)
            if facts and unit != root._unit:
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

    def _check_binding(self, dataset: str, unit: Unit | None) -> None:
        """Refuse another data set or another unit than this budget protects."""
        if dataset and self._dataset not in (None, dataset):
            raise ParameterError(
                f"this ledger protects the data set {self._dataset!r}, not {dataset!r}: give each data set a "
                "ledger and a journal of its own, or correct the name in the schema"
            )
        if unit != self._unit and (self._facts or self._charges):
            holds, wants = (one or "one row" for one in (self._unit, unit))
            raise ParameterError(f"this ledger protects {holds}, not {wants}: a ledger has one unit")

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
                raise ParameterError(
                    parameter="line", problem=f"must be one that cannot be read ({lines}), not {line!r}"
                )
            if not cost <= root._limit:
                raise ParameterError(f"no record costs more than the whole budget, epsilon {root._limit}, as {cost} is")
            root._check_countable(cost)
            root._enter(Note("settled", [line, str(cost)]))

    def settle_reservation(self, number: int, loss: object) -> None:
        """Say what a reservation cost whose process died: from what it charged to all that it reserved."""
        root, cost = self._root(), loss if isinstance(loss, Loss) else Loss(exact(loss, "epsilon"))
        with root._exclusive(writing=True):
            hold = root._reservations.get(number)
            if hold is None or not hold.open:
                numbers = ", ".join(str(n) for n, other in root._reservations.items() if other.open) or "there are none"
                raise ParameterError(
                    f"number must be one of a reservation that was not ended ({numbers}), not {number!r}"
                )
            if root._is_running(number):
                raise ReservationError(f"{hold} is still at work; it can be settled when its process has ended")
            least = root._least_cost(hold)
            if hold.hidden and not least <= cost:
                raise ParameterError(
                    f"a line that cannot be read may hold a charge of {hold}, and then its cost cannot be set below "
                    f"what it reserved; settle it at epsilon {hold.reserved}"
                )
            if not (least <= cost and cost <= hold.reserved | hold.charged):
                raise ParameterError(
                    f"{hold} has charged epsilon {hold.charged} and reserved {hold.reserved}: {cost} is not in between"
                )
            root._check_countable(cost)
            root._enter(Note("settles", [number, str(cost)]), hold.analyst)

    def is_running(self, number: int) -> bool:
        """Whether the process of a reservation still runs."""
        root = self._root()
        with root._exclusive():
            return root._is_running(number)

    def discard_unused(self) -> None:
        """Remove the journal if this ledger made it and nothing was charged, so that a refused call leaves no file."""
        root = self._root()
        if root._journal is not None and root._journal.created:
            with root._exclusive(writing=True):
                if not root._charges and not root._unread and not root._holds:
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
            if loss is None and old == UNLIMITED:
                raise EpsilonError(
                    f"the analyst {name!r} has no limit here: `privet ledger grant` sets one, or ledger.analyst(name, "
                    f"epsilon); known are {', '.join(self._analysts) or 'none'}"
                )
            limit = old if loss is None and old != UNLIMITED else Loss.of(loss)
            if not limit <= old:
                raise ParameterError(
                    f"analyst {name!r} already has epsilon {old}; it can be lowered, and cannot become {limit}"
                )
            if limit != old:
                self._enter(Note("limit", str(limit)), name)
            return self._analysts[name]

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
