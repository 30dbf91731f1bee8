"""A server from outside: questions, refusals, roles, keys, and what is nobody's business."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from typing import Any

import pytest
from house import Caller, House, Stage, facts, form, rows, together


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage(house)


@pytest.fixture(scope="module")
def table(stage: Stage) -> str:
    return stage.table(rows(500))


@pytest.fixture(scope="module")
def ann(stage: Stage, table: str) -> Caller:
    return stage.analyst(100, table)


def test_questions_are_answered_and_certified(ann: Caller, table: str) -> None:
    asks: list[dict[str, Any]] = [
        {"ask": "count"},
        {"ask": "class-counts"},
        {"ask": "average", "of": "age"},
        {"ask": "most-frequent", "of": "ward"},
        {"ask": "sum", "of": "dose"},
        {"ask": "histogram", "of": "ward"},
        {"ask": "quantiles", "of": "age", "at": [0.25, 0.5]},
        {"ask": "count", "by": "ward", "where": [{"column": "age", "op": "above", "value": 60}]},
        {"ask": "class-counts", "by": "ward"},
        {"ask": "average", "of": "age", "by": "ward", "where": [{"column": "dose", "op": "at_most", "value": 5}]},
        {"ask": "histogram", "of": "age", "where": [{"column": "ward", "op": "in", "value": ["a", "b"]}]},
    ]
    for ask in asks:
        reply = ann.ask(table, epsilon="1/2", **ask)
        assert reply.status == 200, reply.body
        assert reply.json["answer"]["certificate"]["epsilon"] == "1/2"
        assert reply.json["state"] == "done"
        assert reply.headers["privet-head"].count(":") == 2
    count = ann.ask(table, ask="count", epsilon=5).json["answer"]["value"]
    assert 450 < count < 550
    parts = ann.ask(table, ask="class-counts", by="ward", epsilon=5).json["answer"]["value"]
    assert {name: set(counts) for name, counts in parts.items()} == {key: {"healthy", "ill"} for key in "abcd"}


def test_a_price_is_free_and_a_trial_is_invented(ann: Caller, table: str) -> None:
    before = ann("GET", "/v1/me").json
    price = ann("POST", f"/v1/datasets/{table}/price", {"ask": "count", "epsilon": 0.1})
    assert (price.json["epsilon"], price.json["enough"]) == ("1/10", True)
    trial = ann("POST", f"/v1/datasets/{table}/trial", {"ask": "class-counts", "epsilon": 0.1})
    assert trial.json["invented"] is True
    assert set(trial.json["answer"]["value"]) == {"healthy", "ill"}
    assert ann("GET", "/v1/me").json == before


BAD: dict[str, dict[str, Any]] = {
    "no epsilon": {"ask": "count"},
    "zero": {"ask": "count", "epsilon": 0},
    "negative": {"ask": "count", "epsilon": -1},
    "huge": {"ask": "count", "epsilon": "1e999"},
    "long": {"ask": "count", "epsilon": "0." + "1" * 100},
    "text": {"ask": "count", "epsilon": "much"},
    "true": {"ask": "count", "epsilon": True},
    "a null": {"ask": "count", "epsilon": None},
    "unknown question": {"ask": "mode", "epsilon": 1},
    "an extra key": {"ask": "count", "epsilon": 1, "seed": 7},
    "no column": {"ask": "sum", "epsilon": 1},
    "an unknown column": {"ask": "sum", "of": "height", "epsilon": 1},
    "a sum of categories": {"ask": "sum", "of": "ward", "epsilon": 1},
    "an unsound variant": {"ask": "fit", "recipe": "sulq", "params": {"variant": "as-published"}, "epsilon": 1},
    "a ledger": {"ask": "fit", "recipe": "exact", "params": {"ledger": "x"}, "epsilon": 1},
    "another answer": {"ask": "score", "of": "0" * 32, "epsilon": 1},
    "too many conditions": {"ask": "count", "epsilon": 1, "where": [{"column": "age", "op": "above", "value": 1}] * 9},
    "an unknown condition": {"ask": "count", "epsilon": 1, "where": [{"column": "age", "op": "like", "value": 1}]},
}


@pytest.mark.parametrize("ask", BAD.values(), ids=BAD)
def test_bad_questions_cost_nothing_and_name_the_fix(ann: Caller, table: str, ask: dict[str, Any]) -> None:
    before = ann("GET", "/v1/me").json
    reply = ann("POST", f"/v1/datasets/{table}/answers", ask, head={"Idempotency-Key": "bad-question-1"})
    assert (reply.status, reply.kind in ("invalid", "rehearsal")) == (422, True), reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    assert len(reply.json["detail"]) > 10
    assert ann("GET", "/v1/me").json == before


def test_nan_and_broken_bodies_are_refused(ann: Caller, table: str) -> None:
    head = {"Idempotency-Key": "bad-body-1", "Content-Type": "application/json"}
    for raw in (
        b'{"ask": "count", "epsilon": NaN}',
        b'{"ask": "count", "epsilon": 1e999}',
        b"{",
        b"",
        b"\xff" * 9,
        b"[[" * 9000,
    ):
        assert ann("POST", f"/v1/datasets/{table}/answers", raw=raw, head=head).status in (400, 422)
    large = b'{"ask": "count", "epsilon": "' + b"1" * 2**21 + b'"}'
    assert ann("POST", f"/v1/datasets/{table}/answers", raw=large, head=head).kind == "too-large"


def test_keys_are_needed_and_idempotency_keys_too(house: House, ann: Caller, table: str) -> None:
    assert Caller(house.port)("GET", "/v1/me").kind == "no-key"
    assert Caller(house.port, "privet_00000000_nothing")("GET", "/v1/me").status == 401
    body = {"ask": "count", "epsilon": 1}
    assert ann("POST", f"/v1/datasets/{table}/answers", body).kind == "idempotency-key-missing"
    assert ann("POST", f"/v1/datasets/{table}/answers", body, head={"Idempotency-Key": "short"}).kind == "invalid"


def test_what_is_not_yours_does_not_exist(stage: Stage, ann: Caller, table: str) -> None:
    hidden = stage.table(rows(50), suffix="hidden")
    bob = stage.analyst(1, hidden)
    theirs = bob.ask(hidden, wait=0, ask="count", epsilon="1/10").json["id"]
    pairs = [
        ("GET", f"/v1/datasets/{hidden}", f"/v1/datasets/{stage.tag}-none", None),
        ("GET", f"/v1/answers/{theirs}", f"/v1/answers/{'0' * 32}", None),
        ("DELETE", f"/v1/answers/{theirs}", f"/v1/answers/{'0' * 32}", None),
        (
            "POST",
            f"/v1/datasets/{hidden}/price",
            f"/v1/datasets/{stage.tag}-none/price",
            {"ask": "count", "epsilon": 1},
        ),
    ]
    for method, one, other, body in pairs:
        first, second = ann(method, one, body), ann(method, other, body)
        assert first.status == second.status == 404
        assert first.body == second.body
    for path in (f"/v1/populations/{stage.tag}/entries", "/v1/populations", "/metrics"):
        assert ann("GET", path).status == 404
    assert ann("PUT", "/v1/people/evil", {"role": "owner"}).status == 404
    assert ann("POST", "/v1/backup", {}).status == 404


def test_names_with_slashes_or_controls_are_refused(house: House) -> None:
    for name in ("..%2fx", "a%0ab", "UPPER", "a" * 64, "%00"):
        reply = house.owner("PUT", f"/v1/people/{name}", {"role": "analyst"})
        assert reply.status in (404, 405, 422), (name, reply.status)


def test_tables_must_say_whose_rows_they_are(stage: Stage) -> None:
    refused = stage.put_table(rows(5), suffix="u", one_row_each=None)
    assert (refused.status, "max_rows" in refused.json["detail"]) == (422, True)
    draft = facts("d")
    draft["attributes"][0]["basis"] = "unconfirmed"
    assert stage.put_table(rows(5), suffix="v", schema=json.dumps(draft)).status == 422
    assert stage.put_table(rows(50), most=10, suffix="w").status == 422, "more records than declared"
    assert stage.put_table([], suffix="x", schema=json.dumps(facts("x") | {"class": "nowhere"})).status == 422
    other = facts("z")
    other["attributes"].append({"name": "height", "type": "continuous", "min": 0, "max": 3, "basis": "meaning"})
    lacking = stage.put_table(rows(5), suffix="z", schema=json.dumps(other))
    assert (lacking.status, "height" in lacking.json["detail"]) == (422, True), "a table that breaks its schema"
    raw, head = form(
        {"population": stage.tag, "schema": json.dumps(facts("y")), "most_records": 5, "one_row_each": "true"}, None
    )
    assert stage.owner("PUT", f"/v1/datasets/{stage.tag}-y", raw=raw, head=head).status == 422


def test_a_unit_bounds_the_rows_of_each_person(stage: Stage) -> None:
    """Of a hundred rows of one person and ten of others, two and ten are used, and the owner states nothing more."""
    lines = ["who,age,dose,ward,class", *["ann,30,1,a,ill"] * 100, *[f"p{i},30,1,a,ill" for i in range(10)]]
    schema = facts("units") | {"unit": {"name": "who", "max_rows": 2}}
    given = {"population": stage.tag, "schema": json.dumps(schema), "most_records": 500}
    raw, head = form(given, "\n".join(lines).encode())
    name = f"{stage.tag}-units"
    stage.must(stage.owner("PUT", f"/v1/datasets/{name}", raw=raw, head=head))
    reply = stage.analyst(100, name).ask(name, ask="count", epsilon=50)
    assert abs(reply.json["answer"]["value"] - 12) < 3  # further away: less than one in 10^30
    assert reply.json["answer"]["certificate"]["unit"]["max_rows"] == 2


def test_a_closed_table_is_gone_and_its_records_are_deleted(stage: Stage, house: House) -> None:
    name = stage.table(rows(20), suffix="gone")
    ann = stage.analyst(1, name)
    folders = list((house.folder / "tables").glob(f"{name}-*"))
    assert len(folders) == 1
    stage.must(stage.owner("POST", f"/v1/datasets/{name}/close", {}))
    assert not folders[0].exists()
    assert ann("GET", f"/v1/datasets/{name}").status == 404
    assert ann.ask(name, ask="count", epsilon="1/10").status == 404


def test_other_sites_and_other_hosts_are_refused(house: House, ann: Caller) -> None:
    cookie = ann("POST", "/v1/session", {}).status
    assert cookie in (204, 422)
    made = Caller(house.port, ann.key)("POST", "/v1/session").headers["set-cookie"]
    assert "httponly" in made.lower()
    assert "samesite=strict" in made.lower()
    browser = {"Cookie": made.partition(";")[0]}
    nobody = Caller(house.port)
    assert nobody("GET", "/v1/me", head=browser).status == 200
    for sent in ({}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        assert nobody("DELETE", "/v1/session", head=browser | sent).kind == "cross-site"
    assert nobody("GET", "/healthz", head={"Host": "evil.example"}).kind == "host"
    here = {"Origin": f"http://127.0.0.1:{house.port}", "Sec-Fetch-Site": "same-origin"}
    assert nobody("DELETE", "/v1/session", head=browser | here).status == 204
    assert nobody("GET", "/v1/me", head=browser).status == 401


def test_answers_carry_security_headers(house: House) -> None:
    for path in ("/healthz", "/openapi.json", "/v1/me", "/nowhere"):
        headers = Caller(house.port)("GET", path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
        assert "server" not in headers
    assert Caller(house.port)("GET", "/docs").status == 404


def test_keys_rotate(house: House, stage: Stage) -> None:
    auditor = stage.analyst(0, role="auditor")
    made = auditor("POST", "/v1/keys", {"name": "new"}).json
    assert Caller(house.port, made["key"])("GET", "/v1/me").json["role"] == "auditor"
    assert Caller(house.port, made["key"])("DELETE", f"/v1/keys/{made['id']}").status == 204
    assert Caller(house.port, made["key"])("GET", "/v1/me").status == 401
    assert auditor("GET", "/v1/populations").status == 200
    assert auditor("GET", "/v1/datasets").status == 404
    ended = auditor("POST", "/v1/keys", {"ends": time.time() - 1}).json
    assert Caller(house.port, ended["key"])("GET", "/v1/me").status == 401


def test_metrics_and_entries_show_no_answer(stage: Stage, ann: Caller, table: str) -> None:
    ann.ask(table, ask="count", epsilon="1/10")
    text = stage.owner("GET", "/metrics").body.decode()
    assert "privet_charges_total" in text
    assert table not in text
    assert ann.name not in text
    assert "answer" not in stage.entries()[-1]["body"]


def test_forty_equal_questions_are_one(stage: Stage, table: str) -> None:
    ann, bob = stage.analyst(10, table), stage.analyst(10, table)
    ask: dict[str, Any] = {"ask": "class-counts", "epsilon": "1/10"}
    got = together(*[lambda: ann.ask(table, key="the-same-key", **ask) for _ in range(40)])
    assert {one.status for one in got} == {200}
    assert len({one.json["id"] for one in got}) == 1
    assert len({json.dumps(one.json["answer"]) for one in got}) == 1
    assert len([one for one in stage.charges() if one["person"] == ann.name]) == 1
    assert ann.ask(table, key="the-same-key", ask="class-counts", epsilon=0.1).json["id"] == got[0].json["id"]
    assert ann.ask(table, key="the-same-key", ask="count", epsilon="1/10").kind == "idempotency-key-reused"
    assert bob.ask(table, key="the-same-key", **ask).json["id"] != got[0].json["id"]


def test_noise_of_children_differs(ann: Caller, table: str) -> None:
    jobs = [ann.ask(table, wait=0, ask="count", epsilon="1/100").json["id"] for _ in range(6)]
    values = [ann("GET", f"/v1/answers/{job}", head={"Prefer": "wait=30"}).json["answer"]["value"] for job in jobs]
    assert len(set(values)) > 2, "equal with probability below 1e-8 at a scale of 100"


def test_sixty_at_once_with_room_for_three(stage: Stage, table: str) -> None:
    ann = stage.analyst("3/10", table)
    got = together(*[lambda: ann.ask(table, wait=0, ask="count", epsilon="1/10").status for _ in range(60)])
    assert (got.count(202), got.count(402)) == (3, 57)
    spent = ann("GET", "/v1/me").json["grants"][0]
    assert Fraction(spent["spent"]) + Fraction(spent["held"]) == Fraction(3, 10)


def test_a_queued_question_is_cancelled_for_free(stage: Stage, table: str) -> None:
    ann = stage.analyst(10, table)
    jobs = [ann.ask(table, wait=0, ask="count", epsilon=1).json["id"] for _ in range(8)]
    done = ann("DELETE", f"/v1/answers/{jobs[-1]}")
    assert (done.status, done.json["state"]) == (200, "cancelled")
    assert "answer" not in done.json
    for job in jobs[:-1]:
        ann("DELETE", f"/v1/answers/{job}")
    assert {one["state"] for one in ann("GET", "/v1/answers").json} <= {"cancelled", "done"}
    charged = {one["job"] for one in stage.charges()}
    assert jobs[-1] not in charged


def test_a_grant_moves_only_within_the_cap(house: House) -> None:
    stage = Stage(house, cap=1)
    ann = stage.analyst(1)
    path = f"/v1/populations/{stage.tag}/grants/{ann.name}"
    assert stage.owner("PUT", path, {"epsilon": 2, "datasets": []}).kind == "cap"
    assert stage.owner("POST", f"/v1/populations/{stage.tag}/cap", {"epsilon": 2}).kind == "cap"
    assert stage.owner("PUT", f"/v1/populations/{stage.tag}", {"title": "x", "cap": {"epsilon": 9}}).kind == "exists"


def test_frozen_until_settled(stage: Stage, house: House) -> None:
    apart = Stage(house)
    name = apart.table(rows(20))
    ann = apart.analyst(1, name)
    apart.must(apart.owner("POST", f"/v1/populations/{apart.tag}/freeze"))
    assert ann.ask(name, ask="count", epsilon="1/10").kind == "frozen"
    apart.must(apart.owner("POST", f"/v1/populations/{apart.tag}/settle", {"statement": "a pause"}))
    assert ann.ask(name, ask="count", epsilon="1/10").status == 200


def test_a_fit_comes_back_as_a_model_with_a_page(stage: Stage, house: House, ann: Caller, table: str) -> None:
    house.warm("fits")
    ask: dict[str, Any] = {"ask": "fit", "recipe": "diffpid3", "epsilon": 5, "params": {"max_depth": 2}}
    got = ann.ask(table, **ask)
    while got.status == 202:
        got = ann("GET", f"/v1/answers/{got.json['id']}", head={"Prefer": "wait=30"})
    assert got.json["state"] == "done", got.body
    job = got.json["id"]
    assert ann("GET", f"/v1/answers/{job}/model").json["format"] == "privet-model"
    assert ann("GET", f"/v1/answers/{job}/certificate").json["epsilon"] == "5"
    page = ann("GET", f"/v1/answers/{job}/page")
    assert page.body.startswith(b"<!")
    assert "sha256-" in page.headers["content-security-policy"]
    score = ann.ask(table, ask="score", of=job, epsilon=1)
    while score.status == 202:
        score = ann("GET", f"/v1/answers/{score.json['id']}", head={"Prefer": "wait=30"})
    assert score.json["state"] == "done", score.body
