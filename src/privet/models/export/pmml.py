"""A model as PMML 4.4: a tree as a TreeModel, everything else as a RegressionModel over derived fields.

Missing values without a code of their own are replaced by the middle of the bounds, and markers are declared as
missing. Texts are trimmed and looked up among the spellings of the schema. The field ``label`` of the output is the
prediction; the RegressionModel's own choice, the largest probability, is the same unless classes are tied.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from privet.errors import ParameterError
from privet.models.export.branches import Branch, Node, branches, ends, spelled, texts
from privet.models.export.metadata import metadata
from privet.models.formula import Formula
from privet.schema import Categorical, Numeric
from privet.tables.cells import number_of

if TYPE_CHECKING:
    from privet.models.model import Model


def to_pmml(model: Model) -> str:
    """The document. A control character in a name or a value cannot be written in XML 1.0 and is refused."""
    formula = model.trees.formula()
    facts = [_tag("Extension", name=key, value=value) for key, value in metadata(model).items()]
    document = _Document(formula)
    first, *others = formula.summands
    single = first.routes is not None and not others and formula.link in ("identity", "number") and not formula.bounds
    body = document.tree() if single else document.number() if formula.link == "number" else document.regression()
    header = _tag("Header", *facts, _tag("Application", name="privet"), description=model.recipe or "privet")
    whole = _tag("PMML", header, document.dictionary(), body, version="4.4", xmlns="http://www.dmg.org/PMML-4_4")
    if any(ord(sign) < 32 and sign not in "\t\n\r" for sign in whole):
        raise ParameterError("a name or a value of the schema holds a control character, which PMML cannot hold")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{whole}\n'


class _Document:
    """The elements of one document. Derived fields are listed in the order in which they are needed."""

    def __init__(self, formula: Formula) -> None:
        self.formula, self.schema = formula, formula.schema
        self.derived: list[str] = []
        self._taken = {*self.schema.names, self.schema.label.name}
        self.classes = formula.classes
        self.texts = {a: texts(c) for a, c in enumerate(self.schema.attributes) if isinstance(c, Categorical)}
        self.cells = {a: self._category(a) for a in formula.asked if a in self.texts}

    def dictionary(self) -> str:
        fields = []
        for attribute in self.schema.attributes:
            numeric = isinstance(attribute, Numeric)
            kind = ("continuous", "double") if numeric else ("categorical", "string")
            marker = number_of(attribute.missing) if isinstance(attribute, Numeric) else math.nan
            values = [] if math.isnan(marker) else [_tag("Value", value=repr(marker), property="missing")]
            fields.append(_tag("DataField", *values, name=attribute.name, optype=kind[0], dataType=kind[1]))
        values = [_tag("Value", value=label) for label in self.classes]
        kind = ("categorical", "string") if self.classes else ("continuous", "double")
        fields.append(_tag("DataField", *values, name=self.schema.label.name, optype=kind[0], dataType=kind[1]))
        return _tag("DataDictionary", *fields)

    def tree(self) -> str:
        """A TreeModel. The last child of a node is taken by all records that no other child takes."""
        top = branches(self.schema, self.formula.summands[0], "PMML")
        node = self._node(top, _tag("True"))
        output = self._output(_tag("OutputField", name=self._free("label"), feature="predictedValue"))
        how = {"missingValueStrategy": "none", "noTrueChildStrategy": "returnLastPrediction"}
        how |= {"functionName": "classification" if self.classes else "regression"}
        how |= {"splitCharacteristic": "multiSplit"}
        return _tag("TreeModel", self._mining(), output, self._transformations(), node, **how)

    def number(self) -> str:
        """A RegressionModel of one term: the number, which derived fields add up."""
        [score] = self._scores()[0]
        if self.formula.bounds is not None:
            low, high = map(_number, self.formula.bounds)
            score = self._derive("number", _apply("min", _apply("max", _ref(score), low), high))
        output = self._output(_tag("OutputField", name=self._free("label"), feature="predictedValue"))
        table = _tag("RegressionTable", _tag("NumericPredictor", name=score, coefficient="1"), intercept="0")
        transformations = self._transformations()
        return _tag("RegressionModel", self._mining(), output, transformations, table, functionName="regression")

    def regression(self) -> str:
        """A RegressionModel whose tables are the probabilities, computed by derived fields."""
        formula = self.formula
        scores, second = self._scores()
        deciding, top = scores, self._derive("top", _apply("max", *map(_ref, scores)))
        if formula.ties is not None:
            deciding = [
                self._derive("decisive", _apply("if", _equal(score, _ref(top)), _ref(tie), _number(-1.0)))
                for score, tie in zip(scores, second, strict=True)
            ]
        largest = self._derive("largest", _apply("max", *map(_ref, deciding)))
        shares = self._shares(scores, top)
        label = _constant(self.classes[-1])
        for score, name in reversed(list(zip(deciding, self.classes, strict=True))[:-1]):
            label = _apply("if", _equal(score, _ref(largest)), _constant(name), label)
        chosen = _tag("OutputField", label, name=self._free("label"), feature="transformedValue", optype="categorical",
                      dataType="string")  # fmt: skip
        tables = [
            _tag("RegressionTable", _tag("NumericPredictor", name=share, coefficient="1"), intercept="0",
                 targetCategory=name)
            for share, name in zip(shares, self.classes, strict=True)
        ]  # fmt: skip
        how = {"functionName": "classification", "normalizationMethod": "none"}
        return _tag("RegressionModel", self._mining(), self._output(chosen), self._transformations(), *tables, **how)

    def _scores(self) -> tuple[list[str], list[str]]:
        """The fields of the scores of all columns, and of the sums that decide between ties."""
        formula = self.formula
        codes = {a: self._code(a) for a in formula.asked if a not in self.texts}
        shape = [branches(self.schema, summand, "PMML") for summand in formula.summands]

        def tallies(tables: Sequence[Any], combine: str) -> list[str]:
            return [self._tally([(table[:, c], top) for table, top in zip(tables, shape, strict=True)], codes, combine)
                    for c in range(formula.columns)]  # fmt: skip

        scores = tallies([summand.table for summand in formula.summands], formula.combine)
        return scores, tallies(formula.ties, "sum") if formula.ties is not None else []

    def _shares(self, scores: Sequence[str], top: str) -> list[str]:
        if self.formula.link == "identity":
            return list(scores)
        soft = self.formula.link == "softmax"
        weights = [
            self._derive("weight", _apply("exp", _apply("-", _ref(score), _ref(top))) if soft
                         else _apply("max", _ref(score), _number(0.0)))
            for score in scores
        ]  # fmt: skip
        total = self._total(weights)
        if self.formula.taken:
            less = [_apply("-", _ref(total), _apply("*", _number(self.formula.taken), _ref(one))) for one in weights]
            weights = [
                self._derive("weight", _apply("*", _ref(one), by)) for one, by in zip(weights, less, strict=True)
            ]
            total = self._total(weights)
        some, equal = _apply("greaterThan", _ref(total), _number(0.0)), _number(1 / len(scores))
        return [self._derive("share", _apply("if", some, _apply("/", _ref(weight), _ref(total)), equal))
                for weight in weights]  # fmt: skip

    def _total(self, weights: Sequence[str]) -> str:
        return self._derive("total", reduce(lambda one, two: _apply("+", one, two), map(_ref, weights)))

    def _tally(self, terms: Iterable[tuple[Any, Node]], codes: dict[int, str], combine: str) -> str:
        """The field of a score, added up (or the largest taken) one summand after the other."""
        total = self._derive("score", _number(0.0))
        for column, top in terms:
            if column.any():
                function = "+" if combine == "sum" else "max"
                total = self._derive("score", _apply(function, _ref(total), self._value(top, column, codes)))
        return total

    def _value(self, node: Node, column: Any, codes: dict[int, str]) -> str:
        """The number of a record's row, by nested tests of codes."""
        if not isinstance(node, Branch):
            return _number(column[node])
        value = self._value(node.groups[-1][1], column, codes)
        for group, below in reversed(node.groups[:-1]):
            if node.attribute in codes:
                test = _apply(
                    "lessOrEqual", _ref(codes[node.attribute]), _tag("Constant", str(group[-1]), dataType="integer")
                )
            else:
                known = self.texts[node.attribute]
                test = _apply("isIn", _ref(self.cells[node.attribute]), *(_constant(known[code]) for code in group))
            value = _apply("if", test, self._value(below, column, codes), value)
        return value

    def _node(self, node: Node, predicate: str) -> str:
        if not isinstance(node, Branch):
            shares = self.formula.summands[0].table[node].tolist()
            if self.formula.labels is None:
                return _tag("Node", predicate, score=repr(shares[0]))
            listed = [_tag("ScoreDistribution", value=name, recordCount=repr(share), probability=repr(share))
                      for name, share in zip(self.classes, shares, strict=True)]  # fmt: skip
            return _tag("Node", predicate, *listed, score=self.classes[self.formula.labels[node]])
        children = []
        attribute = self.schema.attributes[node.attribute]
        if isinstance(attribute, Numeric):
            for cut, below in ends(attribute, node):
                test = {"operator": "isNotMissing"} if cut is None else {"operator": "lessOrEqual", "value": repr(cut)}
                children.append(self._node(below, _tag("SimplePredicate", field=attribute.name, **test)))
        else:
            known, field = self.texts[node.attribute], self.cells[node.attribute]
            for codes, below in node.groups[:-1]:
                tests = [_tag("SimplePredicate", field=field, operator="equal", value=known[code]) for code in codes]
                some = tests[0] if len(tests) == 1 else _tag("CompoundPredicate", *tests, booleanOperator="or")
                children.append(self._node(below, some))
        children.append(self._node(node.groups[-1][1], _tag("True")))
        return _tag("Node", predicate, *children)

    def _category(self, a: int) -> str:
        """A derived field with the value of the schema that a text means."""
        attribute = self.schema.attributes[a]
        assert isinstance(attribute, Categorical)
        trimmed = self._derive("text", _apply("trimBlanks", _ref(attribute.name)), "string")
        known, fallback = self.texts[a], self.texts[a][attribute.fallback]
        if len({str(value).strip() for value in attribute.values}) < len(attribute.values):
            raise ParameterError(
                f"two values of {attribute.name!r} are the same text, or are so without the spaces around them, which "
                "PMML cannot tell apart; rename one"
            )
        rows = [_tag("row", _tag("in", _text(text)), _tag("out", _text(known[code])))
                for text, code in spelled(attribute)[1].items()]  # fmt: skip
        pair = _tag("FieldColumnPair", field=trimmed, column="in")
        found = {"outputColumn": "out", "defaultValue": fallback, "mapMissingTo": fallback, "dataType": "string"}
        return self._derive("category", _tag("MapValues", pair, _tag("InlineTable", *rows), **found), "string")

    def _code(self, a: int) -> str:
        """A derived field with the code of a number."""
        attribute = self.schema.attributes[a]
        assert isinstance(attribute, Numeric)
        edges = [None, *(repr(cut) for cut in attribute.cuts.tolist()), None]
        bins = []
        for code, (low, high) in enumerate(pairwise(edges)):
            margins = {"leftMargin": low} if low else {}
            margins |= {"rightMargin": high} if high else {}
            interval = _tag("Interval", closure="openClosed" if high else "openOpen", **margins)
            bins.append(_tag("DiscretizeBin", interval, binValue=str(code)))
        missing = str(attribute.fallback)
        found = {"mapMissingTo": missing, "defaultValue": missing, "dataType": "integer"}
        return self._derive("code", _tag("Discretize", *bins, field=attribute.name, **found), "integer")

    def _derive(self, name: str, expression: str, kind: str = "double") -> str:
        name = self._free(name)
        optype = "categorical" if kind == "string" else "continuous"
        self.derived.append(_tag("DerivedField", expression, name=name, optype=optype, dataType=kind))
        return name

    def _mining(self) -> str:
        fields = []
        for attribute in self.schema.attributes:
            replaced = isinstance(attribute, Numeric) and attribute.missing is None
            extra = {"missingValueReplacement": repr(attribute.middle)} if replaced else {}  # type: ignore[union-attr]
            fields.append(_tag("MiningField", name=attribute.name, invalidValueTreatment="asIs", **extra))
        return _tag("MiningSchema", *fields, _tag("MiningField", name=self.schema.label.name, usageType="target"))

    def _output(self, chosen: str) -> str:
        shares = [
            _tag("OutputField", name=self._free(f"P({name})"), feature="probability", value=name, optype="continuous",
                 dataType="double")
            for name in self.classes
        ]  # fmt: skip
        return _tag("Output", chosen, *shares)

    def _transformations(self) -> str:
        return _tag("LocalTransformations", *self.derived) if self.derived else ""

    def _free(self, name: str) -> str:
        chosen, number = name, 1
        while chosen in self._taken:
            number += 1
            chosen = f"{name} {number}"
        self._taken.add(chosen)
        return chosen


def _tag(element: str, *inside: str, **attributes: str) -> str:
    """An element; ``inside`` is markup already."""
    listed = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{element}{listed}>{''.join(inside)}</{element}>" if inside else f"<{element}{listed}/>"


def _apply(function: str, *arguments: str) -> str:
    return _tag("Apply", *arguments, function=function)


def _equal(field: str, other: str) -> str:
    return _apply("equal", _ref(field), other)


def _ref(field: str) -> str:
    return _tag("FieldRef", field=field)


def _number(value: float) -> str:
    return _tag("Constant", repr(float(value)), dataType="double")


def _constant(text: str) -> str:
    return _tag("Constant", _text(text), dataType="string")


def _text(text: str) -> str:
    """The content of an element. PMML4S reads only the last part of a text that holds entities, so it holds none."""
    parts = text.split("]]>")
    return text if escape(text) == text else "]]]]><![CDATA[>".join(parts).join(("<![CDATA[", "]]>"))
