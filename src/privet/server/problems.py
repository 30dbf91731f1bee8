"""What the server refuses, as RFC 9457 problems: a type, a status, and the fix. One text for every fault of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from privet.privacy.books.refusals import Refusal
from privet.privacy.losses import Loss

# Type -> status and title.
KINDS: dict[str, tuple[int, str]] = {
    "malformed": (400, "Malformed request"),
    "no-key": (401, "No valid key"),
    "budget": (402, "Not enough budget"),
    "cross-site": (403, "Another site may not do this"),
    "not-found": (404, "Not found"),
    "method": (405, "Method not allowed"),
    "exists": (409, "Exists already"),
    "cap": (409, "Past the cap"),
    "spent": (409, "Already spent"),
    "running": (409, "Not in this state"),
    "too-large": (413, "Too large"),
    "media-type": (415, "Wrong content type"),
    "host": (421, "Unknown host name"),
    "invalid": (422, "Invalid"),
    "rehearsal": (422, "Fails on invented records"),
    "idempotency-key-reused": (422, "Key used before"),
    "frozen": (423, "Frozen"),
    "paused": (423, "Paused"),
    "idempotency-key-missing": (428, "Idempotency-Key is missing"),
    "rate": (429, "Too many requests"),
    "fault": (500, "The server failed"),
    "busy": (503, "Busy"),
}
LOST = "this question was not answered; what it cost stays charged. Nothing more can be said about it"
FAULT = "the server failed. Tell the owner the request id; nothing more can be said about it"


class Problem(Exception):
    """A refusal that a client gets; ``facts`` become members of the problem."""

    def __init__(self, kind: str, detail: str = "", *, headers: Mapping[str, str] | None = None, **facts: Any) -> None:
        super().__init__(kind)
        self.kind, self.detail, self.headers, self.facts = kind, detail, dict(headers or {}), facts

    def response(self) -> JSONResponse:
        status, title = KINDS[self.kind]
        if self.kind == "no-key":
            self.headers.setdefault("WWW-Authenticate", "Bearer")
        if status in (429, 503):
            self.headers.setdefault("Retry-After", "1")
        body = {"type": f"/problems/{self.kind}", "title": title, "status": status, "detail": self.detail or title}
        body |= self.facts
        return JSONResponse(body, status, headers=self.headers, media_type="application/problem+json")


def from_refusal(refusal: Refusal) -> Problem:
    """What the books refused."""
    if refusal.kind == "budget":
        asked, left = refusal.facts["asked"], refusal.facts["left"]
        text = f"epsilon {asked:brief} is asked, and {left:brief} is left"
        return Problem("budget", f"{text}; ask for less, or ask the owner", asked=pair(asked), left=pair(left))
    return Problem(refusal.kind, refusal.text)


def pair(loss: Loss) -> dict[str, str]:
    """A loss in an answer: exact, as text."""
    return {"epsilon": str(loss.epsilon), "delta": str(loss.delta)}


def from_status(status: int) -> Problem:
    """A refusal of the framework."""
    known = {number: kind for kind, (number, _) in reversed(KINDS.items())}
    return Problem({404: "not-found", 405: "method", 415: "media-type"}.get(status) or known.get(status, "malformed"))
