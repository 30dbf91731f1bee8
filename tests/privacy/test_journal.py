"""The journal as a file: what it remembers, and that it is believed at its worst after every kind of damage."""

from __future__ import annotations

import json
import os
import stat
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import Ledger
from privet.errors import BudgetExceeded, EpsilonError, JournalError
from privet.privacy.mechanisms import noisy_counts
from privet.testing import ZeroNoise, use_noise


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def spend(path: Path, *amounts: object) -> Ledger:
    ledger = Ledger(1, journal=path)
    for amount in amounts:
        ledger.charge(amount, f"query for {amount}")
    return ledger


def signed(record: dict[str, Any]) -> bytes:
    line = json.dumps(record)
    return f'{line[:-1]}, "crc": {zlib.crc32(line.encode())}}}\n'.encode()


# ---- whole files --------------------------------------------------------------------------------------------------


def test_the_file_is_one_readable_record_a_line(path: Path) -> None:
    ledger = spend(path, 0.25)
    ledger.analyst("ann", 1).charge(Fraction(1, 3), "a count\nof two lines")
    header, first, limit, second = map(json.loads, path.read_text().splitlines())
    assert (header["privet-journal"], header["epsilon"], header["neighbours"]) == (4, "1", "add-remove")
    assert (header["delta"], header["dataset"]) == ("0", None)
    assert (limit["analyst"], limit["limit"]) == ("ann", "1")
    assert next(iter(first)) == "adds", "the amount must stand first: a torn line may keep nothing else"
    assert (first["adds"], first["what"], first["analyst"]) == ("1/4", "query for 0.25", None)
    assert (second["adds"], second["analyst"], second["what"]) == ("1/3", "ann", "a count\nof two lines")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_a_device_is_not_a_journal(path: Path, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path(os.devnull)
    for epsilon in (None, 1):
        with pytest.raises(JournalError, match="keeps nothing"):
            Ledger(epsilon, journal=path)


def test_a_reopened_journal_has_its_charges(path: Path) -> None:
    spend(path, 0.25, 0.5)
    for again in (
        Ledger(journal=path),
        Ledger(1, journal=path),
        Ledger(1.0, neighbours="add-remove", journal=str(path)),
    ):
        assert again.spent == Fraction(3, 4)
        with pytest.raises(BudgetExceeded):
            again.charge(0.5, "too much")
    assert [c.what for c in Ledger(journal=path).certificate().charges] == ["query for 0.25", "query for 0.5"]


def test_two_ledgers_on_one_file_see_each_other(path: Path) -> None:
    ours, theirs = Ledger(1, journal=path), Ledger(journal=path)
    ours.charge(0.5, "ours")
    theirs.charge(0.25, "theirs")
    assert ours.spent == theirs.spent == Fraction(3, 4)
    assert ours.certificate() == theirs.certificate()


def test_a_file_that_no_single_read_returns_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of more than 2 GB, of which the system hands out a part at a time."""
    ledger = Ledger(1, journal=path)
    for _ in range(4):
        ledger.charge(0.125, "count")
    read = os.pread
    monkeypatch.setattr(os, "pread", lambda file, size, start: read(file, min(size, 100), start))
    again = Ledger(journal=path)
    assert again.spent == Fraction(1, 2)
    again.charge(0.5, "the rest")
    assert ledger.spent == 1
    assert path.read_bytes().count(b"\n") == 6  # no line was taken for a torn one


def test_an_analysts_spending_is_kept_by_name(path: Path) -> None:
    with Ledger(1, journal=path).analyst("ann", 0.5).reserve(0.5, "fit") as fit:
        fit._parallel(2)[1].charge(0.375, "count")
    again = Ledger(journal=path)
    with pytest.raises(BudgetExceeded):
        again.analyst("ann", 0.5).charge(0.25, "count")
    again.analyst("bob", 0.5).charge(0.5, "count")
    assert again.spent == Fraction(7, 8)


def test_caveats_are_kept(path: Path) -> None:
    # Whoever opens the journal later must learn that what went out was not private.
    ledger = Ledger(1, journal=path)
    ledger.add_caveat("the bounds are round")
    with use_noise(ZeroNoise()):
        for _ in range(3):
            noisy_counts(np.array([7]), ledger.analyst("ann", 1)._parallel(2)[0].charge(0.25, "count"))
    for certificate in (Ledger(journal=path).certificate(), Ledger(journal=path).analyst("ann", 1).certificate()):
        assert not certificate.private
        assert "no noise" in str(certificate)
    bob = Ledger(journal=path).analyst("bob", 1)
    assert bob.certificate().private
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert sum("caveat" in record for record in records) == 2, "a caveat is written once"
    assert Ledger(journal=path).certificate() == ledger.certificate()


def test_the_cap_and_the_relation_never_change(path: Path) -> None:
    Ledger(1, neighbours="replace-one", journal=path)
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"protects epsilon 1, not 2.*Leave epsilon out"):
        Ledger(2, journal=path)
    with pytest.raises(JournalError, match=r"replace-one.*leave neighbours out"):
        Ledger(1, neighbours="add-remove", journal=path)
    assert path.read_bytes() == before
    assert Ledger(journal=path).charge(0.5, "count").epsilon == Fraction(1, 4)


def test_a_journal_needs_a_budget_to_begin(path: Path) -> None:
    with pytest.raises(JournalError, match="No such file"):
        Ledger(journal=path)
    assert not path.exists(), "a mistyped name left a file behind"
    with pytest.raises(EpsilonError):
        Ledger(-1, journal=path)
    assert not path.exists()


FOREIGN = {
    "text": b"name,age\nann,41\n",
    "no newline": b"name",
    "json": b'{"privet": 1}\n',
    "long": b"x" * 10_000,
    "binary": bytes(range(256)) * 20,
    "unsigned header": b'{"privet-journal": 1, "epsilon": "1", "neighbours": "add-remove"}\n',
    "forged header": b'{"privet-journal": 1, "epsilon": "9", "neighbours": "add-remove", "crc": 123}\n',
    "one entry": signed({"adds": "1", "epsilon": "1", "analyst": None, "what": "count"}),
    "newline": b"\n",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("cap", [None, 1])
def test_a_foreign_file_is_refused_and_left_alone(path: Path, content: bytes, cap: int | None) -> None:
    path.write_bytes(content)
    with pytest.raises(JournalError, match="is not a privet journal; name another file"):
        Ledger(cap, journal=path)
    assert path.read_bytes() == content


def test_a_newer_journal_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(signed({"privet-journal": 5, "epsilon": "1", "something": "new"}))
    before = path.read_bytes()
    with pytest.raises(JournalError, match="newer privet; upgrade"):
        Ledger(1, journal=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("where", ["no/such/folder", "file/journal", "."])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match=r"cannot open the journal .*check the folder"):
        Ledger(1, journal=tmp_path / where)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(JournalError, match="Permission denied"):
        Ledger(1, journal=tmp_path / "closed" / "journal")


@pytest.mark.parametrize("harm", ["delete", "replace", "cut"])
def test_a_file_that_vanishes_under_a_ledger_stops_it(path: Path, harm: str) -> None:
    ledger = spend(path, 0.25)
    if harm == "cut":
        os.truncate(path, 10)
    else:
        path.unlink()
        if harm == "replace":
            Ledger(1, journal=path)
    with pytest.raises(JournalError, match="deleted or cut short"):
        ledger.charge(0.25, "count")


# ---- damage -------------------------------------------------------------------------------------------------------


def test_every_cut_of_the_last_record_counts_as_spent(path: Path, tmp_path: Path) -> None:
    """A power cut may leave any prefix: the amount is believed as soon as it is there, before that all is spent."""
    spend(path, 0.125, 0.25)
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    amount_ends = whole.index(b'"1/4"', start) + len(b'"1/4"')
    for end in range(start + 1, len(whole)):
        cut = tmp_path / f"cut at {end}"
        cut.write_bytes(whole[:end])
        ledger = Ledger(journal=cut)
        if end < amount_ends:
            assert ledger.spent == 1
            assert ledger.remaining == 0
            with pytest.raises(BudgetExceeded):
                ledger.charge(0.01, "count")
        else:
            assert ledger.spent == Fraction(3, 8)
            ledger.charge(0.125, "the next record starts on a line of its own")
        after = ledger.certificate()
        assert after.private
        assert ("cannot be read" in str(after)) == (end < amount_ends)
        assert ("whose record is torn" in str(after)) == (amount_ends <= end < len(whole) - 1)
        assert Ledger(journal=cut).certificate() == after, "the next to open it must find the same"


def test_zeros_at_the_end_count_as_spent(path: Path) -> None:
    # Some file systems lengthen the file before they write into it.
    spend(path, 0.25)
    with path.open("ab") as file:
        file.write(bytes(100))
    for _ in range(2):
        assert Ledger(journal=path).remaining == 0


def test_a_torn_header_is_written_again(path: Path, tmp_path: Path) -> None:
    Ledger(1, journal=path)
    whole = path.read_bytes()
    for end in range(len(whole)):
        cut = tmp_path / f"cut at {end}"
        cut.write_bytes(whole[:end])
        with pytest.raises(JournalError, match="holds no budget yet; give epsilon"):
            Ledger(journal=cut)
        Ledger(1, journal=cut).charge(0.5, "count")
        assert Ledger(journal=cut).spent == Fraction(1, 2)


def test_a_record_changed_in_the_middle_counts_as_unreadable(path: Path) -> None:
    spend(path, 0.5, 0.125)
    path.write_bytes(path.read_bytes().replace(b'"adds": "1/2"', b'"adds": "0/2"'))
    ledger = Ledger(journal=path)
    assert ledger.remaining == 0
    assert "cannot be read" in str(ledger.certificate())
    assert ledger.certificate().epsilon >= 1


@given(st.data())
@settings(max_examples=200)
def test_no_damage_to_one_record_creates_budget(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("damage") / "journal"
    amounts = data.draw(
        st.lists(st.sampled_from([Fraction(1, 8), Fraction(1, 7), Fraction(1, 300)]), min_size=1, max_size=5)
    )
    spend(path, *amounts)
    lines = path.read_bytes().split(b"\n")[:-1]
    hit = data.draw(st.integers(1, len(lines) - 1), label="line")
    kind = data.draw(st.sampled_from(["cut", "flip", "zero"]))
    line = bytearray(lines[hit])
    where = data.draw(st.integers(1, len(line) - 1), label="byte")
    if kind == "cut":
        line = line[:where]
    elif kind == "zero":
        line[where:] = bytes(len(line) - where)
    else:
        line[where] = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[where]), label="becomes")
    lines[hit] = bytes(line)
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert Ledger(journal=path).spent >= sum(amounts)


@given(st.binary(max_size=200))
def test_no_bytes_at_the_end_break_the_reader(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    path = tmp_path_factory.mktemp("junk") / "journal"
    spend(path, 0.25)
    with path.open("ab") as file:
        file.write(junk)
    assert Ledger(journal=path).spent == (1 if junk else Fraction(1, 4))


@pytest.mark.parametrize("amount", [b"1/0", b"9" * 5000, b"-1", b"", b"1/" + b"9" * 5000, b"0.5", b"1e-9"])
def test_a_huge_amount_is_refused(path: Path, amount: bytes) -> None:
    spend(path, 0.25)
    with path.open("ab") as file:
        file.write(b'{"adds": "' + amount + b'"')
    assert Ledger(journal=path).remaining == 0
