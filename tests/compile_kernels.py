"""Compile all kernels before test processes start: together, each would compile the same ones."""

from __future__ import annotations

from privet.recipes.compiling import compile_all

if __name__ == "__main__":
    compile_all()
