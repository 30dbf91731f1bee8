"""privet: decision trees and forests grown under differential privacy.

This module holds the public names and nothing else. Each is imported on first use, so that `import privet` and
`privet --help` do not wait for scikit-learn, numba or OpenDP.

>>> import privet
>>> privet.Categorical("cough", values=(False, True)).name
'cough'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.3.0.dev0"

# Public name -> the module it lives in.
_HOME = {
    "Categorical": "privet.schema",
    "Numeric": "privet.schema",
    "Schema": "privet.schema",
    "Unit": "privet.schema",
    "Certificate": "privet.promise",
    "Ledger": "privet.promise",
    "PrivateDataset": "privet.privacy.dataset",
    "protect": "privet.engines.opening",
    "AdditiveClassifier": "privet.estimators.classifiers",
    "AdditiveRegressor": "privet.estimators.classifiers",  # those of published methods are in `privet.papers`
    "ExactTreeClassifier": "privet.estimators.classifiers",
    "ExactTreeRegressor": "privet.estimators.classifiers",
    "PrivateForestClassifier": "privet.estimators.classifiers",
    "connect": "privet.client.connection",
    "list_recipes": "privet.recipes.registry",
    "load_model": "privet.estimators.registry",
    "make_classifier": "privet.estimators.registry",
    "plot_tradeoff": "privet.report.figures",
    "plot_ledger": "privet.report.figures",
    "plot_shapes": "privet.report.figures",
    "plot_tree": "privet.report.figures",
    "write_report": "privet.report.page",
    "CoinFold": "privet.evaluation.splitting",
    "PrivateSearch": "privet.evaluation.private_search",
    "holdout": "privet.evaluation.splitting",
    "private_score": "privet.evaluation.private_score",
    "BudgetExceeded": "privet.errors",
    "EngineError": "privet.errors",
    "EpsilonError": "privet.errors",
    "FitStopped": "privet.errors",
    "JournalError": "privet.errors",
    "MissingColumnsError": "privet.errors",
    "ModelFileError": "privet.errors",
    "ParameterError": "privet.errors",
    "PrivacyError": "privet.errors",
    "PrivacyWarning": "privet.errors",
    "PrivetError": "privet.errors",
    "ReceiptError": "privet.errors",
    "RecipeError": "privet.errors",
    "ReservationError": "privet.errors",
    "SchemaError": "privet.errors",
    "ScoreError": "privet.errors",
    "ServerError": "privet.errors",
    "TableError": "privet.errors",
}

# Type checkers and editors read `__init__.pyi`, which `make stubs` writes and a test compares.
__all__ = sorted([*_HOME, "__version__", "papers"])


def __getattr__(name: str) -> Any:
    if name == "papers":  # a module, imported like the names
        return import_module("privet.papers")
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'privet' has no attribute {name!r}") from None
    value = getattr(import_module(home), name)
    globals()[name] = value  # the next access does not come through here
    return value


def __dir__() -> list[str]:
    return __all__
