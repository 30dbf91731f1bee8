"""``privet score`` and ``privet evaluate --private``: what they print, charge, remember and refuse."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privet.privacy.ledger import Ledger
from privet.schema import Categorical, Schema

MEASURES = {"accuracy", "balanced_accuracy", "macro_precision", "macro_f1", "auc", "log_loss", "precision", "recall"}


def test_score_in_words_and_as_json(shared_desk: Any) -> None:
    command = ("score", shared_desk["tree.json"], shared_desk["clinic.csv.gz"], "-e", "1/2", "--trained")
    words = shared_desk.ok(*command).stdout
    assert "balanced accuracy" in words
    assert "Differentially private with epsilon = 0.5" in words
    assert "the scored records trained the model" in words
    told = json.loads(shared_desk.ok(*command, "--json").stdout)
    assert told.keys() >= MEASURES
    assert told["held_out"] is False
    assert told["certificate"]["epsilon"] == "1/2"
    assert told["accuracy"]["low"] <= told["accuracy"]["value"] <= told["accuracy"]["high"]


def test_a_confusion_matrix_alone(shared_desk: Any) -> None:
    result = shared_desk.ok(
        "score", shared_desk["tree.json"], shared_desk["clinic.csv"], "-e", 1, "--bins", 1, "--json"
    )
    told = json.loads(result.stdout)
    assert "auc" not in told
    assert told["reliability"] == []


def test_fit_and_score_share_a_journal(desk: Any) -> None:
    journal = ("--journal", desk["j"])
    assert desk.fit("-o", desk["tree.json"], *journal, "--budget", 1, epsilon="0.5").exit_code == 0
    score = ("score", desk["tree.json"], desk["clinic.csv"], "--epsilon", "0.25", *journal)
    desk.ok(*score)
    assert Ledger(journal=desk["j"]).certificate().charges[-1].what == "private score"
    spent = Ledger(journal=desk["j"]).spent
    assert spent > Fraction(1, 4)
    refused = desk.run("score", desk["tree.json"], desk["clinic.csv"], "--epsilon", "0.75", *journal)
    assert refused.exit_code == 1
    assert "nothing was charged" in refused.stderr
    assert Ledger(journal=desk["j"]).spent == spent


@pytest.mark.parametrize("command", ["score", "evaluate"])
def test_what_cannot_be_printed_costs_nothing(desk: Any, command: str) -> None:
    """The answer goes to standard output alone, so that must be found to work before the charge."""
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    Ledger(5, journal=desk["j"])
    options = {
        "score": ("score", desk["tree.json"], desk["clinic.csv"], "-e", "1"),
        "evaluate": ("evaluate", desk["clinic.csv"], "-s", desk["clinic.schema.json"], "-r", "sulq", "-e", "1",
                     "--private", "--epsilon-scores", "1"),
    }[command]  # fmt: skip
    typed = shlex.join([sys.executable, "-m", "privet.cli", *options, "--journal", desk["j"]])
    for stdout in (">/dev/full", ">&-"):
        result = subprocess.run(["sh", "-c", f"{typed} {stdout}"], capture_output=True, text=True, check=False)
        assert result.returncode == 1
        assert "cannot write to standard output" in result.stderr
        assert "Traceback" not in result.stderr
        assert Ledger(journal=desk["j"]).spent == 0


def test_labels_that_a_terminal_cannot_show(desk: Any) -> None:
    schema = Schema((Categorical("ville", ("Orléans", "Sète")),), Categorical("état", ("bon", "mauvais été")))
    schema.to_json(desk["s.json"])
    desk.write("t.csv", "ville,état\n" + "Sète,bon\nOrléans,mauvais été\n" * 50)
    desk.ok("fit", desk["t.csv"], "-s", desk["s.json"], "-r", "sulq", "-e", 1, "--max-depth", 1, "-o", desk["m.json"])
    score = [sys.executable, "-m", "privet.cli", "score", desk["m.json"], desk["t.csv"], "-e", "1"]
    told = subprocess.run(
        score, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert r"mauvais \xe9t\xe9" in told.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-e", 0), "greater than 0"),
        (("-e", 1, "--budget", 2), "--journal FILE"),
        (("-e", 1, "--bins", 0, "--journal", "{new}"), "bins must be"),
        (("-e", 1, "--budget", "0.5", "--journal", "{new}"), "asks for epsilon 1"),
    ],
)
def test_a_refused_score_leaves_nothing_behind(shared_desk: Any, tmp_path: Path, options: Any, words: str) -> None:
    options = [str(option).replace("{new}", str(tmp_path / "new.journal")) for option in options]
    result = shared_desk.run("score", shared_desk["tree.json"], shared_desk["clinic.csv"], *options)
    assert result.exit_code == 1
    assert words in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


# ---- evaluate --private -------------------------------------------------------------------------------------------


def evaluate(desk: Any, *more: object) -> Any:
    facts = ("--schema", desk["clinic.schema.json"], "--recipe", "diffpid3", "--max-depth", 2)
    return desk.run("evaluate", desk["clinic.csv"], *facts, *more)


def test_a_private_evaluation_charges_fits_and_scores(desk: Any) -> None:
    private = ("-e", 1, "-e", 2, "--private", "--epsilon-scores", "0.5", "--journal", desk["j"], "--budget", 6)
    result = evaluate(desk, *private)
    assert result.exit_code == 0, result.stderr
    assert "NOT PRIVATE" not in result.stderr
    assert "Differentially private" in result.stdout
    charges = Ledger(journal=desk["j"]).certificate().charges
    assert [charge.epsilon for charge in charges if charge.what == "private score"] == [Fraction(1, 2)] * 2
    assert 1 < Ledger(journal=desk["j"]).spent <= 4


def test_a_private_evaluation_as_json(desk: Any) -> None:
    told = json.loads(evaluate(desk, "-e", 1, "--private", "--epsilon-scores", "1/2", "--json").stdout)
    (result,) = told["results"]
    assert (result["recipe"], result["epsilon"], result["held_out"]) == ("diffpid3", "1", True)
    assert result["certificate"]["epsilon"] == "1/2"
    assert Fraction(told["certificate"]["epsilon"]) <= Fraction(3, 2)
    assert "fit_seconds_mean" not in result


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-e", 1, "--private"), "go together"),
        (("-e", 1, "--epsilon-scores", 1), "go together"),
        (("-e", 1, "--journal", "j"), "--journal is for --private"),
        (("-e", 1, "--private", "--epsilon-scores", 0), "--epsilon-scores must be greater than 0"),
        (
            ("-e", 1, "--private", "--epsilon-scores", 1, "-r", "rana2016", "--variant", "as-published"),
            "is not private",
        ),
    ],
)
def test_a_private_evaluation_that_cannot_be_is_refused(desk: Any, options: Any, words: str) -> None:
    result = evaluate(desk, *options)
    assert result.exit_code == 1
    assert words in " ".join(result.stderr.split())


def test_line_breaks_in_quotes_stay_on_the_certificate(desk: Any) -> None:
    private = ("-e", 1, "--private", "--epsilon-scores", "0.5", "--quoted-line-breaks", "--json")
    told = json.loads(evaluate(desk, *private).stdout)
    assert any("line breaks" in caveat["text"] for caveat in told["certificate"]["caveats"])
