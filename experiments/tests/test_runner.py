"""One runner for every experiment: what is done is kept, whatever interrupts it, and is never done twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from privet.errors import ParameterError
from privet_experiments.experiment import Experiment, Found, Job, Row, axis, option_of
from privet_experiments.outcome import Outcome, Statement, Table, judged
from privet_experiments.runner import recall, run, with_axes, work
from privet_experiments.store import file_name


@dataclass(frozen=True)
class Squares(Experiment):
    """Numbers and their squares, as slowly as wanted; ``broken`` is a number that cannot be squared."""

    invented: ClassVar[bool] = True
    numbers: tuple[int, ...] = axis((1, 2, 3, 4, 5), "A number.")
    factor: int = axis(1, "By what a square is multiplied.")
    nap: float = 0.0
    broken: int = 0

    def jobs(self) -> list[Job]:
        return [{"number": number} for number in self.numbers]

    def run(self, job: Job) -> Found:
        if job["number"] == self.broken:
            raise ParameterError("this number cannot be squared")
        time.sleep(self.nap)
        return {"square": self.factor * job["number"] ** 2, "process": os.getpid()}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        cells = tuple((str(row["number"]), str(row["square"])) for row in rows)
        return Outcome((Table("Squares", ("number", "square"), cells),))


@dataclass(frozen=True)
class Thrice(Squares):
    repeats: int = axis(3, "How often.")

    def jobs(self) -> list[Job]:
        return [{"number": n, "repeat": repeat} for n in self.numbers for repeat in range(self.repeats)]


def squares(rows: Sequence[Row]) -> list[int]:
    return [row["square"] for row in rows]


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "squares.smoke.jsonl").read_text().splitlines()]


def test_a_job_is_a_line_and_is_done_once(tmp_path: Path) -> None:
    first = run("squares", "smoke", Squares(), out=tmp_path, processes=1)
    assert squares(first.rows) == [1, 4, 9, 16, 25]
    assert first.outcome.tables[0].rows[2] == ("3", "9")
    head, *others = lines(tmp_path)
    assert head["grid"] == {"numbers": [1, 2, 3, 4, 5], "factor": 1, "nap": 0.0, "broken": 0}
    assert [line["job"]["number"] for line in others] == [1, 2, 3, 4, 5]
    told: list[tuple[int, int]] = []
    again = run("squares", "smoke", Squares(), out=tmp_path, processes=1, progress=lambda *at: told.append(at))
    assert (again.resumed, again.rows, told) == (5, first.rows, [])
    assert len(lines(tmp_path)) == 6
    assert run("squares", "smoke", Squares(), out=tmp_path, processes=1, fresh=True).resumed == 0


def test_what_was_done_before_a_failure_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot be squared"):
        run("squares", "smoke", Squares(broken=4), out=tmp_path, processes=1)
    assert [line["job"]["number"] for line in lines(tmp_path)[1:]] == [1, 2, 3]


@pytest.mark.parametrize("torn", [b'{"job":{"numb', b'{"job":{"number":3},"found":{"square":9},"seconds":0', b"\xff"])
def test_a_torn_last_line_is_done_again(tmp_path: Path, torn: bytes) -> None:
    run("squares", "smoke", Squares(), out=tmp_path, processes=1)
    path = tmp_path / "squares.smoke.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)[:3]
    path.write_bytes(b"".join(kept) + torn)
    again = run("squares", "smoke", Squares(), out=tmp_path, processes=1)
    assert (again.resumed, squares(again.rows)) == (2, [1, 4, 9, 16, 25])
    assert [line["job"]["number"] for line in lines(tmp_path)[1:]] == [1, 2, 3, 4, 5]  # every line whole


def test_a_torn_first_line_starts_the_file_again(tmp_path: Path) -> None:
    (tmp_path / "squares.smoke.jsonl").write_bytes(b'{"experim')
    assert run("squares", "smoke", Squares(), out=tmp_path, processes=1).resumed == 0
    assert len(lines(tmp_path)) == 6


def test_damage_in_the_middle_is_not_passed_over(tmp_path: Path) -> None:
    run("squares", "smoke", Squares(), out=tmp_path, processes=1)
    path = tmp_path / "squares.smoke.jsonl"
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:2], b"{\n", *whole[3:]]))
    with pytest.raises(ParameterError, match=r"line 3 of .* is damaged; delete it, or begin anew"):
        run("squares", "smoke", Squares(), out=tmp_path, processes=1)


def test_results_of_another_grid_are_not_mixed_in(tmp_path: Path) -> None:
    run("squares", "smoke", Squares(), out=tmp_path, processes=1)
    with pytest.raises(ParameterError, match=r"another grid \(factor\), which do not belong.*fresh=True"):
        run("squares", "smoke", Squares(factor=2), out=tmp_path, processes=1)
    assert squares(run("squares", "smoke", Squares(factor=2), out=tmp_path, fresh=True, processes=1).rows)[2] == 18


def test_a_form_may_get_more_repeats(tmp_path: Path) -> None:
    run("squares", "smoke", Thrice((2, 3), repeats=2), out=tmp_path, processes=1)
    more = run("squares", "smoke", Thrice((2, 3), repeats=3), out=tmp_path, processes=1)
    assert (more.resumed, len(more.rows), len(lines(tmp_path))) == (4, 6, 7)
    assert lines(tmp_path)[0]["grid"]["repeats"] == 3
    assert [one.name for one in tmp_path.iterdir()] == ["squares.smoke.jsonl"]
    fewer = recall("squares", "smoke", Thrice((2, 3), repeats=1), tmp_path)
    assert fewer is not None
    assert squares(fewer.rows) == [4, 9]
    with pytest.raises(ParameterError, match=r"another grid \(factor, repeats\)"):
        run("squares", "smoke", Thrice((2, 3), factor=2, repeats=1), out=tmp_path, processes=1)


def test_a_form_with_other_axes_has_a_file_of_its_own() -> None:
    from privet_experiments.registry import entry

    quick = entry("fs-table1").form("quick")
    assert file_name("fs-table1", "quick", quick) == "fs-table1.quick.jsonl"
    others = {file_name("fs-table1", "quick", with_axes(quick, {"runs": runs})) for runs in (3, 4)}
    assert len(others) == 2
    assert all(name.startswith("fs-table1.quick.") and name.endswith(".jsonl") for name in others)


def test_two_processes_come_to_the_same(tmp_path: Path) -> None:
    serial = run("squares", "smoke", Squares(), processes=1)
    shared = run("squares", "smoke", Squares(nap=0.05), out=tmp_path, processes=2)
    assert squares(shared.rows) == squares(serial.rows)
    assert [row["number"] for row in shared.rows] == [1, 2, 3, 4, 5]  # whoever finished first
    assert os.getpid() not in {row["process"] for row in shared.rows}
    assert shared.outcome == serial.outcome


def test_what_was_cut_is_judged_by_its_whole_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats are done one after the other, whatever the order of the jobs."""
    kept: Any = ("squares", "smoke", Thrice(numbers=(2, 3)))
    clock = iter(range(100))
    monkeypatch.setattr("privet_experiments.runner.time.monotonic", lambda: next(clock))
    assert recall(*kept, tmp_path) is None
    assert not any(tmp_path.iterdir())  # reading leaves nothing behind
    for until in (3, 3):  # three jobs fit; then it is too late to begin one
        work(*kept, out=tmp_path, processes=1, until=until)
        assert [tuple(line["job"].values()) for line in lines(tmp_path)[1:]] == [(2, 0), (3, 0), (2, 1)]
    found = recall(*kept, tmp_path)
    assert found is not None
    assert (squares(found.rows), found.grid, found.repeats, found.wanted) == ([4, 9], Thrice((2, 3), repeats=1), 1, 3)
    assert work(*kept, out=tmp_path, processes=1, repeats=2)[1] == 3
    assert len(lines(tmp_path)) == 5
    whole = run(*kept, out=tmp_path, processes=1)
    assert (whole.repeats, whole.wanted, whole.resumed, len(whole.rows)) == (3, 3, 4, 6)


