"""The page of an evaluation: accuracy against epsilon, with spread, beside levels that need no epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from privet.bidi import isolated
from privet.evaluation.cross_validation import MAJORITY
from privet.evaluation.outcome import WARNING, Evaluation, Score, efficient
from privet.evaluation.private_evaluation import Evaluated
from privet.models.intervals import Estimate
from privet.privacy.certificate import Certificate
from privet.report.chart import Limit, Series, accuracy_chart
from privet.report.context import certificate_context
from privet.report.page import render
from privet.schema import Schema
from privet.schema.fingerprint import digest

FLOOR = "commonest class"
Placed = tuple[str, float, Estimate]
"""A method's name, its epsilon, and its accuracy there."""
MEASURES = {
    "balanced accuracy": attrgetter("balanced_accuracy_mean"),
    "AUC": attrgetter("auc_mean"),
    "log-loss": attrgetter("log_loss_mean"),
}


def evaluation_page(result: Evaluation, schema: Schema) -> str:
    """The page of a cross-validation, with a warning that it is not private."""
    scores = (*result.results, *result.references)
    sized = any(score.records is not None for score in result.results)
    best = [*result.efficient, *(False for _ in result.references)]
    points = [(_sized(score, sized), score.epsilon or 0.0, _spread(score)) for score in result.results]
    frontier = [
        ("best" + _of(score.records, sized), score.epsilon or 0.0, _spread(score))
        for score, unbeaten in zip(result.results, result.efficient, strict=True)
        if unbeaten
    ]
    columns = [title for title, mean in MEASURES.items() if any(mean(score) is not None for score in scores)]
    rows = [
        (
            _name(score),
            "none" if score.epsilon is None else f"{score.epsilon:g}",
            *(("all" if score.records is None else f"{score.records:,}",) if sized else ()),
            f"{100 * score.accuracy_mean:.1f} % ± {100 * score.accuracy_std:.1f}",
            *(_mean(MEASURES[title](score)) for title in columns),
            *(() if result.f_beta is None else (_mean(score.f_beta_mean),)),
            "yes" if unbeaten else "-" if score.epsilon is None else "no",
        )
        for score, unbeaten in zip(scores, best, strict=True)
    ]
    folds = scores[0]
    how = f"{folds.folds} stratified folds" + (f", dealt {folds.repeats} times" if folds.repeats > 1 else "")
    return _page(
        schema,
        points,
        [_limit(score) for score in result.references],
        promise=WARNING,
        private=False,
        strength="warning",
        how=f"Each method was fitted and tried on {how}. Bars and ± are one standard deviation over the folds.",
        head=(
            "method",
            "epsilon",
            *(("records",) if sized else ()),
            "accuracy",
            *columns,
            *(() if result.f_beta is None else (isolated(result.f_beta),)),
            "unbeaten",
        ),
        rows=rows,
        frontier=frontier,
        spending=(),
    )


def private_evaluation_page(results: Sequence[Evaluated], certificate: Certificate, schema: Schema) -> str:
    """The page of a private evaluation, which may be published."""
    points = [(_variant(r.recipe, r.variant), float(r.epsilon), r.score.accuracy) for r in results]
    best = efficient([(reached.value, epsilon, None) for _, epsilon, reached in points])
    rows = [
        (
            _variant(result.recipe, result.variant),
            f"{float(result.epsilon):g}",
            _interval(result.score.accuracy),
            _interval(result.score.balanced_accuracy),
            "-" if result.score.auc is None else _interval(result.score.auc),
            f"{float(result.score.epsilon):g}",
            "yes" if unbeaten else "no",
        )
        for result, unbeaten in zip(results, best, strict=True)
    ]
    how = (
        "Each method was fitted on about three quarters of the records, dealt by coins, and scored on the others with "
    )
    how += "noise. Bars are intervals of 95 %, for the noise and for which records there are."
    head = ("method", "epsilon", "accuracy", "balanced accuracy", "AUC", "epsilon of the score", "unbeaten")
    frontier = [("best", epsilon, reached) for (_, epsilon, reached), one in zip(points, best, strict=True) if one]
    facts = {"how": how, "head": head, "rows": rows, **certificate_context(certificate)}
    return _page(schema, points, _commonest(results), frontier, **facts)


def _page(
    schema: Schema,
    points: Iterable[Placed],
    limits: Sequence[Limit],
    frontier: Iterable[Placed] = (),
    **context: Any,
) -> str:
    methods = _series(points)
    series = [*methods, *(_series(frontier, dashed=True) if len(methods) > 1 else [])]
    title = f"{isolated(schema.title or schema.name or 'A table')}: accuracy against epsilon"
    return render(
        "evaluation.html",
        title=title,
        chart=accuracy_chart(series, limits, f"{title}; the numbers follow"),
        floor=any(limit.floor for limit in limits),
        limits=any(not limit.floor for limit in limits),
        facts=[("schema", f"{isolated(schema.name or 'without a name')}, fingerprint {digest(schema)}")],
        **context,
    )


def _series(points: Iterable[Placed], *, dashed: bool = False) -> list[Series]:
    found: dict[str, list[tuple[float, Estimate]]] = {}
    for name, epsilon, estimate in points:
        found.setdefault(name, []).append((epsilon, estimate))
    return [Series(name, tuple(sorted(reached, key=lambda one: one[0])), dashed) for name, reached in found.items()]


def _sized(score: Score, sized: bool) -> str:
    return _name(score) + _of(score.records, sized)


def _of(records: int | None, sized: bool) -> str:
    return "" if not sized else ", all records" if records is None else f", {records:,} records"


def _name(score: Score) -> str:
    if score.epsilon is None:
        return FLOOR if score.recipe == MAJORITY else score.recipe
    return _variant(score.recipe, score.variant)


def _limit(score: Score) -> Limit:
    return Limit(_name(score), score.accuracy_mean, floor=score.recipe == MAJORITY)


def _variant(recipe: str, variant: str) -> str:
    return recipe if variant == "sound" else f"{recipe} ({variant})"


def _spread(score: Score) -> Estimate:
    mean, off = score.accuracy_mean, score.accuracy_std
    return Estimate(mean, mean - off, mean + off).within(0.0, 1.0)


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _commonest(results: Sequence[Evaluated]) -> list[Limit]:
    """The share of the most frequent class, from the noisy counts of all scores together."""
    counts = np.sum([result.score.confusion.sum(axis=1) for result in results], axis=0).clip(min=0)
    return [Limit(FLOOR, float(counts.max() / counts.sum()), floor=True)] if counts.sum() else []


def _interval(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"
