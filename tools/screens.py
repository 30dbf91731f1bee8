"""Take the docs' pictures of the server's pages: `python tools/screens.py`. It starts a server with invented patients.

It needs a browser: see the extra `browser`. Noise, and so the tree, differs every time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from privet.cli.owning import send_table
from privet.client.wire import Wire
from privet.datasets.patients import sample_files

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
PORT = 8799
URL = f"http://127.0.0.1:{PORT}"
WIDTH, HEIGHT = 1100, 820  # pixels: what fits a page of the docs
PATIENCE = 300  # seconds for a first start, which compiles kernels


@contextmanager
def serving() -> Iterator[str]:
    """A server in a new folder; yields the owner's key."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "privet", "serve", "--folder", folder, "--port", str(PORT)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        try:
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                try:
                    with urlopen(f"{URL}/healthz", timeout=5) as reply:
                        if json.loads(reply.read())["fits"]:
                            break
                except (URLError, OSError):
                    pass
                time.sleep(0.5)
            yield (Path(folder) / "owner.key").read_text().strip()
        finally:
            process.terminate()
            process.wait(60)


def fill(owner: str) -> dict[str, str]:
    """Patients, two analysts and an auditor; returns their keys."""
    wire, files = Wire(URL, owner), sample_files()
    cap = {"title": "Patients of Clinic North", "cap": {"epsilon": "4", "delta": "1e-5"}}
    wire.call("PUT", "/v1/populations/clinic-north", cap)
    schema, table = files["patients.schema.json"], files["patients.csv"].encode()
    send_table(wire, "patients", "clinic-north", schema, 10_000, table, one_row_each=True)
    made = {name: wire.call("PUT", f"/v1/people/{name}", {"role": role}).json() for name, role in PEOPLE.items()}
    for name, epsilon in (("ann", "1.5"), ("ben", "1")):
        grant = {"epsilon": epsilon, "delta": "1e-6", "datasets": ["patients"]}
        wire.call("PUT", f"/v1/populations/clinic-north/grants/{name}", grant)
    return {name: one["key"] for name, one in made.items()}


PEOPLE = {"ann": "analyst", "ben": "analyst", "rosa": "auditor"}


def take(browser: Any, keys: dict[str, str]) -> None:
    """Walk through the pages, and take the pictures on the way."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_default_timeout(1000 * PATIENCE)

    def sign_in(name: str) -> None:
        page.context.clear_cookies()
        page.goto(URL)
        page.fill("input[name=key]", keys[name])
        page.press("input[name=key]", "Enter")
        page.wait_for_url(re.compile("/(owner|analyst|auditor)"))

    def picture(name: str, tall: int = HEIGHT) -> None:
        page.set_viewport_size({"width": WIDTH, "height": tall})
        page.screenshot(path=PICTURES / f"{name}.png")
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        print("wrote", PICTURES / f"{name}.png")

    sign_in("ben")
    page.goto(f"{URL}/analyst/datasets/patients?what=count&epsilon=0.1")
    page.get_by_role("button", name="Show the price").click()
    page.get_by_role("button", name="Ask, and spend").click()
    page.get_by_role("heading", name="The answer is here").wait_for()
    sign_in("ann")
    page.goto(f"{URL}/analyst/datasets/patients")
    page.fill("#depth", "3")
    page.fill("#epsilon", "0.5")
    page.get_by_role("button", name="Forecast how good it gets").click()
    page.get_by_role("button", name="Ask, and spend").wait_for()
    page.evaluate("scrollTo(0, 0)")
    picture("server-ask", 1000)
    page.get_by_role("button", name="Ask, and spend").click()
    page.get_by_role("heading", name="The answer is here").wait_for()
    page.evaluate("scrollTo(0, 0)")
    picture("server-answer", 1250)
    sign_in("rosa")
    page.goto(f"{URL}/auditor/populations/clinic-north")
    page.get_by_text("Your browser recomputed").wait_for()
    picture("server-books", 1000)
    sign_in("owner")
    page.goto(f"{URL}/owner/populations/clinic-north")
    picture("server-owner", 1000)


def main() -> None:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("PRIVET_BROWSER") or shutil.which("chromium")
    with serving() as owner, sync_playwright() as player:
        keys = fill(owner) | {"owner": owner}
        browser = player.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        take(browser, keys)
        browser.close()


if __name__ == "__main__":
    main()
