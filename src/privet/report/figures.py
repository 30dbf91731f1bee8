"""Figures for notebooks and papers with matplotlib (``pip install 'privet[plots]'``): trees, trade-offs, budgets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet.bidi import bare, isolated, shortened
from privet.errors import ParameterError
from privet.estimators.base import SchemaClassifier
from privet.evaluation.cross_validation import Evaluation
from privet.models.curves import Curve, ShownSum
from privet.models.intervals import Z
from privet.models.model import Model
from privet.models.released import Released
from privet.models.shown import ShownTree
from privet.planning.pictures import INK
from privet.privacy.certificate import Certificate
from privet.privacy.ledger import Ledger
from privet.promise import spending
from privet.report.picture import BOX, LETTERS, MARK, PADDING, Box, Layout
from privet.schema import Schema

DOTS = 100  # dots per inch of a figure made here
LINES, EDGE, GREEN, SOFT, GREY = "#9aa79c", "#23633a", "#23633a", "#e7f1e8", "#6b746c"
MARKS = (INK[0], INK[2], INK[1], *INK[3:])  # of classes: the first two differ most
MOST_NODES = 150  # in a figure that is readable on paper


def plot_tree(
    model: SchemaClassifier | Model | Released,
    *,
    number: int = 0,
    max_leaves: int | None = None,
    min_support: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw a tree, from left to right; needs no graphviz.

    Leaves that predict the same are merged, and leaves that noise alone could have made are grey. The noise scale comes
    from the model; for a bare tree it is unknown.

    Parameters
    ----------
    model : fitted classifier, model, forest or tree
    number : which tree of a forest
    max_leaves : the most leaves; the branches with the fewest records are folded into one
    min_support : the fewest records; a branch whose leaves all have fewer is not opened
    ax : matplotlib axes, optional; by default a figure of the right size is made

    Returns the axes.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> privet.plot_tree(tree).figure.savefig("tree.png")  # doctest: +SKIP
    """
    found = _model_of(model)
    members = found.trees.members
    if not members:
        raise ParameterError(f"model must have a tree to draw, and this is an {found.trees.title}; see plot_shapes")
    if not 0 <= number < len(members):
        raise ParameterError(f"number must be that of a tree, from 0 to {len(members) - 1}, not {number}")
    tree = ShownTree.of(members[number], found.scale, max_leaves=max_leaves, min_support=min_support)
    layout = Layout.of(tree, MOST_NODES)
    if ax is None:
        ax = _new_axes(layout.width / DOTS, layout.height / DOTS, dpi=DOTS)
        ax.figure.subplots_adjust(0, 0, 1, 1)
    ax.set_axis_off()
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)
    shrunk = ax.get_window_extent().width / layout.width
    points = LETTERS * shrunk * 72 / ax.figure.dpi
    for box in layout.boxes:
        corners = layout.branch(box)
        if corners is not None:
            ax.plot(*zip(*corners, strict=True), color=LINES, linewidth=points / 9, zorder=1)
            left, middle = corners[-1]
            ax.text(left - 6, middle - 4, _drawn(box.answer), ha="right", fontsize=0.85 * points, color=GREY)
        _draw_box(ax, box, layout.left(box), points)
    return ax


