"""The exceptions of privet, in one tree.

::

    PrivetError
    ├── ParameterError (ValueError)       an invalid argument
    │   ├── EpsilonError                  an epsilon that is not a positive finite number
    │   ├── RecipeError                   an unknown recipe, variant or option of one
    │   └── ScoreError                    a score that no mechanism can use (GainRatio)
    ├── SchemaError (ValueError)          a schema that contradicts itself
    ├── TableError (ValueError)           a table that does not have the declared form (a public fact)
    │   └── MissingColumnsError           a table that lacks declared columns
    ├── BudgetExceeded (RuntimeError)     requested more than remains; nothing was charged for it or drawn
    ├── ReservationError (RuntimeError)   a charge on a reservation that has ended, or a settlement while it runs
    ├── FitStopped (RuntimeError)         far fewer usable records than expected; the rest of epsilon was not charged
    ├── ReceiptError (RuntimeError)       a receipt redeemed twice, or for a cell it does not cover
    ├── JournalError (RuntimeError)       a ledger file that cannot be read, written or trusted
    ├── EngineError (RuntimeError)        a database, a cluster or a disk that failed while records were read or counted
    ├── PrivacyError (TypeError)          records asked for outside a mechanism (len, iteration, pickle)
    ├── ModelFileError (ValueError)       a model file that is damaged, foreign or from the future
    └── ServerError (RuntimeError)        a data owner's server that refused, failed or cannot be reached

    PrivacyWarning (UserWarning)          the call was carried out, and its result is not private

Messages name the argument and the fix. No message ever shows a value of a private row.

An error carries its facts: ``parameter`` (the argument that is wrong), ``problem`` (what is wrong) and ``fix`` (what to
do about it), where they are known. Arguments inside a problem or a fix are :class:`Setting` objects, so that a command
line writes ``--max-depth`` where Python writes ``max_depth``; see :meth:`PrivetError.text`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """An argument named in a message, and the value that it should have, if the message gives one.

    >>> str(Setting("max_depth")), str(Setting("tests", "binary"))
    ('max_depth', "tests='binary'")
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


Text = str | tuple[str | Setting, ...]
"""A text, in parts where it names arguments."""
Spelling = Callable[[Setting], str]


def written(text: Text, spell: Spelling = str) -> str:
    """A text with its arguments spelt out.

    >>> written(("lower ", Setting("max_depth")), lambda one: "--" + one.name.replace("_", "-"))
    'lower --max-depth'
    """
    parts = (text,) if isinstance(text, str) else text
    return "".join(spell(part) if isinstance(part, Setting) else part for part in parts)


class PrivetError(Exception):
    """Root of all errors raised on purpose by privet.

    With ``problem`` the message is "parameter problem; fix"; otherwise the first argument is a whole sentence.
    """

    def __init__(
        self, message: Text = "", *, parameter: str | None = None, problem: Text | None = None, fix: Text | None = None
    ) -> None:
        self.parameter = parameter
        self.problem = message if problem is None else problem
        self.fix = fix
        self._names_parameter = problem is not None
        super().__init__(self.text())

    def text(self, spell: Spelling = str) -> str:
        """The message. ``spell`` writes the arguments; the default is Python's spelling."""
        subject = f"{spell(Setting(self.parameter))} " if self._names_parameter and self.parameter else ""
        fix = "" if self.fix is None else f"; {written(self.fix, spell)}"
        return f"{subject}{written(self.problem, spell)}{fix}"


class ParameterError(PrivetError, ValueError):
    """An invalid argument; the message names it and the fix."""


class EpsilonError(ParameterError):
    """An epsilon that is not a positive finite number."""


class RecipeError(ParameterError):
    """An unknown recipe, or an option the recipe does not have."""


class ScoreError(ParameterError):
    """A score whose sensitivity makes it useless or unbounded."""


class SchemaError(PrivetError, ValueError):
    """A schema that contradicts itself."""


