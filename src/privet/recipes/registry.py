"""The registry of recipes: privet's own, and those of other packages.

Another package adds a recipe by an entry point of the group ``privet.recipes``, under the recipe's name::

    [project.entry-points."privet.recipes"]
    stump = "privet_stump:Stump"

A recipe of another package that cannot be loaded, or whose name is taken, is left out with a warning that names the
package. It never affects privet's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from privet.errors import RecipeError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from privet.recipes.recipe import Info, Recipe
    from privet.schema import Schema

GROUP = "privet.recipes"
DEFAULT_NUMBERS = "exact-regression"  # the same where the label is a number
DEFAULT = "exact"  # the default recipe: the most accurate single tree on nearly every table


class Line(NamedTuple):
    """A recipe's module, and the name of its classifier."""

    recipe: str
    classifier: str


# In the order of the papers, single trees first. Text, so that `import privet` loads none of them.
OWN: dict[str, Line] = {
    "sulq": Line("privet.recipes.papers.sulq:SuLQ", "SuLQTreeClassifier"),
    "diffpid3": Line("privet.recipes.papers.diffpid3:DiffPID3", "DiffPID3Classifier"),
    "diffpc45": Line("privet.recipes.papers.diffpc45:DiffPC45", "DiffPC45Classifier"),
    "embedded": Line("privet.recipes.papers.embedded:Embedded", "EmbeddedTreeClassifier"),
    "exact": Line("privet.recipes.ours.exact:ExactTree", "ExactTreeClassifier"),
    "mohammed2015": Line("privet.recipes.papers.mohammed2015:Mohammed2015", "Mohammed2015Classifier"),
    "patil-singh2014": Line("privet.recipes.papers.patil_singh2014:PatilSingh2014", "PatilSingh2014Classifier"),
    "greedy-forest": Line("privet.recipes.papers.greedy_forest:GreedyForest", "GreedyForestClassifier"),
    "rana2016": Line("privet.recipes.papers.rana2016:Rana2016", "Rana2016Classifier"),
    "jagannathan2012": Line("privet.recipes.papers.jagannathan2012:Jagannathan2012", "Jagannathan2012Classifier"),
    "jagannathan2013": Line("privet.recipes.papers.jagannathan2013:Jagannathan2013", "Jagannathan2013Classifier"),
    "snr-forest": Line("privet.recipes.papers.snr_forest:SNRForest", "SNRForestClassifier"),
    "smooth-forest": Line("privet.recipes.papers.smooth_forest:SmoothForest", "SmoothForestClassifier"),
    "additive": Line("privet.recipes.ours.additive:AdditiveModel", "AdditiveClassifier"),
    "random-forest": Line("privet.recipes.ours.random_forest:RandomForest", "PrivateForestClassifier"),
}
# Those that predict numbers; the field is then called the estimator's name.
NUMBERS: dict[str, Line] = {
    "exact-regression": Line("privet.recipes.ours.exact_regression:ExactRegression", "ExactTreeRegressor"),
    "additive-regression": Line("privet.recipes.ours.additive_regression:AdditiveRegression", "AdditiveRegressor"),
}
ALL = OWN | NUMBERS


def list_recipes(predicts: Literal["classes", "numbers"] = "classes") -> tuple[Info, ...]:
    """Name, citation, budget formula, guarantee and variants of every recipe that predicts classes, or numbers.

    >>> import privet
    >>> [info.name for info in privet.list_recipes()][:2]
    ['sulq', 'diffpid3']
    >>> [info.name for info in privet.list_recipes("numbers")][:1]
    ['exact-regression']
    """
    return tuple(recipe.info for recipe in recipe_classes(predicts).values())


def recipe_classes(predicts: Literal["classes", "numbers"] = "classes") -> dict[str, type[Recipe]]:
    """Recipe classes by the name a user knows them by: privet's own, then those of other packages."""
    own = {name: recipe_class(name) for name in (NUMBERS if predicts == "numbers" else OWN)}
    return own | {name: kind for name, kind in _others().recipes.items() if kind.predicts == predicts}


def default_recipe(schema: Schema) -> str:
    """The default recipe for classes or for a number."""
    return DEFAULT_NUMBERS if schema.predicts_number else DEFAULT


def recipe_class(name: str) -> type[Recipe]:
    """A recipe class by its name. Other packages are searched only for names that are not privet's own."""
    if name in ALL:
        module, _, attribute = ALL[name].recipe.partition(":")
        recipe: type[Recipe] = getattr(import_module(module), attribute)
        return recipe
    others = _others()
    if name in others.recipes:
        return others.recipes[name]
    if name in others.faults:
        raise RecipeError(others.faults[name])
    raise _unknown(name, [*ALL, *others.recipes])


