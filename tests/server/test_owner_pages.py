"""The owner's pages from outside: each form does what its route does, and only for the owner."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from house import Caller, House, Stage, facts, form, rows
from visiting import Visitor, words

from privet.privacy.losses import NOTHING
from privet.server.pages.budgets import Budget
from privet.server.pages.owner.todo import of_population, things_to_do

KEY = re.compile(r"privet_[0-9a-f]{8}_[\w-]{43}")


@pytest.fixture(scope="module")
def owner(house: House) -> Visitor:
    visitor = Visitor(house)
    assert visitor.sign_in(house.owner.key).headers["location"] == "/owner"
    return visitor


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage(house, cap=4)


@pytest.fixture(scope="module")
def table(stage: Stage) -> str:
    return stage.table(rows(200))


def test_a_population_is_added_by_a_form(owner: Visitor, house: House) -> None:
    made = owner.send(
        "/owner/populations", title="Zoë’s patients, 2026", unit="patient", epsilon="5/2", neighbours="add-remove"
    )
    assert made.headers["location"] == "/owner/populations/zoes-patients-2026?done=population"
    assert house.owner("GET", "/v1/populations/zoes-patients-2026").json["cap"] == {"epsilon": "5/2", "delta": "0"}
    page = owner.text("/owner/populations/zoes-patients-2026")
    assert "One patient is protected" in page
    assert "moderate promise" in page
    again = owner.send("/owner/populations", title="Zoe's patients 2026", epsilon="1", neighbours="add-remove")
    assert again.status == 422
    assert "there is a population of this name" in words(again)
    assert 'value="1"' in again.body.decode()  # what was typed is still there
    for title, epsilon in (("...", "1"), ("x" * 300, "1"), ("y", "much"), ("y", "-1"), ("y", "")):
        assert owner.send("/owner/populations", title=title, epsilon=epsilon, neighbours="add-remove").status == 422


def test_somebody_new_is_granted_and_gets_a_key_once(owner: Visitor, house: House, stage: Stage, table: str) -> None:
    where, who = f"/owner/populations/{stage.tag}", f"{stage.tag}-new"
    buys = owner.send(f"{where}/grants", who=who, epsilon="1/2", table=[table], do="buys")
    assert "off by at most 48" in words(buys)  # 8 ln(20) / 0.5
    assert not stage.owner("GET", f"/v1/populations/{stage.tag}").json["grants"]
    made = owner.send(f"{where}/grants", who=who, epsilon="1/2", table=[table], do="grant")
    found = KEY.search(unescape(made.body.decode()))
    assert found is not None
    ann = Caller(house.port, found[0], who)
    assert ann.ask(table, ask="count", epsilon="1/8").status == 200
    assert found[0] not in owner.get(where).body.decode()
    more = owner.send(f"{where}/grants", who=who, epsilon="1", table=[table], do="grant")
    assert more.headers["location"].endswith("done=granted")
    past = owner.send(f"{where}/grants", who="nobody-new", epsilon="100", do="grant")
    assert "is free" in words(past)
    assert house.owner("GET", "/v1/people/nobody-new").status in (404, 405)  # and no account was made
    assert owner.send(f"{where}/take-back", who=who).status == 303
    assert ann("GET", "/v1/me").json["grants"][0]["epsilon"] == "1/8"
    assert ann("GET", "/v1/datasets").json == []
    page = owner.text(where)
    assert "nothing left" in page
    assert "books in order" in page


def test_a_population_is_frozen_and_settled(owner: Visitor, stage: Stage, table: str) -> None:
    where, ann = f"/owner/populations/{stage.tag}", stage.analyst(1, table)
    assert owner.send(f"{where}/freeze").status == 303
    assert "frozen" in owner.text("/owner")
    assert ann.ask(table, ask="count", epsilon="1/8").kind == "frozen"
    assert owner.send(f"{where}/settle", statement="").status == 422
    over = {f"lost-{ann.name}": "9"}
    assert "more than" in words(owner.send(f"{where}/settle", statement="x", **over))
    done = owner.send(f"{where}/settle", statement="a pause", **{f"lost-{ann.name}": "1/4"})
    assert done.headers["location"].endswith("done=settled")
    assert ann("GET", "/v1/me").json["grants"][0]["spent"] == "1/4"
    assert owner.send(f"{where}/cap", epsilon="9").status == 422
    assert owner.send(f"{where}/cap", epsilon="7/2", delta="1e-3").status == 303


def test_a_table_is_paused_opened_and_closed(owner: Visitor, house: House, stage: Stage) -> None:
    table = stage.table(rows(50), suffix="closing")
    where, ann = f"/owner/tables/{table}", stage.analyst("1/8", table)
    assert "age number, 0 to 100" in owner.text(where)
    assert owner.send(f"{where}/pause").status == 303
    assert ann.ask(table, ask="count", epsilon="1/8").kind == "paused"
    assert owner.send(f"{where}/rehearse").status == 303
    assert ann.ask(table, ask="count", epsilon="1/16").status == 200
    assert owner.send(f"{where}/close", again="another").status == 422
    assert owner.send(f"{where}/close", again=table).status == 303
    assert ann("GET", "/v1/datasets").json == []
    assert not list((house.folder / "tables").glob(f"{table}-*"))


def test_reasons_can_be_given_later_and_certificates_quote_them(owner: Visitor, house: House, stage: Stage) -> None:
    name = f"{stage.tag}-reasons"
    schema = facts(name)
    for one in schema["attributes"][:2]:
        del one["basis"]
    given = {"population": stage.tag, "schema": json.dumps(schema), "most_records": 100, "one_row_each": "true"}
    raw, head = form(given, b"age,dose,ward,class\n1,2,a,ill\n")
    stage.must(house.owner("PUT", f"/v1/datasets/{name}", raw=raw, head=head))
    assert "no reason given" in owner.text("/owner")
    done = owner.send(f"/owner/tables/{name}/reasons", **{"why-age": "an age is 0 to 100", "why-ward": "no change"})
    assert done.status == 303
    page = owner.text(f"/owner/tables/{name}")
    assert "an age is 0 to 100" in page
    assert "no change" not in page
    assert "columns are public: dose." in owner.text(f"/owner/populations/{stage.tag}")
    ann = stage.analyst(1, name)
    assert ann.ask(name, ask="average", of="age", epsilon="1/2").status == 200
    assert any(one["kind"] == "reasons" for one in stage.entries())


def test_keys_of_people_are_made_and_revoked(owner: Visitor, house: House, stage: Stage) -> None:
    who = f"{stage.tag}-auditor"
    first = KEY.search(unescape(owner.send("/owner/people", who=who, role="auditor").body.decode()))
    assert first is not None
    assert Caller(house.port, first[0])("GET", "/v1/populations").status == 200
    assert owner.send("/owner/people", who=who, role="auditor").status == 422
    second = KEY.search(unescape(owner.send(f"/owner/people/{who}/keys", name="laptop").body.decode()))
    assert second is not None
    browser = Visitor(house)
    browser.sign_in(first[0])
    assert owner.send(f"/owner/people/{who}/revoke", id=first[0].split("_")[1]).status == 303
    assert Caller(house.port, first[0])("GET", "/v1/me").status == 401
    assert browser.get("/account").status == 303  # its session ended with it
    assert Caller(house.port, second[0])("GET", "/v1/me").status == 200
    assert owner.send(f"/owner/people/{who}/close").status == 303
    assert Caller(house.port, second[0])("GET", "/v1/me").status == 401
    assert "own account" in words(owner.send("/owner/people/owner/close"))


def test_a_copy_of_the_books_is_downloaded_and_noted(owner: Visitor, stage: Stage, table: str, tmp_path: Path) -> None:
    copy = owner.send("/owner/backup")
    assert (copy.status, copy.headers["content-disposition"]) == (200, 'attachment; filename="books.sqlite"')
    path = tmp_path / "copy.sqlite"
    path.write_bytes(copy.body)
    with sqlite3.connect(path) as books:
        assert (stage.tag,) in books.execute("SELECT id FROM populations").fetchall()
    assert "Last copy: 20" in owner.text("/owner/server")
    assert "copy of the books" not in owner.text("/owner")


def test_the_pages_are_for_owners_only(house: House, stage: Stage, table: str) -> None:
    for role in ("analyst", "auditor"):
        visitor = Visitor(house)
        visitor.sign_in(stage.analyst("1/8", table, role=role).key)
        for path in (
            "/owner",
            "/owner/people",
            "/owner/server",
            f"/owner/populations/{stage.tag}",
            f"/owner/tables/{table}",
        ):
            assert visitor.get(path).status == 404, (role, path)
        for path in (f"/owner/populations/{stage.tag}/freeze", f"/owner/tables/{table}/close", "/owner/backup"):
            assert visitor.send(path, again=table).status == 404, (role, path)
    assert Visitor(house).get("/owner").status == 303


# ---- things to do ---------------------------------------------------------------------------------------------------


class Shelf:
    """Stands for a service whose books say only when they were copied."""

    engine = "sqlite"

    def __init__(self, copied: float | None) -> None:
        self.books: Any = self
        self.rows = [] if copied is None else [(copied,)]

    def read(self, *_: object) -> list[tuple[float]]:
        return self.rows


def with_table(**facts_of: object) -> Budget:
    schema = {"attributes": [], "labels_basis": "documented", "class": "ill"}
    table = {"id": "visits", "state": "open", "missed": 0, "schema": schema} | facts_of
    return Budget("p", "P", "person", "add-remove", NOTHING, NOTHING, None, tables=(table,))


@pytest.mark.parametrize(("days", "shown"), [(None, True), (8, True), (6, False)])
def test_old_copies_of_the_books_are_something_to_do(days: int | None, shown: bool) -> None:
    here: Any = Shelf(None if days is None else time.time() - days * 86_400 - 60)
    found = things_to_do(here, [with_table()])
    assert [one.path for one in found] == (["/owner/server#backup"] if shown else [])
    assert days != 8 or "8" in found[0].title


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_late_answers_are_something_to_do(state: str) -> None:
    found = of_population(with_table(missed=2, state=state))
    assert [one.post for one in found] == ([] if state == "closed" else ["/owner/tables/visits/rehearse"])
    assert all("2" in one.text for one in found)
