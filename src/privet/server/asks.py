"""The questions that can be asked, as a closed union of types; anything else is refused before it is looked at."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, StrictFloat, StrictInt, StrictStr, field_validator

from privet.errors import EpsilonError
from privet.privacy.budget import delta as parse_delta
from privet.privacy.budget import epsilon as parse_epsilon
from privet.privacy.budget import exact, read_fraction
from privet.privacy.losses import Loss

LONGEST = 60  # characters of an amount: sums of longer fractions would grow without bound
REFUSED = ("schema", "ledger", "random", "random_state", "public", "neighbours", "n_jobs")

Amount = Annotated[StrictStr | StrictInt | StrictFloat, Field(union_mode="left_to_right", examples=["0.5", "1/3", 0.1])]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Scalar = bool | int | float | str | None
AnswerId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def amount(value: Any, name: str = "epsilon", *, zero: bool = False) -> Fraction:
    """An exact amount from JSON: a number is read as the decimal it prints."""
    if isinstance(value, str):
        if len(value) > LONGEST:
            raise EpsilonError(parameter=name, problem=f"has more than {LONGEST} characters", fix="round it")
        value = read_fraction(value, name)
    number = exact(value, name)
    if name == "delta":
        return parse_delta(number)
    return number if zero and number == 0 else parse_epsilon(number, name)


class Priced(Strict):
    """What has a price."""

    epsilon: Amount

    @field_validator("epsilon")
    @classmethod
    def _readable(cls, value: Any) -> str:
        try:
            return str(amount(value))
        except EpsilonError as error:
            raise ValueError(str(error)) from None


class Condition(Strict):
    """One condition on a column; all of them must hold."""

    column: Name
    op: Literal["is", "in", "at_most", "above", "missing"]
    value: Scalar | list[Scalar] = None


class Question(Priced):
    """A question about records that meet all conditions, or about each part of them."""

    where: list[Condition] = Field(default_factory=list, max_length=8)
    by: Name | None = None


class Count(Question):
    ask: Literal["count"]


class ClassCounts(Question):
    ask: Literal["class-counts"]


class Sum(Question):
    ask: Literal["sum"]
    of: Name


class Average(Question):
    ask: Literal["average"]
    of: Name


class Histogram(Question):
    ask: Literal["histogram"]
    of: Name


class MostFrequent(Question):
    ask: Literal["most-frequent"]
    of: Name


class Quantiles(Question):
    ask: Literal["quantiles"]
    of: Name
    at: list[float] = Field(min_length=1, max_length=100)


class Fit(Priced):
    """A model. ``params`` are those of the recipe."""

    ask: Literal["fit"]
    recipe: Annotated[str, Field(min_length=1, max_length=60)]
    params: dict[Name, Scalar | list[Scalar] | dict[str, Scalar]] = Field(default_factory=dict, max_length=30)

    @field_validator("params")
    @classmethod
    def _public(cls, params: dict[str, Any]) -> dict[str, Any]:
        if (taken := sorted(params.keys() & set(REFUSED))) or params.get("variant", "sound") != "sound":
            raise ValueError(f"{taken[0] if taken else 'variant'} cannot be set here; leave it out")
        return params


class Score(Priced):
    """A private score of a model that one got as an answer."""

    ask: Literal["score"]
    of: AnswerId
    held_out: bool | None = None


Questions = Count | ClassCounts | Sum | Average | Histogram | MostFrequent | Quantiles
Any_ = Annotated[Questions | Fit | Score, Field(discriminator="ask")]


class Ask(RootModel[Any_]):
    """A question with its price."""

    @property
    def epsilon(self) -> Fraction:
        return Fraction(str(self.root.epsilon))

    def canonical(self) -> dict[str, Any]:
        """The question as it is stored, compared and answered: defaults left out, amounts exact."""
        found = self.root.model_dump(exclude_defaults=True)
        return found | {"ask": self.root.ask}


class Forecast(Strict):
    """A forecast of a question, by invented records."""

    ask: Ask
    records: int | None = Field(None, ge=10, le=10**9)
    signal: Literal["weak", "medium", "strong"] = "medium"


class Cap(Strict):
    epsilon: Amount
    delta: Amount = 0

    def loss(self) -> Loss:
        return Loss(amount(self.epsilon), amount(self.delta, "delta"))