class TableError(PrivetError, ValueError):
    """A table that does not have the shape the schema declares."""


class MissingColumnsError(TableError):
    """A table that lacks ``columns`` that it must have."""

    def __init__(self, message: str, columns: tuple[str, ...]) -> None:
        self.columns = columns
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.columns)


class BudgetExceeded(PrivetError, RuntimeError):
    """A charge larger than what remains. Nothing was charged for it and nothing was drawn.

    ``charged`` is what the same work has charged before: that stays charged.
    """

    def __init__(
        self,
        requested: Fraction,
        remaining: Fraction,
        account: str,
        what: str,
        currency: str = "epsilon",
        charged: Fraction = Fraction(0),
    ) -> None:
        self.requested = requested
        self.remaining = remaining
        self.account = account
        self.what = what
        self.currency = currency
        self.charged = charged
        before = "nothing was charged or released"
        if charged:
            before = f"it was not charged, but {currency} {_short(charged)} that this work charged before stays charged"
        fix: Text = "ask the data owner for a new budget"
        if remaining > 0:
            fix = ("ask with ", Setting(currency), f" {_short(remaining)} or less")
        short = _short(requested - remaining)
        super().__init__(
            f"{what!r} asks for {currency} {_short(requested)} but {account} has {_short(remaining)} left "
            f"({short} short); {before}",
            parameter=currency,
            fix=fix,
        )

    def text(self, spell: Spelling = str) -> str:
        return f"{written(self.problem, spell)}. To go on, {written(self.fix or '', spell)}"

    def __reduce__(self) -> tuple[object, ...]:
        facts = self.requested, self.remaining, self.account, self.what, self.currency, self.charged
        return type(self), facts


class ReservationError(PrivetError, RuntimeError):
    """A charge on a reservation that has ended or was settled, or a settlement of one whose holder lives."""


class FitStopped(PrivetError, RuntimeError):
    """A fit that would learn from far fewer records than the owner expects. ``counted`` is noisy and was paid for."""

    def __init__(self, counted: int, expected: int, price: Fraction, rest: bool = True) -> None:
        self.counted = counted
        self.expected = expected
        self.price = price
        self.rest = rest
        cost = "The count cost epsilon {}; the rest was not charged" if rest else "All of epsilon {} was charged"
        super().__init__(
            f"the fit was stopped: about {counted} records are usable (a noisy count), where {expected} were expected. "
            f"{cost.format(_short(price))}. Labels are probably written differently than in the schema: let the data "
            "owner run `privet schema check`"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.counted, self.expected, self.price, self.rest)


class ReceiptError(PrivetError, RuntimeError):
    """A receipt was redeemed twice, or for a cell it does not cover."""


class JournalError(PrivetError, RuntimeError):
    """A ledger file that cannot be read, written or trusted."""


class EngineError(PrivetError, RuntimeError):
    """A source or an engine that failed. The text is fixed: a database's own message can quote a record."""


class PrivacyError(PrivetError, TypeError):
    """Records were asked for other than through a mechanism."""


class ModelFileError(PrivetError, ValueError):
    """A model file that is damaged, foreign, or written by a newer privet."""


class ServerError(PrivetError, RuntimeError):
    """A data owner's server that refused, failed or cannot be reached. ``kind`` and ``status`` are for programs."""

    def __init__(self, message: str, kind: str = "", status: int = 0) -> None:
        self.kind, self.status = kind, status
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.kind, self.status)


class PrivacyWarning(UserWarning):
    """What was asked for is done, but is not differentially private; its certificate says so too."""


def _short(amount: Fraction) -> str:
    """A decimal where it is exact, else the fraction: a rounded amount might not be there to spend."""
    decimal = f"{float(amount):g}"
    if amount.denominator.bit_length() > _LONGEST:
        return f"about {decimal}"
    return decimal if Fraction(decimal) == amount else str(amount)


_LONGEST = 200  # bits of a denominator that a message still prints
