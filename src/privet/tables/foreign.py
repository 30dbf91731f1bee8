"""Hints for refused tables of other formats, from a file's name and its first line alone.

Nothing here decides whether a file is refused; it only adds words to a certain refusal. The first line is searched for
declared names and for the marks of file formats. It is shown only if it is certainly a header: a forgotten header is a
record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

AS_CSV = "save it as CSV UTF-8"
BY_NAME = {
    (".numbers", ".gsheet"): f"it is a spreadsheet: open it and {AS_CSV}",
    (".txt", ".dat", ".tab"): "if it has a header, and commas, semicolons or tabs between the cells, call it .csv",
    (".csv.zip", ".zip"): "unpack it, or compress it with gzip as .csv.gz",
    (".csv.bz2", ".csv.xz", ".csv.zst"): "unpack it, or compress it with gzip as .csv.gz",
    (".feather", ".arrow", ".json", ".jsonl", ".sas7bdat", ".sav", ".dta", ".rds"): "write it as CSV or Parquet",
}
GZIP = b"\x1f\x8b"
BY_MARK = {
    GZIP: "it is compressed by gzip: call it .csv.gz",
    b"PK\x03\x04": f"it is a zip archive or an Excel file under another name: call it .xlsx, or {AS_CSV}",
    b"\xd0\xcf\x11\xe0": f"it is an old Excel file under another name: call it .xls, or {AS_CSV}",
    b"PAR1": "it is a Parquet file: call it .parquet",
    b"\xff\xfe": f"it is UTF-16, as Excel's 'Unicode text' is: {AS_CSV}",
    b"\xfe\xff": f"it is UTF-16, as Excel's 'Unicode text' is: {AS_CSV}",
}
BAR = "|"
NEAR = 0.7  # of difflib's ratio: three letters in ten may be wrong
SURE = 2  # declared names that make a first line a header
SEPARATED = "write commas, semicolons or tabs"


def hint_by_name(path: Path) -> str:
    """What to do about a file of that name, if it is a common kind; otherwise nothing.

    >>> hint_by_name(Path("patients.numbers"))
    'it is a spreadsheet: open it and save it as CSV UTF-8'
    """
    name = path.name.lower()
    return next((hint for suffixes, hint in BY_NAME.items() if name.endswith(suffixes)), "")


def hint_by_first_line(line: bytes, names: Sequence[str]) -> str:
    """What to do about a file with this first line, which should have columns of these names; otherwise nothing.

    >>> hint_by_first_line(b"age|sex|ill", ["age", "ill"])
    'its first line has bars between the names: write commas, semicolons or tabs'
    """
    for mark, hint in BY_MARK.items():
        if line.startswith(mark):
            return hint
    text = line.decode("utf-8", "replace").strip("\ufeff\r\n")
    if BAR in text and _bare(text.split(BAR)) & set(names):
        return f"its first line has bars between the names: {SEPARATED}"
    found = {name.casefold() for name in _bare(re.split(r"[,;\t]", text))}
    if all(name.casefold() in found for name in names):
        return "its names differ from the schema's in capital letters"
    return ""


def nearest_column(lacking: str, wanted: Sequence[str], header: Sequence[str]) -> str:
    """The column that was probably meant by a name that a header lacks; otherwise nothing.

    Names of a header are public, but a forgotten header is a record. A line with all the other wanted names, at least
    two, and one close to the missing name, is a header. No other name is shown.

    >>> nearest_column("pattient", ["age", "ill", "pattient"], ["age", "patient", "ill"])
    "did you mean 'patient'?"
    """
    others = [name for name in wanted if name != lacking]
    if len(others) < SURE or not set(others) <= set(header):
        return ""
    free = [name for name in header if name not in wanted]
    near = get_close_matches(lacking.casefold(), [name.casefold() for name in free], n=1, cutoff=NEAR)
    return f"did you mean {next(name for name in free if name.casefold() == near[0])!r}?" if near else ""


def _bare(names: list[str]) -> set[str]:
    return {name.strip().strip('"') for name in names}
