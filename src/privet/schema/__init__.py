"""What is public about a table, and how records become codes by those facts alone."""

from __future__ import annotations

from privet.schema.facts import Attribute, Categorical, Numeric, Schema, Unit

__all__ = ["Attribute", "Categorical", "Numeric", "Schema", "Unit"]
