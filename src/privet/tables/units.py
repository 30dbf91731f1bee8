"""Privacy of persons instead of rows: at most ``max_rows`` rows of each unit are admitted.

Those are the lowest by a hash of (unit, frozen record, number among equal rows). Whether a row is admitted depends on
the rows of its own unit alone, in any order. So tables that differ in one unit differ, after the choice, in at most
``max_rows`` rows, for every key of the hash. Proof: ``docs/proofs/units.md``.

Rows without a known label are dropped before. A missing unit is one unit: that of all rows without a name.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import TableError
from privet.schema.facts import Unit
from privet.tables.cells import each, plain_of
from privet.tables.frames import Array, Columns, cells_of

Words = NDArray[np.uint64]
ID_WORDS = 4
FLOATING = "fc"  # NumPy's kinds of floating types
_MOST = 2**63  # whole numbers below it are their own first word


def key_of(unit: Unit) -> bytes:
    """A public key: the guarantee holds for every key, so it need not be secret, and fits can be repeated."""
    return hashlib.blake2b(f"{unit.name}\0{unit.max_rows}".encode(), digest_size=16).digest()


# ---- who a row belongs to -----------------------------------------------------------------------------------------


def read_ids(columns: Columns, name: str) -> Words:
    """(row, 4): the unit of each row. Rows belong to one unit exactly if these are equal."""
    repeated = columns.repeated(name)
    column = columns.read(name) if repeated is None else repeated.cells
    if np.ma.getdata(column).dtype.kind in FLOATING:
        raise TableError(floating_unit(name))
    if repeated is not None:
        return np.concatenate([_ids(column), _ids_of_cells([None])])[repeated.places]
    return _ids(column)


def floating_unit(name: str) -> str:
    """Why a floating column cannot identify units, whatever it holds."""
    return (
        f"the unit's column {name!r} is of a floating type, in which different identifiers above 2**53 can become "
        "equal, so that two people could become one; give it as text or as whole numbers (pandas: dtype str or Int64 "
        "when the table is read; SQL: cast it to text or bigint)"
    )


def _ids(column: Array) -> Words:
    if np.ma.getdata(column).dtype.kind in "iu" and not np.any(np.ma.getmask(column)):
        numbers = np.ma.getdata(column)
        if numbers.dtype != np.uint64:
            ids = np.zeros((numbers.size, ID_WORDS), dtype=np.uint64)
            ids[:, 0] = numbers.astype(np.int64).view(np.uint64)
            return ids
    return _ids_of_cells(cells_of(column))


def _ids_of_cells(cells: Sequence[Any]) -> Words:
    raw = b"".join(each(id_of, cells))
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64).reshape(len(cells), ID_WORDS)


def id_of(cell: Any) -> bytes:
    """The unit that a cell names: a whole number below 2**63 as itself, all else by a digest of 256 bits.

    7, 7.0, "7" and " 7 " are one unit; "07" is another. All missing, empty or unreadable cells are one unit.

    >>> id_of("7") == id_of(7.0), id_of("7") == id_of("07"), id_of(None) == id_of(" ") == id_of(float("nan"))
    (True, False, True)
    """
    plain = plain_of(cell)
    text = plain.strip() if isinstance(plain, str) else plain
    number = _whole(text)
    if number is not None:
        return number.to_bytes(8, "little", signed=True) + bytes(24)
    if text is None or text == "" or text != text:
        return hashlib.blake2b(b"missing", digest_size=32).digest()
    return hashlib.blake2b(b"unit " + str(text).encode("utf-8", "surrogatepass"), digest_size=32).digest()


def _whole(plain: bool | int | float | str | None) -> int | None:
    """The whole number in a cell, if it is one and short enough, whatever its type."""
    if isinstance(plain, float):
        plain = int(plain) if math.isfinite(plain) and plain.is_integer() else None
    elif isinstance(plain, str):
        digits = plain.removeprefix("-")
        decimal = len(digits) <= 19 and digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0")
        plain = int(plain) if decimal and plain != "-0" else None
    return int(plain) if isinstance(plain, int) and -_MOST <= plain < _MOST else None


# ---- which rows enter ---------------------------------------------------------------------------------------------


def row_words(columns: Sequence[Array], labels: Array) -> Words:
    """(row, word): frozen records as 64-bit words, one per column, the label last. Equal records have equal words."""
    words = np.empty((labels.size, len(columns) + 1), dtype=np.uint64)
    for at, column in enumerate((*columns, labels)):
        if column.dtype.kind == "f":
            tidy = np.where(np.isnan(column), np.nan, column) + 0.0  # one NaN, and no minus zero
            words[:, at] = tidy.astype(np.float64).view(np.uint64)
        else:
            words[:, at] = column
    return words


def columns_of(words: Words, like: Sequence[Array]) -> list[Array]:
    """The inverse of :func:`row_words`, labels last; ``like`` has the types."""
    return [
        words[:, at].copy().view(np.float64) if one.dtype.kind == "f" else words[:, at].astype(one.dtype)
        for at, one in enumerate(like)
    ]


def choose(ids: Words, rows: Words, most: int, key: bytes) -> NDArray[np.bool_]:
    """The admitted rows. All rows of a unit must be here, in any order."""
    order = _by_unit(ids)
    first = np.concatenate([[True], np.any(ids[order[1:]] != ids[order[:-1]], axis=1)]) if order.size else order == 0
    number = np.cumsum(first) - 1  # of the unit, of each row in this order
    sizes = np.bincount(number) if order.size else number
    chosen = np.ones(order.size, dtype=bool)
    crowded = sizes[number] > most
    some, unit = order[crowded], number[crowded]
    if not some.size:
        return chosen
    # Sort equal rows of a unit together, to number them.
    sorted_ = np.lexsort((*rows[some].T, unit))
    some, unit = some[sorted_], unit[sorted_]
    content = rows[some]
    new = np.concatenate([[True], np.any(content[1:] != content[:-1], axis=1) | (unit[1:] != unit[:-1])])
    starts = np.flatnonzero(new)
    copy = np.arange(some.size) - starts[np.cumsum(new) - 1]
    rank = keyed_hash([*ids[some].T, *content.T, copy.astype(np.uint64)], key)
    best = np.lexsort((rank, unit))  # stable: of equal ranks the lower record comes first
    begins = np.flatnonzero(np.concatenate([[True], np.diff(unit) != 0]))
    place = np.arange(some.size) - begins[np.cumsum(np.diff(unit, prepend=unit[0]) != 0)]  # units are in order
    chosen[some] = False
    chosen[some[best[place < most]]] = True
    return chosen


def _by_unit(ids: Words) -> NDArray[np.intp]:
    """An order that groups the rows of each unit."""
    order = np.argsort(ids[:, 0], kind="stable")
    if not np.any(ids[:, 1:]):  # whole numbers alone
        return order
    return np.lexsort(ids.T)


def keyed_hash(words: Sequence[Words], key: bytes) -> Words:
    """SipHash-2-4 of records given as columns of words, all records at once."""
    k0, k1 = np.frombuffer(key, dtype="<u8").astype(np.uint64)
    size = words[0].size
    state = [np.full(size, start ^ k, dtype=np.uint64) for start, k in zip(_START, (k0, k1, k0, k1), strict=True)]
    length = np.full(size, (8 * len(words) & 255) << 56, dtype=np.uint64)
    for word in (*words, length):
        state[3] ^= word
        _rounds(state, 2)
        state[0] ^= word
    state[2] ^= np.uint64(255)
    _rounds(state, 4)
    return np.asarray(state[0] ^ state[1] ^ state[2] ^ state[3])


_START = tuple(map(np.uint64, (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)))


def _rounds(v: list[Words], count: int) -> None:
    for _ in range(count):
        for a, b, c, d, left, right in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
            v[a] += v[b]
            v[c] += v[d]
            v[b], v[d] = _turned(v[b], left), _turned(v[d], right)
            v[b] ^= v[a]
            v[d] ^= v[c]
            v[a] = _turned(v[a], 32)


def _turned(word: Words, bits: int) -> Words:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))
