"""The picture of a forecast: points lost against epsilon. Needs matplotlib (``pip install privet[plots]``)."""

from __future__ import annotations

import io
from typing import Any

from privet.errors import ParameterError
from privet.planning.forecast import Forecast

# Safe for colour-blind people; more learners reuse them.
INK = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def check_matplotlib() -> Any:
    """matplotlib's figure class, or an error that tells how to install it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("a picture needs matplotlib: pip install 'privet[plots]', or leave out --plot") from None
    return Figure


def draw(forecast: Forecast) -> bytes:
    """Draw a forecast as PNG."""
    figure = check_matplotlib()(figsize=(7.5, 5), dpi=150, layout="constrained")
    axes = figure.subplots()
    for place, learner in enumerate(forecast.learners):
        mine = forecast.of(learner)
        aside = 1.04 ** (place - (len(forecast.learners) - 1) / 2)  # so that error bars do not hide one another
        axes.errorbar(
            [line.epsilon * aside for line in mine],
            [line.lost for line in mine],
            [line.error for line in mine],
            color=INK[place % len(INK)],
            marker="o",
            markersize=4,
            linewidth=1.6,
            capsize=2,
            elinewidth=0.8,
            label=learner,
        )
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(forecast.epsilons, [f"{epsilon:g}" for epsilon in forecast.epsilons])
    axes.minorticks_off()
    axes.set_xlabel("epsilon")
    axes.set_ylabel(f"points of {forecast.measure} that privacy costs")
    axes.set_title(
        f"{forecast.schema}: about {forecast.records:,} records, {forecast.signal.name} signal\n"
        f"simulated, {forecast.worlds} invented tables, ± one standard error",
        fontsize="medium",
    )
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()
