"""The public names are a decision, and importing the package is cheap."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import privet
from privet import errors

PUBLIC = [
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
PAPERS = [
    "DiffPC45Classifier",
    "DiffPID3Classifier",
    "EmbeddedTreeClassifier",
    "GreedyForestClassifier",
    "Jagannathan2012Classifier",
    "Jagannathan2013Classifier",
    "Mohammed2015Classifier",
    "PatilSingh2014Classifier",
    "Rana2016Classifier",
    "SNRForestClassifier",
    "SmoothForestClassifier",
    "SuLQTreeClassifier",
]
HEAVY = ["numba", "sklearn", "opendp", "pandas", "polars", "pyarrow", "scipy", "matplotlib"]


def test_the_list_is_pinned() -> None:
    assert privet.__all__ == PUBLIC
    assert dir(privet) == PUBLIC
    assert privet.papers.__all__ == dir(privet.papers) == PAPERS


def test_the_papers_classifiers_are_their_homes_objects() -> None:
    from privet.estimators import classifiers

    assert all(getattr(privet.papers, name) is getattr(classifiers, name) for name in PAPERS)
    with pytest.raises(AttributeError, match="'Shrubbery'"):
        privet.papers.Shrubbery  # noqa: B018


def test_the_list_and_the_homes_agree() -> None:
    assert set(privet.__all__) == {*privet._HOME, "__version__", "papers"}


@pytest.mark.parametrize("name", [n for n in PUBLIC if n not in ("__version__", "papers")])
def test_every_name_is_its_homes_object(name: str) -> None:
    home = importlib.import_module(privet._HOME[name])
    assert getattr(privet, name) is getattr(home, name)


def test_every_error_is_public() -> None:
    raised = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.PrivetError)}
    assert raised <= set(privet.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'Shrubbery'"):
        privet.Shrubbery  # noqa: B018


def loaded_by(statement: str) -> list[str]:
    probe = f"import sys\n{statement}\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_package_is_cheap() -> None:
    assert loaded_by("import privet; dir(privet); dir(privet.papers); privet.PrivetError") == []


def test_the_probe_can_fail() -> None:
    assert loaded_by("import scipy") == ["scipy"]
