"""The analyst's pages in a real browser: the whole path from a key to a tree on the screen, looked at on the way."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from house import Caller, House, Stage, facts, form, rows
from page_reader import browser  # noqa: F401 - a fixture
from visiting import Visitor, words
from walking import Walker

from privet.models.codec import from_text

PICTURES = Path(os.environ["PRIVET_PICTURES"]) if os.environ.get("PRIVET_PICTURES") else None


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage(house)


@pytest.fixture(scope="module")
def table(stage: Stage) -> str:
    return stage.table(rows(2000), 3000)


@pytest.fixture
def walker(browser: Any, house: House) -> Iterator[Walker]:  # noqa: F811
    made = Walker(browser, house, PICTURES)
    yield made
    made.close()


def finish(walker: Walker) -> Walker:
    """Wait until the answer is on the screen: the page looks again by itself."""
    walker.page.get_by_role("heading", name="The answer is here").wait_for(timeout=120_000)
    walker.page.wait_for_load_state()
    return walker


def test_the_whole_path(stage: Stage, table: str, walker: Walker, house: House) -> None:
    """Sign in, choose, price, forecast, try, ask, wait, read, score, download."""
    house.warm("fits")
    ann = stage.analyst(3, table)
    walker.sign_in(ann.key or "").look("datasets")
    walker.follow(table).look("ask-tree")

    walker.page.select_option("#recipe", "diffpid3")
    walker.fill(depth="2", epsilon="0.5").press("Show the price")
    assert "then left 2.5" in walker.text
    assert not stage.charges()
    walker.look("ask-price")
    walker.press("Try on invented records")
    assert "This is not about your table" in walker.text
    walker.look("ask-trial")
    walker.press("Show the price").press("Ask, and spend 0.5")
    finish(walker).look("answer-tree")
    assert walker.page.locator("svg.tree").count() == 1
    assert walker.page.locator("div.tree li").count() >= 2
    assert "The rules" in walker.text
    assert "What is promised" in walker.text
    tree = walker.page.url

    walker.follow("How good is it?").press("Show the price").press("Ask, and spend 0.1")
    finish(walker).look("answer-score")
    assert re.search(r"right in \d+ of 100 cases", walker.text)
    walker.go(tree)
    assert "How good it is" in walker.text  # the score stands on the tree's page now

    with walker.page.expect_download() as found:
        walker.follow("Model, JSON")
    assert from_text(Path(found.value.path()).read_text("utf-8")).schema.name == table
    for other, begins in {"Python": b'"""', "SQL": b"--", "PMML": b"<?xml"}.items():
        with walker.page.expect_download() as found:
            walker.follow(other)
        assert Path(found.value.path()).read_bytes().startswith(begins), other
    walker.follow("Open the whole page")
    if walker.page.locator("#case").count():  # its script runs under the page's own policy
        walker.page.locator("#case-form").wait_for(state="visible")

    walker.go("/analyst/answers").look("answers")
    assert [one["epsilon"] for one in stage.charges()] == ["1/2", "1/10"]
    assert walker.faults == []


def test_counts_are_charts_and_curves_are_curves(stage: Stage, table: str, walker: Walker, house: House) -> None:
    house.warm("fits")
    ann = stage.analyst(3, table)
    ask = ann.ask(table, ask="fit", recipe="additive", epsilon=1)
    assert ask.status in (200, 202), ask.body
    walker.sign_in(ann.key or "").go(f"/analyst/datasets/{table}?what=count").look("ask-count")
    walker.page.select_option("#kind", "histogram")
    walker.page.select_option("#of", "ward")
    walker.page.select_option("#by", "class")
    walker.page.get_by_text("Only some of the records").click()
    walker.page.select_option("#column1", "age")
    walker.page.select_option("#op1", "above")
    walker.fill(value1="50", epsilon="0.2").press("Show the price").press("Ask, and spend 0.2")
    finish(walker).look("answer-count")
    assert "histogram of ward where age > 50 by class" in walker.text
    assert walker.page.locator("svg.shape.wide rect").count() == 8
    walker.follow("Ask it again")
    assert walker.page.input_value("#value1") == "50"

    walker.go(f"/analyst/answers/{ask.json['id']}")
    finish(walker).look("answer-curves")
    assert walker.page.locator("svg.shape").count() >= 3
    assert walker.faults == []


