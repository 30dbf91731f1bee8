"""Models as files: versioned JSON with the schema and the certificate inside. Never pickle, which runs code on load.

A file is ``{"format": "privet-model", "version": 1, "sha256": ..., "model": {...}}``. The checksum is over the
canonical JSON of the model, so it finds accidents and careless edits. It is no signature and does not stop a forger.
So loading trusts nothing: whatever a file holds, the result is a sound model or a :class:`ModelFileError`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from privet.errors import ModelFileError, ParameterError, SchemaError
from privet.kinds import with_kinds
from privet.models import additive_codec
from privet.models.additive import Additive
from privet.models.drafts import Draft
from privet.models.forest import Forest
from privet.models.tree import Tree
from privet.models.validation import tree_fault
from privet.schema import Schema
from privet.schema.limits import MOST_MODEL, has_surrogates, read_bytes
from privet.schema.mistaken import mistaken

FORMAT = "privet-model"
VERSION = 1
_COLUMNS = ("attribute", "kind", "cut", "first_child", "label")
_INT32 = np.iinfo(np.int32)

Released = Forest | Tree | Additive


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """The result of a fit: trees (or an additive model), the public facts they use, and what was promised.

    ``params`` and ``certificate`` are plain mappings that JSON can hold. In a file tuples become lists, NumPy's numbers
    become Python's, and exact fractions become text (``"1/3"``). ``notes`` are sentences for the reader. ``made`` says
    when the fit began and with which versions; files of older versions do not have it.
    """

    recipe: str
    trees: Released
    params: Mapping[str, Any] = field(default_factory=dict)
    certificate: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        return self.trees.schema

    def __repr__(self) -> str:
        return f"<Model of {self.recipe}: {self.trees!r}>"


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model. The file appears whole or not at all; one that was there before stays if writing fails.

    An older model is replaced. A journal never is: it is the record of what was spent.
    """
    where = f"cannot write the model file {os.fspath(path)!r}"
    text = to_text(model, where)
    try:
        with Draft(path) as draft:
            draft.write(text)
            draft.publish(replace=True)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        raise ModelFileError(f"{where}: {_reason(error)}") from error


