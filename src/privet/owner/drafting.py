"""Draft a schema for a table, for its owner to finish. OUTSIDE PRIVACY: it reads records, for the owner only.

Names are copied and types guessed. Bounds stay empty: the minimum and the maximum of a column belong to single records.
Values are listed only if several records share each. Everything is marked ``unconfirmed``, and no schema can be built
from that (:mod:`privet.schema.written`): only the owner can declare a fact public.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from privet.addresses import is_address, safe
from privet.errors import TableError
from privet.owner.hints import COMMA, DATE
from privet.schema.attributes import UNCONFIRMED
from privet.schema.identifiers import looks_like_identifier
from privet.schema.keys import CATEGORY, NUMBER
from privet.tables.cells import number_of, plain_of
from privet.tables.files import Records, column_names, faults_of_lines, is_there, read_columns
from privet.tables.foreign import BAR, SEPARATED
from privet.tables.frames import cells_of, open_table

MOST_RECORDS = 100_000  # read at most; types show sooner
MOST_CLASSES = 20  # distinct numbers that are rather classes, in the column to predict
MOST_VALUES = 50  # in a list that a person can check; a column with more is a text or a name
ENOUGH = 10  # records that must share a value before it is listed
MOSTLY = 0.9  # the share of cells that settles a type: a few are always odd
# Common spellings of a missing number, in any case.
MARKERS = ("?", "na", "n/a", "#n/a", "n.a.", "k.a.", "nan", "null", "none", "missing", "unknown", "-", "--", ".")
CLASSES = ("class", "label", "target", "outcome", "y")  # common names of the column to predict

IDENTIFIER = "an identifier: no value occurs twice"
FILL = "fill in min and max"
VALUE_OR_CLASSES = "to predict a value, fill in min and max; or cut it into classes, and list them"
CONFIRM = "confirm or correct the list"
LIST = "list the values"
WHY = (
    "Why min and max are empty: the least and the greatest value of a column belong to single records. A bound that "
    "was read off the data reveals something about the person who has it, and no noise hides that. Take bounds from "
    "the meaning (an age is 0 to 120), from documents or from the instrument. If in doubt, make them too wide. The "
    f"lists of values were read off the data too, as far as at least {ENOUGH} records share a value: delete what is "
    "not public knowledge, and add what can occur."
)


@dataclass(frozen=True)
class DraftedColumn:
    """A column's guessed type, and what the owner has to do. ``facts`` is None if it is left out."""

    name: str
    taken_for: str
    to_do: str
    facts: dict[str, Any] | None


@dataclass(frozen=True)
class DraftedSchema:
    """An unconfirmed schema, as the content of its file, and the draft of each column."""

    facts: dict[str, Any]
    columns: tuple[DraftedColumn, ...]
    unreadable: dict[str, int]  # unreadable lines of the file, by reason
    repeated: tuple[str, ...] = ()  # columns that are named like identifiers, and in which a value occurs twice


def draft(path: str | PathLike[str], label: str | None = None) -> DraftedSchema:
    """Draft the schema of a table file. ``label`` is the column to predict, if it is known."""
    path = Path(path)
    names = _checked_names(path, column_names(path))
    table = read_columns(path, names, most=MOST_RECORDS)
    lost = isinstance(table, Records) and None in table[names[0]]  # cells of a readable line are text
    if lost:
        table = {name: [cell for cell in table[name] if cell is not None] for name in names}
    drafted = draft_table(path, names, table, label)
    return replace(drafted, unreadable=faults_of_lines(path)) if lost else drafted


