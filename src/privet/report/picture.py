"""A tree as SVG, drawn from the left to the right. Colours come from the style of the page it stands in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privet.markup import Html, join, tag
from privet.report.layout import Place, places
from privet.trees.nested import MOST_NODES
from privet.trees.render import question
from privet.trees.tree import Tree

LINE = 34  # pixels between two leaves
BOX = 24  # the height of a box
CHARACTER = 7.6  # the mean width of one, at the size of the page's style; a little too wide is better than cut
PADDING = 9
LONGEST = 40  # characters in a box; the rest is in its tooltip
LONGEST_BRANCH = 20
MARK = 14  # the square in the colour of a class
SHRINKS = 1450  # pixels that still can be read when they are shrunk to the width of a page
TURN = 20  # from a box to the line that goes up and down, and on


def tree_picture(
    tree: Tree, faint: Callable[[int], bool], title: str, prefix: str = "picture", most: int = MOST_NODES
) -> Html:
    """The picture; ``faint`` says which leaves are greyed, ``prefix`` begins the ids of its nodes."""
    drawn = places(tree, most)
    boxes = [_Box.of(tree, place) for place in drawn]
    lefts = _columns(boxes)
    lines = [_branch(boxes[place.parent], box, lefts, prefix) for place, box in zip(drawn, boxes, strict=True)
             if place.parent is not None]  # fmt: skip
    shapes = [_shape(tree, box, lefts[box.place.level], faint(box.place.node), prefix) for box in boxes]
    width = round(PADDING + max(lefts[box.place.level] + box.width for box in boxes))
    height = round(2 * PADDING + LINE * (1 + max(place.line for place in drawn)))
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    kind = "tree fits" if width <= SHRINKS else "tree"
    return tag("svg", tag("title", title), join(lines), join(shapes), role="img", class_=kind, **size)


@dataclass(frozen=True, slots=True)
class _Box:
    place: Place
    leaf: bool
    words: str
    width: float

    @classmethod
    def of(cls, tree: Tree, place: Place) -> _Box:
        leaf = bool(tree.is_leaf[place.node])
        if place.cut_off:
            words = f"{place.cut_off:,} leaves, not shown"
        elif leaf:
            words = str(tree.schema.label.values[tree.label[place.node]])
        else:
            words = f"{question(tree, place.node)}?"
        return cls(place, leaf, words, _long(words, LONGEST) + (MARK + 4 if leaf else 0))

    @property
    def middle(self) -> float:
        return PADDING + LINE * (self.place.line + 0.5)


def _columns(boxes: Sequence[_Box]) -> list[float]:
    """Where each level begins: after the boxes of the one before, and room for the answers between."""
    levels = 1 + max(box.place.level for box in boxes)
    lefts = [float(PADDING)]
    for level in range(1, levels):
        before = max(box.width for box in boxes if box.place.level == level - 1)
        between = max(_long(box.place.asks, LONGEST_BRANCH) for box in boxes if box.place.level == level)
        lefts.append(lefts[-1] + before + TURN + between)
    return lefts


def _branch(parent: _Box, child: _Box, lefts: list[float], prefix: str) -> Html:
    """From the parent's right side to a turn, then to the child's left side, with the answer above the line."""
    left, start = lefts[child.place.level], lefts[parent.place.level] + parent.width
    turn = start + TURN / 2
    path = f"M{start:.0f} {parent.middle:.1f}H{turn:.0f}V{child.middle:.1f}H{left:.0f}"
    words = _cut(child.place.asks, LONGEST_BRANCH)
    answer = tag("text", words, x=round(left - 6), y=round(child.middle - 4), text_anchor="end", class_="answer")
    return tag("g", tag("path", d=path), answer, id=f"{prefix}-to-{child.place.node}", class_="branch")


def _shape(tree: Tree, box: _Box, left: float, faint: bool, prefix: str) -> Html:
    x, y, node = round(left), round(box.middle - BOX / 2), box.place.node
    outline = tag("rect", x=x, y=y, width=round(box.width), height=BOX, rx=BOX // 2 if box.leaf else 4)
    mark = tag("rect", x=x + 9, y=y + 7, width=10, height=10, rx=2, class_=f"c{tree.label[node]}") if box.leaf else ""
    inside = x + PADDING + (MARK if box.leaf else 0)
    words = tag("text", _cut(box.words, LONGEST), x=inside, y=round(box.middle + 4))
    tooltip = tag("title", box.words) if len(box.words) > LONGEST else ""
    kind = "cut-off" if box.place.cut_off else "inner"
    if box.leaf:
        kind = "leaf faint" if faint else "leaf"
    return tag("g", tooltip, outline, mark, words, id=f"{prefix}-{node}", class_=kind)


def _long(words: str, most: int) -> float:
    return 2 * PADDING + CHARACTER * min(len(words), most)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
