"""What keeps a server in order: the first run with a sample, limits of free work, the witness file, logs, metrics."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from house import ROOT, Caller, House, Stage, rows, together

COUNT: dict[str, Any] = {"ask": "count", "epsilon": "1/10"}


def until(true: Callable[[], Any], seconds: float = 120) -> Any:
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_a_first_run_with_the_demo_can_be_asked_at_once(tmp_path: Path) -> None:
    """No settings, no configuration: a key for the owner, a table, an analyst, and a line to type."""
    house = House(tmp_path / "folder", "--demo", "--slots", "1")
    try:
        log = tmp_path / "folder.log"
        line = until(lambda: re.search(r"try it: PRIVET_KEY=\$\(cat (.+?)\) (privet ask .+)", log.read_text()))
        for name in ("owner.key", "ann.key"):
            path = house.folder / name
            assert path.stat().st_mode & 0o777 == 0o600
            assert path.read_text().strip() not in log.read_text()
        asked = line[2].split()
        assert asked[2] == f"http://127.0.0.1:{house.port}"
        assert 4_500 < float(run(tmp_path, house.folder / "ann.key", *asked[1:])) < 5_500, "5,000 invented patients"
        house.kill()
        house.start()
        house.warm()
        until(lambda: log.read_text().count("try it:") == 2)
        assert "patients" in run(tmp_path, house.folder / "ann.key", "ask", asked[2])
    finally:
        house.stop()


def run(folder: Path, key: Path, *words: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "XDG_STATE_HOME": str(folder / "state")}
    environment["PRIVET_KEY"] = key.read_text().strip()
    done = subprocess.run([sys.executable, "-m", "privet", *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server with a witness file, and with little free work, few requests and few waiting questions."""
    folder = tmp_path_factory.mktemp("strict")
    settings = {"rehearsal_seconds": 30, "burst": 60, "rate": 0.01, "queue": 2, "slots": 1}
    lines = [f"{name} = {value}" for name, value in settings.items()] + [f'witness = "{folder / "heads.json"}"']
    (folder / "s.toml").write_text("\n".join(lines))
    house = House(folder / "folder", "--settings", str(folder / "s.toml")).warm()
    yield house
    house.stop()


def test_free_work_requests_and_waiting_questions_are_limited(strict: House) -> None:
    stage = Stage(strict)
    table = stage.table(rows(20))
    ann, bob = stage.analyst(10, table), stage.analyst(10, table)
    price = [ann("POST", f"/v1/datasets/{table}/price", COUNT) for _ in range(3)]
    assert {one.status for one in price} == {200}, "only the first one was rehearsed"
    trials = [ann("POST", f"/v1/datasets/{table}/trial", COUNT).status for _ in range(31)]
    assert (trials[0], trials[-1]) == (200, 429), "each takes a second of the thirty at least"
    refused = ann("POST", f"/v1/datasets/{table}/trial", COUNT)
    assert (refused.kind, int(refused.headers["retry-after"]) >= 1) == ("rate", True)
    got = together(*[lambda: bob.ask(table, wait=0, **COUNT) for _ in range(12)])
    assert {one.status for one in got} == {202, 429}, "one runs, and two wait"
    assert {"wait already" in one.json["detail"] for one in got if one.status == 429} == {True}
    many = [bob("GET", "/v1/me") for _ in range(60)]
    assert (many[0].status, many[-1].status, many[-1].kind) == (200, 429, "rate")
    assert stage.owner("GET", "/healthz").status == 200


def test_an_old_copy_shows_at_the_start_by_the_witness_file(strict: House) -> None:
    stage, witness = Stage(strict), strict.folder.parent / "heads.json"
    table = stage.table(rows(20))
    ann = stage.analyst(10, table)
    ann.ask(table, **COUNT)
    copy = stage.owner("POST", "/v1/backup", {}).body
    newest = ann.ask(table, **COUNT).headers["privet-head"]
    until(lambda: json.loads(witness.read_text()).get(stage.tag) == newest)
    strict.kill()
    for left in strict.folder.glob("books.sqlite*"):
        left.unlink()
    (strict.folder / "books.sqlite").write_bytes(copy)
    strict.start()
    strict.warm()
    assert stage.owner("GET", f"/v1/populations/{stage.tag}").json["frozen"] == "restored", "nobody sent a head"
    assert Caller(strict.port, ann.key).ask(table, **COUNT).kind == "frozen"
    strict.kill()
    witness.write_text("{")
    strict.start()
    assert "cannot be read" in strict.folder.with_suffix(".log").read_text()
    until(lambda: _is_json(witness))


