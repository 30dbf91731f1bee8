"""Public class weights of recipes: a dict of label to a number in [0, 1], never from a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from privet.errors import ParameterError
from privet.schema import Schema
from privet.tables.encoding import decode_labels


def as_pairs(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters in a form for JSON, whose keys are text; labels may be something else."""
    weights = params["class_weight"]
    return params | {"class_weight": weights and [[label, weight] for label, weight in weights.items()]}


def from_pairs(params: dict[str, Any]) -> dict[str, Any]:
    """The inverse of ``as_pairs``."""
    weights = params.get("class_weight")
    return params | {"class_weight": dict(weights)} if isinstance(weights, list) else params


def weights_of(given: Mapping[Any, float] | None, schema: Schema) -> list[float]:
    """The weight of each class of the schema, 1 where none was given.

    >>> from privet.schema import Categorical
    >>> schema = Schema((Categorical("cough", (False, True)),), Categorical("ill", ("no", "yes")))
    >>> weights_of({"no": 0.5}, schema)
    [0.5, 1.0]
    """
    labels = decode_labels(schema, np.arange(schema.n_classes)).tolist()
    unknown = [label for label in given or {} if label not in labels]
    if unknown:
        raise ParameterError(
            parameter="class_weight",
            problem=f"names {unknown[0]!r}, which is not a label",
            fix=f"the labels are {labels}",
        )
    return [float((given or {}).get(label, 1.0)) for label in labels]
