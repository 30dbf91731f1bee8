"""What the benchmarks share: a table, its schema, and rivals, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ATTRIBUTES, VALUES = 14, 20
RIVALS = Path(".venv-rivals")
# The packages of each environment, and a line that uses them.
ENVIRONMENTS = {
    "diffprivlib": (("diffprivlib", "scikit-learn==1.6.1"), "import diffprivlib.models"),  # not with a current one
    "interpret": (("interpret-core",), "import interpret.privacy"),
    "dp-xgboost": (("dp-xgboost", "numpy<2", "scipy<1.14"), "import dp_xgboost"),  # numpy 2 refuses how it copies
    "fedtree": (("fedtree",), "import fedtree"),
}


class RivalError(Exception):
    """A rival that cannot be installed, or that failed; the message is the last line it wrote."""


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
    """What a script prints as JSON that is given the paths of X and y."""
    return ask_rivals("diffprivlib", script, X=X, y=y)


def ask_rivals(environment: str, script: str, **arrays: np.ndarray) -> Any:
    """What a script prints as JSON that is given the paths of arrays; its environment is made on first use."""
    python = set_up(environment)
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{name}.npy") for name in arrays]
        for path, array in zip(paths, arrays.values(), strict=True):
            np.save(path, array)
        done = subprocess.run([str(python), "-c", script, *paths], capture_output=True, text=True)
    if done.returncode:
        raise RivalError(_last_line(done.stderr))
    return json.loads(done.stdout)


def set_up(environment: str) -> Path:
    """The interpreter of an environment with its packages; says why where they cannot be had."""
    packages, _ = ENVIRONMENTS[environment]
    folder = RIVALS / environment
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        print("setting up", folder, "for", ", ".join(packages), "(once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", *packages]
        done = subprocess.run(pip, capture_output=True, text=True)
        if done.returncode:
            raise RivalError(_last_line(done.stderr))
        (folder / "installed").touch()
    return python


def probe() -> None:
    """Set every environment up and say what cannot be installed or imported, and why."""
    for environment, (packages, line) in ENVIRONMENTS.items():
        try:
            done = subprocess.run([str(set_up(environment)), "-c", line], capture_output=True, text=True)
            told = _last_line(done.stderr) if done.returncode else "installed and imported"
        except RivalError as error:
            told = f"not installed: {error}"
        print(f"{', '.join(packages):45} {told}")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it says nothing"])[-1]
