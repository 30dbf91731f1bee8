"""How a command spends: from a journal or without one, its whole price reserved before it reads a record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.addresses import is_address, safe
from privet.cli.output import say
from privet.errors import ParameterError, PrivetError

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger
    from privet.privacy.losses import Loss
    from privet.privacy.reservations import Reservation
    from privet.schema import Schema

Analyst = Annotated[
    str | None,
    typer.Option(
        "--analyst",
        metavar="NAME",
        help="Spend in this analyst's name, within what `privet ledger grant` gave; with --journal.",
    ),
]
NO_JOURNAL = "No journal: nothing adds up what is learned from this table. --journal FILE --budget B keeps count."


@dataclass(frozen=True)
class Purse:
    """Where a command spends from: a journal, if there is one, with the budget that a new one gets, and a name."""

    journal: Path | None
    budget: Fraction | None = None
    analyst: str | None = None

    def __post_init__(self) -> None:
        if self.journal is None and self.budget is not None:
            raise ParameterError(
                "--budget is the cap of a journal", parameter="--budget", fix="give --journal FILE too"
            )
        if self.journal is None and self.analyst is not None:
            raise ParameterError(
                "--analyst names a share of a journal", parameter="--analyst", fix="give --journal FILE too"
            )
        if self.journal is not None and is_address(self.journal):
            raise ParameterError(
                f"--journal must be a file, not {safe(self.journal)}", parameter="--journal", fix="give a path"
            )

    @contextmanager
    def reserve(
        self, price: Fraction | Loss, work: str, schema: Schema, neighbours: str | None = None
    ) -> Iterator[Reservation]:
        """The whole price of the command. What was refused before any charge leaves no new journal behind."""
        from privet.privacy.losses import Loss

        loss = price if isinstance(price, Loss) else Loss(price)
        ledger = self._open(loss, work, schema, neighbours)
        try:
            account = ledger if self.analyst is None else ledger.analyst(self.analyst)
            with account.reserve(loss, work, schema) as reservation:
                yield reservation
        except PrivetError:
            ledger.discard_unused()
            raise

    def _open(self, loss: Loss, work: str, schema: Schema, neighbours: str | None) -> Ledger:
        from privet.privacy.ledger import Ledger

        if self.journal is None:
            return Ledger(loss.epsilon, loss.delta, neighbours=neighbours)
        if self.journal.exists():  # it keeps its own cap and neighbours; what is said about them must agree
            return Ledger(self.budget, neighbours=neighbours, journal=self.journal)
        cap = loss.epsilon if self.budget is None else self.budget
        Ledger(cap, loss.delta, neighbours=neighbours).reserve(loss, work).end()  # refused here, no file is left behind
        return Ledger(cap, loss.delta, neighbours=neighbours, journal=self.journal, dataset=schema.name or None)

    def facts(self, account: Ledger | None) -> dict[str, Any]:
        """For --json: what is left of the journal's budget, and its head. Without a journal, a remark beside it."""
        if self.journal is None or account is None:
            say(NO_JOURNAL)
            return {"left": None, "head": None}
        left = account.whole.left
        return {"left": {"epsilon": left.epsilon, "delta": left.delta}, "head": account.head}

    def print_rest(self, account: Ledger | None) -> None:
        """The same for people."""
        from privet.privacy.losses import brief

        if self.journal is None or account is None:
            print(NO_JOURNAL)
            return
        left = account.whole.left
        delta = f", delta {brief(left.delta)}" if left.delta else ""
        print(f"Left of the budget in {self.journal}: epsilon {brief(left.epsilon)}{delta}")
        print_head(account.head)


def print_head(head: str | None) -> None:
    """The head of the journal's chain, for the owner to keep."""
    print(f"Head of the journal: {head}")
