"""A PostgreSQL server of our own, on a socket in a temporary folder; and tables that hold what goes wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

START_SECONDS = 60


class Postgres:
    """A running server. ``address`` names a table of it; ``run`` executes SQL as its owner."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def address(self, **what: str) -> str:
        return f"postgresql:///postgres?{urlencode({'host': str(self.folder), 'user': 'privet'} | what)}"

    def run(self, *statements: str) -> Any:
        """Rows of the last statement."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address(), autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def ingest(self, name: str, table: Any) -> None:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address(), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip("adbc_driver_postgresql", reason="NOT TESTED: PostgreSQL; pip install 'privet[postgres]'")
    found = shutil.which("initdb") or next(iter(sorted(glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)), None)
    if found is None:
        pytest.skip("NOT TESTED: PostgreSQL; no server is installed (Debian: apt-get install postgresql)")
    programs = Path(found).parent
    folder = Path(tempfile.mkdtemp(prefix="privet-pg-"))
    # A server refuses to run as root, so it is another user's.
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        owner = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, "nobody", "nogroup")

    def call(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [programs / program, *arguments], **owner, cwd=folder, capture_output=True, timeout=START_SECONDS
        )
        assert done.returncode == 0, done.stderr.decode()

    data = str(folder / "data")
    options = f"-k {folder} -h '' -c fsync=off -c shared_buffers=16MB -c max_connections=20"
    try:
        call("initdb", "--auth=trust", "--username=privet", "--encoding=UTF8", "--no-sync", "--pgdata", data)
        call("pg_ctl", "start", "--wait", "--silent", "--pgdata", data, "--log", str(folder / "log"), "-o", options)
        try:
            yield Postgres(folder)
        finally:
            call("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate", "--pgdata", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
