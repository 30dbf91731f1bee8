"""Public facts as values: what everyone may know about a table before anyone looks into it.

A :class:`Schema` holds attribute names, numeric bounds and cut points, category lists and labels. It determines how a
record becomes small integer codes (:mod:`privet.tables.encoding`) and which tests a node can have
(:mod:`privet.structure.splits`). Everything else about a table, the number of records included, is private.

Schemas are immutable, hashable and compared by their facts (title, notes and splits describe the file, not the facts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.bidi import isolated
from privet.errors import SchemaError
from privet.schema.attributes import Attribute, Categorical, Numeric, check_text, checked_name, column_read
from privet.schema.limits import brief, has_surrogates

INFERRED = "inferred"  # the basis of a fact that was read off the data; it marks every schema with such a fact
PUBLIC_BASES = (None, "documented", "meaning")  # bases that need no caveat
MAX_ROWS = 10_000  # of a unit; with more, a row's share of epsilon is next to nothing


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
        checked_name(self.name)
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
            check_text(text, "the schema: its name, title or notes")
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
        """Build a schema from the content of its file; ``docs/reference/schema-keys.md`` lists every key."""
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
