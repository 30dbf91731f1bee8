"""Make scikit-learn classifiers from recipes: fields become parameters, the docstring becomes the help."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, field, fields, make_dataclass
from os import PathLike
from textwrap import fill
from typing import Any, Literal, NamedTuple, get_type_hints

from privet.errors import RecipeError
from privet.estimators.additive import AdditiveFace, AdditiveNumberFace
from privet.estimators.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from privet.privacy.ledger import Ledger
from privet.recipes.parameters import KEY, one_of
from privet.recipes.recipe import Recipe
from privet.recipes.registry import classifier_name, refuse_recipe
from privet.schema import Schema

FACES: dict[tuple[str, str], type[PrivateEstimator]] = {
    ("classes", "trees"): PrivateClassifier,
    ("classes", "additive"): AdditiveFace,
    ("numbers", "trees"): PrivateRegressor,
    ("numbers", "additive"): AdditiveNumberFace,
}


class Parameter(NamedTuple):
    """One parameter of a classifier: type and default for Python, accepted values and help for people."""

    name: str
    type: Any
    default: Any
    takes: str
    help: str
    positional: bool = False


BEFORE = (
    Parameter(
        "schema",
        Schema | str | PathLike[str] | None,
        None,
        "Schema or path",
        'The public facts about the table. ``"infer"`` reads them off the data, which is not private.',
        positional=True,
    ),
    Parameter("epsilon", Any, 1.0, "number", "What the fit may spend.", positional=True),
)
AFTER = (
    Parameter(
        "neighbours",
        Literal["add-remove", "replace-one"],
        "add-remove",
        '"add-remove" or "replace-one"',
        "Which tables must be hard to tell apart: with one record more, or with one record changed.",
    ),
    Parameter(
        "expected_records",
        int | None,
        None,
        "int, optional",
        "About how many records there should be with a label of the schema, a number that the owner makes public. Some "
        "of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.",
    ),
    Parameter(
        "ledger",
        Ledger | None,
        None,
        "Ledger, optional",
        "A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.",
    ),
    Parameter(
        "random_state",
        Any,
        None,
        "int, optional",
        "Seeds public choices only, such as random trees, and never noise.",
    ),
    Parameter(
        "n_jobs",
        int | None,
        None,
        "int, optional",
        "How many threads count records and look them up: -1 for one per processor (the default), -2 for one less, and "
        "so on. No result depends on it.",
    ),
    Parameter("verbose", int, 0, "int", "Above 0 a fit prints its progress on stderr, and at the end what it spent."),
)


def classifier_from(recipe: type[Recipe], *, module: str | None = None) -> type[PrivateEstimator]:
    """Make an estimator class for a recipe.

    Pickle finds the class under its name in ``module``, by default the module of the recipe: assign it there.

    >>> from privet.recipes.papers.sulq import SuLQ
    >>> classifier_from(SuLQ)(epsilon=0.5, max_bins=4)
    SuLQTreeClassifier(epsilon=0.5, max_bins=4)
    """
    refuse_recipe(recipe)
    name, found = classifier_name(recipe), parameters(recipe)
    made = make_dataclass(
        name,
        [(p.name, p.type, field(default=p.default, kw_only=not p.positional)) for p in found],
        bases=(FACES[recipe.predicts, recipe.makes],),
        namespace={"recipe_class": recipe, "__doc__": document(recipe, found)},
        repr=False,  # scikit-learn's own
        match_args=False,
        eq=False,
    )
    made.__module__ = module or recipe.__module__
    return made


def parameters(recipe: type[Recipe]) -> tuple[Parameter, ...]:
    """The parameters of a recipe's classifier, in order: the first three may be given by position."""
    own = {one.name: one for one in own_parameters(recipe)}
    taken = {p.name for p in (*BEFORE, *AFTER)} | {
        name for kind in FACES.values() for name in dir(kind) if not name.startswith("_")
    }
    if clash := sorted(own.keys() & taken):
        raise RecipeError(f"{recipe.__name__} has a field {clash[0]!r}, which means something else in every classifier")
    depth = [own.pop("max_depth")._replace(positional=True)] if "max_depth" in own else []
    return (*BEFORE, *depth, *own.values(), *AFTER)


def own_parameters(recipe: type[Recipe]) -> list[Parameter]:
    """The parameters that a recipe's fields declare, the variant last."""
    try:
        types = get_type_hints(recipe)
    except Exception:  # annotations that only a type checker can resolve stay text
        types = {}
    found = []
    for one in fields(recipe):
        if one.default is MISSING:
            raise RecipeError(f"{recipe.__name__}.{one.name} needs a plain default: a classifier is made without any")
        kind = types.get(one.name, one.type)
        takes, help = (one.metadata[KEY].takes, one.metadata[KEY].help) if KEY in one.metadata else (_written(kind), "")
        found.append(Parameter(one.name, kind, one.default, takes, help))
    promises = " ".join(f'"{variant}" promises: {what}.' for variant, what in recipe.info.guarantee.items())
    kind = Literal["sound", *recipe.info.variants]
    variant = Parameter("variant", kind, "sound", one_of(recipe.info.variants), promises)
    return [*(one for one in found if one.name != "variant"), variant]


def document(recipe: type[Recipe], found: tuple[Parameter, ...]) -> str:
    """The docstring of a classifier: its recipe's, with the parameters before the first titled section."""
    text = vars(recipe).get("__doc__") or ""
    if text.startswith(f"{recipe.__name__}("):  # the text that dataclasses put there where none was written
        text = ""
    opening, *titled = re.split(r"^(?=\w[\w ]*\n-{3,}\n)", inspect.cleandoc(text), flags=re.M)
    first, _, rest = (opening.strip() or recipe.info.title).partition("\n")
    entries = "\n".join(f"{p.name} : {p.takes}{_indented(p.help)}" for p in found)
    parts = [f"{first.removesuffix('.')} (recipe ``{recipe.info.name}``).{f'{chr(10)}{rest}' if rest else ''}"]
    others = [part.strip() for part in titled if not part.startswith("Parameters\n")]
    return "\n\n".join([*parts, f"Parameters\n----------\n{entries}", *others]) + "\n"


def _indented(text: str) -> str:
    indent = " " * 4
    lines = fill(text, 112, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    return f"\n{lines}" if text else ""


def _written(kind: Any) -> str:
    return kind if isinstance(kind, str) else inspect.formatannotation(kind)
