"""How good a model is, by a private score that was bought: its figures in words, for the model's page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from privet import promise
from privet.bidi import isolated
from privet.errors import ParameterError, PrivetError
from privet.evaluation.private_result import ORIGINS, Scored
from privet.models.intervals import Estimate
from privet.models.number_tree import number_words
from privet.privacy.certificate import Certificate
from privet.schema import Schema

NAMES = {"balanced_accuracy": "balanced accuracy", "auc": "AUC", "log_loss": "log-loss", "mae": "MAE", "rmse": "RMSE"}
SHARES = ("balanced_accuracy",)
MOST_CLASSES = 12  # of a confusion table


def quality_context(score: Scored | Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The context of a private score: an object, or the JSON of ``privet score --json`` or of a server.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(4000)
    >>> tree = privet.papers.DiffPID3Classifier(schema, epsilon=1, max_depth=2).fit(table)
    >>> quality_context(privet.private_score(tree, table, None, 1), schema)["headline"].startswith("right in ")
    True
    """
    facts = score.to_dict() if isinstance(score, Scored) else score
    try:
        mine = facts["label"] if schema.predicts_number else facts["classes"]
        certificate, headline = Certificate.from_dict(facts["certificate"]), _headline(facts)
    except (KeyError, TypeError, ValueError, AttributeError, PrivetError):
        raise ParameterError(
            parameter="score", problem="is no private score of such a model", fix="give what privet score --json wrote"
        ) from None
    if mine != (schema.label.name if schema.predicts_number else list(schema.classes)):
        raise ParameterError(
            parameter="score", problem="is of a model with other labels", fix="give the score of this model"
        )
    return {
        "headline": headline,
        "rows": [(NAMES[name], _words(facts[name], share=name in SHARES)) for name in NAMES if name in facts],
        "classes": [isolated(value) for value in facts.get("classes", ())][:MOST_CLASSES],
        "confusion": [[f"{count:,}" for count in row] for row in facts.get("confusion", ())]
        if len(facts.get("classes", ())) <= MOST_CLASSES
        else [],
        "origin": ORIGINS[facts["held_out"]],
        "price": promise.amounts(certificate),
    }


def _headline(facts: Mapping[str, Any]) -> str:
    """The main figure in words, with its interval."""
    if "accuracy" not in facts:
        one = _estimate(facts["r2"])
        explains = "unknown" if math.isnan(one.value) else f"{100 * max(one.value, 0.0):.0f} of 100 parts"
        between = f"{100 * max(one.low, 0.0):.0f} to {100 * max(one.high, 0.0):.0f}"
        return f"explains {explains} of how the label varies (R2, in 95 of 100 cases {between})"
    one = _estimate(facts["accuracy"])
    if math.isnan(one.value):
        return "unknown: the noise hides how often it is right"
    return f"right in {100 * one.value:.0f} of 100 cases ({100 * one.low:.0f} to {100 * one.high:.0f})"


def _estimate(facts: Mapping[str, Any]) -> Estimate:
    return Estimate(*(math.nan if facts[name] is None else float(facts[name]) for name in ("value", "low", "high")))


def _words(facts: Mapping[str, Any], *, share: bool) -> str:
    one = _estimate(facts)
    if math.isnan(one.value):
        return "unknown"
    if share:
        return f"{100 * one.value:.0f} % ({100 * one.low:.0f} to {100 * one.high:.0f})"
    return f"{number_words(one.value, 3)} ({number_words(one.low, 3)} to {number_words(one.high, 3)})"
