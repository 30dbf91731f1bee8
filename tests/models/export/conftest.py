"""A database of our own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parents[2] / "engines")]  # importlib mode leaves it off


@pytest.fixture(scope="session")
def postgres(postgres_server: Any) -> Any:
    return postgres_server.fresh()