def draft_table(
    source: str | PathLike[str], names: Sequence[str], table: Any, label: str | None = None
) -> DraftedSchema:
    """Draft the schema of some records: ``names`` are the columns of their source, a file or an address."""
    names = _checked_names(source, names)
    if label is not None and label not in names:
        near = get_close_matches(label.casefold(), [name.casefold() for name in names], n=1)
        meant = [name for name in names if near and name.casefold() == near[0]][:1]
        hint = f"did you mean {meant[0]!r}? The" if meant else "the"
        raise TableError(f"{safe(source)} has no column {label!r}; {hint} class must be one of {', '.join(names)}")
    usual = [name for name in names if name.lower() in CLASSES]
    label = usual[0] if label is None and len(usual) == 1 else label
    columns = open_table(table)
    drafted = {name: draft_column(name, cells_of(columns.read(name)), is_label=name == label) for name in names}
    attributes = [column.facts for name, column in drafted.items() if name != label and column.facts is not None]
    stem = "table" if is_address(source) and not is_there(Path(source)) else Path(source).name.split(".")[0]
    labels = None if label is None else _labels(drafted[label].facts or {})
    facts = {"name": stem, "attributes": attributes, "class": label, "labels": labels, "labels_basis": UNCONFIRMED}
    if label is not None:
        drafted[label] = replace(drafted[label], facts=None)
    named = [name for name in names if looks_like_identifier(name)]
    repeated = tuple(name for name in named if _repeats(cells_of(columns.read(name))))
    return DraftedSchema(facts, tuple(drafted.values()), {}, repeated)


def _repeats(cells: Sequence[Any]) -> bool:
    there = [plain for cell in cells if (plain := _plain_text(cell)) is not None]
    return len(set(map(str, there))) < len(there)


def _labels(facts: dict[str, Any]) -> Any:
    """The labels of a draft: a list of classes, or the bounds of a number."""
    if facts.get("type") != NUMBER:
        return facts.get("values")
    return {key: value for key, value in facts.items() if key not in ("name", "type", "basis")}


def _checked_names(path: str | PathLike[str], header: Sequence[str]) -> tuple[str, ...]:
    """The names in a header, without empty ones (an index column). Messages show none, since it may be a record."""
    names = tuple(name for name in header if name)
    if not names or any(not math.isnan(number_of(name)) or DATE.fullmatch(name) for name in names):
        raise TableError(f"the first line of {safe(path)} looks like a record; it must name the columns")
    if len(set(names)) < len(names):
        raise TableError(f"two columns of {safe(path)} have the same name; rename one")
    if len(names) == 1 and BAR in names[0]:
        raise TableError(f"the first line of {safe(path)} has bars between the names: {SEPARATED}")
    return names


def draft_column(name: str, cells: Sequence[Any], *, is_label: bool = False) -> DraftedColumn:
    """Guess the type of a column.

    >>> draft_column("age", [31, 64, 8, 27]).facts
    {'name': 'age', 'type': 'continuous', 'min': None, 'max': None, 'integer': True, 'basis': 'unconfirmed'}
    >>> draft_column("cough", ["no", "yes", "no", ""] * 20).facts
    {'name': 'cough', 'type': 'categorical', 'values': ['no', 'yes', '?'], 'basis': 'unconfirmed'}
    """
    plain = [_plain_text(cell) for cell in cells]
    markers = _markers(plain)
    there = [cell for cell in plain if cell is not None and cell not in markers and not _is_marker(cell)]
    numbers = [number for number in map(number_of, there) if math.isfinite(number)]
    texts = [cell for cell in there if isinstance(cell, str)]
    if _mostly(DATE, texts, there):
        return _left_out(name, "dates or times", "a number would do, such as the year")
    if _mostly(COMMA, texts, there):
        return _left_out(name, "numbers with a decimal comma", "write decimal points and draft again")
    numeric = len(numbers) >= MOSTLY * len(there) > 0 and not any(isinstance(cell, bool) for cell in there)
    if numeric and len(set(numbers)) > (MOST_CLASSES if is_label else 2):
        drafted = _number(name, numbers, (markers or ["?"]) if len(there) < len(plain) else [])
        return replace(drafted, to_do=VALUE_OR_CLASSES) if is_label and drafted.facts is not None else drafted
    return _category(name, [cell for cell in plain if cell is not None], None in plain, is_label)


