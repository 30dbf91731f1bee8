"""Walk through the server's pages in a real browser, and look at every screen in both themes and both widths.

``Walker`` belongs to one person: it signs in, clicks, and fills in forms by their labels. ``look`` checks its screen;
``faults`` has what was found, with the name of the screen, so that one pass shows all of it.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
import time
from itertools import product
from pathlib import Path
from typing import Any

from house import PATIENCE, ROOT, Caller, House
from page_reader import axe_faults

THEMES = ("light", "dark")
WIDTHS = (1280, 360)
MOST_BYTES = 150_000  # of a page with its style and script
SIZE = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .reduce((sum, one) => sum + one.decodedBodySize, 0)"""
# What sticks out at the right, so that a fault names an element.
WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".scroll"))
    .map(one => `${one.tagName}.${one.className} ${one.textContent.slice(0, 30)}`).slice(0, 3).concat("overflow")"""


class Walker:
    """Somebody at the pages of a server, who remembers what the browser complained about and whom it asked."""

    def __init__(self, browser: Any, house: House, pictures: Path | None = None) -> None:
        self.base = f"http://127.0.0.1:{house.port}"
        found = os.environ.get("PRIVET_SCREENS")  # a folder: every screen is also saved there
        self.pictures = Path(found) if found else pictures
        self.context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900})
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)  # a busy machine is slow
        self.faults: list[str] = []
        self.looked: list[str] = []
        self.status = 0  # of the screen
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.faults.append(f"{self.page.url}: {error}"))
        self.page.on("dialog", lambda dialog: self._dialog(dialog))
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)

    def _heard(self, message: Any) -> None:
        # A refusal that a test asks for is in the console too, as a resource that failed to load.
        if message.type == "error" and not re.search(r"status of 4\d\d", message.text):
            self.faults.append(f"{self.page.url}: console: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"{self.page.url}: a script opened a dialog")
        dialog.dismiss()

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.base + "/", "data:")):
            self.faults.append(f"{self.page.url}: asked outside: {request.url}")

    def _answered(self, response: Any) -> None:
        if response.request.is_navigation_request():
            self.status = response.status
            if self.status >= 500:
                self.faults.append(f"{response.url}: status {self.status}")

    # -- steps -------------------------------------------------------------------------------------------------------

    def go(self, path: str) -> Walker:
        self.page.goto(path if path.startswith("http") else self.base + path)
        return self

    def sign_in(self, key: str) -> Walker:
        self.go("/")
        self.page.fill("input[name=key]", key)
        with self.page.expect_navigation():
            self.page.press("input[name=key]", "Enter")
        return self

    def fill(self, **fields: str) -> Walker:
        """Fill in fields by their names."""
        for name, value in fields.items():
            self.page.locator(f"[name='{name}']:visible").first.fill(value)
        return self

    def choose(self, name: str, value: str) -> Walker:
        """Choose one of several cards."""
        self.page.locator(f"label[for='{name}-{value}']").click()
        return self

    def press(self, text: str) -> Walker:
        """Press the button whose name begins with this text. It may do its work on the same page."""
        self._named("button", text).click()
        self.page.wait_for_load_state()
        return self

    def follow(self, text: str) -> Walker:
        self._named("link", text).click()
        self.page.wait_for_load_state()
        return self

    def submit(self, text: str) -> Walker:
        """Press a button that leads to another page, and wait for that page."""
        with self.page.expect_navigation():
            self._named("button", text).click()
        return self

    def open_link(self, text: str) -> Walker:
        with self.page.expect_navigation():
            self._named("link", text).click()
        return self

    def _named(self, role: str, text: str) -> Any:
        return self.page.get_by_role(role, name=re.compile("^" + re.escape(text))).first

    @property
    def text(self) -> str:
        return str(self.page.inner_text("body"))

    # -- looking -----------------------------------------------------------------------------------------------------

    def look(self, name: str) -> Walker:
        """Check this screen: axe, overflow and size, wide and light, and narrow and dark; for pictures in every way."""
        self.looked.append(name)
        if (size := self.page.evaluate(SIZE)) > MOST_BYTES:
            self.faults.append(f"{name}: {size:,} bytes")
        every = product(WIDTHS, THEMES) if self.pictures is not None else zip(WIDTHS, THEMES, strict=True)
        for width, theme in every:
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.emulate_media(color_scheme=theme)
            where = f"{name}, {width} px, {theme}"
            self.faults += [f"{where}: {fault}" for fault in axe_faults(self.page)]
            self.faults += [f"{where}: {wide}" for wide in self.page.evaluate(WIDE)]
            if self.pictures is not None:
                path = self.pictures / f"{name}-{width}-{theme}.png"
                self.page.screenshot(path=path, full_page=True)
        self.page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        self.page.emulate_media(color_scheme="light")
        return self

    def close(self) -> None:
        self.context.close()


class FirstHouse(House):
    """A server that a person starts for the first time, at a terminal: it prints a link to sign in."""

    link = ""

    def start(self) -> float:
        if self.link:
            return super().start()
        begun = time.monotonic()
        terminal, end = pty.openpty()
        command = [sys.executable, *self.program, "--folder", str(self.folder), "--port", str(self.port), *self.flags]
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}"}
        with open(self.folder.with_suffix(".log"), "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=end, start_new_session=True, env=environment, cwd=self.folder.parent
            )
        os.close(end)
        printed = _Printed(terminal, self.folder.with_suffix(".log"))
        while not (found := re.search(r"(http://\S+/\?link=\S+)\s", printed.text)):
            assert time.monotonic() - begun < PATIENCE, printed.text[-2000:]
            time.sleep(0.05)
        self.link = found[1]
        while Caller(self.port)("GET", "/healthz").status != 200:
            time.sleep(0.05)
        return time.monotonic() - begun


class _Printed:
    """All that a program prints on its terminal, read at once: a full terminal would stop the program."""

    def __init__(self, terminal: int, log: Path) -> None:
        self.text, self._terminal, self._log = "", terminal, log
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while part := os.read(self._terminal, 65536).decode("utf-8", "replace"):
                self.text += part
                with self._log.open("a") as file:
                    file.write(part)
        except OSError:  # the program has ended
            os.close(self._terminal)
