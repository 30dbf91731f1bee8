"""Outputs: what they never replace, and what a failed write costs."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import privet
from privet.models import drafts
from privet.privacy.ledger import Ledger
from privet.work import ROOM

Alias = Callable[[Path, Path], object]
ALIASES: dict[str, Alias] = {
    "the same path": lambda file, alias: None,
    "a symbolic link": lambda file, alias: alias.symlink_to(file),
    "a hard link": lambda file, alias: os.link(file, alias),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(result: Any, *words: str) -> None:
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    for word in words:
        assert word in result.stderr


@pytest.fixture
def budget(desk: Any) -> str:
    Ledger(5, journal=desk["budget"])
    return str(desk["budget"])


# ---- what stays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("name", ["clinic.csv", "clinic.schema.json", "budget"])
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
def test_a_model_never_replaces_an_input(desk: Any, budget: str, name: str, alias: str, force: tuple[str, ...]) -> None:
    output = desk[name]
    if alias != "the same path":
        output = desk["alias"]
        ALIASES[alias](Path(desk[name]), Path(output))
    before = contents(desk.folder)
    refused(desk.fit("--journal", budget, "-o", output, *force), "it is an input of this command")
    assert contents(desk.folder) == before


def test_nor_a_journal_that_is_yet_to_be(desk: Any) -> None:
    before = contents(desk.folder)
    refused(desk.fit("--journal", desk["new"], "-o", desk["new"]), "it is an input of this command")
    assert contents(desk.folder) == before


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
def test_a_model_never_replaces_another_journal(desk: Any, budget: str, force: tuple[str, ...]) -> None:
    before = contents(desk.folder)
    refused(desk.fit("-o", budget, *force), "it is a privet journal")
    assert contents(desk.folder) == before
    assert Ledger(journal=budget).remaining == 5


def test_an_existing_file_stays_unless_forced(desk: Any) -> None:
    desk.write("tree.json", "paid for")
    refused(desk.fit("-o", desk["tree.json"]), "it is there already", "--force")
    assert Path(desk["tree.json"]).read_text() == "paid for"
    assert desk.fit("-o", desk["tree.json"], "--force").exit_code == 0
    privet.load_model(desk["tree.json"])


def test_a_link_stays_a_link(desk: Any) -> None:
    Path(desk["link.json"]).symlink_to(desk["tree.json"])
    assert desk.fit("-o", desk["link.json"]).exit_code == 0
    assert Path(desk["link.json"]).is_symlink()
    privet.load_model(desk["tree.json"])


@pytest.mark.parametrize("name", ["clinic.csv", "tree.json", "budget", "old.csv"])
def test_predictions_replace_nothing(desk: Any, budget: str, name: str) -> None:
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    desk.write("old.csv", "predictions of last week")
    before = contents(desk.folder)
    refused(
        desk.run("predict", desk["tree.json"], desk["clinic.csv"], "-o", desk[name]), "cannot write the predictions"
    )
    assert contents(desk.folder) == before
    forced = desk.run("predict", desk["tree.json"], desk["clinic.csv"], "-o", desk[name], "--force")
    if name != "old.csv":
        refused(forced, "cannot write the predictions")
        assert contents(desk.folder) == before
    else:
        assert forced.exit_code == 0
        assert Path(desk["old.csv"]).read_text().startswith("class\n")


def test_the_library_never_replaces_a_journal(desk: Any, budget: str) -> None:
    assert desk.fit("-o", desk["tree.json"]).exit_code == 0
    with pytest.raises(privet.PrivetError, match="a privet journal"):
        privet.load_model(desk["tree.json"]).save(budget)
    assert Ledger(journal=budget).remaining == 5


# ---- what a failure costs -------------------------------------------------------------------------------------------


def fails(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("output", ["nowhere/tree.json", ".", "pipe"])
def test_a_place_that_cannot_be_costs_nothing(desk: Any, budget: str, output: str) -> None:
    os.mkfifo(desk["pipe"])  # not a device of the machine's: should this test fail for root, it would be gone
    before = contents(desk.folder)
    refused(desk.fit("--journal", budget, "-o", desk.folder / output), "nothing was charged")
    assert desk.fit("--journal", desk["new"], "-o", desk.folder / output).exit_code == 1
    assert contents(desk.folder) == before  # not even an empty journal


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this platform cannot reserve room")
def test_a_full_disk_costs_nothing(desk: Any, budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(desk.folder)
    monkeypatch.setattr(os, "posix_fallocate", fails)
    refused(desk.fit("--journal", budget, "-o", desk["tree.json"]), "No space left on device", "nothing was charged")
    assert contents(desk.folder) == before


def test_a_limit_on_the_size_of_files_costs_nothing(desk: Any, budget: str) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = contents(desk.folder)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM // 2, limits[1]))
        refused(desk.fit("--journal", budget, "-o", desk["tree.json"]), "File too large", "nothing was charged")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(desk.folder) == before


def test_a_full_disk_is_reported_with_the_lost_epsilon(desk: Any, budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("tree.json", "paid for")
    monkeypatch.setattr(drafts.Draft, "write", fails)
    result = desk.fit("--journal", budget, "--force", "-o", desk["tree.json"], recipe="sulq")
    spent = Ledger(journal=budget).spent
    assert spent > 0
    refused(result, "No space left on device", "The model is lost", f"epsilon {spent} stays charged")
    assert Path(desk["tree.json"]).read_text() == "paid for"
    assert not list(desk.folder.glob(".*"))


def test_an_interrupt_leaves_the_old_file(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    desk.write("tree.json", "paid for")
    before = contents(desk.folder)
    monkeypatch.setattr(drafts.Draft, "publish", interrupt)
    assert desk.fit("--force", "-o", desk["tree.json"]).exit_code == 130
    assert contents(desk.folder) == before


def test_a_file_that_appeared_meanwhile_stays_and_so_does_the_model(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    publish = drafts.Draft.publish

    def late(draft: drafts.Draft, *, replace: bool) -> Path:
        desk.write("tree.json", "somebody else's")
        return publish(draft, replace=replace)

    monkeypatch.setattr(drafts.Draft, "publish", late)
    result = desk.fit("-o", desk["tree.json"])
    assert result.exit_code == 0
    assert Path(desk["tree.json"]).read_text() == "somebody else's"
    assert desk["tree.1.json"] in result.stderr
    privet.load_model(desk["tree.1.json"])