def _draw_box(ax: Any, box: Box, left: float, points: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    rounded = f"round,pad=0,rounding_size={BOX / 2 if box.leaf else 4}"
    fill, edge = ("white", LINES) if box.leaf or box.place.cut_off else (SOFT, EDGE)
    corner = (left, box.middle - BOX / 2)
    look: dict[str, Any] = {"facecolor": fill, "edgecolor": edge, "linewidth": points / 10, "zorder": 2}
    look |= {"linestyle": (0, (3, 3))} if box.faint else {}
    ax.add_patch(FancyBboxPatch(corner, box.width, BOX, boxstyle=rounded, **look))
    if box.leaf:
        colour = MARKS[box.code % len(MARKS)]
        ax.add_patch(Rectangle((left + 9, box.middle - 5), 10, 10, facecolor=colour, zorder=3))
    start = left + PADDING + (MARK if box.leaf else 0)
    words = _drawn(f"{box.short} {box.counted}".rstrip())
    ink = GREY if box.faint else "black"
    ax.text(start, box.middle, words, va="center_baseline", fontsize=points, color=ink, zorder=3, parse_math=False)


ERRORS = {"accuracy": "errors, %", "R2": "variance left unexplained, %"}  # what is left of a measure


class Point(NamedTuple):
    """The accuracy of a method at an epsilon, with its standard deviation or error."""

    method: str
    epsilon: float
    accuracy: float
    spread: float = 0.0


def pareto(points: Iterable[Point]) -> list[Point]:
    """The Pareto front: points that no other beats in accuracy without more epsilon.

    >>> [p.method for p in pareto([Point("a", 0.1, 0.8), Point("b", 0.1, 0.7), Point("b", 1, 0.9), Point("a", 1, 0.8)])]
    ['a', 'b']
    """
    best, found = -1.0, []
    for point in sorted(points, key=lambda point: (point.epsilon, -point.accuracy)):
        if point.accuracy > best:
            best = point.accuracy
            found.append(point)
    return found


def plot_tradeoff(points: Evaluation | Iterable[Any], *, limits: dict[str, float] | None = None, ax: Any = None) -> Any:
    """Draw what privacy costs: the error of each method against epsilon, and the Pareto front.

    Friedman and Schuster (KDD 2010, Figure 2) judge methods by this picture, for a given number of records. A point on
    the front can be made more private only with more errors, and more accurate only with less privacy.

    Parameters
    ----------
    points : (method, epsilon, accuracy) or (method, epsilon, accuracy, spread), accuracies between 0 and 1; or the
        result of ``privet.evaluation.cross_validation.evaluate``, whose references become the limits; of numbers, R2
    limits : accuracies that do not depend on epsilon, by name, such as that of the majority class
    ax : matplotlib axes, optional

    Returns the axes.
    """
    errors_text = ERRORS["accuracy"]
    if isinstance(points, Evaluation):
        scores = (*points.results, *points.references)
        errors_text = ERRORS[scores[0].measure] if scores else errors_text
        limits = {score.recipe: score.mean for score in points.references} | (limits or {})
        points = [(s.recipe, s.epsilon, s.mean, s.std) for s in points.results]
    given = [Point(*point) for point in points]
    if not given or any(point.epsilon <= 0 for point in given):
        raise ParameterError("points is empty, or has an epsilon that is not above 0; give (method, epsilon, accuracy)")
    ax = _new_axes(7, 4.5) if ax is None else ax
    methods = list(dict.fromkeys(point.method for point in given))
    for place, method in enumerate(methods):
        mine = sorted(point for point in given if point.method == method)
        errors = [100 * (1 - point.accuracy) for point in mine]
        spreads = [100 * point.spread for point in mine]
        look = {"color": INK[place % len(INK)], "marker": "o", "markersize": 5, "capsize": 2, "elinewidth": 0.8}
        ax.errorbar(
            [p.epsilon for p in mine], errors, spreads if any(spreads) else None, label=method, zorder=3, **look
        )
    front = [(point.epsilon, 100 * (1 - point.accuracy)) for point in pareto(given)]
    wide = {
        "color": "#cdd8cf",
        "linewidth": 11,
        "solid_capstyle": "round",
        "marker": "o",
        "markersize": 11,
        "zorder": 1,
    }
    ax.plot(*zip(*front, strict=True), label="best of all", **wide)
    for style, (name, accuracy) in zip((":", "--", "-.") * len(limits or {}), (limits or {}).items(), strict=False):
        ax.axhline(100 * (1 - accuracy), color=GREY, linestyle=style, linewidth=1, label=name, zorder=2)
    epsilons = sorted({point.epsilon for point in given})
    ax.set_xscale("log")
    ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    ax.minorticks_off()
    ax.set_xlabel("epsilon (less is more private)")
    ax.set_ylabel(errors_text)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_shapes(model: SchemaClassifier | Model | Released, *, most: int = 12) -> Any:
    """Draw the curves of an additive model, the most important first, with their noise.

    Returns the figure.
    """
    found = _model_of(model)
    section = next(found.sections())
    if not isinstance(section, ShownSum):
        raise ParameterError(f"model must be an additive one, as AdditiveClassifier fits, not a {found.trees.title}")
    curves = section.curves[: max(most, 1)]
    columns = min(3, max(len(curves), 1))
    rows = max(-(-len(curves) // columns), 1)
    first = _new_axes(3.6 * columns, 2.5 * rows)
    figure = first.figure
    first.remove()
    for place, curve in enumerate(curves):
        _draw_curve(figure.add_subplot(rows, columns, place + 1), section.schema, curve)
    return figure


def _draw_curve(ax: Any, schema: Schema, curve: Curve) -> None:
    """Amounts, log-odds of the second class, or a line for each class: stairs for numbers, points for categories."""
    reach = Z * curve.deviation
    labels = (schema.label.name,) if schema.predicts_number else schema.classes
    names = labels[-1:] if curve.values.shape[1] == 1 else labels
    for column, (name, values) in enumerate(zip(names, curve.values.T, strict=True)):
        colour = MARKS[(column if len(names) > 1 else 1) % len(MARKS)]
        if curve.starts is None:
            written = [_drawn(shortened(one, 16)) for one in curve.categories]
            ax.errorbar(values, written, xerr=reach, fmt="o", markersize=4, color=colour, label=_drawn(name))
            continue
        known = ~np.isnan(curve.starts)
        attribute = schema.attributes[schema.index(curve.attribute)]
        edges = np.append(curve.starts[known], getattr(attribute, "high", np.nan))
        ax.stairs(values[known], edges, baseline=None, color=colour, label=_drawn(name))
        ax.fill_between(edges[:-1], values[known] - reach, values[known] + reach, step="post", color=colour, alpha=0.25)
    if curve.starts is None:
        ax.invert_yaxis()
        ax.tick_params("y", labelsize="x-small")
    (ax.axvline if curve.starts is None else ax.axhline)(0, color=LINES, linewidth=0.8, zorder=0)
    ax.set_title(_drawn(curve.attribute), fontsize="medium", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    if len(names) > 1:
        ax.legend(frameon=False, fontsize="x-small")


def plot_ledger(ledger: Ledger | Certificate, *, ax: Any = None) -> Any:
    """Draw what was spent on what and, for a ledger, what is left.

    Returns the axes.
    """
    certificate = ledger.certificate() if isinstance(ledger, Ledger) else ledger
    parts = [(spent.what, float(spent.adds_epsilon)) for spent in spending(certificate) if spent.adds_epsilon]
    parts += [("left", float(ledger.left.epsilon))] if isinstance(ledger, Ledger) else []
    ax = _new_axes(7, 1.2 + 0.34 * len(parts)) if ax is None else ax
    start = 0.0
    for line, (what, amount) in enumerate(parts):
        left = what == "left" and line == len(parts) - 1 and isinstance(ledger, Ledger)
        look = {"facecolor": "white", "edgecolor": LINES, "hatch": "///"} if left else {"color": GREEN}
        ax.barh(line, amount, left=start, height=0.62, **look)
        ax.annotate(f" {amount:.4g}", (start + amount, line), va="center", fontsize="small", color=GREY)
        start += amount
    ax.set_yticks(range(len(parts)), [_drawn(what) for what, _ in parts])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.12 * start or 1)
    ax.set_xlabel("epsilon")
    ax.set_title("NOT differentially private" if not certificate.private else "", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _drawn(words: object) -> str:
    """Text for matplotlib, which draws letters one by one: no invisible characters, no isolates."""
    return bare(isolated(words))


def _model_of(given: Any) -> Model:
    """The model of a fitted classifier, or a wrapper around what was released."""
    if isinstance(given, SchemaClassifier):
        check_is_fitted(given, "model_")
    if (found := Model.of(given)) is None:
        raise ParameterError(
            f"model must be a fitted classifier, a model, a forest or a tree, not {type(given).__name__}"
        )
    return found


def _new_axes(width: float, height: float, **options: Any) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ParameterError("a picture needs matplotlib: pip install 'privet[plots]'") from None
    _, ax = pyplot.subplots(figsize=(width, height), layout=None if options else "constrained", **options)
    return ax
