"""Snapshots: records that were read once, as files that other processes map.

A snapshot is a folder with the schema, a file for each column and one for the labels, in the form of ``Frozen``: each
recipe can still cut numbers its own way. It appears whole or not at all, and the table is never read again. Twins are
invented records in the same form: what happens to a question on them depends on public facts only.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from privet.engines.memory import MemoryEngine
from privet.engines.opening import gathered, open_engine
from privet.errors import TableError
from privet.privacy.counting import ROOT
from privet.schema import Categorical, Schema
from privet.tables.encoding import code_type
from privet.tables.frozen import Frozen

SCHEMA, LABELS, CAVEATS = "schema.json", "labels.npy", "caveats.json"


def write_snapshot(source: Any, schema: Schema, folder: Path, most_records: int) -> None:
    """Read a source, once, into a new folder. More usable records than were declared are refused.

    >>> import tempfile
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(100)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_snapshot(table, schema, Path(place, "clinic"), 1000)
    ...     open_snapshot(Path(place, "clinic")).schema == schema
    True
    """
    engine = gathered(open_engine(source, schema), "a snapshot", values=True, from_cluster=True)
    frozen = engine.frozen(ROOT)
    if frozen.labels.size > most_records:
        raise TableError("the table has more usable records than most_records declares; declare more, or give fewer")
    _write(frozen, folder, engine.caveats)


def open_snapshot(folder: Path, caveats: Sequence[str] = ()) -> MemoryEngine:
    """The records of a snapshot, mapped: only what a question looks at is read. Certificates state ``caveats`` too."""
    schema = Schema.from_json(folder / SCHEMA)
    columns = tuple(_map(folder / f"{i}.npy") for i in range(len(schema.attributes)))
    frozen = Frozen(schema, columns, _map(folder / LABELS), schema.unit)  # rows were chosen when it was written
    known = json.loads((folder / CAVEATS).read_text())
    return MemoryEngine(schema, frozen.codes(schema), frozen, caveats=[*known, *caveats])


def write_reasons(folder: Path, schema: Schema) -> None:
    """Replace the schemas of the snapshots in a folder by one that differs in its reasons alone."""
    for place in folder.glob(f"*/{SCHEMA}"):
        beside = place.with_suffix(".new")
        schema.to_json(beside)
        beside.replace(place)


def write_twin(schema: Schema, folder: Path, records: int) -> None:
    """As many invented records: every value that the schema allows, uniformly."""
    _write(invent(schema, records), folder)


def invent(schema: Schema, records: int) -> Frozen:
    """Invented records. They are drawn from the operating system's randomness, so two twins differ."""
    random = np.random.default_rng()

    def drawn(attribute: Any) -> Any:
        if isinstance(attribute, Categorical):
            values = random.integers(0, len(attribute.values), records)
            return values.astype(code_type(attribute.arity))
        return random.uniform(attribute.low, attribute.high, records)

    columns = tuple(drawn(attribute) for attribute in schema.attributes)
    return Frozen(schema, columns, drawn(schema.label), schema.unit)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder that appears under its name when the block ends well, and else never."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}")
    beside.mkdir(mode=0o700)
    try:
        yield beside
        os.rename(beside, folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _write(frozen: Frozen, folder: Path, caveats: Sequence[str] = ()) -> None:
    with new_folder(folder) as made:
        frozen.schema.to_json(made / SCHEMA)
        (made / CAVEATS).write_text(json.dumps(list(caveats)))
        for i, column in enumerate(frozen.columns):
            _save(made / f"{i}.npy", column)
        _save(made / LABELS, frozen.labels)


def _save(path: Path, array: Any) -> None:
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _map(path: Path) -> Any:
    array = np.load(path, allow_pickle=False, mmap_mode="r")
    return array.view(np.ndarray)  # compiled kernels know plain arrays
