"""The nursery: a warm process without data. Each job is a forked child that maps a snapshot, works, replies and ends.

A child is limited in memory, time and threads, and ends with the nursery; the nursery ends when its server does. Run as
``python -m privet.server.nursery SOCKET WARM``: it prints ``ready``, then serves the socket.
"""

from __future__ import annotations

import gc
import json
import math
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

QUESTIONS, FITS = "questions", "fits"  # what a nursery has loaded before it forks
BACKLOG = 128
WARMING: tuple[dict[str, Any], ...] = (
    {"ask": "count"},
    {"ask": "class-counts"},
    {"ask": "sum", "of": "age"},
    {"ask": "average", "of": "age", "by": "a"},
    {"ask": "histogram", "of": "dose", "where": [{"column": "age", "op": "above", "value": 40}]},
    {"ask": "quantiles", "of": "age", "at": [0.5]},
    {"ask": "most-frequent", "of": "b"},
)


def main(path: str, warm: str) -> None:
    """Warm up, then fork a child for each connection, until the server's end of our input closes."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from privet.structure.compiled import limit_threads

    limit_threads(1)
    warm_up(warm)
    gc.collect()
    gc.freeze()  # children then share these pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a child
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        os.chmod(path, 0o600)
        server.listen(BACKLOG)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([server, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                try:
                    _child(connection)
                finally:
                    os._exit(0)
            connection.close()


def warm_up(warm: str) -> None:
    """Load and compile what children will call."""
    import privet.server.answering as answering
    from privet.engines.memory import MemoryEngine
    from privet.engines.snapshots import invent
    from privet.privacy.dataset import PrivateDataset
    from privet.privacy.ledger import Ledger
    from privet.recipes.compiling import SCHEMA, compile_all

    frozen = invent(SCHEMA, 50)
    data = PrivateDataset(MemoryEngine(SCHEMA, frozen.codes(SCHEMA), frozen), Ledger(100))
    for ask in WARMING:
        answering.ask_data(data, ask | {"epsilon": "1"})
    if warm == FITS:
        compile_all()


def _child(connection: socket.socket) -> None:
    _set_apart()
    reader = connection.makefile("r")
    request = json.loads(reader.readline())
    connection.sendall(b"%d\n" % os.getpid())
    _limit(request)
    try:
        reply: dict[str, Any] = {"ok": perform(request)}
    except MemoryError:
        reply = {"fault": "it needs more memory than a job may have"}
    except Exception as error:
        from privet.errors import PrivetError

        text = str(error) if isinstance(error, PrivetError) else type(error).__name__
        reply = {"fault": text if request.get("public") else ""}  # on records, what went wrong may depend on them
    connection.sendall(json.dumps(finite(reply)).encode())


def finite(value: Any) -> Any:
    """The value with null for numbers that JSON does not have; a score without records has such.

    >>> finite({"auc": float("nan"), "counts": (1, 2)})
    {'auc': None, 'counts': [1, 2]}
    """
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def perform(request: dict[str, Any]) -> Any:
    """Do one job, by its kind."""
    from privet.engines import snapshots
    from privet.schema import Schema
    from privet.server import answering, inspecting

    match request["job"]:
        case "answer":
            return answering.answer(request)
        case "price":
            return str(answering.price(request["ask"], tuple(request.get("recipes", ()))))
        case "forecast":
            return answering.forecast(request)
        case "offers":
            return answering.offers(tuple(request.get("recipes", ())))
        case "draft":
            return inspecting.draft(request)
        case "check":
            return inspecting.check(request)
        case "register":
            schema, folder = Schema.from_dict(request["schema"]), Path(request["folder"])
            most = request["most_records"]
            with snapshots.new_folder(folder) as made:
                snapshots.write_snapshot(request["source"], schema, made / "records", most)
                for i, records in enumerate((most, -(-most // 100), 1)):
                    snapshots.write_twin(schema, made / f"twin{i}", records)
            return True
    raise ValueError(request["job"])


def _limit(request: dict[str, Any]) -> None:
    import resource

    for name, most in (("AS", request["memory"]), ("CPU", request["cpu"]), ("CORE", 0)):
        kind = getattr(resource, f"RLIMIT_{name}")
        resource.setrlimit(kind, (most, most))


def _set_apart() -> None:
    """Linux: a child is killed when the nursery ends. Elsewhere it ends when it cannot reply. It says nothing else."""
    import ctypes

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a source may start programs
    with open(os.devnull, "w") as nowhere:
        for stream in (1, 2):  # a library's warning may quote a record
            os.dup2(nowhere.fileno(), stream)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    main(*sys.argv[1:3])
