"""``privet audit --sample`` and ``--object``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from privet.audit.sampling import recipes
from privet.cli import sampling

MINE = """
import numpy as np

FIVE, FOUR = [(np.zeros((n, 1)), np.zeros(n, dtype=int)) for n in (5, 4)]
pairs = [("five against four", FIVE, FOUR)]


def noisy(loss):
    p = 1 - np.exp(-loss)
    return int(np.random.geometric(p)) - int(np.random.geometric(p))


class Learner:
    def fit(self, X, y):
        self.count_ = len(X) + noisy(3.0)


def sound(X, y):
    return len(X) + noisy(0.5)


class nested:
    learner = Learner


def stopped(X, y, left=[2_000]):
    left[0] -= 1
    if left[0] == 0:
        raise KeyboardInterrupt
    return sound(X, y)
"""
ASK = ("--pairs", "mine:pairs", "--max-fits", "6000")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "mine", raising=False)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_a_learner_that_breaks_its_promise(desk: Any, mine: Path) -> None:
    done = desk.run("audit", "--object", "mine:nested.learner", *ASK, "--json")
    assert done.exit_code == 1
    (result,) = json.loads(done.stdout)["results"]
    assert (result["verdict"], result["claimed"]) == ("violated", 1.0)
    assert result["pair"].startswith("five against four")  # or a variation of it
    assert "count_" in result["event"]
    assert "mine:nested.learner" in result["repeat"]


def test_a_function_that_keeps_it_for_people(desk: Any, mine: Path) -> None:
    done = desk.ok("audit", "--object", "mine:sound", "--function", *ASK, "--alpha", "1e-7")
    assert "not refuted" in done.stdout
    assert "five against four" in done.stdout
    assert "looks" in done.stdout


def test_a_recipe(desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = recipes.recipe_pairs()[:2]
    monkeypatch.setattr(recipes, "recipe_pairs", lambda neighbours, predicts: two)
    ask = ("audit", "--sample", "sulq", "--variant", "sound", "--max-fits", "200", "--alpha", "1e-6", "--json")
    first = json.loads(desk.ok(*ask, "--resume", str(tmp_path / "kept")).stdout)["results"]
    assert [(one["name"], one["verdict"]) for one in first] == [("sulq (sound)", "not refuted")]
    assert (tmp_path / "kept" / "sulq-sound" / "audit.json").exists()


def test_ctrl_c_shows_the_bound_so_far(desk: Any, mine: Path) -> None:
    done = desk.run("audit", "--object", "mine:stopped", "--function", *ASK, "--epsilon", "3")
    assert done.exit_code == 130
    assert "not refuted: a loss of at least" in done.stdout
    assert "these bounds hold" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--object", "mine"), "write module:name"),
        (("--object", "mine:nothing"), "is not there"),
        (("--object", "no_such_module:x"), "is not there"),
        (("sulq", "--object", "mine:sound"), "leave the recipes out"),
        (("--function", "sulq"), "need --object"),
        (("--object", "mine:sound", "--function", "--alpha", "2"), "alpha must lie"),
        (("--sample", "shrub"), "unknown recipe"),
    ],
)
def test_mistakes(desk: Any, mine: Path, arguments: tuple[str, ...], says: str) -> None:
    done = desk.run("audit", *arguments)
    assert done.exit_code == 1
    assert says in done.stderr


def test_a_name_is_found_in_this_folder(mine: Path) -> None:
    assert sampling.load("mine:nested.learner", "object").__name__ == "Learner"
