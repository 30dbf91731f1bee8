"""Shared by the commands that spend: check the journal options, and print what is left."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.addresses import is_address, safe
from privet.cli.output import say
from privet.errors import ParameterError

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


def rest_of(journal: Path | None) -> dict[str, Any]:
    """For --json: what is left of the journal's budget, and its head. Without a journal, remark that on stderr."""
    from privet.privacy.ledger import Ledger

    if journal is None:
        say(NO_JOURNAL)
        return {"left": None, "head": None}
    ledger = Ledger(journal=journal)
    return {"left": {"epsilon": ledger.left.epsilon, "delta": ledger.left.delta}, "head": ledger.head}


def print_rest(journal: Path | None) -> None:
    """Print the same for people."""
    from privet.privacy.ledger import Ledger
    from privet.privacy.losses import brief

    if journal is None:
        print(NO_JOURNAL)
        return
    ledger = Ledger(journal=journal)
    left = ledger.left
    delta = f", delta {brief(left.delta)}" if left.delta else ""
    print(f"Left of the budget in {journal}: epsilon {brief(left.epsilon)}{delta}")
    print_head(ledger.head)


def print_head(head: str | None) -> None:
    """Print the head of the journal's chain, for the owner to keep."""
    print(f"Head of the journal: {head}")
