"""The pages from outside, without a browser: signing in, cookies, forms of other sites, framing, and texts."""

from __future__ import annotations

import re
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest
from house import Caller, House, Stage
from visiting import Visitor

from privet.server.pages.texts import PARTS, TEXTS


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage(house)


def test_a_key_signs_in_by_one_form_field(house: House) -> None:
    visitor = Visitor(house)
    form = visitor.get("/").body.decode()
    assert re.findall(r'<input[^>]* name="([^"]+)"', form) == ["key"]
    wrong = visitor.sign_in("privet_00000000_nothing")
    assert (wrong.status, "not valid" in wrong.body.decode(), visitor.cookie) == (401, True, "")
    right = visitor.sign_in(house.owner.key)
    assert right.status == 303
    flags = right.headers["set-cookie"].lower().split("; ")
    assert {"httponly", "samesite=strict", "path=/"} <= set(flags)
    assert "secure" not in flags  # loopback has no TLS; see test_cookies_are_secure_behind_tls
    assert visitor.get("/").status == 303
    assert "owner" in visitor.get("/account").body.decode()


def test_cookies_are_secure_behind_tls(tmp_path: Path) -> None:
    house = House(tmp_path / "folder", "--slots", "1", "--public-url", "https://privet.example.org", "--behind-proxy")
    try:
        reply = Visitor(house).sign_in(house.owner.key)
        flags = {flag.lower() for flag in reply.headers["set-cookie"].split("; ")}
        assert {"secure", "httponly", "samesite=strict"} <= flags
        assert "strict-transport-security" in reply.headers
    finally:
        house.stop()


def test_forms_of_other_sites_are_refused(house: House, stage: Stage) -> None:
    visitor = Visitor(house)
    visitor.sign_in(stage.analyst(1).key)
    token = visitor.token()
    for head in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
    ):
        assert visitor.post("/sign-out", {"token": token}, head).kind == "cross-site", head
        assert head == {} or Visitor(house).post("/", {"key": house.owner.key or ""}, head).kind == "cross-site"
    for wrong in ("", "0" * 64, Visitor(house).cookie):  # the right origin, and not a form of this session
        assert visitor.post("/sign-out", {"token": wrong}).status == 403
    other = Visitor(house)
    other.sign_in(stage.analyst(1).key)
    assert visitor.post("/sign-out", {"token": other.token()}).status == 403
    assert visitor.post("/sign-out", {"token": token}).status == 303


def test_pages_cannot_be_framed_or_run_foreign_script(house: House) -> None:
    visitor = Visitor(house)
    visitor.sign_in(house.owner.key)
    for path in ("/", "/account", "/nothing"):
        headers = visitor.get(path).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
        assert headers["cache-control"] == "no-store"
    page = visitor.get("/account").body.decode()
    assert not re.search(r"\sstyle=|\son[a-z]+=|<script>", page)
    for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', page):
        kept = Caller(house.port)("GET", path)
        assert (kept.status, "immutable" in kept.headers["cache-control"]) == (200, True)
    assert Caller(house.port)("GET", "/static/0/app.css").status == 404


def test_a_session_ends_by_sign_out_and_with_its_key(house: House, stage: Stage) -> None:
    ann = stage.analyst(1)
    first, second = Visitor(house), Visitor(house)
    for one in (first, second):
        one.sign_in(ann.key)
        assert one.get("/account").status == 200
    old = first.cookie
    assert first.post("/sign-out", {"token": first.token()}).status == 303
    first.cookie = old  # kept by somebody
    assert (first.get("/account").status, second.get("/account").status) == (303, 200)
    mine = next(one["id"] for one in ann("GET", "/v1/keys").json if one["kind"] == "key")
    assert ann("DELETE", f"/v1/keys/{mine}").status == 204
    assert second.get("/account").headers["location"] == "/?done=ended"
    assert second.call("GET", "/v1/me", head={"Cookie": second.cookie}).status == 401


def test_a_closed_account_has_no_session(house: House, stage: Stage) -> None:
    ann, visitor = stage.analyst(1), Visitor(house)
    visitor.sign_in(ann.key)
    stage.owner("POST", f"/v1/people/{ann.name}/close")
    assert visitor.get("/account").status == 303


def test_own_keys_are_made_and_revoked_on_a_page(house: House, stage: Stage) -> None:
    visitor = Visitor(house)
    visitor.sign_in(stage.analyst(1).key)
    page = unescape(visitor.post("/account/keys", {"token": visitor.token(), "name": "<b>"}).body.decode())
    found = re.search(r"privet_([0-9a-f]{8})_[\w-]+", page)
    assert found is not None
    made = Caller(house.port, found[0])
    assert made("GET", "/v1/me").status == 200
    assert found[0] not in visitor.get("/account").body.decode()
    assert visitor.post("/account/revoke", {"token": visitor.token(), "id": found[1]}).status == 303
    assert made("GET", "/v1/me").status == 401


def test_programs_get_problems_and_people_get_pages(house: House) -> None:
    visitor = Visitor(house)
    assert visitor.get("/nothing").headers["content-type"].startswith("text/html")
    assert Caller(house.port)("GET", "/nothing").headers["content-type"] == "application/problem+json"
    assert Caller(house.port)("GET", "/account").kind == "no-key"
    assert visitor.get("/account").status == 303


# -- texts -------------------------------------------------------------------------------------------------------------


def templates() -> dict[str, str]:
    found = files("privet.server.pages") / "templates"
    return {one.name: one.read_text("utf-8") for one in found.iterdir() if one.name.endswith(".html")}


def test_no_template_holds_a_sentence() -> None:
    for name, text in templates().items():
        bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", text, flags=re.DOTALL)
        assert not re.search(r"[A-Za-z]{2,}", bare), (name, bare.split())


def test_texts_that_templates_say_exist() -> None:
    for name, text in templates().items():
        for said in re.findall(r'say\("([^"]+)"[,)]', text):
            assert said in TEXTS, (name, said)


def test_every_text_has_a_name_of_its_own() -> None:
    assert sum(len(part.TEXTS) for part in PARTS) == len(TEXTS)
