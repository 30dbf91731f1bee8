"""A model as an ONNX graph, with the schema's encoding inside.

Each attribute is an input of its own, a column of doubles or of text. The first output is the label, the second the
probabilities, columns in the order of the schema's classes. A tree answers with the number of its leaf, because ONNX
weighs leaves in single precision; the numbers themselves are gathered from tables of doubles and added up in the order
of the model, so that even ties come out the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.models.export.metadata import metadata, needs
from privet.models.export.thresholds import NOWHERE, Thresholds
from privet.models.formula import Formula, Summand
from privet.schema import Categorical, Numeric
from privet.tables.cells import number_of, spellings_of

if TYPE_CHECKING:
    from privet.models.model import Model

OPSET, ML_OPSET, IR = 18, 3, 9  # of late 2022: old enough for the runtimes in use, new enough for Split into n outputs
MOST_LEAVES = 2**24  # of a tree: single precision holds whole numbers up to here


def to_onnx(model: Model) -> bytes:
    """The serialised graph. Needs the extra ``onnx``."""
    onnx = needs("onnx", "onnx", "an export to ONNX")
    formula = model.trees.formula()
    graph = _Graph(onnx, formula)
    outputs = graph.number() if formula.link == "number" else graph.label()
    schema, tensor = formula.schema, onnx.TensorProto
    info = onnx.helper.make_tensor_value_info
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "privet",
            [
                info(a.name, tensor.DOUBLE if isinstance(a, Numeric) else tensor.STRING, ["records", 1])
                for a in schema.attributes
            ],
            [info(name, getattr(tensor, kind), ["records", *width]) for name, kind, width in outputs],
            graph.constants,
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR,
        producer_name="privet",
    )
    onnx.helper.set_model_props(made, metadata(model))
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


class _Graph:
    """Nodes and constants as they are added. Names of values are free: none is that of a column."""

    def __init__(self, onnx: Any, formula: Formula) -> None:
        self.onnx, self.formula, self.schema = onnx, formula, formula.schema
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._taken = set(self.schema.names)
        self._number = 0
        self._axis = self._constant(np.array([1], np.int64))

    def number(self) -> list[tuple[str, str, list[int]]]:
        """The output (name, type, width) of a model that predicts a number."""
        number, scores = self._free("number"), self._scores()[0]
        if self.formula.bounds is not None:
            scores = self._add("Clip", [scores, *map(self._constant, self.formula.bounds)])
        self._add("Squeeze", [scores, self._axis], number)
        return [(number, "DOUBLE", [])]

    def label(self) -> list[tuple[str, str, list[int]]]:
        """The outputs (name, type, width) of a classifier: the label and the probabilities."""
        label, proba = self._free("label"), self._free("probabilities")
        formula = self.formula
        scores, rows = self._scores()
        self._add("Identity", [self._linked(scores)], proba)
        if formula.labels is not None:
            code = self._add("Gather", [self._constant(formula.labels.astype(np.int64)), rows[0]])
        else:
            if formula.ties is not None:
                tied = self._add("Equal", [scores, self._reduced("ReduceMax", scores)])
                second = self._total(formula.ties, rows, "Add")
                scores = self._add("Where", [tied, second, self._constant(-1.0)])
            code = self._add("ArgMax", [scores], axis=1, keepdims=0)
        texts: Any = np.array(formula.classes, dtype="O")
        self._add("Gather", [self._constant(texts), code], label)
        return [(label, "STRING", []), (proba, "DOUBLE", [formula.columns])]

    def _scores(self) -> tuple[str, list[str]]:
        """(records, column) the combined numbers, and the rows of all summands."""
        formula = self.formula
        rows = self._rows({a: self._codes(a) for a in formula.asked})
        tables = [summand.table for summand in formula.summands]
        return self._total(tables, rows, "Add" if formula.combine == "sum" else "Max"), rows

    def _codes(self, a: int) -> str:
        """(records, 1) the codes of a column."""
        attribute = self.schema.attributes[a]
        if isinstance(attribute, Categorical):
            known = {text: code for text, code in spellings_of(attribute).items() if isinstance(text, str)}
            return self._add(
                "LabelEncoder",
                [attribute.name],
                domain="ai.onnx.ml",
                keys_strings=list(known),
                values_int64s=list(known.values()),
                default_int64=attribute.fallback,
            )
        above = self._add("Greater", [attribute.name, self._constant(attribute.cuts.reshape(1, -1))])
        counted = self._reduced("ReduceSum", self._add("Cast", [above], to=self.onnx.TensorProto.INT64))
        lost = self._add("IsNaN", [attribute.name])
        if not math.isnan(marker := number_of(attribute.missing)):
            lost = self._add("Or", [lost, self._add("Equal", [attribute.name, self._constant(marker)])])
        return self._add("Where", [lost, self._constant(np.int64(attribute.fallback)), counted])

    def _rows(self, codes: dict[int, str]) -> list[str]:
        """(records,) the row of each summand."""
        summands = self.formula.summands
        trees = [summand for summand in summands if summand.routes is not None and not summand.constant]
        leaves = iter(self._leaves(trees, codes) if trees else ())
        everyone = self._everyone(codes)
        return [everyone if s.constant else next(leaves) if s.routes is not None else self._cell(s, codes)
                for s in summands]  # fmt: skip

    def _everyone(self, codes: dict[int, str]) -> str:
        """(records,) zeros: the row of a summand that has only one."""
        column = next(iter(codes.values()), "") or self._codes(0)  # for the number of records only
        zeros = self._add("Mul", [column, self._constant(np.int64(0))])
        return self._add("Squeeze", [zeros, self._axis])

    def _cell(self, summand: Summand, codes: dict[int, str]) -> str:
        row = ""
        for a, levels, side in zip(summand.attributes, summand.levels, summand.sides, strict=True):
            level = self._add("Gather", [self._constant(levels.astype(np.int64)), codes[a]])
            if row:
                row = self._add("Mul", [row, self._constant(np.int64(side))])
            row = self._add("Add", [row, level]) if row else level
        return self._add("Squeeze", [row, self._axis])

    def _leaves(self, trees: list[Summand], codes: dict[int, str]) -> list[str]:
        """(records,) the number of the leaf in each tree, from one ensemble with a target for each tree."""
        if any(len(tree.table) >= MOST_LEAVES for tree in trees):
            raise ParameterError(f"a tree has more than {MOST_LEAVES:,} leaves, which ONNX cannot number")
        columns = {a: place for place, a in enumerate(codes)}
        inner: dict[str, list[Any]] = {f"nodes_{name}": [] for name in
                                       ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids",
                                        "falsenodeids")}  # fmt: skip
        leaf: dict[str, list[Any]] = {f"target_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
        for t, summand in enumerate(trees):
            tree = Thresholds.of(summand)
            for node, (a, cut, left, right, origin) in enumerate(
                zip(tree.attribute, tree.cut, tree.left, tree.right, tree.origin, strict=True)
            ):
                at_end = left == NOWHERE
                mode, feature = ("LEAF", 0) if at_end else ("BRANCH_LEQ", columns[a])
                ends = (0, 0) if at_end else (left, right)
                _extend(inner, (t, node, feature, mode, float(cut), *ends))
                if at_end:
                    _extend(leaf, (t, node, t, float(summand.leaf_row[origin])))
        together = self._add("Concat", list(codes.values()), axis=1)
        features = self._add("Cast", [together], to=self.onnx.TensorProto.FLOAT)
        numbers = self._add(
            "TreeEnsembleRegressor", [features], "", domain="ai.onnx.ml", n_targets=len(trees), **inner, **leaf
        )
        whole = self._add("Cast", [numbers], to=self.onnx.TensorProto.INT64)
        split = [self._free("leaf") for _ in trees]
        self.nodes.append(self.onnx.helper.make_node("Split", [whole], split, axis=1, num_outputs=len(trees)))
        return [self._add("Squeeze", [name, self._axis]) for name in split]

    def _total(self, tables: Iterable[Any], rows: list[str], how: str) -> str:
        """(records, column) the rows of all tables, combined one after the other from 0 on, as the model does."""
        total = self._constant(np.zeros((1, 1)))
        for table, row in zip(tables, rows, strict=True):
            total = self._add(how, [total, self._add("Gather", [self._constant(table), row], axis=0)])
        return total

    def _linked(self, scores: str) -> str:
        match self.formula.link:
            case "identity" | "number":
                return scores
            case "softmax":
                weights = self._add("Exp", [self._add("Sub", [scores, self._reduced("ReduceMax", scores)])])
                return self._shares(self._capped(weights) if self.formula.taken else weights)
            case "shares":
                return self._shares(self._add("Max", [scores, self._constant(0.0)]))

    def _capped(self, weights: str) -> str:
        """The link of a margin: each weight times what their sum has beyond the part that is taken off it."""
        taken = self._add("Mul", [weights, self._constant(self.formula.taken)])
        return self._add("Mul", [weights, self._add("Sub", [self._reduced("ReduceSum", weights), taken])])

    def _shares(self, weights: str) -> str:
        """Weights divided by their sum; equal shares if that is 0."""
        total = self._reduced("ReduceSum", weights)
        none = self._add("Equal", [total, self._constant(0.0)])
        equal = self._constant(1 / self.formula.columns)
        return self._add("Where", [none, equal, self._add("Div", [weights, total])])

    def _reduced(self, how: str, values: str) -> str:
        return self._add(how, [values, self._axis], keepdims=1)

    def _add(self, op: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or self._free(op)
        self.nodes.append(self.onnx.helper.make_node(op, inputs, [output], **attributes))
        return output

    def _constant(self, value: Any) -> str:
        name = self._free("constant")
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def _free(self, name: str) -> str:
        """The name, with a number if it is taken."""
        chosen = name
        while chosen in self._taken:
            self._number += 1
            chosen = f"{name}_{self._number}"
        self._taken.add(chosen)
        return chosen


def _extend(columns: dict[str, list[Any]], row: tuple[Any, ...]) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)
