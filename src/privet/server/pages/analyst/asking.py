"""Tables, and the page of one: what do you want to know, how, for how much; then one button that spends."""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from privet.bidi import isolated
from privet.errors import ParameterError
from privet.planning.answers import class_counts_within, count_within
from privet.privacy.books import release
from privet.privacy.books.grants import Grant
from privet.privacy.books.refusals import Refusal
from privet.privacy.losses import NOTHING, Loss, brief
from privet.report.axis import axis_words
from privet.schema import Categorical, Numeric, Schema
from privet.server.asks import Ask
from privet.server.pages.analyst.answers import in_list, kept_head
from privet.server.pages.analyst.forecasts import EPSILONS, FORECASTS, SIGNALS, ForecastCurve, read_records
from privet.server.pages.analyst.forms import CONDITIONS, MODELS, NUMBERS, OPS, Choices, ask_of, fields_of, read_fields
from privet.server.pages.analyst.results import in_words, result_context
from privet.server.pages.frame import Posted, amount_text, field, page, see_other, signed_in
from privet.server.pages.texts import TEXTS, say
from privet.server.problems import KINDS, Problem, from_refusal
from privet.server.routes.asking import ANALYST, Name, accept

router = APIRouter()
MOST_VALUES = 12  # of a category, in the list of columns
RECENT = 5  # own questions about a table, on its page


@router.get("/analyst")
def datasets(request: Request) -> Response:
    """The tables that you may ask, with what you may spend on them."""
    here, person = signed_in(request, ANALYST)
    grants = here.grants(person.id)
    tables = [
        {
            "id": table.id,
            "title": table.schema.get("title") or table.schema.get("name") or table.id,
            "columns": len(table.schema.get("attributes", ())) + 1,
            "unit": table.unit,
            "population": table.population,
            "state": table.state,
            "budget": budget(grants[table.population]) if table.population in grants else None,
        }
        for table in here.tables(person)
    ]
    return page(request, "analyst_datasets.html", person=person, tables=tables)


@router.get("/analyst/datasets/{d}")
def dataset(request: Request, d: Name) -> Response:
    """A table: its public facts, and the form of a question."""
    desk = Desk(request, d)
    given = read_fields(request.query_params)
    if again := request.query_params.get("again"):
        view = desk.here.view(again[:32], desk.person, with_answer=False)
        given = fields_of(json.loads(view.ask), desk.choices.offers)
    return desk.page(given)


@router.post("/analyst/datasets/{d}")
def ask(request: Request, d: Name, form: Posted) -> Response:
    """Price, forecast or try a question, all free; or ask it."""
    desk, given = Desk(request, d), read_fields(form)
    try:
        match field(form, "do"):
            case "ask":
                return desk.spend(given, field(form, "idem"))
            case "trial":
                return desk.page(given, **desk.trial(given))
            case "forecast":
                given, found = desk.forecast(given)
                return desk.page(given, **found)
            case _:
                return desk.page(given, **desk.price(given))
    except (Problem, Refusal, ParameterError) as error:  # others may come after a charge, and are told without a form
        return desk.refused(given, error)


