"""Public facts as values: what everyone may know about a table before anyone looks into it.

A :class:`Schema` holds attribute names, numeric bounds and cut points, category lists and labels. It determines how a
record becomes small integer codes (:mod:`privet.tables.encoding`) and which tests a node can have
(:mod:`privet.structure.splits`). Everything else about a table, the number of records included, is private.

Schemas are immutable, hashable and compared by their facts (title, notes and splits describe the file, not the facts).
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.bidi import isolated
from privet.errors import SchemaError
from privet.schema.limits import brief, has_surrogates
from privet.schema.readings import Reading

DEFAULT_BINS = 20
MAX_CODES = 65_000  # codes fit into uint16, with room for a missing code
UNCONFIRMED = "unconfirmed"  # the basis of a fact in a draft; no schema can be built with it
INFERRED = "inferred"  # the basis of a fact that was read off the data; it marks every schema with such a fact
PUBLIC_BASES = (None, "documented", "meaning")  # bases that need no caveat
LONGEST_BITS = 1_330  # of a whole number among values: 400 digits, more than the largest double has
LONGEST_TEXT = 10_000  # characters of a name or a value: a page repeats them hundreds of times
MAX_ROWS = 10_000  # of a unit; with more, a row's share of epsilon is next to nothing
MARKERS = ("?", "missing", "other")  # listed values to which unknown categories fall back, in this order


@dataclass(frozen=True)
class Numeric:
    """A number between public bounds, cut into bins at public points.

    ``value <= cuts[j]`` exactly when ``code <= j``. Give ``thresholds`` (ascending, strictly inside the bounds), or let
    the bounds be cut into ``bins`` of equal width. A whole-number attribute is cut half-way between whole numbers, at
    all of them when there are no more than ``bins``. With a ``missing`` marker, missing values have a code of their
    own, the last; without one they are read as the ``middle``. ``basis`` is the origin of the bounds: ``"documented"``,
    or ``"meaning"`` if they follow from it. Certificates quote any other text.

    >>> Numeric("age", 0, 120).fallback, Numeric("age", 0, 120, missing="?").fallback
    (9, 20)
    """

    name: str
    low: float
    high: float
    integer: bool = False
    thresholds: tuple[float, ...] | None = None
    bins: int = DEFAULT_BINS
    missing: str | float | None = None
    basis: str | None = None
    reading: Reading | None = None

    def __post_init__(self) -> None:
        where = f"numeric attribute {brief(_checked_name(self.name))}"
        _check_basis(self.basis, where)
        _check_reading(self.reading, self.name, None)
        low, high = _finite(self.low, f"{where}: low (JSON 'min')"), _finite(self.high, f"{where}: high (JSON 'max')")
        if not low < high or math.isinf(high - low):
            raise SchemaError(f"{where}: low {low:g} must be below high {high:g}, by a finite width; widen the bounds")
        if self.integer and math.ceil(low) > math.floor(high):
            raise SchemaError(f"{where}: no whole number lies between {low:g} and {high:g}; drop integer or widen them")
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or not 2 <= self.bins <= MAX_CODES:
            raise SchemaError(f"{where}: bins must be a whole number from 2 to {MAX_CODES}, not {self.bins!r}")
        if isinstance(self.missing, bool) or not isinstance(self.missing, str | int | float | None):
            raise SchemaError(f"{where}: missing must be the marker of a missing value, such as '?'")
        if isinstance(self.missing, str):
            _check_text(self.missing, f"{where}: missing")
        elif self.missing is not None:
            _finite(self.missing, f"{where}: missing")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if self.thresholds is not None:
            if not isinstance(self.thresholds, Iterable) or isinstance(self.thresholds, str):
                raise SchemaError(f"{where}: thresholds must be a list of numbers")
            cuts = tuple(_finite(cut, f"{where}: each threshold") for cut in self.thresholds)
            if not 1 <= len(cuts) <= MAX_CODES:
                raise SchemaError(f"{where}: give 1 to {MAX_CODES} thresholds, or none at all to use bins")
            if any(a >= b for a, b in zip((low, *cuts), (*cuts, high), strict=True)):
                raise SchemaError(f"{where}: thresholds must ascend strictly inside ({low:g}, {high:g})")
            object.__setattr__(self, "thresholds", cuts)

    @cached_property
    def cuts(self) -> NDArray[np.float64]:
        """The public cut points, ascending and read-only."""
        first, last = math.ceil(self.low), math.floor(self.high)
        if self.thresholds is not None:
            cuts = np.array(self.thresholds)
        elif not self.integer:
            cuts = np.linspace(self.low, self.high, self.bins + 1)[1:-1]
        elif last - first < self.bins:
            cuts = np.array([first + j + 0.5 for j in range(last - first)], dtype=np.float64)
        else:
            cuts = np.floor(np.linspace(self.low, self.high, self.bins + 1)[1:-1]) + 0.5
        # Rounding can merge cuts or push one onto a bound; a cut at `high` would leave an empty last bin.
        cuts = np.unique(cuts[(cuts >= self.low) & (cuts < self.high)])
        cuts.setflags(write=False)
        return cuts

    @property
    def arity(self) -> int:
        """The number of codes."""
        return len(self.cuts) + 1 + (self.missing is not None)

    @property
    def middle(self) -> float:
        """The number that a missing one is read as without a marker: half-way between the bounds."""
        half = self.low + (self.high - self.low) / 2
        return min(math.floor(half + 0.5), self.high) if self.integer else half

    @cached_property
    def fallback(self) -> int:
        """The code of a missing value or one that is no number."""
        return len(self.cuts) + 1 if self.missing is not None else int(np.searchsorted(self.cuts, self.middle))


@dataclass(frozen=True)
class Categorical:
    """One of a public list of values (strings, booleans or numbers, kept as given).

    A value outside the list, or a missing one, is read as ``other`` if that is declared, else as a listed ``"?"``,
    ``"missing"`` or ``"other"`` (in any case), else as the middle of the list, which suits ordered lists: list a
    ``"?"`` for all others. The rule is public; no record is refused.

    >>> Categorical("pain", ("none", "some", "much")).fallback, Categorical("ward", ("A", "B", "?")).fallback
    (1, 2)
    """

    name: str
    values: tuple[Any, ...]
    other: Any | None = None
    basis: str | None = None
    reading: Reading | None = None

    def __post_init__(self) -> None:
        where = f"categorical attribute {brief(_checked_name(self.name))}"
        _check_basis(self.basis, where)
        if isinstance(self.values, str | bytes | Mapping) or not isinstance(self.values, Iterable):
            raise SchemaError(f"{where}: values must be a list")
        # NumPy scalars become Python ones, so that a schema built from an array can be written as JSON.
        values = tuple(value.item() if isinstance(value, np.generic) else value for value in self.values)
        if not values:
            raise SchemaError(f"{where}: the list of values is empty; list every value that may occur")
        if len(values) > MAX_CODES:
            raise SchemaError(f"{where}: at most {MAX_CODES} values are possible; group the rare ones under 'other'")
        if any(not isinstance(value, str | int | float) or value in (math.inf, -math.inf) or value != value
               for value in values):  # fmt: skip
            raise SchemaError(f"{where}: values must be strings, booleans or numbers; write a missing value as '?'")
        for value in values:
            if isinstance(value, str):
                _check_text(value, f"{where}: a value")
            elif isinstance(value, int) and value.bit_length() > LONGEST_BITS:
                raise SchemaError(f"{where}: a value has hundreds of digits; write it as text")
        if len(set(values)) < len(values):
            raise SchemaError(f"{where}: a value is listed twice (True equals 1 and False equals 0); drop one")
        if self.other is not None and self.other not in values:
            raise SchemaError(f"{where}: other={brief(self.other)} is not among its values; list it or drop it")
        object.__setattr__(self, "values", values)
        _check_reading(self.reading, self.name, values)

    @property
    def arity(self) -> int:
        """The number of codes."""
        return len(self.values)

    @cached_property
    def fallback(self) -> int:
        """The code of unknown and missing values."""
        if self.other is not None:
            return self.values.index(self.other)
        written = [str(value).strip().lower() for value in self.values]
        return next((written.index(marker) for marker in MARKERS if marker in written), self.arity // 2)


Attribute = Numeric | Categorical


@dataclass(frozen=True)
class Unit:
    """The unit of privacy where a person has several rows: all rows with the same value in a column.

    At most ``max_rows`` rows of each unit are used (see ``privet.tables.units``), and epsilon is then for tables that
    differ in one whole unit. Each row gets ``1 / max_rows`` of it: choose few.

    >>> Unit("patient_id", max_rows=3)
    Unit(name='patient_id', max_rows=3)
    """

    name: str
    max_rows: int

    def __post_init__(self) -> None:
        _checked_name(self.name)
        if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or not 1 <= self.max_rows <= MAX_ROWS:
            raise SchemaError(f"unit {self.name!r}: max_rows must be a whole number from 1 to {MAX_ROWS}")

    def __str__(self) -> str:
        return f"one {isolated(self.name)}, with at most {self.max_rows} row{'s'[: self.max_rows > 1]}"


@dataclass(frozen=True, repr=False)
class Schema:
    """The public facts of a table: its attributes, in order, and its label.

    A ``Categorical`` label is a class to predict, a ``Numeric`` one a number. Records without a class of the list, or
    without a number, are dropped. Cuts of a number to predict are left to the recipe.

    ``inferred`` marks facts that were read off the data; results computed with them are not private, and the
    certificate says so (epsilon = infinity). The mark is a ``basis`` of the facts themselves, so it survives JSON,
    copies, and a new schema made from some of them. To vouch for a fact, give it another basis:

    >>> from dataclasses import replace
    >>> from privet.tables.inferring import infer_schema
    >>> seen = infer_schema({"age": [31, 64], "ill": ["no", "yes"]}, "ill")
    >>> Schema((seen.attributes[0],), Categorical("ill", ("no", "yes"))).inferred
    True
    >>> age = replace(seen.attributes[0], low=0, high=120, basis="meaning")
    >>> Schema((age,), Categorical("ill", ("no", "yes"))).inferred
    False
    """

    attributes: tuple[Attribute, ...]
    label: Attribute
    name: str = ""
    inferred: bool = False
    unit: Unit | None = None
    title: str = field(default="", compare=False)
    notes: str = field(default="", compare=False)
    splits: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        if not self.attributes or any(not isinstance(a, Numeric | Categorical) for a in self.attributes):
            raise SchemaError("attributes must be a list of at least one Numeric or Categorical")
        if not isinstance(self.label, Numeric | Categorical):
            raise SchemaError(
                "the label is missing; give label=Categorical(name, values), or label=Numeric(name, low, high)"
            )
        self._mark_inferred()
        if len(set(self.names)) < len(self.names):
            name, _ = Counter(self.names).most_common(1)[0]
            raise SchemaError(f"attribute name {brief(name)} is used twice; rename one")
        for text in (self.name, self.title, self.notes):
            _check_text(text, "the schema: its name, title or notes")
        for part, rows in self.splits.items():
            ranged = isinstance(part, str) and isinstance(rows, list | tuple) and all(type(row) is int for row in rows)
            if not ranged or has_surrogates(part):
                raise SchemaError("splits must be ranges of records by name, such as {'train': [0, 100]}")
        if self.label.name in self.names:
            raise SchemaError(f"the label {self.label.name!r} is also an attribute; remove it from the attributes")
        if not self.predicts_number and self.n_classes < 2 and not self.inferred:
            raise SchemaError(f"the label {self.label.name!r} needs at least two values; list every class")
        if self.label.name in self.inputs:
            raise SchemaError(f"an attribute is read from the label {self.label.name!r}; it would give the label away")
        if self.label.reading is not None and self.label.reading.source not in (None, self.label.name):
            raise SchemaError("the label is read from its own column; rename it, or leave 'from' out")
        if self.unit is not None and self.unit.name in (*self.names, *self.inputs, self.label.name):
            raise SchemaError(f"the unit {self.unit.name!r} is also an attribute; nothing is learned from a name")
        if isinstance(self.label, Categorical) and self.label.other is not None:
            raise SchemaError(f"the label {self.label.name!r} cannot have other: records of unknown label are dropped")

    def _mark_inferred(self) -> None:
        """Make the flag and the facts' bases agree, whichever was given."""
        marked = any(fact.basis == INFERRED for fact in (*self.attributes, self.label))
        if self.inferred and not marked:
            object.__setattr__(self, "attributes", tuple(replace(a, basis=INFERRED) for a in self.attributes))
            object.__setattr__(self, "label", replace(self.label, basis=INFERRED))
        object.__setattr__(self, "inferred", bool(self.inferred or marked))

    def __str__(self) -> str:
        numeric = sum(isinstance(attribute, Numeric) for attribute in self.attributes)
        return (
            f"{isolated(self.name or 'schema')}: {numeric} numeric and {len(self.attributes) - numeric} categorical "
            f"attributes, label {self.label.name!r} {self._label_text()}"
        )

    def __repr__(self) -> str:
        return f"<Schema {str(self).removeprefix('schema: ')}>"  # all facts would fill a screen; see to_dict

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The columns that the attributes are read from, each once: mostly their own."""
        return tuple(dict.fromkeys(column_read(attribute) for attribute in self.attributes))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a fit reads: those of the attributes, the label, and the unit if one is declared."""
        return (*self.inputs, self.label.name, *(() if self.unit is None else (self.unit.name,)))

    @cached_property
    def arities(self) -> tuple[int, ...]:
        return tuple(attribute.arity for attribute in self.attributes)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Attribute ``a`` owns the bins ``offsets[a]:offsets[a + 1]`` of a ragged histogram (read-only)."""
        offsets = np.concatenate([[0], np.cumsum(self.arities)]).astype(np.int64)
        offsets.setflags(write=False)
        return offsets

    @property
    def total_bins(self) -> int:
        return sum(self.arities)

    @property
    def predicts_number(self) -> bool:
        """Whether the label is a number, not a class. Everything that depends on it asks here."""
        return isinstance(self.label, Numeric)

    @property
    def number(self) -> Numeric:
        """The label, where it is a number."""
        if not isinstance(self.label, Numeric):
            raise SchemaError(f"the label {self.label.name!r} is a class; a number is needed, as Numeric declares one")
        return self.label

    @property
    def classes(self) -> tuple[Any, ...]:
        """The values of the label, where it is a class."""
        if not isinstance(self.label, Categorical):
            raise SchemaError(
                f"the label {self.label.name!r} is a number; this needs classes, as Categorical lists them"
            )
        return self.label.values

    def refuse_number(self, what: str) -> None:
        """Refuse a number as the label where classes are needed: before anything is charged."""
        if self.predicts_number:
            raise SchemaError(
                f"{what} needs classes, and the label {self.label.name!r} is a number; cut it into classes and list "
                "these as its labels"
            )

    @property
    def n_classes(self) -> int:
        """The number of codes of the label: its classes, or the bins that a number to predict is cut into."""
        return len(self.label.cuts) + 1 if isinstance(self.label, Numeric) else self.label.arity

    @property
    def n_scores(self) -> int:
        """The columns of an additive score: a number, the log-odds of the second of two classes, or one per class."""
        return 1 if self.predicts_number or self.n_classes == 2 else self.n_classes

    def _label_text(self) -> str:
        if self.predicts_number:
            return f"a number from {self.number.low:g} to {self.number.high:g}"
        return f"with {self.n_classes} values"

    def index(self, name: str) -> int:
        if name not in self.names:
            raise SchemaError(f"no attribute is called {name!r}; the attributes are {', '.join(self.names)}")
        return self.names.index(name)

    def with_bins(self, bins: int) -> Schema:
        """The same facts with every numeric attribute that has no explicit thresholds cut into ``bins``."""
        regridded = (replace(a, bins=bins) if isinstance(a, Numeric) and a.thresholds is None else a
                     for a in self.attributes)  # fmt: skip
        return replace(self, attributes=tuple(regridded))

    def caveats(self) -> tuple[str, ...]:
        """Sentences of a certificate about facts that are not quite independent of the data."""
        named: dict[str, list[str]] = {}
        for fact in (*self.attributes, self.label):
            if fact.basis not in PUBLIC_BASES:
                named.setdefault(fact.basis, []).append(isolated(fact.name))
        sentences = {
            "round": "The bounds of {} are an assumption: round numbers chosen by someone who had seen the data.",
            INFERRED: "The facts of {} were read off the data themselves.",
            "observed": "The values of {} are listed as observed in the data, not as documented.",
        }
        other = "The facts of {} are taken as public on the basis {!r}, which privet cannot judge."
        return tuple(sentences.get(basis, other).format(", ".join(names), basis) for basis, names in named.items())

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> Schema:
        """Read a schema from a file (YAML by its name, else JSON), or from JSON text (beginning with a brace)."""
        from privet.schema.written import parse_json, read_schema

        is_text = isinstance(source, str) and source.lstrip().startswith("{")
        return cls.from_dict(parse_json(str(source))) if is_text else read_schema(source)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Schema:
        """Build a schema from the content of its file; ``docs/guide/schema.md`` lists every key."""
        from privet.schema.written import schema_of

        return schema_of(facts)

    def to_dict(self) -> dict[str, Any]:
        """The content of its file, as plain dictionaries and lists, without empty and default values."""
        from privet.schema.written import facts_of

        return facts_of(self)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The JSON text; also written to ``path`` when one is given (as YAML if its name ends in .yaml)."""
        from privet.schema.written import facts_text

        text = facts_text(self.to_dict(), "schema.json" if path is None else path)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text


