"""A model: what a fit released, its schema and parameters, and its certificate."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from privet.errors import ModelFileError
from privet.models.counts import noise_scale
from privet.models.released import Limits, Released
from privet.schema import Schema
from privet.schema.limits import MOST_MODEL, read_bytes

if TYPE_CHECKING:
    from privet.models.released import Section
    from privet.models.rules import Rule


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """The result of a fit: what was released (a tree, a forest, an additive model), and what was promised.

    ``params`` and ``certificate`` are plain mappings that JSON can hold. In a file tuples become lists, NumPy numbers
    become Python's, and exact fractions become text (``"1/3"``). ``notes`` are sentences for the reader. ``made`` has
    the start of the fit and the versions; files of older versions lack it.
    """

    recipe: str
    trees: Released
    params: Mapping[str, Any] = field(default_factory=dict)
    certificate: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Model | None:
        """Get the model of a fitted classifier, a model itself, or wrap what was released; None for anything else."""
        given = getattr(given, "model_", given)
        if isinstance(given, Model):
            return given
        return cls("", given) if isinstance(given, Released) and not isinstance(given, type) else None

    @property
    def schema(self) -> Schema:
        return self.trees.schema

    @property
    def scale(self) -> float | None:
        """The noise scale of the class counts; None if the certificate has none."""
        return noise_scale(self.certificate)

    def __repr__(self) -> str:
        return f"<Model of {self.recipe}: {self.trees!r}>"

    def _repr_html_(self) -> str:
        return self.trees.html(self.scale)

    def rules(self, *, inner: bool = False, deepest: int | None = None) -> tuple[Rule, ...]:
        """The rules of the trees, with support and confidence where counts were released."""
        return self.trees.rules(inner=inner, deepest=deepest, scale=self.scale)

    def sections(self, *, raw: bool = False, **limits: Unpack[Limits]) -> Iterator[Section]:
        """The sections of a page or of ``privet show``; see :class:`privet.models.released.Released`."""
        return self.trees.sections(self.scale, raw=raw, **limits)

    def to_onnx(self) -> bytes:
        """The model as an ONNX graph; needs the extra ``onnx``. See :mod:`privet.models.export.onnx`."""
        from privet.models.export.onnx import to_onnx

        return to_onnx(self)

    def to_sql(self, dialect: str = "duckdb", table: str = "records", keep: Sequence[str] | None = None) -> str:
        """The model as a SELECT for ``duckdb``, ``postgres`` or ``sqlite``. See :mod:`privet.models.export.sql`.

        It has a row for each record of ``table``: the columns ``keep`` (by default the attributes), the label, and the
        probability of each class.
        """
        from privet.models.export.sql import to_sql

        return to_sql(self, dialect, table, keep)

    def to_pmml(self) -> str:
        """The model as PMML 4.4. See :mod:`privet.models.export.pmml`."""
        from privet.models.export.pmml import to_pmml

        return to_pmml(self)

    def to_python(self) -> str:
        """The model as one file of Python that needs the standard library only."""
        from privet.models.export.python import to_python

        return to_python(self)

    def to_shap(self) -> dict[str, Any]:
        """A tree or forest as ``shap.TreeExplainer`` takes it. See :mod:`privet.models.export.shap`."""
        from privet.models.export.shap import to_shap

        return to_shap(self)

    def to_text(self) -> str:
        """Encode as the text of a model file."""
        from privet.models.codec import to_text

        return to_text(self)

    @classmethod
    def from_text(cls, text: str | bytes) -> Model:
        """Decode the text of :meth:`to_text`; anything else raises :class:`ModelFileError`."""
        from privet.models.codec import from_text

        return from_text(text)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file. It appears whole or not at all; an existing one stays if writing fails.

        An older model is replaced. A journal never is: it records what was spent.
        """
        from privet.models.codec import to_text
        from privet.models.drafts import Draft

        where = f"cannot write the model file {os.fspath(path)!r}"
        text = to_text(self, where)
        try:
            with Draft(path) as draft:
                draft.save(text, replace=True)
        except (OSError, ValueError) as error:  # ValueError: a null byte in the path
            raise ModelFileError(f"{where}: {_reason(error)}") from error

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Model:
        """Read a model; a file that is missing, damaged, foreign or too new raises :class:`ModelFileError`."""
        from privet.models.codec import from_text
        from privet.schema.mistaken import mistaken

        name = f"the model file {os.fspath(path)!r}"
        try:
            content = read_bytes(Path(path), MOST_MODEL)
        except (OSError, ValueError) as error:
            raise ModelFileError(f"cannot read {name}: {_reason(error)}") from error
        if content is None:
            raise ModelFileError(f"{name} has more than {MOST_MODEL:,} bytes; no model does")
        return from_text(content, name, lambda: mistaken(Path(path), "model"))


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
