"""``privet ledger``: what an owner sees of a journal, and what a refused fit leaves behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from privet.privacy.ledger import Ledger


@pytest.fixture
def journal(desk: Any) -> str:
    path = desk["clinic.journal"]
    ledger = Ledger(2, journal=path, dataset="clinic")
    ledger.charge(0.25, "noisy count")
    ledger.analyst("ann", 0.5).charge(0.125, "histogram")
    ledger.add_caveat("the bounds are round")
    return str(path)


def hit(path: str, line: int) -> None:
    lines = Path(path).read_bytes().split(b"\n")
    lines[line - 1] = b"x" * 20
    Path(path).write_bytes(b"\n".join(lines))


def test_show(desk: Any, journal: str) -> None:
    said = desk.ok("ledger", "show", journal).stdout
    for expected in ("the budget of clinic", "epsilon 0.375 spent, 1.625 left", "ann: 0.125 spent, 0.375 left",
                     "histogram", "the bounds are round"):  # fmt: skip
        assert expected in said
    facts = json.loads(desk.ok("ledger", "show", journal, "--json").stdout)
    assert facts["spent"] == {"epsilon": "3/8", "delta": "0"}
    assert facts["analysts"] == {"ann": {"spent": "1/8", "left": "3/8"}}
    assert facts["certificate"]["epsilon"] == "3/8"


def test_verify_and_settle(desk: Any, journal: str) -> None:
    assert "4 records, 0 torn, 0 that cannot be read" in desk.ok("ledger", "verify", journal).stdout
    hit(journal, 2)
    before = Path(journal).read_bytes()
    bad = desk.run("ledger", "verify", journal)
    assert bad.exit_code == 1
    assert "line 2: cannot be read" in bad.stdout
    assert f"privet ledger settle {journal} --line 2" in bad.stdout
    assert json.loads(desk.run("ledger", "verify", journal, "--json").stdout)["unreadable"] == [2]
    assert Path(journal).read_bytes() == before, "verify changed the file"
    assert Ledger(journal=journal).remaining == 0
    assert desk.run("ledger", "settle", journal, "--epsilon", 3).exit_code == 1
    assert "line 2 settled at epsilon 1/4" in desk.ok("ledger", "settle", journal, "--epsilon", "0.25").stdout
    assert Path(journal).read_bytes().startswith(before)
    assert desk.ok("ledger", "verify", journal).exit_code == 0
    assert float(Ledger(journal=journal).remaining) == 1.625
    assert "there are none" in desk.run("ledger", "settle", journal, "--epsilon", 0).stderr


def test_verify_names_torn_records(desk: Any, journal: str) -> None:
    with open(journal, "ab") as file:
        file.write(b'{"adds": "1/8", "lo')
    said = desk.ok("ledger", "verify", journal).stdout
    assert "line 6: cut off by a crash; what it cost counts as spent" in said


def test_lower(desk: Any, journal: str) -> None:
    assert "the cap is now epsilon 1;" in desk.ok("ledger", "lower", journal, "--epsilon", 1).stdout
    assert float(Ledger(journal=journal).remaining) == 0.625
    raised = desk.run("ledger", "lower", journal, "--epsilon", 2)
    assert raised.exit_code == 1
    assert "never raised" in raised.stderr


@pytest.mark.parametrize("command", ["show", "verify"])
def test_a_file_that_is_not_a_journal(desk: Any, command: str) -> None:
    assert "not a privet journal" in desk.run("ledger", command, desk["clinic.csv"]).stderr
    missing = desk.run("ledger", command, desk["missing.journal"])
    assert missing.exit_code == 1
    assert "cannot open" in missing.stderr
    assert not Path(desk["missing.journal"]).exists()


@pytest.mark.parametrize("command", ["show", "verify", "settle", "lower"])
def test_every_help_page_has_an_example(desk: Any, command: str) -> None:
    assert f"privet ledger {command}" in desk.ok("ledger", command, "--help").stdout


# ---- what fit leaves behind ---------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, ...]] = {
    "more than the budget": ("--budget", "1/4"),
    "an unsound variant": ("--budget", "9", "--variant", "as-published"),
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_a_refused_fit_makes_no_journal(desk: Any, options: tuple[str, ...]) -> None:
    recipe = "rana2016" if "--variant" in options else "diffpid3"
    refused = desk.fit("--journal", desk["new.journal"], "-o", desk["tree.json"], *options, recipe=recipe)
    assert refused.exit_code == 1, refused.stdout
    assert not Path(desk["new.journal"]).exists()
    assert not Path(desk["tree.json"]).exists()


@pytest.mark.parametrize("command", ["fit", "publish", "evaluate"])
def test_a_refused_command_leaves_a_journal_as_it_was(desk: Any, command: str) -> None:
    """It must not tie the journal to a data set that was named by mistake."""
    Ledger(1, journal=desk["old.journal"])
    before = Path(desk["old.journal"]).read_bytes()
    facts = (desk["clinic.csv"], "-s", desk["clinic.schema.json"], "-e", 5, "--journal", desk["old.journal"])
    more = {
        "fit": ("-r", "diffpid3", "-o", desk["tree.json"]),
        "publish": ("-m", "diffgen", "-o", desk["public.csv"]),
        "evaluate": ("-r", "sulq", "--private", "--epsilon-scores", "1"),
    }[command]
    refused = desk.run(command, *facts, *more)
    assert refused.exit_code == 1
    assert "1 left" in refused.stderr
    assert Path(desk["old.journal"]).read_bytes() == before


def test_a_journal_is_refused_for_another_table(desk: Any) -> None:
    journal = ("--journal", desk["clinic.journal"], "--budget", 9, "-o", desk["tree.json"])
    assert desk.fit(*journal, recipe="diffpid3").exit_code == 0
    assert Ledger(journal=desk["clinic.journal"]).dataset == "clinic"
    schema = Path(desk["clinic.schema.json"])
    schema.write_text(schema.read_text().replace('"name": "clinic"', '"name": "school"'))
    refused = desk.fit("--journal", desk["clinic.journal"], "-o", desk["other.json"], recipe="diffpid3")
    assert refused.exit_code == 1
    assert "protects the data set 'clinic', not 'school'" in refused.stderr


def test_a_changed_schema_is_on_the_certificate(desk: Any) -> None:
    journal = ("--journal", desk["clinic.journal"], "-o", desk["tree.json"])
    assert desk.fit(*journal, "--budget", 9, recipe="diffpid3").exit_code == 0
    schema = Path(desk["clinic.schema.json"])
    facts = json.loads(schema.read_text())
    facts["attributes"] = [a for a in facts["attributes"] if a["name"] != "cough"]
    schema.write_text(json.dumps(facts))
    Path(desk["tree.json"]).unlink()
    assert (
        "the schema changed while this budget was in use: cough dropped" in desk.fit(*journal, recipe="diffpid3").stdout
    )
