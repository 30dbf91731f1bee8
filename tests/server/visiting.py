"""A browser's part of the protocol, without a browser: a cookie, and the tokens of forms."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Sequence
from html import unescape

from house import Caller, House, Reply

PEOPLE = {"Accept": "text/html"}
OWN = {"Sec-Fetch-Site": "same-origin"}


class Visitor:
    """A browser's part of the protocol: a cookie, and forms of pages."""

    def __init__(self, house: House) -> None:
        self.call, self.cookie = Caller(house.port), ""

    def get(self, path: str) -> Reply:
        return self.call("GET", path, head=PEOPLE | ({"Cookie": self.cookie} if self.cookie else {}))

    def post(self, path: str, fields: dict[str, str | Sequence[str]], head: dict[str, str] = OWN) -> Reply:
        sent = PEOPLE | {"Content-Type": "application/x-www-form-urlencoded"} | head
        sent |= {"Cookie": self.cookie} if self.cookie else {}
        reply = self.call("POST", path, raw=urllib.parse.urlencode(fields, doseq=True).encode(), head=sent)
        if reply.headers.get("set-cookie", "").startswith("privet="):  # that of the session
            self.cookie = reply.headers["set-cookie"].partition(";")[0]
        return reply

    def token(self, path: str = "/account") -> str:
        found = re.search(r'name="token" value="([0-9a-f]+)"', self.get(path).body.decode())
        assert found is not None
        return found[1]

    def send(self, path: str, _page: str = "/account", **fields: str | Sequence[str]) -> Reply:
        """Send a form of this session."""
        return self.post(path, {"token": self.token(_page)} | fields)

    def text(self, path: str) -> str:
        """What a page says, without its markup."""
        return words(self.get(path))

    def sign_in(self, key: str | None) -> Reply:
        return self.post("/", {"key": key or ""})


def words(reply: Reply) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", reply.body.decode())).split())
