"""``privet.connect``: ask a data owner's server, and get ordinary models back.

A question that is paid for has a key of its own, made before it is sent: when the connection breaks, the same question
is repeated with the same key, and costs nothing more.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.client.wire import Wire
from privet.errors import ParameterError, ServerError
from privet.recipes.registry import default_recipe
from privet.schema import Categorical, Schema

WAIT = {"Prefer": "wait=30"}  # seconds that the server may keep a request


def connect(url: str, key: str | None = None) -> Server:
    """Connect to a data owner's server.

    Parameters
    ----------
    url : str
        Where it is, such as ``"https://privet.example.org"``.
    key : str, optional
        Your key; without it, the environment variable ``PRIVET_KEY``.

    ``connect(url)["visits"].fit("exact", epsilon=0.5)`` returns the ordinary classifier. The guide:
    ``docs/guide/ask-a-server.md``.
    """
    return Server(Wire(url, key))


class Server:
    """A server: its tables by name, and your answers."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def __repr__(self) -> str:
        return f"<privet server {self._wire.url}>"

    def __iter__(self) -> Iterator[str]:
        return iter([one["id"] for one in self._wire.call("GET", "/v1/datasets").json()])

    def __getitem__(self, name: str) -> RemoteDataset:
        try:
            return RemoteDataset(self._wire, self._wire.call("GET", f"/v1/datasets/{name}").json())
        except ServerError as error:
            if error.kind != "not-found":
                raise
            raise KeyError(f"no table {name!r} is open to you; there are {', '.join(self) or 'none'}") from None

    def me(self) -> dict[str, Any]:
        """Who you are, and what you may spend."""
        found: dict[str, Any] = self._wire.call("GET", "/v1/me").json()
        return found

    def answers(self) -> list[dict[str, Any]]:
        """Your newest questions, without their answers."""
        found: list[dict[str, Any]] = self._wire.call("GET", "/v1/answers").json()
        return found

    def answer(self, number: str) -> Any:
        """The answer of an earlier question, by its id."""
        return _finished(self._wire, self._wire.call("GET", f"/v1/answers/{number}", headers=WAIT).json())


