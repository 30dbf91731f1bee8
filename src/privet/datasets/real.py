"""Real tables with published schemas: from a local directory, the cache, or OpenML.

A table called ``adult`` is two files: ``adult.csv.gz`` (UTF-8, a header row) and ``adult.schema.json``. If a directory
is given, only that one is searched; otherwise the one that the environment variable ``PRIVET_DATA`` names, then the
cache. A table in neither, but in :mod:`privet.datasets.catalogue`, is downloaded from OpenML, checked, and kept in the
cache: a user directory, or the one that ``PRIVET_CACHE`` names.
"""

from __future__ import annotations

import gzip
import os
import sys
import time
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from privet.datasets.catalogue import (
    SCHEMA,
    Entry,
    as_csv,
    checksum,
    converted,
    entries,
    public_names,
    public_schema_file,
)
from privet.datasets.openml import download as download_from_openml
from privet.errors import ParameterError, TableError
from privet.schema import Schema
from privet.tables.files import Records, read_table

VARIABLE, CACHE_VARIABLE = "PRIVET_DATA", "PRIVET_CACHE"
TABLE = ".csv.gz"
OLD = 24 * 3600  # seconds after which a partial file is stale: no download takes so long


def names(data_dir: str | PathLike[str] | None = None) -> tuple[str, ...]:
    """The available tables: those with both files, in ``data_dir`` or else in ``PRIVET_DATA`` and the cache."""
    places = _places(data_dir)
    found = sorted({name for place in places for name in _names_in(place)})
    if not places:
        raise ParameterError(
            f"{VARIABLE} is not set and the cache is empty: point {VARIABLE}, or the argument data_dir, at a directory "
            f"of <name>{TABLE} files with a <name>{SCHEMA} beside each, or download one with privet.datasets.load"
        )
    return tuple(found)


def load_schema(name: str, data_dir: str | PathLike[str] | None = None) -> Schema:
    """The public facts of a table, without reading it. Schemas of the catalogue come with privet.

    >>> schema = load_schema("adult")
    >>> len(schema.attributes), schema.classes
    (14, ('<=50K', '>50K'))
    """
    place = _place_of(name, data_dir)
    if place is not None:
        return Schema.from_json(place / (name + SCHEMA))
    shipped = public_schema_file(name) if data_dir is None else None
    if shipped is None:
        raise _unknown(name, data_dir)
    return Schema.from_json(shipped)


def load(name: str, data_dir: str | PathLike[str] | None = None, *, download: bool = True) -> tuple[Schema, Records]:
    """A table's schema and the columns it declares, every cell as the text it is in the file.

    Looks in ``data_dir``, or else in the directory that ``PRIVET_DATA`` names, in the cache, and at OpenML. A line that
    cannot be read is a record of None, see :mod:`privet.tables.files`.

    Parameters
    ----------
    name : such as ``"adult"``; ``names()`` lists the available ones
    data_dir : the only directory to search, if given
    download : whether to download a table that is not available locally

    >>> import gzip, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "toy.csv.gz")
    ...     _ = table.write_bytes(gzip.compress(b"smokes,class\\nyes,ill\\nno,well\\n"))
    ...     facts = (
    ...         '{"name": "toy", "attributes": [{"name": "smokes", "type": "categorical", "values": ["no", "yes"]}],'
    ...     )
    ...     _ = pathlib.Path(folder, "toy.schema.json").write_text(
    ...         facts + '"class": "class", "labels": ["ill", "well"]}'
    ...     )
    ...     schema, records = load("toy", folder)
    >>> records["smokes"].tolist()
    ['yes', 'no']
    """
    place = _place_of(name, data_dir)
    if place is None:
        entry = entries().get(name) if data_dir is None and download else None
        if entry is None:
            raise _unknown(name, data_dir)
        place = _download(name, entry)
    schema = Schema.from_json(place / (name + SCHEMA))
    records: Records = read_table(place / (name + TABLE), schema)
    return schema, records


