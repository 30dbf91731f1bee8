"""A tree as SVG. Colours come from the style of the page it stands in."""

from __future__ import annotations

from privet.bidi import width_of
from privet.markup import Html, join, tag
from privet.models.render import MOST_NODES
from privet.models.shown import ShownTree
from privet.report.layout import BOX, LONGEST, MARK, PADDING, Box, Layout

SHRINKS = 1450  # pixels that still can be read when they are shrunk to the width of a page
SHRUNK = 736  # pixels to which they are shrunk at most (46rem in the style); a narrower picture keeps its size


def tree_picture(tree: ShownTree, title: str, prefix: str = "picture", most: int = MOST_NODES) -> Html:
    """The picture; ``prefix`` begins the ids of its nodes. Leaves that noise alone could have made are greyed."""
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
