"""Print the tour of :mod:`privet.cli.demo` while it runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from privet.cli import demo

if TYPE_CHECKING:
    from rich.console import Console

    from privet.cli.demo import Tour

WIDTH = 24  # of the bar from 50 % (a coin) to 100 %; the whole line fits 80 columns


def tell(tour: Tour) -> None:
    """Run the steps, and print each as soon as it is done."""
    from rich.console import Console
    from rich.rule import Rule

    from privet.cli.output import progress

    console = Console(highlight=False)
    titles = {
        "asking": f"1. Private questions, from a budget of epsilon = {demo.BUDGET:g}",
        "growing": f"2. A tree to read (epsilon = {demo.TREE:g}), and curves that add up ({demo.CURVES:g})",
        "comparing": "3. What privacy costs: accuracy on fresh patients, bars from 50 %",
        "auditing": "4. Does a method keep its promise? An audit checks",
    }
    shown = {"asking": _answers, "growing": _models, "comparing": _accuracies, "auditing": _audits}
    for what, step in demo.STEPS.items():
        with progress(what):
            step(tour)
        if what == "asking":
            console.print(
                f"{demo.PATIENTS} invented patients of a hospital. What is public is declared: {tour.schema}.\n"
            )
        console.print(Rule(titles[what], align="left"))
        shown[what](console, tour)
    console.print(f"\nAll of it is in {tour.folder}. The tree as a page for anyone: {tour.folder / demo.PAGE}")
    console.print("Next: privet sample -o hospital, then with a table of your own: privet schema draft TABLE -o FILE")


def _answers(console: Console, tour: Tour) -> None:
    from rich.table import Table

    grid = Table("question", "epsilon", "released", "exact (demo only)", box=None, pad_edge=False)
    for answer in tour.answers:
        grid.add_row(answer.question, f"{answer.epsilon:g}", answer.released, answer.exact)
    console.print(grid, "")


def _models(console: Console, tour: Tour) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print(Text(tour.tree), Text(tour.headline), "")
    console.print("The additive model has a curve for each attribute. What moves its scores most:")
    grid = Table(box=None, pad_edge=False, show_header=False)
    most = max(tour.importances.values(), default=1)
    for name, share in tour.importances.items():
        grid.add_row(name, Text("█" * round(WIDTH * share / most), style="green"))
    console.print(grid)
    console.print(f"\nThe journal was closed and opened in between, and remembers: {tour.left} is left. One more tree:")
    console.print(Text(f"  {tour.refusal}", style="red"), "")


def _accuracies(console: Console, tour: Tour) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, show_header=False)
    for one in tour.accuracies:
        for place, (epsilon, share) in enumerate(one.by_epsilon.items()):
            style = "dim" if epsilon is None else ""
            spent = "not private" if epsilon is None else f"epsilon {epsilon:g}"
            bar = Text("█" * round(2 * WIDTH * max(share - 0.5, 0)), style=style or "green")
            grid.add_row("" if place else one.learner, spent, bar, f"{100 * share:.1f} %", style=style)
    console.print(grid, "")


def _audits(console: Console, tour: Tour) -> None:
    for result in tour.audits:
        found = _loss(result["lower_bound"])
        style = "green" if result["verdict"] == "holds" else "bold red"
        console.print(
            f"{result['recipe']} ({result['variant']}) claims epsilon {result['claimed']:g}; on '{result['pair']}' it "
            f"loses at least {found}: [{style}]{result['verdict']}[/]"
        )


def _loss(bound: Any) -> str:
    if not math.isfinite(float(bound)):
        return "an infinite loss"
    return f"{bound:,.0f}" if bound > 100 else f"{bound:.3g}"
