"""``privet reproduce``: one command for every experiment, with an option for each axis of its grid."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from privet.cli.output import LogLines
from privet_experiments.registry import ENTRIES, Entry


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.name)
def test_help_has_an_example_and_an_option_for_each_axis(shared_desk: Any, one: Entry) -> None:
    from privet_experiments.experiment import option_of

    text = " ".join(shared_desk.ok("reproduce", one.name, "--help").stdout.split())
    assert f"Example: privet reproduce {one.name} --quick" in text
    for axis in one.forms()["full"].axes():
        assert option_of(axis).partition("/")[0] in text
    assert "--json" in text


@pytest.mark.usefixtures("tables")
def test_axes_of_a_cross_validation(desk: Any) -> None:
    asked = ("reproduce", "accuracy", "--quick", "-r", "mohammed2015", "-e", 1, "--table", "vote", "--folds", 2)
    kept = ("--out", desk["kept"], "--processes", 1)
    told = desk.ok(*asked, *kept, "--json")
    assert "NOT PRIVATE" in told.stderr
    mohammed, majority = json.loads(told.stdout)["rows"]
    assert (mohammed["table"], mohammed["learner"], mohammed["epsilon"]) == ("vote", "mohammed2015", 1)
    assert (majority["learner"], majority["epsilon"]) == ("majority", None)
    lines = desk.ok(*asked, *kept, "--markdown").stdout.splitlines()
    assert lines[0] == "accuracy % at epsilon 1"
    assert "| majority | no (not private) | 61.4 |" in lines
    drawn = desk.ok(*asked, *kept, "--plots", desk["drawn"])
    assert "accuracy-1.svg" in drawn.stderr
    assert (Path(desk["drawn"]) / "accuracy-1.svg").read_text().startswith("<svg")
    refused = desk.run(*asked, *kept, "--plots", desk["drawn"])
    assert refused.exit_code == 1
    assert "it is there already" in refused.stderr


@pytest.mark.usefixtures("tables")
def test_all_of_some_and_their_pages(desk: Any) -> None:
    some = ("--smoke", "--only", "worked-examples", "--only", "fletcher-retention", "--out", desk["kept"])
    told = desk.ok("reproduce", "all", *some, "--processes", 1)
    assert "worked-examples" in told.stdout
    assert {path.name for path in Path(desk["kept"]).iterdir()} == {
        "worked-examples.smoke.jsonl",
        "fletcher-retention.smoke.jsonl",
    }
    desk.ok("reproduce", "pages", desk["pages"], *some)
    assert "fletcher-retention" in (Path(desk["pages"]) / "reproduction" / "thesis.md").read_text()
    refused = desk.run("reproduce", "pages", desk["pages"], *some)
    assert "it is there already" in refused.stderr
    assert "no experiment is called 'oak'" in desk.run("reproduce", "all", "--smoke", "--only", "oak").stderr


def test_no_job_begins_when_the_time_is_over(desk: Any) -> None:
    some = ("--smoke", "--only", "fs-table1", "--only", "fs-figs345", "--papers", "--out", desk["kept"])
    cut = desk.ok("reproduce", "all", *some, "--minutes", 0)
    assert cut.stdout.count("not run") == 2
    desk.ok("reproduce", "pages", desk["pages"], *some[:-3], "--out", desk["kept"])
    assert "not run" in (Path(desk["pages"]) / "reproduction.md").read_text()


def test_errors_use_the_words_of_the_command(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    monkeypatch.setenv("PRIVET_CACHE", desk["cache"])
    monkeypatch.setattr("privet.datasets.openml.SERVER", "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.setattr("privet.datasets.openml.PAUSE", 0.0)
    told = desk.run("reproduce", "accuracy", "--quick", "--recipe", "sulq", "--epsilon", 1)
    assert told.exit_code == 1
    assert "PRIVET_DATA" in told.stderr
    assert "Traceback" not in told.stderr
    told = desk.run("reproduce", "fletcher-fig81", "--table", "Z")
    assert "no synthetic table is called 'Z'" in told.stderr
    desk.ok("reproduce", "fs-table1", "--smoke", "--out", desk["kept"], "--processes", 1)
    path = Path(desk["kept"]) / "fs-table1.smoke.jsonl"
    path.write_text(path.read_text().replace('"runs":10,"seed":0', '"runs":11,"seed":0'))
    changed = desk.run("reproduce", "fs-table1", "--smoke", "--out", desk["kept"])
    assert "another grid (runs)" in changed.stderr
    assert "begin anew with --fresh" in changed.stderr


def test_ctrl_c_says_how_to_go_on(desk: Any) -> None:
    """130 is what shells report for SIGINT; the lines that are there stay."""
    kept = Path(desk["kept"]) / "fs-table1.full.jsonl"
    asked = ["reproduce", "fs-table1", "--out", desk["kept"], "--processes", "1"]
    child = subprocess.Popen(
        [sys.executable, "-m", "privet", *asked],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored by what a shell runs in background
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and not (kept.is_file() and kept.read_bytes().count(b"\n") > 2):
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130, told
    assert "the same command goes on from there" in told
    assert "Traceback" not in told
    lines = kept.read_text().splitlines()
    assert len(lines) > 2
    assert all(json.loads(line) for line in lines)


def test_without_a_terminal_a_line_says_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    often, seldom = LogLines("fits", every=0.0), LogLines("fits")
    often.start -= 120
    for bar in (often, seldom):
        bar(1, 3)
    assert capsys.readouterr().err == "fits: 1 of 3 jobs, about 4 minutes left\n"


def test_reproduce_an_experiment(desk: Any) -> None:
    """The shape only; what the numbers say is tested with the experiment."""
    asked = ("reproduce", "fs-table1", "--runs", 2, "--records", 1000, "--out", desk["kept"], "--processes", 1)
    table = json.loads(desk.ok(*asked, "--json").stdout)
    assert table["grid"] == {"records": [1000], "runs": 2, "seed": 0}
    assert [one["source"] for one in table["statements"]] == ["FS Table 1"] * 5
    text = desk.ok(*asked)
    assert "1 of 1 jobs were done before" in text.stderr
    assert "of 5 statements reproduced" in text.stdout
    assert "| 1000 |" in desk.ok(*asked, "--markdown").stdout
    assert "exclude each other" in desk.run(*asked, "--quick", "--smoke").stderr
    listed = desk.ok("reproduce", "--list").stdout
    assert all(entry.name in listed for entry in ENTRIES)


def test_mistakes_are_refused_before_any_work(desk: Any, tables: None) -> None:
    assert "--runs" in desk.run("reproduce", "fs-table1", "--runs", 1).stderr
    told = desk.run("reproduce", "forecast", "--table", "atlantis")
    assert told.exit_code == 1
    assert "no table called 'atlantis'" in told.stderr
