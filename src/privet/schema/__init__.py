"""The public facts about a table, by which alone records become codes."""

from __future__ import annotations

from privet.schema.attributes import Attribute, Categorical, Numeric
from privet.schema.facts import Schema, Unit
from privet.schema.readings import DatePart, Reading

__all__ = ["Attribute", "Categorical", "DatePart", "Numeric", "Reading", "Schema", "Unit"]
