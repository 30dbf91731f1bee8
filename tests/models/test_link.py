"""The link of a margin: probabilities at which its loss has its minimum, an inverse, and effects that add up."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.models.link import Link

MARGINS = (0.0, 0.3, 1.4, 3.0, 8.0)


def rows(classes: int, seed: int = 0) -> np.ndarray:
    """Probabilities from even to very uneven."""
    random = np.random.default_rng(seed)
    weights = np.exp(random.normal(size=(200, classes)) * np.linspace(0.1, 6, 200)[:, None])
    return weights / weights.sum(axis=1, keepdims=True)


def population_gradient(p: np.ndarray, scores: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """The gradient of the mean loss with (class,) margins, by its definition, record by class."""
    full = np.concatenate([np.zeros_like(scores), scores], axis=1) if scores.shape[1] == 1 else scores
    total = np.zeros_like(full)
    for y in range(p.shape[1]):
        less = full - margins[y] * np.eye(p.shape[1])[y]
        said = np.exp(less - less.max(axis=1, keepdims=True))
        total += p[:, y : y + 1] * (said / said.sum(axis=1, keepdims=True) - np.eye(p.shape[1])[y])
    return total


@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("margin", MARGINS)
def test_the_loss_has_its_minimum_at_the_link(classes: int, margin: float) -> None:
    p = rows(classes)
    scores = Link(margin).scores(p)
    assert np.abs(population_gradient(p, scores, np.full(classes, margin))).max() < 1e-9
    assert Link(margin).probabilities(scores) == pytest.approx(p, abs=1e-9)
    if margin:
        # Planted: a link that is not inverted, and a margin that one class lacks.
        assert np.abs(population_gradient(p, Link().scores(p), np.full(classes, margin))).max() > 0.01
        lacking = np.where(np.arange(classes) == 0, 0.0, margin)
        assert np.abs(population_gradient(p, scores, lacking)).max() > 0.01


@pytest.mark.parametrize("classes", [2, 5])
def test_the_order_of_classes_stays(classes: int) -> None:
    scores = np.random.default_rng(1).normal(size=(100, classes)) * 5
    said = Link(2.0).probabilities(scores[:, 1:] - scores[:, :1] if classes == 2 else scores)
    assert (np.argsort(said, axis=1) == np.argsort(scores, axis=1)).all()


@pytest.mark.parametrize("columns", [1, 4])
@pytest.mark.parametrize("margin", MARGINS)
def test_shared_effects_add_up(columns: int, margin: float) -> None:
    link, random = Link(margin), np.random.default_rng(columns)
    offset, added = random.normal(size=columns), [random.normal(size=columns) * 3 for _ in range(4)]
    offset, added = (offset, added) if columns == 1 else (offset - offset.mean(), [a - a.mean() for a in added])
    total = link.log_odds(offset[None])[0] + np.sum(link.shared(offset, added), axis=0)
    assert total == pytest.approx(link.log_odds((offset + np.sum(added, axis=0))[None])[0], abs=1e-7)
    assert link.shared(offset, []) == []
    alone = link.shared(offset, added[:1])[0]
    assert alone == pytest.approx(link.effects(offset, added[0][None])[0], abs=1e-7)


@pytest.mark.parametrize("margin", MARGINS)
def test_the_slope_is_the_derivative_and_at_most_one(margin: float) -> None:
    link, scores, step = Link(margin), np.linspace(-20, 20, 81)[:, None], 1e-6
    found = (link.log_odds(scores + step) - link.log_odds(scores - step)) / (2 * step)
    assert link.slope(scores) == pytest.approx(found, abs=1e-5)
    assert (link.slope(scores) <= 1 + 1e-12).all()


@pytest.mark.parametrize("margin", [-1.0, float("nan"), 1e3])
def test_no_margin_at_all_is_refused(margin: float) -> None:
    with pytest.raises(ParameterError, match="margin"):
        Link(margin)
