"""Environments of other libraries: made on first use, in ``.venv-rivals``; they need a package index."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

RIVALS = Path(".venv-rivals")
# The packages of each environment, and a line that uses them.
ENVIRONMENTS = {
    "diffprivlib": (("diffprivlib", "scikit-learn==1.6.1"), "import diffprivlib.models"),  # not with a current one
    "interpret": (("interpret-core",), "import interpret.privacy"),
    "dp-xgboost": (("dp-xgboost", "numpy<2", "scipy<1.14"), "import dp_xgboost"),  # numpy 2 refuses how it copies
    "opacus": (("opacus", "torch==2.13.0"), "import opacus"),
    "dpmm": (("dpmm",), "import dpmm.pipelines"),
    "fedtree": (("fedtree",), "import fedtree"),
}


class RivalError(Exception):
    """A rival that cannot be installed, or that failed; the message is the last line it wrote."""


class RivalTooSlow(Exception):
    """A rival that took longer than it was given."""


def ask_rivals(environment: str, script: str, *, minutes: float | None = None, **arrays: npt.NDArray[Any]) -> Any:
    """What a script prints as JSON that is given the paths of arrays; its environment is made on first use."""
    python = set_up(environment)
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{name}.npy") for name in arrays]
        for path, array in zip(paths, arrays.values(), strict=True):
            np.save(path, array)
        asked = [*_limit(minutes), str(python), "-c", script, *paths]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if minutes is not None and done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise RivalTooSlow(f"it took more than {minutes:g} minutes of CPU time")
    if done.returncode:
        raise RivalError(_last_line(done.stderr))
    return json.loads(done.stdout)


def _limit(minutes: float | None) -> list[str]:
    """Before a command: stop it after so much processor time. A clock on the wall would count other programs' time."""
    if minutes is None:
        return []
    limited = "import os, resource, sys; n = int(sys.argv[1]); resource.setrlimit(resource.RLIMIT_CPU, (n, n)); "
    return [sys.executable, "-c", limited + "os.execv(sys.argv[2], sys.argv[2:])", str(math.ceil(60 * minutes))]


def set_up(environment: str) -> Path:
    """The interpreter of an environment with its packages; says why where they cannot be had."""
    packages, _ = ENVIRONMENTS[environment]
    folder = RIVALS / environment
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        print("setting up", folder, "for", ", ".join(packages), "(once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", *packages]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RivalError(_last_line(done.stderr))
        (folder / "installed").touch()
    return python


def probe() -> None:
    """Set every environment up and say what cannot be installed or imported, and why."""
    for environment, (packages, line) in ENVIRONMENTS.items():
        try:
            done = subprocess.run([str(set_up(environment)), "-c", line], capture_output=True, text=True, check=False)
            told = _last_line(done.stderr) if done.returncode else "installed and imported"
        except RivalError as error:
            told = f"not installed: {error}"
        print(f"{', '.join(packages):45} {told}")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it says nothing"])[-1]
