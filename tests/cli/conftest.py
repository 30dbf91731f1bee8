"""Desks to type commands at."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(scope="session")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """For tests that only read; it has a model."""
    desk = Desk(tmp_path_factory.mktemp("desk"))
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    return desk
