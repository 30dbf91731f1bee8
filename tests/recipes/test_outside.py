"""A package outside privet brings a recipe, and everything that privet has takes it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from privet.errors import ModelFileError
from privet.estimators.registry import load_model

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "privet-stump"
GUIDE = ROOT / "docs" / "guide" / "write-a-recipe.md"


def install(package: Path, site: Path) -> None:
    """What an installer leaves behind: the module, and a record of the package's name and entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))
    (module,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    facts = project["project"]
    site.mkdir()
    shutil.copy(package / module, site)
    record = site / f"{facts['name'].replace('-', '_')}-{facts['version']}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {facts['name']}\nVersion: {facts['version']}\n")
    groups = (
        "".join([f"[{group}]\n", *(f"{name} = {value}\n" for name, value in entries.items())])
        for group, entries in facts["entry-points"].items()
    )
    (record / "entry_points.txt").write_text("\n".join(groups))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("outside") / "site"
    install(EXAMPLE, place)
    return place


def run(site: Path, folder: Path, *arguments: str) -> str:
    paths = os.pathsep.join([str(site), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


JOURNEY = """
import csv, json, pickle
from importlib import import_module
import privet
from typer.testing import CliRunner
from privet.cli import app
from privet.datasets.clinic import clinic

def command(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, (arguments, done.output, done.exception)
    return json.loads(done.stdout)

schema, table = clinic(600)
schema.to_json("clinic.schema.json")
with open("clinic.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(table)
    writer.writerows(zip(*table.values()))
facts = ("clinic.csv", "--schema", "clinic.schema.json", "--recipe", "stump", "--epsilon", "1", "--json")

assert command("recipes", "--json")["recipes"][-1]["name"] == privet.list_recipes()[-1].name == "stump"
fitted = command("fit", *facts, "--output", "stump.json", "--set", "leaf_share=0.25")
assert fitted["certificate"]["epsilon"] == "1"
scored = command("evaluate", *facts, "--folds", "2", "--no-references")
assert scored["results"][0]["recipe"] == "stump" and scored["results"][0]["private"]
audit = import_module("privet.audit.exact")
audit.zoo = lambda whole=audit.zoo, **how: whole(**how)[::5]  # a fifth of the tables will do
audited = command("audit", "--recipe", "stump", "--json")
assert audited["results"][0]["verdict"] == "holds" and audited["results"][0]["lower_bound"] > 0.3

loaded = privet.load_model("stump.json")
assert type(loaded).__name__ == "StumpClassifier" and loaded.leaf_share == 0.25
stump = privet.make_classifier("stump", schema=schema, max_bins=4).fit(table)
again = pickle.loads(pickle.dumps(stump))
assert (again.predict(table) == stump.predict(table)).all()
stump.save("again.json")
assert (privet.load_model("again.json").predict(table) == stump.predict(table)).all()
print("arrived")
"""


def test_through_fit_evaluate_audit_save_and_load(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, "-W", "error::UserWarning", "-c", JOURNEY) == "arrived\n"
    # Here, without the package, its models say what is missing.
    with pytest.raises(ModelFileError, match=r"recipe 'stump', which .* install the package that brings it"):
        load_model(tmp_path / "stump.json")


@pytest.mark.slow
def test_its_own_tests_pass(site: Path, tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "test_privet_stump.py", tmp_path)
    run(site, tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", ".", str(site))


def test_the_guide_builds_the_same_recipe() -> None:
    _, _, code = (EXAMPLE / "privet_stump.py").read_text("utf-8").partition('"""\n\n')
    assert f"```python\n{code}```" in GUIDE.read_text("utf-8")
