"""Journals that somebody wrote by hand, and those of older versions: a clear sentence, or a total that is too high."""

from __future__ import annotations

import random
import shutil
import zlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from privet import Ledger
from privet.errors import EpsilonError, JournalError
from privet.privacy.chain import BROKEN, NO_LINK
from privet.privacy.examining import examine
from privet.privacy.journal import Journal
from privet.privacy.losses import Loss

LANDED = Path(__file__).with_name("journals")
MANY = "9" * 4000


def raw(body: str | bytes, link: str | None = None) -> bytes:
    """A line with a checksum that holds, from an object without its closing brace."""
    text = body.encode() if isinstance(body, str) else body
    text += b"" if link is None else f', "prev": "{link}"'.encode()
    return text + b', "crc": %d}\n' % zlib.crc32(text + b"}")


def charge(**values: str) -> str:
    fields = {"adds": '"1/2"', "loss": '"1/2"', "analyst": "null", "what": '"x"', "mechanism": "null", "scale": "null"}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in (fields | values).items())


def note(kind: str, value: str, adds: str = '"0"') -> str:
    return f'{{"adds": {adds}, "analyst": null, "{kind}": {value}'


AMOUNTS = (
    *('"1/0"', '"-1"', '"nan"', "1", "null", '"1e999999999"', f'"1e-{MANY}"', '"2"', f'"{"9" * 5000}"', '"0.1, 2"'),
    *('"0, 0, 0"', '"1e101"', "[1]", '" 1"'),
)
VALUES = {
    "limit": ('"junk"', "[1]", '"1/0"', '"-3"', "3"),
    "dataset": ("3", "[1]", "null"),
    "unit": ("[1, 2, 3]", '"abc"', '["p", -2]', '["p", 1.5]', "[3, 4]", '["", 1]'),
    "schema": ("[1]", '"x"', '{"a": 1}'),
    "settled": ("3", '[1, "-50"]', '[1, "junk"]', '["1", "1"]', '[1, "1/0"]', "[]"),
    "settles": ("3", '[1, "-50"]', "[true, 1]"),
    "caveat": ('"no voids"',),
    "unknown": ("1",),
}
TIME = '"time": "2026-01-01T00:00Z"'
RESERVES = (
    '1, "loss": "1/2", "work": "w", "time": "now"',
    f'0, "loss": "1/2", "work": "w", {TIME}',
    f'"1", "loss": "1/2", "work": "w", {TIME}',
    f'1, "loss": "1/4", "work": "w", {TIME}',
    f'1, "loss": "1/2", {TIME}',
)
ENDED = ('true, "output": null', '1, "output": null', 'true, "output": "x"', "true")
WRONG: dict[str, str | bytes] = {
    **{f"adds {text[:12]}": charge(adds=text) for text in AMOUNTS},
    **{f"scale {text[:12]}": charge(scale=text) for text in ('"1/0"', '"0"', '"-1"', "3", '"1e999999999"')},
    **{f"what {text}": charge(what=text) for text in ('["x"]', "3", "null")},
    **{f"analyst {text}": charge(analyst=text) for text in ('["x"]', '{"a": 1}', "3")},
    "mechanism": charge(mechanism="[1]"),
    "adds more than it costs": charge(loss='"1/4"'),
    **{f"of {n}": f'{{"reservation": {n}, {charge()[1:]}' for n in ("7", "-1", "1.5", '"1"', "1e5", "true")},
    **{f"{kind} {value[:9]}": note(kind, value) for kind, values in VALUES.items() for value in values},
    "a note with a price": note("dataset", '"x"', '"1"'),
    "caveat": '{"adds": "0", "caveat": ["x"], "voids": "y"',
    **{f"reserves {value[:20]}": f'{{"adds": "1/2", "reserves": {value}, "analyst": null' for value in RESERVES},
    **{f"ended {value}": f'{{"reservation": 1, "ended": {value}' for value in ENDED},
    "deep": '{"adds": "0", "x": ' + "[" * 100_000 + "]" * 100_000,
    "a long number": '{"adds": "0", "x": ' + "9" * 10_000,
    "an array": "[1",
    "not UTF-8": b'{"adds": "0", "what": "\xff\xfe"',
    "only adds": '{"adds": "0"',
    "no link at all": charge(),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    ledger = Ledger(2, journal=tmp_path / "journal", dataset="x")
    for account in (ledger, ledger.analyst("alice", 1)):
        account.charge(Fraction(1, 10), "count")
    return tmp_path / "journal"


def use(path: Path) -> Fraction:
    """All that an owner looks at; what is spent."""
    ledger = Ledger(journal=path)
    assert all(text for text in (repr(ledger), ledger._repr_html_(), str(ledger.certificate()), str(ledger.analysts)))
    assert ledger.remaining == max(2 - ledger.spent, 0)
    return ledger.spent


@pytest.mark.parametrize("linked", [True, False], ids=["linked", "without a link"])
@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG)
def test_a_line_that_makes_no_sense_counts_as_all_of_the_budget(path: Path, line: str | bytes, linked: bool) -> None:
    if linked and line == WRONG["no link at all"]:
        pytest.skip("with a link it is a charge")
    with path.open("ab") as file:
        file.write(raw(line, Ledger(journal=path).head if linked else None))
    assert use(path) == 2
    assert len(examine(path).unread) == 1


