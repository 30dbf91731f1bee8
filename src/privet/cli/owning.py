"""``privet owner``: populations, tables, people, grants and books of a server, for the data owner."""

from __future__ import annotations

import json
import os
import secrets
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json
from privet.cli.output import print_json
from privet.errors import JournalError, ParameterError

if TYPE_CHECKING:
    from privet.client.wire import Wire

Folder = Annotated[
    Path, typer.Option("--folder", metavar="FOLDER", help="The server's folder; the owner's key is in it.")
]
Url = Annotated[str, typer.Option("--url", metavar="URL", help="Where the server is; the key is then PRIVET_KEY.")]
Epsilon = Annotated[str, typer.Option("--epsilon", "-e", metavar="E", help="Exact: 0.5 or 1/3.")]
Delta = Annotated[str, typer.Option("--delta", metavar="D", help="0 for pure epsilon.")]
Population = Annotated[str, typer.Argument(metavar="POPULATION")]
HERE, AT = Path("privet-server"), "http://127.0.0.1:8707"
HELP = "Manage a server: populations, tables, people, grants, and its books."
EXAMPLES = {
    "population": "Example: privet owner population town --title 'People of the town' --epsilon 10",
    "table": "Example: privet owner table visits visits.csv --population town --schema schema.json --most 100000",
    "person": "Example: privet owner person ann --role analyst",
    "grant": "Example: privet owner grant town ann --epsilon 2 --table visits",
    "key": "Example: privet owner key ann",
    "cap": "Example: privet owner cap town --epsilon 8",
    "freeze": "Example: privet owner freeze town",
    "settle": "Example: privet owner settle town 'restored the copy of Monday' --lost ann=0.5",
    "close": "Example: privet owner close visits",
    "recalibrate": "Example: privet owner recalibrate visits",
    "show": "Example: privet owner show town",
    "export": "Example: privet owner export town town.jsonl && privet ledger verify town.jsonl",
    "backup": "Example: privet owner backup monday.sqlite",
    "restore": "Example: privet owner restore monday.sqlite",
    "rekey": "Example: privet owner rekey --folder privet-server",
}


def population(
    name: Population,
    epsilon: Epsilon,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="For people.")] = "",
    delta: Delta = "0",
    unit: Annotated[str, typer.Option("--unit", metavar="WORD", help="Whom the budget protects.")] = "person",
    neighbours: Annotated[str, typer.Option("--neighbours", metavar="RELATION", help="Or replace-one.")] = "add-remove",
    journal: Annotated[
        Path | None, typer.Option("--journal", metavar="FILE", help="Carry over what a journal says was spent.")
    ] = None,
    folder: Folder = HERE,
    url: Url = AT,
    as_json: Json = False,
) -> None:
    """Add a population: all tables about the same people, under one cap that can only be lowered."""
    body: dict[str, Any] = {"title": title or name, "unit": unit, "neighbours": neighbours}
    body["cap"] = {"epsilon": epsilon, "delta": delta}
    if journal is not None:
        from privet.privacy.ledger import Ledger

        ledger = Ledger(journal=journal)
        spent = {"epsilon": str(ledger.loss.epsilon), "delta": str(ledger.loss.delta)}
        body["carried"] = spent | {"head": ledger.head or ""}
    _done(_wire(folder, url).call("PUT", f"/v1/populations/{name}", body).json(), as_json)


def table(
    name: Annotated[str, typer.Argument(metavar="TABLE")],
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A .csv or .parquet file.")] = None,
    population: Annotated[str, typer.Option("--population", metavar="NAME", help="Whose rows they are.")] = "",
    schema: Annotated[Path, typer.Option("--schema", metavar="FILE", help="The public facts.")] = Path("schema.json"),
    most: Annotated[int, typer.Option("--most", metavar="N", help="The most records there may be; public.")] = 0,
    one_row_each: Annotated[
        bool, typer.Option("--one-row-each", help="State that no person has more than one row.")
    ] = False,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="A source of the settings, instead of a file.")
    ] = None,
    folder: Folder = HERE,
    url: Url = AT,
    as_json: Json = False,
) -> None:
    """Register a table. It is read once, and never again."""
    from privet.schema import Schema

    text = Schema.from_json(schema).to_json()
    if most < 1:
        raise ParameterError(parameter="--most", problem="is missing", fix="say how many records there may be at most")
    content = None if file is None else file.read_bytes()
    how: dict[str, Any] = {"one_row_each": one_row_each, "source": source}
    suffix = ".csv" if file is None else "".join(file.suffixes)
    _done(send_table(_wire(folder, url), name, population, text, most, content, suffix=suffix, **how), as_json)


