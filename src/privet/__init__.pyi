# Written by tools/stubs.py; change what it is made from and run `make stubs`.
from privet import papers as papers
from privet.client.connection import connect as connect
from privet.engines.opening import protect as protect
from privet.errors import BudgetExceeded as BudgetExceeded
from privet.errors import EngineError as EngineError
from privet.errors import EpsilonError as EpsilonError
from privet.errors import FitStopped as FitStopped
from privet.errors import JournalError as JournalError
from privet.errors import MissingColumnsError as MissingColumnsError
from privet.errors import ModelFileError as ModelFileError
from privet.errors import ParameterError as ParameterError
from privet.errors import PrivacyError as PrivacyError
from privet.errors import PrivacyWarning as PrivacyWarning
from privet.errors import PrivetError as PrivetError
from privet.errors import ReceiptError as ReceiptError
from privet.errors import RecipeError as RecipeError
from privet.errors import ReservationError as ReservationError
from privet.errors import SchemaError as SchemaError
from privet.errors import ScoreError as ScoreError
from privet.errors import ServerError as ServerError
from privet.errors import TableError as TableError
from privet.estimators.classifiers import AdditiveClassifier as AdditiveClassifier
from privet.estimators.classifiers import AdditiveRegressor as AdditiveRegressor
from privet.estimators.classifiers import ExactTreeClassifier as ExactTreeClassifier
from privet.estimators.classifiers import ExactTreeRegressor as ExactTreeRegressor
from privet.estimators.classifiers import PrivateForestClassifier as PrivateForestClassifier
from privet.estimators.registry import load_model as load_model
from privet.estimators.registry import make_classifier as make_classifier
from privet.evaluation.private_score import private_score as private_score
from privet.evaluation.private_search import PrivateSearch as PrivateSearch
from privet.evaluation.splitting import CoinFold as CoinFold
from privet.evaluation.splitting import holdout as holdout
from privet.privacy.dataset import PrivateDataset as PrivateDataset
from privet.promise import Certificate as Certificate
from privet.promise import Ledger as Ledger
from privet.recipes.registry import list_recipes as list_recipes
from privet.report.figures import plot_ledger as plot_ledger
from privet.report.figures import plot_shapes as plot_shapes
from privet.report.figures import plot_tradeoff as plot_tradeoff
from privet.report.figures import plot_tree as plot_tree
from privet.report.page import write_report as write_report
from privet.schema import Categorical as Categorical
from privet.schema import Numeric as Numeric
from privet.schema import Schema as Schema
from privet.schema import Unit as Unit

__version__: str
__all__ = [
    "AdditiveClassifier",
    "AdditiveRegressor",
    "BudgetExceeded",
    "Categorical",
    "Certificate",
    "CoinFold",
    "EngineError",
    "EpsilonError",
    "ExactTreeClassifier",
    "ExactTreeRegressor",
    "FitStopped",
    "JournalError",
    "Ledger",
    "MissingColumnsError",
    "ModelFileError",
    "Numeric",
    "ParameterError",
    "PrivacyError",
    "PrivacyWarning",
    "PrivateDataset",
    "PrivateForestClassifier",
    "PrivateSearch",
    "PrivetError",
    "ReceiptError",
    "RecipeError",
    "ReservationError",
    "Schema",
    "SchemaError",
    "ScoreError",
    "ServerError",
    "TableError",
    "Unit",
    "__version__",
    "connect",
    "holdout",
    "list_recipes",
    "load_model",
    "make_classifier",
    "papers",
    "plot_ledger",
    "plot_shapes",
    "plot_tradeoff",
    "plot_tree",
    "private_score",
    "protect",
    "write_report",
]
