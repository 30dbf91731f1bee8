"""Completion and man pages: made from the parser, taken by the programs they are for."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import signal
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


SET_UP = {
    Shell.bash: ("PS1='READY>'; bind 'set enable-bracketed-paste off'", "--rcfile rc -i"),
    Shell.zsh: ("PS1='READY>'; autoload -U compinit; compinit -u -D", "-i"),
}


def typed(shell: Shell, line: str, folder: Path, *, in_fpath: bool = False) -> str:
    """What a shell runs after a line and Tab, typed at a terminal. Fish says it without one."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"COMPLETION OF {shell.upper()} WAS NOT TRIED: install {shell}")
    script = completion_script(command_tree(plugins=False), shell)
    if shell == Shell.fish:
        (folder / "privet.fish").write_text(script)
        ask = f"source privet.fish; complete -C '{line}'"
        return subprocess.run([program, "--no-config", "-c", ask], cwd=folder, capture_output=True, text=True).stdout
    set_up, flags = SET_UP[shell]
    if in_fpath:
        (folder / "_privet").write_text(script)
        set_up, script = f"fpath=({folder} $fpath); {set_up}", ""
    for name in ("rc", ".zshrc"):
        (folder / name).write_text(f'{set_up}\n{script}\nprivet() {{ echo "<$@>"; }}\n')
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(program, [program, *flags.split()], os.environ | {"ZDOTDIR": str(folder), "TERM": "dumb"})
    shown = b""
    sent = False
    with contextlib.suppress(OSError):  # the shell has ended
        while True:
            if not select.select([terminal], [], [], 120)[0]:  # it waits for something else
                os.kill(child, signal.SIGKILL)
            shown += os.read(terminal, 4096)
            if not sent and b"READY>" in shown:
                os.write(terminal, f"{line}\t\nexit\n".encode())
                sent = True
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode(errors="replace")


@pytest.mark.parametrize(
    ("line", "word"),
    [("privet fi", "fit"), ("privet fit -e 1 --recipe greedy", "greedy-forest"), ("privet show patie", "patients.csv")],
)
@pytest.mark.parametrize("shell", list(Shell))
def test_tab_completes_a_command_a_recipe_and_a_file(shell: Shell, line: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "patients.csv").touch()
    shown = typed(shell, line, tmp_path)
    told = shown.splitlines() if shell == Shell.fish else re.findall(r"<(.*)>", shown)
    assert any(word in one.split() for one in told), shown


def test_zsh_completes_from_a_folder_of_functions(tmp_path: Path) -> None:
    """At the first Tab, which loads the file."""
    assert "<ledger verify>" in typed(Shell.zsh, "privet ledger ver", tmp_path, in_fpath=True)


def test_fish_offers_only_the_flags_of_the_command(tmp_path: Path) -> None:
    """Two commands are called `show`: the model's and the journal's."""
    assert "--min-support" in typed(Shell.fish, "privet show m.json --", tmp_path)
    assert "--min-support" not in typed(Shell.fish, "privet ledger show j.journal --", tmp_path)
    assert "verify" in typed(Shell.fish, "privet ledger ", tmp_path)
    assert "verify" not in typed(Shell.fish, "privet ", tmp_path)


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
