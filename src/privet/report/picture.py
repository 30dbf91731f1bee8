"""The picture of a tree: the root at the left, every leaf on a line of its own; as SVG, or for matplotlib.

All lengths are in pixels, at the font size of a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.bidi import shortened, width_of
from privet.markup import Html, join, tag
from privet.models.render import MOST_NODES, leaves_below, shown_levels, typeset
from privet.models.shown import ShownTree
from privet.models.simplifying import Branch

LINE = 31  # pixels between two leaves
BOX = 24  # the height of a box
LETTERS = 13  # the height of letters
CHARACTER = 7.6  # the mean width of a letter; slightly too wide is better than cut off
PADDING = 9
LONGEST = 40  # characters in a box; the tooltip has the rest
LONGEST_BRANCH = 20
MARK = 14  # room for the coloured square of a class
TURN = 20  # from a box to the vertical line, and from there to the next

SHRINKS = 1450  # the widest picture that is still readable when shrunk to the width of a page
SHRUNK = 736  # the width to which such a picture is shrunk (46rem in the style); a narrower one keeps its size


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a node: its depth and its line, both from 0; a parent is between its children."""

    node: int
    level: int
    line: float
    parent: int | None
    """An index into the list of places, not a node number."""
    asks: str
    """The answer on the branch to it (yes, no or a value); empty for the root."""
    cut_off: int
    """The number of leaves below it that are not shown; 0 if it is shown in full."""


def places(tree: ShownTree, most: int = MOST_NODES) -> tuple[Place, ...]:
    """The places of the shown nodes, parents first."""
    levels, below = shown_levels(tree, most), leaves_below(tree)
    order = [(node, depth) for node, depth in tree.order if depth <= levels]
    lines: dict[int, float] = {}
    ends = [node for node, depth in order if tree.is_leaf(node) or depth == levels]
    for line, node in enumerate(ends):
        lines[node] = float(line)
    for node, depth in reversed(order):
        branches = tree.branches.get(node)
        if branches and depth < levels:
            lines[node] = (lines[branches[0].child] + lines[branches[-1].child]) / 2
    found: list[Place] = []
    where: dict[int, int] = {}
    above = {branch.child: (node, branch) for node, _ in order for branch in tree.branches.get(node, ())}
    for node, depth in order:
        cut_off = below[node] if depth == levels and not tree.is_leaf(node) else 0
        parent, asks = None, ""
        if node in above:
            parent, asks = where[above[node][0]], branch_words(tree, *above[node])
        where[node] = len(found)
        found.append(Place(node, depth, lines[node], parent, asks, cut_off))
    return tuple(found)


def branch_words(tree: ShownTree, node: int, branch: Branch) -> str:
    name = tree.asked(node)
    text = typeset(tree.answer(node, branch), name).replace(f" < {name} ≤ ", " to ", 1)
    return text.removeprefix(f"{name} = ").removeprefix(f"{name} ")


