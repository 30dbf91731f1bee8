"""``privet audit``."""

from __future__ import annotations

import importlib
import json
from functools import partial

import pytest

import privet.audit
from privet.privacy import mechanisms
from privet.privacy.budget import float_up
from privet.recipes.registry import recipe_classes

EXACT = importlib.import_module("privet.audit.exact")  # the package's name `exact` is the function


@pytest.fixture
def small_zoo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two animals and few ways: what the command does with a verdict does not depend on how it was found."""
    whole = EXACT.zoo
    monkeypatch.setattr(EXACT, "zoo", lambda **options: whole(**options)[:2])
    monkeypatch.setattr(privet.audit, "exact", partial(privet.audit.exact, transcripts=2, complete=20))


def test_one_recipe_as_json(desk, small_zoo: None) -> None:
    done = desk.ok("audit", "--recipe", "sulq", "--variant", "sound", "--epsilon", "1/2", "--json")
    (result,) = json.loads(done.stdout)["results"]
    asked = {"recipe", "variant", "claimed", "lower_bound", "method", "verdict"}
    assert asked <= result.keys()
    assert result["claimed"] == 0.5
    assert result["lower_bound"] == pytest.approx(0.5)
    assert (result["recipe"], result["variant"], result["verdict"]) == ("sulq", "sound", "holds")
    assert result["method"] == "paired transcripts"


def test_recipes_can_be_named_alone(desk, small_zoo: None) -> None:
    results = json.loads(desk.ok("audit", "sulq", "-r", "diffpid3", "sulq", "--json").stdout)["results"]
    assert list(dict.fromkeys(result["recipe"] for result in results)) == ["sulq", "diffpid3"]


def test_all_recipes_in_all_their_variants(desk, small_zoo: None) -> None:
    results = json.loads(desk.ok("audit", "--neighbours", "replace-one", "--json").stdout)["results"]
    wanted = [(name, variant) for name, kind in recipe_classes().items() for variant in kind.info.variants]
    assert [(result["recipe"], result["variant"]) for result in results] == wanted
    for result in results:
        assert result["claimed"] == 1
        assert isinstance(result["lower_bound"], float) or result["lower_bound"] == "infinity"
        sound = result["variant"] not in recipe_classes()[result["recipe"]].unsound
        assert not sound or result["verdict"] == "holds"


def test_one_variant_of_all(desk, small_zoo: None) -> None:
    results = json.loads(desk.ok("audit", "--variant", "global-sensitivity", "--json").stdout)["results"]
    assert [(result["recipe"], result["variant"]) for result in results] == [("smooth-forest", "global-sensitivity")]


def test_a_violated_claim_sets_the_exit_code(desk, small_zoo: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanisms, "float_up", lambda value: 0.7 * float_up(value))
    done = desk.run("audit", "--recipe", "sulq", "--variant", "sound", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["results"][0]["verdict"] == "violated"


def test_for_people(desk, small_zoo: None) -> None:
    done = desk.ok("audit", "--recipe", "diffpid3", "--variant", "sound")
    assert "diffpid3" in done.stdout
    assert "holds" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--recipe", "shrub"), "unknown recipe 'shrub'"),
        (("--variant", "leafy"), "no such variant: 'leafy'"),
        (("--recipe", "exact", "--variant", "as-published"), "no such variant"),
        (("--recipe", "sulq", "--neighbours", "next door"), "neighbours must be"),
        (("--recipe", "sulq", "--epsilon", "0"), "must be greater than 0"),
    ],
)
def test_mistakes(desk, arguments: tuple[str, ...], says: str) -> None:
    done = desk.run("audit", *arguments)
    assert done.exit_code == 1
    assert says in done.stderr
