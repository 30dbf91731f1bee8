"""Populations: a cap over everything about the same people, who may spend what of it, freezing and settling."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from privet import promise
from privet.markup import Html
from privet.privacy.books import grants
from privet.privacy.books.storage import Transaction
from privet.privacy.losses import Loss
from privet.server.asks import amount
from privet.server.pages.budgets import Budget, budget, history
from privet.server.pages.frame import REFUSED, Posted, field, page, reason, see_other, short_name, signed_in
from privet.server.pages.owner.todo import of_population
from privet.server.pages.pictures import bar, share_bar, timeline
from privet.server.pages.texts import say
from privet.server.problems import Problem, pair
from privet.server.routes import owning
from privet.server.routes.asking import Name
from privet.server.service import OWNER, Service

router = APIRouter()
QUESTIONS = 8  # that a grant is shared out among, in the example of what it buys
SURE = 20  # one number in so many is further off than is said
FORECAST_SECONDS = 4  # of invented fits, while the owner waits


@router.get("/owner/populations")
def new(request: Request) -> Response:
    """The form of a new population."""
    return _new(request)


@router.post("/owner/populations")
def add(request: Request, form: Posted) -> Response:
    given = {name: field(form, name) for name in ("title", "unit", "neighbours", "epsilon", "delta")}
    p = short_name(field(form, "id") or given["title"])
    try:
        if not p:
            raise Problem("invalid", str(say("population.name.wrong")))
        cap = {"epsilon": given.pop("epsilon"), "delta": given.pop("delta") or 0}
        given = {name: value for name, value in given.items() if value}
        owning.put_population(request, p, owning.NewPopulation.model_validate(given | {"cap": cap}))
    except REFUSED as error:
        return _new(request, status=422, fault=reason(error), given=form)
    return see_other(f"/owner/populations/{p}", "population")


def _new(request: Request, given: FormData | None = None, **context: Any) -> Response:
    _, person = signed_in(request, OWNER)
    return page(request, "owner_population_new.html", person=person, given=given or {}, **context)


@router.get("/owner/populations/{p}")
def show(request: Request, p: Name, who: str = "") -> Response:
    return _show(request, p, who=who)


def _show(request: Request, p: str, *, who: str = "", given: FormData | None = None, **context: Any) -> Response:
    here, person = signed_in(request, OWNER)
    found = budget(here.books, p)
    moments, examined = history(here.books, p)
    people = here.books.read("SELECT id FROM people WHERE role = 'analyst' AND closed = 0 ORDER BY id")
    facts: dict[str, Any] = {"bar": bar(found), "timeline": timeline(moments), "fine": not examined.faults}
    facts |= {"bars": [share_bar(one) for one in found.shares], "people": [name for (name,) in people]}
    facts |= {"odds": promise.odds(float(found.cap.epsilon)), "strength": promise.strength(found.cap.epsilon)}
    facts |= {"odds_spent": promise.odds(float(found.spent.epsilon)), "todo": of_population(found)}
    facts |= {"form": _grant_form(found, who, given), "buys": None, "made": None, "made_for": ""}
    return page(request, "owner_population.html", person=person, budget=found, **(facts | context))


def _grant_form(found: Budget, who: str, given: FormData | None) -> dict[str, Any]:
    """The fields of the form: as they were sent, or as an analyst's grant is now, or empty."""
    if given is not None:
        tables = {str(one) for one in given.getlist("table")}
        return {name: field(given, name) for name in ("who", "epsilon", "delta")} | {"tables": tables}
    for one in found.shares:
        if one.person == who:
            limit = one.grant.limit
            return {"who": who, "epsilon": str(limit.epsilon), "delta": str(limit.delta), "tables": set(one.tables)}
    return {"who": who, "epsilon": "", "delta": "", "tables": {one["id"] for one in found.tables}}


@router.post("/owner/populations/{p}/grants")
def grant(request: Request, p: Name, form: Posted) -> Response:
    """Grant, or only say what that would buy. Somebody new gets a key, which is shown once."""
    here, _ = signed_in(request, OWNER)
    who = short_name(field(form, "who"))
    try:
        body = owning.NewGrant.model_validate(
            {
                "epsilon": field(form, "epsilon"),
                "delta": field(form, "delta") or 0,
                "datasets": [str(one) for one in form.getlist("table")],
            }
        )
        if field(form, "do") == "buys":
            return _show(request, p, given=form, buys=what_it_buys(here, p, amount(body.epsilon), body.datasets))
        if not who:
            raise Problem("invalid", str(say("grant.who.wrong")))
        known = here.books.read("SELECT role FROM people WHERE id = ? AND closed = 0", who)
        if known and known[0][0] != "analyst":
            raise Problem("invalid", str(say("grant.who.role", role=known[0][0])))
        _check(here, p, who, body)
        made = None if known else owning.put_person(request, who, owning.NewPerson())["key"]
        owning.put_grant(request, p, who, body)
    except REFUSED as error:
        return _show(request, p, given=form, status=422, fault=reason(error))
    if made is None:
        return see_other(f"/owner/populations/{p}", "granted")
    return _show(request, p, made=made, made_for=who)