def fetch(tables: Iterable[str]) -> None:
    """Download the tables that are neither in ``PRIVET_DATA`` nor in the cache, before work begins."""
    places = _places(None)
    known = sorted({name for place in places for name in _names_in(place)})
    missing = [name for name in dict.fromkeys(tables) if name not in known]
    if unknown := [name for name in missing if name not in entries()]:
        raise ParameterError(
            f"no table called {unknown[0]!r} in {VARIABLE}; there are {', '.join(known) or 'none'}, "
            f"and OpenML is asked for {', '.join(sorted(entries()))}"
        )
    for name in missing:
        _download(name, entries()[name])


def cache_dir() -> Path:
    """The directory of downloaded tables: ``PRIVET_CACHE``, or this system's cache directory."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "privet" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "privet"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privet"


# ---- where tables are ----------------------------------------------------------------------------------------------


def _names_in(place: Path) -> list[str]:
    stems = (path.name.removesuffix(TABLE) for path in place.glob("*" + TABLE))
    return [stem for stem in stems if (place / (stem + SCHEMA)).is_file()]


def _places(data_dir: str | PathLike[str] | None) -> list[Path]:
    """The directories to search, in order."""
    source, named = ("data_dir", data_dir) if data_dir is not None else (VARIABLE, os.environ.get(VARIABLE))
    places = []
    if named:
        places.append(Path(named))
        if not places[0].is_dir():
            raise ParameterError(f"{source} names {str(places[0])!r}, which is not a directory; correct it")
    if data_dir is None and (kept := cache_dir()).is_dir():
        places.append(kept)
    return places


def _place_of(name: str, data_dir: str | PathLike[str] | None) -> Path | None:
    return next((place for place in _places(data_dir) if name in _names_in(place)), None)


def _unknown(name: str, data_dir: str | PathLike[str] | None) -> ParameterError:
    files = f"{name}{TABLE} and {name}{SCHEMA}"
    places = _places(data_dir)
    known = sorted({known for place in places for known in _names_in(place)})
    where = " and ".join(map(str, places)) or f"reach ({VARIABLE} is not set)"
    text = f"no table called {name!r} in {where}: it needs {files}; there are {', '.join(known) or 'none'}"
    if data_dir is None:
        if name in public_names():
            text += f". Its schema comes with privet, and {_by_hand(name)}"
        else:
            text += f". OpenML is asked for {', '.join(sorted(entries()))}"
    return ParameterError(text)


def _by_hand(name: str) -> str:
    shipped = public_schema_file(name)
    return (
        f"the table can be put in place by hand: write it as {name}{TABLE} (UTF-8, a header, commas; columns and cells "
        f"as in {shipped}), put it and a copy of that schema in a directory, and set {VARIABLE} to it"
    )


# ---- OpenML --------------------------------------------------------------------------------------------------------


def _download(name: str, entry: Entry) -> Path:
    """Download a table of the catalogue into the cache; keep nothing if it fails its checks."""
    shipped = public_schema_file(name)
    assert shipped is not None
    schema = Schema.from_json(shipped)
    try:
        rows = converted(download_from_openml(entry.openml), schema, entry)
    except TableError as error:
        raise TableError(
            f"{name} is neither in {VARIABLE} nor in the cache, and could not be downloaded: {error}. "
            f"With a network, try again later; without, {_by_hand(name)}"
        ) from error
    if (found := checksum(schema, rows)) != entry.sha256:
        raise TableError(
            f"what OpenML has under {entry.openml} is not the {name} that privet knows: {len(rows)} records with the "
            f"checksum {found[:16]}..., and not {entry.sha256[:16]}... It was not kept; {_by_hand(name)}"
        )
    place = cache_dir()
    place.mkdir(parents=True, exist_ok=True)
    _put(place / (name + SCHEMA), shipped.read_bytes())
    _put(place / (name + TABLE), gzip.compress("".join(as_csv(schema, rows)).encode(), mtime=0))
    return place


def _put(path: Path, content: bytes) -> None:
    """Write atomically: readers and parallel downloads never see half a file."""
    half = path.with_name(f"{path.name}.{os.getpid()}.part")
    for other in path.parent.glob(f"{path.name}.*.part"):  # of a download that was killed
        if time.time() - other.stat().st_mtime > OLD:
            other.unlink(missing_ok=True)
    try:
        half.write_bytes(content)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
