"""How many threads a classifier may use; what it finds does not depend on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from privet import ExactTreeClassifier, ParameterError
from privet.datasets.clinic import clinic
from privet.fitting import Fit
from privet.models.render import export_text
from privet.structure import compiled
from privet.testing import SeededNoise, use_noise

SCHEMA, TABLE = clinic(1500)


def test_the_model_is_the_same_for_any_number_of_threads() -> None:
    models = []
    for jobs in (1, 4, None):
        with use_noise(SeededNoise(0)):
            models.append(ExactTreeClassifier(SCHEMA, 0.1, 3, n_jobs=jobs).fit(TABLE))
    assert len({export_text(model.tree_) for model in models}) == 1
    chances = [
        model.set_params(n_jobs=jobs).predict_proba(TABLE) for model, jobs in zip(models, (4, 1, -1), strict=True)
    ]
    assert np.array_equal(chances[0], chances[1])
    assert np.array_equal(chances[0], chances[2])


@pytest.mark.parametrize(("jobs", "threads"), [(None, 6), (-1, 6), (-2, 5), (-9, 1), (1, 1), (3, 3), (np.int64(2), 2)])
def test_how_many(jobs: Any, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    grow = Fit.grow
    monkeypatch.setattr(Fit, "grow", lambda *a, **k: (seen.append(compiled.thread_count()), grow(*a, **k))[1])
    with compiled.threads(6):
        ExactTreeClassifier(SCHEMA, 1, 1, n_jobs=jobs).fit(TABLE)
        assert compiled.thread_count() == 6
    assert seen == [threads]


@pytest.mark.parametrize("jobs", [0, True, 1.5, "all"])
def test_invalid_numbers_of_threads(jobs: Any) -> None:
    with pytest.raises(ParameterError, match="n_jobs must be None or a whole number"):
        ExactTreeClassifier(SCHEMA, 1, 1, n_jobs=jobs).fit(TABLE)
