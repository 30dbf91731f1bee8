"""Writes what follows from the recipes' declarations: stub files for editors, and the tables of the docs.

`privet/__init__.py` imports its names on first use, and `estimators/classifiers.py` makes its classes from recipes, as
it does for recipes of other packages. Type checkers cannot read either, so beside each stands a `.pyi` file. `make
stubs` runs this, and a test compares the files with `generated()`.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any, Literal, Union, get_args, get_origin

import privet
from privet.estimators.base import PrivateEstimator
from privet.estimators.classifiers import classifier_class
from privet.estimators.faces import AFTER, BEFORE, own_parameters, parameters
from privet.recipes.registry import ALL, recipe_class

SOURCE = Path(privet.__file__).parent
PAGES = Path(__file__).parents[1] / "docs" / "recipes"
WRITTEN = "# Written by tools/stubs.py; change what it is made from and run `make stubs`.\n"
BEGIN, END = "<!-- written by `make stubs` -->\n", "<!-- end -->\n"  # around the table of a page


def generated() -> dict[Path, str]:
    """Every file that is written, at least in part, and what it should hold."""
    pages = {PAGES / f"{recipe}.md": page(recipe) for recipe in ALL}
    return pages | {
        SOURCE / "__init__.pyi": "".join(package()),
        SOURCE / "estimators" / "classifiers.pyi": "".join(classifiers()),
    }


def page(recipe: str) -> str:
    """The page of a recipe, with the table of its parameters."""
    before, _, rest = (PAGES / f"{recipe}.md").read_text("utf-8").partition(BEGIN)
    rows = "".join(
        f"| `{one.name}` | `{_text(one.default)}` | {one.takes} | {one.help.replace('``', '`')} |\n"
        for one in own_parameters(recipe_class(recipe))
    )
    return f"{before}{BEGIN}| parameter | default | takes | |\n|---|---|---|---|\n{rows}{END}{rest.partition(END)[2]}"


def package() -> Iterator[str]:
    """The public names, each imported from its home."""
    yield WRITTEN
    # In the order that ruff wants: classes first, and their case does not matter.
    homes = [*vars(privet)["_HOME"].items(), ("papers", "privet")]
    for home, _, _, name in sorted((home, name[0].islower(), name.lower(), name) for name, home in homes):
        yield f"from {home} import {name} as {name}\n"
    yield "\n__version__: str\n"
    yield "".join(["__all__ = [\n", *(f'    "{name}",\n' for name in privet.__all__), "]\n"])


def classifiers() -> Iterator[str]:
    """The classes with constructors written out: of a dataclass over scikit-learn's classes mypy checks no names."""
    yield WRITTEN
    yield "from collections.abc import Mapping, Sequence\n"
    yield "from os import PathLike\n"
    yield "from typing import Any, ClassVar, Literal\n\n"
    yield "from privet.estimators.additive import AdditiveFace, AdditiveNumberFace\n"
    yield "from privet.estimators.base import PrivateClassifier, PrivateEstimator, PrivateRegressor\n"
    yield "from privet.privacy.ledger import Ledger\n"
    yield "from privet.recipes.recipe import Recipe\n"
    yield "from privet.schema import Schema\n\n"
    yield "def classifier_class(recipe: str) -> type[PrivateEstimator]: ...\n"
    for recipe in ALL:
        yield from _class(classifier_class(recipe))


def _class(made: type[PrivateEstimator]) -> Iterator[str]:
    found = parameters(made.recipe_class)
    document = indent(inspect.getdoc(made) or "", " " * 4).strip()
    yield f'\nclass {made.__name__}({made.__base__.__name__}):\n    """{document}\n    """\n\n'
    yield "    recipe_class: ClassVar[type[Recipe]]\n"
    for parameter in found:
        if parameter not in (*BEFORE, *AFTER):  # those are the base class's
            yield f"    {parameter.name}: {written(parameter.type)}\n"
    yield "\n    def __init__(\n        self,\n"
    positional = [parameter for parameter in found if parameter.positional]
    for parameter in found:
        if parameter == found[len(positional)]:
            yield "        *,\n"
        yield f"        {parameter.name}: {written(parameter.type)} = {_text(parameter.default)},\n"
    yield "    ) -> None: ...\n"


def written(kind: Any) -> str:
    """A type as one writes it, the same under every version of Python.

    >>> written(int | None), written(int | Literal["auto"])
    ('int | None', 'int | Literal["auto"]')
    """
    if kind is None or kind is type(None):
        return "None"
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " | ".join(map(written, arguments))
    if origin is Literal:
        return f"Literal[{', '.join(map(_text, arguments))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(written, arguments))}]"
    return "Any" if kind is typing.Any else kind.__name__


def _text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def main() -> None:
    for path, text in generated().items():
        if path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(path)


if __name__ == "__main__":
    main()
