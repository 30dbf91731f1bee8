"""Audit other libraries, each in an environment of its own, and print what was found.

    python tools/audit_libraries.py [--seconds 600] [--json FILE]

The environments are made on first use, in .venv-rivals; they need a package index. A library that cannot be installed
is skipped, loudly. Each audit runs `privet audit --object`, as docs/guide/audit-your-library.md shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RIVALS = ROOT / ".venv-rivals"
# Environment: its packages. diffprivlib does not import with a current scikit-learn.
ENVIRONMENTS = {
    "audit-diffprivlib": ("diffprivlib==0.6.6", "scikit-learn==1.6.1"),
    "audit-interpret": ("interpret-core[required]==0.7.8", "pandas"),
}
# What is audited, in which environment, and whether it is expected to keep its promise.
AUDITS = (
    ("diffprivlib 0.6.6, forest of ten trees", "audit-diffprivlib", "diffprivlib_forest:forest", "pairs", "0", False),
    ("diffprivlib 0.6.6, one tree (control)", "audit-diffprivlib", "diffprivlib_forest:one_tree", "pairs", "0", True),
    ("DP-EBM 0.7.8, a category of one record", "audit-interpret", "dp_ebm:ebm", "a_category", "1e-5", False),
    ("DP-EBM 0.7.8, any record", "audit-interpret", "dp_ebm:ebm", "any_record", "1e-5", False),
)


def set_up(environment: str) -> Path | None:
    """The interpreter of an environment, or None where it cannot be made."""
    folder = RIVALS / environment
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        packages = ENVIRONMENTS[environment]
        print(f"setting up {folder.relative_to(ROOT)} for {', '.join(packages)} (once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", *packages, "-e", str(ROOT)]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
            print(f"SKIPPED: {', '.join(packages)} cannot be installed here: {last}", file=sys.stderr)
            return None
        (folder / "installed").touch()
    return python


def audit(python: Path, target: str, pairs: str, delta: str, seconds: float) -> dict[str, Any]:
    module = target.partition(":")[0]
    command = [str(python), "-m", "privet", "audit", "--object", target, "--pairs", f"{module}:{pairs}"]
    command += ["--epsilon", "1", "--delta", delta, "--seconds", str(seconds), "--json"]
    quiet = os.environ | {"OMP_NUM_THREADS": "1"}
    folder = ROOT / "examples" / "audits"
    done = subprocess.run(command, cwd=folder, env=quiet, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout.strip():
        raise SystemExit(f"the audit of {target} wrote nothing and ended with {done.returncode}")
    return json.loads(done.stdout)["results"][0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="for each audit")
    parser.add_argument("--json", type=Path, help="write what was found into this file")
    given = parser.parse_args()
    found, surprises = [], 0
    for name, environment, target, pairs, delta, kept in AUDITS:
        python = set_up(environment)
        if python is None:
            continue
        result = audit(python, target, pairs, delta, given.seconds) | {"name": name, "target": target, "kept": kept}
        found.append(result)
        # An audit that ran out of time before its first look shows nothing, so it is no pass.
        surprises += (result["verdict"] == "violated") == kept or not result["tries"]
        print(
            f"{name}: {result['verdict']}, a loss of at least {result['bound']:.2f} at a claim of 1; "
            f"{result['event']} ({result['hits']} of {result['tries']} against {result['other_hits']} of "
            f"{result['other_tries']}); {result['pair']}; {result['fits']} fits, {result['cpu_seconds']:.0f} CPU s"
            f"{'; ' + result['note'] if result.get('note') else ''}",
            flush=True,
        )
        if given.json:
            given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 1 if surprises else 0


if __name__ == "__main__":
    raise SystemExit(main())
