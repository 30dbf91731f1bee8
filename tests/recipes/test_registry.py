"""Which recipes there are: privet's own always, those of other packages if they are sound, and a word if not."""

from __future__ import annotations

import importlib
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import privet
from privet.cli import app
from privet.errors import RecipeError
from privet.estimators.classifiers import classifier_class
from privet.recipes import registry
from privet.recipes.registry import ALL, OWN, list_recipes, recipe_class, recipe_classes

Install = Callable[..., None]
SOUND = """
from dataclasses import dataclass, replace
from typing import ClassVar
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.recipes.recipe import Info

@dataclass(frozen=True)
class {kind}(Mohammed2015):
    info: ClassVar[Info] = replace(Mohammed2015.info, name="{name}")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install(package, name, code)``: a package of one module that offers a recipe, until the test is over."""
    modules = []

    def one(package: str, name: str, code: str = "", kind: str = "Hedge") -> None:
        module = package.replace("-", "_")
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(code or SOUND.format(kind=kind, name=name)))
        record = tmp_path / f"{module}-1.dist-info"
        record.mkdir()
        (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
        (record / "entry_points.txt").write_text(f"[privet.recipes]\n{name} = {module}:{kind}\n")
        registry._others.cache_clear()

    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield one
    registry._others.cache_clear()
    for module in modules:
        sys.modules.pop(module, None)


def test_the_table_says_where_recipes_are() -> None:
    for name, line in ALL.items():
        recipe = recipe_class(name)
        assert recipe.info.name == name
        assert line.recipe == f"{recipe.__module__}:{recipe.__qualname__}"
    files = {line.recipe.partition(":")[0].rpartition(".")[2] for line in ALL.values()}
    rooms = [Path(registry.__file__).parent / room for room in ("ours", "papers")]
    assert {path.stem for room in rooms for path in room.glob("*.py")} == files | {"__init__"}


def test_a_recipe_of_another_package_comes_last(install: Install) -> None:
    install("garden", "hedge")
    assert [info.name for info in list_recipes()] == [*OWN, "hedge"]
    assert recipe_class("hedge").__module__ == "garden"
    assert repr(privet.make_classifier("hedge", epsilon=2)) == "HedgeClassifier(epsilon=2)"
    from privet.estimators.classifiers import HedgeClassifier  # type: ignore[attr-defined]

    assert HedgeClassifier is classifier_class("hedge")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise OSError('no disk')", r"'bad:Hedge' cannot be imported \(OSError: no disk\)"),
        ("import a_module_that_nobody_has", "cannot be imported .ModuleNotFoundError"),
        ("def", "cannot be imported .SyntaxError"),
        ("raise SystemExit(1)", "cannot be imported .SystemExit"),
        ("", "cannot be imported .AttributeError"),
        ("Hedge = 3", "3 is not a subclass of privet.recipes.recipe.Recipe"),
        (SOUND.format(kind="Hedge", name="shrub"), "its info.name is 'shrub'; the entry point must have the same name"),
        (SOUND.format(kind="Hedge", name="hedge").replace("@dataclass(frozen=True)", ""), "must be a dataclass"),
    ],
)
def test_a_broken_package_is_named_once_and_breaks_nothing(install: Install, code: str, why: str) -> None:
    install("bad", "hedge", code or "pass")
    install("good", "shrub", kind="Shrub")
    with pytest.warns(UserWarning, match=f"the recipe 'hedge' of package 'bad' is left out: .*{why}") as said:
        assert list(recipe_classes()) == [*OWN, "shrub"]
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(recipe_classes()) == [*OWN, "shrub"]
        with pytest.raises(RecipeError, match=f"the recipe 'hedge' of package 'bad' is left out: .*{why}"):
            recipe_class("hedge")
        with pytest.raises(RecipeError, match=r"unknown recipe 'tree'; choose one of sulq, .*, shrub$"):
            recipe_class("tree")


def test_privets_own_names_are_not_for_sale(install: Install) -> None:
    ours = recipe_class("sulq")
    install("thief", "sulq")
    with pytest.warns(UserWarning, match="'sulq' of package 'thief' is left out: privet has a recipe of that name"):
        assert recipe_classes()["sulq"] is ours
    assert privet.make_classifier("sulq").recipe_class is ours


def test_nor_are_the_names_of_its_classifiers(install: Install) -> None:
    install("mimic", "shrub", kind="SNRForest")
    with pytest.warns(UserWarning, match="package 'mimic' is left out: there is a SNRForestClassifier already"):
        assert list(recipe_classes()) == [*OWN]


def test_of_two_packages_with_one_name_the_first_has_it(install: Install) -> None:
    install("zebra", "hedge", kind="Zebra")
    install("aardvark", "hedge", kind="Aardvark")
    with pytest.warns(UserWarning, match=r"'hedge' of package 'zebra' is left out: another package has .*\(aardvark\)"):
        assert recipe_class("hedge").__name__ == "Aardvark"


def test_asking_for_privets_own_looks_at_no_other_package(install: Install) -> None:
    install("bad", "hedge", "raise SystemExit('imported')")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert privet.make_classifier("exact").recipe_class.info.name == "exact"


def test_the_command_line_goes_on_without_a_broken_package(install: Install) -> None:
    install("bad", "hedge", "raise ValueError('torn')")
    with pytest.warns(UserWarning, match="'bad'"):
        shown = CliRunner().invoke(app, ["recipes", "--json"])
    assert shown.exit_code == 0
    assert '"random-forest"' in shown.stdout
    refused = CliRunner().invoke(app, ["audit", "--recipe", "hedge"])
    assert refused.exit_code == 1
    assert "the recipe 'hedge' of package 'bad' is left out" in refused.stderr
    assert "ValueError: torn" in refused.stderr
