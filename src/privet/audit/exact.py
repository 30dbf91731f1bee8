"""``exact``: the largest log-ratio that a recipe attains over neighbouring tables, against what it claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privet.audit.explorer import Transcript, explore
from privet.audit.zoo import Pair, zoo
from privet.encoding import encode
from privet.engines.memory import MemoryEngine
from privet.errors import PrivetError, RecipeError
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.recipes import recipe_classes
from privet.recipes.recipe import Recipe
from privet.schema import Schema
from privet.trees.forest import Forest
from privet.trees.tree import Tree

TOLERANCE = 1e-9  # of a log-ratio computed in doubles

Learner = Callable[[PrivateDataset, Fraction], Tree | Forest]


@dataclass(frozen=True)
class AuditResult:
    """What an audit found. ``lower_bound`` is a loss that was attained, by ``pair`` through ``transcript``."""

    recipe: str
    variant: str
    claimed: float
    lower_bound: float
    neighbours: str
    pair: str
    transcript: Transcript | None
    transcripts: int
    lumped: float = 0.0
    method: str = "paired transcripts"

    @property
    def verdict(self) -> str:
        return "holds" if self.lower_bound <= self.claimed + TOLERANCE else "violated"

    def to_dict(self) -> dict[str, Any]:
        infinite = math.isinf(self.lower_bound)
        return {
            "recipe": self.recipe,
            "variant": self.variant,
            "claimed": self.claimed,
            "lower_bound": "infinity" if infinite else self.lower_bound,
            "method": self.method,
            "verdict": self.verdict,
            "neighbours": self.neighbours,
            "pair": self.pair,
            "transcripts": self.transcripts,
            "lumped": self.lumped,
        }


def exact(
    recipe: str | Recipe | Any,
    pairs: Iterable[Pair] | None = None,
    claimed: object = 1,
    *,
    neighbours: str = "add-remove",
    limit: int = 100,
) -> AuditResult:
    """Audit a recipe (by name, as a value, or the estimator that wears it) at a claimed epsilon.

    Both tables of every pair are driven through the same draws of the real fit; the largest log-ratio of their
    probabilities is a loss that is really attained. A fit whose released model, number of draws or errors differ under
    the same draws leaks around the noise, and its loss is infinite.
    """
    chosen = _as_recipe(recipe)
    result = audit_learner(
        lambda data, epsilon: chosen.grow_model(data, epsilon, np.random.default_rng(0)),
        zoo(relation=neighbours) if pairs is None else pairs,
        claimed,
        prepare=chosen.prepare,
        neighbours=neighbours,
        limit=limit,
        allow_nonprivate=chosen.variant in chosen.unsound,
    )
    return AuditResult(**{**vars(result), "recipe": chosen.info.name, "variant": chosen.variant})


def audit_learner(
    learner: Learner,
    pairs: Iterable[Pair],
    claimed: object,
    *,
    prepare: Callable[[Schema], Schema] = lambda schema: schema,
    neighbours: str = "add-remove",
    limit: int = 100,
    allow_nonprivate: bool = False,
) -> AuditResult:
    """Audit anything that makes a tree or forest from private data within an epsilon."""
    epsilon = parse_epsilon(claimed, "claimed")

    def fit(schema: Schema, columns: dict[str, list[Any]]) -> Callable[[], Hashable]:
        engine = MemoryEngine(schema, encode(schema, columns))

        def run() -> Hashable:
            ledger = Ledger(epsilon, neighbours=neighbours)
            if allow_nonprivate:
                ledger.allow_nonprivate()
            return canonical(learner(PrivateDataset(engine, ledger), epsilon))

        return run

    worst, where, via, total = 0.0, "", None, 0
    for pair in pairs:
        schema = prepare(pair.schema)
        ours, theirs = (fit(schema, pair.columns(records)) for records in (pair.table, pair.neighbour))
        for transcript in explore(ours, theirs, extra=pair.extra, limit=limit):
            total += 1
            if transcript.log_ratio > worst:
                worst, where, via = transcript.log_ratio, pair.name, transcript
        if math.isinf(worst):
            break
    return AuditResult("", "", float(epsilon), worst, neighbours, where, via, total)


def canonical(model: Tree | Forest) -> Hashable:
    """A model as a value that two equal models share."""
    if isinstance(model, Forest):
        return tuple(canonical(tree) for tree in model.trees)
    columns = (model.attribute, model.kind, model.cut, model.first_child, model.label)
    return (*(tuple(column.tolist()) for column in columns), model.proba.tobytes(), model.counts.tobytes())


def _as_recipe(recipe: Any) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str):
        classes = recipe_classes()
        if recipe not in classes:
            raise RecipeError(f"unknown recipe {recipe!r}; choose one of {', '.join(classes)}")
        # Deep enough for every kind of question to be asked, shallow enough to walk.
        small: dict[str, Any] = {"max_depth": 2} if "max_depth" in classes[recipe].__dataclass_fields__ else {}
        return classes[recipe](**small)
    try:
        made = recipe.recipe()
    except AttributeError:
        raise PrivetError(f"cannot audit {type(recipe).__name__}; give a recipe or a privet classifier") from None
    return made
