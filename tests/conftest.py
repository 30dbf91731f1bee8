"""What every test shares: where real tables are, how Hypothesis runs, and how many tests there must be."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A complete run (without the slow ones) with fewer tests than this fails: a suite that stopped finding its tests looks
# like one that passes.
LEAST_COLLECTED = 8_000

# Files that take longest come first, so that no process is left alone with one at the end: those that compute and those
# that wait in turns.
LONGEST = (
    "tests/engines/test_spark.py",
    "tests/audit/test_forests.py",
    "tests/audit/test_blind_spots.py",
    "tests/server/test_mutants.py",
    "tests/audit/test_faults.py",
    "tests/server/test_guides.py",
    "experiments/tests/test_registry.py",
    "tests/server/test_analyst_pages.py",
    "tests/privacy/test_mechanisms.py",
    "tests/server/test_kills.py",
    "tests/audit/test_fits.py",
    "tests/server/test_sources.py",
    "tests/statistical/test_distributions.py",
    "tests/server/test_fuzz.py",
    "tests/audit/test_exact.py",
    "tests/server/test_operations.py",
    "tests/site/test_browser.py",
    "tests/server/test_owner_walk.py",
    "tests/privacy/samplers/test_multiway_trees.py",
    "tests/privacy/test_kills.py",
    "tests/test_code_blocks.py",
    "tests/cli/test_interrupts.py",
    "tests/testing/test_checks.py",
    "experiments/tests/test_runner.py",
    "tests/audit/test_zcdp.py",
    "tests/cli/test_hostile.py",
    "tests/privacy/test_scores.py",
    "experiments/tests/test_graded.py",
    "tests/estimators/test_contract.py",
    "tests/growing/test_blocks.py",
    "tests/audit/test_numbers.py",
    "tests/server/test_routes.py",
)

FEWER = 100  # a part of the operations that the draw of a tree may take

TESTS = Path(__file__).parent
# Test processes fill the cores: the threads of scikit-learn's boosting would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# What tests share: pytest's importlib mode leaves it off the path.
rooms = "audit audit/sampling engines models tables cli privacy privacy/samplers recipes report"
for room in rooms.split():
    sys.path.insert(0, str(TESTS / room))

# Half of Hypothesis' usual number: what breaks a property mostly does so soon. PRIVET_EXAMPLES=1000 searches longer.
EXAMPLES = int(os.environ.get("PRIVET_EXAMPLES", "50"))
# Deadlines measure the machine (and numba's first compilation), not the code.
settings.register_profile("privet", deadline=None, max_examples=EXAMPLES)
settings.register_profile(
    "privet-ci",
    deadline=None,
    max_examples=EXAMPLES,
    derandomize=True,  # a red build must mean the change is at fault, not the day's luck
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("privet-ci" if os.environ.get("CI") else "privet")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of real tables; the test is skipped where there is none."""
    named = os.environ.get("PRIVET_DATA")
    if not named:
        pytest.skip("PRIVET_DATA is not set: point it at a directory of <name>.csv.gz with <name>.schema.json beside")
    path = Path(named)
    if not path.is_dir():
        pytest.fail(f"PRIVET_DATA={named} is not a directory")
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL of our own, one for all files of a process; skipped, loudly, where none can be had."""
    from servers import postgres_programs, running_postgres

    pytest.importorskip("adbc_driver_postgresql", reason="NOT TESTED: PostgreSQL; pip install 'privet[postgres]'")
    programs = postgres_programs()
    if programs is None:
        pytest.skip("NOT TESTED: PostgreSQL; no server is installed (Debian: apt-get install postgresql)")
    with running_postgres(programs) as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def _one_minute_for_all_models() -> Iterator[None]:
    """Tests compare models byte for byte: two fits on either side of a full minute would differ in their date."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privet.recipes.provenance.this_minute", lambda: "2026-01-02T03:04Z")
        yield


@pytest.fixture(scope="session", autouse=True)
def _commands_built_once() -> Iterator[None]:
    """Like a process of the command, build the tree of commands once: for each call it takes longer than most calls."""
    from typer.main import get_command

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


@pytest.fixture(scope="module", autouse=True)
def _small_draws() -> Iterator[None]:
    """A draw of a whole tree may take a hundredth of the operations: default fits are some levels less deep, and far
    faster. Tests of what a draw affords use ``full_draws``.
    """
    with pytest.MonkeyPatch.context() as patch:
        _limit_draws(patch, lambda operations: operations // FEWER)
        yield


@pytest.fixture
def full_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many operations as in the product."""
    _limit_draws(monkeypatch, lambda operations: operations * FEWER)


def _limit_draws(patch: pytest.MonkeyPatch, limit: Callable[[int], int]) -> None:
    from privet.growing.whole import depth_rules, whole_tree

    patch.setattr(whole_tree, "MAX_OPERATIONS", limit(whole_tree.MAX_OPERATIONS))
    patch.setattr(depth_rules, "NEXT_OPERATIONS", limit(depth_rules.NEXT_OPERATIONS))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Several processes take whole files, in the order of collection: what a file sets up is then set up once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist, config.option.loadscopereorder = "loadfile", False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let `@pytest.mark.needs_data` stand for a fixture the test does not use by name. Begin with the longest files."""
    for item in items:
        if item.get_closest_marker("needs_data"):
            item.fixturenames.append("data_dir")
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))


def is_complete_run(config: pytest.Config) -> bool:
    """Whether the whole of tests/ was asked for, with nothing filtered out but what is slow."""
    option = config.option
    narrowed = ("keyword", "lf", "deselect", "ignore", "ignore_glob", "collectonly", "stepwise")
    if any(getattr(option, name, None) for name in narrowed) or option.markexpr not in ("", "not slow and not engines"):
        return False
    asked = {(config.invocation_params.dir / arg).resolve() for arg in config.args}
    return bool(asked & {TESTS, TESTS.parent})


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    # With xdist only the controller decides: each worker collects the same tests.
    if hasattr(session.config, "workerinput") or not is_complete_run(session.config):
        return
    if session.testscollected < LEAST_COLLECTED and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    collected = terminalreporter._session.testscollected if terminalreporter._session else 0
    if is_complete_run(config) and collected < LEAST_COLLECTED:
        terminalreporter.write_line(
            f"FAILED: a complete run collected {collected} tests, expected at least {LEAST_COLLECTED} "
            "(LEAST_COLLECTED in tests/conftest.py)",
            red=True,
            bold=True,
        )
