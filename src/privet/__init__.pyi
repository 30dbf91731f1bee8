# Written by tools/stubs.py; change what it is made from and run `make stubs`.
from privet.engines.opening import protect as protect
from privet.errors import BudgetExceeded as BudgetExceeded
from privet.errors import EngineError as EngineError
from privet.errors import EpsilonError as EpsilonError
from privet.errors import FitStopped as FitStopped
from privet.errors import JournalError as JournalError
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
from privet.errors import TableError as TableError
from privet.estimators.classifiers import AdditiveClassifier as AdditiveClassifier
from privet.estimators.classifiers import DiffPC45Classifier as DiffPC45Classifier
from privet.estimators.classifiers import DiffPID3Classifier as DiffPID3Classifier
from privet.estimators.classifiers import EmbeddedTreeClassifier as EmbeddedTreeClassifier
from privet.estimators.classifiers import ExactTreeClassifier as ExactTreeClassifier
from privet.estimators.classifiers import GreedyForestClassifier as GreedyForestClassifier
from privet.estimators.classifiers import Jagannathan2012Classifier as Jagannathan2012Classifier
from privet.estimators.classifiers import Jagannathan2013Classifier as Jagannathan2013Classifier
from privet.estimators.classifiers import Mohammed2015Classifier as Mohammed2015Classifier
from privet.estimators.classifiers import PatilSingh2014Classifier as PatilSingh2014Classifier
from privet.estimators.classifiers import PrivateForestClassifier as PrivateForestClassifier
from privet.estimators.classifiers import Rana2016Classifier as Rana2016Classifier
from privet.estimators.classifiers import SmoothForestClassifier as SmoothForestClassifier
from privet.estimators.classifiers import SNRForestClassifier as SNRForestClassifier
from privet.estimators.classifiers import SuLQTreeClassifier as SuLQTreeClassifier
from privet.estimators.registry import load_model as load_model
from privet.estimators.registry import make_classifier as make_classifier
from privet.evaluation.private_score import private_score as private_score
from privet.evaluation.private_search import PrivateSearchCV as PrivateSearchCV
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
from privet.report.writing import write_report as write_report
from privet.schema import Categorical as Categorical
from privet.schema import Numeric as Numeric
from privet.schema import Schema as Schema
from privet.schema import Unit as Unit

__version__: str
__all__ = [
    "AdditiveClassifier",
    "BudgetExceeded",
    "Categorical",
    "Certificate",
    "CoinFold",
    "DiffPC45Classifier",
    "DiffPID3Classifier",
    "EmbeddedTreeClassifier",
    "EngineError",
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
    "PrivacyWarning",
    "PrivateDataset",
    "PrivateForestClassifier",
    "PrivateSearchCV",
    "PrivetError",
    "Rana2016Classifier",
    "ReceiptError",
    "RecipeError",
    "ReservationError",
    "SNRForestClassifier",
    "Schema",
    "SchemaError",
    "ScoreError",
    "SmoothForestClassifier",
    "SuLQTreeClassifier",
    "TableError",
    "Unit",
    "__version__",
    "holdout",
    "list_recipes",
    "load_model",
    "make_classifier",
    "plot_ledger",
    "plot_shapes",
    "plot_tradeoff",
    "plot_tree",
    "private_score",
    "protect",
    "write_report",
]
