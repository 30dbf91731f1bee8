"""The closed set of tests a node can carry, on integer codes.

A test is a value: it can be stored, compared, described and counted, and it reads only one code. :class:`Tests` is the
flat table of candidates for a mechanism; it follows from the schema alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.bidi import isolated
from privet.errors import ParameterError, SchemaError
from privet.schema import Categorical, Numeric, Schema

LEAF = -1  # the attribute of a leaf


class Kind(IntEnum):
    """What a test does with a code; stored trees contain these numbers."""

    THRESHOLD = 0
    ONE_CATEGORY = 1
    MULTIWAY = 2


def child(code: Any, kind: int, cut: int) -> Any:
    """The child that a code goes to. For one code or an array; ``structure.descent`` compiles it for one."""
    if kind == Kind.THRESHOLD:
        return np.int32(code > cut)
    if kind == Kind.ONE_CATEGORY:
        return np.int32(code != cut)
    return np.int32(code)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Codes up to ``cut`` against the rest: a number's lower part, or the first categories of a list.

    A missing value has the last code and so goes right. The last cut of an attribute that can be missing
    (``arity - 2``) tells present from missing. On categories it needs a list with an order, for example from a
    public taxonomy; no list of candidates here has such tests.
    """

    kind: ClassVar[Kind] = Kind.THRESHOLD
    attribute: int
    cut: int

    def arity(self, schema: Schema) -> int:
        return 2

    def branch(self, column: NDArray[Any]) -> NDArray[Any]:
        """The child of each record, from the attribute's codes."""
        return np.asarray(child(column, self.kind, self.cut))

    def takes_missing(self, schema: Schema, child: int) -> bool:
        """Whether numbers above the cut and missing values go to this child together."""
        numeric = schema.attributes[self.attribute]
        return bool(
            isinstance(numeric, Numeric) and numeric.missing is not None and child and self.cut < len(numeric.cuts)
        )

    def describe(self, schema: Schema, child: int, *, or_missing: bool = True) -> str:
        numeric = schema.attributes[self.attribute]
        name = isolated(numeric.name)
        if isinstance(numeric, Categorical):
            side = numeric.values[self.cut + 1 :] if child else numeric.values[: self.cut + 1]
            return f"{name} = {isolated(side[0])}" if len(side) == 1 else f"{name} in {_listed(side)}"
        if self.cut == len(numeric.cuts):
            return f"{name} is {'missing' if child else 'present'}"
        number = _text(numeric.cuts[self.cut])
        if child == 0:
            return f"{name} <= {number}"
        return f"{name} > {number}" + (" or is missing" if or_missing and self.takes_missing(schema, child) else "")


