"""The records of a journal: what each of them says, how it is written as a line, and the one place where it is read.

A line is JSON with a link to the lines before it (``chain.py``) and a checksum at its end. What it adds to the total
comes first, and counts even when the rest is missing. A charge out of a reservation adds nothing to what the
reservation took, so that its line begins with the reservation's number instead. A line that does not hold what it must
hold cannot be read: types, ranges and lengths are checked here, before a number is computed.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from typing import Any

from privet.errors import JournalError
from privet.kinds import ChargeKind, kind_of_old
from privet.privacy.budget import Neighbours, read_fraction
from privet.privacy.certificate import Caveat, Charge
from privet.privacy.chain import is_hash
from privet.privacy.losses import NOTHING, Loss
from privet.schema import Unit

FORMAT = 4  # 1 had no delta and no data set, 2 no links and no reservations, 3 no rho
HEADER_START = b'{"privet-journal": '
_COVERED = b'{"reservation": '
_NUMBER = rb"\d{1,4300}(?:/[1-9]\d{0,4299})?"  # Python reads no longer ones
_AMOUNT = re.compile(rb'^\{"adds": "(%s(?:, %s){0,2})"' % (_NUMBER, _NUMBER))
_OF_RESERVATION = re.compile(rb'^\{"reservation": ([1-9]\d{0,17}), ')
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ")
_MOST_NUMBER = 10**18  # of reservations and lines


@dataclass(frozen=True, slots=True)
class Note:
    """An entry that costs nothing.

    ``limit`` lowers or sets an analyst's limit (without an analyst: the cap). ``dataset`` names what is protected,
    ``unit`` whom, and ``schema`` holds what was declared about it. ``settled`` is the owner's word on a line that
    cannot be read, ``settles`` on a reservation that was not ended.
    """

    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class Reserved:
    """A piece of work took ``added`` from the cap, before it read a record. Of all entries it alone has a time."""

    number: int
    work: str
    time: str
    loss: Loss
    added: Loss


@dataclass(frozen=True, slots=True)
class Ended:
    """A piece of work is done, and what it did not charge is given back. ``output`` is the SHA-256 of what it made."""

    output: str | None = None


@dataclass(frozen=True, slots=True)
class Covered:
    """A line cut off by a crash, for which a reservation had paid: it costs nothing more, but may hide a charge."""


Entry = Charge | Caveat | Note | Reserved | Ended | Covered


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a journal: its entry (None if it cannot be read), for which analyst and out of which reservation."""

    entry: Entry | None
    analyst: str | None = None
    reservation: int | None = None
    link: str | None = None

    def line(self) -> bytes:
        return _signed(self._body() | ({} if self.link is None else {"prev": self.link}))

    def _body(self) -> dict[str, Any]:
        entry = self.entry
        of: dict[str, Any] = {} if self.reservation is None else {"reservation": self.reservation}
        match entry:
            case Charge():
                amounts = {"adds": str(entry.added), "loss": str(entry.loss), "analyst": self.analyst}
                how = {"mechanism": entry.mechanism, "scale": None if entry.scale is None else str(entry.scale)}
                return of | amounts | {"what": entry.what, "kind": entry.kind.value} | how
            case Reserved():
                of = {"adds": str(entry.added), "reserves": entry.number, "loss": str(entry.loss)}
                return of | {"analyst": self.analyst, "work": entry.work, "time": entry.time}
            case Ended():
                return of | {"ended": True, "output": entry.output}
            case Caveat():
                return {"adds": "0", "analyst": self.analyst, "caveat": entry.text, "voids": entry.voids}
            case Note():
                return {"adds": "0", "analyst": self.analyst, entry.kind: entry.value}
        raise TypeError(f"{type(entry).__name__} is never written")


@dataclass(frozen=True, slots=True)
class Header:
    """What a budget begins with. Later records cannot change it, except that one may lower the cap."""

    cap: Loss
    neighbours: Neighbours
    dataset: str | None = None

    def line(self, version: int = FORMAT) -> bytes:
        new = {"delta": str(self.cap.delta), "dataset": self.dataset} if version > 1 else {}
        always = {"epsilon": str(self.cap.epsilon), "neighbours": self.neighbours.value}
        return _signed({"privet-journal": version, **always, **new})

    @classmethod
    def read(cls, line: bytes, path: object) -> Header:
        """The header in the first line of the file at ``path``, or a ``JournalError`` that names it."""
        record = _checked(line)
        if record is None or "privet-journal" not in record:
            raise JournalError(f"{path} is not a privet journal; name another file")
        version = record["privet-journal"]
        if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= FORMAT:
            raise JournalError(f"{path} was written by a newer privet; upgrade to use it")
        try:
            cap = Loss(read_fraction(record["epsilon"], "epsilon"), read_fraction(record.get("delta", "0"), "delta"))
            Loss.of(cap)
            dataset = record.get("dataset")
            return cls(cap, Neighbours.parse(record["neighbours"]), None if dataset is None else _text(dataset))
        except (ValueError, TypeError, LookupError):
            why = "it was changed: put back the file that privet wrote"
            raise JournalError(f"{path} has a first line that holds no budget; {why}") from None


