"""Tables of OpenML: the description of a data set, and its file, checked by its MD5.

Two requests: ``/api/v1/json/data/ID`` describes a data set (the address and checksum of its ARFF file, the column to
predict); the second fetches the file. Every failure is a ``TableError``; the caller adds what to do about it.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from privet.datasets.arff import Row, read_arff
from privet.errors import TableError

SERVER = "https://www.openml.org"
SECONDS = 30.0  # without a byte, before an attempt is given up
ATTEMPTS, PAUSE = 3, 1.0  # a busy server often answers the second time
LARGEST = 200 * 2**20  # bytes of an answer: no table that privet knows comes near, and memory is finite
NO_SUCH_DATA = 412  # OpenML's own answer to an id that it does not have


@dataclass(frozen=True)
class Download:
    """An OpenML table: every cell as text, None where it is missing."""

    names: list[str]
    rows: list[Row]
    target: str
    left_out: frozenset[str]
    """Columns that identify rows, or that OpenML says to ignore."""


def download(number: int) -> Download:
    """The data set with this OpenML id."""
    description = _description(number)
    address, expected = str(description.get("url", "")), str(description.get("md5_checksum", ""))
    if not address.startswith(("https://", SERVER + "/")):  # not file:, and nothing in the clear
        raise TableError(f"OpenML's description of data set {number} names no https address of a file")
    content = _get(address)
    if hashlib.md5(content, usedforsecurity=False).hexdigest() != expected:
        raise TableError(
            f"the file of OpenML's data set {number} does not have the MD5 that OpenML states: it is damaged"
        )
    names, rows = read_arff(content.decode("utf-8", errors="replace"))
    target = str(description.get("default_target_attribute", ""))
    if target not in names:
        raise TableError(f"OpenML's data set {number} has no column {target!r}, which it says is to be predicted")
    left_out = {*_listed(description.get("row_id_attribute")), *_listed(description.get("ignore_attribute"))}
    return Download(names, rows, target, frozenset(left_out))


def _description(number: int) -> dict[str, Any]:
    answer = _get(f"{SERVER}/api/v1/json/data/{number}")
    try:
        found = json.loads(answer)["data_set_description"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, dict):
        raise TableError(f"OpenML's description of data set {number} cannot be read")
    return found


def _listed(value: Any) -> list[str]:
    """A list of names: OpenML writes one name as a text, several as a list or separated by commas."""
    if isinstance(value, str):
        return value.split(",")
    return [str(name) for name in value] if isinstance(value, list) else []


def _get(address: str) -> bytes:
    """Fetch a whole response; transient failures are retried."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _get_once(address)
        except urllib.error.HTTPError as error:
            if error.code == NO_SUCH_DATA:
                raise TableError(f"OpenML has nothing at {address}") from error
            if error.code < 500 or attempt == ATTEMPTS:
                raise TableError(f"OpenML answered {error.code} for {address}") from error
        except (OSError, http.client.HTTPException) as error:  # no network, no name, a timeout, an answer cut short
            if attempt == ATTEMPTS:
                reason = getattr(error, "reason", None) or str(error) or type(error).__name__
                raise TableError(f"{address} cannot be fetched ({reason})") from error
        time.sleep(PAUSE * attempt)
    raise AssertionError("unreachable")


def _get_once(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": "privet", "Accept": "*/*"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        content: bytes = answer.read(LARGEST + 1)
        announced = answer.headers.get("Content-Length")
    if len(content) > LARGEST:
        raise TableError(f"{address} is larger than {LARGEST >> 20} MB: that is no table privet knows")
    if announced is not None and len(content) < int(announced):  # read(n) does not notice
        raise http.client.IncompleteRead(content, int(announced) - len(content))
    return content
