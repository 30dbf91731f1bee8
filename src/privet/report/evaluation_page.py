"""The page of an evaluation: accuracy, or R2, against epsilon, with spread, beside levels that need no epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from privet.bidi import isolated
from privet.evaluation.cross_validation import MAJORITY, MEAN
from privet.evaluation.number_score import PrivateNumberScore
from privet.evaluation.outcome import WARNING, Evaluation, FoldScore, efficient
from privet.evaluation.private_evaluation import Evaluated
from privet.evaluation.private_result import PrivateScore
from privet.models.intervals import Estimate
from privet.privacy.certificate import Certificate
from privet.report.chart import Limit, Series, accuracy_chart
from privet.report.context import certificate_context
from privet.report.page import render
from privet.schema import Schema
from privet.schema.fingerprint import digest

FLOORS = {MAJORITY: "commonest class", MEAN: "mean"}
Placed = tuple[str, float, Estimate]
"""A method's name, its epsilon, and its accuracy or R2 there."""


def evaluation_page(result: Evaluation, schema: Schema) -> str:
    """The page of a cross-validation, with a warning that it is not private."""
    scores = (*result.results, *result.references)
    sized = any(score.records is not None for score in result.results)
    best = [*result.efficient, *(False for _ in result.references)]
    points = [(_sized(score, sized), score.epsilon or 0.0, _spread(score)) for score in result.results]
    unbeaten = [
        ("best" + _of(score.records, sized), score.epsilon or 0.0, _spread(score))
        for score, is_best in zip(result.results, result.efficient, strict=True)
        if is_best
    ]
    folds = scores[0]
    columns = [title for title in folds.others if any(score.others[title] is not None for score in scores)]
    rows = [
        (
            _name(score),
            "none" if score.epsilon is None else f"{score.epsilon:g}",
            *(("all" if score.records is None else f"{score.records:,}",) if sized else ()),
            f"{100 * score.mean:.1f} % ± {100 * score.std:.1f}"
            if score.percent
            else f"{score.mean:.3f} ± {score.std:.3f}",
            *(_mean(score.others[title]) for title in columns),
            *(() if result.f_beta is None else (_mean(score.f_beta_mean),)),
            "yes" if unbeaten else "-" if score.epsilon is None else "no",
        )
        for score, unbeaten in zip(scores, best, strict=True)
    ]
    kind = "folds" if schema.predicts_number else "stratified folds"
    how = f"{folds.folds} {kind}" + (f", repeated {folds.repeats} times" if folds.repeats > 1 else "")
    return _page(
        schema,
        points,
        [_limit(score) for score in result.references],
        promise=WARNING,
        private=False,
        strength="warning",
        how=f"Each method was fitted and tested on {how}. Bars and ± are one standard deviation over the folds.",
        head=(
            "method",
            "epsilon",
            *(("records",) if sized else ()),
            folds.measure,
            *columns,
            *(() if result.f_beta is None else (isolated(result.f_beta),)),
            "unbeaten",
        ),
        rows=rows,
        unbeaten=unbeaten,
        spending=(),
    )


def private_evaluation_page(results: Sequence[Evaluated], certificate: Certificate, schema: Schema) -> str:
    """The page of a private evaluation, which may be published."""
    points = [(_variant(r.recipe, r.variant), float(r.epsilon), _main(r)) for r in results]
    best = efficient([(reached.value, epsilon, None) for _, epsilon, reached in points])
    rows = [
        (
            _variant(result.recipe, result.variant),
            f"{float(result.epsilon):g}",
            *_cells(result),
            f"{float(result.score.epsilon):g}",
            "yes" if unbeaten else "no",
        )
        for result, unbeaten in zip(results, best, strict=True)
    ]
    how = (
        "Each method was fitted on about three quarters of the records, chosen by coins, and scored on the others with "
    )
    how += "noise. Bars are intervals of 95 %, noise and sampling included."
    head = ("method", "epsilon", *results[0].score.written, "epsilon of the score", "unbeaten")
    unbeaten = [("best", epsilon, reached) for (_, epsilon, reached), one in zip(points, best, strict=True) if one]
    facts = {"how": how, "head": head, "rows": rows, **certificate_context(certificate)}
    return _page(schema, points, _floor(results), unbeaten, **facts)


def _page(
    schema: Schema,
    points: Iterable[Placed],
    limits: Sequence[Limit],
    unbeaten: Iterable[Placed] = (),
    **context: Any,
) -> str:
    methods = _series(points)
    series = [*methods, *(_series(unbeaten, dashed=True) if len(methods) > 1 else [])]
    measure = "R2" if schema.predicts_number else "accuracy"
    title = f"{isolated(schema.title or schema.name or 'A table')}: {measure} against epsilon"
    return render(
        "evaluation.html",
        title=title,
        number=schema.predicts_number,
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


def _sized(score: FoldScore, sized: bool) -> str:
    return _name(score) + _of(score.records, sized)


def _of(records: int | None, sized: bool) -> str:
    return "" if not sized else ", all records" if records is None else f", {records:,} records"


def _name(score: FoldScore) -> str:
    if score.epsilon is None:
        return FLOORS.get(score.recipe, score.recipe)
    return _variant(score.recipe, score.variant)


def _limit(score: FoldScore) -> Limit:
    return Limit(_name(score), score.mean, floor=score.recipe in FLOORS)


def _variant(recipe: str, variant: str) -> str:
    return recipe if variant == "sound" else f"{recipe} ({variant})"


def _spread(score: FoldScore) -> Estimate:
    mean, off = score.mean, score.std
    return Estimate(mean, mean - off, mean + off).within(0.0, 1.0)


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _main(result: Evaluated) -> Estimate:
    return next(iter(result.score.measures.values()))  # accuracy, or R2


def _cells(result: Evaluated) -> list[str]:
    score = result.score
    if isinstance(score, PrivateScore):
        found = score.accuracy, score.balanced_accuracy, score.auc
        return ["-" if one is None else _interval(one) for one in found]
    return list(score.written.values())


def _floor(results: Sequence[Evaluated]) -> list[Limit]:
    """What a constant prediction reaches: R2 of 0, or the share of the commonest class."""
    if isinstance(results[0].score, PrivateNumberScore):
        return [Limit(FLOORS[MEAN], 0.0, floor=True)]
    return _commonest(results)


def _commonest(results: Sequence[Evaluated]) -> list[Limit]:
    """The share of the most frequent class, from the noisy counts of all scores together."""
    tables = [result.score.confusion.sum(axis=1) for result in results if isinstance(result.score, PrivateScore)]
    counts = np.sum(tables, axis=0).clip(min=0)
    return [Limit(FLOORS[MAJORITY], float(counts.max() / counts.sum()), floor=True)] if counts.sum() else []


def _interval(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"