def read_record(line: bytes) -> Record:
    """The record in a line; its entry is None if the line cannot be read."""
    try:
        record = _checked(line)
        if record is not None:
            return _decode(record)
    except (ValueError, TypeError, LookupError):
        return Record(None)
    if line.endswith(b"}"):
        return Record(None)  # not cut off: somebody changed it
    if line.startswith(_COVERED):
        found = _OF_RESERVATION.match(line)
        return Record(Covered(), reservation=None if found is None else int(found.group(1)))
    amount = _AMOUNT.match(line)
    if amount is None:
        return Record(None)  # nothing is left of the record
    try:
        # The analyst's name may be lost with the rest, so a torn record counts against the cap alone.
        adds = Loss.read(amount.group(1).decode())
    except ValueError:
        return Record(None)
    return Record(Charge("a charge whose record is torn", adds, adds, kind=ChargeKind.LOST))


def _decode(record: dict[str, Any]) -> Record:
    link, analyst, of = record.get("prev"), record.get("analyst"), record.get("reservation")
    if link is not None and not is_hash(link):
        raise ValueError("no link")
    return Record(
        _entry(record), None if analyst is None else _text(analyst), None if of is None else _number(of), link
    )


def _entry(record: dict[str, Any]) -> Entry:
    if "ended" in record:
        output = record["output"]
        _number(record["reservation"])
        if record["ended"] is not True or not (output is None or is_hash(output)):
            raise ValueError("no end")
        return Ended(output)
    adds = Loss.read(record["adds"])
    if "reserves" in record:
        loss = _at_least(adds, record["loss"])
        if not _TIME.fullmatch(_text(record["time"])):
            raise ValueError("no time")
        return Reserved(_number(record["reserves"]), _text(record["work"]), record["time"], loss, adds)
    if "what" in record:
        loss = _at_least(adds, record["loss" if "loss" in record else "epsilon"])
        what, mechanism, scale, kind = _text(record["what"]), *map(record.get, ("mechanism", "scale", "kind"))
        mechanism = None if mechanism is None else _text(mechanism)
        kind = kind_of_old(what, mechanism) if kind is None else ChargeKind.parse(_text(kind))
        exact = None if scale is None else read_fraction(scale, "scale")
        if exact is not None and exact <= 0:
            raise ValueError("no scale")
        return Charge(what, loss, adds, mechanism, exact, kind)
    if adds != NOTHING:
        raise ValueError("a note that costs something")
    if "caveat" in record:
        if not isinstance(record["voids"], bool):
            raise ValueError("no caveat")
        return Caveat(_text(record["caveat"]), record["voids"])
    kind = next((kind for kind in _VALUES if kind in record), None)
    if kind is None:
        raise ValueError("unknown kind")
    _VALUES[kind](record[kind])
    return Note(kind, record[kind])


def _checked(line: bytes) -> dict[str, Any] | None:
    """The object in a line, or None if the line was not written whole or holds something else."""
    body, comma, tail = line.rpartition(b', "crc": ')
    if not comma or tail != b"%d}" % zlib.crc32(body + b"}"):
        return None
    try:
        record = json.loads(body + b"}")
    except (ValueError, RecursionError):  # a checksum is no proof that privet wrote it
        return None
    return record if isinstance(record, dict) else None


def _signed(record: dict[str, Any]) -> bytes:
    line = json.dumps(record)
    return f'{line[:-1]}, "crc": {zlib.crc32(line.encode())}}}\n'.encode()


# -- what a value must be ---------------------------------------------------------------------------------------------


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_NUMBER:
        raise ValueError("no number")
    return value


def _at_least(adds: Loss, text: object) -> Loss:
    """What each record paid, which is never less than what it added to the total."""
    loss = Loss.read(text)
    if not adds <= loss:
        raise ValueError("adds more than it costs")
    return loss


def _stated(value: object) -> None:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("no settlement")
    _number(value[0])
    Loss.read(value[1])


def _unit(value: object) -> None:
    if value is not None:
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError("no unit")
        Unit(_text(value[0]), _number(value[1]))


def _facts(value: object) -> None:
    if not isinstance(value, dict) or not all(isinstance(fact, str) for fact in value.values()):
        raise ValueError("no facts")


_VALUES = {
    "limit": Loss.read,
    "dataset": _text,
    "unit": _unit,
    "schema": _facts,
    "settled": _stated,
    "settles": _stated,
}
"""The kinds of notes, and what checks their values."""