def refuse_unknown(names: Iterable[str]) -> None:
    """Raise for a name that no recipe has. No recipe is loaded, so a misspelt name fails at once.

    >>> refuse_unknown(["exakt"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privet.errors.RecipeError: unknown recipe 'exakt'; did you mean 'exact'? Choose one of sulq, ...
    """
    for name in names:
        if name not in ALL:
            from importlib.metadata import entry_points

            others = [entry.name for entry in entry_points(group=GROUP)]
            if name not in others:
                raise _unknown(name, [*ALL, *others])


def _unknown(name: str, known: list[str]) -> RecipeError:
    near = get_close_matches(name.lower().replace("_", "-"), known, n=1, cutoff=0.75)  # a letter in four may be wrong
    meant = f"did you mean {near[0]!r}? Choose" if near else "choose"
    fix = f"{meant} one of {', '.join(known)}"
    return RecipeError(f"unknown recipe {name!r}", parameter="recipe", fix=fix)


def classifier_name(recipe: type[Recipe]) -> str:
    """The name of a recipe's classifier: from the table, or the recipe's class name and ``Classifier``."""
    line = ALL.get(recipe.info.name)
    mine = line is not None and line.recipe == f"{recipe.__module__}:{recipe.__qualname__}"
    kind = "Regressor" if recipe.predicts == "numbers" else "Classifier"
    return line.classifier if line is not None and mine else f"{recipe.__name__}{kind}"


# ---- other packages -----------------------------------------------------------------------------------------------


class _Others(NamedTuple):
    recipes: dict[str, type[Recipe]]
    faults: dict[str, str]
    """Name -> why there is no such recipe, in a sentence that names the package."""


@cache  # the next process sees packages that are installed later
def _others() -> _Others:
    from importlib.metadata import entry_points

    found = _Others({}, {})
    # In a fixed order: if two packages use the same name, the same one always wins.
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry), entry.name)):
        try:
            found.recipes[entry.name] = _checked(entry, found.recipes)
        except RecipeError as error:
            why = f"the recipe {entry.name!r} of package {_package(entry)!r} is left out: {error}"
            if entry.name not in found.recipes:
                found.faults[entry.name] = why
            warnings.warn(why, stacklevel=3)
    return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module


def _checked(entry: EntryPoint, taken: dict[str, type[Recipe]]) -> type[Recipe]:
    if entry.name in ALL:
        raise RecipeError("privet has a recipe of that name; the package must choose another")
    if entry.name in taken:
        raise RecipeError(f"another package has that name already ({taken[entry.name].__module__})")
    try:
        recipe = entry.load()
    except (Exception, SystemExit) as error:  # no import of another package may stop privet
        raise RecipeError(f"{entry.value!r} cannot be imported ({type(error).__name__}: {error})") from error
    refuse_recipe(recipe)
    if recipe.info.name != entry.name:
        raise RecipeError(f"its info.name is {recipe.info.name!r}; the entry point must have the same name")
    names = {line.classifier for line in ALL.values()} | {classifier_name(other) for other in taken.values()}
    if classifier_name(recipe) in names:
        raise RecipeError(f"there is a {classifier_name(recipe)} already; the class must have another name")
    checked: type[Recipe] = recipe
    return checked


def refuse_recipe(recipe: Any) -> None:
    """Raise ``RecipeError`` for a class from which no classifier can be made."""
    from dataclasses import fields  # here, since `import privet` loads this module

    from privet.recipes.recipe import Info, Recipe

    if not (isinstance(recipe, type) and issubclass(recipe, Recipe)):
        raise RecipeError(f"{recipe!r} is not a subclass of privet.recipes.recipe.Recipe")
    if "__dataclass_params__" not in vars(recipe):  # without the decorator a new annotation would not become a field
        raise RecipeError(f"{recipe.__name__} must be a dataclass: write @dataclass(frozen=True) above it")
    # `info` must not be a field. Dataclasses make it one if ClassVar is text that they cannot resolve.
    if not isinstance(getattr(recipe, "info", None), Info) or "info" in {one.name for one in fields(recipe)}:
        raise RecipeError(f"{recipe.__name__} lacks `info: ClassVar[Info] = Info(...)`")
    if recipe.__abstractmethods__:
        raise RecipeError(f"{recipe.__name__} lacks the method {sorted(recipe.__abstractmethods__)[0]}")
