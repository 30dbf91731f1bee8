"""The section of docs/experiments/audits.md about the audits themselves, from what tools/audit_power.py counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parents[1] / "docs" / "experiments" / "audits-power.json"
LOSSES = (2, 4, 8, 16)
PLANTED = """
## What these fits would catch

`python tools/audit_power.py` counted this. Simple mechanisms with a known loss were audited at a claim of 1 and an
alpha of 0.001, each audit with noise of its own. The last one keeps the claim: to refute it is a false alarm.

| mechanism | its loss | refuted | most fits of an audit | CPU s |
|---|---|---|---|---|
"""
RELEASES = """
Then some of the releases above were fitted with the noise of a larger epsilon, as if a fault had made them lose that
much, and audited at a claim of 1 by 4,000 fits as above, once each. The table shows the bounds; bold ones refute the
claim, and then no larger epsilon was tried.

| release | epsilon 2 | epsilon 4 | epsilon 8 | epsilon 16 | CPU s |
|---|---|---|---|---|---|
"""
SO = """
Counts and scores show a loss of 2. A tree or a forest spreads its loss over many draws, and no event that 4,000 fits
can find shows all of it: *{worst}* could lose {missed} instead of 1 and pass. So the sampled column refutes gross
faults only, such as a fact that is read off the data. Whether the noise of a tree has the right size is shown by the
exact column, whose bounds come near the claim, and by the [planted faults](../proofs/planted_faults.md) that it finds.
"""


def catches() -> str:
    """The section, as Markdown."""
    planted, releases = "", dict[str, dict[int, dict[str, Any]]]()
    for name, one in json.loads(FIGURES.read_text("utf-8")).items():
        if "audits" in one:
            kind, loss = name.split(" of loss ")
            refuted = f"{one['violated']} of {one['audits']}"
            planted += f"| {kind} | {loss} | {refuted} | {one['most_fits']:,} | {one['cpu_seconds']} |\n"
        else:
            release, epsilon = name.split(" at epsilon ")
            releases.setdefault(release, {})[int(epsilon)] = one
    missed = {name: _largest_missed(at) for name, at in releases.items()}
    rows = "".join(_row(name, releases[name]) for name in sorted(releases, key=lambda one: (missed[one], one)))
    worst = max(missed, key=lambda one: missed[one])
    return PLANTED + planted + RELEASES + rows + SO.format(worst=worst, missed=missed[worst])


def _largest_missed(at: dict[int, dict[str, Any]]) -> int:
    return max((epsilon for epsilon, one in at.items() if one["verdict"] != "violated"), default=1)


def _row(name: str, at: dict[int, dict[str, Any]]) -> str:
    mark = {epsilon: "**" if one["verdict"] == "violated" else "" for epsilon, one in at.items()}
    cells = [f"{mark[e]}{at[e]['bound']:.2f}{mark[e]}" if e in at else "" for e in LOSSES]
    return f"| {' | '.join([name, *cells])} | {sum(one['cpu_seconds'] for one in at.values())} |\n"