class RemoteDataset:
    """A table of a server. Only its public facts are here."""

    def __init__(self, wire: Wire, facts: dict[str, Any]) -> None:
        self._wire, self.facts = wire, facts
        self.name: str = facts["id"]
        self.schema = Schema.from_dict(facts["schema"])
        self.unit, self.neighbours = facts["unit"], facts["neighbours"]
        self.most_records: int = facts["most_records"]

    def __repr__(self) -> str:
        return f"<table {self.name} of {self._wire.url}>"

    @property
    def left(self) -> Fraction:
        """The epsilon that you may still spend on the people of this table."""
        for one in self._wire.call("GET", "/v1/me").json()["grants"]:
            if one["population"] == self.facts["population"]:
                return Fraction(one["epsilon"]) - Fraction(one["spent"]) - Fraction(one["held"])
        return Fraction(0)

    @property
    def recipes(self) -> list[str]:
        """The recipes on offer."""
        return [one["name"] for one in self.facts["recipes"]]

    def invented(self, records: int) -> dict[str, list[Any]]:
        """Invented records, made here from the schema, to try a program on: columns by name."""
        import numpy as np

        random = np.random.default_rng()

        def drawn(attribute: Any) -> list[Any]:
            if isinstance(attribute, Categorical):
                return [attribute.values[i] for i in random.integers(0, len(attribute.values), records)]
            return list(random.uniform(attribute.low, attribute.high, records).tolist())

        return {attribute.name: drawn(attribute) for attribute in (*self.schema.attributes, self.schema.label)}

    # -- free ------------------------------------------------------------------------------------------------------

    def price(self, ask: str, **what: Any) -> dict[str, Any]:
        """What a question costs, when it is due, and what you have left. Free."""
        found: dict[str, Any] = self._post("price", _ask(ask, **what))
        return found

    def trial(self, ask: str, **what: Any) -> Any:
        """The same answer on invented records. Free."""
        return self._post("trial", _ask(ask, **what))["answer"]

    def forecast(self, ask: str, *, records: int | None = None, signal: str = "medium", **what: Any) -> dict[str, Any]:
        """What the planner expects. Free."""
        body = {"ask": _ask(ask, **what), "signal": signal} | ({} if records is None else {"records": records})
        found: dict[str, Any] = self._post("forecast", body)
        return found

    # -- paid ------------------------------------------------------------------------------------------------------

    def count(self, epsilon: object, *, where: Any = None, by: str | None = None) -> Any:
        """The number of records, with noise."""
        return self.ask("count", epsilon=epsilon, where=where, by=by)

    def class_counts(self, epsilon: object, *, where: Any = None, by: str | None = None) -> Any:
        """The number of records of each label, with noise."""
        return self.ask("class-counts", epsilon=epsilon, where=where, by=by)

    def sum(self, of: str, epsilon: object, *, where: Any = None, by: str | None = None) -> Any:
        """The sum of a number, with noise."""
        return self.ask("sum", of=of, epsilon=epsilon, where=where, by=by)

    def average(self, of: str, epsilon: object, *, where: Any = None, by: str | None = None) -> Any:
        """The mean of a number, with noise."""
        return self.ask("average", of=of, epsilon=epsilon, where=where, by=by)

    def histogram(self, of: str, epsilon: object, *, where: Any = None, by: str | None = None) -> Any:
        """The number of records of each value or bin of a column, with noise."""
        return self.ask("histogram", of=of, epsilon=epsilon, where=where, by=by)

    def most_frequent(self, of: str, epsilon: object, *, where: Any = None, by: str | None = None) -> Any:
        """A value of a category that is frequent, drawn by the exponential mechanism."""
        return self.ask("most-frequent", of=of, epsilon=epsilon, where=where, by=by)

    def quantiles(
        self, of: str, at: Sequence[float], epsilon: object, *, where: Any = None, by: str | None = None
    ) -> Any:
        """Quantiles of a number, with noise."""
        return self.ask("quantiles", of=of, at=list(at), epsilon=epsilon, where=where, by=by)

    def fit(self, recipe: str | None = None, *, epsilon: object, **params: Any) -> Any:
        """Grow a model there, and return the ordinary fitted classifier, or regressor where the label is a number."""
        name = recipe or default_recipe(self.schema)
        return self.ask("fit", recipe=name, epsilon=epsilon, params=params or None)

    def score(self, model: Any, epsilon: object, *, held_out: bool | None = None) -> Any:
        """A private score of a model that came from this server."""
        number = model if isinstance(model, str) else getattr(model, "answer_id_", None)
        if number is None:
            raise ParameterError(parameter="model", problem="must be a model that this server's fit returned")
        return self.ask("score", of=number, epsilon=epsilon, held_out=held_out)

    def ask(self, ask: str, *, key: str | None = None, **what: Any) -> Any:
        """Ask any question, and wait for its answer. ``key`` repeats an earlier question."""
        headers = WAIT | {"Idempotency-Key": key or str(uuid.uuid4())}
        reply = self._wire.call("POST", f"/v1/datasets/{self.name}/answers", _ask(ask, **what), headers=headers)
        return _finished(self._wire, reply.json())

    def _post(self, route: str, body: dict[str, Any]) -> Any:
        return self._wire.call("POST", f"/v1/datasets/{self.name}/{route}", body).json()


def _ask(ask: str, *, epsilon: object, where: Any = None, **what: Any) -> dict[str, Any]:
    """The body of a question. ``where`` is a list of conditions, or a mapping of columns to values.

    >>> _ask("count", epsilon=0.1, where={"ward": "a"})["where"]
    [{'column': 'ward', 'op': 'is', 'value': 'a'}]
    """
    if isinstance(where, Mapping):
        several = list, tuple, set
        pairs = [(name, "in" if isinstance(value, several) else "is", value) for name, value in where.items()]
        where = [{"column": name, "op": op, "value": list(value) if op == "in" else value} for name, op, value in pairs]
    given = {name: value for name, value in what.items() if value is not None}
    shown = str(epsilon) if isinstance(epsilon, Fraction) else epsilon
    return {"ask": ask, "epsilon": shown, **given} | ({"where": where} if where else {})


def _finished(wire: Wire, facts: dict[str, Any]) -> Any:
    """Wait until a question is answered; the value, or the classifier."""
    while facts["state"] in ("queued", "running"):
        time.sleep(0.05)  # the server waits too
        facts = wire.call("GET", f"/v1/answers/{facts['id']}", headers=WAIT).json()
    if facts["state"] != "done":
        raise ServerError(facts.get("detail") or "the question was cancelled", facts["state"], 200)
    answer = facts["answer"]
    if "model" not in answer:
        return answer["value"]
    from privet.estimators.registry import adopt
    from privet.models.codec import from_text

    fitted: Any = adopt(from_text(json.dumps(answer["model"]), "the server's model"))
    fitted.answer_id_ = facts["id"]
    return fitted
