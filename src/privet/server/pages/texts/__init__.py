"""All English texts of the pages, by name; to translate the pages, translate these files.

A text is markup: it may hold ``<b>`` or ``<code>``, and writes ``&lt;`` for a smaller-than sign. What is filled in is
escaped and kept from turning the text around it.
"""

from __future__ import annotations

from typing import Any

from privet.markup import Html, text
from privet.server.pages.texts import analyst, auditor, common, owner, owner_tables

PARTS = (common, owner, owner_tables, analyst, auditor)
TEXTS: dict[str, str] = {name: one for part in PARTS for name, one in part.TEXTS.items()}


def say(name: str, /, **values: Any) -> Html:
    """A text with its values.

    >>> say("problem.number", number="<b>")
    'Request &lt;b&gt;. Tell it to the owner of this server.'
    """
    return Html(TEXTS[name].format(**{key: text(value) for key, value in values.items()}))
