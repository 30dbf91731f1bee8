"""What tests of experiments share with those of the product: a desk to type commands at, a browser, real tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PRODUCT = Path(__file__).parents[2] / "tests"
for room in (Path(__file__).parent, PRODUCT / "cli", PRODUCT / "report"):
    sys.path.insert(0, str(room))

from cli_desk import Desk  # noqa: E402
from page_reader import browser, reader  # noqa: E402, F401 - fixtures


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of real tables; the test is skipped where there is none."""
    named = os.environ.get("PRIVET_DATA")
    if not named:
        pytest.skip("PRIVET_DATA is not set: point it at a directory of <name>.csv.gz with <name>.schema.json beside")
    return Path(named)


@pytest.fixture(scope="session", autouse=True)
def _commands_built_once() -> Iterator[None]:
    """As in the tests of the product: one tree of commands for all calls."""
    from typer.main import get_command

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let `@pytest.mark.needs_data` stand for a fixture the test does not use by name."""
    for item in items:
        if item.get_closest_marker("needs_data") and "data_dir" not in item.fixturenames:
            item.fixturenames.append("data_dir")


@pytest.fixture
def tables(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real tables, where the commands look for them."""
    monkeypatch.setenv("PRIVET_DATA", str(data_dir))


@pytest.fixture
def small_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw of a whole tree takes a hundredth of its operations, as in the tests of the product."""
    from privet.growing.whole import depth_rules, whole_tree

    monkeypatch.setattr(whole_tree, "MAX_OPERATIONS", whole_tree.MAX_OPERATIONS // 100)
    monkeypatch.setattr(depth_rules, "NEXT_OPERATIONS", depth_rules.NEXT_OPERATIONS // 100)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(scope="session")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """For tests that only read."""
    return Desk(tmp_path_factory.mktemp("desk"))
