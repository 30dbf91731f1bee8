"""The database of that name of the PostgreSQL that all files share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]  # importlib mode leaves them off


@pytest.fixture(scope="session")
def postgres(postgres_server: Any) -> Any:
    return postgres_server