@dataclass(frozen=True, slots=True)
class Box:
    """A node with its text and width."""

    place: Place
    leaf: bool
    faint: bool
    """Whether the leaf is minor, such as one that noise alone could have made."""
    code: int
    """The code of its label."""
    words: str
    counted: str
    """The number of records of a leaf, as far as noise shows it; empty if it was not released."""
    width: float

    @classmethod
    def of(cls, tree: ShownTree, place: Place) -> Box:
        leaf, counted, view = tree.is_leaf(place.node), "", tree.nodes[place.node]
        if place.cut_off:
            words = f"{place.cut_off:,} leaves, not shown"
        elif leaf:
            words = view.label
            counted = "" if view.counts is None else view.counts.total.words(",")
        else:
            words = f"{typeset(tree.question(place.node), tree.asked(place.node))}?"
        room = (MARK + 7 if leaf else 0) + (CHARACTER * (1 + len(counted)) if counted else 0)
        faint = leaf and tree.is_minor(view)
        return cls(place, leaf, faint, view.code, words, counted, _long(words, LONGEST) + room)

    @property
    def middle(self) -> float:
        return PADDING + LINE * (self.place.line + 0.5)

    @property
    def short(self) -> str:
        return shortened(self.words, LONGEST)

    @property
    def answer(self) -> str:
        """The text on the branch to it."""
        return shortened(self.place.asks, LONGEST_BRANCH)


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes of a picture and the left edge of each level."""

    boxes: tuple[Box, ...]
    lefts: tuple[float, ...]

    @classmethod
    def of(cls, tree: ShownTree, most: int = MOST_NODES) -> Layout:
        boxes = tuple(Box.of(tree, place) for place in places(tree, most))
        return cls(boxes, tuple(_columns(boxes)))

    @property
    def width(self) -> float:
        return PADDING + max(self.left(box) + box.width for box in self.boxes)

    @property
    def height(self) -> float:
        return 2 * PADDING + LINE * (1 + max(box.place.line for box in self.boxes))

    def left(self, box: Box) -> float:
        return self.lefts[box.place.level]

    def branch(self, box: Box) -> tuple[tuple[float, float], ...] | None:
        """The corners of the line from the parent to a box; None for the root."""
        if box.place.parent is None:
            return None
        parent = self.boxes[box.place.parent]
        start = self.left(parent) + parent.width
        turn = start + TURN / 2
        return (start, parent.middle), (turn, parent.middle), (turn, box.middle), (self.left(box), box.middle)


def _columns(boxes: Sequence[Box]) -> list[float]:
    """The left edge of each level: after the boxes of the previous one, with room for the answers."""
    lefts = [float(PADDING)]
    for level in range(1, 1 + max(box.place.level for box in boxes)):
        before = max(box.width for box in boxes if box.place.level == level - 1)
        between = max(_long(box.place.asks, LONGEST_BRANCH) for box in boxes if box.place.level == level)
        lefts.append(lefts[-1] + before + TURN + between)
    return lefts


def _long(words: str, most: int) -> float:
    return 2 * PADDING + CHARACTER * min(width_of(words), most)


def tree_picture(tree: ShownTree, title: str, prefix: str = "picture", most: int = MOST_NODES) -> Html:
    """The picture as SVG; ``prefix`` begins the ids of its nodes. Minor leaves are grey."""
    layout = Layout.of(tree, most)
    lines = join(_branch(layout, box, prefix) for box in layout.boxes)
    shapes = join(_shape(box, layout.left(box), prefix) for box in layout.boxes)
    width, height = round(layout.width), round(layout.height)
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    kind = "tree fits" if SHRUNK < width <= SHRINKS else "tree"
    return tag("svg", tag("title", title), lines, shapes, role="img", class_=kind, **size)


def _branch(layout: Layout, box: Box, prefix: str) -> Html | str:
    """The line to a box, with the answer above its end."""
    corners = layout.branch(box)
    if corners is None:
        return ""
    (start, above), (turn, _), _, (left, middle) = corners
    line = tag("path", d=f"M{start:.0f} {above:.1f}H{turn:.0f}V{middle:.1f}H{left:.0f}")
    answer = tag("text", box.answer, x=round(left - 6), y=round(middle - 4), text_anchor="end", class_="answer")
    return tag("g", line, answer, id=f"{prefix}-to-{box.place.node}", class_="branch")


def _shape(box: Box, left: float, prefix: str) -> Html:
    x, y, node = round(left), round(box.middle - BOX / 2), box.place.node
    outline = tag("rect", x=x, y=y, width=round(box.width), height=BOX, rx=BOX // 2 if box.leaf else 4)
    mark = tag("rect", x=x + 9, y=y + 7, width=10, height=10, rx=2, class_=f"c{box.code}") if box.leaf else ""
    counted = (" ", tag("tspan", box.counted, class_="answer")) if box.counted else ()
    words = tag("text", box.short, *counted, x=x + PADDING + (MARK if box.leaf else 0), y=round(box.middle + 4))
    tooltip = tag("title", box.words) if width_of(box.words) > LONGEST else ""
    kind = "cut-off" if box.place.cut_off else "inner"
    if box.leaf:
        kind = "leaf faint" if box.faint else "leaf"
    return tag("g", tooltip, outline, mark, words, id=f"{prefix}-{node}", class_=kind)
