"""The reader of table files, for every command and loader: CSV and CSV.gz here, Parquet in ``parquet.py``, folders of
Parquet files in ``folders.py``, and spreadsheets in ``excel.py``.

A physical line of a CSV file is a record. Its content depends on that line and on the header alone (the header fixes
the separator, :mod:`privet.tables.lines`). A line that cannot be read (too few or too many cells, a stray or unclosed
quote, bytes that are not UTF-8) is a record whose cells are all missing: a fit drops it, a prediction is made for it,
and no message is given. With an error, or with a quote that included the lines after it, one record would affect
others. Proof: ``docs/proofs/reader.md``.

Cells stay text. The schema says what they mean; a reader that guesses types would also guess missing values.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from privet.addresses import is_address, safe
from privet.errors import TableError
from privet.schema.facts import Schema
from privet.schema.limits import MOST_LINE
from privet.schema.mistaken import SUFFIXES, mistaken
from privet.tables.bounded import CUT, BoundedLines
from privet.tables.excel import CAVEAT as EXCEL_CAVEAT
from privet.tables.excel import SUFFIXES as EXCEL
from privet.tables.excel import excel_batches, excel_header, excel_names
from privet.tables.folders import folder_batches, folder_header, folder_names, read_folder
from privet.tables.foreign import GZIP, hint_by_first_line, hint_by_name
from privet.tables.lines import cells_of_line, fault_of_line, separator_of
from privet.tables.parquet import check_names, decoded, parquet_batches, parquet_header, parquet_names, read_parquet

BATCH = 2**20  # bytes of lines split at a time, so that their Python text stays small beside the table
DISTINCT = 2**16  # cached cells of a column, so that equal ones share memory
SHOWN = 5  # unreadable records that a warning names
BREAKS_CAVEAT = (
    "the table was read with quoted line breaks, so the promise needs a well-formed file: a stray quote in one record "
    "would change the records after it"
)

Column = NDArray[np.object_]


class Records(dict[str, Column]):
    """Columns of text by name, None where a record is missing, and caveats of how they were read.

    It holds private records, so its repr shows none.
    """

    caveats: tuple[str, ...] = ()
    path: Path | None = None

    def __repr__(self) -> str:
        return f"Records({', '.join(map(repr, self))})"


def caveats_of(table: Any) -> tuple[str, ...]:
    """What a certificate must state about how a table was read: nothing, unless this reader read it."""
    return table.caveats if isinstance(table, Records) else ()


def file_caveats(*paths: Path, quoted_line_breaks: bool) -> tuple[str, ...]:
    """What a certificate must state about how files are read, by their names."""
    sheets = any(path.name.lower().endswith(EXCEL) for path in paths)
    return (*((BREAKS_CAVEAT,) if quoted_line_breaks else ()), *((EXCEL_CAVEAT,) if sheets else ()))


def read_table(
    path: str | PathLike[str], schema: Schema, *, with_label: bool = True, quoted_line_breaks: bool = False
) -> Any:
    """The columns that a schema declares, found by name, in a form that a fit takes; others are left out.

    Parameters
    ----------
    path : a file that ends in .csv, .csv.gz, .tsv, .parquet, .pq or .xlsx, or a folder of Parquet files
        CSV is UTF-8 with a header, and quotes around cells that hold a separator or quotes. What separates cells
        (commas, semicolons or tabs) is seen in the header; beside semicolons a number may have a decimal comma.
        Empty lines are no records. Parquet comes as the Arrow table it is, but for texts that are not UTF-8, which
        become null.
    with_label : whether the label's column is wanted too
    quoted_line_breaks : whether a cell in quotes may hold line breaks
        Only for files known to be well-formed: a stray quote then swallows records, so the certificate of a fit
        says that this was asked for.

    >>> import tempfile
    >>> from privet import Categorical, Schema
    >>> schema = Schema((Categorical("cough", ("no", "yes")),), Categorical("state", ("well", "sick")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "clinic.csv"
    ...     size = path.write_text('cough,state\\nyes,sick\\nyes,"sick\\nno,well\\n')  # a quote is never closed
    ...     table = read_table(path, schema)
    >>> table["cough"].tolist()
    ['yes', None, 'no']
    """
    names = schema.columns if with_label else schema.inputs
    return read_columns(Path(path), names, quoted_line_breaks=quoted_line_breaks)


def read_columns(path: Path, names: Sequence[str], *, most: int | None = None, quoted_line_breaks: bool = False) -> Any:
    """The columns of these names: of all records, or of at least the first ``most``, if there are so many."""
    if (kind := kind_of_file(path)) in ("parquet", "folder"):
        table = read_parquet(path, names) if kind == "parquet" else read_folder(path, names)
        return table if most is None else table.slice(0, most)
    batches = []
    for batch in read_batches(path, names, quoted_line_breaks=quoted_line_breaks):
        batches.append(batch)
        if most is not None and sum(len(one[names[0]]) for one in batches) >= most:
            break
    records = Records({name: np.concatenate([batch[name] for batch in batches]) for name in names})
    records.path = path
    records.caveats = file_caveats(path, quoted_line_breaks=quoted_line_breaks)
    return records


def read_batches(path: Path, names: Sequence[str], *, quoted_line_breaks: bool = False) -> Iterator[Any]:
    """The same in pieces, for tables that are larger than memory. Where a piece ends changes no record."""
    if (kind := kind_of_file(path)) == "excel":
        return excel_batches(path, names)
    if kind != "csv":
        return parquet_batches(path, names) if kind == "parquet" else folder_batches(path, names)
    return read_csv(path, names, quoted_line_breaks=quoted_line_breaks)


def read_header(path: Path, names: Sequence[str], *, quoted_line_breaks: bool = False) -> Any:
    """The wanted columns as an empty table: their names and, where the file declares them, their types."""
    if (kind := kind_of_file(path)) == "excel":
        return excel_header(path, names)
    if kind != "csv":
        return parquet_header(path, names) if kind == "parquet" else folder_header(path, names)
    with _damage_named(path), _open(path) as file:
        _, _, places, _ = _begun(path, file, names, quoted_line_breaks)
    return {name: [] for name in sorted(names, key=places.__getitem__)}


def kind_of_file(path: Path) -> str:
    """csv, parquet or excel, by the name of an existing file, or folder."""
    kind = next((kind for suffix, kind in SUFFIXES.items() if path.name.lower().endswith(suffix)), None)
    if not is_there(path):
        if is_address(path):
            raise TableError(f"{safe(path)} is not a file; give a path")
        raise TableError(f"there is no table {safe(path)}; check the path")
    if path.is_dir():
        return "folder"
    if not path.is_file():
        raise TableError(f"{safe(path)} is not a file")
    if kind is None:
        if result := mistaken(path, "table"):
            raise TableError(f"{str(path)!r} is not a table: {result}")
        result = _hint_text(hint_by_name(path))
        raise TableError(f"cannot tell what {safe(path)} is by its name; it must end in {', '.join(SUFFIXES)}{result}")
    return kind


def is_there(path: Path) -> bool:
    """Whether there is a file or a folder of that name. No name makes this raise, not even one with a null byte."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def column_names(path: str | PathLike[str]) -> tuple[str, ...]:
    """The names in a table's header, for drafting a schema. A forgotten header would be a record."""
    path = Path(path)
    if (kind := kind_of_file(path)) == "excel":
        return excel_names(path)
    if kind != "csv":
        return parquet_names(path) if kind == "parquet" else folder_names(path)
    with _damage_named(path), _open(path) as file:
        return tuple(_named_columns(path, file.readline())[1])


def unreadable_records(table: Any) -> NDArray[np.intp]:
    """The records of a table, from 0, that come from lines that cannot be read. OUTSIDE PRIVACY, for the owner.

    Only for tables that this reader read from CSV: there no cell of another line is None.
    """
    if not isinstance(table, Records) or not table:
        return np.empty(0, np.intp)
    return np.flatnonzero(np.all([column == np.array(None) for column in table.values()], axis=0))


def unreadable_words(records: NDArray[np.intp], of: int) -> str:
    """How many predictions come from such lines, and what to do.

    >>> unreadable_words(np.array([1, 4]), 5)[:94]
    '2 of 5 predictions come from lines that cannot be read, as if all values were missing: records'
    """
    listed = ", ".join(str(record + 1) for record in records[:SHOWN]) + (", ..." if records.size > SHOWN else "")
    return (
        f"{records.size} of {of} predictions come from lines that cannot be read, as if all values were missing: "
        f"records {listed}; such lines have more or fewer cells than the header, a quote out of place, or are not UTF-8"
    )


def faults_of_lines(path: Path) -> Counter[str]:
    """How many lines of a CSV file cannot be read, and why. OUTSIDE PRIVACY: for the data owner's eyes."""
    if path.name.lower().endswith(EXCEL):
        return Counter()  # a spreadsheet has no lines
    with _damage_named(path), _open(path) as file:
        separator, width, _, batches = _begun(path, file, (), False)
        texts = (text for batch in batches for text in _texts(batch) if text != "")
        return Counter(fault for text in texts if (fault := fault_of_line(text, separator, width)) is not None)


# ---- CSV ----------------------------------------------------------------------------------------------------------


def read_csv(path: Path, names: Sequence[str], *, quoted_line_breaks: bool = False) -> Iterator[dict[str, Column]]:
    """The records of a CSV file in batches, at least one. Where a batch ends changes no record."""
    with _damage_named(path), _open(path) as file:
        separator, width, places, batches = _begun(path, file, names, quoted_line_breaks)
        known: dict[str, dict[str | None, str | None]] = {name: {} for name in names}
        for batch in batches:
            texts = map(_text, batch) if quoted_line_breaks else _texts(batch)
            rows = [cells_of_line(text, separator, width) for text in texts if text != ""]
            cells = list(zip(*rows, strict=True)) or [()] * width
            yield {name: _column(cells[places[name]], known[name]) for name in names}


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Raise for a file that cannot be read, without the cause: that can quote the file or show how far it was read."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        result = "" if _begins_with(path, GZIP) else _hint_text("it is not compressed: call it .csv")
        raise TableError(f"{safe(path)} is not a whole gzip file; copy or compress it again{result}") from None
    except OSError as error:
        raise TableError(f"cannot read the table {safe(path)}: {error.strerror}") from None


def _begins_with(path: Path, mark: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(mark)) == mark


def _open(path: Path) -> IO[bytes]:
    return io.BufferedReader(BoundedLines(path, zipped=path.name.lower().endswith(".gz")), BATCH)


FIX = "the first line must name the columns, in UTF-8 and with commas, semicolons or tabs between them"


def _begun(
    path: Path, file: IO[bytes], names: Sequence[str], quoted_line_breaks: bool
) -> tuple[str, int, dict[str, int], Iterator[list[bytes]]]:
    """The separator, the number of columns, the positions of the wanted ones, and the lines below."""
    lines = iter(lambda: file.readlines(BATCH), [])
    batches = _joined(lines) if quoted_line_breaks else lines
    first = next(batches, [])
    return *_header(path, first[0] if first else b"", names), chain([first[1:]], batches)


def _header(path: Path, line: bytes, names: Sequence[str]) -> tuple[str, int, dict[str, int]]:
    """The separator, the number of columns, and the positions of the wanted ones."""
    separator, header = _named_columns(path, line, names)
    check_names(path, header, names, FIX + _hint_text(hint_by_first_line(line, names)))
    places = {name: place for place, name in enumerate(header)}
    return separator, len(header), {name: places[name] for name in names}


def _named_columns(path: Path, line: bytes, names: Sequence[str] = ()) -> tuple[str, list[str]]:
    """The separator and the names of a first line; they are never shown: a forgotten header is a record."""
    text = _text(line.removeprefix(codecs.BOM_UTF8))  # a spreadsheet's mark would become part of the first name
    if text is None:
        result = _hint_text(hint_by_first_line(line, names))
        raise TableError(
            f"the first line of {safe(path)} is not UTF-8 text, which spreadsheets call 'CSV UTF-8'; {FIX}{result}"
        )
    if not text:
        raise TableError(f"{safe(path)} is empty, or its first line is; {FIX}")
    separator = separator_of(text)
    return separator, [(name or "").strip() for name in cells_of_line(text, separator)]


def _hint_text(hint: str) -> str:
    return f" ({hint})" if hint else ""


def _joined(batches: Iterable[list[bytes]]) -> Iterator[list[bytes]]:
    """Records that may hold line breaks: lines are joined until their quotes are closed (an even number)."""
    record: list[bytes] = []
    quotes = size = 0
    for batch in batches:
        records = []
        for line in batch:
            size += len(line)
            if size <= MOST_LINE:
                record.append(line)
            else:
                record = [CUT]  # as of a line that is too long
            quotes += line.count(b'"')
            if quotes % 2 == 0:
                records.append(b"".join(record))
                record, size = [], 0
        if records:
            yield records
    if record:
        yield [b"".join(record)]


def _texts(lines: list[bytes]) -> Iterable[str | None]:
    """The text of every line by :func:`_text`, all at once if none is damaged.

    In UTF-8 a line feed is never part of another character, so lines can be decoded together if each can be decoded
    alone. What follows the last line feed is one more line: it is empty, or the last line of the file.
    """
    try:
        return b"".join(lines).decode().replace("\r\n", "\n").removesuffix("\r").split("\n")
    except UnicodeDecodeError:
        return map(_text, lines)


def _text(line: bytes) -> str | None:
    """A line without its end, None if it is not UTF-8. A carriage return elsewhere is an ordinary character."""
    return decoded(line.removesuffix(b"\n").removesuffix(b"\r"))


def _column(cells: Sequence[str | None], known: dict[str | None, str | None]) -> Column:
    # An array of objects: in a fixed-width array one long cell would make every cell as long.
    if len(known) > DISTINCT:
        known.clear()
    return np.fromiter(map(known.setdefault, cells, cells), object, len(cells))
