"""Write committed results into their pages, and draw the pictures of the evidence: `python tools/evidence.py`.

A picture is made of the numbers that its page prints, so the two cannot disagree. After a page was written anew, or new
results were committed, run it again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

DOCS = Path(__file__).parents[1] / "docs" / "experiments"
PICTURES = DOCS.parent / "pictures" / "evidence"
COLOURS = ("#1b6e3c", "#3b7dd8", "#c46a1b", "#8a4fa3", "#7ab55c", "#b0a090", "#c9a227", "#555555")
MARKS = "oDs^vPX*"  # a mark for each series, so that nothing is said by colour alone
LETTERS = 90  # that fit beside each other in a picture
RESULTS = DOCS.parents[1] / "experiments" / "results"
FROM_RESULTS = ("schedules", "stability", "which-learner")  # pages whose tables are made of `experiments/results`
BEGIN, END = "<!-- written by `python tools/evidence.py` -->\n", "<!-- end -->\n"  # around the tables of such a page
NUMBER = re.compile(r"[-+]?\d*\.?\d+")


class Table:
    """A table of a page: its heading, and cells as text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.columns, _, *self.rows = [_cells(line) for line in lines]

    def names(self, *columns: int) -> list[str]:
        return [", ".join(filter(None, (_plain(row[column]) for column in columns))) for row in self.rows]

    def numbers(self, column: int, part: int = 0) -> list[float]:
        """The first number of each cell; ``part`` is for cells like ``1 / 2 / 3``."""
        return [_number(row[column].split(" / ")[part]) for row in self.rows]