@dataclass(frozen=True, slots=True)
class OneCategory:
    """One category against the rest."""

    kind: ClassVar[Kind] = Kind.ONE_CATEGORY
    attribute: int
    value: int

    def arity(self, schema: Schema) -> int:
        return 2

    def branch(self, column: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(child(column, self.kind, self.value))

    def describe(self, schema: Schema, child: int) -> str:
        categorical = schema.attributes[self.attribute]
        if not isinstance(categorical, Categorical):
            raise SchemaError(f"{categorical.name!r} is numeric: it has no categories; use Threshold")
        return f"{isolated(categorical.name)} {'!=' if child else '='} {isolated(categorical.values[self.value])}"


@dataclass(frozen=True, slots=True)
class Multiway:
    """A child for every code: every category, or every bin of a number."""

    kind: ClassVar[Kind] = Kind.MULTIWAY
    attribute: int

    def arity(self, schema: Schema) -> int:
        return schema.arities[self.attribute]

    def branch(self, column: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(child(column, self.kind, 0))

    def describe(self, schema: Schema, child: int) -> str:
        attribute = schema.attributes[self.attribute]
        name = isolated(attribute.name)
        if isinstance(attribute, Categorical):
            return f"{name} = {isolated(attribute.values[child])}"
        return f"{name} is missing" if child > len(attribute.cuts) else self.describe_run(schema, child, child)

    def describe_run(self, schema: Schema, first: int, last: int) -> str:
        """A description of adjacent bins of a number."""
        numeric = schema.attributes[self.attribute]
        assert isinstance(numeric, Numeric)
        name, cuts = isolated(numeric.name), numeric.cuts
        if first == 0:
            return f"{name} is present" if last == len(cuts) else f"{name} <= {_text(cuts[last])}"
        if last == len(cuts):
            return f"{name} > {_text(cuts[first - 1])}"
        return f"{_text(cuts[first - 1])} < {name} <= {_text(cuts[last])}"


Test = Threshold | OneCategory | Multiway


def check_test(test: Any, schema: Schema) -> None:
    """Refuse a test that the schema does not have. Compiled code trusts tests: it indexes memory by them."""
    if type(test) not in (Threshold, OneCategory, Multiway):  # a subclass could give another answer the second time
        raise ParameterError(f"a test must be a Threshold, OneCategory or Multiway, not {type(test).__name__}")
    a = test.attribute
    if not _is_whole(a) or not 0 <= a < len(schema.attributes):
        raise SchemaError(f"a test asks for attribute {a!r}, but the schema numbers its attributes from 0 to "
                          f"{len(schema.attributes) - 1}; schema.index(name) finds one")  # fmt: skip
    attribute, numeric = schema.attributes[a], isinstance(schema.attributes[a], Numeric)
    if type(test) is OneCategory and numeric:
        raise SchemaError(f"{attribute.name!r} is numeric: it has no categories; use Threshold")
    if type(test) is Multiway:
        return
    what, code = ("cuts", test.cut) if type(test) is Threshold else ("values", test.value)
    many = attribute.arity - (type(test) is Threshold)  # there is one cut less than there are codes
    if not _is_whole(code) or not 0 <= code < many:
        raise SchemaError(f"a test asks for number {code!r}, from 0, of the {many} {what} of {attribute.name!r}")


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def make_test(kind: int, attribute: int, cut: int) -> Test:
    """The test of a row of :class:`Tests`, or of a node of a stored tree."""
    match Kind(kind):
        case Kind.THRESHOLD:
            return Threshold(attribute, cut)
        case Kind.ONE_CATEGORY:
            return OneCategory(attribute, cut)
        case Kind.MULTIWAY:
            return Multiway(attribute)


@dataclass(frozen=True, eq=False)
class Tests:
    """Candidate tests as read-only columns, ordered by attribute and cut. Each splits: none has a single child."""

    __test__: ClassVar[bool] = False  # tell pytest that this is no test class

    attribute: NDArray[np.int32]
    kind: NDArray[np.int8]
    cut: NDArray[np.int32]  # the cut of a threshold, the value of a one-category test, 0 for a multiway one
    arity: NDArray[np.int32]  # number of children

    def __len__(self) -> int:
        return len(self.attribute)

    def __getitem__(self, i: int) -> Test:
        return make_test(int(self.kind[i]), int(self.attribute[i]), int(self.cut[i]))

    def __iter__(self) -> Iterator[Test]:
        return (self[i] for i in range(len(self)))

    def of_attribute(self, attribute: int) -> NDArray[np.intp]:
        """The positions of the tests on one attribute."""
        return np.flatnonzero(self.attribute == attribute)

    def fits(self, schema: Schema) -> bool:
        """Whether every row is a valid test of the schema, and none a leaf."""
        columns = self.attribute, self.kind, self.cut, self.arity
        if any(column.shape != (len(self),) or column.dtype.kind != "i" for column in columns):
            return False
        return bool((self.attribute >= 0).all()) and self.fault(schema) is None

    def fault(self, schema: Schema) -> str | None:
        """The fault of the first test that does not fit, in words that follow 'the tree ...', or None."""
        here = (self.attribute >= 0) & (self.attribute < len(schema.attributes))
        place = np.where(here, self.attribute, len(schema.attributes))
        codes = np.array([*schema.arities, 0], dtype=np.int64)[place]
        numeric = np.array([*(isinstance(a, Numeric) for a in schema.attributes), False])[place]
        multiway, above = self.kind == Kind.MULTIWAY, self.cut >= 0
        sound = np.select(
            [self.kind == Kind.THRESHOLD, self.kind == Kind.ONE_CATEGORY, multiway],
            [above & (self.cut < codes - 1), ~numeric & above & (self.cut < codes), self.cut == 0],
            default=False,
        )
        children = np.where(multiway, codes, 2)
        leaf = self.attribute == LEAF
        wrong = np.flatnonzero(np.where(leaf, self.arity != 0, ~here | ~sound | (self.arity != children)))
        if not wrong.size:
            return None
        node = int(wrong[0])
        a, kind, cut, arity = (int(c[node]) for c in (self.attribute, self.kind, self.cut, self.arity))
        if not here[node]:
            return f"tests attribute {a} at node {node}, but the schema has {len(schema.attributes)}"
        where = f"at node {node} on {schema.names[a]!r}"
        if kind not in set(Kind):
            return f"has a test of unknown kind {kind} {where}"
        if sound[node]:
            return f"has {arity} children {where}, but its test has {children[node]}"
        what = {Kind.THRESHOLD: "threshold", Kind.ONE_CATEGORY: "category", Kind.MULTIWAY: "multiway test"}[Kind(kind)]
        return f"has a {what} {where} that the schema does not have (value {cut})"

    def take(self, rows: NDArray[np.intp]) -> Tests:
        """A table of some of these tests, in the order of ``rows``."""
        return _frozen(self.attribute[rows], self.kind[rows], self.cut[rows], self.arity[rows])

    @classmethod
    def of_columns(cls, schema: Schema, attribute: NDArray[Any], kind: NDArray[Any], cut: NDArray[Any]) -> Tests:
        """A table from columns; attribute -1 is the test of a leaf and has no children."""
        arities = np.append(schema.arities, 0)[np.clip(attribute, -1, len(schema.attributes))]  # 0 beyond the schema
        arity = np.where((attribute < 0) | (kind == Kind.MULTIWAY), arities, 2)
        return _frozen(attribute, kind, cut, arity)

    @classmethod
    def of(cls, schema: Schema, tests: Iterable[Test | None]) -> Tests:
        """A table of the given tests, in their order; None, the test of a leaf, has attribute -1 and no children."""
        rows = [
            (-1, 0, 0, 0)
            if test is None
            else (test.attribute, test.kind, getattr(test, "cut", getattr(test, "value", 0)), test.arity(schema))
            for test in tests
        ]
        columns = np.array(rows, dtype=np.int32).reshape(-1, 4).T.copy()
        columns.setflags(write=False)
        kind = columns[1].astype(np.int8)
        kind.setflags(write=False)
        return cls(columns[0], kind, columns[2], columns[3])

    @classmethod
    def binary(cls, schema: Schema) -> Tests:
        """Every threshold of every number and every category against the rest."""
        return cls.of(schema, (test for a in range(len(schema.attributes)) for test in _binary(schema, a)))

    @classmethod
    def multiway(cls, schema: Schema) -> Tests:
        """One test per attribute, with a child for every category or bin."""
        return cls.of(schema, (test for a in range(len(schema.attributes)) for test in _multiway(schema, a)))

    @classmethod
    def mixed(cls, schema: Schema) -> Tests:
        """Thresholds for numbers, a child for every category (as in C4.5)."""
        return cls.of(
            schema,
            (
                test
                for a, attribute in enumerate(schema.attributes)
                for test in (_binary(schema, a) if isinstance(attribute, Numeric) else _multiway(schema, a))
            ),
        )


def _frozen(attribute: NDArray[Any], kind: NDArray[Any], cut: NDArray[Any], arity: NDArray[Any]) -> Tests:
    columns = attribute.astype(np.int32), kind.astype(np.int8), cut.astype(np.int32), arity.astype(np.int32)
    for column in columns:
        column.setflags(write=False)
    return Tests(*columns)


def _binary(schema: Schema, a: int) -> Iterator[Test]:
    arity = schema.arities[a]
    if isinstance(schema.attributes[a], Numeric):
        yield from (Threshold(a, cut) for cut in range(arity - 1))
    elif arity > 1:
        # With two categories, "the second against the rest" is the same test as "the first against the rest".
        yield from (OneCategory(a, value) for value in range(1 if arity == 2 else arity))


def _multiway(schema: Schema, a: int) -> Iterator[Test]:
    if schema.arities[a] > 1:
        yield Multiway(a)


def _text(number: float) -> str:
    return format(number, ".10g")


def _listed(values: tuple[Any, ...]) -> str:
    return "{" + ", ".join(map(isolated, values)) + "}"
