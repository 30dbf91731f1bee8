"""Names of tables (paths and addresses), and their safe form for messages.

An address can hold a password, and may be misspelt. So messages show only the scheme and the table of anything that
looks like an address. Only :func:`safe` makes that form, and every message that names a table uses it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePath
from urllib.parse import parse_qsl

KNOWN = ("duckdb", "excel", "postgresql", "spark")
NEAR = 0.75  # of difflib's ratio: one letter in four may be wrong

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{1,30}):(/?)", re.IGNORECASE)  # one letter would be a Windows drive
_MARKS = re.compile(
    r":.*@|//.*@"  # a user, or a user and a password
    r"|\?[\w.-]+="  # a query
    r"|\b(?:ssl|pg|\w+_)?(?:pas+(?:w\w*|phrase)?|pwd|secret|\w*token)\s*="  # a password under its usual names
    r"|(?:^|\s)(?:host|hostaddr|port|dbname|user|service|sslmode)\s*=\s*\S*\s+\w+\s*=",  # libpq's key=value form
    re.IGNORECASE | re.DOTALL,
)
_PLAIN_TABLE = re.compile(r'[\w. "$-]+')
_PARTITION = re.compile(r"([^/=]+)=[^/]*(?=/)")  # a folder of partitioned Parquet, whose name holds a cell


def scheme_of(name: str) -> str:
    """The scheme before ``://``; empty for a path, and for an address without slashes.

    >>> scheme_of("postgresql://host/clinic"), scheme_of("C:/clinic.csv")
    ('postgresql', '')
    """
    found = _SCHEME.match(name)
    return found[1].lower() if found and found[2] else ""


def meant_scheme(name: str) -> str:
    """The known scheme that an address begins with, exactly or nearly; empty if there is none.

    >>> meant_scheme("postgre://host/clinic"), meant_scheme("s3://bucket")
    ('postgresql', '')
    """
    found = _SCHEME.match(name)
    near = get_close_matches(found[1].lower().partition("+")[0], KNOWN, n=1, cutoff=NEAR) if found else []
    return near[0] if near else ""


def is_address(name: str | os.PathLike[str]) -> bool:
    """Whether a name may be an address, however misspelt. In doubt it is one, and is not shown.

    >>> [is_address(name) for name in ("postgre:me:secret@host/db", "host=h password=p", "me:secret@host")]
    [True, True, True]
    >>> [is_address(name) for name in ("visits.csv", "/data/ward=north/a.parquet", "C:/visits.csv", "visits: old.csv")]
    [False, False, False, False]
    """
    text = os.fspath(name)
    return bool(scheme_of(text) or meant_scheme(text) or _MARKS.search(text))


def safe(name: str | os.PathLike[str]) -> str:
    """A table's name as messages show it: a quoted path without partition values, or an address's scheme and table.

    >>> print(safe("postgresql://me:secret@host/clinic?sslmode=require&table=ward.visits"))
    postgresql://...?table=ward.visits
    >>> print(safe("me:secret@host/clinic"), safe("visits/ward=north/a.parquet"), sep="; ")
    an address; 'visits/ward=.../a.parquet'
    """
    text = os.fspath(name)
    if not is_address(text):
        return repr(_PARTITION.sub(r"\1=...", text))
    scheme = scheme_of(text)
    if not scheme:
        return "an address"
    tables = [value for key, value in parse_qsl(text.partition("?")[2]) if key == "table"]
    plain = len(tables) == 1 and _PLAIN_TABLE.fullmatch(tables[0])
    return f"{scheme}://..." + (f"?table={tables[0]}" if plain else "")


def without_addresses(text: str, typed: Iterable[str]) -> str:
    """Replace every address among the typed words by its safe form in a text.

    >>> without_addresses("no recipe 'postgresql://me:secret@host'", ["postgresql://me:secret@host"])
    "no recipe 'postgresql://...'"
    """
    for word in typed:
        bare = word.lstrip("-")
        for name in (bare, bare.partition("=")[2], bare.partition("=")[0]):  # an option, its value, its name
            if is_address(name):
                forms = {name, str(PurePath(name))}
                for form in sorted(forms | {repr(form)[1:-1] for form in forms}, key=len, reverse=True):
                    text = text.replace(form, safe(name))
    return text
