"""Pictures of what was learned: Figures 9.1 and 9.2 of the thesis, and publishing against growing.

They need matplotlib (``pip install privet[plots]``), which is asked for before anything is computed.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from privet.experiments.anonymising import REFERENCE, Contest
from privet.experiments.bai_pictures import check_matplotlib, save_picture
from privet.experiments.rule_similarity import CART, Figure91

# Colours that colour-blind people can tell apart.
INK = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def picture_of_similarity(folder: str | PathLike[str]) -> Path:
    return Path(folder) / "fletcher-fig91.png"


def picture_of_contest(folder: str | PathLike[str]) -> Path:
    return Path(folder) / "publish-or-grow.png"


def plot_similarity(figure91: Figure91, folder: str | PathLike[str]) -> Path:
    """Jaccard index with CART above, accuracy below; a group of bars for each table, an epsilon a column."""
    points, epsilons = figure91.points, list(dict.fromkeys(p.epsilon for p in figure91.points))
    tables, methods = (list(dict.fromkeys(getattr(p, name) for p in points)) for name in ("table", "method"))
    figure = check_matplotlib()(figsize=(5.2 * len(epsilons), 6.4), dpi=150, layout="constrained")
    grid = np.asarray(figure.subplots(2, len(epsilons), sharex=True, sharey="row")).reshape(2, len(epsilons))
    for column, epsilon in enumerate(epsilons):
        for number, method in enumerate(methods):
            mine = {p.table: p for p in points if (p.method, p.epsilon) == (method, epsilon)}
            place = np.arange(len(tables)) + (number - (len(methods) - 1) / 2) * 0.8 / len(methods)
            bars: dict[str, Any] = {"width": 0.8 / len(methods), "color": INK[number], "label": method}
            if method != CART:
                grid[0, column].bar(place, [mine[t].jaccard for t in tables], **bars)
            grid[1, column].bar(place, [100 * mine[t].accuracy for t in tables], **bars)
        grid[0, column].set_title(f"epsilon {epsilon:g}")
        grid[1, column].set_xticks(range(len(tables)), tables, rotation=20)
        grid[1, column].set_ylim(40, 100)
    grid[0, 0].set_ylabel("Jaccard index with CART's rules")
    grid[1, 0].set_ylabel("accuracy %")
    figure.legend(*grid[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(methods))
    path = picture_of_similarity(folder)
    save_picture(figure, path)
    return path


def plot_contest(contest: Contest, folder: str | PathLike[str]) -> Path:
    """Accuracy against epsilon, a field for each table: published tables dashed, private growing solid."""
    tables = list(dict.fromkeys(one.table for one in contest.results))
    figure = check_matplotlib()(figsize=(5.4 * len(tables), 4.4), dpi=150, layout="constrained")
    fields = np.ravel(figure.subplots(1, len(tables)))
    for axes, table in zip(fields, tables, strict=True):
        ways = list(dict.fromkeys(one.way for one in contest.results if one.table == table))
        for number, way in enumerate(ways):
            mine = [one for one in contest.results if (one.table, one.way) == (table, way)]
            style = ":" if way == REFERENCE else "--" if mine[0].published else "-"
            axes.errorbar(
                [one.epsilon for one in mine],
                [100 * one.accuracy for one in mine],
                [100 * one.error for one in mine],
                label=way,
                linestyle=style,
                color="#000000" if way == REFERENCE else INK[number % len(INK)],
                marker="o",
                capsize=2,
            )
        axes.set_xscale("log")
        axes.set_xlabel("epsilon")
        axes.set_title(table)
    fields[0].set_ylabel("accuracy %")
    figure.legend(*fields[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    path = picture_of_contest(folder)
    save_picture(figure, path)
    return path
