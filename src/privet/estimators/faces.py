"""From a recipe to a scikit-learn classifier: the recipe's fields become parameters, its docstring becomes the help."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, field, fields, make_dataclass
from os import PathLike
from typing import Any, Literal, NamedTuple, get_type_hints

from privet.errors import RecipeError
from privet.estimators.additive import AdditiveFace
from privet.estimators.base import PrivateClassifier
from privet.privacy.ledger import Ledger
from privet.recipes.recipe import Recipe
from privet.recipes.registry import classifier_name, refuse_recipe
from privet.schema import Schema

FACES = {"trees": PrivateClassifier, "additive": AdditiveFace}


class Parameter(NamedTuple):
    """One parameter of a classifier."""

    name: str
    type: Any
    default: Any
    positional: bool = False


# Every classifier has these. A recipe's docstring may explain one in its own way.
BEFORE = (
    Parameter("schema", Schema | str | PathLike[str] | None, None, positional=True),
    Parameter("epsilon", Any, 1.0, positional=True),
)
AFTER = (
    Parameter("neighbours", Literal["add-remove", "replace-one"], "add-remove"),
    Parameter("expected_records", int | None, None),
    Parameter("ledger", Ledger | None, None),
    Parameter("random_state", Any, None),
    Parameter("n_jobs", int | None, None),
    Parameter("verbose", int, 0),
)
EXPLAINED = """
schema : Schema or path
    The public facts about the table. ``"infer"`` reads them off the data, which is not private.
epsilon : number
    What the fit may spend.
neighbours : "add-remove" or "replace-one"
    Which tables must be hard to tell apart: with one record more, or with one record changed.
expected_records : int, optional
    About how many records there should be with a label of the schema, a number that the owner makes public. Some of
    epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
ledger : Ledger, optional
    A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
random_state : int, optional
    Seeds public choices only, such as random trees, and never noise.
n_jobs : int, optional
    How many threads count records and look them up: -1 for one a processor (as without it), -2 for one less, and so on.
    No result depends on it.
verbose : int
    Above 0 a fit says on stderr how far it is, and at the end what it spent.
"""


def classifier_from(recipe: type[Recipe], *, module: str | None = None) -> type[PrivateClassifier]:
    """A classifier class for a recipe.

    The class is found by pickle under its name in ``module``, by default the module of the recipe: assign it there.

    >>> from privet.recipes.papers.sulq import SuLQ
    >>> classifier_from(SuLQ)(epsilon=0.5, bins=4)
    SuLQTreeClassifier(bins=4, epsilon=0.5)
    """
    refuse_recipe(recipe)
    name, found = classifier_name(recipe), parameters(recipe)
    made = make_dataclass(
        name,
        [(p.name, p.type, field(default=p.default, kw_only=not p.positional)) for p in found],
        bases=(FACES[recipe.makes],),
        namespace={"recipe_class": recipe, "__doc__": document(recipe, found)},
        repr=False,  # scikit-learn's own
        match_args=False,
        eq=False,
    )
    made.__module__ = module or recipe.__module__
    return made


def parameters(recipe: type[Recipe]) -> tuple[Parameter, ...]:
    """The parameters of a recipe's classifier, in order: the first three may be given by position."""
    try:
        types = get_type_hints(recipe)
    except Exception:  # annotations that only a type checker can resolve stay text
        types = {}
    own = {one.name: one for one in fields(recipe)}
    taken = {p.name for p in (*BEFORE, *AFTER)} | {name for name in dir(PrivateClassifier) if not name.startswith("_")}
    if clash := sorted(own.keys() & taken):
        raise RecipeError(f"{recipe.__name__} has a field {clash[0]!r}, which means something else in every classifier")
    variant = own.pop("variant")
    depth = [own.pop("max_depth")] if "max_depth" in own else []
    described = [
        *(_parameter(recipe, one, types, positional=True) for one in depth),
        *(_parameter(recipe, one, types) for one in own.values()),
        _parameter(recipe, variant, {"variant": Literal["sound", *recipe.info.variants]}),
    ]
    return (*BEFORE, *described, *AFTER)


def _parameter(recipe: type[Recipe], one: Field[Any], types: dict[str, Any], positional: bool = False) -> Parameter:
    if one.default is MISSING:
        raise RecipeError(f"{recipe.__name__}.{one.name} needs a plain default: every classifier is made without any")
    return Parameter(one.name, types.get(one.name, one.type), one.default, positional)


# ---- help ---------------------------------------------------------------------------------------------------------


def document(recipe: type[Recipe], found: tuple[Parameter, ...]) -> str:
    """The docstring of a classifier, from those of its recipe and of the recipes that it extends."""
    written = _sections(recipe)
    explained = _explanations(EXPLAINED) | {"variant": _variants(recipe)}
    for kind in reversed(recipe.__mro__):
        if issubclass(kind, Recipe) and kind is not Recipe:
            explained |= _explanations(_sections(kind).pop("Parameters", ""))
    entries = [explained.get(p.name, f"{p.name} : {_written(p.type)}") for p in found]
    opening = written.pop("", "").strip() or recipe.info.title
    first, _, rest = opening.partition("\n")
    parts = [f"{first.removesuffix('.')} (recipe ``{recipe.info.name}``).{f'{chr(10)}{rest}' if rest else ''}"]
    # Two parameters that share an explanation have it once.
    sections = {"Parameters": "\n".join(dict.fromkeys(entries))} | {
        title: text for title, text in written.items() if title != "Parameters"
    }
    parts += [f"{title}\n{'-' * len(title)}\n{text.strip()}" for title, text in sections.items()]
    return "\n\n".join(parts) + "\n"


def _sections(recipe: type[Recipe]) -> dict[str, str]:
    """The parts of a numpydoc docstring by their titles; what stands before the first one has none."""
    text = vars(recipe).get("__doc__") or ""
    if text.startswith(f"{recipe.__name__}("):  # the text that dataclasses put there where none was written
        return {}
    opening, *titled = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(text), flags=re.M)
    return {"": opening} | dict(zip(titled[::2], titled[1::2], strict=True))


def _explanations(text: str) -> dict[str, str]:
    """Parameter -> its line and what is indented below it."""
    entries = [entry.rstrip() for entry in re.split(r"^(?=\S)", text.strip(), flags=re.M) if entry.strip()]
    return {name.strip(): entry for entry in entries for name in entry.partition(" : ")[0].split(",")}


def _written(kind: Any) -> str:
    return kind if isinstance(kind, str) else inspect.formatannotation(kind)


def _variants(recipe: type[Recipe]) -> str:
    offered = " or ".join(f'"{variant}"' for variant in recipe.info.variants)
    promises = "".join(f'\n    "{variant}" promises: {what}.' for variant, what in recipe.info.guarantee.items())
    return f"variant : {offered}{promises}"
