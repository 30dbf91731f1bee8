"""``privet serve``: the data owner's server."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.errors import ParameterError, PrivetError

if TYPE_CHECKING:
    from privet.server.settings import Settings

NEEDS = "the server needs more packages: pip install 'privet[server]'"


def serve(
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="FOLDER", help="Where books, tables and the owner's key are.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="Settings; privet-server.toml by default.")
    ] = None,
    books: Annotated[str | None, typer.Option("--books", metavar="URL", help="PostgreSQL instead of SQLite.")] = None,
    host: Annotated[str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="N", help="Where to listen.")] = None,
    public_url: Annotated[
        str | None, typer.Option("--public-url", metavar="URL", help="The address that analysts use.")
    ] = None,
    behind_proxy: Annotated[
        bool | None, typer.Option("--behind-proxy", help="A reverse proxy on this machine encrypts.")
    ] = None,
    slots: Annotated[
        int | None, typer.Option("--slots", metavar="N", help="Questions that run at the same time.")
    ] = None,
    cores: Annotated[
        str | None, typer.Option("--cores", metavar="LIST", help="Cores of workers, such as 1-15.")
    ] = None,
    witness: Annotated[
        str | None,
        typer.Option(
            "--witness", metavar="FILE", help="A file on another disk, to detect that an old copy was restored."
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check settings and books, and stop.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Add invented patients, and an analyst who may ask.")] = False,
) -> None:
    """Serve tables to analysts over HTTP: they ask, and get noisy answers; only the server holds the records.

    The first start needs no settings: it listens on this machine only, keeps its books in FOLDER, and writes the
    owner's key to FOLDER/owner.key. Every setting is also an environment variable, PRIVET_SERVER_PORT and so on.
    """
    flags = {"folder": folder, "books": books, "host": host, "port": port, "public_url": public_url, "slots": slots}
    flags |= {"behind_proxy": behind_proxy, "cores": cores, "witness": witness}
    try:
        from privet.server.settings import read_settings

        read = read_settings(settings, os.environ, flags)
        if check:
            _check(read)
            return
        from privet.server.app import serve as run
    except ImportError as error:
        raise ParameterError(f"{NEEDS} ({error.name} is missing)") from None
    key = read.folder / "owner.key"
    if sys.stderr.isatty():
        print(f"privet serves {read.origin}; the owner's key is in {key}. Ctrl-C stops it.", file=sys.stderr)
        for warning in read.warnings():
            print(f"note: {warning}", file=sys.stderr)
    if demo:
        threading.Thread(target=_demo, args=(read,), daemon=True).start()
    run(read)


def _check(settings: Settings) -> None:
    """Print the settings and what is wrong with them or with the books."""
    from privet.privacy.books.entries import NAMES, examine_rows
    from privet.privacy.books.storage import Books

    print(settings.to_text())
    for warning in settings.warnings():
        print(f"note: {warning}")
    if not settings.books and not Path(settings.address).exists():
        print("there are no books yet; the first start makes them")
        return
    wrong = 0
    with Books(settings.address) as books:
        for name, head in books.read("SELECT id, head FROM populations ORDER BY id"):
            sql = f"SELECT {', '.join(NAMES)} FROM entries WHERE population = ? ORDER BY seq"
            found = examine_rows(books.read(sql, name))
            fine = not found.faults and found.head == head
            wrong += not fine
            state = "chain and sums hold" if fine else f"BROKEN at {sorted(found.faults) or 'its end'}"
            print(f"{name}: {found.entries} entries, {found.total:brief} of {found.cap:brief} spent; {state}")
    if wrong:
        raise PrivetError("the books do not add up; restore a copy, and let the owner settle what was lost")


def _demo(settings: Settings) -> None:
    """What an owner would type, for invented patients."""
    from privet.datasets.patients import sample_files

    key, files = settings.folder / "owner.key", sample_files()
    owner = _when_there(settings, key)
    if owner is None:
        return
    from privet.cli.owning import send_table

    schema, path = files["patients.schema.json"], settings.folder / "ann.key"
    ask = f"PRIVET_KEY=$(cat {path}) privet ask {owner.url} patients count --epsilon 0.1"
    if path.exists():  # a later start
        print(f"try it: {ask}", file=sys.stderr)
        return
    try:
        cap = {"epsilon": 10, "delta": "1e-5"}
        owner.call("PUT", "/v1/populations/patients", {"title": "Invented patients", "cap": cap})
        send_table(owner, "patients", "patients", schema, 10_000, files["patients.csv"].encode(), one_row_each=True)
        made = owner.call("PUT", "/v1/people/ann", {"role": "analyst"}).json()["key"]
        grant = {"epsilon": 5, "delta": "1e-6", "datasets": ["patients"]}
        owner.call("PUT", "/v1/populations/patients/grants/ann", grant)
    except PrivetError as error:
        print(f"privet: the demo's table was not added: {error}", file=sys.stderr)
        return
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(made + "\n")
    print(f"try it: {ask}", file=sys.stderr)


def _when_there(settings: Settings, key: Path) -> Any:
    """The owner's connection, once the server answers."""
    import time

    from privet.client.wire import Wire

    for _ in range(240):
        if key.exists():
            owner = Wire(f"http://127.0.0.1:{settings.port}", key.read_text().strip())
            try:
                owner.call("GET", "/healthz")
            except PrivetError:
                continue
            return owner
        time.sleep(0.25)
    return None


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: privet serve --folder clinic-server --demo")(serve)
