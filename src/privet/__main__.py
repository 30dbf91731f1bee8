"""``python -m privet``."""

from __future__ import annotations

from privet.cli import main

if __name__ == "__main__":
    main()
