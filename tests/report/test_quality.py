"""A private score on a model's page: its figure, its own price, and scores that are of another model."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privet.cli import app
from privet.errors import ParameterError
from privet.evaluation.private_result import PrivateScore
from privet.models.model import Model
from privet.privacy.certificate import Certificate
from privet.report.page import model_page
from privet.report.quality import quality_context

COUNTS = (((400,), (60,)), ((90,), (-2,)))


def score(model: Model, counts: Any = COUNTS, classes: tuple[str, ...] | None = None) -> PrivateScore:
    kinds = classes or model.schema.classes
    certificate = Certificate.from_dict(model.certificate)
    return PrivateScore(kinds, counts, Fraction(1, 10), Fraction(10), True, certificate)


def test_the_figure_is_at_the_top_with_its_own_price(tree_model: Model) -> None:
    page = model_page(tree_model, score(tree_model))
    assert 'href="#quality"' in page
    assert page.count("right in 7") == 2  # in the header and in the section
    assert "at epsilon = 0.5 of its own" in page
    assert "the owner stated that none of the scored records trained the model" in page
    assert "yes &lt;b&gt;" in page


def test_without_a_score_nothing_is_claimed(tree_model: Model) -> None:
    assert "how good" not in model_page(tree_model).lower()


def test_what_noise_hides_is_unknown(tree_model: Model) -> None:
    found = quality_context(score(tree_model, (((-9,), (-9,)), ((-9,), (-9,)))), tree_model.schema)
    assert found["headline"].startswith("unknown")


@pytest.mark.parametrize("wrong", [{}, {"classes": 3}, {"classes": ["no", "yes <b>"], "certificate": []}, []])
def test_what_is_no_score_is_refused(wrong: Any, tree_model: Model) -> None:
    with pytest.raises(ParameterError, match="score"):
        quality_context(wrong, tree_model.schema)


def test_a_score_of_other_labels_is_refused(tree_model: Model) -> None:
    with pytest.raises(ParameterError, match="other labels"):
        quality_context(score(tree_model, classes=("a", "b")), tree_model.schema)


def test_the_command_takes_what_privet_score_printed(tree_model: Model, tmp_path: Path, capsys: Any) -> None:
    from privet.models.codec import to_text

    (tmp_path / "tree.json").write_text(to_text(tree_model))
    (tmp_path / "score.json").write_text(json.dumps(score(tree_model).to_dict() | {"left": "1"}))
    names = [str(tmp_path / name) for name in ("tree.json", "tree.html", "score.json")]
    app(["report", names[0], "-o", names[1], "--score", names[2]], standalone_mode=False)
    assert "How good it is" in Path(names[1]).read_text("utf-8")
