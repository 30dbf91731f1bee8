"""Questions by value of every kind, and their exact answers from any source."""

from __future__ import annotations

from typing import Any

import privet
from privet.datasets.clinic import clinic
from privet.testing import ZeroNoise, use_noise

SCHEMA, TABLE = clinic(300, seed=5)
QUESTIONS = (
    "count where temperature > 38.2",
    "count where temperature > 38.2 and cough = true by weight",
    "class counts where blood_pressure in (Low, High)",
    "average of temperature where temperature <= 39 by cough",
    "sum of temperature",
    "histogram of blood_pressure by class",
    "quantiles 0.25, 0.5 of temperature",
    "most frequent weight where cough = false",
)


def answers(source: Any) -> list[Any]:
    data = privet.protect(source, SCHEMA, privet.Ledger(100))
    with use_noise(ZeroNoise()):
        return [data.ask(question, 1).to_dict() for question in QUESTIONS]
