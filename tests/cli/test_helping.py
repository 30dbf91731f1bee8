"""Completion and man pages: made from the parser, taken by the programs they are for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.cli.completion import Shell, completion_script
from privet.cli.manual import man_page
from privet.cli.tree import command_tree


def complete(words: str) -> list[str]:
    """What bash would offer for the last word."""
    script = completion_script(command_tree(plugins=False), Shell.bash)
    last = len(words.split(" ")) - 1
    ask = f"COMP_WORDS=({words}); COMP_CWORD={last}; _privet; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("privet fi", ["fit"]),
        ("privet fit t.csv --max-d", ["--max-depth"]),
        ("privet schema dr", ["draft"]),
        ("privet schema draft --la", ["--label"]),
        ("privet export m.json --to p", ["pmml", "python"]),
        ("privet fit zzz", []),
    ],
)
def test_bash_completes(words: str, offered: list[str]) -> None:
    assert complete(words) == offered


@pytest.mark.parametrize("shell", list(Shell))
def test_every_command_and_flag_is_in_the_script(shell: Shell) -> None:
    root = command_tree(plugins=False)
    script = completion_script(root, shell)
    for command in root.walk():
        for option in command.options:
            assert option.flag in script or f"-l {option.flag[2:]}" in script, (command.name, option.flag)
    if program := shutil.which(shell):
        done = subprocess.run([program, "-n"], input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_man_reads_every_page(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["man", "--into", str(tmp_path)], prog_name="privet")
    assert done.exit_code == 0
    pages = sorted(tmp_path.glob("*.1"))
    assert {"privet.1", "privet-fit.1", "privet-schema-draft.1"} <= {page.name for page in pages}
    if groff := shutil.which("groff"):
        for page in pages:
            read = subprocess.run([groff, "-man", "-Tutf8", "-ww", page], capture_output=True, text=True)
            assert read.stderr == "", page


def test_the_page_of_a_command() -> None:
    fit = next(one for one in command_tree(plugins=False).walk() if one.name == "privet fit")
    page = man_page(fit)
    assert page.startswith('.TH "PRIVET-FIT" "1"')
    assert "\\fB\\-e\\fR, \\fB\\-\\-epsilon\\fR \\fIE\\fR" in page
    assert CliRunner().invoke(app, ["man", "fit"], prog_name="privet").stdout == page
    assert "lists the commands" in CliRunner().invoke(app, ["man", "fti"], prog_name="privet").stderr
