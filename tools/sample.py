"""Write the sample table that comes with privet: `python tools/sample.py`, after a change to its generator."""

from __future__ import annotations

from pathlib import Path

from privet.datasets.patients import generated_files

HOME = Path(__file__).parents[1] / "src" / "privet" / "datasets" / "sample"

if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    for name, text in generated_files().items():
        (HOME / name).write_text(text, encoding="utf-8", newline="")
        print(f"wrote {name}, {len(text)} bytes")
