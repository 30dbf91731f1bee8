"""Read a model file for display: the model and its certificate, without loading scikit-learn."""

from __future__ import annotations

import os

from privet.errors import ModelFileError, ParameterError, SchemaError
from privet.models.model import Model
from privet.privacy.certificate import Certificate


def read_model(path: str | os.PathLike[str]) -> tuple[Model, Certificate]:
    """The content of a model file. Its recipe need not be installed."""
    model = Model.read(path)
    try:
        return model, Certificate.from_dict(model.certificate)
    except (ParameterError, SchemaError) as error:
        where = f"the model file {os.fspath(path)!r}"
        raise ModelFileError(f"{where} is damaged: its certificate cannot be read: {error}") from error
