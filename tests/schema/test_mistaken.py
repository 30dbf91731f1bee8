"""A file in the place of another is called what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import privet
from privet.datasets.clinic import clinic
from privet.errors import ModelFileError, SchemaError, TableError
from privet.schema.mistaken import WHAT, kind_by_content, mistaken
from privet.tables.files import read_table

SCHEMA, TABLE = clinic(50)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    made = {"model": folder / "tree.json", "schema": folder / "clinic.schema.json", "table": folder / "clinic.csv"}
    made |= {"journal": folder / "some.journal", "page": folder / "tree.html", "other": folder / "other.json"}
    tree = privet.papers.DiffPID3Classifier(SCHEMA).fit(TABLE)
    tree.save(made["model"])
    privet.write_report(tree, made["page"])
    SCHEMA.to_json(made["schema"])
    privet.Ledger(1, journal=made["journal"])
    made["table"].write_text("cough,class\nTrue,Secret-1980\n")
    made["other"].write_text('{"colour": "Secret-1980"}')
    return made


def test_every_kind_is_known(files: dict[str, Path]) -> None:
    kinds = {name: kind_by_content(path) for name, path in files.items()}
    assert kinds == {name: None if name == "other" else name for name in files}
    assert set(WHAT) == set(files) - {"other"}
    assert kind_by_content(files["model"].parent) is None
    assert kind_by_content(Path("no\0where")) is None
    assert mistaken(files["model"], "model") == ""


@pytest.mark.parametrize("name", ["journal", "schema", "table", "page"])
def test_in_the_place_of_a_model(name: str, files: dict[str, Path]) -> None:
    with pytest.raises(
        ModelFileError, match=f"is not a privet model: it is {WHAT[name]}; give the model file"
    ) as caught:
        privet.load_model(files[name])
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["journal", "model", "table", "page"])
def test_in_the_place_of_a_schema(name: str, files: dict[str, Path]) -> None:
    with pytest.raises(
        SchemaError, match="this is a model file" if name == "model" else f"it is {WHAT[name]}"
    ) as caught:
        privet.Schema.from_json(files[name])
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["journal", "model", "schema", "page"])
def test_wrong_files_in_place_of_a_table(name: str, files: dict[str, Path]) -> None:
    with pytest.raises(TableError, match=f"is not a table: it is {WHAT[name]}; give the records"):
        read_table(files[name], SCHEMA)


def test_other_files_are_not_named(files: dict[str, Path]) -> None:
    with pytest.raises(ModelFileError, match="it lacks the mark"):
        privet.load_model(files["other"])
    with pytest.raises(TableError, match="cannot tell what"):
        read_table(files["other"], SCHEMA)
