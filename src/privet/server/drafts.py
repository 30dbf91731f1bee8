"""Tables that are not registered yet: a file or a source, and what its owner has said about its columns so far.

A draft is a folder that only the server's user can read. It holds records until it is registered or dropped; nothing of
it is in the books, and no analyst can see that it exists.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from privet.errors import SchemaError
from privet.schema import Schema
from privet.schema.written import attribute_of, schema_of

FOLDER, FACTS = "drafts", "draft.json"


@dataclass(frozen=True)
class DraftColumn:
    """A column: what it looks like, for the owner only; what the owner says about it, and whether that is whole."""

    name: str
    seen: str
    facts: dict[str, Any] | None  # the keys of a schema; None if nothing is learned from it
    done: bool = False


@dataclass(frozen=True)
class TableDraft:
    """A table that its owner is describing."""

    id: str
    population: str
    given: str  # the name of the file as it was sent, or of the source
    table: str | None  # the name of the file in the folder; None for a source
    columns: tuple[DraftColumn, ...]
    label: str | None = None  # the column to predict
    one_row_each: bool | None = None  # None: not said yet
    unit: str | None = None
    max_rows: int | None = None
    most_records: int | None = None
    repeated: tuple[str, ...] = field(default=())
    unreadable: dict[str, int] = field(default_factory=dict)

    def column(self, name: str | None) -> DraftColumn | None:
        return next((one for one in self.columns if one.name == name), None)

    def with_column(self, place: int, column: DraftColumn) -> TableDraft:
        columns = (*self.columns[:place], column, *self.columns[place + 1 :])
        return replace(self, columns=columns)

    @property
    def waiting(self) -> list[int]:
        """The places of columns that are not described yet."""
        return [i for i, one in enumerate(self.columns) if not one.done and one.name != self.unit]

    @property
    def is_described(self) -> bool:
        """Whether the questions about the table as a whole are answered."""
        rows = self.one_row_each is True or (self.unit is not None and self.max_rows is not None)
        return self.label is not None and rows and self.most_records is not None

    def schema(self) -> Schema:
        """The schema, once everything is said; else ``SchemaError``."""
        label = self.column(self.label)
        if label is None or label.facts is None or self.waiting or not self.is_described:
            raise SchemaError("something is not said yet")
        facts: dict[str, Any] = {"name": self.id, "class": self.label} | label_keys(label.facts)
        others = (one for one in self.columns if one.name not in (self.label, self.unit))
        facts["attributes"] = [one.facts for one in others if one.facts is not None]
        if self.unit is not None and not self.one_row_each:
            facts["unit"] = {"name": self.unit, "max_rows": self.max_rows}
        return schema_of(facts)


def label_keys(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a column as those of a class."""
    if facts["type"] == "continuous":
        labels: Any = {key: facts[key] for key in ("min", "max", "integer", "missing") if facts.get(key) is not None}
        return {"labels": labels, "labels_basis": facts["basis"]}
    more = {f"labels_{key}": facts[key] for key in ("spellings", "fold") if facts.get(key)}
    return {"labels": facts["values"], "labels_basis": facts["basis"]} | more


def fault_of(facts: dict[str, Any], *, label: bool = False) -> str | None:
    """What is wrong with the facts of a column, or None."""
    try:
        attribute_of(facts)
        if label and facts["type"] == "categorical" and facts.get("missing"):
            return "a record whose class is missing is left out; the column to predict has no markers"
    except SchemaError as error:
        return str(error)
    return None


class Drafts:
    """The drafts of a server, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def all(self) -> list[TableDraft]:
        names = sorted(path.parent.name for path in self._folder.glob(f"*/{FACTS}"))
        return [found for name in names if (found := self.find(name)) is not None]

    def find(self, name: str) -> TableDraft | None:
        try:
            facts = json.loads((self._folder / name / FACTS).read_text("utf-8"))
        except FileNotFoundError:
            return None
        columns = tuple(DraftColumn(**one) for one in facts.pop("columns"))
        return TableDraft(**facts | {"columns": columns, "repeated": tuple(facts["repeated"])})

    def place(self, name: str, suffix: str) -> Path:
        """Where the file of a new draft goes."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder / f"table{suffix}"

    def path(self, draft: TableDraft) -> Path:
        assert draft.table is not None
        return (self._folder / draft.id / draft.table).absolute()

    def save(self, draft: TableDraft) -> None:
        """Replace what was said so far, at once."""
        path = self._folder / draft.id / FACTS
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = path.with_suffix(".new")
        with open(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(draft), file)
        beside.replace(path)

    def drop(self, name: str) -> None:
        shutil.rmtree(self._folder / name, ignore_errors=True)