class Desk:
    """Who asks which table, and what each button does."""

    def __init__(self, request: Request, d: str) -> None:
        self.request = request
        self.here, self.person = signed_in(request, ANALYST)
        self.table = self.here.table(d, self.person)
        self.schema = Schema.from_dict(self.table.schema)
        offers = request.app.state.offers()
        predicts = "numbers" if self.schema.predicts_number else "classes"
        self.choices = Choices(self.schema, [one for one in offers if one["predicts"] == predicts])
        self.makes = {one["name"]: one["makes"] for one in offers}

    @property
    def grant(self) -> Grant:
        found = self.here.grants(self.person.id).get(self.table.population)
        if found is None:
            raise Problem("not-found")
        return found

    # -- buttons -----------------------------------------------------------------------------------------------------

    def price(self, given: Mapping[str, str]) -> dict[str, Any]:
        asked = ask_of(given, self.choices)
        facts = asked.canonical()
        model = self.here.model_text(self.person, facts)
        loss, seconds = self.here.pricing.quote(self.table, facts, self.person.key, model)
        grant = self.grant
        quote = {
            "cost": amount_text(loss),
            "budget": budget(grant, loss),
            "enough": grant.allows(loss),
            "left": amount_text(grant.left if loss.delta else Loss(grant.left.epsilon)),
            "seconds": f"{seconds:g}",
            "words": in_words(facts, self.makes),
            "idem": str(uuid.uuid4()),
        }
        return {"quote": quote, "within": self._within(asked)} | self._known_forecast(given, float(asked.epsilon))

    def trial(self, given: Mapping[str, str]) -> dict[str, Any]:
        facts = ask_of(given, self.choices).canonical()
        model = self.here.model_text(self.person, facts)
        answer = self.here.pricing.trial(self.table, facts, self.person.key, model)
        return {"trial": result_context(facts, answer, self.schema)}

    def forecast(self, given: dict[str, str]) -> tuple[dict[str, str], dict[str, Any]]:
        """How good it gets. If the form says how good it must be, epsilon follows, and then the price."""
        if given["what"] not in MODELS:
            return given, self.price(given)
        records, signal = read_records(given["records"], self.table), given["signal"] or "medium"
        if signal not in SIGNALS:
            raise Problem("invalid", "the signal is weak, medium or strong")
        recipe = ask_of(given | {"epsilon": EPSILONS[0]}, self.choices).canonical()["recipe"]
        found = FORECASTS.make(self.here, self.person, self.table, recipe, records, signal)
        if given["target"]:
            target = read_share(given["target"])
            needed = found.needed(target)
            if needed is None:
                return given, self._known_forecast(given, None) | {"unreachable": f"{100 * target:g}"}
            given = given | {"epsilon": f"{needed:g}"}
            return given, self.price(given) | {"needed": (f"{100 * target:g}", f"{needed:g}")}
        if given["epsilon"]:
            return given, self.price(given)
        return given, self._known_forecast(given, None)

    def spend(self, given: Mapping[str, str], idem: str) -> Response:
        """The one button that spends. The same form twice is one question."""
        _, job = accept(self.request, self.table.id, ask_of(given, self.choices), idem or None)
        return kept_head(see_other(f"/analyst/answers/{job}"), self.here, self.table.population)

    # -- the page ----------------------------------------------------------------------------------------------------

    def page(self, given: Mapping[str, str], status: int = 200, **context: Any) -> Response:
        choices, table = self.choices, self.table
        what = given["what"] if given["what"] in choices.whats else choices.whats[0]
        mine = release.listed(self.here.books, self.person.id, time.time())
        models = [view for view in mine if view.dataset == table.id and view.state == "done" and '"fit"' in view.ask]
        asked = {
            "recipes": [(one["name"], recipe_text(one)) for one in choices.recipes(what)],
            "sizes": {size for one in choices.recipes(what) for size in one["sizes"]},
            "questions": choices.questions if what == "count" else NUMBERS if what == "number" else (),
            "of": choices.numbers if what == "number" else choices.asked,
            "by": choices.parts,
            "where": choices.asked,
            "models": [(one.id, say("ask.model", what=in_words(json.loads(one.ask), self.makes))) for one in models],
        }
        empty = {"quote": None, "forecast": None, "within": None, "trial": None, "refusal": None}
        empty |= {"needed": None, "unreachable": None}
        return page(
            self.request,
            "analyst_ask.html",
            person=self.person,
            status=status,
            table=table,
            title=self.schema.title or self.schema.name or table.id,
            schema=self.schema,
            columns=[column_text(one) for one in choices.columns],
            given=dict(given) | {"what": what},
            whats=choices.whats,
            starting=not choices.offers,
            form=asked,
            ops=OPS,
            conditions=range(1, CONDITIONS + 1),
            signals=SIGNALS,
            budget=budget(self.grant),
            recent=in_list([view for view in mine if view.dataset == table.id][:RECENT], self.makes),
            **(empty | context),
        )

    def refused(self, given: Mapping[str, str], error: Exception) -> Response:
        """The page again, with what was refused, why, and what helps. Nothing was spent."""
        match error:
            case Refusal():
                problem = from_refusal(error)
            case Problem():
                problem = error
            case _:
                problem = Problem("invalid", str(error)[:600])
        if problem.kind in ("not-found", "no-key", "cross-site"):
            raise problem
        known = f"refused.{problem.kind}" in TEXTS
        refusal = {
            "title": say(f"refused.{problem.kind}" if known else "refused.other"),
            "detail": problem.detail,
            "help": say(f"refused.{problem.kind}.help" if known else "refused.other.help"),
        }
        response = self.page(given, status=KINDS[problem.kind][0], refusal=refusal)
        response.headers.update(problem.headers)
        return response

    def _known_forecast(self, given: Mapping[str, str], epsilon: float | None) -> dict[str, Any]:
        """The forecast of a model, if it was made before: it is shown with every price."""
        if given["what"] not in MODELS:
            return {}
        records, signal = read_records(given["records"], self.table), given["signal"] or "medium"
        found = FORECASTS.known(self.table, given["recipe"], records, signal)
        return {} if found is None else {"forecast": forecast_text(found, epsilon)}

    def _within(self, asked: Ask) -> str | None:
        """How far a count may be off, before it is bought. Where somebody may have k rows, noise is k times as wide."""
        kind, epsilon = asked.root.ask, asked.epsilon / (self.schema.unit.max_rows if self.schema.unit else 1)
        if self.table.neighbours == "replace-one":
            epsilon /= 2
        if kind == "count":
            return f"{count_within(epsilon):,}"
        return f"{class_counts_within(epsilon, self.schema.n_classes):,}" if kind == "class-counts" else None


