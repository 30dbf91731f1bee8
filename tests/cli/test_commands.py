"""Every command on its good day: what it prints, in words and as JSON, and what it leaves behind."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet
from privet.datasets.clinic import clinic
from privet.privacy.ledger import Ledger
from privet.testing import SeededNoise, use_noise

COMMANDS = (
    "demo", "recipes", "sample", "schema draft", "schema keys", "schema check", "plan", "ask", "fit", "predict",
    "export", "show", "report", "compare", "retention", "score", "evaluate", "publish",
    "refine",
)  # fmt: skip
SCORE_KEYS = {"recipe", "variant", "epsilon", "delta", "folds", "accuracy_mean", "accuracy_std", "auc_mean",
              "balanced_accuracy_mean", "log_loss_mean", "fit_seconds_mean"}  # fmt: skip


def loads(result: Any) -> Any:
    return json.loads(result.stdout)


# ---- help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_json(shared_desk: Any, command: str) -> None:
    text = " ".join(shared_desk.ok(*command.split(), "--help").stdout.split())
    assert f"Example: privet {command}" in text
    assert "--json" in text


def test_help_lists_the_commands(shared_desk: Any) -> None:
    text = shared_desk.ok("--help").stdout
    assert all(command.split()[0] in text for command in COMMANDS)


def test_version(shared_desk: Any) -> None:
    assert shared_desk.ok("--version").stdout == f"privet {privet.__version__}\n"


# ---- fit ----------------------------------------------------------------------------------------------------------


def test_fit_grows_the_recommended_tree_by_default(desk: Any) -> None:
    result = desk.ok("fit", desk["clinic.csv"], "-s", desk["clinic.schema.json"], "-e", 1, "-o", desk["tree.json"])
    assert "exact (sound)" in result.stdout
    assert "No journal" in result.stdout
    assert result.stderr == ""


def test_fit_says_what_is_left_of_the_budget(desk: Any) -> None:
    journal = ("--journal", desk["budget.journal"], "--budget", 1)
    told = desk.fit("-o", desk["one.json"], *journal, epsilon="0.25", recipe="exact").stdout
    assert f"Left of the budget in {desk['budget.journal']}: epsilon 0.75\n" in told
    left = loads(desk.fit("-o", desk["two.json"], *journal, "--json", epsilon="1/3", recipe="exact"))["left"]
    assert left == {"epsilon": "5/12", "delta": "0"}


@pytest.mark.parametrize(("epsilon", "warned"), [(10, False), (11, True), ("1e6", True)])
def test_a_huge_epsilon_is_warned_about(desk: Any, epsilon: object, warned: bool) -> None:
    result = desk.fit("-o", desk["tree.json"], epsilon=epsilon, recipe="sulq")
    assert result.exit_code == 0, result.stderr
    assert ("promises almost nothing" in result.stderr) == warned


def test_fit_writes_a_model_and_prints_its_certificate(desk: Any) -> None:
    result = desk.fit("-o", desk["tree.json"], "--max-depth", 2, epsilon="1/2")
    assert result.exit_code == 0, result.stderr
    assert "diffpc45 (sound)" in result.stdout
    assert "Differentially private with epsilon = " in result.stdout
    model = privet.load_model(desk["tree.json"])
    assert 0 < model.certificate_.epsilon <= Fraction(1, 2)
    assert model.tree_.depth <= 2


def test_fit_json(desk: Any) -> None:
    result = loads(desk.fit("-o", desk["tree.json"], "--json", recipe="sulq"))
    assert result.keys() == {"model", "recipe", "variant", "trees", "leaves", "depth", "left", "head", "certificate"}
    assert result["left"] is None
    assert (result["model"], result["recipe"], result["variant"]) == (desk["tree.json"], "sulq", "sound")
    assert result["certificate"]["definition"] == "epsilon-differential privacy"


def test_settings_reach_the_recipe(desk: Any) -> None:
    settings = ("criterion=infogain", "max-records=1000", "prune=false", "mechanism=permute-and-flip", "size_share=0.5")
    desk.fit("-o", desk["tree.json"], *(part for setting in settings for part in ("--set", setting)))
    params = loads(desk.ok("show", desk["tree.json"], "--json"))["params"]
    assert (params["criterion"], params["max_records"], params["prune"]) == ("infogain", 1000, False)
    assert (params["mechanism"], params["size_share"]) == ("permute-and-flip", 0.5)


def test_public_records_teach_the_large_forest(desk: Any) -> None:
    """The table of volunteers has no column of labels; one that has is read without it."""
    for name, columns in (("volunteers.csv", {}), ("labelled.csv", {"class": ["?"] * 40})):
        _, table = clinic(40, seed=5)
        rows = {key: column for key, column in table.items() if key != "class"} | columns
        lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
        Path(desk[name]).write_text("\n".join(lines) + "\n")
        few = ("--set", "public_trees=4", "--set", "n_estimators=2", "--max-depth", 2)
        told = desk.fit(
            "--public", desk[name], "-o", desk["forest.json"], *few, "--force", "--json", recipe="jagannathan2013"
        )
        result = loads(told)
        assert result["trees"] == 2 + 4
        assert "40 unlabelled records were declared public" in result["certificate"]["caveats"][0]["text"]


def test_public_records_are_for_the_recipe_that_learns_from_them(desk: Any) -> None:
    journal = ("--journal", desk["untouched.journal"], "-o", desk["tree.json"])
    told = desk.fit("--public", desk["clinic.csv"], *journal, recipe="sulq")
    assert told.exit_code == 1
    assert "--public is for jagannathan2013" in told.stderr
    missing = desk.fit("--public", desk["nobody.csv"], *journal, recipe="jagannathan2013")
    assert missing.exit_code == 1
    assert "nobody.csv" in missing.stderr
    assert not Path(desk["untouched.journal"]).exists()
    assert "--public" in desk.fit("--set", "public=x.csv", *journal, recipe="jagannathan2013").stderr


def test_neighbours_reach_the_certificate(desk: Any) -> None:
    result = loads(desk.fit("-o", desk["tree.json"], "--neighbours", "replace-one", "--json"))
    assert result["certificate"]["neighbours"] == "replace-one"


def test_a_journal_keeps_charges_between_fits(desk: Any) -> None:
    journal = ("--journal", desk["budget.journal"], "--force", "-o", desk["tree.json"])
    assert desk.fit(*journal, "--budget", 1, epsilon="0.75", recipe="diffpid3").exit_code == 0
    spent = Ledger(journal=desk["budget.journal"]).spent
    assert 0 < spent <= Fraction(3, 4)
    kept = Path(desk["tree.json"]).read_bytes()
    refused = desk.fit(*journal, epsilon="0.75", recipe="diffpid3")
    assert refused.exit_code == 1
    assert "nothing was charged or released" in refused.stderr
    assert Ledger(journal=desk["budget.journal"]).spent == spent
    assert Path(desk["tree.json"]).read_bytes() == kept


def test_a_new_journal_without_a_budget_holds_this_fit(desk: Any) -> None:
    assert desk.fit("--journal", desk["own.journal"], "-o", desk["tree.json"], epsilon=1).exit_code == 0
    ledger = Ledger(journal=desk["own.journal"])
    assert ledger.spent + ledger.remaining == 1


def test_a_journal_brings_its_neighbours(desk: Any) -> None:
    Ledger(5, neighbours="replace-one", journal=desk["replace.journal"])
    result = loads(desk.fit("--journal", desk["replace.journal"], "-o", desk["tree.json"], "--json"))
    assert result["certificate"]["neighbours"] == "replace-one"


def test_all_formats_of_a_table_give_the_same_model(desk: Any) -> None:
    """Under seeded noise a model is a function of the codes."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    typed = pyarrow.table({name: column.tolist() for name, column in desk.columns.items()})
    parquet.write_table(typed, desk["typed.parquet"])
    as_text = pyarrow.table({name: column.astype(str) for name, column in desk.columns.items()})
    parquet.write_table(as_text, desk["text.pq"])
    models = {}
    for table in ("clinic.csv", "clinic.csv.gz", "typed.parquet", "text.pq"):
        with use_noise(SeededNoise(5)):
            result = desk.fit("-o", desk["tree.json"], "--force", table=table)
        assert result.exit_code == 0, result.stderr
        assert "NOT differentially private" in result.stdout  # seeded noise is told
        models[table] = Path(desk["tree.json"]).read_text()
        predicted = desk.ok("predict", desk["tree.json"], desk[table]).stdout
        models[table] += predicted
    assert len(set(models.values())) == 1
    assert models["clinic.csv"].count("Sick") > 10


