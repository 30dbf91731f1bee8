"""HTML from plain values. Everything that is not :class:`Html` is escaped, so category names stay text.

Text is also isolated by direction: see :mod:`privet.bidi`. In elements its isolates become ``<bdi>``. They stay
characters in attributes and in SVG, whose text has no such element.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from privet.bidi import END, ISOLATE, isolated


class Html(str):
    """Text that is already markup. Template engines see by ``__html__`` that it needs no escaping."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def text(value: object) -> Html:
    """A value as markup.

    >>> text("age <= 40"), text(Html("<b>40</b>"))
    ('age &lt;= 40', '<b>40</b>')
    """
    return value if isinstance(value, Html) else Html(escape(isolated(value, lines=True)))


# Up to the end of an element that holds characters alone, or up to the end of a tag, or one of the two characters.
_PARTS = re.compile(
    rf"<(script|style|title|option|textarea|text)\b.*?</\1>|<[^>]*>|[{ISOLATE}{END}]", re.DOTALL | re.IGNORECASE
)


def with_elements(html: str) -> Html:
    """Markup with ``<bdi>`` instead of isolates, wherever an element is allowed.

    >>> with_elements(tag("p", "\u05d2 < 4"))
    '<p><bdi>\u05d2 &lt; 4</bdi></p>'
    """
    return Html(_PARTS.sub(lambda part: _BDI.get(part[0], part[0]), html))


_BDI = {ISOLATE: "<bdi>", END: "</bdi>"}


def tag(name: str, *content: object, **attributes: object) -> Html:
    """An element. An attribute that is None is left out; ``class_`` is ``class``, and other underscores are hyphens.

    >>> tag("td", "a & b", class_="number", colspan=2, title=None)
    '<td class="number" colspan="2">a &amp; b</td>'
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{text(value)}"' for key, value in given.items())
    return Html(f"<{name}{written}>{join(content)}</{name}>")


def join(parts: Iterable[object]) -> Html:
    return Html("".join(map(text, parts)))


def table(head: Iterable[object], rows: Iterable[Iterable[object]], caption: object = None) -> Html:
    """A table whose first column names its rows."""
    top = tag("thead", tag("tr", *(tag("th", cell, scope="col") for cell in head)))
    body = (tag("tr", tag("th", first, scope="row"), *(tag("td", cell) for cell in rest)) for first, *rest in rows)
    above = () if caption is None else (tag("caption", caption),)
    return tag("table", *above, top, tag("tbody", *body))
