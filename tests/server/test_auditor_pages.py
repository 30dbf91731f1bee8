"""The auditor's pages: the chain recomputed by the server and by the browser, sums and caps, filters and exports."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from house import House, Stage, rows
from page_reader import browser  # noqa: F401 - a fixture
from visiting import Visitor
from walking import Walker

from privet.privacy.books import grants
from privet.privacy.books.entries import examine_export
from privet.privacy.books.storage import Books
from privet.privacy.budget import Neighbours
from privet.privacy.losses import Loss
from privet.server.pages import auditor
from privet.server.pages.budgets import budget, history

PICTURES = Path(os.environ["PRIVET_PICTURES"]) if os.environ.get("PRIVET_PICTURES") else None


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    """Two analysts, five charges, and titles that are no friends."""
    made = Stage(house, 10)
    table = made.table(rows(50), 100)
    for limit, number in ((2, 3), (1, 2)):
        caller = made.analyst(limit, table)
        for _ in range(number):
            made.must(caller.ask(table, ask="count", epsilon="0.1"))
    return made


@pytest.fixture
def walker(browser: Any, house: House) -> Iterator[Walker]:  # noqa: F811
    made = Walker(browser, house, PICTURES)
    yield made
    made.close()


def test_the_whole_path(stage: Stage, walker: Walker, tmp_path: Path) -> None:
    """Sign in, see that everything holds, recompute it in the browser, filter, export, and check the file."""
    key = stage.analyst(1, role="auditor").key
    walker.sign_in(key or "").look("books")
    walker.go(f"/auditor/populations/{stage.tag}")
    walker.page.get_by_text("Your browser recomputed the newest").wait_for()
    assert "they follow one another" in walker.text
    assert walker.page.locator(".checks .right").count() == 5
    walker.look("book")
    walker.page.select_option("#kind", "charge")
    walker.page.select_option("#who", index=1)
    walker.press("Filter")
    assert walker.page.locator("#list tbody tr").count() in (2, 3)
    walker.look("book-filtered")
    with walker.page.expect_download() as found:
        walker.follow("All entries")
    path = tmp_path / "books.jsonl"
    path.write_bytes(Path(found.value.path()).read_bytes())
    examined = examine_export(path)
    assert not examined.faults
    assert examined.head in walker.text
    assert str(examined.total) == "1/2"
    assert walker.faults == []


def test_the_browser_finds_an_entry_that_was_changed(stage: Stage, walker: Walker) -> None:
    """A planted fault: the page comes with one amount changed, and all its hashes as they were."""
    path = f"/auditor/populations/{stage.tag}"

    def changed(route: Any) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, body=reply.text().replace('epsilon\\":\\"1/10', 'epsilon\\":\\"1/90', 1))

    walker.sign_in(stage.analyst(1, role="auditor").key or "")
    walker.page.route(f"**{path}", changed)
    walker.go(path)
    walker.page.get_by_text("they do NOT follow one another").wait_for()


def test_the_table_of_charges(stage: Stage, house: House) -> None:
    visitor = Visitor(house)
    visitor.sign_in(stage.analyst(1, role="auditor").key)
    text = visitor.get(f"/auditor/populations/{stage.tag}/export/csv").body.decode()
    found = list(csv.DictReader(io.StringIO(text)))
    assert [row["epsilon"] for row in found] == ["0.1"] * 5
    assert found[-1]["sum of epsilon"] == "0.5"


def test_the_books_are_for_auditors_and_owners(stage: Stage, house: House) -> None:
    paths = ("/auditor", f"/auditor/populations/{stage.tag}", f"/auditor/populations/{stage.tag}/export/jsonl")
    for role, status in (("auditor", 200), ("analyst", 404), ("owner", 200)):
        visitor = Visitor(house)
        visitor.sign_in(stage.analyst(1, role=role).key if role != "owner" else house.owner.key)
        assert [visitor.get(path).status for path in paths] == [status] * 3, role
    visitor = Visitor(house)
    visitor.sign_in(stage.analyst(1, role="auditor").key)
    assert visitor.get("/auditor/populations/nothing").status == 404
    assert visitor.get(f"{paths[1]}?since=yesterday").status == 422


def test_no_cell_of_the_table_is_a_formula() -> None:
    assert auditor._line(("=1+1", "@x", "-2", "0.1", "")) == "'=1+1,'@x,'-2,0.1,\r\n"


@pytest.mark.parametrize(
    ("fault", "number"),
    [
        ("UPDATE grants SET spent = '1/2'", 2),
        ("UPDATE populations SET cap = '11'", 4),
        ("UPDATE populations SET head = '" + 64 * "1" + "'", 1),
        ("UPDATE entries SET body = replace(body, '3', '4')", 0),
        ("UPDATE grants SET held = '5'", 3),
    ],
    ids=["accounts", "cap", "head", "chain", "grants"],
)
def test_planted_faults_are_found(fault: str, number: int, tmp_path: Path) -> None:
    with Books(str(tmp_path / "books.sqlite")) as books:

        def fill(tx: Any) -> None:
            grants.add_population(tx, "town", "The town", "person", Neighbours.ADD_REMOVE, Loss(10))
            tx.run("INSERT INTO people VALUES ('ann', 'analyst', 0)")
            grants.put_grant(tx, "town", "ann", Loss(3), [])

        books.do(fill)

        def checks() -> list[bool]:
            found, head = budget(books, "town"), auditor._head(books, "town")
            return [fine for fine, _ in auditor.checks_of(found, history(books, "town")[1], head)]

        assert checks() == [True] * 5

        def plant(tx: Any) -> None:
            for (name,) in tx.run("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                tx.run(f"DROP TRIGGER {name}")
            tx.run(fault)

        books.do(plant)
        assert not checks()[number]