def _check(here: Service, p: str, who: str, body: owning.NewGrant) -> None:
    """Refuse a grant that the cap does not allow before somebody gets an account for it."""
    found, limit = budget(here.books, p), Loss(amount(body.epsilon), amount(body.delta, "delta"))
    if who not in [one.person for one in found.shares] and not found.granted + limit <= found.cap:
        raise Problem("cap", str(say("grant.cap", free=f"{found.free:brief}")))


def what_it_buys(here: Service, p: str, epsilon: Fraction, tables: list[str]) -> list[Html]:
    """What an analyst could get for an epsilon, by public facts and invented records: sentences."""
    chosen = next((one for one in budget(here.books, p).tables if one["id"] in tables), None)
    unit = chosen["schema"].get("unit") if chosen else None
    rows = unit["max_rows"] if unit else 1  # each of one's rows gets its share of epsilon
    reach = math.ceil(QUESTIONS * rows * math.log(SURE) / float(epsilon))
    lines = [say("buys.counts", questions=QUESTIONS, reach=f"{reach:,}", sure=f"{100 * (SURE - 1) // SURE}")]
    if chosen is None or not here.workers.fits.ready.is_set():
        return lines
    ask = {"ask": "fit", "recipe": "exact", "epsilon": str(epsilon)}
    job = {"job": "forecast", "ask": ask, "schema": chosen["schema"], "records": max(10, chosen["most_records"])}
    job |= {"signal": "medium", "seconds": FORECAST_SECONDS, "public": True}
    found = here.workers.run("forecast", job, 10 * FORECAST_SECONDS).get("ok") or {}
    if found.get("forecasts") and found["measure"].lower() == "accuracy":
        one = found["forecasts"][0]
        shares = {"score": one["accuracy"], "without": one["without_noise"]}
        lines.append(
            say("buys.tree", table=chosen["id"], **{name: f"{100 * share:.0f}" for name, share in shares.items()})
        )
    return lines


@router.post("/owner/populations/{p}/take-back")
def take_back(request: Request, p: Name, form: Posted) -> Response:
    """Take back what an analyst has not spent, and close all tables of this population to them."""
    here, _ = signed_in(request, OWNER)
    who = field(form, "who")

    def work(tx: Transaction) -> None:
        old = grants.read_grant(tx, who, p)
        if old is None:
            raise Problem("not-found")
        grants.put_grant(tx, p, who, old.taken, [])

    try:
        here.books.do(work)
    except REFUSED as error:
        return _show(request, p, status=422, fault=reason(error))
    return see_other(f"/owner/populations/{p}", "taken-back")


@router.post("/owner/populations/{p}/cap")
def lower(request: Request, p: Name, form: Posted) -> Response:
    body = {"epsilon": field(form, "epsilon"), "delta": field(form, "delta") or 0}
    try:
        owning.post_cap(request, p, owning.NewCap.model_validate(body))
    except REFUSED as error:
        return _show(request, p, status=422, fault=reason(error))
    return see_other(f"/owner/populations/{p}", "cap")


@router.post("/owner/populations/{p}/freeze")
def freeze(request: Request, p: Name, form: Posted) -> Response:
    owning.post_freeze(request, p)
    return see_other(f"/owner/populations/{p}", "frozen")


@router.post("/owner/populations/{p}/settle")
def settle(request: Request, p: Name, form: Posted) -> Response:
    """The owner's word on what lost entries cost. After a restore, an empty amount is all that is left."""
    here, _ = signed_in(request, OWNER)
    found = budget(here.books, p)
    costs = {one.person: field(form, f"lost-{one.person}") for one in found.shares}
    body: dict[str, Any] = {"statement": field(form, "statement")}
    if any(costs.values()):
        most = {one.person: pair(one.grant.left) for one in found.shares if found.frozen == grants.RESTORED}
        lost = {name: {"epsilon": cost} if cost else most.get(name) for name, cost in costs.items()}
        body["lost"] = {name: cost for name, cost in lost.items() if cost and cost["epsilon"] != "0"}
    try:
        owning.post_settle(request, p, owning.Settlement.model_validate(body))
    except REFUSED as error:
        return _show(request, p, status=422, fault=reason(error))
    return see_other(f"/owner/populations/{p}", "settled")
