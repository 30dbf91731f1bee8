"""`privet peers`, with a learner of this environment in the place of other libraries: records and folds.

Other libraries need a package index; ``privet peers --probe`` is for those.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from privet.datasets import real
from privet.errors import ParameterError
from privet.tables.frozen import freeze
from privet_experiments.ours.comparison import folds_of
from privet_experiments.peers import command, environments, learners
from privet_experiments.peers.binned import BINNED
from privet_experiments.registry import entry
from privet_experiments.runner import run
from privet_experiments.store import read_lines

SMOKE: Any = entry("comparison").form("smoke")
TREE = """
from sklearn.tree import DecisionTreeClassifier
def make(epsilon):
    if epsilon > 50:
        raise ValueError("that much is no privacy")
    return DecisionTreeClassifier(max_depth=2, random_state=0)
"""


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> Any:
    monkeypatch.setenv("PRIVET_DATA", str(data_dir))
    monkeypatch.setattr(environments, "set_up", lambda environment: Path(sys.executable))
    stand_in = learners.Peer("a tree", "here", TREE)
    binary = learners.Peer("of two classes", "here", TREE, two_classes=True)
    monkeypatch.setattr(learners, "PEERS", (stand_in, binary))
    return command


def test_a_peer_has_our_records_and_folds(peers: Any, tmp_path: Path) -> None:
    grid = replace(SMOKE, tables=("vote",), epsilons=(1.0, 100.0), who=("mohammed2015", "majority"))
    path = tmp_path / "peers.jsonl"
    assert peers.run(grid, path, "smoke") == {}
    rows = [line["job"] | line["found"] for line in read_lines(path)[1]]
    assert len(rows) == 4
    told = {(row["learner"], row["epsilon"]): row for row in rows}
    frozen = freeze(*real.load("vote"))
    X, y = np.array(frozen.columns).T.astype(float), frozen.labels
    train = folds_of(y, grid.folds, grid.seed)
    expected = [
        DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[row], y[row]).score(X[~row], y[~row]) for row in train
    ]
    assert told["a tree", 1.0]["accuracy"] == pytest.approx(expected)
    assert told["a tree", 100.0]["note"] == "that much is no privacy"
    size = path.stat().st_size
    peers.run(grid, path, "smoke")
    assert path.stat().st_size == size  # nothing is done twice
    found = run("comparison", "smoke", replace(grid, peers=str(path)), processes=1)
    cells = next(table for table in found.outcome.tables if table.title.startswith("accuracy % at"))
    assert ("a tree", f"{100 * np.mean(expected):.1f} / -") in cells.rows
    with pytest.raises(ParameterError, match="other folds of vote"):
        run("comparison", "smoke", replace(grid, seed=1, peers=str(path)), processes=1)


def test_a_peer_for_two_classes_is_marked(peers: Any, tmp_path: Path) -> None:
    grid = replace(SMOKE, tables=("car",))
    peers.run(grid, tmp_path / "p", "smoke")
    told = {line["job"]["learner"]: line["found"] for line in read_lines(tmp_path / "p")[1]}
    assert told["of two classes"]["note"] == "of two classes is for two classes"
    assert len(told["a tree"]["auc"]) == 2


def test_what_cannot_be_installed_is_named_and_the_others_go_on(
    peers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(environment: str) -> Path:
        if environment == "nowhere":
            raise environments.RivalError("no matching distribution")
        return Path(sys.executable)

    monkeypatch.setattr(environments, "set_up", missing)
    gone = learners.Peer("gone", "nowhere", TREE)
    monkeypatch.setattr(learners, "PEERS", (gone, *learners.PEERS))
    grid = replace(SMOKE, tables=("vote",))
    assert peers.run(grid, tmp_path / "p", "smoke") == {"nowhere": "no matching distribution"}
    assert {line["job"]["learner"] for line in read_lines(tmp_path / "p")[1]} == {"a tree", "of two classes"}


def test_only_some_peers_are_asked_and_a_slow_one_is_noted(peers: Any, tmp_path: Path) -> None:
    grid = replace(SMOKE, tables=("vote",), epsilons=(1.0, 2.0))
    slow = learners.Peer("slow", "here", TREE + "while True: pass")
    learners.PEERS = (slow, *learners.PEERS)  # the fixture puts back what was there
    peers.run(grid, tmp_path / "p", "smoke", ("slow",), minutes=0.01)
    found = [(line["job"]["learner"], line["found"]["note"]) for line in read_lines(tmp_path / "p")[1]]
    assert found == [("slow", "it took more than 0.01 minutes of CPU time")] * 2


@pytest.mark.parametrize("peer", learners.PEERS, ids=lambda peer: peer.name)
def test_the_code_of_a_peer_is_python(peer: learners.Peer) -> None:
    """It runs in environments that tests do not have."""
    compile(learners.LOOP.replace("{make}", peer.make), peer.name, "exec")


def test_bins_are_inside_the_declared_bounds() -> None:
    known: dict[str, Any] = {
        "np": np,
        "bounds": np.array([[0.0, -4.0], [2.0, 4.0]]),
        "nominal": np.array([True, False]),
    }
    exec(BINNED, known)
    assert known["sizes"].tolist() == [3, 16]
    assert known["binned"](np.array([[0.0, -4.0], [2.0, 4.0], [1.0, 0.0]])).tolist() == [[0, 0], [2, 15], [1, 8]]
