"""What travels with a model: its recipe, its certificate and the fingerprint of its schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from privet.schema.fingerprint import digest

if TYPE_CHECKING:
    from privet.models.model import Model


def metadata(model: Model) -> dict[str, str]:
    """Texts by name. The certificate is JSON, as in the model's own file."""
    from privet.errors import ParameterError
    from privet.models.codec import plain_json

    facts = (*model.schema.attributes, model.schema.label)
    if made := next((fact.name for fact in facts if fact.reading is not None), None):
        raise ParameterError(
            f"{made!r} is read by declaration (markers, spellings, dates, prefixes), which no other form can do",
            fix="predict with privet, or prepare the columns and fit with a schema that takes them as they are",
        )
    return {
        "producer": f"privet {model.made['privet']}" if "privet" in model.made else "privet",
        "recipe": model.recipe,
        "schema_fingerprint": digest(model.schema),
        "classes": json.dumps(model.trees.formula().classes),
        "certificate": plain_json(model.certificate),
    }


def needs(package: str, extra: str, form: str) -> Any:
    """Import a package that one form needs, or say how to get it."""
    from importlib import import_module

    from privet.errors import ParameterError

    try:
        return import_module(package)
    except ImportError:
        raise ParameterError(f"{form} needs the package {package}: run `pip install 'privet[{extra}]'`") from None
