"""Shared by the commands that spend: check the journal options, and print what is left."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.addresses import is_address, safe
from privet.cli.output import say
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger
    from privet.work import Purse

Analyst = Annotated[
    str | None,
    typer.Option(
        "--analyst",
        metavar="NAME",
        help="Spend from this analyst's share, see `privet ledger grant`; needs --journal.",
    ),
]
NO_JOURNAL = "No journal: nothing adds up what is learned from this table. --journal FILE --budget B keeps count."


def check_journal(journal: Path | None, budget: Fraction | None, analyst: str | None) -> None:
    """Refuse journal options that do not go together."""
    if journal is None and budget is not None:
        raise ParameterError("--budget is the cap of a journal", parameter="--budget", fix="give --journal FILE too")
    if journal is None and analyst is not None:
        problem = "--analyst names a share of a journal"
        raise ParameterError(problem, parameter="--analyst", fix="give --journal FILE too")
    if journal is not None and is_address(journal):
        problem = f"--journal must be a file, not {safe(journal)}"
        raise ParameterError(problem, parameter="--journal", fix="give a path")


def rest_of(purse: Purse) -> dict[str, Any]:
    """For --json: what is left of the journal's budget, and its head. Without a journal, remark that on stderr."""
    if purse.journal is None or purse.ledger is None:
        say(NO_JOURNAL)
        return {"left": None, "head": None}
    return left_of(purse.ledger)


def left_of(ledger: Ledger) -> dict[str, Any]:
    """What is left of a journal's budget, and its head."""
    return {"left": {"epsilon": ledger.left.epsilon, "delta": ledger.left.delta}, "head": ledger.head}


def print_rest(purse: Purse) -> None:
    """Print the same for people."""
    from privet.privacy.losses import brief

    if purse.journal is None or purse.ledger is None:
        print(NO_JOURNAL)
        return
    left = purse.ledger.left
    delta = f", delta {brief(left.delta)}" if left.delta else ""
    print(f"Left of the budget in {purse.journal}: epsilon {brief(left.epsilon)}{delta}")
    print_head(purse.ledger.head)


def print_head(head: str | None) -> None:
    """Print the head of the journal's chain, for the owner to keep."""
    print(f"Head of the journal: {head}")
