"""Audit everything that privet releases, exactly where that is possible and by many fits beside it, and write the page.

    python tools/audits.py [--fits 4000] [--processes 1] [--only NAME]... [--page]

Recipes are found by the registry. What is done is kept in .audits, so that an interrupted run goes on; delete that
folder after a change. ``--page`` only writes docs/experiments/audits.md from what was kept.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from audit_catches import catches

from privet.audit import exact, sample, tiny_schema, zoo
from privet.audit.exact import as_recipe
from privet.audit.sampling.recipes import RecipeFit, others, recipe_pairs, sampled_recipe
from privet.recipes.recipe import Recipe
from privet.recipes.registry import recipe_classes

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".audits"
PAGE = ROOT / "docs" / "experiments" / "audits.md"
ALPHA = 1e-3  # the probability of any false alarm on the page
CLAIM = Fraction(1)
WHOLE = 6000  # outputs of a single leaf at that claim
LONG = 1e6  # seconds: the number of fits is the limit, so that a busy machine changes nothing

HEAD = """# Every release, audited

`make audit` wrote this page. Each row is a release of privet with a claim of epsilon = 1 for adding or removing a
record. *Exact* is the largest loss over all draws that the [exact audit](../guide/audit.md) enumerated, on small
models; *sampled* is the largest lower confidence bound from fits with real noise, of models too large to enumerate
(depth 3, 8 trees), on the pairs of the same zoo. *Runs / fits* is how many each took. All sampled bounds together are
wrong with probability {alpha:g} at most. A bound below the claim proves nothing more than that, and 0.00 for a tree
says very little: see [what these fits would catch](#what-these-fits-would-catch). "As published" variants are there to
study the papers; those marked *not private* say so in every certificate, and are expected to fail.

![The loss that an audit attained beside the promise, for the first releases of the
table](../pictures/evidence/audits.svg)

*The loss that an audit attained beside the promise, for the first releases of the table (`python tools/evidence.py`).*

| release | variant | promises | exact | sampled | verdict | runs / fits | CPU s |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Subject:
    """One row: what to audit exactly, if that is possible, and what to fit."""

    name: str
    variant: str
    private: bool
    small: Recipe | None
    make: Callable[..., Any]
    delta: float = 0.0
    predicts: str = "classes"


def subjects() -> Iterator[Subject]:
    return releases(CLAIM)


def releases(epsilon: Fraction) -> Iterator[Subject]:
    """Everything to audit, with the noise of an epsilon. With more than the claim, it is what an audit must catch."""
    for name, kind in (recipe_classes() | recipe_classes("numbers")).items():
        for variant in kind.info.variants:
            large = sampled_recipe(name, variant=variant)
            private, delta = variant not in kind.unsound, float(large.loss(epsilon).delta)
            small = as_recipe(name, variant=variant)
            yield Subject(name, variant, private, small, RecipeFit(large, epsilon), delta, kind.predicts)
    for name, make in others(epsilon):
        yield Subject(name, "", True, None, make)
    for ask in (
        {"ask": "count"},
        {"ask": "class-counts"},
        {"ask": "fit", "recipe": "diffpid3", "params": {"max_depth": 2}},
    ):
        yield Subject(f"server: {ask['ask']}", "", True, None, ServerAnswer(json.dumps(ask), str(epsilon)))


@dataclass(frozen=True)
class ServerAnswer:
    """One answer of a server's worker: a snapshot of the table, then the code that a forked child runs."""

    ask: str
    epsilon: str

    def __call__(self, X: Any, y: Any) -> Any:
        from privet.server.answering import answer

        asked = json.loads(self.ask) | {"epsilon": self.epsilon}
        request = {"ask": asked, "loss": self.epsilon, "neighbours": "add-remove"}
        answered = answer(request | {"folder": str(snapshot(X, y))})
        answered.get("model", {}).pop("made", None)  # its date
        return answered


def snapshot(X: Any, y: Any) -> Path:
    """A table as the server keeps it; written once for each table."""
    from privet.engines.snapshots import write_snapshot

    place = Path(scratch().name) / f"{zlib.crc32(repr((X, y)).encode()):08x}"
    if not place.exists():
        schema = tiny_schema()
        write_snapshot(dict(X) | {schema.label.name: y}, schema, place, most_records=10**6)
    return place


@cache
def scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def file_of(subject: Subject, how: str) -> Path:
    return KEPT / f"{'-'.join(' '.join((subject.name, subject.variant, how)).split())}.json"


def keep(subject: Subject, how: str, work: Callable[[], dict[str, Any]]) -> None:
    """Do a piece of work and write down its result, unless that was done before."""
    file = file_of(subject, how)
    if not file.exists():
        start = time.process_time()
        found = work()
        found.setdefault("cpu_seconds", time.process_time() - start)
        KEPT.mkdir(exist_ok=True)
        draft = file.with_suffix(".part")
        draft.write_text(json.dumps(found), encoding="utf-8")
        draft.replace(file)


def known(subject: Subject, how: str) -> dict[str, Any] | None:
    file = file_of(subject, how)
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def exactly(recipe: Recipe) -> dict[str, Any]:
    """The exact audit of a small model; where draws that are not released keep it unclear, that of a single leaf too.

    The outputs of a leaf on one and two records are few enough to list.
    """
    found = exact(recipe, claimed=CLAIM)
    if found.verdict == "unclear":
        pairs = [pair for pair in zoo(tiny_schema()) if pair.name == "a single record"]
        leaf = exact(replace(recipe, n_estimators=1, max_depth=0), pairs, CLAIM, complete=WHOLE)
        found = replace(found.with_worse(leaf), runs=found.runs + leaf.runs)
    return found.to_dict()


def sampled(subject: Subject, alpha: float, fits: int, processes: int) -> dict[str, Any]:
    return sample(
        subject.make, recipe_pairs(predicts=subject.predicts), float(CLAIM), subject.delta, alpha, LONG,
        function=True, max_fits=fits, processes=processes,
    ).to_dict()  # fmt: skip


def row(subject: Subject) -> str:
    listed, by_fits = known(subject, "exact"), known(subject, "sampled")
    verdicts = [one["verdict"] for one in (listed, by_fits) if one]
    verdict = "violated" if "violated" in verdicts else (verdicts or ["not run"])[0]
    bound = "not run" if subject.small else "-"
    if listed:
        bound = "infinite" if listed["lower_bound"] == "infinity" else f"{listed['lower_bound']:.3f}"
    cells = (
        subject.name,
        subject.variant or "-",
        "epsilon 1" + (f", delta {subject.delta:g}" if subject.delta else "") if subject.private else "*not private*",
        bound,
        f"{by_fits['bound']:.2f}" if by_fits else "not run",
        verdict,
        f"{listed['runs'] if listed else '-'} / {by_fits['fits'] if by_fits else '-'}",
        f"{sum(one['cpu_seconds'] for one in (listed, by_fits) if one):.0f}",
    )
    return f"| {' | '.join(cells)} |\n"


def page(everyone: list[Subject]) -> str:
    where = []
    for subject in everyone:
        listed, by_fits = known(subject, "exact"), known(subject, "sampled")
        name = " ".join(f"{subject.name} {subject.variant}".split())
        if listed and listed["verdict"] != "holds":
            where.append(f"- {name}, exactly: {listed['pair']}: {listed['reason'] or 'a larger loss than claimed'}.\n")
        if by_fits and by_fits["verdict"] == "violated":
            counts = f"{by_fits['hits']} of {by_fits['tries']} fits against {by_fits['other_hits']}"
            where.append(f"- {name}, by fits: {by_fits['pair']}: {by_fits['event']}, {counts}.\n".replace("|", "/"))
    text = HEAD.format(alpha=ALPHA) + "".join(map(row, everyone)) + catches()
    return text + ("\n## Where promises break\n\n" + "".join(where) if where else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fits", type=int, default=4000, help="for each release")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", action="append", help="a release by its name; may be repeated")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    everyone = list(subjects())
    chosen = [] if given.page else [one for one in everyone if not given.only or one.name in given.only]
    alpha = ALPHA / len(everyone)
    for how in ("exact", "sampled"):  # the exact ones first: they say most
        for number, subject in enumerate(chosen, 1):
            print(f"{how} {number} of {len(chosen)}: {subject.name} {subject.variant}", flush=True)
            if how == "sampled":
                keep(subject, how, lambda one=subject: sampled(one, alpha, given.fits, given.processes))
            elif subject.small is not None:
                keep(subject, how, lambda one=subject: exactly(one.small))
            PAGE.write_text(_wrapped(page(everyone)), encoding="utf-8")
    PAGE.write_text(_wrapped(page(everyone)), encoding="utf-8")
    broken = [one.name for one in everyone if one.private and "| violated |" in row(one)]
    for name in broken:
        print(f"{name} promises privacy and breaks its promise")
    return 1 if broken else 0


def _wrapped(text: str) -> str:
    """Lines of at most 120 columns; rows of a table stay whole."""
    import textwrap

    lines = []
    for line in text.splitlines():
        item = line.startswith("- ")
        lines += textwrap.wrap(line, 120, subsequent_indent="  ", break_on_hyphens=False) if item else [line]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