def forecast_text(found: ForecastCurve, epsilon: float | None) -> dict[str, Any]:
    """A forecast in words and as a picture."""
    share = found.measure == "accuracy"
    numbers = {"ceiling": f"{100 * found.ceiling:.0f}", "records": f"{found.records:,}"}
    here = None if epsilon is None else f"{100 * max(found.at(epsilon), 0.0):.0f}"
    rows = [(f"{e:g}", f"{100 * max(score, 0.0):.0f}") for e, score in found.points]
    label = say("forecast.label", first=rows[0][1], last=rows[-1][1], **numbers)
    return {
        "here": here,
        "spread": f"{max(1.0, 2 * found.error):.0f}",
        "picture": found.picture(epsilon, label),
        "rows": rows,
        "share": share,
        **numbers,
    }


def budget(grant: Grant, cost: Loss | None = None) -> dict[str, Any]:
    """A grant as a bar of epsilon: spent, held, what this costs, and what is left then. Delta is told in words."""
    whole = float(grant.limit.epsilon) or 1.0
    price = cost or NOTHING
    left = grant.left - price
    ends = [min(float(one.epsilon) / whole, 1.0) for one in (grant.spent, grant.taken, grant.taken + price)]
    spent, held, this = (f"{100 * end:.2f}" for end in ends)
    amounts = {"spent": grant.spent, "limit": grant.limit, "left": left}
    words = {name: brief(loss.epsilon) for name, loss in amounts.items()}
    deltas = {name: brief(loss.delta) for name, loss in amounts.items()}
    return {
        **words,
        "held": brief(grant.held.epsilon) if grant.held != NOTHING else None,
        "cost": None if cost is None else brief(cost.epsilon),
        "delta": say("mine.delta", **deltas) if price.delta or grant.taken.delta else None,
        "ends": (spent, held, this),
        "label": say("mine.label", **words),
    }


def column_text(fact: Numeric | Categorical) -> dict[str, Any]:
    """The public facts of a column."""
    if isinstance(fact, Numeric):
        numbers = {"low": axis_words(fact.low), "high": axis_words(fact.high)}
        return {"name": fact.name, "facts": say("column.number", **numbers), "basis": fact.basis}
    shown = ", ".join(isolated(value) for value in fact.values[:MOST_VALUES])
    more = len(fact.values) - MOST_VALUES
    text = say("column.more", values=shown, more=more) if more > 0 else say("column.values", values=shown)
    return {"name": fact.name, "facts": text, "basis": fact.basis}


def recipe_text(offer: Mapping[str, Any]) -> str:
    return f"{offer['name']}: {offer['recommended'] or offer['title']}"


def read_share(text: str) -> float:
    """A target: 83 of 100 cases."""
    try:
        number = float(text.replace(",", ".").removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 < number <= 100:
        raise Problem("invalid", "say how many of 100 cases must be right: a number up to 100, such as 83")
    return number / 100
