"""``score`` of a private estimator: scikit-learn's exact figure, with a warning that it is not charged."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from privet.errors import PrivacyWarning


class ExactScore:
    """A mixin, before scikit-learn's ``ClassifierMixin`` or ``RegressorMixin``."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The exact accuracy on these records, or R2 where a number is predicted.

        NOT PRIVATE: it is charged to no ledger; a warning says so once.
        """
        warn_once()
        exact: float = super().score(X, y, sample_weight)  # type: ignore[misc]  # of scikit-learn's mixin
        return exact


@cache
def warn_once() -> None:
    """Warn in the first call of a process."""
    warnings.warn(
        "score() counts exactly and charges no ledger: do not publish it if its records are private. "
        "privet.private_score buys a private one",
        PrivacyWarning,
        stacklevel=3,
    )
