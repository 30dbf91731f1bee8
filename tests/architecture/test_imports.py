"""Imports run one way through the house. This walks all of them, also those inside functions and type checks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SRC = Path(__file__).parents[2] / "src" / "privet"

# What each room may import besides itself. A new top-level module gets its line here first.
BASE = {"addresses", "bidi", "errors", "progress", "kinds", "markup"}
FACTS = BASE | {"schema", "tables", "structure"}
LIBRARY = FACTS | {"privacy", "models", "engines", "growing"}
TOP = LIBRARY | {"promise", "recipes", "work", "asking", "fitting", "estimators", "datasets"}
ASIDE = TOP | {"publishing", "planning", "owner"}
ABOVE = ASIDE | {"evaluation", "rules", "audit", "report", "server", "client"}
SEES: dict[str, set[str]] = {
    "addresses": set(),
    "bidi": set(),
    "errors": set(),
    "progress": {"errors"},
    "kinds": set(),
    "markup": {"bidi"},
    "schema": BASE,
    "tables": BASE | {"schema"},
    "structure": BASE | {"schema"},
    "privacy": FACTS - {"markup"},  # the kernel writes no HTML
    "models": FACTS,
    "datasets": BASE | {"schema", "tables"},
    "engines": FACTS | {"privacy"},
    "growing": FACTS | {"privacy", "models"},
    "promise": BASE | {"privacy", "models"},
    "recipes": LIBRARY,
    "work": FACTS | {"privacy", "models", "engines"},
    "asking": FACTS | {"privacy", "work"},
    "fitting": LIBRARY | {"recipes", "work"},
    "estimators": LIBRARY | {"promise", "recipes", "work", "fitting"},
    "papers": {"estimators"},
    "owner": FACTS,
    "rules": TOP | {"evaluation", "publishing"},  # the loop of publishing and assessing
    "publishing": TOP,
    "planning": TOP,
    "evaluation": ASIDE,
    "audit": ASIDE | {"evaluation", "rules"},
    "report": ASIDE | {"evaluation", "rules"},
    "server": ABOVE - {"server", "client"},
    "client": FACTS | {"privacy", "models", "recipes", "estimators", "promise"},
    "cli": ABOVE | {""},  # "": for the version it prints
}
ANYTHING = {"testing", ""}  # "" is the package's own __init__


class Import(NamedTuple):
    file: Path
    line: int
    importer: str
    imported: str


def room(module: str, package: str) -> str:
    """The first part below the package: `privet.privacy.noise` -> `privacy`, the package itself -> ``."""
    return module.removeprefix(package).lstrip(".").partition(".")[0]


def named_modules(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Every absolute dotted name that an import anywhere in the tree could load."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=name, names=names, level=level):
                base = module.split(".")
                base = base[: len(base) - level + is_package] if level else []
                stem = ".".join([*base, *([name] if name else [])])
                # `from privet import trees` loads a room, `from privet.models import Tree` a name: report the longer.
                yield from ((node.lineno, f"{stem}.{alias.name}") for alias in names)
            case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__")):
                if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                    yield node.lineno, node.args[0].value


def internal_imports(source: Path) -> Iterator[Import]:
    package = source.name
    for file in sorted(source.rglob("*.py")):
        parts = [package, *file.relative_to(source).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        for line, imported in named_modules(ast.parse(file.read_text("utf-8")), module, is_package):
            if imported == package or imported.startswith(package + "."):
                yield Import(file, line, module, imported)


def rooms(source: Path) -> set[str]:
    """The top-level modules and packages; a tool's cache directory is neither."""
    parts = {file.relative_to(source).parts[0] for file in source.rglob("*.py")}
    return {part.removesuffix(".py") for part in parts if not part.startswith(("__", "."))}


def faults(source: Path) -> list[str]:
    """Every import that goes against the table, and every room that has no line in it."""
    package, known = source.name, rooms(source)
    found = [f"{r}: no line in the table of this test" for r in sorted(known - SEES.keys() - ANYTHING)]
    for edge in internal_imports(source):
        here, there = room(edge.importer, package), room(edge.imported, package)
        # `from privet import Schema` goes through __init__, from where every room can be reached.
        there = there if there in known else ""
        if here == there or here in ANYTHING or here not in SEES:
            continue
        if there not in SEES[here]:
            where = f"{edge.file.relative_to(source)}:{edge.line}"
            found.append(f"{where}: {here} may not import {there or package + ' itself'} ({edge.imported})")
    return found