def test_fractions_whose_sum_has_endless_digits(path: Path) -> None:
    """Each can be read, but nobody could write their sum."""
    for prime in (10**2000 + 4561, 10**2001 + 1):
        text = f'"1/{prime}"'
        with path.open("ab") as file:
            file.write(raw(charge(adds=text, loss=text), Ledger(journal=path).head))
    assert use(path) == 2


def test_settled_fractions_whose_sum_has_endless_digits(path: Path) -> None:
    """The cost that an owner stated is counted like a charge, and must be as short."""
    with path.open("ab") as file:
        file.write(b"garbage\ngarbage\n")
    unread = examine(path).unread
    for line, prime in zip(unread, (10**2000 + 4561, 10**2001 + 1), strict=True):
        with path.open("ab") as file:
            file.write(raw(note("settled", f'[{line}, "1/{prime}"]'), Ledger(journal=path).head))
    assert use(path) == 2
    assert unread[-1] in examine(path).unread


@pytest.mark.parametrize("kind", ["line", "reservation"])
def test_no_owner_can_settle_at_an_amount_with_endless_digits(path: Path, kind: str) -> None:
    ledger = Ledger(journal=path)
    ledger.charge(Fraction(10**1999, 10**2000 + 4561), "a long one")
    if kind == "line":
        with path.open("ab") as file:
            file.write(b"garbage\n")
        settle, number = ledger.settle, examine(path).unread[0]
    else:
        line = f'{{"adds": "1/2", "reserves": 1, "loss": "1/2", "analyst": null, "work": "w", {TIME}'
        with path.open("ab") as file:
            file.write(raw(line, ledger.head))
        settle, number = ledger.settle_reservation, 1
    with pytest.raises(EpsilonError, match="thousands of digits"):
        settle(number, Fraction(1, 10**2001 + 1))
    settle(number, Fraction(1, 4))
    assert not examine(path).unread


HEADS = {
    "epsilon": ("1/0", "-1", "junk", "1e999999999", "0", "1e101"),
    "delta": ("5", "-1", "1/0"),
    "neighbours": ("foo", ""),
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in HEADS.items() for value in values])
def test_a_first_line_without_a_budget_is_named(tmp_path: Path, key: str, value: str) -> None:
    facts = {"epsilon": "1", "neighbours": "add-remove", "delta": "0"} | {key: value}
    path = tmp_path / "journal"
    path.write_bytes(raw('{"privet-journal": 2, ' + ", ".join(f'"{k}": "{v}"' for k, v in facts.items())))
    for look in (lambda: Ledger(journal=path), lambda: examine(path)):
        with pytest.raises(JournalError, match="first line that holds no budget; it was changed"):
            look()


@pytest.mark.parametrize(
    "line", ['{"privet-journal": [2], "epsilon": "1"', '{"privet-journal": true', '{"privet-journal": 9']
)
def test_a_version_that_is_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "journal").write_bytes(raw(line))
    with pytest.raises(JournalError, match="newer privet"):
        Ledger(journal=tmp_path / "journal")


def test_a_first_line_without_end(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b'{"privet-journal": ' + b"9" * 3_000_000)
    with pytest.raises(JournalError, match="is not a privet journal"):
        Ledger(journal=tmp_path / "journal")


