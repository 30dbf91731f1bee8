"""What a failing command says, how soon, and what a program can read of it."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import privet
from privet.cli.failures import wants_json
from privet.privacy.ledger import Ledger

HEAVY = ("numpy", "numba", "sklearn", "opendp", "pandas", "pyarrow", "scipy")


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "no.csv", "-s", "no.json", "-e", "1", "-o", "no.json", "-r", "exakt"),
        ("evaluate", "no.csv", "-s", "no.json", "-e", "1", "-r", "exakt"),
        ("plan", "-s", "no.json", "-n", "100", "-r", "exakt"),
        ("audit", "exakt"),
        ("recipes", "exakt"),
    ],
    ids=lambda command: command[0],
)
def test_an_unknown_recipe_is_refused_before_anything_is_loaded(command: tuple[str, ...]) -> None:
    """Loading takes the seconds; what is refused without is refused as soon as ``privet --help`` answers."""
    probe = (
        "import sys\nfrom privet.cli import main\nsys.argv = ['privet', *sys.argv[1:]]\ntry:\n    main()\n"
        f"finally:\n    print(*[m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("privet: unknown recipe 'exakt'; did you mean 'exact'? Choose one of sulq, ")
    assert done.stdout == "\n"


def test_errors_as_json(desk: Any) -> None:
    Ledger(1, journal=desk["small.journal"])
    journal = ("--journal", desk["small.journal"])
    found = json.loads(desk.fit("-o", desk["tree.json"], *journal, "--json").stdout)["error"]
    assert found["kind"] == "BudgetExceeded"
    assert (found["parameter"], found["fix"]) == ("--epsilon", "ask with --epsilon 1 or less")
    found = json.loads(desk.fit("-o", desk["tree.json"], "--set", "prun=1", "--json").stdout)["error"]
    assert (found["kind"], found["parameter"]) == ("RecipeError", "prun")
    assert found["fix"].startswith("did you mean --set prune? It takes\n  confidence, criterion, ")
    found = json.loads(desk.run("fit", desk["clinic.csv"], "--json", "-e", "1").stdout)["error"]
    assert (found["kind"], found["parameter"], found["exit_code"]) == ("UsageError", "--schema", 2)
    assert json.loads(desk.run("shrub", "--json").stdout)["error"]["kind"] == "UsageError"
    assert desk.run("shrub").stdout == ""


def test_an_interrupt_as_json(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("privet.recipes.saved.read_model", interrupt)
    result = desk.run("show", "tree.json", "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["error"]["kind"] == "Interrupted"


def test_a_file_named_json_does_not_ask_for_json() -> None:
    assert not wants_json(["show", "--", "--json"])


def test_one_tree_as_json(shared_desk: Any) -> None:
    result = shared_desk.run("show", shared_desk["tree.json"], "--tree", 7, "--json")
    assert result.exit_code == 1
    assert "--tree must be all or a number from 1 to 1" in json.loads(result.stdout)["error"]["message"]


# ---- predictions of what cannot be read -----------------------------------------------------------------------------


@pytest.fixture
def damaged(shared_desk: Any, tmp_path: Path) -> str:
    header, *rows = Path(shared_desk["clinic.csv"]).read_text().splitlines()
    lines = [header, rows[0], "too,few", rows[1], rows[2] + '"', rows[3], rows[4] + ",one more", ",,,,"]
    path = tmp_path / "damaged.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


SAID = "3 of 7 predictions come from lines that cannot be read, as if all values were missing: records 2, 4, 6"


def test_predictions_of_unreadable_lines_are_counted(shared_desk: Any, damaged: str, tmp_path: Path) -> None:
    result = shared_desk.ok("predict", shared_desk["tree.json"], damaged)
    assert f"warning: {SAID}" in result.stderr
    assert len(result.stdout.splitlines()) == 8
    written = shared_desk.ok("predict", shared_desk["tree.json"], damaged, "-o", tmp_path / "out.csv")
    assert SAID in written.stderr
    found = json.loads(shared_desk.ok("predict", shared_desk["tree.json"], damaged, "--json").stdout)
    assert (found["unreadable_lines"], found["unreadable_records"]) == (3, [2, 4, 6])  # empty cells can be read
    clean = shared_desk.ok("predict", shared_desk["tree.json"], shared_desk["clinic.csv"])
    assert clean.stderr == ""


def test_a_classifier_warns_of_unreadable_lines(shared_desk: Any, damaged: str) -> None:
    tree = privet.load_model(shared_desk["tree.json"])
    for use in (tree.predict, tree.predict_proba):
        with pytest.warns(UserWarning, match=SAID) as caught:
            assert len(use(damaged)) == 7
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.predict(shared_desk["clinic.csv"])