def test_a_refusal_is_explained_and_costs_nothing(stage: Stage, table: str, walker: Walker) -> None:
    ann = stage.analyst("0.3", table)
    before = len(stage.charges())
    walker.sign_in(ann.key or "").go(f"/analyst/datasets/{table}?what=count")
    walker.fill(epsilon="0.5").press("Show the price")
    assert "It costs 0.5, and you have 0.3 left." in walker.text
    assert walker.page.get_by_role("button", name="Ask, and spend").count() == 0
    walker.look("ask-short")
    walker.fill(epsilon="plenty").press("Show the price")
    assert "The question is not complete or not valid" in walker.text
    assert walker.page.input_value("#epsilon") == "plenty"
    walker.look("ask-refused")
    assert len(stage.charges()) == before
    assert walker.faults == []


def test_a_target_gives_an_epsilon(stage: Stage, table: str, walker: Walker, house: House) -> None:
    house.warm("fits")
    ann = stage.analyst(3, table)
    walker.sign_in(ann.key or "").go(f"/analyst/datasets/{table}")
    walker.page.select_option("#recipe", "diffpid3")
    walker.fill(depth="2", target="70").press("Forecast how good it gets")
    assert "by the forecast" in walker.text
    epsilon = float(walker.page.input_value("#epsilon"))
    assert 0.05 <= epsilon <= 4
    assert f"Ask, and spend {epsilon:g}" in walker.text
    walker.look("ask-forecast")
    walker.fill(target="100").press("Forecast how good it gets")
    assert "no epsilon up to 4 is right in 100 of 100" in walker.text
    assert walker.faults == []


@pytest.fixture(scope="module")
def waiting(house: House) -> tuple[Caller, list[str]]:
    """An analyst whose last questions wait for good: the books are frozen before their turn comes."""
    own = Stage(house)
    name = own.table(rows(50), 100)
    ann = own.analyst(1, name)
    asked = [ann.ask(name, wait=0, ask="count", epsilon="0.01").json["id"] for _ in range(20)]  # two slots, 1 s each
    own.must(own.owner("POST", f"/v1/populations/{own.tag}/freeze"))
    return ann, asked[-2:]


def test_a_question_that_waits_can_be_cancelled(waiting: tuple[Caller, list[str]], walker: Walker) -> None:
    ann, (_, last) = waiting

    def still(route: Any) -> None:  # the page would look again while it is looked at
        reply = route.fetch()
        route.fulfill(response=reply, body=reply.text().replace("data-wait=", "data-waits="))

    walker.sign_in(ann.key or "")
    walker.page.route(f"**/analyst/answers/{last}", still)
    walker.go(f"/analyst/answers/{last}")
    assert "of your own questions are before it" in walker.text
    walker.look("answer-waits").press("Cancel it")
    assert "It was cancelled" in walker.text
    walker.look("answer-cancelled")
    assert walker.faults == []