def test_column_order_and_extra_columns_do_not_matter(desk: Any) -> None:
    rows = list(csv.reader(io.StringIO(Path(desk["clinic.csv"]).read_text())))
    shuffled = [["extra", *row[::-1]] for row in rows]
    out = io.StringIO()
    csv.writer(out).writerows(shuffled)
    desk.write("shuffled.csv", "\ufeff" + out.getvalue() + "\n\n")  # with a byte order mark and blank lines
    texts = []
    for table in ("clinic.csv", "shuffled.csv"):
        with use_noise(SeededNoise(5)):
            assert desk.fit("-o", desk["tree.json"], "--force", table=table).exit_code == 0
        texts.append(Path(desk["tree.json"]).read_text())
    assert texts[0] == texts[1]


def test_a_table_without_records_fits(desk: Any) -> None:
    desk.write("header.csv", "blood_pressure,weight,temperature,cough,class\n")
    assert desk.fit("-o", desk["tree.json"], table="header.csv").exit_code == 0


# ---- predict and show ---------------------------------------------------------------------------------------------


def test_predict_prints_a_row_for_each_record(shared_desk: Any) -> None:
    result = shared_desk.ok("predict", shared_desk["tree.json"], shared_desk["clinic.csv"])
    header, *labels = result.stdout.splitlines()
    assert header == "class"
    expected = privet.load_model(shared_desk["tree.json"]).predict(shared_desk.columns)
    assert labels == expected.tolist()


