"""The owner's pages: forms over ``routes/owning.py`` and ``routes/tables.py``, which decide what is allowed."""

from __future__ import annotations

from fastapi import APIRouter

from privet.server.pages.owner import columns, files, house, people, populations, tables

router = APIRouter(include_in_schema=False)
for one in (house, populations, people, tables, files, columns):
    router.include_router(one.router)