def test_a_number_is_predicted_and_people_have_several_rows(stage: Stage, house: House) -> None:
    """The form of such a table offers what suits it, and no class counts."""
    age = {"name": "age", "type": "continuous", "min": 0, "max": 100, "basis": "meaning"}
    label = {"class": "days", "labels": {"min": 0, "max": 30}, "labels_basis": "meaning"}
    schema = {"name": "stays", "attributes": [age], **label, "unit": {"name": "who", "max_rows": 3}}
    name = f"{stage.tag}-stays"
    raw, head = form(
        {"population": stage.tag, "schema": json.dumps(schema), "most_records": 100},
        ("age,who,days\n" + "".join(f"{20 + i},p{i // 2},{i % 30}\n" for i in range(60))).encode(),
    )
    stage.must(stage.owner("PUT", f"/v1/datasets/{name}", raw=raw, head=head))
    visitor = Visitor(house)
    visitor.sign_in(stage.analyst(1, name).key)
    page = visitor.text(f"/analyst/datasets/{name}")
    assert "One who has at most 3 rows here" in page
    assert "exact-regression" in page
    counts = visitor.text(f"/analyst/datasets/{name}?what=count")
    assert "how many records of each class" not in counts
    assert "<option>days" not in visitor.get(f"/analyst/datasets/{name}?what=count").body.decode()
    fields = {"what": "count", "question": "count", "epsilon": "0.5", "do": "price"}
    priced = visitor.send(f"/analyst/datasets/{name}", **fields)
    assert "within 18 of the exact one" in words(priced)  # three rows each: as at a third of epsilon
    tried = visitor.send(f"/analyst/datasets/{name}", **(fields | {"do": "trial"}))
    assert "within 18 of the exact one" in words(tried)  # what an answer says of itself
    fields = {"what": "number", "question": "average", "of": "age", "epsilon": "0.5", "do": "price"}
    priced = visitor.send(f"/analyst/datasets/{name}", **fields)
    assert "Ask, and spend 0.5" in words(priced)


HOSTILE = ("<script>alert(1)</script>", "\u202egnirts\u202c \u05d0\u05d1", "x" * 300, "{{ 7 * 7 }}", "a\"b'c&amp;")


def test_hostile_names_do_nothing(stage: Stage, walker: Walker) -> None:
    schema = facts(HOSTILE[0])
    schema["title"] = HOSTILE[1]
    schema["attributes"][0]["name"] = HOSTILE[0]
    schema["attributes"][1]["name"] = HOSTILE[1]
    schema["attributes"][2] = schema["attributes"][2] | {"name": HOSTILE[2], "values": list(HOSTILE)}
    schema["class"], schema["labels"] = HOSTILE[3], [HOSTILE[4], HOSTILE[0]]
    name = f"{stage.tag}-hostile"
    text = "1,2," + HOSTILE[3] + ',"' + HOSTILE[0] + '"\n'
    head = ",".join('"' + one["name"].replace('"', '""') + '"' for one in schema["attributes"])
    given = {"population": stage.tag, "schema": json.dumps(schema), "most_records": 100, "one_row_each": "true"}
    raw, headers = form(given, (head + ',"' + schema["class"] + '"\n' + text * 20).encode())
    stage.must(stage.owner("PUT", f"/v1/datasets/{name}", raw=raw, head=headers))
    ann = stage.analyst(3, name)
    walker.sign_in(ann.key or "").look("hostile-datasets")
    walker.go(f"/analyst/datasets/{name}?what=count").look("hostile-ask")
    walker.page.select_option("#kind", "histogram")
    walker.page.select_option("#of", HOSTILE[2])
    walker.fill(epsilon="0.5").press("Show the price")
    assert "at most 200 characters" in walker.text
    walker.page.select_option("#of", HOSTILE[3])
    walker.press("Show the price").press("Ask, and spend 0.5")
    finish(walker).look("hostile-answer")
    assert walker.page.locator("script:not([src])").count() == 0
    walker.go(f"/analyst/datasets/{name}?what=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&epsilon=%22%3E%3Cb%3E")
    assert walker.faults == []


# -- without a browser, and without script -----------------------------------------------------------------------------


