"""The work of a child: one question, on one snapshot, with a ledger that holds its price and no more.

Nothing here uses the books. The kernel is unchanged, so it cannot spend more than was charged.
"""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.engines.snapshots import open_snapshot
from privet.errors import ParameterError
from privet.fitting import Request, fit
from privet.models.codec import from_text, to_text
from privet.privacy.answers import Answer
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Ledger
from privet.privacy.losses import Loss
from privet.recipes.recipe import Recipe
from privet.recipes.registry import ALL, recipe_class
from privet.schema import Schema
from privet.structure.questions import Question

TIME = (
    "the server sent the answer at a deadline: its time reveals nothing about records as long as deadlines are met; "
    "late and lost answers are counted in the server's books"
)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question: ``ask``, ``folder``, ``loss``, ``neighbours``, and the ``model`` of a score."""
    ask, loss = request["ask"], Loss.read(request["loss"])
    engine = open_snapshot(Path(request["folder"]), [TIME])
    ledger = Ledger(loss.epsilon, loss.delta, neighbours=request["neighbours"])
    epsilon = Fraction(ask["epsilon"])
    match ask["ask"]:
        case "fit":
            model = fit(Request(recipe_of(ask, request.get("recipes", ())), engine, epsilon, ledger=ledger))
            return {"model": json.loads(to_text(model)), "certificate": dict(model.certificate)}
        case "score":
            return _score(request["model"], PrivateDataset(engine, ledger), epsilon, ask.get("held_out"))
    data = PrivateDataset(engine, ledger)
    return ask_data(data, ask) | {"certificate": data.certificate().to_dict()}


def price(ask: dict[str, Any], recipes: tuple[str, ...] = ()) -> Loss:
    """What a question costs, by public facts."""
    epsilon = Fraction(ask["epsilon"])
    return recipe_of(ask, recipes).loss(epsilon) if ask["ask"] == "fit" else Loss(epsilon)


def recipe_of(ask: dict[str, Any], recipes: Any = ()) -> Recipe:
    """The sound recipe of a fit, with its parameters."""
    name, params = ask["recipe"], ask.get("params", {})
    if name not in ALL and name not in recipes:
        raise ParameterError(parameter="recipe", problem=f"{name!r} is not on offer here", fix="GET the data set")
    kind = recipe_class(name)
    if "sound" not in kind.info.variants or "sound" in kind.unsound:
        raise ParameterError(parameter="recipe", problem=f"{name!r} has no differentially private variant")
    try:
        return kind(**kind.restore(dict(params)))
    except TypeError as error:
        raise ParameterError(parameter="params", problem=f"do not suit the recipe {name!r} ({error})") from None


def forecast(request: dict[str, Any]) -> dict[str, Any]:
    """What the planner expects of a fit, or of an answer, at this epsilon."""
    from privet.planning.planner import plan, recipes_for

    ask, schema = request["ask"], Schema.from_dict(request["schema"])
    recipes = (ask["recipe"],) if ask["ask"] == "fit" else recipes_for(schema)[-1:]
    epsilons = [Fraction(one) for one in request.get("epsilons", [ask["epsilon"]])]
    seconds = request["seconds"] if ask["ask"] == "fit" else 0  # the error of an answer needs no simulation
    how = {"signal": request["signal"], "epsilons": epsilons, "recipes": recipes, "seconds": seconds}
    found = plan(schema, request["records"], **how).to_dict()
    return found if ask["ask"] == "fit" else found | {"forecasts": []}


def offers(recipes: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The recipes on offer: name, title, what each is recommended for, what it predicts and makes, and its sizes."""
    kinds = (recipe_class(name) for name in (*ALL, *recipes))
    sound = [kind for kind in kinds if "sound" in kind.info.variants and "sound" not in kind.unsound]
    facts = [{"name": kind.info.name, "title": kind.info.title, "predicts": kind.predicts} for kind in sound]
    more = [{"recommended": kind.info.recommended, "makes": _makes(kind), "sizes": _sizes(kind)} for kind in sound]
    return [one | other for one, other in zip(facts, more, strict=True)]


def _makes(kind: type[Recipe]) -> str:
    """What people see of a model: a tree, a forest or curves."""
    if kind.makes == "additive":
        return "curves"
    return "forest" if "n_estimators" in _sizes(kind) else "tree"


def _sizes(kind: type[Recipe]) -> list[str]:
    """The parameters of a recipe that set the size of a model."""
    known = {one.name for one in fields(kind)}
    return [name for name in ("max_depth", "n_estimators") if name in known]


def ask_data(data: PrivateDataset, ask: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question about records: its value, every row with its error bar, and what was read otherwise."""
    question = Question.from_dict({name: value for name, value in ask.items() if name != "epsilon"})
    found = data.ask(question, Fraction(ask["epsilon"]))
    facts, names = found.to_dict(), ("question", "rows", "within", "sentence", "notes")
    return {"value": _value(found)} | {name: facts[name] for name in names}


def _value(found: Answer) -> Any:
    """One number, numbers by bin or class, or those of each part."""
    if found.question.by is not None:
        parts: dict[str, Any] = {}
        for row in found.rows:
            if row.of is None:
                parts[str(row.by)] = row.value
            else:
                parts.setdefault(str(row.by), {})[row.of] = row.value
        return parts
    if any(row.of is not None for row in found.rows):
        return {row.of: row.value for row in found.rows}
    return found.value


def _score(text: str, data: PrivateDataset, epsilon: Fraction, held_out: bool | None) -> dict[str, Any]:
    from privet.evaluation.private_score import private_score

    found = private_score(from_text(text), data, None, epsilon, held_out=held_out)
    return {"value": found.to_dict(), "certificate": found.certificate.to_dict()}
