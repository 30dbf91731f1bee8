"""What the benchmarks share: a table, its schema, and rivals in an environment of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ATTRIBUTES, VALUES = 14, 20
RIVALS = Path(".venv-rivals")  # diffprivlib does not import with a current scikit-learn
PACKAGES = ("diffprivlib", "interpret-core", "scikit-learn==1.6.1")


def table(records: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.integers(0, VALUES, (records, ATTRIBUTES), dtype=np.uint8)
    rule = (X[:, 3] > 9) ^ ((X[:, 7] > 4) & (X[:, 1] < 12))
    return X, (rule ^ (random.random(records) < 0.1)).astype(np.uint8)


def schema():
    from privet import Categorical, Numeric, Schema

    cuts = tuple(v + 0.5 for v in range(VALUES - 1))
    names = [f"a{i}" for i in range(ATTRIBUTES)]
    attributes = tuple(Numeric(name, 0, VALUES - 1, integer=True, thresholds=cuts) for name in names)
    return Schema(attributes, Categorical("class", (0, 1)))


def ask_diffprivlib(script: str, X: np.ndarray, y: np.ndarray) -> Any:
    """What a script prints as JSON that is given the paths of X and y; diffprivlib is installed on first use."""
    return ask_rivals(script, X=X, y=y)


def ask_rivals(script: str, **arrays: np.ndarray) -> Any:
    """What a script prints as JSON that is given the paths of arrays; the rivals are installed on first use."""
    python = RIVALS / "bin" / "python"
    if not (RIVALS / "installed").exists():
        print("setting up", RIVALS, "for", ", ".join(PACKAGES), "(once)")
        subprocess.run([sys.executable, "-m", "venv", str(RIVALS)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (RIVALS / "installed").touch()
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{name}.npy") for name in arrays]
        for path, array in zip(paths, arrays.values(), strict=True):
            np.save(path, array)
        done = subprocess.run([str(python), "-c", script, *paths], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)
