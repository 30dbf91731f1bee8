"""The README's examples run, in order, and end as the last line says: with a refusal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from privet.errors import BudgetExceeded

README = Path(__file__).parents[1] / "README.md"


def test_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # one of them saves a model
    examples = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    *answered, refused = "\n".join(examples).strip().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(answered), names)
    assert "BudgetExceeded" in refused
    with pytest.raises(BudgetExceeded):
        exec(refused, names)
