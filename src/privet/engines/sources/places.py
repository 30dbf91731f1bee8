"""Addresses of tables, as in ``postgresql://host/clinic?table=patients``: parsing and SQL names.

An address can hold a password. Messages show it in its safe form only (:func:`privet.addresses.safe`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

from privet.addresses import meant_scheme, safe, scheme_of
from privet.errors import TableError

KINDS = (
    "give a path to .csv, .parquet or .xlsx files or to a folder of Parquet files, duckdb:///file.db?table=t, "
    "postgresql://host/db?table=t or spark://host:7077?table=t, or open it with a library and hand over the frame, "
    "relation or reader"
)


class Place(NamedTuple):
    """An address without its table, and the table's SQL name or the query."""

    address: str
    table: str | None
    query: str | None
    shown: str
    """The address as messages show it."""
    parts: tuple[str, ...] = ()
    """The parts of the table's name, for engines that quote names otherwise."""

    @property
    def asked(self) -> str:
        """The table or query, in the words of a message."""
        return "the query" if self.table is None else "the table"

    def __repr__(self) -> str:
        return f"<{self.asked} of {self.shown}>"


def refuse_address(name: str) -> None:
    """Raise ``TableError`` for an address from which no table can be read."""
    scheme, meant = scheme_of(name), meant_scheme(name)
    if meant and not name.lower().startswith(f"{meant}://"):
        raise TableError(f"{safe(name)} is misspelt: did you mean {meant}://...? No other part of it was looked at")
    if scheme:
        raise TableError(f"no table is read from {scheme}:// addresses; {KINDS}")
    raise TableError(f"the table is named by an address without a scheme, of which no part is shown here; {KINDS}")


def parse_place(name: str) -> Place:
    """Take ``table=`` or ``query=`` out of an address. The rest stays as written.

    >>> parse_place("postgresql://host/clinic?sslmode=require&table=ward.patients")[:3]
    ('postgresql://host/clinic?sslmode=require', '"ward"."patients"', None)
    """
    address, _, query = name.partition("?")
    options = [option.partition("=") for option in query.split("&") if option]
    asked = [(key, unquote_plus(value)) for key, _, value in options if key in ("table", "query")]
    if len(asked) != 1 or not asked[0][1].strip():
        raise TableError(
            f"a {scheme_of(name)}:// address must say what to read: end it with ?table=patients, or with ?query= and a "
            "SELECT in which spaces are written as +"
        )
    [(key, value)] = asked
    rest = "&".join("".join(option) for option in options if option[0] != key)
    place = Place(f"{address}?{rest}" if rest else address, None, None, safe(name))
    if key == "query":
        return place._replace(query=value)
    return place._replace(table=table_words(value), parts=tuple(table_parts(value)))


def table_words(name: str) -> str:
    """A table's name in SQL. Dots separate catalogue, schema and table, except between double quotes.

    A part that begins with a double quote ends with one and is the text between them, where ``""`` is a quote. Any
    other part is taken literally, with capital letters and spaces.

    >>> print(table_words("ward.Patients"), table_words('ward."visits.2024"'))
    "ward"."Patients" "ward"."visits.2024"
    """
    return ".".join(map(quoted, table_parts(name)))


def table_parts(name: str) -> list[str]:
    """The parts of a table's name, as :func:`table_words` reads them.

    >>> table_parts('ward."visits.2024"')
    ['ward', 'visits.2024']
    """
    parts, left = list[str](), name
    while True:
        if left.startswith('"'):
            part, left = _between_quotes(left)
        else:
            part, dot, left = left.partition(".")
            left = dot + left
        parts.append(part)
        if not all(parts) or (left and not left.startswith(".")):
            raise TableError(
                "table= must be a name like patients or ward.patients; a name with dots in it stands in double quotes, "
                'as in ward."visits.2024" (%22 in an address is a double quote)'
            )
        if not left:
            return parts
        left = left[1:]


def _between_quotes(text: str) -> tuple[str, str]:
    """The quoted name at the start of a text, and the rest; an empty name if the quotes are not closed."""
    part, at = "", 1
    while (end := text.find('"', at)) >= 0:
        part += text[at:end]
        if text[end + 1 : end + 2] != '"':
            return part, text[end + 1 :]
        part, at = part + '"', end + 2
    return "", ""


def quoted(name: str) -> str:
    """A name in SQL's double quotes."""
    return '"' + name.replace('"', '""') + '"'


def needs(package: str, extra: str, what: str) -> TableError:
    """The error for a package that is not installed."""
    return TableError(f"reading {what} needs the package {package}: run `pip install 'privet[{extra}]'`")


@contextmanager
def opened(
    opening: Callable[[ExitStack], Any], failure: type[Exception], explain: Callable[[Any], str]
) -> Iterator[Any]:
    """Yield what ``opening`` finds in a database, and close everything on its stack at the end.

    ``explain`` chooses the words for a failure. The database's own message is neither shown nor kept as a context: it
    can hold the address or quote a record.
    """
    with ExitStack() as stack:
        found, why = None, ""
        try:
            found = opening(stack)
        except failure as error:
            why = explain(error)
        if why:
            raise TableError(why)
        yield found
