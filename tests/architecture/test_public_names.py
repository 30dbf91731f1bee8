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
HEAVY = ["numba", "sklearn", "opendp", "pandas", "polars", "pyarrow", "scipy", "matplotlib"]


def test_the_list_is_pinned() -> None:
    assert privet.__all__ == PUBLIC
    assert dir(privet) == PUBLIC


def test_the_list_and_the_homes_agree() -> None:
    assert set(privet.__all__) == {*privet._HOME, "__version__"}


@pytest.mark.parametrize("name", [n for n in PUBLIC if not n.startswith("__")])
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
    assert loaded_by("import privet; dir(privet); privet.PrivetError") == []


def test_the_probe_can_fail() -> None:
    assert loaded_by("import scipy") == ["scipy"]
