"""One server for all tests that do not stop it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]  # importlib mode leaves it off
from house import House  # noqa: E402


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("house") / "folder", "--slots", "2")
    made.warm()
    yield made
    made.stop()
