"""Texts of the frame, of signing in, and of one's own account."""

from __future__ import annotations

TEXTS = {
    # the frame
    "product": "privet",
    "skip": "Skip to the content",
    "nav.label": "Main",
    "nav.account": "Keys",
    "role.owner": "owner",
    "role.analyst": "analyst",
    "role.auditor": "auditor",
    "sign-out": "Sign out",
    "footer": "Records stay on this server. What leaves it is noisy, was paid for, and is written into books that an "
    "auditor can check.",
    "fault": "That did not work",
    "done": "Done",
    "copy": "Copy",
    "copied": "Copied",
    "close": "Close",
    "none": "none",
    "amount.delta": "{epsilon} and delta {delta}",
    # signing in
    "sign-in.title": "Sign in",
    "sign-in.lead": "This server answers questions about tables without showing any record.",
    "sign-in.key": "Your key",
    "sign-in.hint": "It begins with <code>privet_</code>. The owner of the data gives it to you. The owner's own key "
    "is in the file <code>owner.key</code> in the server's folder.",
    "sign-in.button": "Sign in",
    "sign-in.wrong.key": "This key is not valid. It may have been revoked, or a part is missing: copy it again, or ask "
    "the owner for another one.",
    "sign-in.wrong.link": "This link was used already, or is more than an hour old. Sign in with the key in the file "
    "<code>owner.key</code> in the server's folder.",
    "done.ended": "Your session has ended. Sign in again.",
    "done.signed-out": "You are signed out.",
    # problems
    "problem.title": "This page cannot be shown",
    "problem.home": "Go to the first page",
    "problem.number": "Request {number}. Tell it to the owner of this server.",
    # one's own keys
    "account.title": "Your keys",
    "account.lead": "You are signed in as <b>{name}</b>, {role}. A key works in programs and on the first page. Anyone "
    "who has it can do what you can do.",
    "account.list": "Keys and sessions that work",
    "account.name": "name",
    "account.id": "number",
    "account.kind": "kind",
    "account.ends": "until",
    "account.change": "change",
    "account.kind.key": "key",
    "account.kind.session": "browser session",
    "account.never": "no end",
    "account.revoke": "Revoke",
    "account.revoke.which": "number {id}",
    "account.new": "Make another key",
    "account.new.hint": "To change keys: make another one, use it, then revoke the old one. Revoking a key also ends "
    "the browser sessions that it began.",
    "account.new.name": "What is it for?",
    "account.new.button": "Make a key",
    "key.once": "This key is shown once",
    "key.once.hint": "Copy it now and keep it like a password. This server keeps only its fingerprint.",
    "key.label": "The key",
    "done.revoked": "The key is revoked.",
}
