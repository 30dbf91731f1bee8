"""One call compiles all kernels."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import privet
from privet.recipes.compiling import compile_all
from privet.structure import compiled

SRC = Path(privet.__file__).parent


def test_no_kernel_is_left_out() -> None:
    """Of all files that register one; what other tests called before does not count."""
    for file in SRC.rglob("*.py"):
        if "\n@kernel" in file.read_text("utf-8"):
            import_module(".".join(("privet", *file.relative_to(SRC).with_suffix("").parts)))
    compiled._loaded.clear()
    assert compiled.not_called()
    compile_all()
    assert compiled.not_called() == []
