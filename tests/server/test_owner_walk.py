"""An owner in a real browser: one server, one browser, one pass over all screens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from house import Caller
from owner_path import SCRIPT, TURNED, messy_file, walk
from page_reader import browser  # noqa: F401 - a fixture
from walking import FirstHouse, Walker


@pytest.fixture(scope="module")
def first_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstHouse]:
    made = FirstHouse(tmp_path_factory.mktemp("first") / "folder", "--slots", "1")
    made.warm()
    yield made
    made.stop()


def test_an_owner_walks_from_the_first_start_to_a_grant(browser: Any, first_house: FirstHouse, tmp_path: Path) -> None:  # noqa: F811
    owner = Walker(browser, first_house)
    key = walk(owner, first_house, messy_file(tmp_path))
    ben = Caller(first_house.port, key, "ben")
    assert ben.ask("visits-2026", ask="average", of="crp", epsilon="0.2").status == 200
    assert not list((first_house.folder / "drafts").iterdir())  # no file of records is left
    _further_screens(owner)
    _hostile_names(owner)
    _by_keyboard(owner)
    _in_print(owner)
    assert owner.go(first_house.link).status == 401  # it signs in once
    _without_script(browser, first_house)
    assert owner.faults == []
    assert _planted(owner) == {"image-alt", "overflow"}
    assert len(owner.looked) >= 20, owner.looked
    owner.close()


def _planted(owner: Walker) -> set[str]:
    """Which of two planted faults a look finds."""
    owner.go("/owner/people").page.evaluate(
        """() => { const wide = document.createElement("div"); wide.style.width = "2000px"; wide.textContent = "wide";
        document.querySelector("main").append(wide, document.createElement("img")); }"""
    )
    owner.look("planted")
    return {kind for kind in ("image-alt", "overflow") if any(kind in fault for fault in owner.faults)}


def _further_screens(owner: Walker) -> None:
    owner.go("/owner").look("home")
    owner.go("/owner/people").look("people").open_link("ben").look("person")
    owner.go("/owner/server").look("server")
    owner.go("/account").look("account")
    owner.go("/owner/tables/visits-2026").submit("Pause").look("table-paused").submit("Measure again")
    owner.go("/owner/populations/patients-of-clinic-north").submit("Freeze").look("population-frozen")
    owner.fill(statement="nothing was lost").submit("Settle")
    assert "books in order" in owner.text
    owner.go("/owner/nothing").look("problem")


def _hostile_names(owner: Walker) -> None:
    """Names do nothing but stand there; a name that is too long is refused."""
    owner.go("/owner/populations").fill(title=f"{SCRIPT} {TURNED}", id="evil", epsilon="1").submit("Promise")
    assert SCRIPT in owner.page.inner_text("h1")
    owner.go("/owner").look("home-hostile")
    owner.go("/owner/populations").fill(id="long", epsilon="1")
    owner.page.evaluate("document.querySelector('[name=title]').removeAttribute('maxlength')")
    owner.fill(title="x" * 300).submit("Promise")
    assert (owner.status, "200 characters" in owner.text) == (422, True)


def _by_keyboard(owner: Walker) -> None:
    """The first key leads past the menu, and every control can be reached and seen."""
    owner.go("/owner/people")
    owner.page.keyboard.press("Tab")
    assert owner.page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(40):
        owner.page.keyboard.press("Tab")
        reached.add(owner.page.evaluate("document.activeElement.tagName + (document.activeElement.name || '')"))
    assert {"INPUTwho", "SELECTrole", "BUTTON"} <= reached


def _in_print(owner: Walker) -> None:
    owner.go("/owner/populations/patients-of-clinic-north").page.emulate_media(media="print")
    assert not owner.page.is_visible(".top nav")
    assert owner.page.is_visible("svg.time")
    owner.page.emulate_media(media="screen")


def _without_script(browser: Any, house: FirstHouse) -> None:  # noqa: F811
    """Reading and asking need no script."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"http://127.0.0.1:{house.port}/")
    page.fill("[name=key]", house.owner.key)
    with page.expect_navigation():
        page.press("[name=key]", "Enter")
    page.goto(f"http://127.0.0.1:{house.port}/owner/populations/patients-of-clinic-north")
    page.fill("#who", "eve")
    page.fill("#grant-epsilon", "0.1")
    page.get_by_role("button", name="Grant it").click()
    assert "This key is shown once" in page.inner_text("body")
    page.context.close()
