"""Commands that spend: a reservation before the work, an analyst's name, a warning without a journal, the head."""

from __future__ import annotations

import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privet.cli import spending
from privet.engines.sources import files
from privet.privacy.examining import examine
from privet.privacy.ledger import Ledger


@pytest.fixture
def books(desk: Any) -> str:
    """A journal, a model and a share of ann's."""
    assert desk.fit("-o", desk["model.json"], epsilon=1).exit_code == 0
    path = desk["books"]
    Ledger(4, journal=path).analyst("ann", 1)
    return str(path)


def commands(desk: Any) -> dict[str, tuple[object, ...]]:
    facts = ("-s", desk["clinic.schema.json"])
    depth = ("--max-depth", 1)
    return {
        "fit": ("fit", desk["clinic.csv"], *facts, "-e", "0.5", "-r", "diffpid3", *depth, "-o", desk["new.json"]),
        "score": ("score", desk["model.json"], desk["clinic.csv"], "-e", "0.5", "--held-out"),
        "evaluate": ("evaluate", desk["clinic.csv"], *facts, "-e", "0.25", "-r", "diffpid3", *depth, "--private",
                     "--epsilon-scores", "0.25"),
        "publish": ("publish", desk["clinic.csv"], *facts, "-m", "diffgen", "-e", "0.5", *depth, "-o", desk["new.csv"]),
    }  # fmt: skip


WORK = {
    "fit": "fit of diffpid3",
    "score": "private score",
    "evaluate": "private evaluation",
    "publish": "publishing by diffgen",
}


@pytest.mark.parametrize("command", WORK)
def test_every_command_reserves_in_an_analysts_name_and_prints_the_head(desk: Any, books: str, command: str) -> None:
    said = desk.ok(*commands(desk)[command], "--journal", books, "--analyst", "ann").stdout
    seen, ledger = examine(Path(books)), Ledger(journal=books)
    assert f"Head of the journal: {seen.head}" in said
    records = [json.loads(line) for line in Path(books).read_text().splitlines()]
    (taken,) = (record for record in records if "reserves" in record)
    assert (taken["work"], taken["analyst"], taken["adds"]) == (WORK[command], "ann", "1/2")
    assert 0 < ledger.analyst("ann").spent == ledger.spent <= Fraction(1, 2)
    assert (records[-1]["ended"], seen.reservations, seen.unread) == (True, {}, ())
    output = desk["new.json"] if command == "fit" else desk["new.csv"]
    written = hashlib.sha256(Path(output).read_bytes()).hexdigest() if command in ("fit", "publish") else None
    assert records[-1]["output"] == written
    assert sum("time" in record for record in records) == 1
    again = (*commands(desk)[command], *["--force"] * bool(written), "--journal", books, "--analyst")
    assert json.loads(desk.ok(*again, "ann", "--json").stdout)["head"] == examine(Path(books)).head
    refused = desk.run(*again, "bob")
    assert refused.exit_code == 1
    assert "privet: the analyst 'bob' has no limit here: `privet ledger grant` sets one" in refused.stderr


@pytest.mark.parametrize("command", WORK)
def test_without_a_journal_every_command_says_so(desk: Any, books: str, command: str) -> None:
    assert spending.NO_JOURNAL in desk.ok(*commands(desk)[command]).stdout
    force = ["--force"] * (command in ("fit", "publish"))
    told = desk.ok(*commands(desk)[command], *force, "--json")
    assert spending.NO_JOURNAL in told.stderr
    assert json.loads(told.stdout)["head"] is None
    for option in (("--analyst", "ann"), ("--budget", "1")):
        refused = desk.run(*commands(desk)[command], *force, *option)
        assert refused.exit_code == 1
        assert "give --journal FILE too" in refused.stderr


