"""Sampled audits of privet itself: recipes, publishers, scores and searches, through the functions that users call.

Each is a small value that can be sent to other processes. Called with a table it makes one release, with real noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.audit.animals import record
from privet.audit.exact import SMALL, as_recipe
from privet.audit.sampling.pairs import TablePair, from_zoo
from privet.audit.sampling.result import SampleResult
from privet.audit.sampling.run import sample
from privet.audit.zoo import number_schema, tiny_schema, zoo
from privet.engines.opening import open_engine
from privet.fitting import Request, fit
from privet.models.model import Model
from privet.privacy.budget import Neighbours
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.publishing import Publisher, publish
from privet.recipes.recipe import Recipe
from privet.recipes.registry import recipe_class
from privet.tables.encoding import encode_features

# Deeper and more trees than a walk of all draws can take.
SAMPLED = SMALL | {"max_depth": 3, "n_estimators": 8, "public_trees": 4}


def sample_recipe(recipe: str | Recipe | Any, claimed: object = 1, **options: Any) -> SampleResult:
    """Audit a recipe (its name, a recipe, or an estimator of it) by many fits; ``options`` are those of ``sample``.

    >>> result = sample_recipe("sulq", 1, max_fits=200, search=False, pairs=recipe_pairs()[:2])
    >>> result.verdict
    'not refuted'
    """
    chosen = sampled_recipe(recipe)
    neighbours = Neighbours.parse(options.get("neighbours", "add-remove")).value
    epsilon = parse_epsilon(claimed, "claimed")
    given: dict[str, Any] = {
        "pairs": recipe_pairs(neighbours, chosen.predicts),
        "delta": float(chosen.loss(epsilon).delta),
        "name": f"{chosen.info.name} ({chosen.variant})",
    }
    make = RecipeFit(chosen, epsilon, neighbours)
    return sample(make, claimed=float(epsilon), function=True, **(given | options))


def sampled_recipe(recipe: str | Recipe | Any, **params: Any) -> Recipe:
    """A recipe, by its name with parameters that are too large for the exact auditor."""
    if not isinstance(recipe, str):
        return as_recipe(recipe)
    fields = recipe_class(recipe).__dataclass_fields__
    large = {k: v for k, v in SAMPLED.items() if k in fields and not (k == "n_estimators" and "max_trees" in fields)}
    return as_recipe(recipe, **(large | params))


def recipe_pairs(neighbours: str = "add-remove", predicts: str = "classes") -> list[TablePair]:
    """The pairs of the exact auditor's zoo where losses are large, for its small schema; or with numbers as labels."""
    schema = tiny_schema() if predicts == "classes" else number_schema()
    animals = (pair for pair in zoo(schema, relation=neighbours, of_a_class=()) if pair.ways is None)
    return [pair for pair in map(from_zoo, animals) if pair.relation == neighbours]


@dataclass(frozen=True)
class RecipeFit:
    """One fit of a recipe by the fit service: the model with its certificate, without its date."""

    recipe: Recipe
    epsilon: Fraction
    neighbours: str = "add-remove"

    def __call__(self, X: Any, y: Any) -> Mapping[str, Any]:
        schema = tiny_schema() if self.recipe.predicts == "classes" else number_schema()
        request = Request(self.recipe, X, self.epsilon, schema=schema, labels=y, neighbours=self.neighbours)
        return released(fit(request))


@dataclass(frozen=True)
class Publication:
    """One release of a publisher: the partition with its noisy counts."""

    publisher: Publisher
    epsilon: Fraction

    def __call__(self, X: Any, y: Any) -> Any:
        schema = self.publisher.prepare(tiny_schema())
        data = PrivateDataset(open_engine(X, schema, y), Ledger(self.epsilon))
        return {"tree": publish(self.publisher, data, self.epsilon).tree}


@dataclass(frozen=True)
class ScoreOf:
    """A private score of a public model."""

    model: Model
    epsilon: Fraction

    def __call__(self, X: Any, y: Any) -> Any:
        from privet.evaluation.private_score import private_score

        score = private_score(self.model, X, y, self.epsilon, held_out=True, bins=2)
        return {"counts": score.counts}


@dataclass(frozen=True)
class SearchOf:
    """A private search over two depths."""

    epsilon: Fraction

    def __call__(self, X: Any, y: Any) -> Any:
        from privet.estimators.faces import classifier_from
        from privet.evaluation.private_search import PrivateSearch

        face = classifier_from(recipe_class("diffpid3"))(tiny_schema())
        search = PrivateSearch(face, {"max_depth": [0, 1]}, self.epsilon, mean_runs=4).fit(X, y)
        return released(search.best_estimator_.model_) | {"score": search.best_score_, "setting": search.best_index_}


def released(model: Model) -> dict[str, Any]:
    """A model as tokens need it: what it says about public records first, then all its numbers."""
    scores = model.trees.predict_scores(encode_features(model.schema, probes()))
    return {"scores": scores, "trees": model.trees, "notes": model.notes, "certificate": model.certificate}


def probes() -> dict[str, list[Any]]:
    """Records with the first or last value of each attribute."""
    schema = tiny_schema()
    many = itertools.product((0, 1), repeat=len(schema.attributes))
    records = [record(schema, dict(enumerate(values))) for values in many]
    return {name: [one[i] for one in records] for i, name in enumerate(schema.names)}


def others(epsilon: Fraction) -> Iterator[tuple[str, Any]]:
    """What privet releases besides the models of recipes, by name."""
    for kind in Publisher.__subclasses__():
        if kind.__module__.startswith("privet."):
            yield f"publishing by {kind.name}", Publication(kind(), epsilon)
    public = fit(Request(as_recipe("diffpid3", max_depth=1), _public(), 1, schema=tiny_schema()))
    yield "private score", ScoreOf(public, epsilon)
    yield "private search", SearchOf(epsilon)


def _public() -> dict[str, list[Any]]:
    """An invented table for the public model that is scored."""
    schema = tiny_schema()
    rows = [record(schema, value, label=value) for value in (0, 1)] * 50
    return {name: [row[i] for row in rows] for i, name in enumerate(schema.columns)}
