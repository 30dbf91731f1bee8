"""From a template to one file: style and script inside, and a policy that allows these and nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from privet.markup import Html, text, with_elements

POLICY = (
    "default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def render(template: str, *, package: str = __package__, **context: Any) -> str:
    """A page from a template of this package, or of another that builds on ours. What is no markup is escaped."""
    style, script = _asset("style.css"), _asset("page.js")
    policy = POLICY.format(style=_hash(style), script=_hash(script))
    page = _environment(package).get_template(template)
    return str(with_elements(page.render(style=Html(style), script=Html(script), policy=policy, **context)))


def data_block(value: Any) -> Html:
    """JSON that can stand inside an element: no text in it can end the element."""
    written = json.dumps(value, separators=(",", ":"), allow_nan=False)  # in ASCII: no control character is in it raw
    return Html(written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")


@cache
def _asset(name: str) -> str:
    return (files("privet.report") / "templates" / name).read_text("utf-8")


def _finalized(value: Any) -> Any:
    return value if hasattr(value, "__html__") or not isinstance(value, str) else text(value)


@cache
def _environment(package: str) -> Any:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((__package__, package))]),
        autoescape=True,
        finalize=_finalized,  # every value of every template, so that none can forget
        undefined=StrictUndefined,  # a misspelt name is an error, not a hole in the page
        trim_blocks=True,
        lstrip_blocks=True,
    )
