"""An answer on a page: the parts of a model's report, or the bars of a question; and questions in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from privet.bidi import isolated
from privet.errors import PrivetError
from privet.markup import Html
from privet.models.codec import from_text
from privet.models.model import Model
from privet.privacy.certificate import Certificate
from privet.report.bars import answer_context
from privet.report.context import certificate_context
from privet.report.page import certificate_parts, model_parts, quality_part
from privet.schema import Schema
from privet.server.pages.texts import say
from privet.structure.questions import Question

FORMS = {  # a form of a model: the ending of its file, and its type
    "json": (".json", "application/json"),
    "python": (".py", "text/x-python; charset=utf-8"),
    "sql": (".sql", "application/sql; charset=utf-8"),
    "pmml": (".pmml", "application/xml; charset=utf-8"),
    "onnx": (".onnx", "application/octet-stream"),
}


def result_context(
    ask: Mapping[str, Any], answer: Mapping[str, Any], schema: Schema, score: Any = None
) -> dict[str, Any]:
    """What a page shows of an answer: ``parts``, markup in order, or ``answer``, numbers with bars."""
    if ask["ask"] == "fit":
        parts = model_parts(model_of(answer), score)
        return {"promise": parts.pop("promise"), "parts": parts, "answer": None}
    about = certificate_context(Certificate.from_dict(answer["certificate"]))
    parts = certificate_parts(about)
    promise, shown = parts.pop("promise"), None
    if ask["ask"] == "score":
        parts = {"quality": quality_part(answer["value"], schema), **parts}
    else:
        shown = answer_context(ask, answer)
    return {"promise": promise, "parts": parts, "answer": shown}


def model_of(answer: Mapping[str, Any]) -> Model:
    return from_text(json.dumps(answer["model"]))


def export(model: Model, form: str, table: str) -> str | bytes:
    """A model for another program."""
    match form:
        case "python":
            return model.to_python()
        case "sql":
            return model.to_sql("duckdb", table)
        case "pmml":
            return model.to_pmml()
        case _:
            return model.to_onnx()


def in_words(ask: Mapping[str, Any], makes: Mapping[str, str]) -> Html:
    """A question in a few words; ``makes`` has what each recipe makes."""
    if ask["ask"] == "fit":
        return say(f"asked.{makes.get(ask['recipe'], 'tree')}", recipe=ask["recipe"])
    if ask["ask"] == "score":
        return say("asked.score")
    try:
        facts = {name: value for name, value in ask.items() if name != "epsilon"}
        return say("asked.question", question=isolated(str(Question.from_dict(facts))))
    except PrivetError:
        return say("asked.question", question=ask["ask"])