def column_read(attribute: Attribute) -> str:
    """The column that an attribute is read from."""
    return (attribute.reading.source if attribute.reading else None) or attribute.name


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise SchemaError(f"a name must be a non-empty string, not {brief(name)}")
    _check_text(name, "a name")
    return name


def _check_reading(reading: Any, name: str, values: tuple[Any, ...] | None) -> None:
    if reading is not None:
        if type(reading) is not Reading:
            raise SchemaError(f"attribute {brief(name)}: reading must be a Reading, not {type(reading).__name__}")
        reading.check(name, values)


def _check_text(text: Any, what: str) -> None:
    """Refuse text that no model, journal or page can hold, before anything is paid for."""
    if isinstance(text, str) and has_surrogates(text):
        raise SchemaError(f"{what} holds half of a character (a lone surrogate), which no file can hold; correct it")
    if isinstance(text, str) and len(text) > LONGEST_TEXT:
        raise SchemaError(f"{what} has {len(text):,} characters; at most {LONGEST_TEXT:,} are possible")


def _check_basis(basis: Any, where: str) -> None:
    if basis is not None and (not isinstance(basis, str) or not basis.strip()):
        raise SchemaError(f"{where}: basis must say in words where the facts come from, such as 'documented'")
    _check_text(basis, f"{where}: basis")
    if basis == UNCONFIRMED:
        raise SchemaError(f"{where}: its facts are not confirmed; say where they come from, such as 'documented'")


def _finite(value: Any, what: str) -> float:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:  # NaN, infinities, integers beyond float64
        raise SchemaError(f"{what} must be a finite number, not {brief(value)}")
    return float(value)
