"""Every code block of README and docs: Python runs from top to bottom, commands run as printed, data can be read.

A command that takes minutes is parsed instead (``LONG`` in ``shell_blocks.py``). Links lead somewhere.
"""

from __future__ import annotations

import json
import re
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest
from shell_blocks import BLOCK, Shell, Step, blocks, steps, words

from privet.errors import BudgetExceeded

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
KNOWN = {"", "python", "sh", "console", "json", "yaml", "toml", "text"}  # "" and text are for reading only
REFUSED = re.compile(r"^(.*)  # BudgetExceeded: .*$", re.MULTILINE)  # the last line of an example that must raise


# Pages about a server: tests/server/test_guides.py runs their code, beside a real one.
SERVED = [ROOT / "docs" / "guide" / name for name in ("server.md", "ask-a-server.md")]


def pages_with(*languages: str) -> Any:
    code = {"python", "sh", "console"} & set(languages)
    pages = [page for page in PAGES if not (code and page in SERVED)]
    found = [page for page in pages if blocks(page.read_text("utf-8"), *languages)]
    return pytest.mark.parametrize("page", found, ids=lambda page: str(page.relative_to(ROOT)))


@pages_with("python")
@pytest.mark.filterwarnings("ignore")
def test_python(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Shell(tmp_path)  # for its files
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {"__name__": page.stem}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in blocks(page.read_text("utf-8"), "python"):
            refused = REFUSED.search(code)
            run = code if refused is None else code[: refused.start()]
            # As a reader would, without our __future__.
            exec(compile(run, str(page), "exec", dont_inherit=True), names)
            if refused is not None:
                with pytest.raises(BudgetExceeded):
                    exec(refused[1], names)


@pages_with("sh", "console")
def test_commands(page: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for step in steps(page.read_text("utf-8")):
        shell.take(step)


@pages_with("json", "yaml", "toml")
def test_data(page: Path) -> None:
    from privet.schema.yaml12 import load

    for text in blocks(page.read_text("utf-8"), "json"):
        json.loads(text)
    for text in blocks(page.read_text("utf-8"), "yaml"):
        load(text)
    for text in blocks(page.read_text("utf-8"), "toml"):
        tomllib.loads(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_languages(page: Path) -> None:
    text = page.read_text("utf-8")
    assert {language for language, _ in BLOCK.findall(text)} <= KNOWN
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", BLOCK.sub("", text)):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), target


def test_the_check_can_fail(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    page = "```sh\nprivet show nowhere.json  # a comment\n```\n"
    (step,) = steps(page)
    assert step == Step(("privet", "show", "nowhere.json"))
    with pytest.raises(AssertionError):
        shell.take(step)
    shell.take(Step(step.words, fails=True))
    with pytest.raises(Exception, match="colour"):
        shell.take(Step(("privet", "audit", "--colour", "green")))
    with pytest.raises(AssertionError):
        shell.take(Step(("rm", "-r", "/")))
    assert words("A=b privet x -o 'a b' | dot > c") == ("privet", "x", "-o", "a b")
    console = "```console\n$ privet a \\\n  b\nfine\n$ privet c\nprivet: no\n```\n"
    assert steps(console) == [Step(("privet", "a", "b")), Step(("privet", "c"), fails=True)]
