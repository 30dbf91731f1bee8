"""The page of all audits says what such audits can catch, as it was counted."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / "tools")]
from audit_catches import catches  # noqa: E402

PAGE = ROOT / "docs" / "experiments" / "audits.md"


def test_the_page_has_the_figures_as_they_were_counted() -> None:
    assert catches() in PAGE.read_text("utf-8")


def test_planted_losses_were_caught_and_a_true_claim_was_not_refuted() -> None:
    page = PAGE.read_text("utf-8")
    assert "| count | 1.5 | 20 of 20 |" in page
    assert "| choice | 1.5 | 20 of 20 |" in page
    assert any(f"| count | 1 | {alarms} of 200 |" in page for alarms in (0, 1, 2))
