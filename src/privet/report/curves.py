"""The curves of an additive model as SVG: how much each value of an attribute raises or lowers the odds.

Also its tables, for pairs of attributes: a heat map of what they add.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privet.bidi import isolated, shortened
from privet.markup import Html, join, tag
from privet.models.additive import Part
from privet.models.curves import Curve
from privet.models.intervals import Z
from privet.models.number_tree import number_words
from privet.report.axis import Axis, axis_words
from privet.schema import Categorical, Schema

Corner = tuple[str, str]

WIDTH, HEIGHT = 360, 170
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 8, 24  # margins for the axes
LINE = 22  # pixels between two categories
LARGEST = 700.0  # log-odds whose factor a double can hold
NAMES = 150  # pixels for the names of categories
MOST_CATEGORIES = 12  # in a picture: those with the largest effect
PAIR_NAMES, PAIR_TOP, PAIR_BOTTOM = 104, 6, 40  # pixels for names around the heat map of a pair
ROW = 16
STRENGTHS = 20  # shades of a colour: more cannot be told apart
MOST_ROW_NAMES = 12  # beside a heat map
NAME_BELOW = 52  # pixels that a name below a heat map takes at least, with its gap
LETTER = 6.5  # the mean width of a letter of a tick, in pixels
FACTORS = (0.001, 0.01, 0.1, 1 / 3, 1, 3, 10, 100, 1000)


@dataclass(frozen=True, slots=True)
class Scale:
    """The mapping from log-odds to pixels, shared by all curves of a model so that they can be compared."""

    low: float
    high: float
    number: bool = False
    """Whether values are amounts of a number, not log-odds."""

    @classmethod
    def of(cls, curves: Sequence[Curve], *, number: bool = False) -> Scale:
        reach = max((float(np.abs(curve.values).max()) + Z * curve.deviation for curve in curves), default=1.0)
        reach = max(reach, np.finfo(float).tiny if number else 0.5)
        return cls(-reach, reach, number)

    def words(self, added: float) -> str:
        """What a value adds, in words."""
        return amount_words(added) if self.number else odds_words(added)

    def part(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round factors or amounts in range, at most five."""
        if self.number:
            step = 10.0 ** math.floor(math.log10(self.high))
            step = next(size * step for size in (5, 2, 1) if size * step <= self.high)
            yield from ((times * step, amount_words(times * step)) for times in (-1, 0, 1))
            return
        inside = [factor for factor in FACTORS if self.low <= math.log(factor) <= self.high]
        if len(inside) > 5:
            inside = [factor for factor in inside if factor not in (1 / 3, 3)]
        yield from ((math.log(factor), factor_words(factor)) for factor in inside)


def factor_words(factor: float) -> str:
    """A factor of the odds in words.

    >>> factor_words(3), factor_words(1 / 3), factor_words(1)
    ('× 3', '÷ 3', '× 1')
    """
    return f"× {_short(factor)}" if factor >= 1 else f"÷ {_short(1 / factor)}"


def _short(number: float) -> str:
    return f"{number:.2g}" if number < 99.5 or number >= 1e9 else f"{number:,.0f}"


def odds_words(added: float) -> str:
    """The same for a change of log-odds, whose factor may exceed a double."""
    return factor_words(math.exp(min(max(added, -LARGEST), LARGEST)))


def amount_words(added: float) -> str:
    """An amount that is added, in words.

    >>> amount_words(12345.0), amount_words(-0.5), amount_words(0.0)
    ('+12,300', '-0.5', '+0')
    """
    rounded = float(f"{added + 0.0:.3g}")
    return f"+{number_words(rounded)}" if rounded >= 0 else number_words(rounded)


def shape_picture(curve: Curve, high: float | None, scale: Scale) -> Html:
    """Draw a curve; ``high`` is the upper bound of a number, None for categories."""
    if curve.starts is None or high is None:
        return _categories(curve, scale)
    return _number(curve, curve.starts, high, scale)


