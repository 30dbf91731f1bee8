"""``privet audit``: run a method's real code on tiny neighbouring tables, with all draws scripted or by many fits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.options import Json, parse_epsilon
from privet.cli.output import print_json, print_rich, progress
from privet.cli.sampling import Effort, sample_object, sample_recipes
from privet.errors import ParameterError, RecipeError
from privet.recipes.registry import refuse_unknown

if TYPE_CHECKING:
    from privet.audit import AuditResult
    from privet.progress import Progress
    from privet.recipes.recipe import Recipe

EXAMPLE = (
    "Example: privet audit diffpid3 --epsilon 0.5. By many fits: privet audit --sample greedy-forest --seconds 300. "
    "Another library, from a module of yours: privet audit --object mine:make_forest --pairs mine:pairs --epsilon 1"
)


def audit(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[RECIPE]...", help="The methods; all of them by default.")
    ] = None,
    recipe: Annotated[
        list[str] | None, typer.Option("--recipe", "-r", metavar="R", help="The same as the argument.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="V", help="sound or as-published; all by default.")
    ] = None,
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", metavar="E", parser=parse_epsilon, help="The claimed epsilon.")
    ] = "1",  # type: ignore[assignment]  # read by the parser
    neighbours: Annotated[
        str, typer.Option("--neighbours", metavar="N", help="add-remove or replace-one.")
    ] = "add-remove",
    sample: Annotated[
        bool, typer.Option("--sample", help="Fit many times instead: for what is too large to enumerate.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option("--object", metavar="M:F", help="Audit what F() of module M makes, which has fit(X, y), instead."),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option("--pairs", metavar="M:P", help="With --object: the pairs of tables, or their function."),
    ] = None,
    function: Annotated[
        bool, typer.Option("--function", help="With --object: F is a function of (X, y) whose value is released.")
    ] = False,
    delta: Annotated[
        Fraction, typer.Option("--delta", metavar="D", parser=parse_epsilon, help="The claimed delta.")
    ] = "0",  # type: ignore[assignment]  # read by the parser
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="A", help="By many fits: the probability of a false alarm.")
    ] = 1e-3,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="By many fits: how long, for each method.")
    ] = 600.0,
    max_fits: Annotated[int | None, typer.Option("--max-fits", metavar="N", help="Stop after so many fits.")] = None,
    processes: Annotated[int, typer.Option("--processes", metavar="P", help="How many processes fit.")] = 1,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="DIR", help="Keep all fits in this folder, and go on from what it holds."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Search small neighbouring tables for a loss above the claim. Exit code 1 if a sound variant has one."""
    wanted = [*(names or []), *(recipe or [])]
    refuse_unknown(wanted)
    effort = Effort(epsilon, delta, alpha, seconds, neighbours, processes, max_fits, resume)
    if target is not None:
        if wanted:
            raise ParameterError(parameter="object", problem="audits no recipe", fix="leave the recipes out")
        sample_object(target, pairs, function, effort, as_json)
        return
    if pairs is not None or function:
        raise ParameterError("--pairs and --function need --object")
    if sample:
        sample_recipes(_recipes(wanted, variant, sampled=True), effort, as_json)
        return
    with progress("auditing") as advance:
        chosen = _recipes(wanted, variant)
        results = list(_audit_all(chosen, epsilon, neighbours, advance))
    if as_json:
        print_json({"results": [result.to_dict() for result in results]})
    else:
        print_rich(_grid(results))
    broken = [
        one for one, result in zip(chosen, results, strict=True) if one.variant not in one.unsound and _alarming(result)
    ]
    if broken:
        raise typer.Exit(1)


def _recipes(names: list[str], variant: str | None, *, sampled: bool = False) -> list[Recipe]:
    from privet.audit.exact import as_recipe
    from privet.audit.sampling.recipes import sampled_recipe
    from privet.recipes.registry import recipe_class, recipe_classes

    kinds = map(recipe_class, dict.fromkeys(names)) if names else recipe_classes().values()
    offered = [(kind.info.name, each) for kind in kinds for each in kind.info.variants]
    make = sampled_recipe if sampled else as_recipe
    chosen = [make(recipe, variant=each) for recipe, each in offered if variant in (None, each)]
    if not chosen:
        known = ", ".join(dict.fromkeys(each for _, each in offered))
        raise RecipeError(f"no such variant: {variant!r}; choose {known}")
    return chosen


def _audit_all(chosen: list[Recipe], epsilon: Fraction, neighbours: str, advance: Progress) -> Any:
    from privet.audit import exact

    for done, recipe in enumerate(chosen):
        advance(done, len(chosen))
        yield exact(recipe, claimed=epsilon, neighbours=neighbours)


def _alarming(result: AuditResult) -> bool:
    return result.verdict != "holds"


def _grid(results: list[AuditResult]) -> Any:
    from rich.table import Table

    title = f"Losses found on the zoo of neighbouring tables ({results[0].neighbours})"
    grid = Table("recipe", "variant", "claimed", "lower bound", "verdict", "method", "where", title=title)
    for found in results:
        where = f"{found.pair}: {found.reason}" if found.reason else found.pair
        colour = "red" if _alarming(found) else "green"
        numbers = f"{found.claimed:g}", f"{found.lower_bound:.4g}"
        grid.add_row(found.recipe, found.variant, *numbers, f"[{colour}]{found.verdict}[/]", found.method, where)
    return grid


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(audit)