LESS = raw(charge(adds='"1/100"', loss='"1/100"'))[:-1]
MORE = raw('{"privet-journal": 3, "epsilon": "9", "neighbours": "add-remove", "delta": "0", "dataset": "x"')[:-1]
EDITS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "deleted": lambda lines: lines[:2] + lines[3:],
    "reordered": lambda lines: [lines[0], *lines[:0:-1]],
    "repeated": lambda lines: [*lines, lines[-1]],
    "changed, with a new checksum": lambda lines: [*lines[:1], LESS, *lines[2:]],
    "put in": lambda lines: [*lines[:2], LESS, *lines[2:]],
    "the first line, with a larger cap": lambda lines: [MORE, *lines[1:]],
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_journal_is_seen_and_gives_no_budget(path: Path, edit: Callable[[list[bytes]], list[bytes]]) -> None:
    before = examine(path)
    assert (before.unread, before.broken) == ((), {})
    path.write_bytes(b"\n".join(edit(path.read_bytes().splitlines())) + b"\n")
    found = examine(path)
    assert set(found.broken.values()) <= {BROKEN, NO_LINK}
    assert found.unread
    ledger = Ledger(journal=path)
    assert ledger.remaining == 0
    with pytest.raises(JournalError, match="protects"):  # nor can it be opened with another cap
        Ledger(7, journal=path)
    for line in found.unread:
        ledger.settle(line, 0)
    assert before.head not in examine(path).heads or edit is EDITS["repeated"], "a head that was kept shows it for good"


def test_a_cut_end_is_seen_by_the_head_alone(path: Path) -> None:
    head = Ledger(journal=path).head
    path.write_bytes(b"\n".join(path.read_bytes().splitlines()[:-1]) + b"\n")
    assert examine(path).unread == ()
    assert head not in examine(path).heads


def test_random_damage_never_leaves_less_than_was_spent(path: Path, tmp_path: Path) -> None:
    good, chance, spent = path.read_bytes(), random.Random(3), Fraction(1, 5)
    for trial in range(400):
        data, at = bytearray(good), chance.randrange(len(good))
        reach = chance.randrange(1, 60)
        match trial % 4:
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + reach]
                if at + reach >= len(good):
                    continue  # a cut end, which only a head shows
            case 2:
                data[at:at] = chance.randbytes(reach)
            case 3:
                data[at : at + reach] = bytes(len(data[at : at + reach]))
        hit = tmp_path / f"hit {trial}"
        hit.write_bytes(data)
        try:
            assert use(hit) >= spent
        except JournalError:
            assert at <= good.index(b"\n"), "only what hits the first line stops the reader"


# ---- older versions -------------------------------------------------------------------------------------------------


def test_a_landed_journal_is_read_and_continued(tmp_path: Path) -> None:
    """Written by the version before links and reservations: with a torn and a settled line, an analyst, a lower cap."""
    path = tmp_path / "journal"
    shutil.copy(LANDED / "format-2.journal", path)
    old = path.read_bytes()
    ledger = Ledger(journal=path)
    assert (ledger.spent, ledger.remaining) == (Fraction(43, 48), Fraction(29, 48))
    assert (ledger.analyst("ann").spent, ledger.dataset) == (Fraction(1, 8), "clinic-2026")
    assert {"the bounds are round"} < {caveat.text for caveat in ledger.certificate().caveats}
    assert path.read_bytes() == old, "looking changes nothing"
    with ledger.reserve(0.5, "fit of exact") as fit:
        fit.charge(0.25, "count")
    assert path.read_bytes().startswith(old)
    assert Ledger(journal=path).spent == Fraction(43, 48) + Fraction(1, 4)
    assert (examine(path).unread, examine(path).broken, examine(path).torn) == ((), {}, (7,))
    for line in range(len(old.splitlines())):  # the first link covers all that was before it
        lines = path.read_bytes().splitlines()
        lines[line] = lines[line].replace(b"a", b"b") if line != 8 else b"!!!!"
        hit = tmp_path / f"hit {line}"
        hit.write_bytes(b"\n".join(lines) + b"\n")
        if line:
            assert examine(hit).broken
            assert Ledger(journal=hit).remaining == 0


def test_the_first_format_too(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    shutil.copy(LANDED / "format-1.journal", path)
    with Ledger(journal=path).reserve(0.25, "fit") as fit:
        fit.charge(Loss(0.125), "count")
    assert Ledger(journal=path).spent == Fraction(1, 2)
    assert examine(path).broken == {}


def test_the_planted_fault_of_links_to_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a link the hash of the line before alone, a torn line would hide what is changed above it."""
    with path.open("ab") as file:
        file.write(b'{"adds": "1/10", "loss')
    Ledger(journal=path).charge(Fraction(1, 10), "after the crash")
    lines = path.read_bytes().splitlines()
    del lines[1]
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert examine(path).broken
    monkeypatch.setattr(Journal, "head", "0" * 64)
    Ledger(2, journal=path.with_name("other")).charge(1, "count")
    assert examine(path.with_name("other")).broken == {2: BROKEN}, "a writer of wrong links is caught at once"