def _number(curve: Curve, starts: np.ndarray, high: float, scale: Scale) -> Html:
    known = ~np.isnan(starts)
    edges = np.append(starts[known], high)
    axis = axis_of(curve, high, LEFT, WIDTH - RIGHT)

    def down(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - scale.part(value))

    grid = [
        join((
            tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=_at(down(tick)), y2=_at(down(tick)), class_=_grid(tick)),
            tick_text(words, LEFT - 6, _at(down(tick) + 4), "end"),
        ))
        for tick, words in scale.ticks()
    ]  # fmt: skip
    below = [_below(place, words, axis) for place, words in axis.ticks()]
    lines = []
    for column, values in enumerate(curve.values[known].T):
        kind = _colour(curve, column)
        band = Z * curve.deviation
        upper = list(_steps(edges, values + band, axis.across, down))
        lower = list(_steps(edges, values - band, axis.across, down))
        lines.append(tag("path", d=f"{_path([*upper, *reversed(lower)])}Z", class_=f"band {kind}"))
        clear = _clear(curve, values)
        for chosen, drawn in ((~clear, f"curve unsure {kind}"), (clear, f"curve {kind}")):
            runs = []
            for i, j in _runs(chosen):
                corners = list(_steps(edges[i : j + 1], values[i:j], axis.across, down))
                joined = [(corners[0][0], _at(down(float(values[i - 1]))))] if i else []
                runs.append(_path([*joined, *corners]))
            if runs:
                lines.append(tag("path", d="".join(runs), class_=drawn))
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    return tag("svg", *grid, *below, *lines, role="img", aria_label=_title(curve), class_="shape", **size)


def axis_of(curve: Curve, high: float, left: float, right: float) -> Axis:
    """The axis of a number: by its knots if the curve has some, else by its cuts."""
    assert curve.starts is not None
    starts = curve.starts[~np.isnan(curve.starts)]
    inside = [knot for knot in curve.knots if starts[0] < knot < high] if curve.knots else starts.tolist()
    return Axis.of([float(starts[0]), *inside, high], left, right)


def hidden(curve: Curve) -> bool:
    """Whether the noise alone could have made the curve."""
    return bool(np.abs(curve.values - curve.values.mean(axis=0)).max() <= Z * curve.deviation)


def _clear(curve: Curve, values: np.ndarray) -> np.ndarray:
    """Where the noise alone could not have made what a value adds."""
    return np.zeros(len(values), dtype=bool) if hidden(curve) else np.abs(values) > Z * curve.deviation


def _runs(chosen: np.ndarray) -> Iterator[tuple[int, int]]:
    """The start and the end of each run of chosen places."""
    changes = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    yield from zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)


def _below(place: float, words: str, axis: Axis) -> Html:
    """A number below the axis, with a mark above it."""
    anchor = "end" if place >= axis.right else "middle" if place > axis.left else None
    mark = tag("line", x1=_at(place), x2=_at(place), y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 4, class_="grid")
    return join((mark, tick_text(words, _at(place), HEIGHT - 6, anchor)))


def _steps(edges: np.ndarray, values: np.ndarray, across: object, down: object) -> Iterator[Corner]:
    """The corners of a staircase, with equal steps merged."""
    assert callable(across)
    assert callable(down)
    last = None
    for i, value in enumerate(values):
        y = _at(down(float(value)))
        if y != last:
            if last is not None:
                yield _at(across(edges[i])), last
            yield _at(across(edges[i])), y
        last = y
    assert last is not None  # a number has at least one value
    yield _at(across(edges[-1])), last


def _path(corners: Sequence[Corner]) -> str:
    """A path of horizontal and vertical lines from corner to corner."""
    x, y = corners[0]
    written = [f"M{x} {y}"]
    for next_x, next_y in corners[1:]:
        if next_x != x:
            written.append(f"H{next_x}")
        if next_y != y:
            written.append(f"V{next_y}")
        x, y = next_x, next_y
    return "".join(written)


def _categories(curve: Curve, scale: Scale) -> Html:
    order = np.argsort(-np.abs(curve.values).max(axis=1), kind="stable")[:MOST_CATEGORIES]
    rows = sorted(order.tolist())
    inner = WIDTH - NAMES - RIGHT
    height = TOP + LINE * len(rows) + BOTTOM

    def across(value: float) -> float:
        return NAMES + inner * scale.part(value)

    shapes = []
    for tick, words in scale.ticks():
        x = _at(across(tick))
        shapes.append(tag("line", x1=x, x2=x, y1=TOP, y2=height - BOTTOM, class_=_grid(tick)))
        shapes.append(tick_text(words, x, height - 6, "middle"))
    for line, row in enumerate(rows):
        y = TOP + LINE * (line + 0.5)
        clear = _clear(curve, curve.values[row])
        name = shortened(curve.categories[row], 18)
        shapes.append(tag("text", name, x=NAMES - 8, y=y + 4, text_anchor="end"))
        for column, value in enumerate(curve.values[row]):
            reach, kind = Z * curve.deviation, _colour(curve, column)
            ends = {"x1": _at(across(value - reach)), "x2": _at(across(value + reach)), "y1": y, "y2": y}
            shapes.append(tag("line", class_=f"reach {kind}", **ends))
            sure = kind if clear[column] else f"unsure {kind}"
            shapes.append(tag("circle", cx=_at(across(value)), cy=y, r=4.5, class_=sure))
    size = {"viewBox": f"0 0 {WIDTH} {height}"}
    return tag("svg", *shapes, role="img", aria_label=_title(curve), class_="shape", **size)


