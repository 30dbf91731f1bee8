"""Commands of other distributions: loaded when they are typed, and a broken one says so in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).parents[2] / "src")
GOOD = """
import typer
def register(app: typer.Typer) -> None:
    @app.command("greet")
    def greet(name: str) -> None:
        "Say hello."
        print(f"hello {name}")
"""
SAYS = "from privet.cli import main; main()"
WITHOUT = "import privet.cli.plugins as p; p.found = dict; from privet.cli import main; main()"


def privet(folder: Path, *arguments: str, program: str = SAYS) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), SOURCE, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that looks like one with a distribution in it, whose module a test may change."""
    facts = tmp_path / "privet_greeting-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: privet-greeting\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[privet.commands]\ngreet = greeting:register\n")
    (tmp_path / "greeting.py").write_text(GOOD)
    return tmp_path


def test_a_plug_in_adds_a_command(installed: Path) -> None:
    assert privet(installed, "greet", "you").stdout == "hello you\n"
    assert "Say hello." in privet(installed, "--help").stdout


@pytest.mark.parametrize(
    "fault", ["import nowhere\n", "def register(app): 1 / 0\n", "def register(app): pass\n", "x = 1\n"]
)
def test_a_broken_plug_in_is_one_sentence_and_stops_nothing_else(installed: Path, fault: str) -> None:
    (installed / "greeting.py").write_text(fault)
    told = privet(installed, "greet", "you", "--loud")
    assert told.returncode == 1
    assert told.stderr.startswith("privet: the command 'greet' of privet-greeting cannot be loaded (")
    assert told.stderr.count("\n") == 1
    assert "Traceback" not in told.stderr
    listed = privet(installed, "--help")
    assert listed.returncode == 0
    assert "cannot be loaded" in listed.stdout


def test_another_command_loads_no_plug_in(installed: Path) -> None:
    (installed / "greeting.py").write_text("raise SystemExit('loaded')\n")
    assert privet(installed, "fit", "--help").returncode == 0
    assert privet(installed, "greet").returncode != 0  # the probe can fail


def test_experiments_that_are_not_installed_are_named(tmp_path: Path) -> None:
    told = privet(tmp_path, "reproduce", "fs-table1", "--quick", program=WITHOUT)
    assert told.returncode == 1
    assert told.stderr == "privet: privet reproduce needs privet-experiments: pip install privet-experiments\n"
    assert "reproduce" not in privet(tmp_path, "--help", program=WITHOUT).stdout
    assert "No such command" in privet(tmp_path, "gree", program=WITHOUT).stderr
