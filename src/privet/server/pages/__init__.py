"""The server's pages, for people who do not use a terminal. They need neither JavaScript nor another host.

Where things are:

- ``frame.py``: what all pages share. ``page`` renders a template inside the layout; ``signed_in`` says who looks;
  ``Posted`` is a form whose token was checked; ``see_other`` goes on after a form. ``NAV`` has the menu of each role,
  and its first entry is the role's home. A route appears there when its page exists.
- ``signing.py``: ``/`` (sign in, or go to the home of the role), the link of a first start, ``/account``, ``/static``.
- ``budgets.py`` and ``pictures.py``: a population's budget now and over time, and its pictures, for all roles.
- ``owner/``, and a module or package for each other role: a router each, listed in ``ROUTERS`` below. Their paths begin
  with ``/owner``, ``/analyst`` and ``/auditor``. What is not for your role is 404.
- ``texts/``: every English sentence, one file per role; ``say("name", value=...)`` in a template. Values are escaped.
- ``templates/``: ``frame.html`` is the layout, ``widgets.html`` has macros (fields, pills, figures, notes). No template
contains a sentence (a test checks).
- ``templates/app.css`` and ``app.js`` come after the report's ``style.css``: one visual language. No ``style=`` and no
  inline script: the policy of ``guard.py`` allows files of this server only.

``tests/server/walking.py`` walks through pages in a browser and looks at each in both themes and both widths.
"""

from __future__ import annotations

from fastapi import APIRouter

from privet.server.pages import analyst, auditor, owner, signing

ROUTERS: tuple[APIRouter, ...] = (signing.router, owner.router, analyst.router, auditor.router)
