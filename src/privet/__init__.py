"""privet: decision trees and forests grown under differential privacy.

This module holds the public names and nothing else. Each is imported on first use, so that `import privet` and
`privet --help` do not wait for scikit-learn, numba or OpenDP.

>>> import privet
>>> privet.Categorical("cough", values=(False, True)).name
'cough'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Public name -> the module it lives in.
_HOME = {
    "Categorical": "privet.schema",
    "Numeric": "privet.schema",
    "Schema": "privet.schema",
    "Certificate": "privet.privacy.ledger",
    "Ledger": "privet.privacy.ledger",
    "PrivateDataset": "privet.privacy.dataset",
    "protect": "privet.engines.opening",
    "DiffPC45Classifier": "privet.estimators.trees",
    "DiffPID3Classifier": "privet.estimators.trees",
    "EmbeddedTreeClassifier": "privet.estimators.embedded",
    "ExactTreeClassifier": "privet.estimators.trees",
    "GreedyForestClassifier": "privet.estimators.greedy_forests",
    "Jagannathan2012Classifier": "privet.estimators.forests",
    "Jagannathan2013Classifier": "privet.estimators.forests",
    "Mohammed2015Classifier": "privet.estimators.greedy_forests",
    "PatilSingh2014Classifier": "privet.estimators.greedy_forests",
    "PrivateForestClassifier": "privet.estimators.forests",
    "Rana2016Classifier": "privet.estimators.greedy_forests",
    "SNRForestClassifier": "privet.estimators.forests",
    "SmoothForestClassifier": "privet.estimators.forests",
    "SuLQTreeClassifier": "privet.estimators.trees",
    "load_model": "privet.estimators.registry",
    "make_classifier": "privet.estimators.registry",
    "CoinFold": "privet.scoring.splitting",
    "PrivateSearchCV": "privet.scoring.search",
    "holdout": "privet.scoring.splitting",
    "private_score": "privet.scoring.score",
    "recipes": "privet.recipes",  # the package itself: calling it lists what it holds
    "BudgetExceeded": "privet.errors",
    "EpsilonError": "privet.errors",
    "FitStopped": "privet.errors",
    "JournalError": "privet.errors",
    "ModelFileError": "privet.errors",
    "ParameterError": "privet.errors",
    "PrivacyError": "privet.errors",
    "PrivetError": "privet.errors",
    "ReceiptError": "privet.errors",
    "RecipeError": "privet.errors",
    "SchemaError": "privet.errors",
    "ScoreError": "privet.errors",
    "TableError": "privet.errors",
}

# Written out, not computed: type checkers and editors read it without running it. A test keeps it equal to _HOME.
__all__ = [
    "BudgetExceeded",
    "Categorical",
    "Certificate",
    "CoinFold",
    "DiffPC45Classifier",
    "DiffPID3Classifier",
    "EmbeddedTreeClassifier",
    "EpsilonError",
    "ExactTreeClassifier",
    "FitStopped",
    "GreedyForestClassifier",
    "Jagannathan2012Classifier",
    "Jagannathan2013Classifier",
    "JournalError",
    "Ledger",
    "ModelFileError",
    "Mohammed2015Classifier",
    "Numeric",
    "ParameterError",
    "PatilSingh2014Classifier",
    "PrivacyError",
    "PrivateDataset",
    "PrivateForestClassifier",
    "PrivateSearchCV",
    "PrivetError",
    "Rana2016Classifier",
    "ReceiptError",
    "RecipeError",
    "SNRForestClassifier",
    "Schema",
    "SchemaError",
    "ScoreError",
    "SmoothForestClassifier",
    "SuLQTreeClassifier",
    "TableError",
    "__version__",
    "holdout",
    "load_model",
    "make_classifier",
    "private_score",
    "protect",
    "recipes",
]

if TYPE_CHECKING:
    from privet import recipes
    from privet.engines.opening import protect
    from privet.errors import (
        BudgetExceeded,
        EpsilonError,
        FitStopped,
        JournalError,
        ModelFileError,
        ParameterError,
        PrivacyError,
        PrivetError,
        ReceiptError,
        RecipeError,
        SchemaError,
        ScoreError,
        TableError,
    )
    from privet.estimators.embedded import EmbeddedTreeClassifier
    from privet.estimators.forests import (
        Jagannathan2012Classifier,
        Jagannathan2013Classifier,
        PrivateForestClassifier,
        SmoothForestClassifier,
        SNRForestClassifier,
    )
    from privet.estimators.greedy_forests import (
        GreedyForestClassifier,
        Mohammed2015Classifier,
        PatilSingh2014Classifier,
        Rana2016Classifier,
    )
    from privet.estimators.registry import load_model, make_classifier
    from privet.estimators.trees import (
        DiffPC45Classifier,
        DiffPID3Classifier,
        ExactTreeClassifier,
        SuLQTreeClassifier,
    )
    from privet.privacy.dataset import PrivateDataset
    from privet.privacy.ledger import Certificate, Ledger
    from privet.schema import Categorical, Numeric, Schema
    from privet.scoring.score import private_score
    from privet.scoring.search import PrivateSearchCV
    from privet.scoring.splitting import CoinFold, holdout


def __getattr__(name: str) -> Any:
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'privet' has no attribute {name!r}") from None
    module = import_module(home)
    value = module if home == f"privet.{name}" else getattr(module, name)
    globals()[name] = value  # the next access does not come through here
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