def send_table(
    wire: Wire,
    name: str,
    population: str,
    schema: str,
    most: int,
    content: bytes | None,
    *,
    one_row_each: bool = False,
    source: str | None = None,
    suffix: str = ".csv",
) -> Any:
    """Send a table as a form."""
    edge, parts = secrets.token_hex(16), b""
    fields = {"population": population, "schema": schema, "most_records": str(most)}
    fields |= {"one_row_each": str(one_row_each).lower()} | ({} if source is None else {"source": source})
    for field, value in fields.items():
        parts += f'--{edge}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
    if content is not None:
        head = f'--{edge}\r\nContent-Disposition: form-data; name="table"; filename="table{suffix}"\r\n'
        parts += f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + content + b"\r\n"
    headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
    return wire.call("PUT", f"/v1/datasets/{name}", raw=parts + f"--{edge}--\r\n".encode(), headers=headers).json()


def person(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="analyst, auditor or owner.")] = "analyst",
    folder: Folder = HERE,
    url: Url = AT,
    as_json: Json = False,
) -> None:
    """Add a person; the key is printed here and kept nowhere."""
    _done(_wire(folder, url).call("PUT", f"/v1/people/{name}", {"role": role}).json(), as_json)


def grant(
    population: Population,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    epsilon: Epsilon,
    delta: Delta = "0",
    tables: Annotated[list[str] | None, typer.Option("--table", metavar="TABLE", help="May be repeated.")] = None,
    folder: Folder = HERE,
    url: Url = AT,
    as_json: Json = False,
) -> None:
    """Let an analyst spend a share of the cap on some tables of a population."""
    body = {"epsilon": epsilon, "delta": delta, "datasets": tables or []}
    _done(_wire(folder, url).call("PUT", f"/v1/populations/{population}/grants/{name}", body).json(), as_json)


def key(
    name: Annotated[str, typer.Argument(metavar="NAME")], folder: Folder = HERE, url: Url = AT, as_json: Json = False
) -> None:
    """Make a further key for a person, to rotate keys."""
    _done(_wire(folder, url).call("POST", f"/v1/people/{name}/keys", {"name": "by the owner"}).json(), as_json)


def cap(
    population: Population,
    epsilon: Epsilon,
    delta: Delta = "0",
    folder: Folder = HERE,
    url: Url = AT,
    as_json: Json = False,
) -> None:
    """Lower a cap. It can never be raised again."""
    body = {"epsilon": epsilon, "delta": delta}
    _done(_wire(folder, url).call("POST", f"/v1/populations/{population}/cap", body).json(), as_json)


def freeze(population: Population, folder: Folder = HERE, url: Url = AT, as_json: Json = False) -> None:
    """Accept no question about a population until it is settled."""
    _done(_wire(folder, url).call("POST", f"/v1/populations/{population}/freeze", {}).json(), as_json)


def settle(
    population: Population,
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="What happened; it is kept in the books.")],
    lost: Annotated[
        list[str] | None, typer.Option("--lost", metavar="NAME=E", help="What lost entries cost an analyst; repeat.")
    ] = None,
    folder: Folder = HERE,
    url: Url = AT,
    as_json: Json = False,
) -> None:
    """State what lost entries cost, and go on. Without --lost, a restored copy costs all that is left."""
    body: dict[str, Any] = {"statement": statement}
    if lost is not None:
        pairs = [one.partition("=") for one in lost]
        body["lost"] = {who: {"epsilon": cost} for who, _, cost in pairs}
    _done(_wire(folder, url).call("POST", f"/v1/populations/{population}/settle", body).json(), as_json)


def close(
    name: Annotated[str, typer.Argument(metavar="TABLE")], folder: Folder = HERE, url: Url = AT, as_json: Json = False
) -> None:
    """Close a table for good, and delete its records."""
    _done(_wire(folder, url).call("POST", f"/v1/datasets/{name}/close", {}).json(), as_json)


