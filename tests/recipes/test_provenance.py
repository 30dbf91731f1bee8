"""A model says when it was made and by what; the date is the one thing two equal fits need not share."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta


def test_the_date_is_this_minute() -> None:
    """In a process of its own: the tests' own clock stands still."""
    code = "from privet.recipes.provenance import provenance; print(provenance()['date'])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    told_at = datetime.strptime(told, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    assert timedelta(0) <= datetime.now(UTC) - told_at < timedelta(minutes=10)