def test_reading_and_asking_need_no_script(stage: Stage, table: str, house: House) -> None:
    ann, visitor = stage.analyst(1, table), Visitor(house)
    visitor.sign_in(ann.key)
    path = f"/analyst/datasets/{table}"
    fields = {"what": "count", "question": "count", "epsilon": "0.1", "token": visitor.token(path)}
    priced = visitor.post(path, fields | {"do": "price"}).body.decode()
    idem = re.search(r'name="idem" value="([^"]+)"', priced)
    assert idem is not None
    asked = visitor.post(path, fields | {"do": "ask", "idem": idem[1]})
    again = visitor.post(path, fields | {"do": "ask", "idem": idem[1]})  # a double click
    assert asked.status == again.status == 303
    assert asked.headers["location"] == again.headers["location"]
    number = asked.headers["location"].rpartition("/")[2]
    ann("GET", f"/v1/answers/{number}", head={"Prefer": "wait=30"})
    assert "The answer is here" in visitor.get(asked.headers["location"]).body.decode()
    assert ann("GET", "/v1/me").json["grants"][0]["spent"] == "1/10"


def test_a_page_shows_no_more_than_the_api(stage: Stage, table: str, house: House) -> None:
    """Until an answer is due, the page of a finished question is that of a running one."""
    ann, visitor = stage.analyst(1, table), Visitor(house)
    visitor.sign_in(ann.key)
    seen = ann.ask(table, wait=0, ask="count", epsilon="0.1").json
    path = f"/analyst/answers/{seen['id']}"
    while time.sleep(0.3) or (now := ann("GET", f"/v1/answers/{seen['id']}").json)["state"] != "done":
        page = visitor.get(path).body.decode()
        after = ann("GET", f"/v1/answers/{seen['id']}").json["state"]
        if now["state"] == after:
            assert "The answer is here" not in page
            assert ("It is in progress" in page) == (after == "running")
    assert "The answer is here" in visitor.get(path).body.decode()


def test_what_is_not_yours_does_not_exist(stage: Stage, table: str, house: House) -> None:
    ann, bob, auditor = stage.analyst(1, table), stage.analyst(1), stage.analyst(1, role="auditor")
    number = ann.ask(table, ask="count", epsilon="0.1").json["id"]
    for caller in (bob, auditor):
        visitor = Visitor(house)
        visitor.sign_in(caller.key)
        for path in (
            f"/analyst/datasets/{table}",
            f"/analyst/answers/{number}",
            f"/analyst/answers/{number}/download/json",
        ):
            assert visitor.get(path).status == 404, path
        assert visitor.post(f"/analyst/answers/{number}/cancel", {"token": visitor.token()}).status == 404
    assert Caller(house.port)("GET", "/analyst").kind == "no-key"


def test_a_waiting_question_is_paid_back(waiting: tuple[Caller, list[str]], house: House) -> None:
    (ann, (number, _)), visitor = waiting, Visitor(house)
    visitor.sign_in(ann.key)

    def held() -> Fraction:
        return Fraction(ann("GET", "/v1/me").json["grants"][0]["held"])

    before = held()
    assert visitor.send(f"/analyst/answers/{number}/cancel").status == 303
    assert held() == before - Fraction("0.01")
    assert visitor.send(f"/analyst/answers/{number}/cancel").status == 303  # once more changes nothing
    assert held() == before - Fraction("0.01")


@pytest.mark.parametrize("fields", [{}, {"epsilon": "-1"}, {"epsilon": "9" * 3000}, {"what": "fit", "epsilon": "1"}])
def test_odd_forms_are_refused_with_a_page(stage: Stage, table: str, house: House, fields: dict[str, str]) -> None:
    ann, visitor = stage.analyst(1, table), Visitor(house)
    visitor.sign_in(ann.key)
    path = f"/analyst/datasets/{table}"
    for do in ("price", "trial", "ask", "forecast", "nothing"):
        reply = visitor.post(path, {"what": "count", "token": visitor.token(path), "do": do} | fields)
        assert reply.status in (422, 428) or (reply.status == 200 and fields.get("what") == "fit"), (do, reply.status)
        assert reply.headers["content-type"].startswith("text/html")
