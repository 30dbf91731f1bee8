"""The shell of the pages: commands as printed, run where the sample lies, by the real command in this process."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from privet.cli import app
from privet.datasets.patients import sample_files

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Commands that take minutes, or tables that are not here: they are parsed, so that every option exists, and not run.
LONG = ("reproduce", "peers", "audit", "demo", "plan")
NOT_OURS = ("make", "pip", "python", "git", ".ci/run", "dot", "open", "docker", "sh")
# What somebody types who edits a draft, a column a line, by how the schema is called; . is Enter.
TYPED = {
    "my": """
number|18|110|yes|-|meaning
list|.|.|documented
number|10|70|no|?|meaning
list|.|.|documented
number|60|260|yes|-|meaning
list|.|.|documented
list|.|.|documented
number|0|90|yes|-|meaning
number|0|20|yes|-|meaning
list|.|.|documented
.|documented
""",
    "admissions": "yes|patient_no|3",
    "orders": """
.|18|120|.|.|meaning
.|0|5000|.|.|documented
.|+France|.|documented
.|.|.|documented
.|0|365|.|.|meaning
.|.|.|documented
.|documented
""",
}
# The rules that the pages show in a block of their own.
RULES = "IF age > 65 AND diabetes = yes THEN yes\nIF age <= 40 THEN no\n"
EXAMPLES = Path(__file__).parents[2] / "examples"
ORDERS = EXAMPLES / "shop" / "orders.csv"
ADMISSIONS = EXAMPLES / "admissions"


@dataclass(frozen=True)
class Step:
    """A command, and whether the page shows it fail."""

    words: tuple[str, ...]
    fails: bool = False


def blocks(page: str, *languages: str) -> list[str]:
    """The code of a page in some languages, in order."""
    return [body for language, body in BLOCK.findall(page) if language in languages]


def steps(page: str) -> list[Step]:
    """Every command on a page. In a ``console`` block they stand after a dollar sign, and answers follow."""
    found = []
    for language, body in BLOCK.findall(page):
        if language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, answer = re.sub(r"\\\n\s*", " ", part).partition("\n")
                found.append(Step(words(command), answer.startswith("privet: ")))
        elif language in ("sh", "bash"):
            lines = re.sub(r"\\\n\s*", " ", body).splitlines()
            found += [Step(words(line)) for line in lines if words(line)]
    return found


def words(line: str) -> tuple[str, ...]:
    """A line as the shell would split it: without comments, settings before the command, pipes and redirections."""
    parts = shlex.split(line, comments=True)
    while parts and re.fullmatch(r"[A-Z_]+=\S*", parts[0]):
        parts.pop(0)
    end = next((i for i, part in enumerate(parts) if part in ("|", ">", "<", "&&")), len(parts))
    return tuple(parts[:end])


@cache
def root() -> Any:
    return typer.main.get_command(app)


class Shell:
    """A folder with the samples in it, and a hand that types what the pages say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in sample_files().items():
            (folder / name).write_text(text, encoding="utf-8")
        shutil.copy(ORDERS, folder)
        for file in ADMISSIONS.glob("*.*"):
            shutil.copy(file, folder)
        (folder / "rules.txt").write_text(RULES, encoding="utf-8")

    def take(self, step: Step) -> None:
        program, *arguments = step.words
        if program == "cd":
            self.folder = self.folder / arguments[0]
            assert self.folder.is_dir(), arguments
        elif program == "python" and arguments == ["make_table.py"]:
            subprocess.run([sys.executable, "make_table.py"], cwd=self.folder, check=True)
        elif program == "privet":
            self.run(arguments, fails=step.fails)
        else:
            assert program in NOT_OURS, f"{program}: neither ours nor a program that the pages may use"

    def run(self, arguments: list[str], *, fails: bool) -> None:
        if arguments[0] in LONG and "--help" not in arguments:
            self.parse(arguments)
            return
        old = os.getcwd()
        os.chdir(self.folder)
        try:
            result = CliRunner().invoke(app, arguments, prog_name="privet", input=answers(arguments))
        finally:
            os.chdir(old)
        assert (result.exit_code != 0) == fails, (arguments, result.output, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit)

    def parse(self, arguments: list[str]) -> None:
        """Whether the command and its options exist, without running it."""
        command, context = root(), None
        rest = list(arguments)
        while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
            context = context or command.make_context("privet", [], resilient_parsing=True)
            _, command, rest = command.resolve_command(context, rest)
        command.make_context(arguments[0], rest, parent=context)


def answers(arguments: list[str]) -> str:
    """What is typed into a dialogue; nothing for commands that ask nothing."""
    if arguments[:2] != ["schema", "edit"]:
        return ""
    lines = TYPED[arguments[2].split(".")[0]].strip().splitlines()
    return "".join("\n" if word == "." else f"{word}\n" for line in lines for word in line.split("|"))