@pytest.mark.parametrize("command", WORK)
def test_the_price_is_held_before_a_record_is_read(
    desk: Any, books: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[Fraction]()

    def spy_on(name: str) -> None:
        read = getattr(files, name)

        def spy(*arguments: Any, **options: Any) -> Any:
            seen.append(Ledger(journal=books).spent)
            return read(*arguments, **options)

        monkeypatch.setattr(files, name, spy)

    spy_on("read_columns")
    spy_on("read_batches")
    desk.ok(*commands(desk)[command], "--journal", books)
    assert seen == [Fraction(1, 2)]


def test_grant_opens_and_lowers_and_never_raises(desk: Any, books: str) -> None:
    assert "bob may spend epsilon 1/2 in all" in desk.ok("ledger", "grant", books, "bob", "--epsilon", "0.5").stdout
    told = json.loads(desk.ok("ledger", "grant", books, "bob", "--epsilon", "0.25", "--json").stdout)
    assert told["head"] == Ledger(journal=books).head
    assert Ledger(journal=books).analyst("bob").remaining == Fraction(1, 4)
    raised = desk.run("ledger", "grant", books, "bob", "--epsilon", "1")
    assert raised.exit_code == 1
    assert "can be lowered, and cannot become 1" in raised.stderr


def test_verify_follows_the_chain_and_finds_a_head(desk: Any, books: str) -> None:
    Ledger(journal=books).charge(0.5, "count")
    head = Ledger(journal=books).head
    Ledger(journal=books).charge(0.5, "count")
    assert "0 breaks of the chain" in desk.ok("ledger", "verify", books, "--head", head).stdout
    lines = Path(books).read_bytes().splitlines()
    Path(books).write_bytes(b"\n".join(lines[:2]) + b"\n")
    cut = desk.run("ledger", "verify", books, "--head", head)
    assert cut.exit_code == 1
    assert "its end was cut off" in cut.stdout
    assert json.loads(desk.run("ledger", "verify", books, "--head", head, "--json").stdout)["head_found"] is False
    Path(books).write_bytes(b"\n".join([lines[0], *lines[2:]]) + b"\n")
    gone = desk.run("ledger", "verify", books)
    assert gone.exit_code == 1
    assert "line 2: it does not follow from the lines before it" in gone.stdout


def test_interrupted_work_is_shown_and_settled(desk: Any, books: str) -> None:
    child = os.fork()
    if child == 0:
        try:
            Ledger(journal=books).analyst("ann").reserve(1, "fit of exact").charge(0.25, "count")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    shown = desk.ok("ledger", "show", books).stdout
    assert "reservation 1 (fit of exact), of ann" in shown
    assert "0.25 charged of 1; it was not ended; privet ledger settle" in shown
    assert json.loads(desk.ok("ledger", "show", books, "--json").stdout)["reservations"][0]["running"] is False
    assert "is not ended: all of 1 counts as spent" in desk.ok("ledger", "verify", books).stdout
    few = desk.run("ledger", "settle", books, "--reservation", 1, "--epsilon", "0.1")
    assert few.exit_code == 1
    assert "1/10 is not in between" in few.stderr
    both = desk.run("ledger", "settle", books, "--reservation", 1, "--line", 3, "--epsilon", "0.5")
    assert "name one of them" in both.stderr
    settled = desk.ok("ledger", "settle", books, "--reservation", 1, "--epsilon", "0.25").stdout
    assert "reservation 1 settled at epsilon 1/4" in settled
    assert f"Head of the journal: {examine(Path(books)).head}" in settled
    assert Ledger(journal=books).analyst("ann").remaining == Fraction(3, 4)


@pytest.mark.parametrize("epsilon", ["1e999999999", "1/0", "9" * 5000])
def test_a_monstrous_epsilon_is_refused_at_once(desk: Any, epsilon: str) -> None:
    refused = desk.fit("-o", desk["tree.json"], epsilon=epsilon)
    assert refused.exit_code == 2
    assert "is not a number; write it like 0.5 or 1/3" in " ".join(refused.stderr.split()).replace("│ ", "")
