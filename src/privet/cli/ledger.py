"""``privet ledger``: inspect and settle a journal, for the data owner."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, parse_epsilon
from privet.cli.output import print_json
from privet.cli.reporting import PageFile, write_page
from privet.cli.spending import left_of, print_head
from privet.cli.writing import Force
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.privacy.holds import Hold
    from privet.privacy.ledger import Ledger

File = Annotated[Path, typer.Argument(metavar="FILE", help="A journal, as in --journal.")]
NewLimit = Annotated[
    Fraction,
    typer.Option(
        "--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The new limit; it cannot be raised again."
    ),
]
HELP = "Look into a journal: what was spent, whether every record can be read, and what to do if not."
EXAMPLES = {
    "show": "Example: privet ledger show patients.journal",
    "verify": "Example: privet ledger verify patients.journal && echo all is well",
    "settle": "Example: privet ledger settle patients.journal --line 7 --epsilon 0.25",
    "lower": "Example: privet ledger lower patients.journal --epsilon 1",
    "grant": "Example: privet ledger grant patients.journal alice --epsilon 0.5",
    "report": "Example: privet ledger report patients.journal -o budget.html",
}


def show(file: File, as_json: Json = False) -> None:
    """Show what was spent and what is left, by analyst, with open reservations, every charge and every caveat."""
    ledger = _open(file)
    spent, left = ledger.loss, ledger.left
    running = {number: ledger.is_running(number) for number in ledger.reservations}
    if as_json:
        facts: dict[str, Any] = {
            "journal": str(file),
            "dataset": ledger.dataset,
            "spent": {"epsilon": spent.epsilon, "delta": spent.delta},
            "analysts": {name: {"spent": a.spent, "left": a.remaining} for name, a in ledger.analysts.items()},
            "reservations": [_facts(hold) | {"running": running[n]} for n, hold in ledger.reservations.items()],
            **left_of(ledger),
            "certificate": ledger.certificate().to_dict(),
        }
        print_json(facts)
        return
    print(f"{file}: the budget of {ledger.dataset or 'a data set without a name'}")
    print(f"epsilon {spent:brief} spent, {left:brief} left")
    for name, account in ledger.analysts.items():
        print(f"  {name}: {account.loss:brief} spent, {account.left:brief} left")
    for number, hold in ledger.reservations.items():
        goes_on = "is at work" if running[number] else f"was not ended; {_how_to_settle(file, hold)}"
        print(f"  {hold}, {_whose(hold)}: {hold.charged:brief} charged of {hold.reserved:brief}; it {goes_on}")
    print(ledger.certificate())
    print_head(ledger.head)


def verify(
    file: File,
    head: Annotated[
        str | None,
        typer.Option(
            "--head", metavar="HASH", help="A head that was printed before; check that the journal contains it."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every record and the chain of their hashes, of a journal or of a server's exported books.

    The exit code is 1 if an unreadable or missing record was not settled, or if --head is not found.
    """
    from privet.privacy.books.entries import is_export
    from privet.privacy.examining import examine

    if is_export(file):
        _verify_export(file, head, as_json)
        return
    found = examine(file)
    cut = head is not None and head.strip().lower() not in found.heads
    if as_json:
        facts = {"journal": str(file), "records": found.records, "torn": found.torn, "unreadable": found.unread}
        facts |= {"broken": found.broken, "reservations": [_facts(hold) for hold in found.reservations.values()]}
        print_json(facts | {"head": found.head} | ({} if head is None else {"head_found": not cut}))
    else:
        for line in found.torn:
            print(f"line {line}: cut off by a crash; what it cost counts as spent")
        for line, fault in found.broken.items():
            print(f"line {line}: {fault}")
        for line in found.unread:
            print(f"line {line}: cannot be read or trusted; all that was left counts as spent")
        for hold in found.reservations.values():
            print(f"{hold}, {_whose(hold)}, is not ended: all of {hold.reserved:brief} counts as spent")
        counts = f"{len(found.torn)} torn, {len(found.unread)} that cannot be read"
        print(f"{file}: {found.records} records, {counts}, {len(found.broken)} breaks of the chain")
        if found.unread:
            print(
                f"To free the rest, say what it cost: privet ledger settle {file} --line {found.unread[0]} --epsilon E"
            )
        if cut:
            print("The head that was given is not in this journal: its end was cut off, or records before were changed")
        print_head(found.head)
    if found.unread or cut:
        raise typer.Exit(1)


