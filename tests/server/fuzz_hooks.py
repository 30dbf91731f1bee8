"""Hooks of schemathesis: in half of the requests, what exists, so that they get past the first refusal."""

from __future__ import annotations

import json
import os
import random
import uuid
from typing import Any

import schemathesis

DICE = random.Random(7)  # of its own: schemathesis sets the common one back for every request
ASKING = [f"/v1/datasets/{{d}}/{name}" for name in ("answers", "price", "trial")]
REPLACED = ("idempotency-key", "prefer")
NAMES: dict[str, str] = json.loads(os.environ["PRIVET_FUZZ_NAMES"])


def half() -> bool:
    return DICE.random() < 0.5


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Names that exist, a new key of a question, and questions that can be answered but for one part."""
    simulates = case.operation.path.endswith("/forecast")  # for seconds
    if case.path_parameters and not simulates and half():
        case.path_parameters = {name: NAMES.get(name, value) for name, value in case.path_parameters.items()}
    if case.operation.path.endswith("/answers") and half():
        given = {name: value for name, value in (case.headers or {}).items() if name.lower() not in REPLACED}
        case.headers = given | {"Idempotency-Key": str(uuid.uuid4()), "Prefer": "wait=0"}
    if case.operation.path in ASKING and half():
        fine = {"ask": "count", "epsilon": DICE.choice([0.1, "1/100", 1, "2e-3"])}
        parts = sorted(case.body.items()) if isinstance(case.body, dict) else []
        case.body = fine | (dict(DICE.sample(parts, 1)) if parts and half() else {})
