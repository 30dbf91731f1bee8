"""Tables of configured sources: each is read once, at registration, and its address is nowhere to be seen."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "engines")]
from house import House, Stage, facts, form, rows  # noqa: E402
from servers import java_is_there, postgres_programs  # noqa: E402
from visiting import Visitor, words  # noqa: E402

pa = pytest.importorskip("pyarrow")
RECORDS = 60
SECRET = "chariot"  # in every address


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name no answer and no log may show."""
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("sources") / SECRET
    folder.mkdir()
    records = [(float(age), float(dose), ward, label) for age, dose, ward, label in rows(RECORDS)]
    columns = zip(("age", "dose", "ward", "class"), zip(*records, strict=True), strict=True)
    pq.write_table(pa.table({name: list(cells) for name, cells in columns}), folder / "visits.parquet")
    return folder


@pytest.fixture(scope="module")
def sources(place: Path, request: Any) -> dict[str, str]:
    """Addresses by kind, of what is installed here."""
    found, file = {"parquet": f"{place}/visits.parquet"}, place / "visits.parquet"
    if _is_installed("duckdb"):
        import duckdb

        with duckdb.connect(str(place / "visits.db")) as database:
            database.sql(f"create table visits as from '{file}'")
        found["duckdb"] = f"duckdb:///{place}/visits.db?table=visits"
    if _is_installed("pyspark") and java_is_there():
        found["spark"] = f"spark://local[1]?query=SELECT+*+FROM+parquet.`{file}`"
    if postgres_programs() is None or not _is_installed("adbc_driver_postgresql"):
        return found
    import pyarrow.parquet as pq

    server = request.getfixturevalue("postgres_server").fresh()
    server.ingest(f"{SECRET}_visits", pq.read_table(file))
    return found | {"postgresql": server.address(table=f"{SECRET}_visits")}


def _is_installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


@pytest.fixture(scope="module")
def stage(sources: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("sourced")
    lines = [f"{name} = {json.dumps(address)}" for name, address in sources.items()]
    (folder / "s.toml").write_text("\n".join(["[sources]", *lines]))
    house = House(folder / "folder", "--slots", "1", "--settings", str(folder / "s.toml")).warm()
    yield Stage(house)
    house.stop()


def register(stage: Stage, source: str) -> Any:
    name = f"{stage.tag}-{source}"
    given = {"population": stage.tag, "schema": json.dumps(facts(name)), "most_records": 100, "one_row_each": "true"}
    raw, head = form(given | {"source": source}, None)
    return stage.owner("PUT", f"/v1/datasets/{name}", raw=raw, head=head)


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "postgresql", "spark"])
def test_a_configured_source_is_registered(stage: Stage, sources: dict[str, str], kind: str) -> None:
    if kind not in sources:
        pytest.skip(f"NOT TESTED: a configured source of {kind}, which is not installed")
    reply = register(stage, kind)
    assert reply.status == 201, reply.body
    table = f"{stage.tag}-{kind}"
    count = stage.analyst(100, table).ask(table, ask="count", epsilon=20).json["answer"]["value"]
    assert abs(count - RECORDS) < 3  # further away: less than one in 10^20


def test_an_owner_registers_one_in_the_pages(stage: Stage) -> None:
    owner = Visitor(stage.house)
    owner.sign_in(stage.owner.key)
    assert "parquet" in owner.text(f"/owner/files?population={stage.tag}")
    name = f"{stage.tag}-in-pages"
    sent = owner.send(f"/owner/files/{stage.tag}", source="parquet", name=name)
    assert sent.headers["location"].startswith(f"/owner/drafts/{name}"), sent.body
    draft = f"/owner/drafts/{name}"
    about = {"label": "class", "several": "no", "most_records": "100"}
    assert owner.send(draft, **about).status == 303
    public: dict[str, dict[str, str]] = {
        "age": {"kind": "number", "low": "0", "high": "100"},
        "dose": {"kind": "number", "low": "0", "high": "10"},
        "ward": {"kind": "list", "values": "a\nb\nc\nd"},
        "class": {"kind": "list", "values": "healthy\nill"},
    }
    for number, facts_of in enumerate(public.values()):
        assert owner.send(f"{draft}/columns/{number}", basis="documented", **facts_of).status == 303
    assert f"All {RECORDS} records follow what you said" in words(owner.send(f"{draft}/check"))
    done = owner.send(f"{draft}/register")
    assert done.headers.get("location", "").startswith(f"/owner/tables/{name}"), words(done)
    assert stage.analyst(100, name).ask(name, ask="count", epsilon=20).json["state"] == "done"
    assert SECRET not in owner.get(f"/owner/tables/{name}").body.decode()


def test_sources_are_not_read_again_and_not_shown(stage: Stage, place: Path) -> None:
    unknown = register(stage, "nowhere")
    assert (unknown.status, "sources" in unknown.json["detail"]) == (422, True)
    shutil.rmtree(place)
    table = f"{stage.tag}-parquet"
    ann = stage.analyst(10, table)
    assert ann.ask(table, ask="class-counts", epsilon=1).json["state"] == "done"
    refused = stage.owner("PUT", f"/v1/datasets/{table}-2", **_form(stage, "parquet"))
    assert refused.status == 422
    shown = [refused.body.decode(), ann("GET", f"/v1/datasets/{table}").body.decode(), json.dumps(stage.entries())]
    log = stage.house.folder.with_suffix(".log").read_text()
    assert not [text for text in (*shown, log) if SECRET in text]


def _form(stage: Stage, source: str) -> dict[str, Any]:
    given = {"population": stage.tag, "schema": json.dumps(facts("again")), "most_records": 100, "one_row_each": "true"}
    raw, head = form(given | {"source": source}, None)
    return {"raw": raw, "head": head}
