"""Sources of other packages, by the entry-point group ``privet.sources``.

An entry point has the name of its scheme, such as ``sqlite``, and is a callable that takes an address and returns a
:class:`~privet.engines.sources.Source`. It is loaded when such an address is opened, not before. ``TableError``s of the
package are shown, unless they repeat a part of the address. All other errors are dropped: they can quote a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar
from urllib.parse import unquote_plus

from privet.addresses import safe
from privet.engines.attempts import SOURCE_FAILED, attempt
from privet.errors import EngineError, PrivetError, TableError

T = TypeVar("T")

GROUP = "privet.sources"
SHORTEST = 3  # letters of an address part that a message must not repeat; shorter parts occur anywhere


@dataclass(frozen=True, repr=False)
class OtherSource:
    """A source of another package, whose errors never show the address."""

    source: Any
    address: str
    package: str

    @property
    def caveats(self) -> tuple[str, ...]:
        return tuple(self.source.caveats)

    def header(self, columns: Sequence[str]) -> Any:
        return self._ask(lambda: self.source.header(columns))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        # The header was read, so the package has said what is wrong with the table. A later message can quote a record.
        batches = _silently(lambda: iter(self.source.batches(columns)))
        while (batch := _silently(lambda: next(batches, None))) is not None:
            yield batch

    def names(self) -> tuple[str, ...]:
        if not hasattr(self.source, "names"):
            raise TableError(f"{safe(self.address)} cannot list its columns; write the schema by hand")
        return self._ask(lambda: tuple(self.source.names()))

    def _ask(self, work: Callable[[], T]) -> T:
        return _without_address(work, self.address, self.package)

    def __repr__(self) -> str:
        return f"<a source of {self.package}>"


def open_other(scheme: str, address: str) -> OtherSource | None:
    """The source of another package for an address; None if no package has its scheme."""
    found = [entry for entry in entry_points(group=GROUP) if entry.name == scheme]
    if not found:
        return None
    entry = min(found, key=_package)  # deterministic, if two packages have the scheme
    package = _package(entry)

    def opened() -> Any:
        return attempt(lambda: entry.load()(address), f"package {package!r} cannot open {safe(address)}", tries=1)

    source = _without_address(opened, address, package)
    if not all(hasattr(source, name) for name in ("caveats", "header", "batches")):
        raise TableError(f"what package {package!r} opens for {scheme}:// addresses is not a privet source")
    return OtherSource(source, address, package)


def _without_address(work: Callable[[], T], address: str, package: str) -> T:
    """Return what ``work`` returns. A ``TableError`` that repeats the address is replaced, not kept as a context."""
    try:
        return work()
    except PrivetError as error:
        kind, message = type(error), str(error)
    if any(part in message for part in _secret_parts(address)):
        message = f"package {package!r} cannot read {safe(address)}; its own message repeats the address"
    raise kind(message)


def _silently(work: Callable[[], T]) -> T:
    """What ``work`` returns. An error says only that there was one, and keeps no context."""
    with suppress(Exception):
        return work()
    raise EngineError(SOURCE_FAILED)


def _secret_parts(address: str) -> set[str]:
    """All parts of an address except its scheme and table, encoded and decoded."""
    shown = set(re.split(r"\W+", safe(address)))
    written = re.split(r"[/:@?&=;,\s]+", address)
    parts = {form for part in written for form in (part, unquote_plus(part))}
    return {part for part in parts if len(part) >= SHORTEST and part not in shown}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value.partition(":")[0]