@dataclass(frozen=True)
class Tosses(Squares):
    """Ten tosses a repeat of coins that show heads so many times in ten; said to fall on heads more often than not."""

    repeats: int = axis(4, "How often.")
    heads: tuple[int, ...] = axis((5, 10), "Heads among ten, in the first repeat and in the others.")

    @property
    def n_runs(self) -> int:
        return 10 * self.repeats

    def runs_in(self, row: Row) -> int:
        return 10

    def jobs(self) -> list[Job]:
        return [{"repeat": repeat} for repeat in range(self.repeats)]

    def run(self, job: Job) -> Found:
        heads = self.heads[min(job["repeat"], len(self.heads) - 1)]
        return {"fell": [1] * heads + [0] * (10 - heads)}

    def conclude(self, rows: Sequence[Row]) -> Outcome:
        share = sum(sum(row["fell"]) for row in rows) / self.n_runs
        return Outcome((), (), (Statement("T", "heads", "more", f"{share}", judged(share > 0.5)),))


def test_a_form_ends_when_its_statements_are_settled(tmp_path: Path) -> None:
    """Ten tosses of a fair coin settle nothing; ten more that are all heads do."""
    kept: Any = ("squares", "smoke", Tosses())
    cut = run("squares", "smoke", Tosses(), processes=1)
    assert (cut.repeats, cut.wanted, cut.settled) == (2, 4, True)
    for most, jobs, settled in ((1, 1, False), (3, 2, True), (None, 2, True)):
        worked = work(*kept, out=tmp_path, processes=1, repeats=most)
        assert (len(worked.done), worked.settled) == (jobs, settled)
    found = recall(*kept, tmp_path)
    assert found is not None
    assert (found.repeats, found.settled, found.outcome.statements[0].verdict) == (2, True, "reproduced")
    never = run("squares", "smoke", Tosses(heads=(5,)), processes=1)
    assert (never.repeats, never.settled, never.outcome.statements[0].verdict) == (4, False, "too few runs")


