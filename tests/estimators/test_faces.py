"""Classifiers are made from recipes, and nobody can tell: signatures, help, clones, pickles and stubs."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
import runpy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from sklearn.base import clone

import privet
from privet.errors import RecipeError
from privet.estimators import classifiers
from privet.estimators.faces import classifier_from
from privet.estimators.registry import CLASSIFIERS
from privet.recipes.papers.mohammed2015 import Mohammed2015
from privet.recipes.papers.sulq import SuLQ
from privet.recipes.recipe import Info, Recipe

if TYPE_CHECKING:
    from nowhere import Mystery  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[2]
FIRST = ["schema", "epsilon", "max_depth"]
LAST = ["variant", "neighbours", "expected_records", "ledger", "random_state", "n_jobs", "verbose"]
every = pytest.mark.parametrize("name", CLASSIFIERS)


@every
def test_signatures_are_real(name: str) -> None:
    kind: Any = CLASSIFIERS[name]
    found = inspect.signature(kind).parameters
    positional = [p.name for p in found.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    own = [field.name for field in fields(kind.recipe_class) if field.name not in (*FIRST, *LAST)]
    assert positional == [first for first in FIRST if first in found]
    assert list(found) == [*positional, *own, *LAST]
    assert all(p.default is not p.empty and not isinstance(p.annotation, str) for p in found.values())
    assert kind(None, 0.5).epsilon == 0.5
    with pytest.raises(TypeError, match="has no parameter 'shrubs'; it takes"):
        kind(shrubs=3)
    with pytest.raises(TypeError, match="positional"):
        kind(None, 1, 2, 3)


@every
def test_parameters_can_be_set_cloned_shown_and_pickled(name: str) -> None:
    kind: Any = CLASSIFIERS[name]
    shown = "epsilon=0.25, max_bins=7" if name != "additive" else "delta=1e-06, epsilon=0.25"
    made = kind().set_params(epsilon=0.25, **({"max_bins": 7} if name != "additive" else {"delta": 1e-6}))
    again = pickle.loads(pickle.dumps(clone(made)))
    assert type(again) is kind
    assert again.get_params() == made.get_params()
    assert repr(again) == f"{kind.__name__}({shown})"
    assert getattr(classifiers, kind.__name__) is kind
    assert kind.__name__ in dir(classifiers)
    assert made != clone(made), "estimators are compared by identity, as scikit-learn's are"


@every
def test_the_help_explains_every_parameter(name: str) -> None:
    kind = CLASSIFIERS[name]
    text = inspect.getdoc(kind) or ""
    assert text.splitlines()[0].endswith(f"(recipe ``{name}``).")
    entries = re.findall(r"^([\w, ]+) : .+\n    \S", text, re.M)
    explained = [word for entry in entries for word in entry.split(", ")]
    assert sorted(explained) == sorted(kind().get_params()), "each once, with a sentence of its own"
    home = "privet" if hasattr(privet, kind.__name__) else "privet.papers"
    assert f">>> from {home} import {kind.__name__}\n" in text
    assert ("max_bins :" if name != "additive" else "delta :") in pydoc.plain(pydoc.render_doc(kind))


def test_generated_files_are_up_to_date() -> None:
    """Red after a change to a recipe's fields: `make stubs` writes them."""
    tool = runpy.run_path(str(ROOT / "tools" / "stubs.py"))
    for path, text in tool["generated"]().items():
        assert path.read_text("utf-8") == text, f"{path.name} is out of date; run `make stubs`"
    assert "max_depth: int | Literal[\"auto\"] = \"auto\"" in "".join(tool["classifiers"]())  # fmt: skip


# ---- recipes of others --------------------------------------------------------------------------------------------


def info(name: str) -> Info:
    facts = dict.fromkeys(("title", "citation", "budget", "trees", "depth", "numeric"), "made up")
    return Info(name=name, guarantee={"sound": "pure epsilon"}, chooses="greedily", **facts)


@dataclass(frozen=True)
class Bare(Mohammed2015):
    info: ClassVar[Info] = info("bare")
    shrubs: Mystery | None = None


def test_a_recipe_without_words_has_help_too() -> None:
    """Types that only a type checker knows are shown as they are written."""
    kind: Any = classifier_from(Bare)
    assert (kind.__name__, kind.__module__) == ("BareClassifier", __name__)
    text = inspect.getdoc(kind) or ""
    assert text.startswith("made up (recipe ``bare``).")
    assert "shrubs : Mystery | None" in text
    assert "The number of tests on a path" in text, "inherited"
    assert kind(max_depth=1).recipe() == Bare(max_depth=1)


def test_a_recipe_that_borrows_a_name_is_not_taken_for_privets_own() -> None:
    @dataclass(frozen=True)
    class Impostor(SuLQ):
        pass

    assert classifier_from(Impostor).__name__ == "ImpostorClassifier"


@dataclass(frozen=True)
class Greedy(Mohammed2015):
    ledger: Any = None


@dataclass(frozen=True)
class Busy(Mohammed2015):
    predict: Any = None


class Undecorated(Mohammed2015):
    shrubs: int = 3


@dataclass(frozen=True)
class Unfinished(Recipe):
    info: ClassVar[Info] = info("unfinished")


@dataclass(frozen=True)
class Nameless(Recipe):
    pass


@dataclass(frozen=True)
class Changeable(Mohammed2015):
    info: Info = info("changeable")  # type: ignore[misc]  # noqa: RUF009


@dataclass(frozen=True, kw_only=True)
class Demanding(Mohammed2015):
    shrubs: int


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Greedy, "Greedy has a field 'ledger', which means something else"),
        (Busy, "Busy has a field 'predict', which means something else"),
        (Undecorated, r"write @dataclass\(frozen=True\) above it"),
        (Unfinished, "lacks the method grow"),
        (Nameless, r"lacks `info: ClassVar\[Info\]"),
        (Changeable, r"lacks `info: ClassVar\[Info\]"),
        (Demanding, r"Demanding\.shrubs needs a plain default"),
        (SuLQ(), "not a subclass of privet.recipes.recipe.Recipe"),
        (int, "not a subclass of privet.recipes.recipe.Recipe"),
    ],
    ids=str,
)
def test_what_no_classifier_can_be_made_from_is_refused(kind: Any, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        classifier_from(kind)
