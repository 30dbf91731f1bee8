"""The exact audit of a perturbed fit: the real calibration keeps its promise, and every planted fault is caught."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from fit_release import audit_release

from privet.audit import exact, fits, zoo
from privet.audit.fit_cases import Case, cases, number_cases
from privet.audit.fits import audit_law, log_density
from privet.growing.additive import fitting as additive
from privet.growing.additive.bases import Basis, hats
from privet.privacy.budget import float_up
from privet.privacy.dataset import PrivateDataset
from privet.privacy.fits import calibration as calibrating
from privet.privacy.fits import perturbed_fit
from privet.privacy.fits.calibration import RELEASE_SHARE, Calibration, FitLayout, calibrate
from privet.privacy.fits.smoothness import Ridge
from privet.privacy.losses import Loss
from privet.recipes.ours.additive import AdditiveModel
from privet.schema import Numeric
from privet.testing import check_recipe

DELTA = Fraction(1, 1000)
Fault = Callable[[Calibration], Calibration]


def gaussian(shape: FitLayout, loss: Loss) -> Calibration:
    """Gaussian noise also where Laplace noise is less, as it is on tables this small."""
    found = calibrating._least(shape, "gaussian", loss)
    assert found is not None
    return found


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(2)])
def test_the_real_calibration_is_valid_and_tight(epsilon: Fraction) -> None:
    found = audit_law(Loss(epsilon))
    assert found.keeps(Loss(epsilon))
    assert found.loss >= 0.999 * float(epsilon)


def test_so_does_gaussian_noise() -> None:
    claimed = Loss(Fraction(1, 2), DELTA)
    found = audit_law(claimed, gaussian)
    assert found.keeps(claimed)
    assert found.delta >= 0.7 * float(DELTA)


def smaller_scale(found: Calibration) -> Calibration:
    return replace(found, scales=tuple(0.8 * scale for scale in found.scales))


def smaller_ridge(found: Calibration) -> Calibration:
    """sum 1 / lambda = 3.3 sum 1 / s, where it should be at most 1. The release is covered anew: the solution is less
    certain with smaller ridges, and too little cover would be another fault."""
    much = 3.3 * sum(1 / s for s in found.scales) / sum(1 / r for r in found.ridges)
    small = replace(found, ridges=tuple(ridge / much for ridge in found.ridges))
    return replace(small, release_scale=float_up(small.reach / (found.epsilon * RELEASE_SHARE)))


def no_cover(found: Calibration) -> Calibration:
    return replace(found, release_scale=1e-9)


@pytest.mark.parametrize("fault", [smaller_scale, smaller_ridge, no_cover])
def test_planted_faults_are_caught(fault: Fault) -> None:
    claimed = Loss(1)
    found = audit_law(claimed, lambda shape, loss: fault(calibrate(shape, loss)))
    assert not found.keeps(claimed)
    assert found.loss > 1.05


def plant(monkeypatch: pytest.MonkeyPatch, *faults: tuple[str, str]) -> None:
    """Change the source of ``Calibration.spent``; whatever is calibrated after that is calibrated by it."""
    source = textwrap.dedent(inspect.getsource(calibrating.Calibration.spent))
    for right, wrong in faults:
        assert source.count(right) == 1, f"{right!r} is no longer there: plant the fault where it now belongs"
        source = source.replace(right, wrong)
    made: dict[str, Any] = {}
    exec(source, vars(calibrating), made)
    monkeypatch.setattr(calibrating.Calibration, "spent", made["spent"])


NO_BEND = ("bend = Fraction(k - 2, k - 1) * tilt", "bend = 0 * tilt")
NO_CONDITION = (" if most <= main else UNLIMITED", "")


def test_without_what_the_determinant_costs_of_more_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, NO_BEND)
    found = audit_law(Loss(1))
    assert not found.keeps(Loss(1))
    assert found.loss > 1.2
    result = exact(AdditiveModel(), [], 1)
    assert result.verdict == "violated"
    assert result.pair.startswith("10 classes, offset -30")


@pytest.mark.parametrize(("smaller", "loss"), [(1.47, 1.0002), (2.7, 1.06)])
def test_without_the_condition_on_the_determinant(smaller: float, loss: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ridges that the condition rules out, by 4 % and by half: without offset or chain the law keeps its promise."""
    plant(monkeypatch, NO_CONDITION)
    real = calibrating._ridges
    monkeypatch.setattr(calibrating, "_ridges", lambda *args: tuple(ridge / smaller for ridge in real(*args)))
    found = audit_law(Loss(1))
    assert not found.keeps(Loss(1))
    assert found.loss > loss
    assert "offset" in found.case or "chained" in found.case


