"""A page from Python. Apart from the page itself, which is written without loading scikit-learn."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from privet.errors import ParameterError
from privet.estimators.base import SchemaClassifier
from privet.models.model import Model
from privet.report.model_page import model_page


def write_report(
    model: SchemaClassifier | Model,
    path: str | PathLike[str],
    *,
    max_leaves: int | None = None,
    min_support: float | None = None,
) -> Path:
    """Write a fitted classifier, or a model, as a page for people: one file that any browser opens. It costs nothing.

    Parameters
    ----------
    model : fitted classifier or model
    path : where to write the page; a file of that name is replaced
    max_leaves : show at most so many leaves of a tree; the branches with the fewest records are folded into one
    min_support : open no branch in which every leaf has fewer records, and fold the rules with fewer away

    Returns where the page is.

    >>> import tempfile, privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     privet.write_report(tree, f"{folder}/tree.html").stat().st_size < 300_000
    True
    """
    if isinstance(model, SchemaClassifier):
        check_is_fitted(model, "model_")
        model = model.model_
    if not isinstance(model, Model):
        raise ParameterError(f"model must be a fitted classifier or a model, not {type(model).__name__}")
    page, html = Path(path), model_page(model, max_leaves=max_leaves, min_support=min_support)
    try:
        page.write_text(html, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"cannot write the page {str(page)!r}: {error.strerror}") from error
    return page
