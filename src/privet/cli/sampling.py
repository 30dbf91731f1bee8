"""``privet audit --sample`` and ``--object``: audits by many fits, of recipes and of learners of other libraries."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from privet.cli.output import Bar, print_json, print_rich, progress, say
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.audit import SampleResult
    from privet.recipes.recipe import Recipe


@dataclass(frozen=True)
class Effort:
    """The options of a sampled audit."""

    epsilon: Fraction
    delta: Fraction
    alpha: float
    seconds: float
    neighbours: str
    processes: int
    max_fits: int | None
    resume: Path | None

    def options(self, advance: Bar) -> dict[str, Any]:
        return {
            "alpha": self.alpha,
            "seconds": self.seconds,
            "neighbours": self.neighbours,
            "processes": self.processes,
            "max_fits": self.max_fits,
            "resume": self.resume,
            "progress": advance,
        }


def sample_recipes(chosen: list[Recipe], effort: Effort, as_json: bool) -> None:
    """Audit recipes one after the other. Exit code 1 if one that promises privacy breaks its promise."""
    from privet.audit.sampling.recipes import RecipeFit, recipe_pairs
    from privet.audit.sampling.run import watch

    results: list[SampleResult] = []
    # Together they alarm falsely with probability alpha at most.
    each = replace(effort, alpha=effort.alpha / len(chosen))
    for recipe in chosen:
        name = f"{recipe.info.name} ({recipe.variant})"
        delta = effort.delta or recipe.loss(effort.epsilon).delta
        make = RecipeFit(recipe, effort.epsilon, effort.neighbours)
        folder = effort.resume and effort.resume / f"{recipe.info.name}-{recipe.variant}"
        repeat = f"privet audit --sample {recipe.info.name} --variant {recipe.variant} --epsilon {effort.epsilon}"

        def start(advance: Bar, make: Any = make, delta: Any = delta, name: str = name, folder: Any = folder,
                  repeat: str = repeat) -> Any:  # fmt: skip
            options = replace(each, resume=folder).options(advance)
            pairs = recipe_pairs(effort.neighbours, make.recipe.predicts)
            return watch(make, pairs, effort.epsilon, delta, function=True, name=name, repeat=repeat, **options)

        results.append(_follow(start, name, as_json, results))
    _show(results, as_json)
    if any(
        one.verdict == "violated" and two.variant not in two.unsound for one, two in zip(results, chosen, strict=True)
    ):
        raise typer.Exit(1)


def sample_object(target: str, pairs: str | None, function: bool, effort: Effort, as_json: bool) -> None:
    """Audit what ``module:factory`` names. Exit code 1 if it breaks its promise."""
    from privet.audit.sampling.run import watch

    make = load(target, "object")
    tables = None if pairs is None else load(pairs, "pairs")
    tables = tables() if callable(tables) else tables
    flags = f"{'--function ' if function else ''}{f'--pairs {pairs} ' if pairs else ''}"
    repeat = f"privet audit --object {target} {flags}--epsilon {effort.epsilon}"
    result = _follow(
        lambda advance: watch(
            make, tables, effort.epsilon, effort.delta, function=function, name=target, repeat=repeat,
            **effort.options(advance),
        ),
        target,
        as_json,
        [],
    )  # fmt: skip
    _show([result], as_json)
    if result.verdict == "violated":
        raise typer.Exit(1)


def _follow(start: Callable[[Bar], Any], name: str, as_json: bool, before: list[SampleResult]) -> SampleResult:
    """Run an audit to its end. Ctrl-C shows what is proved so far, and then ends the command."""
    latest: SampleResult | None = None
    try:
        with progress(f"auditing {name}") as advance:
            for so_far in start(advance):
                latest = so_far
    except KeyboardInterrupt:
        _show([*before, *([latest] if latest is not None else [])], as_json)
        say("stopped: these bounds hold, but more fits could have shown more")
        raise
    assert latest is not None
    return latest


def load(target: str, parameter: str) -> Any:
    """What ``module:name`` names; modules of the current folder are found too."""
    module, colon, name = target.partition(":")
    fix = "write module:name, with a module that Python can import from here"
    if not colon or not module or not name:
        raise ParameterError(parameter=parameter, problem=f"is {target!r}", fix=fix)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ParameterError(parameter=parameter, problem=f"{target!r} is not there ({error})", fix=fix) from error
    return found


def _show(results: list[SampleResult], as_json: bool) -> None:
    if as_json:
        print_json({"results": [result.to_dict() for result in results]})
        return
    from rich.markup import escape

    for result in results:
        colour = "red" if result.verdict == "violated" else "green"
        print_rich(f"[bold {colour}]{escape(result.name)}[/]\n{escape(str(result))}")
