"""Whatever a value is, it stays text; what is markup stays markup."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from privet.bidi import isolated
from privet.markup import Html, table, tag, text


class Reading(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, name: str, given: list[tuple[str, str | None]]) -> None:
        self.tags.append(name)
        self.attributes.append(dict(given))

    def handle_data(self, data: str) -> None:
        self.words += data


words = st.text(st.characters(exclude_characters="\r\0", exclude_categories=("Cs", "Cc")))


@given(words, words)
def test_text_stays_text(content: str, attribute: str) -> None:
    read = Reading(tag("p", content, title=attribute))
    told = {"title": isolated(attribute, lines=True)}
    assert (read.tags, read.words, read.attributes) == (["p"], isolated(content, lines=True), [told])


@given(st.lists(st.lists(words, min_size=2, max_size=2), max_size=3))
def test_a_table_holds_its_cells(rows: list[list[str]]) -> None:
    read = Reading(table(("a", "b"), rows, caption="<c>"))
    assert read.words == "<c>ab" + "".join(isolated(cell, lines=True) for row in rows for cell in row)
    assert read.tags.count("tr") == 1 + len(rows)


def test_markup_is_not_escaped_twice() -> None:
    inner = tag("b", "1 < 2")
    assert tag("p", inner) == "<p><b>1 &lt; 2</b></p>"
    assert text(inner) is inner
    assert isinstance(tag("p", None), Html)
    assert tag("svg", viewBox="0 0 1 1", text_anchor=None, class_="x") == '<svg viewBox="0 0 1 1" class="x"></svg>'
