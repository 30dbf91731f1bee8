"""The server's side of nurseries: start, watch and restart them, and run one job in a child."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from privet.server.logs import Log
from privet.server.nursery import FITS, QUESTIONS
from privet.server.settings import Settings

AFTER = 3.0  # seconds that the second nursery waits: loading all recipes would slow down the first questions
RESTART = 0.5  # seconds before a nursery that ended starts again, so that a broken one does not spin


class Gone(Exception):
    """There is no nursery now; no child was made."""


class Nursery:
    """One nursery process, started again whenever it ends."""

    def __init__(self, folder: Path, warm: str, cores: set[int], log: Log, after: Nursery | None = None) -> None:
        self.ready = threading.Event()
        self._folder, self._warm, self._cores, self._log, self._after = folder, warm, cores, log, after
        self._process: subprocess.Popen[bytes] | None = None
        self._path, self._stopped = "", False
        self._thread = threading.Thread(target=self._watch, daemon=True, name=f"nursery of {warm}")
        self._thread.start()

    def run(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply of a child: ``ok``, or ``fault`` if it failed, died or took longer."""
        until = time.monotonic() + seconds
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(max(0.01, seconds))
            try:
                connection.connect(self._path)
                connection.sendall(json.dumps(request).encode() + b"\n")
            except OSError:
                raise Gone from None
            child = None
            try:
                received = b""
                while part := connection.recv(2**16):
                    received += part
                    if child is None and b"\n" in received:
                        number, _, received = received.partition(b"\n")
                        child = int(number)
                    connection.settimeout(max(0.01, until - time.monotonic()))
                reply: dict[str, Any] = json.loads(received)
                return reply
            except (OSError, ValueError):
                return {"fault": "it took too long, or ended"}
            finally:
                if child is not None:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(child, signal.SIGKILL)

    def _watch(self) -> None:
        while not self._stopped:
            if self._after is not None:
                self._after.ready.wait()
                time.sleep(AFTER)
            self._path = str(self._folder / f"{self._warm}.{secrets.token_hex(4)}.sock")
            command = [sys.executable, "-m", "privet.server.nursery", self._path, self._warm]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._process = subprocess.Popen(command, **pipes, preexec_fn=self._pin if self._cores else None)
            assert self._process.stdout is not None
            if self._process.stdout.readline().strip() == b"ready":
                self.ready.set()
                self._log.write("nursery", warm=self._warm)
            self._process.wait()
            self.ready.clear()
            with suppress(OSError):
                os.unlink(self._path)
            if not self._stopped:
                self._log.write("nursery ended", warm=self._warm)
                time.sleep(RESTART)

    def _pin(self) -> None:
        os.sched_setaffinity(0, self._cores)

    def stop(self) -> None:
        self._stopped = True
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()


class Workers:
    """Two nurseries: one for questions, which is ready early, and one that has loaded all recipes."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings = settings
        folder = settings.folder / "run"
        folder.mkdir(mode=0o700, exist_ok=True)
        for left in folder.glob("*.sock"):
            if not _is_served(left):  # another server on the same folder keeps its own
                left.unlink(missing_ok=True)
        cores = worker_cores(settings.cores)
        self.questions = Nursery(folder, QUESTIONS, cores, log)
        self.fits = Nursery(folder, FITS, cores, log, after=self.questions)

    def nursery_of(self, kind: str) -> Nursery:
        """The nursery for a kind of question. Only fits and scores need recipes."""
        return self.fits if kind in ("fit", "score", "forecast") else self.questions

    def run(self, kind: str, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        limits = {"memory": self._settings.memory, "cpu": min(self._settings.cpu, int(seconds) + 1)}
        recipes = {"recipes": self._settings.recipes}
        return self.nursery_of(kind).run(limits | recipes | request, seconds)

    def stop(self) -> None:
        self.fits.stop()
        self.questions.stop()


def _is_served(path: Path) -> bool:
    """Whether a process listens at this socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def worker_cores(text: str) -> set[int]:
    """The cores of workers: as set, or all that this process may use but the first. Empty: no choice is made."""
    if not hasattr(os, "sched_getaffinity"):
        return set()
    usable = sorted(os.sched_getaffinity(0))
    if text:
        parts = [part.partition("-") for part in text.split(",")]
        return {n for low, _, high in parts for n in range(int(low), int(high or low) + 1)} & set(usable)
    return set(usable[1:])