def _verify_export(file: Path, head: str | None, as_json: bool) -> None:
    """Exported books of a server: chain, sums, caps."""
    from privet.privacy.books.entries import examine_export

    found = examine_export(file)
    parts = (head or "").strip().lower().split(":")  # a hash alone, or population:hash:mac as clients keep it
    cut = head is not None and (parts[1] if len(parts) == 3 else parts[0]) not in found.heads
    if as_json:
        spent = {name: str(loss) for name, loss in found.spent.items()}
        facts = {"books": str(file), "population": found.population, "entries": found.entries, "faults": found.faults}
        facts |= {"cap": str(found.cap), "spent": spent, "total": str(found.total), "head": found.head}
        print_json(facts | ({} if head is None else {"head_found": not cut}))
    else:
        for line, fault in found.faults.items():
            print(f"line {line}: {fault}")
        print(f"{file}: {found.entries} entries of {found.population}, {len(found.faults)} faults")
        print(f"epsilon {found.total:brief} spent of {found.cap:brief}")
        for name, loss in sorted(found.spent.items()):
            print(f"  {name}: {loss:brief} of {found.limits[name]:brief}")
        if cut:
            print("The head that was given is not in these books: entries were cut off, or changed")
        print_head(found.head)
    if found.faults or cut:
        raise typer.Exit(1)


def settle(
    file: File,
    epsilon: Annotated[
        Fraction,
        typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="What it cost; 0 for nothing."),
    ],
    delta: Annotated[
        Fraction, typer.Option("--delta", metavar="D", parser=parse_epsilon, help="Its delta, if it had one.")
    ] = Fraction(0),
    line: Annotated[
        int | None, typer.Option("--line", metavar="N", help="The line; needed if there are several.")
    ] = None,
    reservation: Annotated[
        int | None, typer.Option("--reservation", metavar="N", help="The reservation, if its process died.")
    ] = None,
    as_json: Json = False,
) -> None:
    """State the cost of an unreadable record, or of a reservation whose process died, and free the rest.

    Nothing in the file is changed: your statement is added to it, and certificates repeat it. If in doubt, state the
    most that a release can have cost. A reservation cost at least what it charged and at most what it reserved.
    """
    from privet.privacy.examining import examine
    from privet.privacy.losses import Loss

    if line is not None and reservation is not None:
        raise ParameterError("--line and --reservation are two things to settle; name one of them")
    ledger = _open(file)
    if reservation is not None:
        ledger.settle_reservation(reservation, Loss(epsilon, delta))
        _report(ledger, file, f"reservation {reservation} settled at epsilon {epsilon}", as_json)
        return
    if line is None:
        waiting = examine(file).unread
        if len(waiting) != 1:
            numbers = ", ".join(map(str, waiting)) or "there are none"
            raise ParameterError(
                parameter="--line", problem=f"must name one of the lines that cannot be read: {numbers}"
            )
        line = waiting[0]
    ledger.settle(line, Loss(epsilon, delta))
    _report(ledger, file, f"line {line} settled at epsilon {epsilon}", as_json)


def lower(file: File, epsilon: NewLimit, as_json: Json = False) -> None:
    """Lower the cap of a journal. It can never be raised again."""
    ledger = _open(file)
    ledger.lower_cap(epsilon)
    _report(ledger, file, f"the cap is now epsilon {epsilon}", as_json)


def grant(
    file: File,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The analyst, as in --analyst.")],
    epsilon: NewLimit,
    as_json: Json = False,
) -> None:
    """Give an analyst a share of the budget, or lower an existing one. It can never be raised."""
    ledger = _open(file)
    ledger.analyst(name, epsilon)
    _report(ledger, file, f"{name} may spend epsilon {epsilon} in all", as_json)


def report(file: File, output: PageFile, force: Force = False, as_json: Json = False) -> None:
    """Write the budget as a page: what was promised, what was spent, by whom, when, on what, and what is left.

    Nothing in the journal is changed. The page is one file for any browser, for people who do not use a terminal.
    """
    from privet.report.budget import budget_page

    write_page(output, lambda: budget_page(file), inputs=(file,), force=force, as_json=as_json)


def _open(file: Path) -> Ledger:
    from privet.privacy.ledger import Ledger

    return Ledger(journal=file)


def _report(ledger: Ledger, file: Path, done: str, as_json: bool) -> None:
    if as_json:
        print_json({"journal": str(file), "done": done} | left_of(ledger))
        return
    print(f"{done}; {ledger!r}")
    print_head(ledger.head)


def _whose(hold: Hold) -> str:
    return f"of {hold.time}" if hold.analyst is None else f"of {hold.analyst}, {hold.time}"


def _how_to_settle(file: Path, hold: Hold) -> str:
    least = hold.reserved if hold.hidden else hold.charged
    return f"privet ledger settle {file} --reservation {hold.number} --epsilon E, from {least:brief} on"


def _facts(hold: Hold) -> dict[str, Any]:
    facts = {"number": hold.number, "work": hold.work, "analyst": hold.analyst, "time": hold.time}
    return facts | {"charged": str(hold.charged), "reserved": str(hold.reserved)}


def register(app: typer.Typer) -> None:
    group = typer.Typer(help=HELP, no_args_is_help=True)
    for command in (show, report, verify, settle, lower, grant):
        group.command(epilog=EXAMPLES[command.__name__])(command)
    app.add_typer(group, name="ledger")
