"""Slots: each runs one question at a time, in fair turns between analysts, and stays taken until the answer is due.

If a slot were free as soon as the work is done, the start of the next question would reveal how long it took. So a slot
waits for the rung of its answer, also after a cancel. A job whose server stopped is done once more.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict, deque
from functools import partial
from pathlib import Path
from typing import Any

from privet.errors import JournalError, PrivetError
from privet.privacy.books import work
from privet.privacy.books.storage import Books
from privet.privacy.losses import Loss
from privet.server.logs import Log
from privet.server.metrics import Metrics
from privet.server.pricing import job_request
from privet.server.workers import Gone, Workers

SWEEP = 1.0  # seconds between looks for questions that nobody works on
JOB = (
    "SELECT j.ask, j.loss, j.attempt, j.begun, j.seconds, j.state, d.folder, p.neighbours, j.person FROM jobs j "
    "JOIN datasets d ON d.id = j.dataset JOIN populations p ON p.id = j.population WHERE j.id = ?"
)


class FairQueue:
    """Jobs in turns between people: a person's second job comes after the first jobs of all others."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, deque[str]] = OrderedDict()
        self._known: set[str] = set()
        self._closed = False

    def put(self, person: str, job: str) -> None:
        """Add a job, unless it is there or being worked on."""
        with self._changed:
            if job not in self._known:
                self._known.add(job)
                self._waiting.setdefault(person, deque()).append(job)
                self._changed.notify()

    def get(self) -> str | None:
        """The next job; None when the queue is closed."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            person, jobs = self._waiting.popitem(last=False)
            job = jobs.popleft()
            if jobs:
                self._waiting[person] = jobs  # at the end: others come first
            return job

    def done(self, job: str) -> None:
        with self._changed:
            self._known.discard(job)

    def __len__(self) -> int:
        with self._changed:
            return sum(map(len, self._waiting.values()))

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class Slots:
    """The threads that work through the queue, and the one that looks for what a stopped server left."""

    def __init__(self, books: Books, workers: Workers, metrics: Metrics, log: Log, number: int) -> None:
        self._books, self._workers, self._metrics, self._log = books, workers, metrics, log
        self.queue = FairQueue()
        self._taken, self._lock, self._closed = 0, threading.Lock(), threading.Event()
        metrics.gauges |= {"queue_length": lambda: len(self.queue), "slots_taken": lambda: self._taken}
        targets = [(self._loop, f"slot {i}") for i in range(number)] + [(self._sweep, "sweep")]
        self._threads = [threading.Thread(target=target, daemon=True, name=name) for target, name in targets]
        for thread in self._threads:
            thread.start()

    def _loop(self) -> None:
        while (job := self.queue.get()) is not None:
            with self._lock:
                self._taken += 1
            try:
                self.run(job)
            except Exception as error:  # a slot must go on; the sweep finds the job again if it still waits
                self._log.fault("slot", error)
                time.sleep(SWEEP)
            finally:
                self.queue.done(job)
                with self._lock:
                    self._taken -= 1

    def run(self, job: str) -> None:
        """One question from its charge to its rung."""
        rows = self._books.read(JOB, job)
        if not rows:
            return
        ask = json.loads(rows[0][0])
        nursery = self._workers.nursery_of(ask["ask"])
        while not nursery.ready.wait(0.2):  # the due time is fixed only when work can begin
            if self._closed.is_set():
                return
        attempt = self._begin(job, rows[0][5])
        if not attempt:
            return
        _, loss, _, begun, seconds, _, folder, neighbours, person = self._books.read(JOB, job)[0]
        model = self._model(ask, person)
        request = job_request(ask, Path(folder) / "records", Loss.read(loss), neighbours, model)
        answer = self._work(ask["ask"], request, work.due_at(begun, seconds, len(work.RUNGS) - 1))
        rung = work.first_rung(begun, seconds, time.time()) if answer is not None else None
        if rung is None:
            answer, rung = None, len(work.RUNGS) - 1
        self.store(job, attempt, answer, rung)
        wait_until(work.due_at(begun, seconds, rung), self._closed)
        if rung or answer is None:
            kind = "lost" if answer is None else "late"
            self._metrics.count(f"{kind}_answers")
            self._books.do(lambda tx: work.note(tx, job, kind))

    def _begin(self, job: str, state: str) -> int:
        """T1, or the second attempt of a job whose server stopped."""
        now = time.time()
        if state == "running":
            return self._books.do(lambda tx: work.redo(tx, job, self._books.server, now))
        if state != "queued" or not self._books.do(lambda tx: work.begin(tx, job, now)):
            return 0
        self._metrics.count("charges")
        return 1

    def store(self, job: str, attempt: int, answer: str | None, rung: int) -> bool:
        """T2: only what is on disk can leave. While the books cannot be written, it waits."""
        while True:
            try:
                return self._books.do(lambda tx: work.store(tx, job, attempt, answer, rung), counted=False)
            except JournalError:
                if self._closed.wait(SWEEP):
                    raise

    def _work(self, kind: str, request: dict[str, Any], until: float) -> str | None:
        """The answer of a child, as text; None if it failed, died or took too long. There is no second child."""
        while (left := until - time.time()) > 0:
            try:
                reply = self._workers.run(kind, request, left)
            except Gone:  # the nursery is away, and no child was made
                self._workers.nursery_of(kind).ready.wait(0.2)
                continue
            return json.dumps(reply["ok"]) if "ok" in reply else None
        return None

    def _model(self, ask: dict[str, Any], person: str) -> str | None:
        """The text of the model that a score is about. It was released to the same person when it was accepted."""
        if ask["ask"] != "score":
            return None
        from privet.privacy.books.release import released

        view = released(self._books, ask["of"], person, time.time())
        return None if view is None or view.answer is None else json.dumps(json.loads(view.answer)["model"])

    # -- what a stopped server left --------------------------------------------------------------------------------

    def _sweep(self) -> None:
        while not self._closed.is_set():
            try:
                self.adopt()
            except PrivetError as error:
                self._log.fault("sweep", error)
            self._closed.wait(SWEEP)

    def adopt(self) -> None:
        """Take over questions of servers that do not run any more, and note what they had no time to note."""
        mine, running = self._books.server, self._books.running_servers()
        sql = "SELECT id, person, state, server FROM jobs WHERE state IN ('queued', 'running') ORDER BY asked, id"
        rows = self._books.read(sql)
        for job, person, state, server in sorted(rows, key=lambda row: row[2] != "running"):
            if server not in running:
                if state == "queued":
                    self._books.do(partial(_take, job=job, old=server, new=mine))
                self.queue.put(person, job)
            elif server == mine and state == "queued":
                self.queue.put(person, job)  # a frozen or paused one may go on now
        last = work.RUNGS[-1]
        missed = (
            "SELECT id, state, server FROM jobs WHERE noted = 0 AND (state = 'lost' OR (state = 'done' AND rung > 0)) "
            f"AND begun + {last} * seconds < ?"
        )
        for job, state, server in self._books.read(missed, time.time()):
            if server not in running or server == mine:
                kind = "lost" if state == "lost" else "late"
                self._books.do(partial(work.note, job=job, kind=kind))
        if self._books.read("SELECT 1 FROM jobs j JOIN answers a ON a.job = j.id WHERE j.state = 'cancelled' LIMIT 1"):
            self._books.do(lambda tx: work.drop_cancelled(tx, time.time()))

    def close(self, patience: float) -> None:
        """Begin nothing more; give what runs some time. The rest is done once more at the next start."""
        self.queue.close()
        until = time.monotonic() + patience
        for thread in self._threads[:-1]:
            thread.join(max(0.0, until - time.monotonic()))
        self._closed.set()


def _take(tx: Any, job: str, old: int, new: int) -> None:
    tx.run("UPDATE jobs SET server = ? WHERE id = ? AND server = ? AND state = 'queued'", new, job, old)


def wait_until(moment: float, stopped: threading.Event) -> None:
    """Wait until a moment of the clock. Timers wake early, so look again."""
    while (left := moment - time.time()) > 0 and not stopped.is_set():
        time.sleep(min(left, 0.5))
