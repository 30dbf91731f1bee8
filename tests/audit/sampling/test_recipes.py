"""Sampled audits of privet's own releases, with real noise, and what a fault in the kernel looks like to them."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import privet
from privet.audit import sample, sample_recipe, tiny_schema
from privet.audit.sampling.fits import Fitter
from privet.audit.sampling.recipes import RecipeFit, others, recipe_pairs, sampled_recipe
from privet.privacy import mechanisms
from privet.privacy.budget import float_up
from privet.recipes.registry import recipe_classes

PAIRS = {pair.name: pair for pair in recipe_pairs()}
KINDS = recipe_classes() | recipe_classes("numbers")
VARIANTS = [(name, variant) for name, kind in KINDS.items() for variant in kind.info.variants]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_every_recipe_can_be_audited(name: str, variant: str) -> None:
    """The audit sees a model's predictions, its trees and its certificate, and other processes can make it."""
    make = RecipeFit(sampled_recipe(name, variant=variant), Fraction(1))
    pair = next(pair for pair in recipe_pairs(predicts=KINDS[name].predicts) if pair.name == "margin 4 to 5")
    tokens = Fitter(pickle.loads(pickle.dumps(make)), function=True)(pair.ours)
    assert not any(token.startswith("raises") for token in tokens.names), tokens.names
    assert "scores[0]" in tokens.names
    assert len(tokens.names) > 50


def test_everything_else_that_is_released() -> None:
    found = dict(others(Fraction(1)))
    assert {"private score", "private search", "publishing by diffgen", "publishing by dpcube"} <= found.keys()
    for name, make in found.items():
        tokens = Fitter(make, function=True)(PAIRS["margin 4 to 5"].ours)
        assert not any(token.startswith("raises") for token in tokens.names), (name, tokens.names)


def test_a_sound_recipe_is_not_refuted() -> None:
    found = sample_recipe("sulq", 1, alpha=1e-6, max_fits=120, search=False, pairs=[PAIRS["margin 4 to 5"]])
    assert found.verdict == "not refuted"
    assert found.name == "sulq (sound)"


@dataclass(frozen=True)
class Counts:
    """Class counts: the real kernel, and fast."""

    def __call__(self, X: Any, y: Any) -> Any:
        return privet.protect(dict(X) | {"class": y}, tiny_schema(), privet.Ledger(1)).class_counts(1)


def test_too_little_noise_in_the_kernel_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = [PAIRS["margin 4 to 5"]]
    assert sample(Counts(), pair, 1, alpha=1e-6, max_fits=400, function=True, search=False).verdict == "not refuted"
    monkeypatch.setattr(mechanisms, "float_up", lambda value: 0.25 * float_up(value))
    assert sample(Counts(), pair, 1, max_fits=1_100, function=True, search=False).verdict == "violated"
