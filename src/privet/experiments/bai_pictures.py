"""The pictures of Bai et al. run again: Fig. 3 (the chain's score) and Figs. 4 to 6 (accuracy against epsilon).

They need matplotlib (``pip install privet[plots]``), which is asked for before anything is computed.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from privet.errors import ParameterError
from privet.experiments.bai import BLOCKS, PER_LEVEL, TABLES, Figures
from privet.experiments.bai_chain import Trace
from privet.trees.drafts import Draft

FIGURES = dict(zip(TABLES, (4, 5, 6), strict=True))
# Colours that colour-blind people can tell apart; private methods are solid, published ones darker with their depth.
INK = {"exact": "#0072B2", "exact, multiway": "#56B4E9", "diffpc45": "#009E73", "embedded, exact search": "#000000"}
INK |= dict(zip((PER_LEVEL, *BLOCKS), ("#FDBE85", "#FD8D3C", "#E6550D", "#8C2D04"), strict=True))
TRACE_INK = ("#0072B2", "#D55E00")
SMOOTH = 500  # steps in the running mean of a trace: the chain's buffer


def check_matplotlib() -> Any:
    """matplotlib's figure class; a clear message where it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError(
            "pictures need matplotlib: pip install 'privet[plots]', or leave out the directory for pictures"
        ) from None
    return Figure


def plot_figures(figures: Figures, folder: str | PathLike[str]) -> list[Path]:
    """A picture for every table."""
    written = [picture_of(table, folder) for table in figures.by_table]
    for table, path in zip(figures.by_table, written, strict=True):
        _plot_accuracy(figures, table, path)
    return written


def picture_of(table: str, folder: str | PathLike[str]) -> Path:
    """Where the picture of a table goes."""
    return Path(folder) / f"bai-fig{FIGURES[table]}-{table}.png"


def picture_of_chain(table: str, folder: str | PathLike[str]) -> Path:
    """Where the picture of the chain on a table goes."""
    return Path(folder) / f"bai-fig3-{table}.png"


def save_picture(figure: Any, path: Path) -> None:
    """Whole or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    with Draft(path) as draft:
        draft.write(picture.getvalue())
        draft.publish(replace=True)


def _plot_accuracy(figures: Figures, table: str, path: Path) -> None:
    figure = check_matplotlib()(figsize=(7.5, 5.4), dpi=150, layout="constrained")
    axes = figure.subplots()
    points = figures.by_table[table]
    names = list(dict.fromkeys(point.method for point in points))
    for place, method in enumerate(names):
        mine = [point for point in points if point.method == method]
        aside = 1.05 ** (place - (len(names) - 1) / 2)  # so that error bars do not hide one another
        axes.errorbar(
            [point.epsilon * aside for point in mine],
            [100 * point.accuracy_mean for point in mine],
            [100 * point.accuracy_error for point in mine],
            color=INK[method],
            linestyle="-" if mine[0].private else "--",
            marker="o" if mine[0].private else "s",
            markersize=4,
            linewidth=1.6,
            capsize=2,
            elinewidth=0.8,
            label=method if mine[0].private else f"{method} (not private)",
        )
    first = points[0]
    epsilons = sorted({point.epsilon for point in points})
    axes.set_xscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    axes.set_xlabel("epsilon")
    axes.set_ylabel("accuracy, %")
    axes.set_title(f"{table}: {first.layers} layers, {first.folds} folds x {first.repeats}, ± one standard error")
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend([handle[0] for handle in handles], labels, loc="outside lower center", ncols=2, frameon=False)
    save_picture(figure, path)


def plot_traces(traces: Sequence[Trace], folder: str | PathLike[str]) -> Path:
    """Fig. 3: two chains a panel, each with its running mean."""
    path = picture_of_chain(traces[0].table, folder)
    figure = check_matplotlib()(figsize=(9, 3.8), dpi=150, layout="constrained")
    panels = [traces[start : start + 2] for start in range(0, len(traces), 2)]
    for axes, panel in zip(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True):
        for one, ink in zip(panel, TRACE_INK, strict=False):
            scores = np.array(one.scores)
            axes.plot(scores, color=ink, linewidth=0.5, alpha=0.4)
            window = min(SMOOTH, max(scores.size // 4, 1))
            smooth = np.convolve(scores, np.full(window, 1 / window), mode="valid")
            steps = np.arange(smooth.size) + window - 1
            axes.plot(steps, smooth, color=ink, linewidth=1.4, label=f"epsilon = {one.epsilon:g}")
            axes.plot(scores.size - 1, smooth[-1], "o", color=ink, markersize=4)
        axes.set_xlabel("steps")
        axes.grid(linewidth=0.4, alpha=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="best", framealpha=0.9)
    figure.supylabel("score of the tree", fontsize="medium")
    figure.suptitle(f"Score of the chain on {traces[0].table} and its running mean; a dot where it stops")
    save_picture(figure, path)
    return path