def test_no_back_edge() -> None:
    assert faults(SRC) == []


def outsiders(source: Path, package: str) -> list[str]:
    """Where a package of another distribution is imported."""
    found = []
    for file in sorted(source.rglob("*.py")):
        named = named_modules(ast.parse(file.read_text("utf-8")), "", False)
        found += [f"{file.name}:{line}" for line, name in named if name.partition(".")[0] == package]
    return found


def test_the_product_does_not_know_the_experiments() -> None:
    assert outsiders(SRC, "privet_experiments") == []
    assert outsiders(SRC.parents[1] / "experiments" / "tests", "privet_experiments")  # the walk sees imports


def test_the_walk_covers_the_library() -> None:
    edges = {(room(e.importer, "privet"), room(e.imported, "privet")) for e in internal_imports(SRC)}
    assert {("schema", "errors"), ("privacy", "errors"), ("datasets", "schema")} <= edges


def test_the_table_has_no_circle() -> None:
    left = dict(SEES)
    while ready := {r for r, sees in left.items() if not sees & left.keys()}:
        for r in ready:
            del left[r]
    assert left == {}


def test_models_and_data_never_reach_the_kernel() -> None:
    for start in ("models", "datasets"):
        reached, todo = set(), [start]
        while todo:
            if (r := todo.pop()) not in reached:
                reached.add(r)
                todo.extend(SEES[r])
        assert not reached & {"privacy", "engines", "growing"}


PLANTED = {
    "plain import": ("models/rules.py", "import privet.privacy.ledger\n"),
    "from a module": ("models/rules.py", "from privet.privacy.ledger import Ledger\n"),
    "from the package": ("privacy/noise.py", "from privet import growing\n"),
    "relative": ("schema/facts.py", "from ..structure import splits\n"),
    "relative, two up": ("models/rules.py", "from ..privacy import ledger\n"),
    "relative, in __init__": ("models/__init__.py", "from ..privacy import ledger\n"),
    "inside a function": ("errors.py", "def f():\n    from privet.schema import Schema\n    return Schema\n"),
    "for type checking": ("errors.py", "import typing\nif typing.TYPE_CHECKING:\n    import privet.schema\n"),
    "by string": ("models/rules.py", "import importlib\nx = importlib.import_module('privet.privacy')\n"),
    "a lazy public name": ("models/rules.py", "from privet import Ledger\n"),
    "the off switch": ("growing/greedy/grower.py", "from privet.testing import ZeroNoise\n"),
    "data to the kernel": ("datasets/real.py", "import privet.privacy\n"),
    "the auditor to the tests' tools": ("audit/exact.py", "from privet.testing import ReplayNoise\n"),
    "what is not private": ("growing/greedy/grower.py", "from privet.recipes.unsound.mcmc import Chain\n"),
    "unknown room": ("cupboard.py", ""),
}
SOUND = {
    "__init__.py": "def __getattr__(name):\n    import privet.privacy.ledger\n",
    "errors.py": "import json\n",
    "schema/__init__.py": "from privet.schema.facts import Schema\n",
    "schema/facts.py": "from privet.errors import E\n",
    "structure/splits.py": "from ..schema import Schema\n",
    "privacy/__init__.py": "from .noise import draw\n",
    "privacy/noise.py": "import numpy\nimport privet.structure.splits\n",
    "models/__init__.py": "from privet.models.rules import Rule\nfrom . import rules\n",
    "models/rules.py": "from ..structure.splits import Threshold\n",
    "growing/greedy/grower.py": "from privet import models\nfrom privet.privacy import noise\n",
    "recipes/unsound/mcmc.py": "from privet.growing import grower\n",
    "audit/exact.py": "from privet.privacy import noise\n",
    "testing.py": "import privet.growing.greedy.grower\n",
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    source = tmp_path / "privet"
    for name, text in SOUND.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    return source


def test_a_sound_house_passes(house: Path) -> None:
    assert faults(house) == []


@pytest.mark.parametrize("fault", PLANTED, ids=str)
def test_a_planted_fault_is_found(house: Path, fault: str) -> None:
    name, text = PLANTED[fault]
    (house / name).parent.mkdir(exist_ok=True)
    (house / name).write_text(text)
    found = faults(house)
    assert found
    assert all(Path(name).stem in line or Path(name).parts[0] in line for line in found)