def test_predict_writes_probabilities(desk: Any, shared_desk: Any) -> None:
    model = shared_desk["tree.json"]
    result = desk.ok("predict", model, desk["clinic.csv"], "--proba", "-o", desk["out.csv"])
    assert result.stdout == ""
    with open(desk["out.csv"], newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(desk.columns["class"])
    assert rows[0].keys() == {"class", "P(Healthy)", "P(Sick)"}
    for row in rows:
        assert float(row["P(Healthy)"]) + float(row["P(Sick)"]) == pytest.approx(1, abs=1e-5)


def test_predict_json(shared_desk: Any) -> None:
    result = loads(shared_desk.ok("predict", shared_desk["tree.json"], shared_desk["clinic.csv"], "--proba", "--json"))
    counted = {"unreadable_lines", "unreadable_records"}
    assert result.keys() == {"label", "predictions", "classes", "probabilities", *counted}
    assert result["classes"] == ["Healthy", "Sick"]
    assert len(result["predictions"]) == len(result["probabilities"]) == len(shared_desk.columns["class"])


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("text", "diffpc45: 1 tree"),
        ("rules", ("IF ", "ALWAYS ", "# ")),  # noise may leave nothing to tell apart, or nothing but noise
        ("graphviz", "digraph Tree {"),
        ("mermaid", "flowchart TD"),
        ("certificate", "Differentially private with epsilon = "),
    ],
)
def test_show(shared_desk: Any, form: str, start: str | tuple[str, ...]) -> None:
    assert shared_desk.ok("show", shared_desk["tree.json"], "--format", form).stdout.startswith(start)


def test_show_less_and_raw(shared_desk: Any) -> None:
    tree = shared_desk["tree.json"]
    whole = shared_desk.ok("show", tree, "--raw").stdout
    facts = loads(shared_desk.ok("show", tree, "--json"))
    assert whole.count("class: ") == facts["leaves"] == len(facts["rules"])
    for rule in facts["rules"]:
        both = zip(("Healthy", "Sick"), rule["counts"], strict=True)
        released = ", ".join(f"{name} {count:g}" for name, count in both)
        assert f"(released: {released})" in whole
        assert rule["support"] >= 0
    assert shared_desk.ok("show", tree, "--max-leaves", "2").stdout.count("class: ") <= 2
    ruled = shared_desk.ok("show", tree, "--format", "rules", "--min-support", "1000000").stdout
    assert "fewer than 1,000,000 records (min_support)" in ruled or "noise alone could have made" in ruled
    refused = shared_desk.run("show", tree, "--raw", "--max-leaves", "2")
    assert refused.exit_code == 1
    assert "leave --max-leaves" in refused.stderr
    assert shared_desk.run("show", tree, "--max-leaves", "0").exit_code == 2


