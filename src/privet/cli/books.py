"""``privet ledger``: the data owner's view of a journal, and what may be done about it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, parse_epsilon
from privet.cli.output import print_json
from privet.errors import JournalError, ParameterError

if TYPE_CHECKING:
    from privet.privacy.ledger import Ledger

File = Annotated[Path, typer.Argument(metavar="FILE", help="A journal, as --journal names it.")]
HELP = "Look into a journal: what was spent, whether every record can be read, and what to do if not."
EXAMPLES = {
    "show": "Example: privet ledger show patients.journal",
    "verify": "Example: privet ledger verify patients.journal && echo all is well",
    "settle": "Example: privet ledger settle patients.journal --line 7 --epsilon 0.25",
    "lower": "Example: privet ledger lower patients.journal --epsilon 1",
}


def show(file: File, as_json: Json = False) -> None:
    """Show what was spent and what is left, by analyst, with every charge and every caveat."""
    ledger = _open(file)
    spent, left = ledger.loss, ledger.left
    facts: dict[str, Any] = {
        "journal": str(file),
        "dataset": ledger.dataset,
        "spent": {"epsilon": spent.epsilon, "delta": spent.delta},
        "left": {"epsilon": left.epsilon, "delta": left.delta},
        "analysts": {name: {"spent": a.spent, "left": a.remaining} for name, a in ledger.analysts.items()},
        "certificate": ledger.certificate().to_dict(),
    }
    if as_json:
        print_json(facts)
        return
    print(f"{file}: the budget of {ledger.dataset or 'a data set without a name'}")
    print(f"epsilon {spent:brief} spent, {left:brief} left")
    for name, account in ledger.analysts.items():
        print(f"  {name}: {account.loss:brief} spent, {account.left:brief} left")
    print(ledger.certificate())


def verify(file: File, as_json: Json = False) -> None:
    """Check every record. The exit code is 0 if all can be read or are settled, and 1 if not. Nothing is changed."""
    torn, unreadable, records = _examine(file)
    if as_json:
        print_json({"journal": str(file), "records": records, "torn": torn, "unreadable": unreadable})
    else:
        for line in torn:
            print(f"line {line}: cut off by a crash; its amount is there and counts as spent")
        for line in unreadable:
            print(f"line {line}: cannot be read; all that was left counts as spent")
        print(f"{file}: {records} records, {len(torn)} torn, {len(unreadable)} that cannot be read")
        if unreadable:
            print(f"To free the rest, say what it cost: privet ledger settle {file} --line {unreadable[0]} --epsilon E")
    if unreadable:
        raise typer.Exit(1)


def settle(
    file: File,
    epsilon: Annotated[
        Fraction,
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="What it cost; 0 if nothing."),
    ],
    delta: Annotated[
        Fraction, typer.Option("--delta", metavar="D", parser=parse_epsilon, help="Its delta, if it had one.")
    ] = Fraction(0),
    line: Annotated[
        int | None, typer.Option("--line", metavar="N", help="Which line; needed if there are several.")
    ] = None,
) -> None:
    """State what a record cost that cannot be read; the rest of the budget can then be used again.

    Nothing in the file is changed: your word is added to it, and certificates repeat it. In doubt state the most that a
    release can have cost.
    """
    from privet.privacy.losses import Loss

    ledger = _open(file)
    if line is None:
        _, waiting, _ = _examine(file)
        if len(waiting) != 1:
            numbers = ", ".join(map(str, waiting)) or "there are none"
            raise ParameterError(f"--line must name one of the lines that cannot be read: {numbers}")
        line = waiting[0]
    ledger.settle(line, Loss(epsilon, delta))
    print(f"line {line} settled at epsilon {epsilon}; {ledger!r}")


def lower(
    file: File,
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The new cap, for good.")
    ],
) -> None:
    """Lower the cap of a journal. It can never be raised again."""
    ledger = _open(file)
    ledger.lower_cap(epsilon)
    print(f"the cap is now epsilon {epsilon}; {ledger!r}")


def _open(file: Path) -> Ledger:
    from privet.privacy.ledger import Ledger

    return Ledger(journal=file)


def _examine(file: Path) -> tuple[list[int], list[int], int]:
    """The lines that are torn, those that cannot be read and are not settled, and the number of records."""
    from privet.privacy.journal import TORN, Note, checked, read_entry

    header, *lines = file.read_bytes().removesuffix(b"\n").split(b"\n")
    if "privet-journal" not in (checked(header) or {}):
        raise JournalError(f"{file} is not a privet journal; name another file")
    torn, unreadable = list[int](), list[int]()
    for number, line in enumerate(lines, start=2):
        entry, _ = read_entry(line)
        if entry is None:
            unreadable.append(number)
        elif isinstance(entry, Note) and entry.kind == "settled":
            unreadable = [other for other in unreadable if other != entry.value[0]]
        elif getattr(entry, "what", None) == TORN:
            torn.append(number)
    return torn, unreadable, len(lines)


def register(app: typer.Typer) -> None:
    """Hang these commands on the tree."""
    group = typer.Typer(help=HELP, no_args_is_help=True)
    for command in (show, verify, settle, lower):
        group.command(epilog=EXAMPLES[command.__name__])(command)
    app.add_typer(group, name="ledger")