def test_a_chain_whose_variance_is_not_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the penalty of a chain as a textbook has it, 1 / (1 - 1/4) times too small: q is more than spent."""
    real, much = Ridge.of, 1.4 * 4 / 3  # ridges are as small as the condition allows, and then the variance is 4 / 3
    monkeypatch.setattr(fits, "Ridge", Slack := type("Slack", (Ridge,), {}))
    monkeypatch.setattr(Slack, "of", lambda sizes, chains, ridges: real(sizes, chains, [r / much for r in ridges]))
    chained = [case for case in cases() if case.chained]
    monkeypatch.setattr(fits, "cases", lambda: chained)
    found = audit_law(Loss(1))
    assert not found.keeps(Loss(1))
    assert found.loss > 1.005


def test_a_cap_that_one_class_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the loss of the second class is multiplied by e^margin, so that its residual is the log-loss's own."""
    wanted = [case for case in cases() if case.margin and case.name.startswith("one cell")]
    monkeypatch.setattr(fits, "cases", lambda: wanted)
    assert audit_law(Loss(1)).keeps(Loss(1))
    uncapped = lambda case, n: real(case, n) * np.where(case.labels(n) == 1, np.exp(case.margin), 1)  # noqa: E731
    real = Case.times
    monkeypatch.setattr(Case, "times", uncapped)
    assert audit_law(Loss(1)).loss > 2


def test_a_broken_law_is_a_violation_under_replace_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is given half of epsilon there: what one row loses is compared with that."""
    plant(monkeypatch, NO_BEND)
    result = exact(AdditiveModel(), [], 1, neighbours="replace-one")
    assert result.lower_bound < 1
    assert result.verdict == "violated"


def test_a_smaller_gaussian_scale_is_caught() -> None:
    claimed = Loss(Fraction(1, 2), DELTA)
    assert not audit_law(claimed, lambda shape, loss: smaller_scale(gaussian(shape, loss))).keeps(claimed)


def test_the_densities_are_densities() -> None:
    """They integrate to one: the change of variables, determinant included, is right."""
    for case in (case for case in cases() if case.crowd == 1):  # a crowd makes peaks that the grid is too coarse for
        for law in (calibrate, gaussian):
            found = law(case.shape, Loss(1, DELTA))
            if case.classes == 2 or (
                found.law == "gaussian" and case.classes == 3
            ):  # else no normaliser, or lines only
                assert log_density(case, found, len(case.records)).mass == pytest.approx(1, abs=6e-3)


solved = [case for case in (*cases(), *number_cases()) if case.classes == 2]  # or a number


@pytest.mark.parametrize("number", range(0, len(solved), 5))
def test_the_real_solver_is_within_reach_and_covered(number: int) -> None:
    found = audit_release(solved[number], Loss(1), number)
    assert found.kept
    assert found.loss <= 0.01


def test_a_solver_that_stops_early_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = perturbed_fit.solve
    monkeypatch.setattr(perturbed_fit, "solve", lambda objective, gradient: real(objective, 0.3))
    assert not all(audit_release(case, Loss(1), i).kept for i, case in enumerate(solved))


def test_a_release_without_cover_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Bare:
        source: Any

        def __getattr__(self, name: str) -> Any:
            return getattr(self.source, name)

        def covering(self, values: Any, scale: float) -> Any:
            return values

    real = perturbed_fit.current_source
    monkeypatch.setattr(perturbed_fit, "current_source", lambda: Bare(real()))
    assert audit_release(solved[0], Loss(1)).loss == np.inf


# ---- around the fit -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_recipe_keeps_its_claim(relation: str) -> None:
    pairs = zoo(relation=relation, thresholds=(20,), of_a_class=(1,))[::6]
    result = exact(AdditiveModel(), pairs, 1, neighbours=relation, transcripts=2)
    assert result.verdict == "holds"
    assert result.lower_bound > 0.2


@pytest.mark.slow
def test_the_recipe_meets_the_whole_zoo() -> None:
    results = check_recipe(AdditiveModel(), epsilons=[1], transcripts=2, thresholds=(20,), of_a_class=(1,))
    assert all(result.verdict == "holds" for result in results)


@dataclass(frozen=True)
class KnotsFromTheData(AdditiveModel):
    """Puts a knot where the records are, without paying for it."""

    def grow(self, data: PrivateDataset, epsilon: Fraction, random: Any, progress: Any = None) -> Any:
        def main_basis(schema: Any, a: int, *_: Any) -> Any:
            attribute = schema.attributes[a]
            if not isinstance(attribute, Numeric):
                return real(schema, a)
            codes = data._engine._features[a]  # type: ignore[attr-defined]
            middle = float(np.median(codes)) if codes.size else 0.0
            inner = attribute.low + (attribute.high - attribute.low) * (middle + 1) / (attribute.arity + 2)
            knots = np.array([attribute.low, inner, attribute.high])
            return Basis(hats(a, attribute, knots), (tuple(knots.tolist()),))

        real = additive.main_basis
        additive.main_basis = main_basis  # type: ignore[assignment]
        try:
            return super().grow(data, epsilon, random, progress)
        finally:
            additive.main_basis = real


def test_knots_read_off_the_data_are_caught() -> None:
    result = exact(KnotsFromTheData(), claimed=1, transcripts=3)
    assert result.verdict == "violated"


def test_a_case_describes_itself() -> None:
    case = Case("hat", 2, (((1.0, 0.0), (0.25, 0.75)),), (((1,), 1),))
    assert case.features(1).tolist() == [[0.25, 0.75]]
    assert case.shape.sizes == (2,)
