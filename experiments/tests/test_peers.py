"""`privet peers`, with a learner of this environment in the place of other libraries: records and folds.

Other libraries need a package index; ``privet peers --probe`` is for those.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from privet.datasets import real
from privet.errors import ParameterError
from privet.tables.frozen import freeze
from privet_experiments.ours.comparison import folds_of
from privet_experiments.peers import command, environments, learners
from privet_experiments.peers.binned import BINNED
from privet_experiments.peers.synthetic import AIM
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


def test_only_some_peers_are_asked_and_a_slow_one_is_noted(
    peers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = replace(SMOKE, tables=("vote",), epsilons=(1.0, 2.0))
    slow = learners.Peer("slow", "here", TREE + "while True: pass")
    learners.PEERS = (slow, *learners.PEERS)  # the fixture puts back what was there
    asked = list[float]()
    ask = learners.ask_peer
    monkeypatch.setattr(learners, "ask_peer", lambda *how: asked.extend(how[3]) or ask(*how))
    peers.run(grid, tmp_path / "p", "smoke", ("slow",), minutes=0.01)
    assert asked == [1.0], "a learner that is too slow is not asked for a larger epsilon"
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


def two_decide() -> dict[str, npt.NDArray[Any]]:
    """Records whose label follows from two attributes together; the third, a number, says nothing."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 3000), rng.integers(0, 2, 3000), rng.uniform(-1, 1, 3000)])
    y = ((X[:, 0] == 1) ^ (X[:, 1] == 1)).astype(np.int64)
    bounds, nominal = np.array([[0.0, 0.0, -1.0], [2.0, 1.0, 1.0]]), np.array([True, True, False])
    return {"X": X, "y": y, "bounds": bounds, "nominal": nominal, "classes": np.array(2)}


class Repeated:
    """In the place of dpmm: draws the records it was given, their columns turned round and as text."""

    def __init__(self, epsilon: float, delta: float, **settings: Any) -> None:
        self.settings = settings
        generator = SimpleNamespace(fit=self.fit, measures=[], model=SimpleNamespace(domain=None))
        self.gen = SimpleNamespace(set_domain=self.domains, check_fit=lambda table: None, generator=generator)

    def domains(self, domain: dict[str, int]) -> None:
        self.domain = domain

    def fit(self, table: pd.DataFrame, W: list[tuple[tuple[str, ...], float]]) -> None:
        assert (table.min() >= 0).all()
        assert all((table.max() < pd.Series(self.domain)).tolist())
        assert "rounds" not in self.settings["gen_kwargs"]  # few rounds leave nothing for what attributes say together
        assert self.settings["compress"] is False  # or rare values become one another
        asked = [["x0", "y"], ["x1", "y"], ["x2", "y"], ["x0", "x1", "y"], ["x0", "x2", "y"], ["x1", "x2", "y"]]
        assert [list(few) for few, _ in W] == asked
        self.table = table

    def generate(self, n_records: int) -> pd.DataFrame:
        return self.table.iloc[np.arange(n_records) % len(self.table), ::-1].astype(str).reset_index(drop=True)


def test_synthetic_records_come_back_as_they_went(monkeypatch: pytest.MonkeyPatch) -> None:
    estimate: Callable[..., Any] = lambda self, measures: None  # noqa: E731 - a method
    engine = type("FactoredInference", (), {"__init__": lambda self, domain, iters: None, "estimate": estimate})
    for name in ("dpmm", "dpmm.models", "dpmm.models.base", "dpmm.models.base.mbi", "dpmm.pipelines"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["dpmm.models.base.mbi"], "FactoredInference", engine, raising=False)
    monkeypatch.setattr(sys.modules["dpmm.pipelines"], "AIMPipeline", Repeated, raising=False)
    given = two_decide()
    known: dict[str, Any] = {"np": np, **given, "classes": 2}
    exec(AIM, known)
    model = known["make"](1.0).fit(given["X"], given["y"])
    proba = model.predict_proba(given["X"])
    assert proba.shape == (3000, 2)
    assert (proba.argmax(axis=1) == given["y"]).all()


def test_synthetic_records_keep_what_attributes_say_of_the_label(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    if not (root / environments.RIVALS / "dpmm" / "installed").exists():
        pytest.skip("dpmm is not there: `privet peers --probe` installs it in .venv-rivals")
    monkeypatch.chdir(root)
    counted = """
class Counted(Boosted):
    def fit(self, X, y):
        from dpmm.models.base.mechanisms import cdp_rho
        super().fit(X, y)
        spent = sum(0.5 / sigma**2 for _, sigma in self.measured)
        if spent > cdp_rho(self.epsilon, DELTA):
            raise ValueError("more is spent than was given")
        return self
make = Counted
"""
    given = two_decide()
    train = np.arange(3000) < 2000
    peer = learners.Peer("AIM", "dpmm", AIM + counted)
    [(_, _, proba, why)] = learners.ask_peer(peer, given, train[None], [1.0])
    assert proba is not None, why
    assert (proba.argmax(axis=1) == given["y"][~train]).mean() > 0.9
