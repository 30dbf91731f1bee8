"""Defaults from a file: where it is looked for, what wins, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.cli.configuration import find_file, read_defaults
from privet.cli.output import LogForm, log_as
from privet.cli.tree import command_tree
from privet.datasets.patients import sample_files
from privet.errors import ParameterError


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in sample_files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRIVET_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    yield
    log_as(LogForm.text)


def privet(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, prog_name="privet")


def test_defaults_of_the_file_and_what_is_typed_wins() -> None:
    Path("privet.toml").write_text('[fit]\nschema = "patients.schema.json"\nepsilon = 0.5\nmax-depth = 2\n')
    done = privet("fit", "patients.csv", "-o", "a.json", "--epsilon", "0.25")
    assert done.exit_code == 0, done.output
    assert "defaults from privet.toml: --schema, --epsilon, --max-depth" in done.stderr
    model = json.loads(Path("a.json").read_text())["model"]
    assert (model["params"]["epsilon"], model["params"]["max_depth"]) == ("1/4", 2)


def test_where_the_file_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_file(None) is None
    home = tmp_path / "home" / "privet" / "privet.toml"
    home.parent.mkdir(parents=True)
    home.touch()
    assert find_file(None) == home
    Path("privet.toml").touch()
    assert find_file(None) == Path("privet.toml")
    monkeypatch.setenv("PRIVET_CONFIG", "named.toml")
    assert find_file(None) == Path("named.toml")
    assert find_file(Path("typed.toml")) == Path("typed.toml")
    monkeypatch.setenv("PRIVET_CONFIG", "")
    assert find_file(None) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[fit]\nmax_dept = 3", "did you mean max-depth?"),
        ("[fti]\nepsilon = 1", "did you mean fit?"),
        ("[fit]\nforce = true", "is no flag that may have a default"),
        ("epsilon = 1", "outside of a table"),
        ("[fit]\nepsilon = [1, 2]", "takes one value"),
        ("[schema]\nlabel = 1", "put it below the table of a command, such as [draft]"),
        ("fit:", "is not TOML"),
    ],
)
def test_a_bad_file_is_refused_with_the_fix(text: str, message: str) -> None:
    path = Path("bad.toml")
    path.write_text(text)
    with pytest.raises(ParameterError) as refused:
        read_defaults(path)
    assert message in str(refused.value)
    done = privet("--config", "bad.toml", "recipes")
    assert done.exit_code == 1
    assert message in done.stderr


def test_every_flag_of_every_command_is_a_key(tmp_path: Path) -> None:
    lines = []
    for command in command_tree(plugins=False).walk():
        if command.options and len(command.words) > 1:
            lines.append(f"[{'.'.join(command.words[1:])}]")
            lines += [f'{one.flag[2:]} = "1"' for one in command.options if one.flag != "--force"]
    path = tmp_path / "all.toml"
    path.write_text("\n".join(lines))
    assert read_defaults(path)["schema"]["draft"]["label"] == "1"


def test_logs_as_json() -> None:
    done = privet("--log", "json", "fit", "patients.csv", "-s", "patients.schema.json", "-e", "1", "-o", "t.json")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"time", "level", "message"} <= lines[0].keys()
    assert [line["level"] for line in lines] == ["info"] * len(lines)
    failed = privet("--log", "json", "fit", "patients.csv", "-s", "patients.schema.json", "-e", "1", "-o", "t.json")
    assert json.loads(failed.stderr.splitlines()[-1])["level"] == "error"
    misused = privet("--log", "json", "fit", "patients.csv", "--epsilon", "much")
    assert misused.exit_code == 2
    assert json.loads(misused.stderr.splitlines()[-1])["level"] == "error"
    Path("privet.toml").write_text('log = "json"')
    assert json.loads(privet("show", "no.json").stderr)["level"] == "error"
    assert privet("--log", "text", "show", "no.json").stderr.startswith("privet: ")
    Path("privet.toml").write_text('log = "xml"')
    assert "write log = 'text'" in privet("recipes").stderr
