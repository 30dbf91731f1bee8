"""Recognise files given in place of others, such as a journal for a model, by their first bytes.

Like :mod:`privet.tables.foreign` this decides nothing. It explains a refusal that is certain already, and shows nothing
of a file.
"""

from __future__ import annotations

from pathlib import Path

SUFFIXES = {
    **{".csv": "csv", ".csv.gz": "csv", ".tsv": "csv", ".tsv.gz": "csv", ".parquet": "parquet", ".pq": "parquet"},
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel"),
}
HEAD = 2**16  # bytes to look at: the attributes of a schema come early
WHAT = {
    "journal": "a journal, the record of a budget, which `privet ledger show` reads",
    "model": "a model",
    "schema": "a schema, the public facts about a table",
    "page": "a page, which a browser shows",
    "table": "a table",
}
WANTED = {
    "model": "give the model file that `privet fit -o` wrote",
    "schema": "give the public facts about the table; `privet schema draft` begins such a file",
    "table": "give the records",
}


def mistaken(path: Path, wanted: str) -> str:
    """What a file is that was given as a ``wanted`` one, and what to give instead; empty if unknown.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ill.schema.json"
    ...     size = path.write_text('{"name": "ill", "attributes": [], "class": "ill", "labels": []}')
    ...     mistaken(path, "model")
    'it is a schema, the public facts about a table; give the model file that `privet fit -o` wrote'
    """
    kind = kind_by_content(path)
    return f"it is {WHAT[kind]}; {WANTED[wanted]}" if kind not in (None, wanted) else ""


def kind_by_content(path: Path) -> str | None:
    """The kind of a file of privet's; None for others and for unreadable ones."""
    try:
        if not path.is_file():  # opening a pipe would block
            return None
        with open(path, "rb") as file:
            head = file.read(HEAD).lstrip()
    except (OSError, ValueError):
        return None
    if head.startswith(b'{"privet-journal"'):
        return "journal"
    if head.startswith(b'{"format": "privet-model"'):
        return "model"
    if head[:9].lower() == b"<!doctype":
        return "page"
    if head.startswith(b"{") and b'"attributes"' in head and b'"class"' in head:
        return "schema"
    return "table" if path.name.lower().endswith(tuple(SUFFIXES)) else None