def test_show_json(shared_desk: Any) -> None:
    result = loads(shared_desk.ok("show", shared_desk["tree.json"], "--json"))
    assert {"recipe", "params", "certificate", "rules", "text", "schema", "leaves"} <= result.keys()
    assert len(result["rules"]) == result["leaves"]
    assert result["rules"][0].keys() == {"conditions", "label", "support", "confidence", "below", "counts"}


# ---- recipes, schemas, evaluation ---------------------------------------------------------------------------------


def test_recipes(shared_desk: Any) -> None:
    names = [info.name for info in privet.list_recipes()]
    assert all(name in shared_desk.ok("recipes").stdout for name in names)
    listed = loads(shared_desk.ok("recipes", "--json"))
    assert [recipe["name"] for recipe in listed["recipes"]] == names
    assert all({"citation", "budget", "guarantee", "variants"} <= recipe.keys() for recipe in listed["recipes"])


def test_schema_check(desk: Any) -> None:
    rows = Path(desk["clinic.csv"]).read_text().splitlines()
    rows[3] = "Low,Normal,99.9,maybe,Sick"
    table = desk.write("faulty.csv", "\n".join(rows) + "\n")
    clean = desk.ok("schema", "check", desk["clinic.csv"], "--schema", desk["clinic.schema.json"])
    assert "none with faults" in clean.stdout
    told = desk.ok("schema", "check", table, "--schema", desk["clinic.schema.json"])
    assert "outside privacy" in told.stdout
    report = loads(desk.ok("schema", "check", table, "--schema", desk["clinic.schema.json"], "--json"))
    assert (report["ok"], report["private"], report["bad_rows"]) == (False, False, 1)
    assert {(f["column"], f["fault"]) for f in report["findings"]} == {
        ("temperature", "out of range"),
        ("cough", "unknown"),
    }


def evaluated(desk: Any, *more: object) -> Any:
    facts = ("--schema", desk["clinic.schema.json"], "--folds", 3, "--repeats", 2, "--max-depth", 2)
    return desk.ok("evaluate", desk["clinic.csv"], *facts, *more)


def test_evaluate_json(shared_desk: Any) -> None:
    result = evaluated(shared_desk, "-r", "diffpc45", "-r", "sulq", "-e", "0.5", "-e", 2, "--json")
    printed = loads(result)
    rows = printed["results"]
    assert [(row["recipe"], row["epsilon"]) for row in rows] == [
        ("diffpc45", 0.5), ("diffpc45", 2.0), ("sulq", 0.5), ("sulq", 2.0),
    ]  # fmt: skip
    for row in [*rows, *printed["references"]]:
        assert row.keys() >= SCORE_KEYS
        assert 0 <= row["accuracy_mean"] <= 1
        assert 0 <= row["auc_mean"] <= 1
        assert row["folds"] == 3
    assert {row["recipe"] for row in printed["references"]} == {"majority", "id3", "c45", "sklearn-tree"}
    assert all(row["epsilon"] is None and row["variant"] == "non-private" for row in printed["references"])
    assert "not differentially private" in printed["warning"]
    assert "NOT PRIVATE" in result.stderr


def test_evaluate_as_markdown(shared_desk: Any) -> None:
    lines = evaluated(shared_desk, "-r", "sulq", "-e", 1, "--markdown").stdout.splitlines()
    assert lines[0] == "| recipe | variant | epsilon | accuracy % | balanced accuracy | AUC | log-loss | fit s |"
    assert lines[2].startswith("| sulq | sound | 1 | ")
    assert [line.split(" | ")[0] for line in lines[3:]] == ["| majority", "| id3", "| c45", "| sklearn-tree"]
    assert all(line.count("|") == 9 for line in lines)


def test_evaluate_in_words(shared_desk: Any) -> None:
    result = evaluated(shared_desk, "-r", "diffpid3", "-e", 1, "--variant", "as-published", "--no-references")
    assert "as-published" in result.stdout
    assert "sklearn-tree" not in result.stdout
    assert "NOT PRIVATE" in result.stderr
