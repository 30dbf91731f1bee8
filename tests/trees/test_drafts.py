"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from privet.privacy.ledger import Ledger
from privet.trees.drafts import Draft, is_journal


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_nothing_is_seen_before_it_is_published(tmp_path: Path) -> None:
    with Draft(tmp_path / "a") as draft:
        draft.reserve(10_000)
        draft.write("short")
        assert not (tmp_path / "a").exists()
        assert draft.publish(replace=False) == tmp_path / "a"
    assert (tmp_path / "a").read_text() == "short"  # without what was reserved
    assert names(tmp_path) == {"a"}


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    (tmp_path / "a").write_text("old")

    def fail() -> None:
        with Draft(tmp_path / "a") as draft:
            draft.write("new")
            raise failure

    with pytest.raises(failure):
        fail()
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == {"a"}


def test_a_write_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    with Draft(tmp_path / "a") as draft:
        draft.write("x" * 100)
        draft.publish(replace=False)
    assert (tmp_path / "a").read_text() == "x" * 100


def test_a_taken_name_is_passed_over(tmp_path: Path) -> None:
    for expected in ("a.json", "a.1.json", "a.2.json"):
        with Draft(tmp_path / "a.json") as draft:
            draft.write(expected)
            assert draft.publish(replace=False).name == expected
    with Draft(tmp_path / "a.json") as draft:
        draft.write("new")
        assert draft.publish(replace=True).name == "a.json"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.json": "new", "a.1.json": "a.1.json", "a.2.json": "a.2.json",
    }  # fmt: skip


def test_also_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    for expected in ("a.json", "a.1.json"):
        with Draft(tmp_path / "a.json") as draft:
            draft.write(expected)
            assert draft.publish(replace=False).name == expected
    assert names(tmp_path) == {"a.json", "a.1.json"}


def test_a_journal_is_known_by_its_beginning(tmp_path: Path) -> None:
    Ledger(1, journal=tmp_path / "journal")
    (tmp_path / "model").write_text('{"format": "privet-model"}')
    assert is_journal(tmp_path / "journal")
    assert not is_journal(tmp_path / "model")
    assert not is_journal(tmp_path / "nowhere")
    assert not is_journal(tmp_path)
    with pytest.raises(OSError, match="journal"), Draft(tmp_path / "journal"):
        pass
    assert names(tmp_path) == {"journal", "model"}


def test_a_journal_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    with Draft(tmp_path / "a.json") as draft:
        draft.write("model")
        Ledger(1, journal=tmp_path / "a.json")
        assert draft.publish(replace=True).name == "a.1.json"
    assert Ledger(journal=tmp_path / "a.json").remaining == 1
