"""Downloads, from a local server that answers as OpenML does: the real description and file of data set 3, and faults.

scikit-learn comes with recorded answers of OpenML for its own tests. Data set 3, the chess end games, is complete
there: so the way from OpenML's answer to the checksum in the catalogue is walked on the real thing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import sklearn

from privet import datasets
from privet.datasets import catalogue, openml, real
from privet.errors import ParameterError, TableError
from privet.owner.inspection import check_table
from privet.schema import Schema

RECORDED = Path(sklearn.__file__).parent / "datasets" / "tests" / "data" / "openml"
CHESS = "chess-krkp"
Answer = Callable[[BaseHTTPRequestHandler], None]


def recorded(number: int, start: str) -> bytes:
    found = list((RECORDED / f"id_{number}").glob(start + "*.gz"))
    if not found:
        pytest.skip("this scikit-learn comes without its recorded answers of OpenML")
    return gzip.decompress(found[0].read_bytes())


class Server:
    """Serves what ``answers`` has for a path, and counts requests."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | int | Answer] = {}
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                answer = server.answers.get(self.path, 404)
                if callable(answer):
                    answer(self)
                elif isinstance(answer, int):
                    self.send_error(answer)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def serve(self, number: int, arff: bytes | Answer, **facts: Any) -> None:
        """A data set, described as OpenML does."""
        md5 = hashlib.md5(arff if isinstance(arff, bytes) else b"").hexdigest()
        path = f"/data/v1/download/{number}/table.arff"
        told = {"id": str(number), "format": "ARFF", "url": self.address + path, "md5_checksum": md5}
        told |= {"default_target_attribute": "class"} | facts
        self.answers[f"/api/v1/json/data/{number}"] = json.dumps({"data_set_description": told}).encode()
        self.answers[path] = arff


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    running = Server()
    monkeypatch.setattr(openml, "SERVER", running.address)
    monkeypatch.setattr(openml, "PAUSE", 0.0)
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    yield running
    running.http.shutdown()
    running.http.server_close()


@pytest.fixture
def chess(server: Server) -> Server:
    """The server with OpenML's own answers; only the address of the file is the local one."""
    described = json.loads(recorded(3, "api-v1-jd-3"))
    described["data_set_description"]["url"] = server.address + "/chess.arff"
    server.answers["/api/v1/json/data/3"] = json.dumps(described).encode()
    server.answers["/chess.arff"] = recorded(3, "data-v1")
    return server


def kept() -> list[str]:
    return sorted(path.name for path in real.cache_dir().glob("*"))


def test_the_real_answer_becomes_the_table_of_the_catalogue(chess: Server) -> None:
    schema, table = datasets.load(CHESS)
    assert (len(table["class"]), len(schema.attributes)) == (3196, 36)
    assert check_table(schema, table).ok
    assert int((table["class"] == "won").sum()) == 1669
    assert kept() == ["chess-krkp.csv.gz", "chess-krkp.schema.json"]
    asked = len(chess.asked)
    again = datasets.load(CHESS)[1]
    assert len(chess.asked) == asked  # from the cache
    assert all((again[name] == table[name]).all() for name in table)
    assert datasets.names() == (CHESS,)


def test_the_owners_directory_comes_before_the_cache(
    chess: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema, table = datasets.load(CHESS)
    mine = tmp_path / "mine"
    mine.mkdir()
    rows = list(zip(*table.values(), strict=True))[:7]
    (mine / f"{CHESS}.csv.gz").write_bytes(gzip.compress("".join(catalogue.as_csv(schema, rows)).encode()))
    schema.to_json(mine / f"{CHESS}.schema.json")
    monkeypatch.setenv("PRIVET_DATA", str(mine))
    assert len(datasets.load(CHESS)[1]["class"]) == 7


@pytest.mark.slow  # the chess end games are the shorter form
def test_the_recorded_records_of_adult_are_records_of_ours(data_dir: Path) -> None:
    names, rows = openml.read_arff(recorded(1590, "data-v1").decode())
    schema, table = real.load("adult", data_dir)
    found = openml.Download(names, rows, "class", frozenset())
    ours = set(zip(*table.values(), strict=True))
    assert len(rows) == 10
    assert set(catalogue.converted(found, schema, catalogue.entries()["adult"])) <= ours


LARGE = {"adult", "adult-complete", "bank", "magic", "pendigits", "shuttle"}  # seconds each


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in sorted(catalogue.entries())],
)
def test_every_checksum_is_that_of_the_table_at_hand(data_dir: Path, name: str) -> None:
    if name not in real.names(data_dir):
        pytest.skip(f"this directory has no {name}")
    schema, table = real.load(name, data_dir)
    assert schema == datasets.load_schema(name)  # the schema that comes with privet
    rows = list(zip(*table.values(), strict=True))
    entry = catalogue.entries()[name]
    assert catalogue.checksum(schema, rows) == entry.sha256
    assert set(entry.labels.values()) <= set(schema.label.values)


