"""What the owner of a journal relies on: limits that last, a cap that only falls, one data set, records that settle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet
from privet import Categorical, Ledger, Numeric, Schema
from privet.datasets.clinic import clinic
from privet.errors import BudgetExceeded, EpsilonError, JournalError, ParameterError, PrivetError
from privet.privacy.journal import Journal
from privet.structure.splits import Multiway
from privet.testing import ZeroNoise, use_noise


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture(params=["memory", "journal"])
def ledger(request: pytest.FixtureRequest, path: Path) -> Ledger:
    return Ledger(1, journal=path if request.param == "journal" else None)


FORMAT_1 = (
    b'{"privet-journal": 1, "epsilon": "1", "neighbours": "replace-one", "crc": 74021332}\n'
    b'{"adds": "1/4", "epsilon": "1/4", "analyst": null, "what": "count", "crc": 1824475809}\n'
    b'{"adds": "1/8", "epsilon": "1/8", "analyst": "ann", "what": "count", "crc": 674003336}\n'
    b'{"adds": "0", "analyst": "ann", "caveat": "round bounds", "voids": false, "crc": 3665397572}\n'
)
"""A journal as the first format had it, written by the code of that time."""

# ---- the header ---------------------------------------------------------------------------------------------------


def test_a_long_cap_is_spent_once(path: Path) -> None:
    # Over 4,096 bytes of header; it was taken for torn and written anew at every opening.
    cap = Fraction(10**2100 + 1, 10**2100)
    Ledger(cap, journal=path).charge(1, "day 0")
    assert path.stat().st_size > 4096
    for _ in range(4):
        with pytest.raises(BudgetExceeded, match="about"):
            Ledger(cap, journal=path).charge(1, "another day")
    assert Ledger(journal=path).spent == 1
    assert "about" in repr(Ledger(journal=path))


@pytest.mark.parametrize("cap", [Fraction(10**4400 + 1, 10**4400), Fraction(1, 3**5000) + 1])
def test_a_cap_that_cannot_be_written_is_refused_and_makes_no_file(path: Path, cap: Fraction) -> None:
    with pytest.raises(EpsilonError, match="thousands of digits; round it"):
        Ledger(cap, journal=path)
    assert not path.exists()


def test_charges_whose_sum_cannot_be_written_are_refused(ledger: Ledger) -> None:
    long = Fraction(1, 4) + Fraction(1, 3**4000)
    ledger.charge(long, "long")
    with pytest.raises(EpsilonError, match="the sum of all charges"):
        ledger.charge(Fraction(1, 4) + Fraction(1, 5**2900), "another")
    assert ledger.spent == long


@pytest.mark.parametrize("tail", [b"x", b" " * 5000, b'"', b"\x00", b"1" * 9000])
def test_what_is_not_the_beginning_of_this_header_is_left_alone(path: Path, tail: bytes) -> None:
    Ledger(1, journal=path)
    damaged = path.read_bytes()[:40] + tail
    path.write_bytes(damaged)
    with pytest.raises(JournalError, match="is not a privet journal"):
        Ledger(1, journal=path)
    assert path.read_bytes() == damaged


def test_a_torn_header_of_another_budget_is_left_alone(path: Path) -> None:
    Ledger(5, journal=path)
    torn = path.read_bytes()[:-3]
    path.write_bytes(torn)
    with pytest.raises(JournalError, match="not a privet journal of this budget"):
        Ledger(1, journal=path)
    assert path.read_bytes() == torn


def test_a_torn_header_of_the_first_format_is_still_finished(path: Path) -> None:
    whole = FORMAT_1.split(b"\n")[0]
    for end in (0, 1, 30, len(whole)):
        path.write_bytes(whole[:end])
        assert Ledger(1, neighbours="replace-one", journal=path).remaining == 1


def test_a_new_journal_is_whole_from_the_first_moment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: Journal, *_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "_append_bytes", stop)
    with pytest.raises(KeyboardInterrupt):
        Ledger(1, journal=path)
    assert list(path.parent.iterdir()) == [], "half a journal, or what it was made from, was left behind"


def test_a_file_system_without_links_will_do(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: Any) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    Ledger(1, journal=path).charge(0.5, "count")
    assert Ledger(1, journal=path).spent == Fraction(1, 2)


def test_a_journal_of_the_first_format_works_on(path: Path) -> None:
    path.write_bytes(FORMAT_1)
    ledger = Ledger(1, journal=path, dataset="clinic")
    assert (ledger.spent, ledger.neighbours.value) == (Fraction(3, 8), "replace-one")
    assert [charge.what for charge in ledger.certificate().charges] == ["count", "count"]
    ann = ledger.analyst("ann", 0.25)
    assert (ann.spent, ann.remaining) == (Fraction(1, 8), Fraction(1, 8))
    ann.charge(0.125, "count")
    assert path.read_bytes().startswith(FORMAT_1)
    again = Ledger(journal=path)
    assert (again.spent, again.dataset) == (Fraction(1, 2), "clinic")
    with pytest.raises(ParameterError):
        again.analyst("ann", 5)


# ---- the file stays in its place ----------------------------------------------------------------------------------

MOVES: dict[str, Callable[[Path], object]] = {
    "renamed": lambda path: path.rename(path.with_name("away")),
    "replaced": lambda path: (path.rename(path.with_name("away")), Ledger(1, journal=path)),
    "deleted": lambda path: path.unlink(),
    "copied over": lambda path: (path.with_name("copy").write_bytes(path.read_bytes()),
                                 os.replace(path.with_name("copy"), path)),
}  # fmt: skip


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_journal_that_was_moved_is_not_charged(path: Path, move: Callable[[Path], object]) -> None:
    ledger = Ledger(1, journal=path)
    ledger.charge(0.25, "before")
    move(path)
    files = {file: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(JournalError, match="renamed, replaced, deleted or cut short"):
        ledger.charge(0.25, "after")
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == files


def test_a_journal_that_is_moved_while_it_is_written_gives_no_receipt(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, write = Ledger(1, journal=path), Journal._append_bytes

    def moved(self: Journal, data: bytes) -> None:
        write(self, data)
        path.rename(path.with_name("away"))

    monkeypatch.setattr(Journal, "_append_bytes", moved)
    with pytest.raises(JournalError):
        ledger.charge(0.25, "count")


# ---- analysts and the cap -----------------------------------------------------------------------------------------


def test_an_analysts_limit_outlives_the_process(path: Path) -> None:
    Ledger(10, journal=path).analyst("ann", 0.5).charge(0.25, "count")
    again = Ledger(journal=path)
    with pytest.raises(ParameterError, match=r"'ann' already has epsilon 1/2; it can be lowered"):
        again.analyst("ann", 5)
    assert again.analyst("ann").remaining == again.analysts["ann"].remaining == Fraction(1, 4)
    with pytest.raises(BudgetExceeded):
        again.analyst("ann", 0.5).charge(0.5, "count")


def test_an_analysts_limit_can_be_lowered(ledger: Ledger) -> None:
    ann = ledger.analyst("ann", 0.5)
    ann.charge(0.25, "count")
    assert ledger.analyst("ann", 0.3) is ann
    assert ann.remaining == Fraction(1, 20)
    with pytest.raises(ParameterError):
        ledger.analyst("ann", 0.5)
    ledger.analyst("ann", 0.1)
    assert ann.remaining == 0
    with pytest.raises(EpsilonError):
        ledger.analyst("bob")


def test_two_processes_agree_on_an_analyst(path: Path) -> None:
    ours, theirs = Ledger(1, journal=path), Ledger(journal=path)
    ours.analyst("ann", 0.5)
    with pytest.raises(ParameterError):
        theirs.analyst("ann", 0.75)
    theirs.analyst("ann", 0.25)
    assert ours.analyst("ann").remaining == Fraction(1, 4)


def test_the_cap_can_be_lowered_and_never_raised(ledger: Ledger, path: Path) -> None:
    ledger.charge(0.25, "count")
    ledger.lower_cap(0.5)
    assert ledger.remaining == Fraction(1, 4)
    with pytest.raises(ParameterError, match="can be lowered, never raised"):
        ledger.lower_cap(0.75)
    with pytest.raises(BudgetExceeded):
        ledger.charge(0.5, "count")
    if path.exists():
        with pytest.raises(JournalError, match="protects epsilon 1/2, not 1"):
            Ledger(1, journal=path)
        assert Ledger(0.5, journal=path).remaining == Fraction(1, 4)
    ledger.lower_cap(0.125)
    assert (ledger.spent, ledger.remaining) == (Fraction(1, 4), 0), "less than was spent: nothing is left"


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": -1},
        {"epsilon": "1"},
        {"epsilon": 1, "delta": 2},
        {"epsilon": 1, "neighbours": "twins"},
        {"epsilon": 1, "dataset": ""},
        {"epsilon": 1, "dataset": 7},
        {"delta": 0.1},
        {},
    ],
    ids=str,
)
def test_a_refused_ledger_makes_no_file(path: Path, bad: dict[str, Any]) -> None:
    with pytest.raises(PrivetError):
        Ledger(journal=path, **bad)
    assert list(path.parent.iterdir()) == []


def test_only_an_unused_journal_of_ones_own_is_discarded(path: Path) -> None:
    ledger = Ledger(1, journal=path)
    Ledger(journal=path).discard_unused()
    assert path.exists(), "it was not its own"
    ledger.discard_unused()
    assert not path.exists()
    used = Ledger(1, journal=path)
    Ledger(journal=path).charge(0.5, "another process was faster")
    used.discard_unused()
    assert Ledger(journal=path).spent == Fraction(1, 2)


# ---- one budget, one data set -------------------------------------------------------------------------------------

SCHEMA = Schema((Numeric("x", 0, 10),), Categorical("y", ("a", "b")), name="clinic-2026")
TABLE = {"x": [1.0, 2.0, 7.0], "y": ["a", "b", "b"]}


def renamed(name: str, high: float = 10) -> Schema:
    return Schema((Numeric("x", 0, high),), Categorical("y", ("a", "b")), name=name)


def test_a_ledger_is_refused_for_another_data_set(ledger: Ledger, path: Path) -> None:
    privet.protect(TABLE, SCHEMA, ledger)
    assert ledger.dataset == "clinic-2026"
    with pytest.raises(ParameterError, match=r"protects the data set 'clinic-2026', not 'school'"):
        privet.protect(TABLE, renamed("school"), ledger.analyst("ann", 0.5))
    with pytest.raises(ParameterError, match="not 'school'"):
        ledger.reserve(0.5, "fit", renamed("school"))
    privet.protect(TABLE, renamed(""), ledger)  # a schema without a name says nothing about it
    if path.exists():
        with pytest.raises(ParameterError):
            privet.protect(TABLE, renamed("school"), Ledger(journal=path))
        with pytest.raises(ParameterError):
            Ledger(journal=path, dataset="school")
        assert Ledger(1, journal=path, dataset="clinic-2026").dataset == "clinic-2026"
    assert ledger.spent == 0


def test_a_declared_name_holds_from_the_start(path: Path) -> None:
    ledger = Ledger(1, journal=path, dataset="clinic-2026")
    assert json.loads(path.read_text().splitlines()[0])["dataset"] == "clinic-2026"
    tree = privet.papers.DiffPID3Classifier(renamed("school"), 0.5, ledger=ledger)
    with pytest.raises(ParameterError, match="clinic-2026"):
        tree.fit(TABLE)
    assert len(path.read_text().splitlines()) == 1


def test_a_changed_schema_is_written_down_and_named(ledger: Ledger, path: Path) -> None:
    privet.protect(TABLE, SCHEMA, ledger)
    privet.protect(TABLE, SCHEMA.with_bins(3), ledger)
    assert "schema changed" not in str(ledger.certificate()), "where a number is cut is no fact about the table"
    fit = ledger.reserve(0.5, "fit")
    privet.protect(TABLE, renamed("clinic-2026", high=20), fit)
    for certificate in (ledger.certificate(), fit.certificate()):
        assert "the schema changed while this budget was in use: x declared differently" in str(certificate)
        assert certificate.private
    if path.exists():
        again = Ledger(journal=path)
        assert again.certificate() == ledger.certificate()
        lines = len(path.read_text().splitlines())
        privet.protect(TABLE, renamed("clinic-2026", high=20), again)
        assert len(path.read_text().splitlines()) == lines, "the same schema again is no change"


# ---- settling -----------------------------------------------------------------------------------------------------


def damage(path: Path, *lines: int) -> None:
    text = path.read_bytes().split(b"\n")
    for line in lines:
        text[line - 1] = b"?" * len(text[line - 1])
    path.write_bytes(b"\n".join(text))


def test_the_owner_settles_what_cannot_be_read(path: Path) -> None:
    for i in range(3):
        Ledger(1, journal=path).charge(0.125, f"count {i}")
    damage(path, 3)
    before = path.read_bytes()
    ledger = Ledger(journal=path)
    assert (ledger.spent, ledger.remaining) == (1, 0)
    with pytest.raises(ParameterError, match=r"cannot be read \(3\), not 2"):
        ledger.settle(2, 0)
    with pytest.raises(ParameterError, match="more than the whole budget"):
        ledger.settle(3, 2)
    with pytest.raises(EpsilonError):
        ledger.settle(3, -1)
    ledger.settle(3, 0.25)
    assert path.read_bytes().startswith(before)
    for known in (ledger, Ledger(journal=path)):
        assert (known.spent, known.remaining) == (Fraction(1, 2), Fraction(1, 2))
        assert "line 3 of the journal cannot be read; its cost is what the owner stated" in str(known.certificate())
    ledger.charge(0.5, "the rest")
    with pytest.raises(ParameterError, match="none"):
        ledger.settle(3, 0)


def test_one_settled_record_does_not_settle_another(path: Path) -> None:
    for i in range(4):
        Ledger(1, journal=path).charge(0.125, f"count {i}")
    damage(path, 3, 4)
    ledger = Ledger(journal=path)
    ledger.settle(3, 0)
    assert ledger.remaining == 0
    ledger.settle(4, 0.125)
    assert ledger.remaining == Ledger(journal=path).remaining == Fraction(5, 8)


# ---- groups are the kernel's --------------------------------------------------------------------------------------


def test_ten_fits_of_one_table_cost_ten_times_through_every_public_name() -> None:
    schema, table = clinic(60)
    ledger = Ledger(10)
    data = privet.protect(table, schema, ledger)
    parts = [*data.shards(5), *data.partition(Multiway(0)), data.sample(Fraction(1, 2))]
    holders = [ledger, data, *parts, *(part.partition(Multiway(3))[0] for part in parts)]
    found = [ledger]
    for holder in holders:
        for name in (name for name in dir(holder) if not name.startswith("_")):
            value = getattr(holder, name)
            found += [value] if isinstance(value, Ledger) else []
    assert len(found) > len(parts)
    assert all(account is ledger for account in found), "a part hands out the account of a group"
    assert not [name for name in dir(ledger) if "parallel" in name and not name.startswith("_")]
    accounts = [part.ledger for part in (*parts, *data.shards(10))][:10]
    with use_noise(ZeroNoise()):
        for account in accounts:
            privet.protect(table, schema, account).noisy_count(1)
    assert ledger.spent == 10


def test_what_is_said_about_a_part_is_on_its_own_certificate() -> None:
    # A part's ledger is the whole's. Its caveats must not be lost there.
    schema, table = clinic(60)
    ledger = Ledger(1).allow_nonprivate()
    left, right = privet.protect(table, schema, ledger).shards(2)
    left.add_caveat("the number of records was declared")
    right.charge_nonprivate("exact counts", "no noise")
    assert "was declared" in str(left.certificate())
    assert left.certificate().private
    assert not right.certificate().private
    assert not ledger.certificate().private
    assert "was declared" in str(ledger.certificate())


def test_only_the_kernel_makes_groups() -> None:
    source = Path(privet.__file__).parent
    makers = {path.name for path in source.rglob("*.py") if "._parallel(" in path.read_text("utf-8")}
    assert makers == {"dataset.py", "level.py"}
