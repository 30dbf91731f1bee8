"""The analyst's pages: tables, a question with its price, and answers. What they show, the API shows too."""

from __future__ import annotations

from fastapi import APIRouter

from privet.server.pages.analyst import answers, asking

router = APIRouter(include_in_schema=False)
for one in (asking, answers):
    router.include_router(one.router)
