"""Files that were made to hurt: every command ends in success, or in one sentence and exit code 1, and soon."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privet.schema import limits
from privet.tables import bounded

HEAD = "blood_pressure,weight,temperature,cough,class\n"
ROW = "Low,Normal,37,True,Sick\n"
RLO = "\u202e"
SOON = 60  # seconds of one processor: a bound on hangs, not on speed


def save(desk: Any, model: Any, name: str = "hostile.json") -> str:
    """A file with a right checksum: whoever forges one can compute it."""
    canonical = json.dumps(model, sort_keys=True, separators=(",", ":"))
    document = {"format": "privet-model", "version": 1, "sha256": hashlib.sha256(canonical.encode()).hexdigest()}
    return str(desk.write(name, json.dumps(document | {"model": model})))


@pytest.fixture
def model(desk: Any, shared_desk: Any) -> dict[str, Any]:
    """A model that a test may change; its file is on the desk."""
    text = Path(shared_desk["tree.json"]).read_text()
    desk.write("tree.json", text)
    found: dict[str, Any] = json.loads(text)["model"]
    return found


def commands(desk: Any, path: str) -> list[list[object]]:
    shown = [["show", path, "--format", form] for form in ("text", "rules", "mermaid", "graphviz", "certificate")]
    written = [
        ["predict", path, desk["clinic.csv"], "-o", desk["p.csv"], "--force"],
        ["report", path, "-o", desk["p.html"], "--force"],
        ["score", path, desk["clinic.csv"], "--epsilon", 1],
        ["compare", path, desk["tree.json"]],
    ]
    return [["show", path, "--json"], *shown, *written]


def put(*path: Any) -> Callable[[Any], None]:
    *way, key, value = path

    def change(facts: Any) -> None:
        for step in way:
            facts = facts[step]
        facts[key] = value

    return change


def nodes(model: Any) -> int:
    return len(model["trees"][0]["attribute"])


def chain(depth: int) -> Callable[[Any], None]:
    """One path of so many tests."""

    def change(model: Any) -> None:
        tree, leaf = model["trees"][0], model["trees"][0]["attribute"].index(-1)
        columns = {
            name: [tree[name][0]] + [tree[name][0], tree[name][leaf]] * (depth - 1) + [tree[name][leaf]] * 2
            for name in ("attribute", "kind", "cut", "first_child")
        }
        nodes = len(columns["attribute"])
        columns["first_child"] = [
            -1 if a < 0 else i + 1 if i == 0 else i + 2 for i, a in enumerate(columns["attribute"])
        ]
        columns |= {"label": [0] * nodes, "proba": [[0.5, 0.5]] * nodes, "counts": [[1, 1]] * nodes}
        model["trees"] = [columns]

    return change


REFUSED = {
    "an epsilon of a billion digits": put("certificate", "epsilon", "1e999999999"),
    "a negative epsilon": put("certificate", "epsilon", "-1"),
    "an epsilon below its charges": put("certificate", "epsilon", "1/1000"),
    "a scale of 0": put("certificate", "charges", [{"what": "x", "epsilon": "1", "adds": "0", "scale": "0"}]),
    "half a character in a name": put("schema", "attributes", 0, "name", "a\ud800"),
    "half a character in a note": put("notes", ["\udfff"]),
    "half a character in the recipe": put("recipe", "\ud800"),
    "a bound of 4,000 digits": put("schema", "attributes", 2, "max", 10**4000),
    "a date that is a number": put("made", {"date": 3}),
    "a note that is a number": put("notes", [3]),
    "splits that are no ranges": put("schema", "splits", {"train": 3}),
    "text as probabilities": put("trees", 0, "proba", 0, ["a", "b"]),
    "a count beyond doubles": put("trees", 0, "counts", 0, [10**400, 1]),
    "no trees": put("trees", []),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_forged_model_is_refused_by_every_command(desk: Any, model: Any, what: str) -> None:
    forged = copy.deepcopy(model)
    REFUSED[what](forged)
    path = save(desk, forged)
    for command in commands(desk, path)[-5:]:  # other forms of show read it in the same way
        began = time.process_time()
        result = desk.run(*command)
        assert (result.exit_code, isinstance(result.exception, SystemExit)) == (1, True), (command, result.exception)
        assert result.stderr.startswith("privet: ")
        assert len(result.stderr) < 600
        assert time.process_time() - began < SOON


ODD = {
    "counts as large as doubles": put("trees", 0, "counts", 0, [1e308, 1e308]),
    "counts as large as doubles everywhere": lambda model: put("trees", 0, "counts", [[1e308, -1e308]] * nodes(model))(
        model
    ),
    "an escape in a note": put("notes", ["\x1b]0;x\x07"]),
    "a recipe of nobody": put("recipe", "<script>"),
    "a path of 3,000 tests": chain(3000),
    "versions from anywhere": put("made", {"date": "yesterday", "privet": f"{RLO}<b>"}),
}


@pytest.mark.parametrize("what", ODD)
def test_every_command_handles_an_odd_model(desk: Any, model: Any, what: str) -> None:
    odd = copy.deepcopy(model)
    ODD[what](odd)
    path = save(desk, odd)
    for command in commands(desk, path):
        result = desk.run(*command)
        assert result.exit_code in (0, 1), (command, result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit), (command, result.exception)
        assert "\x1b" not in result.output
        assert RLO not in result.output


def test_a_deep_tree_is_truncated_with_a_note(desk: Any, model: Any) -> None:
    chain(3000)(model)
    path = save(desk, model)
    assert "2999 branches that no record can take are not shown" in desk.ok("show", path).stdout  # all ask the same
    assert "truncated branch of depth 2900" in desk.ok("show", path, "--raw").stdout
    assert "truncated branch of depth 2900" in desk.ok("show", path, "--raw", "--format", "mermaid").stdout
    rules = desk.ok("show", path, "--raw", "-f", "rules").stdout
    assert "2,901 rules of more than 100 conditions are not listed" in rules
    assert json.loads(desk.ok("show", path, "--json").stdout)["rules_not_listed"] == 2901


RULES: dict[str, Callable[[Any], None]] = {
    "a support that is text": put("rules", 0, "support", "many"),
    "a support that is no number": put("rules", 0, "support", float("nan")),
    "a label of nobody": put("rules", 0, "then", ["Sick"]),
    "rules that are numbers": put("rules", [1, 2]),
    "a test unheard of": put("rules", 0, "if", [{"test": "x", "attribute": "weight", "number": 0, "child": 0}]),
    "a number of 400 digits": put(
        "rules", 0, "if", [{"test": "category", "attribute": "weight", "number": 10**400, "child": 0}]
    ),
}


@pytest.mark.parametrize("what", RULES)
def test_forged_rules_are_refused(desk: Any, model: Any, what: str) -> None:
    from privet.models.model import Model
    from privet.rules import rule_list

    facts = rule_list(Model.read(desk["tree.json"])).to_dict()
    RULES[what](facts)
    result = desk.run("compare", desk.write("rules.json", json.dumps(facts)), desk["tree.json"])
    assert (result.exit_code, isinstance(result.exception, SystemExit)) == (1, True), result.exception
    assert result.stderr.startswith("privet: the rules are damaged: ")
    assert desk.run("compare", desk.write("rules.json", b'{"format": "privet-rules"\xff'), "x").exit_code == 1


def additive(schema: dict[str, Any]) -> dict[str, Any]:
    """The curve of one attribute and the table of a pair, far beyond what a fit gives."""
    arities = [len(one["values"]) if one["type"] == "categorical" else None for one in schema["attributes"]]
    first, second = [a for a, arity in enumerate(arities) if arity][:2]
    levels = [list(range(arities[a])) for a in (first, second)]
    curve = {"attributes": [first], "levels": levels[:1], "table": [[1e299]] * arities[first]}
    pair = {"attributes": [first, second], "levels": levels, "table": [[-900.0]] * arities[first] * arities[second]}
    rest = {"deviation": 1e6, "widest": 1e9, "knots": []}
    return {"offset": [-1e5], "parts": [curve | rest, pair | rest]}


def test_an_additive_model_of_enormous_numbers_can_be_shown(desk: Any, model: Any) -> None:
    model |= {"recipe": "additive", "trees": [], "additive": additive(model["schema"]), "params": {}}
    path = save(desk, model)
    desk.ok("show", path)
    desk.ok("report", path, "-o", desk["p.html"])
    desk.ok("predict", path, desk["clinic.csv"], "-o", desk["p.csv"])


def test_an_additive_model_with_a_level_without_values_is_refused(desk: Any, model: Any) -> None:
    facts = json.loads(json.dumps(additive(model["schema"])))  # no list is shared
    part = facts["parts"][1]
    part["levels"][0][-1] += 1
    part["table"] += part["table"][: len(part["levels"][1])]
    model |= {"recipe": "additive", "trees": [], "additive": facts, "params": {}}
    result = desk.run("report", save(desk, model), "-o", desk["p.html"])
    assert (result.exit_code, "a level that no value has" in result.stderr) == (1, True)


# ---- schemas ------------------------------------------------------------------------------------------------------

SCHEMAS: dict[str, Callable[[Any], str]] = {
    "bomb.yaml": lambda facts: (
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    ),
    "loop.yaml": lambda facts: "notes: &a [*a]\n",
    "tag.yaml": lambda facts: "name: !!timestamp x\n",
    "bool.yaml": lambda facts: "inferred: !!bool maybe\n",
    "deep.yaml": lambda facts: "[" * 2000,
    "long.yaml": lambda facts: "# " + "x" * 2**21 + "\n",
    "digits.json": lambda facts: json.dumps(facts).replace('"min": ', '"min": -' + "9" * 5000, 1),
    "digits.yaml": lambda facts: json.dumps(facts).replace('"min": ', '"min": -' + "9" * 5000, 1),
    "bounds.json": lambda facts: json.dumps(facts).replace('"min": ', '"min": ' + "9" * 390, 1),
    "name.json": lambda facts: json.dumps(facts | {"class": "\ud800"}),
    "labels.json": lambda facts: json.dumps(facts | {"labels": ["a", "b\udc00"]}),
    "splits.json": lambda facts: json.dumps(facts | {"splits": {"a": 3}}),
    "deep.json": lambda facts: "[" * 100_000,
    "keys.json": lambda facts: "{" + ", ".join(f'"k{i}": 1' for i in range(50_000)) + ', "k1": 2}',
    "names.json": lambda facts: json.dumps(facts | {"attributes": facts["attributes"][:1] * 20_000}),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_hostile_schema_is_refused_before_anything_is_charged(desk: Any, name: str) -> None:
    facts = json.loads(Path(desk["clinic.schema.json"]).read_text())
    schema = desk.write(name, SCHEMAS[name](facts))
    table, journal = desk["clinic.csv"], desk["hostile.journal"]
    learn = ("--schema", schema, "--epsilon", 1)
    others = (
        ["schema", "check", table, "--schema", schema],
        ["publish", table, *learn, "--method", "diffgen", "-o", desk["o.csv"], "--journal", journal],
        ["schema", "edit", schema],
    )
    for command in (  # all read it by one function: each schema meets the fit and one of the others
        ["fit", table, *learn, "-o", desk["o.json"], "--journal", journal],
        others[[*SCHEMAS].index(name) % len(others)],
    ):
        began = time.process_time()
        result = desk.run(*command)
        assert (result.exit_code, isinstance(result.exception, SystemExit)) == (1, True), (command, result.exception)
        assert "privet: " in result.stderr, command
        assert len(result.stderr) < 900, command
        assert time.process_time() - began < SOON
    assert not Path(journal).exists()


# ---- tables -------------------------------------------------------------------------------------------------------


def test_a_gzip_bomb_is_refused_with_the_way_to_raise_the_limit(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FREELY", 2**20)
    bomb = desk.write("bomb.csv.gz", gzip.compress((HEAD + ROW * 200_000).encode() + b"\0" * 2**24))
    facts = ("--schema", desk["clinic.schema.json"])
    fit = ["fit", bomb, *facts, "--epsilon", 1, "-o", desk["o.json"], "--journal", desk["hostile.journal"]]
    for command in (fit, ["schema", "check", bomb, *facts]):
        result = desk.run(*command)
        assert result.exit_code == 1
        assert "set PRIVET_MOST_UNZIPPED to the bytes that it may have" in result.stderr
    assert not Path(desk["hostile.journal"]).exists()
    monkeypatch.setenv("PRIVET_MOST_UNZIPPED", str(2**26))
    assert "200001 records" in desk.run("schema", "check", bomb, *facts).stdout
    monkeypatch.setenv("PRIVET_MOST_UNZIPPED", "much")
    assert "PRIVET_MOST_UNZIPPED must be a whole number of bytes" in desk.run("schema", "check", bomb, *facts).stderr


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("breaks", [False, True])
def test_a_line_that_is_too_long_is_one_record_that_cannot_be_read(
    desk: Any, monkeypatch: pytest.MonkeyPatch, zipped: bool, breaks: bool
) -> None:
    """In the place of one long line the others stay as they are, wherever a piece of the file ends."""
    monkeypatch.setattr(bounded, "MOST_LINE", 3000)
    monkeypatch.setattr(bounded, "_PIECE", 1000)
    long = b"Low,Normal,37,True," + b"x" * 10_000 + b"\n"
    content = (HEAD + ROW * 7).encode() + long + ROW.encode() * 5
    table = desk.write("t.csv.gz" if zipped else "t.csv", gzip.compress(content) if zipped else content)
    more = ["--quoted-line-breaks"] if breaks else []
    facts = ("--schema", desk["clinic.schema.json"], "--most", 1, "--json", *more)
    report = json.loads(desk.ok("schema", "check", table, *facts).stdout)
    assert (report["records"], report["bad_rows"], report["findings"][0]["rows"]) == (13, 1, [7])


# ---- streams ------------------------------------------------------------------------------------------------------


def shell(line: str, folder: Path) -> tuple[int, str]:
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PRIVET": f"{sys.executable} -m privet"},
        check=False,
    )
    return ran.returncode, ran.stderr


def test_a_help_page_ends_with_an_empty_line(tmp_path: Path) -> None:
    """Not with ``b'\\n'``: a guarded stream takes text alone, so that whoever has bytes looks further."""
    code, said = shell("$PRIVET ledger show --help 1>&2", tmp_path)
    assert code == 0
    assert said.endswith("\n\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_output_is_one_sentence(tmp_path: Path) -> None:
    code, said = shell("$PRIVET schema keys --json > /dev/full", tmp_path)
    assert (code, said) == (
        1,
        "privet: cannot write the output: No space left on device; what was written is not complete\n",
    )
    assert shell("$PRIVET show nothing.json 2> /dev/full", tmp_path) == (1, "")


def test_a_closed_pipe_ends_the_command_without_a_message(tmp_path: Path) -> None:
    code, said = shell("$PRIVET schema keys --json | true", tmp_path)
    assert (code, said) in ((0, ""), (1, ""))
