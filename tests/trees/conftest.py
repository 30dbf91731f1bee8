"""Lets the tests of this directory share `tree_strategies`: pytest's importlib mode leaves it off the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