def _plain_text(cell: Any) -> bool | int | float | str | None:
    """The content of a cell, stripped; None if it is empty."""
    plain = plain_of(cell)
    plain = plain.strip() if isinstance(plain, str) else plain
    return None if plain == "" or plain != plain else plain


def _is_marker(cell: Any) -> bool:
    return isinstance(cell, str) and cell.casefold() in MARKERS


def _markers(cells: Sequence[Any]) -> list[str]:
    """The markers of a missing number, the most frequent first: common ones, or a word that many cells share."""
    words = Counter(
        cell for cell in cells if isinstance(cell, str) and (math.isnan(number_of(cell)) or _is_marker(cell))
    )
    usual = [word for word, _ in words.most_common() if _is_marker(word)]
    often = [word for word, count in words.most_common(1) if ENOUGH <= count <= len(cells) / 2]
    return usual or often


def _mostly(pattern: re.Pattern[str], texts: list[str], there: list[Any]) -> bool:
    return bool(there) and sum(pattern.fullmatch(text) is not None for text in texts) >= MOSTLY * len(there)


def _number(name: str, numbers: list[float], markers: list[str]) -> DraftedColumn:
    whole = all(number.is_integer() for number in numbers)
    distinct = len(set(numbers))
    if whole and distinct == len(numbers) and (distinct > 2 * MOST_VALUES or looks_like_identifier(name)):
        return _left_out(name, IDENTIFIER, "add it by hand if it is a number")
    facts: dict[str, Any] = {"name": name, "type": NUMBER, "min": None, "max": None}
    facts |= {"integer": True} if whole else {}
    facts |= {"missing": markers if len(markers) > 1 else markers[0]} if markers else {}
    facts |= {"basis": UNCONFIRMED}
    taken = "a whole number" if whole else "a number"
    listed = " or ".join(f'"{marker}"' for marker in markers)
    note = "" if not markers else ", missing in places" if markers == ["?"] else f", {listed} where missing"
    return DraftedColumn(name, taken + note, FILL, facts)


def _category(name: str, cells: list[Any], gaps: bool, is_label: bool) -> DraftedColumn:
    counted = Counter((type(cell), cell) for cell in cells)  # 1 and True are two cells
    common = [cell for (_, cell), count in counted.items() if count >= ENOUGH]
    if len(counted) == len(cells) > 2 * MOST_VALUES and not is_label:
        return _left_out(name, IDENTIFIER, "not to learn from")
    alone = sum(count for count in counted.values() if count < ENOUGH)
    if len(common) > MOST_VALUES or (len(counted) > MOST_VALUES and alone > len(cells) / 2):
        taken = f"more than {MOST_VALUES} values: a text, a name or a number in words"
        return _left_out(name, taken, "list the classes" if is_label else "add it by hand if its values are few")
    values = sorted(common, key=lambda cell: (isinstance(cell, str), cell))
    rare = gaps or len(common) < len(counted)
    other = next(
        (cell for cell in values if _is_marker(cell) and cell.casefold() != "none"), "?"
    )  # none can be a value
    if rare and values and other not in values and not is_label:
        values.append(other)
    facts: dict[str, Any] = {"name": name, "type": CATEGORY, "values": values or None}
    facts |= {"other": other} if other != "?" and not is_label else {}
    facts |= {"basis": UNCONFIRMED}
    taken = f"one of {len(values)} values" if values else f"values that fewer than {ENOUGH} records share"
    note = f', "{other}" for missing and rare ones' if other in values and not is_label else ""
    return DraftedColumn(name, taken + note, CONFIRM if values else LIST, facts)


def _left_out(name: str, taken_for: str, to_do: str) -> DraftedColumn:
    return DraftedColumn(name, taken_for, to_do, None)
