"""Models as text: versioned JSON with the schema and the certificate inside. Never pickle, which runs code on load.

A text is ``{"format": "privet-model", "version": 1 or 2, "sha256": ..., "model": {...}}``. The checksum is over the
canonical JSON of the model. It detects accidental damage and careless edits; it is not a signature and does not prevent
forgery. So the reader checks everything: any text gives a sound model or a :class:`ModelFileError`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from privet.errors import ModelFileError, ParameterError, SchemaError
from privet.kinds import with_kinds
from privet.models.additive import Additive, Part
from privet.models.forest import Forest
from privet.models.model import Model
from privet.models.number_tree import NumberTree
from privet.models.released import TESTS, Released
from privet.models.rules import DEEPEST
from privet.models.tree import Tree
from privet.models.validation import tree_fault
from privet.schema import Schema
from privet.schema.limits import has_surrogates
from privet.structure.routes import Routes
from privet.structure.splits import Tests

FORMAT = "privet-model"
VERSION = 2  # the newest that is read; a model is written as the oldest whose readers understand it
_INT32 = np.iinfo(np.int32)


def to_text(model: Model, where: str = "cannot write the model") -> str:
    """Encode a model; ``where`` begins the message if it cannot be written."""
    if fault := model.trees.fault():
        raise ModelFileError(f"{where}: {fault}")
    facts = {
        "recipe": model.recipe,
        "params": dict(model.params),
        "schema": model.schema.to_dict(),
        "certificate": dict(model.certificate),
        "notes": list(model.notes),
        "made": dict(model.made),
        **{"voting": None, "weight": None, "trees": []},  # an additive model has none
        **model.trees.to_dict(),
    }
    try:
        # Through JSON first, so that the checksum covers exactly what a reader sees.
        payload = json.loads(json.dumps(facts, default=_plain, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{where}: params, certificate and notes must be plain JSON data ({error})") from error
    document = {"format": FORMAT, "version": model.trees.version, "sha256": _checksum(payload), "model": payload}
    return json.dumps(document) + "\n"


def plain_json(facts: Mapping[str, Any]) -> str:
    """A certificate or other plain facts as JSON on one line."""
    return json.dumps(dict(facts), default=_plain)


def from_text(text: str | bytes, name: str = "the text", what: Callable[[], str] = str) -> Model:
    """Decode a model; anything else raises :class:`ModelFileError`.

    Messages name the text's origin by ``name``; ``what`` guesses what a text is that is no model.
    """
    payload = _open_document(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, name, what)
    try:
        return _model_from_dict(payload)
    except (_Fault, SchemaError, ParameterError) as error:
        raise ModelFileError(f"{name} is damaged: {error}") from error


class _Fault(Exception):
    """A fault inside a model; ``from_text`` adds the name of the text."""


def _open_document(content: bytes, name: str, what: Callable[[], str]) -> Any:
    """Check the envelope of a text and return its payload."""
    if not content.strip():
        raise ModelFileError(f"{name} is empty")
    try:
        document = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        if content.lstrip().startswith(b'{"format": "' + FORMAT.encode()):
            raise ModelFileError(f"{name} is truncated or damaged: it is not whole ({error})") from error
        raise ModelFileError(f"{name} is not a privet model: {what() or f'it is not JSON ({error})'}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{name} is not a privet model: {what() or f'it lacks the mark {_MARK}'}")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{name} is damaged or edited: its version is not a whole number of at least 1")
    if version > VERSION:  # before the checksum, whose recipe a newer version may change
        raise ModelFileError(
            f"{name} was written by a newer privet (its version is {version}, this privet reads {VERSION}); upgrade"
        )
    if b"\\ud" in content.lower() and _has_surrogates(document):
        raise ModelFileError(f"{name} is damaged or edited: a text in it holds half of a character (a lone surrogate)")
    try:
        intact = document["sha256"] == _checksum(document["model"])
    except (KeyError, ValueError, RecursionError):  # never written by `to_text`
        intact = False
    if not intact:
        raise ModelFileError(f"{name} is damaged or edited: its checksum does not match its content")
    return document["model"]


_MARK = f"'format': {FORMAT!r}"


def _has_surrogates(document: Any) -> bool:
    try:
        return has_surrogates(json.dumps(document, ensure_ascii=False))
    except RecursionError:
        return False  # the checksum refuses it


def _checksum(payload: Any) -> str:
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _model_from_dict(facts: Any) -> Model:
    try:
        schema = Schema.from_dict(_get(facts, "schema", dict))
        schema.to_dict()  # a schema that was read must also be writable
    except (TypeError, AttributeError) as error:  # a wrong type that the schema's checks do not find
        raise _Fault(f"its schema cannot be read ({error})") from error
    notes = _get(facts, "notes", list)
    if any(not isinstance(note, str) for note in notes):
        raise _Fault("a note is not text")
    made = _get(facts, "made", dict) if "made" in facts else {}
    if any(not isinstance(value, str) for value in made.values()):
        raise _Fault("'made' holds something that is not text")
    return Model(
        recipe=_get(facts, "recipe", str),
        trees=_released(facts, schema),
        params=_get(facts, "params", dict),
        certificate=with_kinds(_get(facts, "certificate", dict)),
        notes=tuple(notes),
        made=made,
    )


def _released(facts: Any, schema: Schema) -> Released:
    """The released model: of a kind in ``KINDS`` by its key, else one tree or a forest."""
    trees = [_tree(tree, schema, i) for i, tree in enumerate(_get(facts, "trees", list))]
    voting = facts.get("voting")
    for key, read in KINDS.items():
        if key in facts:
            if trees or voting is not None:
                raise _Fault(f"it has trees and '{key}'")
            return read(facts[key], schema)
    if voting is None and len(trees) != 1:
        raise _Fault(f"it has {len(trees)} trees and no way of voting")
    weight = 1.0 if facts.get("weight") is None else _get(facts, "weight", float)
    return trees[0] if voting is None else Forest(schema, tuple(trees), voting, weight)


def _tree(facts: Any, schema: Schema, number: int) -> Tree:
    of = f"of tree {number}"
    columns: dict[str, Any] = {name: _whole(_get(facts, name, list), f"{name!r} {of}") for name in (*TESTS, "label")}
    if "draws" in facts:
        columns["draws"] = _whole(_get(facts, "draws", list), f"'draws' {of}", least=0)
    _check_kinds(columns["kind"], f"tree {number}")
    classes = 1 if schema.predicts_number else schema.n_classes
    columns["proba"] = _matrix(_get(facts, "proba", list), classes, f"'proba' {of}")
    columns["counts"] = _matrix(_get(facts, "counts", list), classes, f"'counts' {of}")
    if schema.predicts_number:
        for name in ("value", "deviation"):
            columns[name] = np.array(_numbers(_get(facts, name, list), f"{name!r} {of}"))
    if any(len(column) != len(columns["attribute"]) for column in columns.values()):
        raise _Fault(f"the columns {of} differ in length")
    tree = NumberTree(schema, **columns) if schema.predicts_number else Tree(schema, **columns)
    if fault := tree_fault(tree):
        raise _Fault(f"tree {number} {fault}")
    return tree


def _additive(facts: Any, schema: Schema) -> Additive:
    routes, offset = None, _numbers(_get(facts, "offset", list), "'offset'")
    if facts.get("routes") is not None:
        found = _get(facts, "routes", dict)
        columns = [_whole(_get(found, name, list), f"{name!r} of its tree") for name in TESTS]
        if not len(columns[0]) or len({len(column) for column in columns}) > 1:
            raise _Fault("the columns of its tree are empty or differ in length")
        _check_kinds(columns[1], "its tree")
        attribute, kind, cut, first_child = (np.array(column, dtype=np.int32) for column in columns)
        tests = Tests.of_columns(schema, attribute, kind, cut)
        routes = Routes(schema, tests, first_child, np.zeros(1, dtype=np.int32))
        if routes.level.max() > DEEPEST:  # every leaf is described by its whole path
            raise _Fault(f"its tree is {routes.level.max():,} tests deep, more than {DEEPEST}")
    margin = _numbers([facts.get("margin", 0.0)], "'margin'")[0]  # files of version 1 have none
    return Additive(schema, tuple(map(_part, _get(facts, "parts", list))), np.array(offset), routes, margin)


def _part(facts: Any) -> Part:
    attributes = tuple(_whole(_get(facts, "attributes", list), "'attributes' of a part", least=0))
    levels = [_whole(column, "'levels' of a part", least=0) for column in _get(facts, "levels", list)]
    rows = [_numbers(row, "'table' of a part") for row in _get(facts, "table", list)]
    if not rows or len({len(row) for row in rows}) != 1:
        raise _Fault("the table of a part is empty, or its rows differ in length")
    if not all(levels):
        raise _Fault("a part has an attribute without levels")
    deviation = _numbers([facts.get("deviation")], "'deviation' of a part")[0]
    widest = None if facts.get("widest") is None else _numbers([facts["widest"]], "'widest' of a part")[0]
    knots = tuple(tuple(_numbers(column, "'knots' of a part")) for column in _get(facts, "knots", list))
    columns = tuple(np.array(column, dtype=np.int32) for column in levels)
    return Part(attributes, columns, np.array(rows), deviation, knots, widest)


KINDS: dict[str, Callable[[Any, Schema], Released]] = {"additive": _additive}
"""Decoders of models that are not made of trees, by their key in the text."""


def _whole(column: Any, what: str, least: int = _INT32.min) -> list[int]:
    # By type: NumPy would also take true, 1.0 and "1".
    whole = isinstance(column, list) and set(map(type, column)) <= {int}
    if not whole or (column and not least <= min(column) <= max(column) <= _INT32.max):
        raise _Fault(f"{what} holds something that is not a whole number{'' if least < 0 else ' of at least 0'}")
    return list(column)


def _check_kinds(kinds: list[int], what: str) -> None:
    if any(not -128 <= kind < 128 for kind in kinds):
        raise _Fault(f"{what} has a test of unknown kind")


def _numbers(row: Any, what: str) -> list[float]:
    if not isinstance(row, list) or not all(type(x) in (int, float) and abs(x) < 1e300 for x in row):  # NaN fails too
        raise _Fault(f"{what} must hold finite numbers")
    return [float(x) for x in row]


def _matrix(rows: list[Any], width: int, what: str) -> Any:
    """(node, class) numbers, NaN for null."""
    nothing = [None] * width
    filled = [nothing if row is None else row for row in rows]
    if any(not isinstance(row, list) or len(row) != width for row in filled):
        raise _Fault(f"{what} must have one entry for each of {width} classes")
    entries = list(chain.from_iterable(filled))
    if not set(map(type, entries)) <= {int, float, type(None)}:
        raise _Fault(f"{what} holds something that is not a number")
    try:
        return np.array([np.nan if entry is None else entry for entry in entries], np.float64).reshape(-1, width)
    except OverflowError:
        raise _Fault(f"{what} holds a number that is too large") from None


def _get(facts: Any, key: str, kind: type) -> Any:
    if not isinstance(facts, dict) or not isinstance(facts.get(key), kind):
        raise _Fault(f"{key!r} is missing or of the wrong kind")
    return facts[key]


def _plain(value: Any) -> Any:
    """Convert a value that ``json`` does not know; ``json`` encodes the result in turn."""
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