def _is_json(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_text()))
    except ValueError:
        return False


def test_a_forecast_is_free(house: House) -> None:
    stage = Stage(house)
    table = stage.table(rows(20), most=100)
    ann = stage.analyst(10, table)
    house.warm("fits")
    before = ann("GET", "/v1/me").json
    fit = {"ask": "fit", "recipe": "diffpid3", "epsilon": 1, "params": {"max_depth": 1}}
    found = ann("POST", f"/v1/datasets/{table}/forecast", {"ask": fit, "records": 100, "signal": "strong"})
    assert found.status == 200, found.body
    assert {one["recipe"] for one in found.json["forecasts"]} == {"diffpid3"}
    assert ann("POST", f"/v1/datasets/{table}/forecast", {"ask": COUNT}).json["forecasts"] == []
    for wrong in ({"ask": fit, "records": 1}, {"ask": fit, "signal": "loud"}, {"ask": fit, "seed": 1}, {}):
        assert ann("POST", f"/v1/datasets/{table}/forecast", wrong).kind == "invalid"
    assert ann("GET", "/v1/me").json == before


METRICS = {
    "privet_requests_total": {"method", "route", "status"},
    **{f"privet_{name}_total": set[str]() for name in ("charges", "late_answers", "lost_answers")},
    **{f"privet_{name}": set[str]() for name in ("queue_length", "slots_taken", "commits")},
    **{f"privet_free_seconds_{name}": set[str]() for name in ("sum", "count")},
}


def test_metrics_have_no_other_names_and_labels(house: House) -> None:
    stage = Stage(house)
    table = stage.table(rows(20))
    ann = stage.analyst(10, table)
    ann.ask(table, **COUNT)
    ann("GET", f"/v1/people/{stage.tag}-nobody")
    for line in stage.analyst(0, role="auditor")("GET", "/metrics").body.decode().splitlines():
        name, labels, _ = re.fullmatch(r"(\w+)(?:\{(.*)\})? ([\d.e+]+)", line).groups()  # type: ignore[union-attr]
        assert set(re.findall(r'(\w+)="', labels or "")) == METRICS[name], line
        assert stage.tag not in line
    for nobody in (ann, Caller(house.port)):
        assert nobody("GET", "/metrics").status in (401, 404)


@pytest.fixture
def lonely(tmp_path: Path) -> Iterator[House]:
    """A server that nobody else asks: what others do is counted too."""
    made = House(tmp_path / "folder", "--slots", "1").warm()
    yield made
    made.stop()


def test_commits_do_not_tell_when_an_answer_was_stored(lonely: House) -> None:
    stage = Stage(lonely)
    table = stage.table(rows(20))
    ann = stage.analyst(10, table)
    ann.ask(table, **COUNT)
    job = ann.ask(table, wait=0, **COUNT).json["id"]
    running = until(lambda: (one := ann("GET", f"/v1/answers/{job}").json)["state"] == "running" and one)
    first = commits(stage)
    seen = [first]
    while ann("GET", f"/v1/answers/{job}").json["state"] == "running":
        seen.append(commits(stage))
        time.sleep(0.1)
    assert running["seconds"] >= 1
    assert set(seen[:-1]) == {first}, "its answer was stored meanwhile"


def commits(stage: Stage) -> int:
    (found,) = re.findall(r"^privet_commits (\S+)$", stage.owner("GET", "/metrics").body.decode(), re.MULTILINE)
    return int(float(found))


LOGGED = {"time", "event", "request", "method", "route", "status", "key", "price", "ms"}


def test_the_log_has_no_body_answer_or_name(house: House) -> None:
    log = house.folder.with_suffix(".log")
    start, stage = log.stat().st_size, Stage(house)
    table = stage.table(rows(20))
    ann = stage.analyst(10, table)
    asked = ann.ask(table, ask="sum", of="age", epsilon="1/10")
    ann("GET", f"/v1/answers?after={asked.json['id']}")
    with log.open() as lines:
        lines.seek(start)
        text = lines.read()
    found = [json.loads(line) for line in text.splitlines()]
    assert all(line.keys() <= LOGGED for line in found)
    hidden = (stage.tag, asked.json["id"], "after=", "healthy", "age", str(asked.json["answer"]["value"]), ann.key)
    assert not [word for word in hidden if word and word in text]
    (paid,) = [line for line in found if line["route"].endswith("/answers") and line["method"] == "POST"]
    assert (paid["price"], "ms" in paid) == ("1/10", False)
    assert {line["key"] for line in found} == {ann.key.split("_")[1], house.owner.key.split("_")[1]}  # type: ignore[union-attr]
