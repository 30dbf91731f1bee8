"""A complete run must find its tests, and the check that says so must be able to fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")


def run(root: Path, tests: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A tiny project with our conftest (and its own LEAST_COLLECTED of 3), run by a fresh pytest."""
    suite = root / "tests"
    suite.mkdir()
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\ntestpaths = ['tests']\n")
    text = CONFTEST.read_text().replace("autouse=True", "autouse=False")  # they import the product
    assert "LEAST_COLLECTED = " in text
    head, tail = text.split("LEAST_COLLECTED = ", 1)
    (suite / "conftest.py").write_text(head + "LEAST_COLLECTED = 3\n" + tail.split("\n", 1)[1])
    body = "".join(f"def test_{i}(): pass\n" for i in range(tests))
    (suite / "test_tiny.py").write_text(body)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    unused = [word for name in ("cacheprovider", "anyio", "schemathesis") for word in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", *unused, *arguments]
    return subprocess.run(command, cwd=root, env=clean, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize(
    ("workers", "tests", "code"),
    [((), 3, 0), ((), 2, 1), (("-n", "2"), 2, 1)],
    ids=["enough", "too few", "too few, two processes"],
)
def test_a_complete_run_counts(tmp_path: Path, workers: tuple[str, ...], tests: int, code: int) -> None:
    done = run(tmp_path, tests, *workers)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("expected at least 3" in done.stdout) == (code == 1)


@pytest.mark.parametrize("part", [("-k", "test_0"), ("tests/test_tiny.py",), ("tests/test_tiny.py::test_0",)])
def test_a_part_of_the_suite_does_not(tmp_path: Path, part: tuple[str, ...]) -> None:
    done = run(tmp_path, 1, *part)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_files_that_come_first_are_there() -> None:
    named = re.findall(r'^    "(\S+\.py)",$', CONFTEST.read_text(), re.MULTILINE)
    assert len(named) > 20
    assert [name for name in named if not (CONFTEST.parents[1] / name).exists()] == []