def tick_text(words: str, x: object, y: object, anchor: str | None = None, turn: str | None = None) -> Html:
    return tag("text", words, x=x, y=y, text_anchor=anchor, class_="tick", transform=turn)


def _grid(tick: float) -> str:
    """The class of a grid line; the line of no change is emphasised."""
    return "grid middle" if tick == 0 else "grid"


def _colour(curve: Curve, column: int) -> str:
    """The colour of a class; a single curve is that of the second class."""
    return "c1" if curve.values.shape[1] == 1 else f"c{column}"


def _title(curve: Curve) -> str:
    return f"How {isolated(curve.attribute)} changes what is predicted; the numbers follow"


def _at(pixels: float) -> str:
    """Round to half a pixel: this merges many steps of a curve and makes a page a third smaller."""
    return f"{round(2 * pixels) / 2:g}"


# -- pairs -------------------------------------------------------------------------------------------------------------


def level_names(schema: Schema, part: Part, place: int) -> Iterator[str]:
    """A short name for each level of an attribute: where it begins, or its categories."""
    attribute, levels = schema.attributes[part.attributes[place]], part.levels[place]
    for level in range(part.sides[place]):
        codes = np.flatnonzero(levels == level)
        if isinstance(attribute, Categorical):
            yield ", ".join(isolated(attribute.values[code]) for code in codes)
        elif codes[0] > len(attribute.cuts):
            yield "missing"
        else:
            yield f"from {axis_words(([attribute.low, *attribute.cuts])[codes[0]])}"


def pair_picture(names: tuple[Sequence[str], Sequence[str]], titles: tuple[str, str], values: np.ndarray) -> Html:
    """Draw a heat map of (first, second) log-odds, coloured by the class that they favour."""
    rows, columns = values.shape
    side = (WIDTH - PAIR_NAMES) / columns
    reach = float(np.abs(values).max()) or 1.0
    below_all = PAIR_TOP + ROW * rows
    cells = [
        tag(
            "path",
            d="".join(_field(i, j, side) for i, j in those),
            class_=f"field {kind}",
            opacity=f"{strength / STRENGTHS:g}",
        )
        for (kind, strength), those in _alike(values / reach).items()
    ]
    every = math.ceil(rows / MOST_ROW_NAMES), math.ceil(NAME_BELOW / side)
    letters = int(side * every[1] / LETTER) - 1
    left = [
        tick_text(shortened(isolated(name), 13), PAIR_NAMES - 6, PAIR_TOP + ROW * i + 12, "end")
        for i, name in enumerate(names[0])
        if i % every[0] == 0
    ]
    starts = [shortened(isolated(name.removeprefix("from ")), letters) for name in names[1]]
    below = [
        tick_text(starts[j], f"{PAIR_NAMES + side * j:.1f}", below_all + 14)
        for j in range(0, columns - every[1] + 1, every[1])  # a name has room up to the next
    ]
    title = tick_text(titles[1], WIDTH, below_all + 34, "end")
    label = f"What {isolated(titles[0])} and {isolated(titles[1])} add together; the numbers follow"
    shapes = join((*cells, *left, *below, title))
    return tag(
        "svg", shapes, role="img", aria_label=label, class_="shape", viewBox=f"0 0 {WIDTH} {below_all + PAIR_BOTTOM}"
    )


def _field(row: int, column: int, side: float) -> str:
    left = f"{PAIR_NAMES + side * column:.1f}"
    return f"M{left} {PAIR_TOP + ROW * row}h{side + 0.3:.1f}v{ROW + 0.3}H{left}z"


def _alike(shares: np.ndarray) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """The cells of each colour; cells without an effect have none."""
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for place, share in np.ndenumerate(shares):
        if strength := round(STRENGTHS * abs(float(share))):
            found.setdefault(("c1" if share > 0 else "c0", strength), []).append((place[0], place[1]))
    return found
