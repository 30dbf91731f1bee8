"""Render a template to one file: style and script inside, and a content policy that allows only these."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from privet.errors import ParameterError
from privet.markup import Html, tag, text, with_elements
from privet.models.model import Model
from privet.models.released import Limits
from privet.report.context import model_context
from privet.report.quality import quality_context
from privet.schema import Schema

MOST_WITH_CASE = 100_000  # characters in another page of a model and of the form that follows one case
POLICY = (
    "default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def model_page(model: Model, score: Any = None, **limits: Unpack[Limits]) -> str:
    """The page of a model as HTML. Everything in it was released with the model; no table is read.

    ``score`` is a private score of the model (:func:`privet.private_score`, or its JSON); the page then says how good
    it is. ``limits`` bound how much of a tree is shown: ``max_leaves``, ``min_support``.

    >>> import privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> page = model_page(tree.model_)
    >>> "epsilon = 1" in page, "http://" in page
    (True, False)
    """
    template, context = model_context(model, score, **limits)
    return render(template, **context)


def model_parts(model: Model, score: Any = None, **limits: Unpack[Limits]) -> dict[str, Html]:
    """The sections of a model's page, to stand in another page: ``promise`` first, then those that the model has.

    They need the report's ``style.css``, and ``page.js`` to fold lists and to follow one case.
    """
    template, context = model_context(model, score, **limits)
    page, certificate = environment(__package__).get_template(template), certificate_parts(context)
    scope = page.new_context(context | {"parts": _macros()})
    blocks = environment(__package__).get_template("model.html").blocks | page.blocks
    found = {name: Html("".join(blocks[name](scope)).strip()) for name in ("model", "case", "rules")}
    if len(found["model"]) + len(found["case"]) > MOST_WITH_CASE:
        del found["case"]
    if context["quality"]:
        found["quality"] = Html(_macros().quality_section(context["quality"]))
    return {"promise": certificate["promise"], **found, "certificate": certificate["certificate"]}


def certificate_parts(context: dict[str, Any]) -> dict[str, Html]:
    """The promise of a certificate in a box, and its section, from what ``certificate_context`` returns."""
    names = ("private", "headline", "guess", "relation", "definition", "spending", "conditions", "covers", "covers_not")
    section = Html(_macros().certificate_section("certificate", *(context[name] for name in names)))
    return {"promise": tag("p", context["promise"], class_=f"promise {context['strength']}"), "certificate": section}


def quality_part(score: Any, schema: Schema) -> Html:
    """The section of a private score."""
    return Html(_macros().quality_section(quality_context(score, schema)))


def _macros() -> Any:
    return environment(__package__).get_template("parts.html").module


def write_report(
    model: Any,
    path: str | PathLike[str],
    *,
    max_leaves: int | None = None,
    min_support: float | None = None,
    score: Any = None,
) -> Path:
    """Write a fitted classifier, or a model, as a page: one file that any browser opens. It costs no budget.

    Parameters
    ----------
    model : fitted classifier or model
    path : where to write the page; a file of that name is replaced
    max_leaves : the most leaves of a tree; the branches with the fewest records are folded into one
    min_support : the fewest records; a branch whose leaves all have fewer is not opened, and such rules are folded away
    score : what :func:`privet.private_score` found for this model; the page then says how good it is

    Returns the path of the page.

    >>> import tempfile, privet
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(2000)
    >>> tree = privet.ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     privet.write_report(tree, f"{folder}/tree.html").stat().st_size < 300_000
    True
    """
    if hasattr(model, "get_params"):  # a classifier
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model, "model_")
    found = getattr(model, "model_", model)
    if not isinstance(found, Model):
        raise ParameterError(f"model must be a fitted classifier or a model, not {type(model).__name__}")
    page, html = Path(path), model_page(found, score, max_leaves=max_leaves, min_support=min_support)
    try:
        page.write_text(html, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"cannot write the page {str(page)!r}: {error.strerror}") from error
    return page


def content_policy() -> str:
    """What a page of this package allows: its own style and script."""
    return POLICY.format(style=_hash(asset("style.css")), script=_hash(asset("page.js")))


def render(template: str, **context: Any) -> str:
    """Render a template of this package. Everything but markup is escaped."""
    style, script = asset("style.css"), asset("page.js")
    policy = content_policy()
    page = environment(__package__).get_template(template)
    return str(with_elements(page.render(style=Html(style), script=Html(script), policy=policy, **context)))


def _data_block(value: Any) -> Html:
    """JSON that can stand inside an element: no text in it can end the element."""
    written = json.dumps(value, separators=(",", ":"), allow_nan=False)  # in ASCII, so without raw control characters
    return Html(written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")


@cache
def asset(name: str) -> str:
    return (files("privet.report") / "templates" / name).read_text("utf-8")


def _finalized(value: Any) -> Any:
    return value if hasattr(value, "__html__") or not isinstance(value, str) else text(value)


@cache
def environment(package: str) -> Any:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((__package__, package))]),
        autoescape=True,
        finalize=_finalized,  # for every value of every template
        undefined=StrictUndefined,  # a misspelt name is an error, not a gap in the page
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_block"] = _data_block
    return environment
