"""``privet ask`` where the table is a data owner's server."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli.options import parse_settings
from privet.cli.output import print_json
from privet.errors import ParameterError
from privet.recipes.registry import default_recipe

if TYPE_CHECKING:
    from privet.client.connection import RemoteDataset

WORK = ("fit", "score")  # asked of a server beside the questions of the grammar


@dataclass(frozen=True)
class Remote:
    """What is asked of a server: its words, and the options that only a server has."""

    words: tuple[str, ...]
    epsilon: Fraction | None
    of: str | None = None
    recipe: str | None = None
    params: list[str] = field(default_factory=list)
    output: Path | None = None
    price: bool = False
    trial: bool = False

    @property
    def question(self) -> str:
        """The words after the table."""
        return " ".join(self.words[1:])

    def body(self, data: RemoteDataset | None = None) -> tuple[str, dict[str, Any]]:
        """The question's kind, and its fields. The default recipe depends on the table."""
        if self.epsilon is None:
            raise ParameterError(parameter="--epsilon", problem="is missing", fix="say what the answer may cost")
        if self.question not in WORK:
            from privet.structure.grammar import parse_question

            facts = parse_question(self.question).to_dict()
            return facts.pop("ask"), facts | {"epsilon": self.epsilon}
        if self.question == "score":
            return "score", {"of": self.of, "epsilon": self.epsilon}
        if self.output is None and not (self.price or self.trial):
            raise ParameterError(parameter="--output", problem="is missing", fix="say where to put the model")
        recipe = self.recipe or (data and default_recipe(data.schema))
        return "fit", {"recipe": recipe, "params": parse_settings(self.params) or None, "epsilon": self.epsilon}


def ask_server(url: str, remote: Remote, as_json: bool) -> None:
    """What is open, what a question costs, or the answer."""
    from privet.client.connection import connect

    server = connect(url)
    if not remote.words:
        names = list(server)
        print_json({"datasets": names, "me": server.me()}) if as_json else print("\n".join(names) or "no table is open")
        return
    if remote.question:
        remote.body()  # a mistake is refused before anything is sent
    data = server[remote.words[0]]
    if not remote.question:
        _describe(data, as_json)
        return
    kind, what = remote.body(data)
    if remote.price:
        _show(data.price(kind, **what), as_json)
    elif remote.trial:
        _show(data.trial(kind, **what).get("value", "the fit works on invented records"), as_json)
    else:
        answer = data.ask(kind, **what)
        if kind == "fit":
            answer.save(remote.output)
            answer = {"model": str(remote.output), "answer": answer.answer_id_, "left": str(data.left)}
        _show(answer, as_json)


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