def recalibrate(
    name: Annotated[str, typer.Argument(metavar="TABLE")], folder: Folder = HERE, url: Url = AT, as_json: Json = False
) -> None:
    """Measure the deadlines of a table again, and open it if it was paused."""
    _done(_wire(folder, url).call("POST", f"/v1/datasets/{name}/rehearse", {}).json(), as_json)


def show(population: Population, folder: Folder = HERE, url: Url = AT, as_json: Json = False) -> None:
    """Show a population: its cap, tables and grants."""
    _done(_wire(folder, url).call("GET", f"/v1/populations/{population}").json(), as_json)


def export(
    population: Population,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Lines of JSON, for privet ledger verify.")],
    folder: Folder = HERE,
    url: Url = AT,
) -> None:
    """Write every entry of a population to a file that anyone can examine."""
    wire, after, count = _wire(folder, url), 0, 0
    with file.open("x") as lines:
        while page := wire.call("GET", f"/v1/populations/{population}/entries?after={after}").json():
            lines.writelines(json.dumps(entry) + "\n" for entry in page)
            after, count = page[-1]["seq"], count + len(page)
    print(f"{count} entries of {population} are in {file}")


def backup(file: Annotated[Path, typer.Argument(metavar="FILE")], folder: Folder = HERE, url: Url = AT) -> None:
    """Copy the books, while they are in use."""
    content = _wire(folder, url).call("POST", "/v1/backup", {}).body
    with open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as copy:
        copy.write(content)
        os.fsync(copy.fileno())
    print(f"a copy of the books is in {file}")


def restore(file: Annotated[Path, typer.Argument(metavar="FILE")], folder: Folder = HERE) -> None:
    """Put a copy of the books in place, on this machine, while no server runs.

    Every population is frozen: what was asked after the copy was made is not in it. Settle each of them.
    """
    from privet.privacy.books.storage import Books
    from privet.privacy.books.work import freeze_restored

    path = folder / "books.sqlite"
    with Books(str(path)) as old:
        old.register_server()  # refused while a server runs
        content = file.read_bytes()
        if not content.startswith(b"SQLite format 3\0"):
            raise JournalError(f"{file} is no copy of books; name what `privet owner backup` wrote")
    beside = path.with_name(".restored.sqlite")
    with open(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as copy:
        copy.write(content)
        os.fsync(copy.fileno())
    for left in (f"{path}-wal", f"{path}-shm"):
        Path(left).unlink(missing_ok=True)
    os.replace(beside, path)
    with Books(str(path)) as books:
        names = [name for (name,) in books.read("SELECT id FROM populations ORDER BY id")]
        for name in names:
            books.do(partial(freeze_restored, population=name))
    print(f"the copy is in place; frozen until you settle: {', '.join(names) or 'none'}")


def rekey(folder: Folder = HERE) -> None:
    """Make a new key for the owner, on this machine: the old ones stop working."""
    from privet.privacy.books.storage import Books
    from privet.server.keys import add_key

    def work(tx: Any) -> str:
        tx.run("UPDATE keys SET revoked = 1 WHERE person = 'owner'")
        return str(add_key(tx, "owner", name="rekey")["key"])

    with Books(str(folder / "books.sqlite")) as books:
        made = books.do(work)
    with open(os.open(folder / "owner.key", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(made + "\n")
    print(f"the new key is in {folder / 'owner.key'}")


def _wire(folder: Path, url: str) -> Wire:
    """The owner's connection. On the server's machine the key is in its folder."""
    from privet.client.wire import KEY, Wire

    key = os.environ.get(KEY)
    if key is None:
        try:
            key = (folder / "owner.key").read_text().strip()
        except OSError:
            fix = f"name the server's folder by --folder, or set {KEY}"
            raise ParameterError(parameter="key", problem="of the owner is not here", fix=fix) from None
    return Wire(url, key)


def _done(facts: Any, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        print(f"{name}: {value if isinstance(value, str | int | None) else json.dumps(value)}")


def register(app: typer.Typer) -> None:
    group = typer.Typer(help=HELP, no_args_is_help=True)
    commands = population, table, person, grant, key, cap, freeze, settle, close, recalibrate, show, export, backup
    for command in (*commands, restore, rekey):
        group.command(epilog=EXAMPLES[command.__name__])(command)
    app.add_typer(group, name="owner")