def to_text(model: Model, where: str = "cannot write the model") -> str:
    """What a model file holds; ``where`` begins the message if the model cannot be written."""
    for tree in trees_of(model.trees):
        if fault := tree_fault(tree):
            raise ModelFileError(f"{where}: the tree {fault}")
    try:
        # To JSON and back first, so that the checksum is over exactly what a reader will see.
        payload = json.loads(json.dumps(_model_to_dict(model), default=_plain, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{where}: params, certificate and notes must be plain JSON data ({error})") from error
    document = {"format": FORMAT, "version": VERSION, "sha256": _checksum(payload), "model": payload}
    return json.dumps(document) + "\n"


def load(path: str | PathLike[str]) -> Model:
    """Read a model; a file that is missing, damaged, foreign or too new raises :class:`ModelFileError`."""
    name = f"the model file {os.fspath(path)!r}"
    try:
        content = read_bytes(Path(path), MOST_MODEL)
    except (OSError, ValueError) as error:
        raise ModelFileError(f"cannot read {name}: {_reason(error)}") from error
    if content is None:
        raise ModelFileError(f"{name} has more than {MOST_MODEL:,} bytes; no model does")
    payload = _open_document(content, name, Path(path))
    try:
        return _model_from_dict(payload)
    except (_Fault, SchemaError, ParameterError) as error:
        raise ModelFileError(f"{name} is damaged: {error}") from error


class _Fault(Exception):
    """What is wrong inside a model; ``load`` adds the name of the file."""


def _open_document(content: bytes, name: str, path: Path) -> Any:
    """The checked payload of a file."""
    if not content.strip():
        raise ModelFileError(f"{name} is empty")
    try:
        document = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        if content.lstrip().startswith(b'{"format": "' + FORMAT.encode()):
            raise ModelFileError(f"{name} is truncated or damaged: it is not whole ({error})") from error
        text = mistaken(path, "model") or f"it is not JSON ({error})"
        raise ModelFileError(f"{name} is not a privet model: {text}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        text = mistaken(path, "model") or f"it lacks the mark 'format': {FORMAT!r}"
        raise ModelFileError(f"{name} is not a privet model: {text}")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{name} is damaged or edited: its version is no whole number from 1 on")
    if version > VERSION:  # before the checksum, whose recipe a newer version may change
        raise ModelFileError(
            f"{name} was written by a newer privet (its version is {version}, this privet reads {VERSION}); upgrade"
        )
    if b"\\ud" in content.lower() and _has_surrogates(document):
        raise ModelFileError(f"{name} is damaged or edited: a text in it holds half of a character (a lone surrogate)")
    try:
        intact = document["sha256"] == _checksum(document["model"])
    except (KeyError, ValueError, RecursionError):  # nothing that `save` writes
        intact = False
    if not intact:
        raise ModelFileError(f"{name} is damaged or edited: its checksum does not match its content")
    return document["model"]


def _has_surrogates(document: Any) -> bool:
    try:
        return has_surrogates(json.dumps(document, ensure_ascii=False))
    except RecursionError:
        return False  # the checksum refuses it


def _checksum(payload: Any) -> str:
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def trees_of(trees: Released) -> tuple[Tree, ...]:
    """The trees of what was released, one or many; none of an additive model."""
    if isinstance(trees, Additive):
        return ()
    return trees.trees if isinstance(trees, Forest) else (trees,)


def _model_to_dict(model: Model) -> dict[str, Any]:
    additive = {"additive": additive_codec.to_dict(model.trees)} if isinstance(model.trees, Additive) else {}
    return additive | {
        "recipe": model.recipe,
        "params": dict(model.params),
        "schema": model.schema.to_dict(),
        "certificate": dict(model.certificate),
        "notes": list(model.notes),
        "made": dict(model.made),
        # A lone tree has no way of voting.
        "voting": model.trees.voting if isinstance(model.trees, Forest) else None,
        "weight": model.trees.weight if isinstance(model.trees, Forest) else None,
        "trees": [_tree_to_dict(tree) for tree in trees_of(model.trees)],
    }


def _tree_to_dict(tree: Tree) -> dict[str, Any]:
    facts: dict[str, Any] = {name: getattr(tree, name).tolist() for name in _COLUMNS}
    facts["proba"] = tree.proba.tolist()
    facts["counts"] = [
        None if np.isnan(row).all() else [None if np.isnan(count) else count for count in row.tolist()]
        for row in tree.counts
    ]
    if tree.draws.any():
        facts["draws"] = tree.draws.tolist()
    return facts


def _model_from_dict(facts: Any) -> Model:
    try:
        schema = Schema.from_dict(_get(facts, "schema", dict))
        schema.to_dict()  # what was read must also be writable
    except (TypeError, AttributeError) as error:  # an entry of a wrong type that the schema's checks do not find
        raise _Fault(f"its schema cannot be read ({error})") from error
    notes = _get(facts, "notes", list)
    if any(not isinstance(note, str) for note in notes):
        raise _Fault("a note is not text")
    made = _get(facts, "made", dict) if "made" in facts else {}
    if any(not isinstance(value, str) for value in made.values()):
        raise _Fault("'made' holds something that is not text")
    return Model(
        recipe=_get(facts, "recipe", str),
        trees=_trees_from_dict(facts, schema),
        params=_get(facts, "params", dict),
        certificate=with_kinds(_get(facts, "certificate", dict)),
        notes=tuple(notes),
        made=made,
    )


def _trees_from_dict(facts: Any, schema: Schema) -> Released:
    trees = [_tree_from_dict(tree, schema, i) for i, tree in enumerate(_get(facts, "trees", list))]
    voting = facts.get("voting")
    if "additive" in facts:
        if trees or voting is not None:
            raise _Fault("it has trees and an additive model")
        try:
            return additive_codec.from_dict(facts["additive"], schema)
        except ValueError as error:
            raise _Fault(str(error)) from error
    if voting is None and len(trees) != 1:
        raise _Fault(f"it has {len(trees)} trees and no way of voting")
    weight = 1.0 if facts.get("weight") is None else _get(facts, "weight", float)
    return trees[0] if voting is None else Forest(schema, tuple(trees), voting, weight)


def _tree_from_dict(facts: Any, schema: Schema, number: int) -> Tree:
    named = (*_COLUMNS, "draws") if isinstance(facts, dict) and "draws" in facts else _COLUMNS
    columns: dict[str, Any] = {name: _get(facts, name, list) for name in named}
    for name, column in columns.items():
        # By type: NumPy would also take true, 1.0 and "1".
        if not set(map(type, column)) <= {int} or (
            column and not _INT32.min <= min(column) <= max(column) <= _INT32.max
        ):
            raise _Fault(f"column {name!r} of tree {number} holds something that is no whole number")
    if any(not -128 <= entry < 128 for entry in columns["kind"]):
        raise _Fault(f"tree {number} has a test of unknown kind")
    if any(entry < 0 for entry in columns.get("draws", ())):
        raise _Fault(f"tree {number} has a negative number of draws")
    nodes, classes = len(columns["attribute"]), schema.n_classes
    columns["proba"] = _matrix(_get(facts, "proba", list), classes, f"column 'proba' of tree {number}")
    columns["counts"] = _matrix(_get(facts, "counts", list), classes, f"column 'counts' of tree {number}")
    if any(len(column) != nodes for column in columns.values()):
        raise _Fault(f"the columns of tree {number} differ in length")
    tree = Tree(schema, **columns)
    if fault := tree_fault(tree):
        raise _Fault(f"tree {number} {fault}")
    return tree


def _matrix(rows: list[Any], width: int, what: str) -> Any:
    """(node, class) numbers, NaN for null."""
    nothing = [None] * width
    filled = [nothing if row is None else row for row in rows]
    if any(not isinstance(row, list) or len(row) != width for row in filled):
        raise _Fault(f"{what} must have one entry for each of {width} classes")
    entries = list(chain.from_iterable(filled))
    if not set(map(type, entries)) <= {int, float, type(None)}:
        raise _Fault(f"{what} holds something that is no number")
    try:
        return np.array([np.nan if entry is None else entry for entry in entries], np.float64).reshape(-1, width)
    except OverflowError:
        raise _Fault(f"{what} holds a number that is too large") from None


def _get(facts: Any, key: str, kind: type) -> Any:
    if not isinstance(facts, dict) or not isinstance(facts.get(key), kind):
        raise _Fault(f"{key!r} is missing or of the wrong kind")
    return facts[key]


def _plain(value: Any) -> Any:
    """JSON for what ``json`` does not know; its result is encoded in turn."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
