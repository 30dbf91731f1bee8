"""The built site, once a run, whoever asks for it first."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from page_reader import browser  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[2]


def _shown() -> Iterator[Path]:
    """What the site is made of."""
    yield ROOT / "mkdocs.yml"
    for folder in ("docs", "tools/site", "src/privet", "examples"):
        yield from (file for file in (ROOT / folder).rglob("*.*") if file.suffix != ".pyc" and file.is_file())


def _age(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site, as `make docs` builds it; built here if it is not there, or older than what it shows."""
    pytest.importorskip("zensical", reason="NO SITE WAS BUILT: pip install -e '.[docs]'")
    built = ROOT / "build" / "site"
    built.parent.mkdir(exist_ok=True)
    with (ROOT / "build" / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _age(built / "sitemap.xml") <= max(map(_age, _shown())):
            done = subprocess.run([sys.executable, "tools/site"], cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return built


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The site over HTTP: its search fetches the index."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