@dataclass(frozen=True)
class ByTable(Squares):
    by_table: ClassVar[bool] = True
    tables: tuple[str, ...] = axis(("a", "b", "c"), "A table.")

    def jobs(self) -> list[Job]:
        return [{"table": table, "number": number} for table in self.tables for number in self.numbers]


def test_of_a_grid_by_table_the_tables_that_are_done_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: Any = ("squares", "smoke", ByTable((2, 3)))
    clock = iter(range(100))
    monkeypatch.setattr("privet_experiments.runner.time.monotonic", lambda: next(clock))
    work(*kept, out=tmp_path, processes=1, until=1)
    assert recall(*kept, tmp_path) is None  # one job of two of the first table
    work(*kept, out=tmp_path, processes=1, until=4)
    found = recall(*kept, tmp_path)
    assert found is not None
    assert (squares(found.rows), found.grid, found.left, found.cut) == (
        [4, 9],
        ByTable((2, 3), tables=("a",)),
        ("b", "c"),
        True,
    )
    whole = run(*kept, out=tmp_path, processes=1)
    assert (len(whole.rows), whole.left, whole.cut) == (6, (), False)


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from test_runner import Squares
from privet_experiments.runner import run

def tell(done, total):
    print(done, flush=True)

if __name__ == "__main__":
    run("squares", "smoke", Squares(tuple(range(1, 60)), nap=0.2), out=Path({out!r}), processes={processes},
        progress=tell)
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_ctrl_c_keeps_what_is_done(tmp_path: Path, processes: int) -> None:
    program = tmp_path / "squaring.py"
    program.write_text(PROGRAM.format(folder=str(Path(__file__).parent), out=str(tmp_path), processes=processes))
    child = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "1\n"
    child.send_signal(signal.SIGINT)
    child.wait(30)
    assert child.returncode != 0
    kept = len(lines(tmp_path)) - 1
    assert 1 <= kept < 59
    grid = Squares(tuple(range(1, 60)), nap=0.2)
    path = tmp_path / "squares.smoke.jsonl"
    path.write_text(path.read_text().replace('"nap":0.2', '"nap":0.0'))  # the rest without naps
    again = run("squares", "smoke", with_nap(grid), out=tmp_path, processes=1)
    assert (again.resumed, squares(again.rows)) == (kept, [n * n for n in range(1, 60)])


def with_nap(grid: Squares) -> Squares:
    return Squares(grid.numbers)


def test_axes_are_checked(tmp_path: Path) -> None:
    for grid, message in (
        (Squares(()), "numbers must not be empty"),
        (Squares(factor=0), "factor must be at least 1, not 0"),
        (Squares((2, 2)), "would do a job twice"),
    ):
        with pytest.raises(ParameterError, match=message):
            run("squares", "smoke", grid, out=tmp_path)
    assert list(tmp_path.iterdir()) == []  # before anything is written
    with pytest.raises(ParameterError, match="no axis 'power'; it has factor, numbers"):
        with_axes(Squares(), {"power": 3})
    assert [option_of(one) for one in Squares().axes()] == ["--number", "--factor"]


def test_a_result_is_plain_json() -> None:
    @dataclass(frozen=True)
    class Odd(Squares):
        def run(self, job: Job) -> Found:
            return {"square": float("nan")} if job["number"] > 1 else {"number": 1}

    with pytest.raises(ValueError, match="share the name 'number'"):
        run("odd", "smoke", Odd((1,)), processes=1)
    with pytest.raises(ValueError, match="JSON compliant"):
        run("odd", "smoke", Odd((2,)), processes=1)
