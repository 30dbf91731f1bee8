"""Tools for the data owner only: drafts of a schema and checks of a table. OUTSIDE PRIVACY."""

from __future__ import annotations

from privet.owner.inspection import CheckReport, check_table

__all__ = ["CheckReport", "check_table"]
