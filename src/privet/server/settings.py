"""Settings of the server: a file ``privet-server.toml``, environment variables, and flags of the command."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from privet.errors import ParameterError

FILE = "privet-server.toml"
PREFIX = "PRIVET_SERVER_"
LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """All that can be set. Every name is also ``PRIVET_SERVER_NAME`` and ``--name``."""

    folder: Path = Path("privet-server")
    books: str = ""  # "" is books.sqlite in the folder
    host: str = "127.0.0.1"
    port: int = 8707
    public_url: str = ""
    behind_proxy: bool = False
    trusted_proxies: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()  # further names that requests may call this server by
    slots: int = field(default_factory=lambda: max(1, _usable_cores() - 1))  # one core is left to the web process
    memory: int = 4 * 2**30  # bytes of a job's address space; the libraries alone map more than one gigabyte
    cpu: int = 3600  # seconds of a job
    queue: int = 50  # questions of one analyst that wait
    rate: float = 10.0  # requests of a key in a second
    burst: int = 100
    rehearsal_seconds: float = 600.0  # of free work for a key in an hour
    rehearsal_limit: float = 120.0  # seconds of one rehearsal; what takes longer is refused
    upload: int = 2**30  # bytes of a table
    witness: str = ""  # a file on another disk
    sources: Mapping[str, str] = field(default_factory=dict)
    recipes: tuple[str, ...] = ()  # of other packages
    session_hours: float = 8.0
    cores: str = ""  # those of the workers, such as "1-15"; "" is all but the first

    def __post_init__(self) -> None:
        checks = {
            "port": 0 <= self.port < 65536,
            "slots": 1 <= self.slots <= 1024,
            "memory": self.memory >= 2**29,
            "cpu": self.cpu >= 1,
            "queue": self.queue >= 1,
            "rate": self.rate > 0,
            "burst": self.burst >= 1,
            "session_hours": 0 < self.session_hours <= 24 * 31,
            "upload": self.upload >= 1,
            "rehearsal_limit": self.rehearsal_limit > 0,
        }
        for name, fine in checks.items():
            if not fine:
                raise ParameterError(parameter=name, problem=f"is out of range: {getattr(self, name)}")
        if self.public_url and urlsplit(self.public_url).scheme not in ("http", "https"):
            raise ParameterError(parameter="public_url", problem="must begin with https:// (or http:// on loopback)")

    @property
    def address(self) -> str:
        return self.books or str(self.folder / "books.sqlite")

    @property
    def secure(self) -> bool:
        return self.public_url.startswith("https://")

    @property
    def origin(self) -> str:
        """Where a browser sees this server."""
        if self.public_url:
            found = urlsplit(self.public_url)
            return f"{found.scheme}://{found.netloc}"
        return f"http://{self.host}:{self.port}"

    @property
    def names(self) -> frozenset[str]:
        """The names that a request may call this server by, without a port."""
        own = urlsplit(self.public_url).hostname if self.public_url else None
        local = LOOPBACK if self.host in (*LOOPBACK, "0.0.0.0", "::") else (self.host,)
        return frozenset(name.lower() for name in (*local, *self.hosts, *([own] if own else [])))

    def warnings(self) -> list[str]:
        """What an owner should know before others can reach this server."""
        found = []
        if self.host not in LOOPBACK and not self.behind_proxy:
            found.append("host is no loopback address and there is no proxy: keys would travel without encryption")
        if self.host not in LOOPBACK and not self.public_url and not self.hosts:
            found.append("public_url is not set: only requests to loopback names are answered")
        if self.public_url.startswith("http://") and urlsplit(self.public_url).hostname not in LOOPBACK:
            found.append("public_url has no https: keys would travel without encryption")
        if not self.witness:
            found.append("witness is not set: a restored backup shows only when an analyst's head comes back")
        return found

    def to_text(self) -> str:
        """The settings as TOML, without addresses: those can hold a password."""
        lines = []
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in ("sources", "books") and value:
                value = "(set)" if one.name == "books" else sorted(value)
            lines.append(f"{one.name} = {_toml(value)}")
        return "\n".join(lines)


def read_settings(file: Path | None, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """Flags win over the environment, which wins over the file, which wins over what is usual."""
    path = file or (Path(FILE) if Path(FILE).exists() else None)
    given: dict[str, Any] = {}
    if path is not None:
        try:
            given = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ParameterError(f"cannot read the settings {str(path)!r}: {error}") from None
    kinds = {one.name: one for one in fields(Settings)}
    for name in kinds:
        if (text := environment.get(PREFIX + name.upper())) is not None:
            given[name] = text
    given |= {name: value for name, value in flags.items() if value is not None}
    usual = Settings()
    for name, value in given.items():
        if name not in kinds:
            raise ParameterError(parameter=name, problem="is no setting", fix=f"settings are {', '.join(kinds)}")
        given[name] = _as_kind(name, value, getattr(usual, name))
    return replace(usual, **given)


def _as_kind(name: str, value: Any, usual: Any) -> Any:
    try:
        if isinstance(usual, bool):
            return value if isinstance(value, bool) else {"true": True, "1": True, "false": False, "0": False}[value]
        if isinstance(usual, tuple):
            return tuple(str(one) for one in (value.split(",") if isinstance(value, str) else value))
        if isinstance(usual, Mapping):
            if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in value.values()):
                raise ValueError
            return dict(value)
        return type(usual)(value) if not isinstance(usual, Path) else Path(value)
    except (KeyError, TypeError, ValueError):
        raise ParameterError(parameter=name, problem=f"cannot be {value!r}") from None


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, tuple | list):
        return "[" + ", ".join(f'"{one}"' for one in value) + "]"
    return "{}" if isinstance(value, Mapping) else f'"{value}"'
