"""The form of a question: what it offers for a table, and the question that its fields make."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from privet.schema import Categorical, Numeric, Schema
from privet.server.asks import Ask
from privet.server.problems import Problem

MODELS = ("tree", "curves", "forest")
COUNTS = ("count", "class-counts", "histogram", "most-frequent")
NUMBERS = ("average", "sum", "quantiles")
WITH_COLUMN = (*NUMBERS, "histogram", "most-frequent")
OPS = ("is", "in", "at_most", "above", "missing")
CONDITIONS = 3  # rows of the form; the API takes eight
MOST_PARTS = 100  # values of a column that a question can be asked by
SIZES = {"max_depth": "depth", "n_estimators": "trees"}  # a recipe's parameter, and its field
FIELDS = (
    *("what", "recipe", "depth", "trees", "question", "of", "by", "at", "answer", "held_out", "epsilon", "target"),
    *("records", "signal"),
    *(f"{name}{row}" for row in range(1, CONDITIONS + 1) for name in ("column", "op", "value")),
)
LONGEST = 2000  # characters of a field

Offers = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Choices:
    """What the form offers, by public facts of the table and the recipes on offer."""

    schema: Schema
    offers: Offers

    @property
    def whats(self) -> list[str]:
        made = {one["makes"] for one in self.offers}
        models = [name for name in MODELS if name in made]
        return [*models, "count", *(["number"] if self.numbers else []), "score"]

    def recipes(self, what: str) -> list[Mapping[str, Any]]:
        """Recipes that make it, the recommended one first."""
        return sorted((one for one in self.offers if one["makes"] == what), key=lambda one: not one["recommended"])

    @property
    def columns(self) -> list[Numeric | Categorical]:
        return [*self.schema.attributes, self.schema.label]

    @property
    def asked(self) -> list[str]:
        """Columns that questions can be about: a label that is a number is for models alone."""
        return [one.name for one in self.columns[: -1 if self.schema.predicts_number else None]]

    @property
    def numbers(self) -> list[str]:
        return [one.name for one in self.schema.attributes if isinstance(one, Numeric)]

    @property
    def parts(self) -> list[str]:
        """Columns that a question can be asked by."""
        return [one.name for one in self.columns if isinstance(one, Categorical) and one.arity <= MOST_PARTS]

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(name for name in COUNTS if name != "class-counts" or not self.schema.predicts_number)


def read_fields(given: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form as text; those that are not there are empty."""
    found = {name: value.strip() for name in FIELDS if isinstance(value := given.get(name, ""), str)}
    if any(len(value) > LONGEST for value in found.values()):
        raise Problem("invalid", f"a field has more than {LONGEST} characters")
    return dict.fromkeys(FIELDS, "") | found


def ask_of(fields: Mapping[str, str], choices: Choices) -> Ask:
    """The question that the fields make. It passes the same checks as one that a program sends."""
    facts: dict[str, Any] = {"epsilon": fields["epsilon"].replace(",", ".")}
    what = fields["what"]
    if what in MODELS:
        facts |= {"ask": "fit", "recipe": fields["recipe"], "params": _params(fields, choices)}
    elif what == "score":
        facts |= {"ask": "score", "of": fields["answer"]}
        facts |= {"held_out": fields["held_out"] == "yes"} if fields["held_out"] else {}
    else:
        asked = fields["question"] or ("count" if what == "count" else "average")
        facts |= {"ask": asked, "where": _conditions(fields, choices)}
        facts |= {"of": fields["of"]} if asked in WITH_COLUMN else {}
        facts |= {"by": fields["by"]} if fields["by"] else {}
        facts |= {"at": _shares(fields["at"])} if asked == "quantiles" else {}
    try:
        return Ask.model_validate(facts)
    except ValidationError as error:
        first = error.errors()[0]
        named = [str(part) for part in first["loc"] if isinstance(part, str) and part in (*facts, "value", "column")]
        message = str(first["msg"]).removeprefix("Value error, ")
        raise Problem("invalid", f"{': '.join([*named[-1:], message])}"[:600]) from None


def fields_of(ask: Mapping[str, Any], offers: Offers) -> dict[str, str]:
    """The fields that make a question, to ask it again."""
    asked = ask["ask"]
    fields = read_fields({"epsilon": ask.get("epsilon", ""), "question": asked, "by": ask.get("by", "")})
    if asked == "fit":
        makes = {one["name"]: one["makes"] for one in offers}
        sizes = {field: str(ask.get("params", {}).get(name, "")) for name, field in SIZES.items()}
        return fields | {"what": makes.get(ask["recipe"], "tree"), "recipe": ask["recipe"]} | sizes
    if asked == "score":
        return fields | {"what": "score", "answer": ask["of"]}
    more = {"what": "count" if asked in COUNTS else "number", "of": ask.get("of", "")}
    for row, one in enumerate(ask.get("where", [])[:CONDITIONS], 1):
        value = one.get("value")
        text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
        more |= {f"column{row}": one["column"], f"op{row}": one["op"], f"value{row}": text}
    return fields | more | {"at": ", ".join(f"{one:g}" for one in ask.get("at", []))}


def _params(fields: Mapping[str, str], choices: Choices) -> dict[str, int]:
    sizes: list[str] = next((one["sizes"] for one in choices.offers if one["name"] == fields["recipe"]), [])
    given = {name: fields[SIZES[name]] for name in sizes if fields[SIZES[name]]}
    for name, value in given.items():
        if not re.fullmatch(r"\d{1,6}", value):
            raise Problem("invalid", f"{SIZES[name]} must be a whole number, or empty")
    return {name: int(value) for name, value in given.items()}


def _conditions(fields: Mapping[str, str], choices: Choices) -> list[dict[str, Any]]:
    known = {one.name: one for one in choices.columns}
    found: list[dict[str, Any]] = []
    for row in range(1, CONDITIONS + 1):
        column, op, value = (fields[f"{name}{row}"] for name in ("column", "op", "value"))
        if not column:
            continue
        one: dict[str, Any] = {"column": column, "op": op or "is"}
        if op == "in":
            one["value"] = [_value(part.strip(), known.get(column)) for part in value.split(",")]
        elif op != "missing":
            one["value"] = _value(value, known.get(column))
        found.append(one)
    return found


def _value(text: str, fact: Numeric | Categorical | None) -> Any:
    """A value as the schema has it: a number of a numeric column, else the category that is written so."""
    if isinstance(fact, Categorical):
        return next((value for value in fact.values if str(value) == text), text)
    return _number(text)


def _number(text: str) -> Any:
    try:
        return float(text.replace(",", ".")) if not re.fullmatch(r"-?\d{1,15}", text) else int(text)
    except ValueError:
        return text


def _shares(text: str) -> list[Any]:
    """Shares of quantiles: 0.25, 0.5 or 25 %, 50 %."""
    found = []
    for part in (one.strip() for one in (text or "0.25, 0.5, 0.75").split(",")):
        number = _number(part.removesuffix("%").strip())
        found.append(number / 100 if part.endswith("%") and isinstance(number, int | float) else number)
    return found
