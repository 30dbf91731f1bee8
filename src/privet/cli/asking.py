"""``privet ask``: ask a data owner's server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.options import Json
from privet.cli.output import print_json
from privet.errors import ParameterError

QUESTIONS = ("count", "class-counts", "sum", "average", "histogram", "quantiles", "fit", "score")
CONDITION = re.compile(r"(?P<column>.+?)\s*(?P<op><=|>|=|\bis missing$)\s*(?P<value>.*)")
OPS = {"=": "is", "<=": "at_most", ">": "above", "is missing": "missing"}


def ask(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the server is. Your key: PRIVET_KEY.")],
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="Which table; without it, what is open to you.")] = "",
    question: Annotated[str, typer.Argument(metavar="[QUESTION]", help=", ".join(QUESTIONS))] = "",
    epsilon: Annotated[str | None, typer.Option("--epsilon", "-e", metavar="E", help="What it may cost.")] = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="NAME", help="A column; for a score, the id of a fit.")
    ] = None,
    at: Annotated[list[float] | None, typer.Option("--at", metavar="Q", help="A quantile; may be repeated.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="CONDITION", help="ward=a, age<=40, age>40; repeat for and.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="COLUMN", help="One answer for each of its values.")] = None,
    recipe: Annotated[str, typer.Option("--recipe", "-r", metavar="NAME", help="Of a fit.")] = "exact",
    params: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the recipe; may be repeated."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to put a model.")] = None,
    price: Annotated[bool, typer.Option("--price", help="Only ask what it costs. Free.")] = False,
    trial: Annotated[bool, typer.Option("--trial", help="Ask about invented records. Free.")] = False,
    as_json: Json = False,
) -> None:
    """Ask a data owner's server: what is open, what a question costs, and the question itself."""
    from privet.client.connection import connect

    server = connect(url)
    if not table:
        names = list(server)
        print_json({"datasets": names, "me": server.me()}) if as_json else print("\n".join(names) or "no table is open")
        return
    data = server[table]
    if not question:
        _describe(data, as_json)
        return
    if question not in QUESTIONS:
        raise ParameterError(parameter="QUESTION", problem=f"{question!r} is none of {', '.join(QUESTIONS)}")
    if epsilon is None:
        raise ParameterError(parameter="--epsilon", problem="is missing", fix="say what the answer may cost")
    what: dict[str, Any] = {"epsilon": epsilon, "of": of, "at": at, "by": by}
    what["where"] = [condition(text) for text in where or ()] or None
    if question == "fit":
        what |= {"recipe": recipe, "params": dict(_setting(text) for text in params or ()) or None}
        if output is None and not (price or trial):
            raise ParameterError(parameter="--output", problem="is missing", fix="say where to put the model")
    if price:
        _show(data.price(question, **what), as_json)
    elif trial:
        found = data.trial(question, **what)
        _show(found.get("value", "the fit works on invented records"), as_json)
    else:
        answer = data.ask(question, **what)
        if question == "fit":
            assert output is not None
            answer.save(output)
            answer = {"model": str(output), "answer": answer.answer_id_, "left": str(data.left)}
        _show(answer, as_json)


def condition(text: str) -> dict[str, Any]:
    """A condition as it is typed.

    >>> condition("age<=40"), condition("ward=a,b")
    ({'column': 'age', 'op': 'at_most', 'value': 40}, {'column': 'ward', 'op': 'in', 'value': ['a', 'b']})
    """
    found = CONDITION.fullmatch(text.strip())
    if found is None:
        raise ParameterError(parameter="--where", problem=f"cannot be read: {text!r}", fix="write ward=a or age<=40")
    column, op, value = found["column"], OPS[found["op"]], found["value"]
    if op == "missing":
        return {"column": column, "op": op}
    values = [_plain(one) for one in value.split(",")]
    if op == "is" and len(values) > 1:
        return {"column": column, "op": "in", "value": values}
    return {"column": column, "op": op, "value": values[0]}


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ParameterError(parameter="--set", problem=f"cannot be read: {text!r}", fix="write max_depth=3")
    return name.replace("-", "_"), _plain(value)


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _describe(data: Any, as_json: bool) -> None:
    if as_json:
        print_json(data.facts | {"left": str(data.left)})
        return
    print(data.schema)
    print(f"epsilon {data.left} left; recipes: {', '.join(data.recipes)}")


def _show(answer: Any, as_json: bool) -> None:
    if as_json:
        print_json(answer if isinstance(answer, dict) else {"value": answer})
    elif isinstance(answer, dict):
        for name, value in answer.items():
            print(f"{name}: {value if isinstance(value, str | int | float | None) else json.dumps(value)}")
    else:
        print(answer if isinstance(answer, str | int | float) else json.dumps(answer))


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: privet ask https://privet.example.org visits count --epsilon 0.1")(ask)