def tables(page: str, heading: str = "") -> list[Table]:
    """The tables of a page, of one part of it if a heading is named."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    if heading:
        text = re.split(r"^#+ ", text.partition(heading)[2], maxsplit=1, flags=re.MULTILINE)[0]
    return [Table(found.splitlines()) for found in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]


@cache
def concluded(experiment: str) -> tuple[str, Any]:
    """How much of the full form of an experiment is committed, and what it comes to."""
    from privet_experiments.registry import entry
    from privet_experiments.store import read_lines

    _, kept = read_lines(RESULTS / f"{experiment}.full.jsonl")
    grid = entry(experiment).form("full")
    if (peers := RESULTS / f"{experiment}-peers.jsonl").exists():
        grid = replace(grid, peers=str(peers))
    minutes = sum(line["seconds"] for line in kept) / 60
    cost = f"{len(kept):,} of {len(grid.jobs()):,} jobs, {minutes:.0f} minutes of a processor."
    return cost, grid.conclude([line["job"] | line["found"] for line in kept])


def written(experiment: str) -> str:
    """The page of an experiment, with the tables of what is committed of its full form."""
    cost, found = concluded(experiment)
    parts = [*("\n".join(wrap(note, 120)) for note in (cost, *found.notes))]
    parts += [f"### {table.title}\n\n{table.to_markdown()}" for table in found.tables]
    text = (DOCS / f"{experiment}.md").read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "\n" + "\n\n".join(parts) + "\n\n" + END + rest.partition(END)[2]


def own_figure(experiment: str) -> Any:
    """The figure that an experiment draws of its committed results."""
    (figure,) = concluded(experiment)[1].figures
    names = list(dict.fromkeys(point.x for one in figure.series for point in one.points))
    series = {one.name: {point.x: point.y for point in one.points} for one in figure.series}
    heights = {name: [found.get(x, np.nan) for x in names] for name, found in series.items()}
    return dots(names, heights, f"{figure.title}: {figure.up}")


def dots(names: Sequence[str], series: dict[str, Sequence[float]], label: str) -> Any:
    """A row for each name, with a mark for each series: many rows fit on a screen."""
    _, ax = plt.subplots(figsize=(7, 1 + 0.24 * len(names)), layout="constrained")
    places, step = np.arange(len(names)), 0.5 / len(series)
    for number, (name, values) in enumerate(series.items()):
        height = places + (number - (len(series) - 1) / 2) * step
        ax.plot(values, height, MARKS[number], color=COLOURS[number], markersize=4.5, label=name)
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_axisbelow(True)
    for place in places[1:]:
        ax.axhline(place - 0.5, color="#eeeeee", linewidth=0.8, zorder=0)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.tick_params(axis="y", length=0)
    return _finished(ax, xlabel=label)


def lines(places: Sequence[float], series: dict[str, Sequence[float]], label: str) -> Any:
    """A line a series, over epsilon."""
    _, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    for number, (name, values) in enumerate(series.items()):
        ax.plot(places, values, f"{MARKS[number]}-", color=COLOURS[number], markersize=4.5, label=name)
    ax.set_xscale("log")
    ax.set_xticks(places, [f"{place:g}" for place in places])
    ax.minorticks_off()
    return _finished(ax, xlabel="epsilon", ylabel=label)


def over_epsilon(table: Table, label: str, names: Sequence[int], first: int, most: int = 8) -> Any:
    """A line for each row, whose cells are for growing epsilons from the column ``first`` on."""
    places = [_number(column) for column in table.columns[first:]]
    values = zip(*map(table.numbers, range(first, len(table.columns))), strict=True)
    series = list(zip(table.names(*names), values, strict=True))
    return lines(places, dict(series[:most]), label)


def accuracy() -> Any:
    return over_epsilon(tables("accuracy", "The exact tree, also at epsilon 0.01")[0], "accuracy %", (0,), 1)


def additive() -> Any:
    table = tables("additive", "Five tables, five folds")[0]
    rows = [row for row in table.rows if _plain(row[0]) == "additive"]
    places = [_number(row[1]) for row in rows]
    series = {table.columns[c]: [_number(row[c]) for row in rows] for c in range(2, len(table.columns))}
    return lines(places, series, "AUC")


def audits() -> Any:
    (table, *_) = tables("audits")
    rows = [row for row in table.rows if NUMBER.fullmatch(row[3]) and row[2].startswith("epsilon")][:16]
    names = [f"{_plain(row[0])}, {row[1]}" for row in rows]
    series = {"promised": [_number(row[2]) for row in rows], "attained": [_number(row[3]) for row in rows]}
    return dots(names, series, "loss, epsilon")


def bai() -> Any:
    return over_epsilon(tables("bai", "Accuracy against epsilon")[0], "accuracy %, first table", (0,), 2)


def comparison() -> Any:
    table = tables("comparison", "Accuracy %: exact against the others")[0]
    series = {f"epsilon {e}": table.numbers(2, part) for part, e in enumerate(("0.01", "0.1", "1", "10"))}
    return dots(table.names(0), series, "exact is ahead by points of accuracy, mean over the tables")


def fig81() -> Any:
    first, second, *_ = tables("fletcher-fig81")  # one table in two parts
    series = {first.columns[4]: first.numbers(4)} | {second.columns[c]: second.numbers(c) for c in (1, 2, 3)}
    return dots(first.names(0), series, "accuracy %")


def forecast() -> Any:
    (table, *_) = tables("forecast")
    series = {"points lost": table.numbers(4), "foreseen, medium signal": table.numbers(6)}
    return dots(table.names(0, 1, 2), series, "points of accuracy lost to noise")


def forest_claims() -> Any:
    (table, *_) = tables("forest-claims")
    rows = [row for row in table.rows if row[1] == "1"]
    series = {"largest class": [_number(row[2]) for row in rows], "random-forest": [_number(row[3]) for row in rows]}
    return dots([_plain(row[0]) for row in rows], series, "accuracy %, epsilon 1")


def knowledge() -> Any:
    table = tables("knowledge", "Figures 9.1 and 9.2")[0]
    return dots(table.names(0), {"epsilon 2": table.numbers(1), "epsilon 0.5": table.numbers(2)}, "Jaccard with CART")


def shapes() -> Any:
    table = tables("shapes", "A part of it")[0]
    series = {table.columns[c]: table.numbers(c) for c in (2, 3, 4)}
    return dots(table.names(0, 1), series, "accuracy %")


DRAWN = {
    "accuracy": accuracy,
    "additive": additive,
    "audits": audits,
    "bai": bai,
    "comparison": comparison,
    "fletcher-fig81": fig81,
    "forecast": forecast,
    "forest-claims": forest_claims,
    "knowledge": knowledge,
    "shapes": shapes,
    **{name: partial(own_figure, name) for name in FROM_RESULTS},
}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _plain(cell: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("`", "").replace("*", "")


def _number(cell: str) -> float:
    found = NUMBER.search(_plain(cell).replace(",", "").replace("−", "-"))
    return float(found[0]) if found else float("nan")


def _finished(ax: Any, **labels: str) -> Any:
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
    longest = max(len(name) for name in ax.get_legend_handles_labels()[1])
    ax.figure.legend(frameon=False, loc="outside upper left", ncols=LETTERS // (longest + 6))  # a mark and gaps are six
    return ax


def main() -> None:
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "privet", "svg.fonttype": "none", "font.size": 9})
    PICTURES.mkdir(parents=True, exist_ok=True)
    for experiment in FROM_RESULTS:
        (DOCS / f"{experiment}.md").write_text(written(experiment), "utf-8")
    for name, draw in DRAWN.items():
        figure = draw().figure
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)
        print("wrote", PICTURES / f"{name}.svg")


if __name__ == "__main__":
    main()
