"""What sampled audits catch: planted losses, false alarms, and releases of privet that lose more than they claim.

    python tools/audit_power.py [--only NAME]...

The figures go into docs/experiments/audits-power.json, each as soon as it is there; `tools/audits.py` shows them on its
page. What the file already has is kept: delete it to count everything again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from audit_catches import FIGURES, LOSSES
from audits import ALPHA, CLAIM, LONG, Subject, releases, subjects

from privet.audit import sample
from privet.audit.sampling.recipes import recipe_pairs

ROOT = Path(__file__).parents[1]
# A mechanism, its true loss, how many fits an audit may take, and how often it is audited.
PLANTED = (("count", 1.5, 8_000, 20), ("choice", 1.5, 100_000, 20), ("count", 1.0, 8_000, 200))
FITS = 4000
RELEASES = ("server: count", "private score", "exact", "diffpid3", "random-forest", "additive", "publishing by dpcube")


def audits_of(kind: str, loss: float, fits: int, times: int) -> dict[str, Any]:
    """Many audits of a mechanism of the tests, at a claim of 1."""
    sys.path.insert(0, str(ROOT / "tests" / "audit" / "sampling"))
    from planted import ONE_PAIR, planted

    found = [
        sample(
            planted(kind, loss, seed),
            ONE_PAIR,
            1,
            alpha=ALPHA,
            seconds=LONG,
            function=True,
            search=False,
            max_fits=fits,
        )
        for seed in range(times)
    ]
    violated = sum(one.verdict == "violated" for one in found)
    return {"audits": times, "violated": violated, "most_fits": max(one.fits for one in found)}


def audit_of(subject: Subject, loss: int, alpha: float) -> dict[str, Any]:
    """The audit of a release as the page has it, with the noise of a larger epsilon."""
    one = sample(
        subject.make, recipe_pairs(predicts=subject.predicts), float(CLAIM), subject.delta, alpha, LONG,
        function=True, max_fits=FITS,
    )  # fmt: skip
    return {"verdict": one.verdict, "bound": round(one.bound, 2), "fits": one.fits}


def keep(name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    if name not in figures:
        start = time.process_time()
        found = work()
        figures[name] = found | {"cpu_seconds": round(time.process_time() - start)}
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        print(name, figures[name], flush=True)
    return figures[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", help="a release or mechanism by its name; may be repeated")
    wanted = parser.parse_args().only
    alpha = ALPHA / len(list(subjects()))
    for kind, loss, fits, times in PLANTED:
        if not wanted or kind in wanted:
            keep(f"{kind} of loss {loss:g}", lambda one=(kind, loss, fits, times): audits_of(*one))
    for name in RELEASES:
        for loss in LOSSES if not wanted or name in wanted else ():
            (subject,) = (one for one in releases(Fraction(loss)) if one.name == name and one.variant in ("sound", ""))
            found = keep(f"{name} at epsilon {loss}", lambda one=subject, at=loss: audit_of(one, at, alpha))
            if found["verdict"] == "violated":
                break


if __name__ == "__main__":
    main()
