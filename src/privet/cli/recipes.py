"""The recipes for people: a short list, and a page for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from privet.cli.options import RESERVED
from privet.recipes.registry import NUMBERS

if TYPE_CHECKING:
    from privet.recipes.recipe import Recipe

MARK, BROKEN = "*", "†"


@dataclass(frozen=True)
class Setting:
    """A parameter of a recipe: its option, its default, its range and its effect."""

    option: str
    default: str
    takes: str
    explanation: str


def listed(known: Sequence[type[Recipe]]) -> Iterator[Any]:
    """A line for each recipe, the recommended ones first, and the next command."""
    from rich import box
    from rich.table import Table as Grid

    grid = Grid("recipe", "grows", "", "promise", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in grid.columns[:3]:
        column.no_wrap = True
    recommended = [recipe for recipe in known if recipe.info.recommended]
    for recipe in (*recommended, *(recipe for recipe in known if recipe not in recommended)):
        bold = "bold" if recipe in recommended else None
        mark = f" {MARK}" if recipe in recommended else ""
        grid.add_row(recipe.info.name + mark, _kind(recipe), recipe.info.title, promise(recipe), style=bold)
    yield grid
    for recipe in recommended:
        yield f"{MARK} recommended: {recipe.info.name} for {recipe.info.recommended}"
    yield f"{BROKEN} not private as published; all but those marked none have a sound variant, the default"
    yield f"Where the label is a number: {', '.join(NUMBERS)}"
    yield "More about one: privet recipes NAME"


def _kind(recipe: type[Recipe]) -> str:
    if recipe.makes == "additive":
        return "curves"
    return "tree" if recipe.info.trees == "1" else "forest"


def promise(recipe: type[Recipe]) -> str:
    """The promise of a recipe, with a mark if the published variant has none."""
    from privet.recipes.recipe import PURE, PURE_OR_DELTA

    sound = (what for variant, what in recipe.info.guarantee.items() if variant not in recipe.unsound)
    kept = [PURE if what == PURE_OR_DELTA else what for what in sound]
    kept += ["or a delta"] if any(one.name == "delta" for one in fields(recipe)) else []
    broken = [BROKEN] if recipe.unsound else []
    return " ".join([", ".join(dict.fromkeys(kept)) or "none", *broken])


def explained(recipe: type[Recipe]) -> Iterator[Any]:
    from rich.table import Table as Grid

    info = recipe.info
    recommended = f"\nRecommended for {info.recommended}." if info.recommended else ""
    yield f"[bold]{info.name}[/]: {info.title}{recommended}\n"
    grid = Grid(box=None, show_header=False, pad_edge=False)
    facts = {
        "source": info.citation,
        "budget": f"{info.budget} (B is epsilon)",
        "chooses tests": info.chooses,
        "trees": info.trees,
        "depth": info.depth,
        "numbers": info.numeric,
    }
    for variant, what in info.guarantee.items():
        reason = recipe.unsound.get(variant)
        facts[f"--variant {variant}"] = f"NOT PRIVATE: {reason}" if reason else what
    if info.errata:
        facts["errata"] = info.errata
    for heading, text in facts.items():
        grid.add_row(heading, text)
    yield grid
    settings = Grid("option", "default", "takes", "", title="Parameters", title_justify="left", box=None)
    settings.columns[0].no_wrap = True
    for one in parameters(recipe):
        settings.add_row(one.option, one.default, one.takes, one.explanation)
    yield ""
    yield settings


def parameters(recipe: type[Recipe]) -> list[Setting]:
    """The parameters, as the recipe declares them."""
    from privet.recipes.parameters import KEY

    found = []
    for field in fields(recipe):
        if field.name != "variant":
            option = RESERVED.get(field.name, f"--set {field.name}=")
            declared = field.metadata.get(KEY)
            takes, help = (declared.takes, declared.help) if declared else ("", "")
            found.append(Setting(option, str(field.default), takes, help.replace("``", "")))
    return found
