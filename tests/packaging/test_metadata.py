"""What comes with the package: a licence that pip shows, how to cite it, where to report faults, what it is made of."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import yaml

import privet

ROOT = Path(__file__).parents[2]


def made_bill() -> Any:
    return runpy.run_path(str(ROOT / "tools" / "sbom.py"))["bill"]()


# The parts of CycloneDX 1.6 that we write.
COMPONENT = {
    "type": "object",
    "required": ["type", "name", "version", "purl", "bom-ref"],
    "properties": {"type": {"enum": ["application", "library"]}, "purl": {"pattern": "^pkg:pypi/[a-z0-9-]+@"}},
}
BILL = {
    "required": ["bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"],
    "properties": {
        "bomFormat": {"const": "CycloneDX"},
        "specVersion": {"const": "1.6"},
        "serialNumber": {"pattern": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
        "components": {"type": "array", "items": COMPONENT},
    },
}


def test_the_bill_lists_what_is_needed_and_nothing_of_the_tests() -> None:
    bill = made_bill()
    jsonschema.validate(bill, BILL)
    names = {one["name"].lower() for one in bill["components"]}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {text.split(">")[0] for text in declared} <= names
    assert not names & {"pytest", "pandas", "zensical", "pyspark"}
    assert all("licenses" in one for one in bill["components"])
    assert bill == made_bill()
    refs = {one["bom-ref"] for one in [*bill["components"], bill["metadata"]["component"]]}
    assert {ref for one in bill["dependencies"] for ref in [one["ref"], *one["dependsOn"]]} == refs


def test_the_licence_is_in_the_field_that_pip_shows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == {"text": "MIT"}
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["version"] == privet.__version__
    assert "docs/explanation/limits.md" in (ROOT / "SECURITY.md").read_text()
