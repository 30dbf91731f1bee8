"""``check_recipe``: the tests that every recipe must pass, like scikit-learn's ``check_estimator``."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from privet.audit.exact import AuditResult, as_recipe, exact, one_thread
from privet.audit.released import canonical
from privet.audit.zoo import OF_A_CLASS, THRESHOLDS, Pair, zoo
from privet.errors import ParameterError
from privet.fitting import Request, fit
from privet.models.model import Model
from privet.privacy.budget import Neighbours
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.ledger import Ledger
from privet.privacy.noise import NoiseSource
from privet.recipes.recipe import Recipe
from privet.schema import Schema
from privet.testing.noise import SeededNoise, use_noise

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))
CROWD = 10**6  # more than any count of the zoo, and than any rule that stops at too few records


class _Fitted(NamedTuple):
    model: Model
    ledger: Ledger


class _Crowded(SeededNoise):
    """A noise source with large counts, so that no rule stops a path before its depth."""

    def laplace(self, values: Any, scale: float) -> Any:
        return super().laplace(values, scale) + CROWD

    def gaussian(self, values: Any, scale: float) -> Any:
        return super().gaussian(values, scale) + CROWD


def check_recipe(
    recipe: str | Recipe | Any,
    *,
    epsilons: Iterable[object] = EPSILONS,
    schema: Schema | None = None,
    thresholds: tuple[int, ...] = THRESHOLDS,
    of_a_class: tuple[int, ...] = OF_A_CLASS,
    spends_all: bool = True,
    transcripts: int = 8,
    complete: int = 100,
) -> list[AuditResult]:
    """Check a recipe; raises ``AssertionError`` where it fails, and returns the audits.

    Over the zoo and both neighbour relations: no table makes it fail, it never spends more than its epsilon and (where
    no rule stops it; ``spends_all``) all of it, the same seeds give the same model, a model survives its file, and the
    exact audit at each of ``epsilons`` stays within the claim (the first, under add/remove, over the whole zoo, the
    others over pairs where a loss can be large). ``thresholds`` are numbers of records at which the recipe decides
    anything, ``of_a_class`` numbers of records of one class.

    >>> from privet.testing import check_recipe
    >>> [result.verdict for result in check_recipe("sulq", epsilons=[1], transcripts=2)]
    ['holds', 'holds']
    """
    chosen = as_recipe(recipe)
    if chosen.variant in chosen.unsound:
        raise ParameterError(f"{chosen.info.name} as {chosen.variant} promises nothing that could be checked")
    name = f"{chosen.info.name} ({chosen.variant})"
    results: list[AuditResult] = []
    for relation in Neighbours:
        whole = zoo(schema, relation=relation.value, thresholds=thresholds, of_a_class=of_a_class)
        for epsilon in (parse_epsilon(value) for value in epsilons):
            # A leak past the noise shows at any epsilon, and under add/remove; only losses depend on them.
            pairs = [pair for pair in whole if not results or pair.ways is None]
            with one_thread():
                _check_fits(chosen, pairs, epsilon, name, spends_all)
            result = exact(
                chosen, pairs, epsilon, neighbours=relation.value, transcripts=transcripts, complete=complete
            )
            assert result.verdict == "holds", (
                f"{name} claims epsilon {result.claimed:g} under {relation.value} and loses {result.lower_bound:g} on "
                f"{result.pair!r} ({result.reason or result.method}): {result.witness}"
            )
            results.append(result)
    return results


def _check_fits(recipe: Recipe, pairs: list[Pair], epsilon: Fraction, name: str, spends_all: bool) -> None:
    most = Fraction(0)
    for number, pair in enumerate(pairs):
        for noise in (SeededNoise(number), _Crowded(number)):
            fitted = _fit(recipe, pair, epsilon, noise, name)
            spent = fitted.ledger.spent
            charges = fitted.ledger.certificate().charges
            assert spent <= epsilon, f"{name} spent {spent} of {epsilon} on {pair.name!r}"
            assert spent == sum((charge.adds for charge in charges), Fraction(0)), f"{name}: charges do not add up"
            most = max(most, spent)
    assert not spends_all or most == epsilon, f"{name} spends at most {most} of {epsilon}; what is left buys nothing"
    pair = pairs[-1]
    model = _fit(recipe, pair, epsilon, SeededNoise(0), name).model
    again = _fit(recipe, pair, epsilon, SeededNoise(0), name).model
    assert canonical(model.trees) == canonical(again.trees), f"{name} gives two models under one seed"
    _check_text(model, name)


def _fit(recipe: Recipe, pair: Pair, epsilon: Fraction, noise: NoiseSource, name: str) -> _Fitted:
    ledger = Ledger(2 * epsilon, neighbours=pair.relation)
    try:
        table, random = pair.columns(pair.neighbour), np.random.default_rng(0)
        with use_noise(noise):
            return _Fitted(fit(Request(recipe, table, epsilon, pair.schema, ledger=ledger, random=random)), ledger)
    except Exception as error:
        raise AssertionError(f"{name} fails on {pair.name!r}: {type(error).__name__}: {error}") from error


def _check_text(model: Model, name: str) -> None:
    try:
        text = model.to_text()
        loaded = Model.from_text(text)
    except Exception as error:
        raise AssertionError(f"{name}: a model cannot be written and read: {error}") from error
    assert canonical(loaded.trees) == canonical(model.trees), f"{name}: a model changes when it is written"
    assert loaded.certificate == model.certificate, f"{name}: a certificate changes when it is written"
    assert loaded.to_text() == text, f"{name}: a model changes when it is written again"
