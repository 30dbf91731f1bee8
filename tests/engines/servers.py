"""Servers that tests and benchmarks start for themselves, and stop again."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

START_SECONDS = 120
NUMBERS = itertools.count()


class Postgres:
    """A database of a running server. ``address`` names a table of it; ``run`` executes SQL as its owner."""

    def __init__(self, folder: Path, database: str = "postgres") -> None:
        self.folder, self.database = folder, database

    def address(self, **what: str) -> str:
        return f"postgresql:///{self.database}?{urlencode({'host': str(self.folder), 'user': 'privet'} | what)}"

    def fresh(self) -> Postgres:
        """An empty database of the same server, which starts in a fraction of the time."""
        name = f"own{next(NUMBERS)}"
        self.run(f"CREATE DATABASE {name}")
        return Postgres(self.folder, name)

    def run(self, *statements: str) -> Any:
        """Rows of the last statement."""
        with self._cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def ingest(self, name: str, table: Any, mode: str = "replace") -> None:
        with self._cursor() as cursor:
            cursor.adbc_ingest(name, table, mode=mode)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address(), autocommit=True) as connection, connection.cursor() as cursor:
            yield cursor


def postgres_programs() -> Path | None:
    """Where initdb and pg_ctl are; Debian keeps them off the path."""
    found = shutil.which("initdb") or next(iter(sorted(glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)), None)
    return None if found is None else Path(found).parent


@contextmanager
def running_postgres(programs: Path) -> Iterator[Postgres]:
    """A server on a socket in a temporary folder. It refuses to run as root, so it is then another user's."""
    folder = Path(tempfile.mkdtemp(prefix="privet-pg-"))
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        owner = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, "nobody", "nogroup")

    def call(program: str, *arguments: str) -> None:
        command = [programs / program, *arguments]
        done = subprocess.run(command, **owner, cwd=folder, capture_output=True, timeout=START_SECONDS)
        assert done.returncode == 0, done.stderr.decode()

    data = str(folder / "data")
    options = f"-k {folder} -h '' -c fsync=off -c shared_buffers=16MB -c max_connections=60"
    try:
        call("initdb", "--auth=trust", "--username=privet", "--encoding=UTF8", "--no-sync", "--pgdata", data)
        call("pg_ctl", "start", "--wait", "--silent", "--pgdata", data, "--log", str(folder / "log"), "-o", options)
        try:
            yield Postgres(folder)
        finally:
            call("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate", "--pgdata", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def java_is_there() -> bool:
    return "JAVA_HOME" in os.environ or any(Path(folder, "java").exists() for folder in os.get_exec_path())


@contextmanager
def running_spark(executors: int = 2) -> Iterator[Any]:
    """A session on a cluster of its own, with a processor and a gigabyte for each executor."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.task.maxFailures": "2",
    }
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,1024]").appName("privet")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    left = Path(pyspark.__file__).parent / "work" / session.sparkContext.applicationId  # logs and copies of executors
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(left, ignore_errors=True)


def spark_executors() -> list[int]:
    """The executors that this process has started, however far down."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    mine, waiting = [], [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        waiting += below
        mine += below
    return [pid for pid in mine if b"CoarseGrainedExecutorBackend" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
