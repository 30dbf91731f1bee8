"""A PostgreSQL server of our own; skipped, loudly, where none can be had."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parents[2] / "engines")]  # importlib mode leaves it off
from servers import postgres_programs, running_postgres  # noqa: E402


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    pytest.importorskip("adbc_driver_postgresql", reason="NOT TESTED: PostgreSQL; pip install 'privet[postgres]'")
    programs = postgres_programs()
    if programs is None:
        pytest.skip("NOT TESTED: PostgreSQL; no server is installed (Debian: apt-get install postgresql)")
    with running_postgres(programs) as server:
        yield server
