"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from privet.models import drafts
from privet.models.drafts import OLD, Draft, is_journal
from privet.privacy.ledger import Ledger


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


KILLED = """
import os, signal, sys
from privet.models.drafts import Draft
with Draft(sys.argv[1]) as draft:
    draft.reserve(1000)
    if sys.argv[2] == "written":
        draft.write("private until it is published")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["opened", "written"])
def test_what_a_killed_command_left_is_removed_by_the_next(tmp_path: Path, when: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a"), when], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 1
    with Draft(tmp_path / "b") as draft:
        assert len(names(tmp_path)) == 1  # its own
        draft.write("b")
        draft.publish(replace=False)
    assert names(tmp_path) == {"b"}


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    with Draft(tmp_path / "a") as one, Draft(tmp_path / "b") as other:
        assert len(names(tmp_path)) == 2
        for draft in (one, other):
            draft.write("whole")
            draft.publish(replace=False)
    assert names(tmp_path) == {"a", "b"}


def test_a_draft_that_was_swept_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, swept = drafts._lock, list[str]()

    def late(file: int, **how: bool) -> bool | None:
        if not swept:  # another command comes between the opening and the lock
            swept.extend(names(tmp_path))
            drafts.remove_leftovers(tmp_path)
        return lock(file, **how)

    monkeypatch.setattr(drafts, "_lock", late)
    with Draft(tmp_path / "a") as draft:
        assert swept
        draft.write("whole")
        draft.publish(replace=False)
    assert names(tmp_path) == {"a"}


def test_only_old_files_are_removed_where_no_lock_tells(tmp_path: Path) -> None:
    """Files of other names stay, whatever their age; so do young ones that an older privet may be writing."""
    others = {"notes.privet.tmp", ".notes.tmp", ".draft-0123.privet", "model.json"}
    old, young = ".0123456789abcdef.privet.tmp", ".fedcba9876543210.privet.tmp"
    for name in (*others, old, young):
        (tmp_path / name).write_text("")
        if name != young:
            os.utime(tmp_path / name, (0, time.time() - OLD - 60))
    with Draft(tmp_path / "a"):
        pass
    assert names(tmp_path) == {*others, young}


def test_without_locks_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with Draft(tmp_path / "a"), Draft(tmp_path / "b"):
        assert len(names(tmp_path)) == 2
        for path in tmp_path.iterdir():
            os.utime(path, (0, time.time() - OLD - 60))
        drafts.remove_leftovers(tmp_path)
        assert names(tmp_path) == set()
