"""A folder that keeps the fits of an audit, so that an interrupted one goes on where it stopped.

Every chunk of fits is a file of its own, written under another name and then renamed: a kill loses one chunk at most.
An audit that is resumed takes the kept fits instead of new ones, in the same order, and comes to the same decisions;
one that depended on the clock is kept too. Files hold numbers and text only, nothing that runs when it is read.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from privet.audit.sampling.tokens import Tokens, seal
from privet.errors import ParameterError

HEAD = "audit.json"
DECISIONS = "decisions.json"


class Kept:
    """The fits and decisions of an audit by key. Without a folder nothing is kept beyond this process."""

    def __init__(self, folder: str | os.PathLike[str] | None, facts: dict[str, Any]) -> None:
        self._folder = None if folder is None else Path(folder)
        self._fits: dict[str, list[Tokens]] = {}
        self._decisions: dict[str, Any] = {}
        self._files = 0
        if self._folder is not None:
            self._open(self._folder, facts)

    def take(self, key: str, most: int) -> list[Tokens]:
        """Fits that an earlier run kept under a key."""
        return self._fits.pop(key, [])[:most]

    def keep(self, key: str, fits: Sequence[Tokens]) -> None:
        if self._folder is None:
            return
        kinds: dict[tuple[str, ...], int] = {}
        numbers = [kinds.setdefault(fit.names, len(kinds)) for fit in fits]
        target = self._folder / f"fits-{self._files:06d}.npz"
        self._files += 1
        draft = target.with_suffix(".part")
        with open(draft, "wb") as file:
            np.savez_compressed(
                file,
                about=np.array(json.dumps({"key": key, "names": list(kinds)})),
                kinds=np.array(numbers, dtype=np.int64),
                values=np.concatenate([fit.values for fit in fits]) if fits else np.array([]),
            )
        os.replace(draft, target)

    def decided(self, key: str) -> bool:
        return key in self._decisions

    def decide(self, key: str, choice: Any) -> Any:
        """What was decided under a key, or now, and then the same for ever."""
        if key not in self._decisions:
            self._decisions[key] = choice
            if self._folder is not None:
                draft = self._folder / "decisions.part"
                draft.write_text(json.dumps(self._decisions), encoding="utf-8")
                os.replace(draft, self._folder / DECISIONS)
        return self._decisions[key]

    def _open(self, folder: Path, facts: dict[str, Any]) -> None:
        head = folder / HEAD
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not head.exists():
                if any(folder.iterdir()):
                    raise ParameterError(
                        parameter="resume", problem="is a folder of something else", fix="name another"
                    )
                head.write_text(json.dumps(facts), encoding="utf-8")
            elif json.loads(head.read_text("utf-8")) != facts:
                problem = "holds another audit: its pairs, claim or alpha differ"
                raise ParameterError(parameter="resume", problem=problem, fix="name another folder")
            if (folder / DECISIONS).exists():
                self._decisions = json.loads((folder / DECISIONS).read_text("utf-8"))
            for file in sorted(folder.glob("fits-*.npz")):
                self._read(file)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            if isinstance(error, ParameterError):
                raise
            problem = f"cannot be used ({type(error).__name__}: {error})"
            raise ParameterError(parameter="resume", problem=problem, fix="name another folder") from error

    def _read(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as kept:
            about = json.loads(str(kept["about"]))
            names, values, at = [tuple(one) for one in about["names"]], kept["values"], 0
            for kind in kept["kinds"].tolist():
                size = len(names[kind])
                fit = seal(dict(zip(names[kind], values[at : at + size].tolist(), strict=True)))
                self._fits.setdefault(about["key"], []).append(fit)
                at += size
        self._files = int(file.stem.removeprefix("fits-")) + 1
