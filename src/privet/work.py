"""Charged work on private records, in the only safe order.

Open the table and read its header, refuse invalid input; reserve the whole price; read the records; work; publish the
output; end the reservation with the output's hash. Fits, private scores and published tables all use it. Proof that the
price is never exceeded, and the state after a crash: ``docs/proofs/reservations.md``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from privet.engines.opening import OpenTable
from privet.errors import ParameterError, PrivetError
from privet.models.drafts import Draft, why
from privet.privacy.budget import Neighbours
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.privacy.reservations import Reservation
from privet.schema import Schema
from privet.tables.declared import attribute_order
from privet.tables.frozen import declared_facts

ROOM = 2**20  # bytes of the disk kept for an output before anything is charged; only large forests take more


@dataclass
class Purse:
    """A budget that is opened when the price is known: a journal, with the cap of a new one, and an analyst.

    Without a journal it is a budget for this work alone.
    """

    journal: Path | None = None
    budget: Fraction | None = None
    analyst: str | None = None
    neighbours: str | None = None
    ledger: Ledger | None = field(default=None, init=False, repr=False)
    """The budget, once the price was known."""

    @contextmanager
    def reserve(self, price: object, work: str, schema: Schema) -> Iterator[Reservation]:
        """Reserve the whole price. A refusal before any charge leaves no new journal behind."""
        loss = Loss.of(price)
        ledger = self.ledger = self._open(loss, work, schema)
        try:
            account = ledger if self.analyst is None else ledger.analyst(self.analyst)
            with account.reserve(loss, work, schema) as reservation:
                yield reservation
        except PrivetError:
            ledger.discard_unused()
            raise

    def _open(self, loss: Loss, work: str, schema: Schema) -> Ledger:
        if self.journal is None:
            return Ledger(loss.epsilon, loss.delta, neighbours=self.neighbours)
        if self.journal.exists():  # it has its own cap and neighbours; arguments must agree with them
            return Ledger(self.budget, neighbours=self.neighbours, journal=self.journal)
        cap = loss.epsilon if self.budget is None else self.budget
        Ledger(cap, loss.delta, neighbours=self.neighbours).reserve(loss, work).end()  # if refused, no file is left
        return Ledger(cap, loss.delta, neighbours=self.neighbours, journal=self.journal, dataset=schema.name or None)


def ledger_of(
    source: Any, ledger: Ledger | Purse | None, neighbours: str | Neighbours | None = None
) -> Ledger | Purse | None:
    """The ledger that work on a source is charged to, if one is given; a protected table brings its own."""
    if isinstance(source, PrivateDataset):
        if ledger is not None and ledger is not source.ledger:
            raise ParameterError("a protected table spends from its own ledger; leave ledger out")
        ledger = source.ledger
    if ledger is None or isinstance(ledger, Purse):  # a journal is checked when it is opened
        return ledger
    if not isinstance(ledger, Ledger):
        raise ParameterError(f"ledger must be a privet.Ledger, not {type(ledger).__name__}")
    if neighbours is not None and ledger.neighbours != Neighbours.parse(neighbours):
        raise ParameterError(f"the ledger counts in {ledger.neighbours.value} neighbours; set neighbours to the same")
    return ledger


def schema_of(source: Any, schema: Schema | None) -> Schema:
    """The declared schema of a source's records; an engine and a protected table have their own."""
    if isinstance(source, PrivateDataset) or is_engine(source):
        if schema is not None and declared_facts(schema) != declared_facts(source.schema):
            raise ParameterError("the table was protected under another schema; leave schema out")
        known: Schema = source.schema
        return known
    if schema is None:
        raise ParameterError("schema is missing: give a privet.Schema, the public facts about the table")
    return schema


class Work:
    """Work on the records of a table, an engine or a protected table, and its price.

    Making it opens the table and refuses invalid input; nothing is reserved or read yet. A ``with`` block closes the
    table.

    Parameters
    ----------
    source : a table, a path, an address or a reader; an engine; or what :func:`privet.protect` returns
    schema : what was declared about the records
    price : the most that the work may lose
    name : the name of the work in the ledger
    ledger : the ledger to charge; a protected table brings its own
    cut : the schema with numbers cut for the work; as declared by default
    for_one_fit : keep only the codes of ``cut``
    """

    def __init__(
        self,
        source: Any,
        schema: Schema,
        price: object,
        name: str,
        ledger: Ledger | Purse,
        *,
        labels: Any = None,
        cut: Schema | None = None,
        for_one_fit: bool = False,
        quoted_line_breaks: bool = False,
    ) -> None:
        self.schema, self.price, self.name, self.ledger = schema, Loss.of(price), name, ledger
        self._cut, self._for_one_fit = cut or schema, for_one_fit
        self._stack = ExitStack()
        self.heading: Any = None
        """The names and declared types of a table's columns."""
        if isinstance(source, PrivateDataset) or is_engine(source):
            if labels is not None:
                raise ParameterError("a protected table holds its labels; leave y out")
            self._source = source
        else:
            table = OpenTable(source, schema, labels, quoted_line_breaks=quoted_line_breaks)
            self._source = self._stack.enter_context(table)
            self.heading = table.heading

    @property
    def column_order(self) -> tuple[str, ...] | None:
        """The attributes in the table's order; None if it has no names."""
        return None if self.heading is None else attribute_order(self.schema, self.heading)

    @contextmanager
    def records(self, stage: Callable[[str], None] = lambda what: None) -> Iterator[PrivateDataset]:
        """The records, behind an account that holds the whole price until the block ends. ``stage`` reports reading.

        The account is the data set's ledger, and is used from the start: then its certificate has all conditions.
        """
        if isinstance(self._source, PrivateDataset):
            with self._source.for_work(self.price, self.name, self._cut) as data:
                yield data
            return
        with self.ledger.reserve(self.price, self.name, self.schema) as account:
            if isinstance(self._source, OpenTable):
                stage("reading the records")
                engine = self._source.engine(self._cut, for_one_fit=self._for_one_fit)
                self._source.close()  # keep no database connection while a model grows
            else:
                engine = self._source.with_schema(self._cut)
            yield PrivateDataset(engine, account)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()


def is_engine(source: Any) -> bool:
    """Whether a source is already an engine."""
    return all(callable(getattr(source, name, None)) for name in ("answer", "shards", "with_schema"))


def deliver(
    draft: Draft,
    account: Ledger,
    make: Callable[[], str],
    what: str,
    *,
    replace: bool = False,
    error: type[PrivetError] = ParameterError,
) -> Path:
    """Publish the output and end the reservation with its hash. Returns the path.

    A failure here loses the charge, and the message says which. Without ``replace``, a file that appeared there
    meanwhile stays, and the output is put beside it.
    """
    where = f"cannot write {what} {str(draft.path)!r}"
    try:
        content = make().encode()
        place = draft.save(content, replace=replace)
    except (OSError, error) as failure:
        reason = f"{where}: {why(failure)}" if isinstance(failure, OSError) else str(failure)
        lost = f"{what.capitalize()} is lost, and epsilon {account.spent} stays charged for it"
        raise error(f"{reason}. {lost}") from failure
    if isinstance(account, Reservation):
        account.end(hashlib.sha256(content).hexdigest())
    return place
