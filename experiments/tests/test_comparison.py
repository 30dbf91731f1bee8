"""The comparison: same folds or none, who wins by what rule, and a file of peers that stands beside ours."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.evaluation.cross_validation import MAJORITY
from privet.recipes.registry import OWN, recipe_class
from privet_experiments.ours.comparison import CART, PEERS, WITH_DELTA, Comparison, dealt, folds_of
from privet_experiments.outcome import Table
from privet_experiments.registry import entry
from privet_experiments.runner import run
from privet_experiments.store import file_name, read_lines

FORMS: Any = entry("comparison").forms()
GRID = Comparison(("one", "two", "three"), (0.1, 1.0), 4, who=("exact", "additive", MAJORITY))
DEALT = "0123456789abcdef"


def row(table: str, learner: str, epsilon: float | None, accuracy: float, auc: float, loss: float) -> dict[str, Any]:
    """Four folds around a mean, spread the same for everybody but in another order."""
    turn = {"exact": 0, "additive": 1}.get(learner, 2)
    around = np.roll([-0.01, 0.0, 0.0, 0.01], turn)
    job = {"table": table, "learner": learner, "epsilon": epsilon, "repeat": 0}
    found: dict[str, Any] = {"accuracy": accuracy, "balanced_accuracy": accuracy, "auc": auc, "log_loss": loss}
    return job | {name: (value + around).tolist() for name, value in found.items()} | {"dealt": DEALT, "jaccard": None}


def ours() -> list[dict[str, Any]]:
    rows = []
    for table in GRID.tables:
        for epsilon in GRID.epsilons:
            rows.append(row(table, "exact", epsilon, 0.9, 0.90, 0.40))
            rows.append(row(table, "additive", epsilon, 0.8, 0.95, 0.30))
        rows.append(row(table, MAJORITY, None, 0.6, 0.5, 0.69))
    return rows


def peer_file(path: Path, rows: list[dict[str, Any]], head: str = PEERS) -> str:
    lines: list[dict[str, Any]] = [{"experiment": head, "form": "quick", "grid": {}}]
    for one in rows:
        job = {name: one[name] for name in ("table", "learner", "epsilon", "repeat")}
        lines.append({"job": job, "found": {n: v for n, v in one.items() if n not in job}, "seconds": 0.1})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def by_title(tables: tuple[Table, ...], part: str) -> Table:
    return next(table for table in tables if part in table.title)


def test_who_wins_and_where_we_lose(tmp_path: Path) -> None:
    rival = [row(table, "rival", e, 0.7, 0.93, 0.35) for table in GRID.tables for e in GRID.epsilons]
    better = row("two", "rival", 1.0, 0.95, 0.93, 0.35)  # there it is ahead of exact, and by far
    rival = [better if (r["table"], r["epsilon"]) == ("two", 1.0) else r for r in rival]
    grid = replace(GRID, peers=peer_file(tmp_path / "peers.jsonl", rival))
    outcome = grid.conclude(ours())
    losses = by_title(outcome.tables, "loses")
    assert losses.rows == (("accuracy %", "exact", "two", "1", "rival", "+5.0 points", "yes"),)
    wins = by_title(outcome.tables, "Best of all on how many of 3")
    assert ("accuracy %", "1", "exact 2, rival 1") in wins.rows
    assert ("log loss", "0.1", "additive 3") in wins.rows
    duel = by_title(outcome.tables, "accuracy %: exact against")
    # Three tables decide nothing by ranks.
    assert ("rival", "3", "+20.0 / +11.7", "3 : 0 / 2 : 1", "0.250 / 0.500") in duel.rows
    ranking = by_title(outcome.tables, "auc: additive against")
    assert next(r for r in ranking.rows if r[0] == "rival")[2] == "+0.020 / +0.020"
    losing = by_title(outcome.tables, "log loss: additive against")
    assert next(r for r in losing.rows if r[0] == "rival")[2] == "+0.050 / +0.050"  # less is more
    cells = by_title(outcome.tables, "accuracy % at epsilon 0.1 / 1")
    assert ("rival", "70.0 / 70.0", "70.0 / 95.0", "70.0 / 70.0") in cells.rows
    assert (MAJORITY, "60.0", "60.0", "60.0") in cells.rows
    assert "accuracy %: exact in 5 of 6 places" in outcome.notes[0]
    assert {series.name for series in outcome.figures[0].series} == {"exact", "additive", "rival", MAJORITY}


def test_a_small_difference_between_folds_is_not_clear(tmp_path: Path) -> None:
    rival = [row(table, "rival", e, 0.905, 0.9, 0.5) for table in GRID.tables for e in GRID.epsilons]
    outcome = replace(GRID, peers=peer_file(tmp_path / "p", rival)).conclude(ours())
    assert {r[-1] for r in by_title(outcome.tables, "loses").rows} == {"no"}


def test_without_peers_nothing_is_claimed_against_them() -> None:
    outcome = GRID.conclude(ours())
    assert not any("loses" in table.title for table in outcome.tables)
    assert "No other library" in outcome.notes[0]


def test_a_peer_that_cannot_is_left_out_and_not_counted(tmp_path: Path) -> None:
    job = {"table": "one", "learner": "rival", "epsilon": 1.0, "repeat": 0}
    refused = job | {"note": "two classes", "dealt": DEALT, "private": False}
    outcome = replace(GRID, peers=peer_file(tmp_path / "p", [refused])).conclude(ours())
    assert not any(r[0] == "rival" for table in outcome.tables for r in table.rows)


def test_other_folds_and_other_files_are_refused(tmp_path: Path) -> None:
    other = [row("one", "rival", 1.0, 0.7, 0.7, 0.7) | {"dealt": "f" * 16}]
    with pytest.raises(ParameterError, match=r"other folds of one.*--folds 4 --seed 0"):
        replace(GRID, peers=peer_file(tmp_path / "a", other)).conclude(ours())
    with pytest.raises(ParameterError, match="holds no results of peers"):
        replace(GRID, peers=peer_file(tmp_path / "b", [], "comparison")).conclude(ours())
    with pytest.raises(ParameterError, match=r"no file; `privet peers` writes one"):
        replace(FORMS["smoke"], tables=(), peers=str(tmp_path / "c")).check()
    elsewhere = [row("one", "rival", 5.0, 0.7, 0.7, 0.7), row("four", "rival", 1.0, 0.7, 0.7, 0.7)]
    outcome = replace(GRID, peers=peer_file(tmp_path / "d", elsewhere)).conclude(ours())
    assert "No other library" in outcome.notes[0]  # of other tables and epsilons: not of this grid


def test_a_torn_file_of_peers_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    path = Path(peer_file(tmp_path / "p", [row("one", "rival", 1.0, 0.7, 0.7, 0.7)]))
    with path.open("a") as out:
        out.write('{"job": {"tab')
    head, lines = read_lines(path)
    assert (head["experiment"], len(lines)) == (PEERS, 1)


def test_every_recipe_with_a_sound_form_competes() -> None:
    names = [learner.name for learner in FORMS["full"].learners()]
    sound = [name for name in OWN if "sound" in recipe_class(name).info.variants]
    assert names == [*sound, WITH_DELTA, CART, MAJORITY]
    assert {"exact", "additive"} <= set(names)
    assert "rana2016" not in names
    assert (min(FORMS["full"].epsilons), max(FORMS["full"].epsilons)) == (0.01, 10)


def test_the_peers_change_nothing_of_what_is_kept() -> None:
    quick = FORMS["quick"]
    assert file_name("comparison", "quick", replace(quick, peers="x")) == "comparison.quick.jsonl"


def test_folds_have_distinct_names() -> None:
    labels = np.array([0, 1] * 20)
    known = dealt(labels, 4, 0)
    train = folds_of(labels, 4, 0)
    assert train.shape == (4, 40)
    assert (train.sum(axis=0) == 3).all()  # each record is tested once
    assert (train.sum(axis=1) == 30).all()
    assert dealt(labels, 4, 0) == known
    assert known not in {dealt(labels, 4, 1), dealt(labels, 5, 0), dealt(1 - labels, 4, 0), dealt(labels[:39], 4, 0)}


def test_the_smoke_form_beside_a_peer(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real thing, small: rows have names of folds, rules are compared with CART, and a peer fits in."""
    monkeypatch.setenv("PRIVET_DATA", str(data_dir))
    grid = replace(FORMS["smoke"], who=("exact", "additive", "mohammed2015", MAJORITY))
    found = run("comparison", "smoke", grid, processes=1)
    (name,) = {one["dealt"] for one in found.rows}
    jaccard = {one["learner"]: one["jaccard"] for one in found.rows}
    assert all(0 <= value <= 1 for learner in ("exact", "mohammed2015") for value in jaccard[learner])
    assert jaccard["additive"] == jaccard[MAJORITY] == [None, None]
    peer = [one | {"learner": "rival"} for one in found.rows if one["learner"] == "exact"]
    assert peer[0]["dealt"] == name
    again = replace(grid, peers=peer_file(tmp_path / "p", peer)).conclude(found.rows)
    cells = by_title(again.tables, "accuracy % at epsilon 1")
    twins = [r[1:] for r in cells.rows if r[0] in ("exact", "rival")]
    assert twins[0] == twins[1]
    assert not any("loses" in table.title for table in again.tables if any(r[0] == "accuracy %" for r in table.rows))
