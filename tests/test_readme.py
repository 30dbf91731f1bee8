"""The README's first example runs, and ends as it says: with a refusal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from privet.errors import BudgetExceeded

README = Path(__file__).parents[1] / "README.md"


def test_the_first_example() -> None:
    example = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert example
    names: dict[str, object] = {}
    *answered, refused = example[1].strip().splitlines()
    exec("\n".join(answered), names)
    assert "BudgetExceeded" in refused
    with pytest.raises(BudgetExceeded):
        exec(refused, names)