# ---- faults: nothing is kept, and the message says what to do --------------------------------------------------------


def flawed(server: Server, said: str, name: str = CHESS) -> str:
    with pytest.raises(TableError, match=said) as caught:
        datasets.load(name)
    assert kept() == []
    text = str(caught.value)
    assert "PRIVET_DATA" in text
    assert f"{name}.csv.gz" in text
    assert f"{name}.schema.json" in text
    return text


def test_a_record_that_differs_is_noticed(chess: Server) -> None:
    changed = recorded(3, "data-v1").replace(b"'won'\n", b"'nowin'\n", 1)
    chess.serve(3, changed)
    assert "not the chess-krkp that privet knows: 3196 records" in flawed(chess, "checksum")


def test_a_file_that_is_not_what_openml_describes(chess: Server) -> None:
    chess.answers["/chess.arff"] = recorded(3, "data-v1") + b"\n"
    flawed(chess, "MD5")


def test_a_truncated_file_is_downloaded_again(chess: Server) -> None:
    whole = recorded(3, "data-v1")

    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(whole)))
        handler.end_headers()
        handler.wfile.write(whole[: len(whole) // 2])
        if chess.asked.count("/chess.arff") == 2:
            handler.wfile.write(whole[len(whole) // 2 :])

    chess.answers["/chess.arff"] = cut
    assert len(datasets.load(CHESS)[1]["class"]) == 3196
    assert chess.asked.count("/chess.arff") == 2


def test_a_file_that_stays_cut_short(chess: Server) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "400000")
        handler.end_headers()
        handler.wfile.write(b"@relation")

    chess.answers["/chess.arff"] = cut
    flawed(chess, "IncompleteRead")
    assert chess.asked.count("/chess.arff") == openml.ATTEMPTS


def test_a_server_that_does_not_answer(chess: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openml, "SECONDS", 0.05)
    chess.answers["/chess.arff"] = lambda handler: time.sleep(0.3)
    flawed(chess, "timed out")


@pytest.mark.parametrize(
    ("code", "asked"), [(412, 1), (404, 1), (503, openml.ATTEMPTS)], ids=["no such data", "not found", "busy"]
)
def test_a_server_that_refuses(server: Server, code: int, asked: int) -> None:
    server.answers["/api/v1/json/data/3"] = code
    flawed(server, "nothing at" if code == 412 else str(code))
    assert len(server.asked) == asked


def test_no_network(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openml, "SERVER", "http://127.0.0.1:9")  # the port of discard: nobody listens
    text = flawed(server, "refused")
    assert "without, the table can be put in place by hand" in text
    monkeypatch.setattr(openml, "SERVER", "https://openml.invalid")
    flawed(server, "could not be downloaded")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"data_set_description": 3}', b"\xff"])
def test_a_description_that_is_none(server: Server, body: bytes) -> None:
    server.answers["/api/v1/json/data/3"] = body
    flawed(server, "description of data set 3")


@pytest.mark.parametrize("address", ["file:///etc/hostname", "http://other.example/x.arff", "ftp://x/y", ""])
def test_an_address_that_no_table_has_is_not_opened(server: Server, address: str) -> None:
    server.serve(3, b"", url=address)
    flawed(server, "no https address")


def test_more_than_any_table_has(chess: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openml, "LARGEST", 100_000)
    flawed(chess, "larger than")


def test_a_table_of_another_form(server: Server) -> None:
    server.serve(3, b"@relation r\n@attribute a numeric\n@attribute class {won}\n@data\n1,won\n")
    flawed(server, "1 columns beside the label, and chess-krkp has 36")
    server.serve(3, b"@relation r\n@attribute a numeric\n@data\n1\n")
    flawed(server, "no column 'class'")


def test_tables_are_fetched_before_work_begins(chess: Server) -> None:
    real.fetch([CHESS, CHESS])
    assert kept() == ["chess-krkp.csv.gz", "chess-krkp.schema.json"]
    asked = len(chess.asked)
    real.fetch([CHESS])
    assert len(chess.asked) == asked
    with pytest.raises(
        ParameterError, match=r"no table called 'claves' in PRIVET_DATA; there are chess-krkp, and OpenML"
    ):
        real.fetch(["mushroom", "claves"])
    assert len(chess.asked) == asked  # what cannot be had is said before anything is downloaded


def test_downloads_can_be_switched_off(chess: Server) -> None:
    with pytest.raises(ParameterError, match=r"comes with privet.*by hand"):
        datasets.load(CHESS, download=False)
    with pytest.raises(ParameterError, match="no table called"):
        datasets.load(CHESS, real.cache_dir().parent)
    assert chess.asked == []


def test_a_table_that_openml_is_not_known_to_have(server: Server) -> None:
    with pytest.raises(ParameterError, match=r"comes with privet.*by hand.*claves\.schema\.json"):
        datasets.load("claves")
    with pytest.raises(ParameterError, match=r"OpenML is asked for adult, adult-complete"):
        datasets.load("shrubbery")
    assert server.asked == []


# ---- conversion ----------------------------------------------------------------------------------------------------


def test_columns_by_name_or_by_place_and_labels_as_ours() -> None:
    schema = datasets.load_schema("banknote")
    entry = catalogue.entries()["banknote"]
    numbered = openml.Download(["V1", "V2", "V3", "V4", "Class"], [["1", "2", "3", "4.0", "2"]], "Class", frozenset())
    assert catalogue.converted(numbered, schema, entry) == [("1", "2", "3", "4.0", "1")]
    named = ["id", "Entropy", "curtosis:", "Class", "SKEWNESS", "variance"]
    mixed = openml.Download(named, [["9", "4", None, "1", "2", "1"]], "Class", frozenset({"id"}))
    assert catalogue.converted(mixed, schema, entry) == [("1", "2", "?", "4", "0")]
    by_place = openml.Download(["V1", "id", "V2", "V3", "V4", "Class"], [["1", "9", "2", "3", "4", "1"]],
                               "Class", frozenset({"id"}))  # fmt: skip
    assert catalogue.converted(by_place, schema, entry) == [("1", "2", "3", "4", "0")]


def test_complete_means_without_missing_cells() -> None:
    schema, entry = datasets.load_schema("adult-complete"), catalogue.entries()["adult-complete"]
    row: list[str | None] = ["1"] * 15
    found = openml.Download([*schema.names, "class"], [row, [*row[:5], None, *row[6:]]], "class", frozenset())
    assert catalogue.converted(found, schema, entry) == [("1",) * 15]
    assert len(catalogue.converted(found, schema, catalogue.entries()["adult"])) == 2


def test_the_checksum_is_of_what_records_say() -> None:
    schema = datasets.load_schema("banknote")
    rows = [("1", "2", "3", "4", "0"), ("1.5", "2", "3", "4", "1")]
    known = catalogue.checksum(schema, rows)
    assert catalogue.checksum(schema, [("1.50", "2.0", "3", "04", "1"), ("1e0", " 2", "3", "4", "0")]) == known
    others = [
        rows[:1],
        [*rows, rows[0]],
        [rows[0], ("1.5", "2", "3", "4", "0")],
        [rows[0], ("1.5", "2", "3", "5", "1")],
    ]
    assert known not in [catalogue.checksum(schema, other) for other in others]


def test_a_table_file_reads_back(tmp_path: Path) -> None:
    facts = {"name": "t", "class": "c", "labels": ['a"b', "x,y"],
             "attributes": [{"name": "n,1", "type": "categorical", "values": ["?", "-"]}]}  # fmt: skip
    schema = Schema.from_dict(facts)
    rows = [("?", 'a"b'), ("-", "x,y")]
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress("".join(catalogue.as_csv(schema, rows)).encode()))
    schema.to_json(tmp_path / "t.schema.json")
    assert list(zip(*real.load("t", tmp_path)[1].values(), strict=True)) == rows


# ---- what comes with privet ----------------------------------------------------------------------------------------


def test_every_schema_and_every_credit() -> None:
    names = catalogue.public_names()
    assert len(names) == 29
    assert set(catalogue.entries()) <= set(names)
    credits = (catalogue.PUBLIC / "CREDITS.md").read_text("utf-8")
    for name in names:
        assert datasets.load_schema(name).name == name
        assert f"\n| {name} |" in credits
    assert "CC BY 4.0" in credits


@pytest.mark.parametrize(
    ("platform", "variables", "place"),
    [
        ("linux", {}, "home/.cache/privet"),
        ("linux", {"XDG_CACHE_HOME": "/elsewhere"}, "/elsewhere/privet"),
        ("darwin", {}, "home/Library/Caches/privet"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/privet/Cache"),
        ("win32", {}, "home/AppData/Local/privet/Cache"),
        ("linux", {"PRIVET_CACHE": "/mine"}, "/mine"),
    ],
)
def test_where_the_cache_is(
    platform: str, variables: dict[str, str], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "PRIVET_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert real.cache_dir() == tmp_path / place
