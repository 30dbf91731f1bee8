"""The guides of the server: every command and every line of Python runs, beside a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from house import ROOT, House
from shell_blocks import Step, blocks, steps
from typer.testing import CliRunner

from privet.cli import app
from privet.datasets.patients import sample_files

OWNERS, ANALYSTS = (ROOT / "docs" / "guide" / name for name in ("server.md", "ask-a-server.md"))
PORT = "8707"


class Desk:
    """A folder with the sample, beside a server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in sample_files().items():
            (folder / name).write_text(text, encoding="utf-8")
        self.house = House(folder / "clinic", "--slots", "1").warm()
        self.key = ""

    def run(self, *arguments: str) -> str:
        words = [word.replace(PORT, str(self.house.port)) for word in arguments]
        if words[0] == "owner" and words[1] not in ("rekey", "restore"):
            words += ["--url", f"http://127.0.0.1:{self.house.port}"]
        with chdir(self.folder):  # in this process: two dozen Pythons would take longer to start than all of them work
            done = CliRunner().invoke(app, words, prog_name="privet", env=self.environment)
        assert done.exit_code == 0, (words, done.output)
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        return {"XDG_STATE_HOME": str(self.folder / "state")} | ({"PRIVET_KEY": self.key} if self.key else {})

    def python(self, code: str) -> Any:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")} | self.environment
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=280,
        )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = Desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.house.stop()


def commands(page: Path) -> list[Step]:
    return [one for one in steps(page.read_text("utf-8")) if one.words[0] == "privet" and one.words[1] != "serve"]


def test_what_owners_and_analysts_type(desk: Desk) -> None:
    owners = [one.words[1:] for one in commands(OWNERS)]
    closing = next(i for i, words in enumerate(owners) if words[:2] == ("owner", "close"))
    printed = [desk.run(*words) for words in owners[:closing]]
    found = re.search(r"^key: (privet_\S+)$", "\n".join(printed), re.MULTILINE)
    assert found, printed
    assert "0 faults" in "\n".join(printed)
    desk.key = found[1]
    asked = [desk.run(*one.words[1:]) for one in commands(ANALYSTS)]
    assert asked[0].split() == ["patients"]
    assert int(asked[-2]) > 0
    code = "\n".join(blocks(ANALYSTS.read_text("utf-8"), "python")).replace(PORT, str(desk.house.port))
    desk.house.warm("fits")
    done = desk.python(code)
    assert done.returncode == 0, done.stderr
    assert "Fraction(1, 2)" in done.stdout or "1/2" in done.stdout
    assert (desk.folder / "state" / "privet" / "heads.json").stat().st_mode & 0o777 == 0o600
    desk.key = ""
    for words in owners[closing:]:
        desk.run(*words)
    restore_and_check(desk)


def restore_and_check(desk: Desk) -> None:
    """On the host, with the backup that the owner made."""
    desk.house.kill()
    assert "frozen until you settle: town" in desk.run("owner", "restore", "monday.sqlite", "--folder", "clinic")
    assert "chain and sums hold" in desk.run("serve", "--check", "--folder", "clinic")
    assert "owner.key" in desk.run("owner", "rekey", "--folder", "clinic")
    desk.house.start()
    assert "restored" in desk.run("owner", "show", "town", "--folder", "clinic")
    desk.run("owner", "settle", "town", "restored", "--lost", "ann=0.5", "--folder", "clinic")
