"""A chain of hashes: what is changed, dropped, added or moved breaks it, also among what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.privacy.chain import BROKEN, NO_LINK, START, Chain, extend, is_hash

Linked = list[tuple[bytes, str | None]]


def linked(*records: bytes, without: tuple[int, ...] = ()) -> Linked:
    """Records that hold their links; those in ``without`` have none, as torn lines or older ones."""
    head, made = START, list[tuple[bytes, str | None]]()
    for i, said in enumerate(records):
        link = None if i in without else head
        made.append((said + (link or "").encode(), link))
        head = extend(head, made[-1][0])
    return made


def faults(records: Linked, *, readable: bool = True) -> tuple[dict[int, str], str]:
    chain, found = Chain(), dict[int, str]()
    for i, (record, link) in enumerate(records):
        chain, fault = chain.follow(record, link, readable=readable)
        if fault is not None:
            found[i] = fault
    return found, chain.head


def test_a_whole_chain_has_no_fault() -> None:
    found, head = faults(linked(b"a", b"b", b"c"))
    assert found == {}
    assert is_hash(head)
    assert not any(map(is_hash, (head.upper(), head[1:], head + "\n", None)))


@given(st.lists(st.binary(max_size=5), min_size=4, max_size=8), st.data())
def test_every_change_is_seen_at_the_next_record(records: list[bytes], data: st.DataObject) -> None:
    chain = linked(*records)
    at = data.draw(st.integers(0, len(chain) - 3))
    kind = data.draw(st.sampled_from(["drop", "change", "swap", "add"]))
    changed = list(chain)
    if kind == "drop":
        del changed[at]
    elif kind == "change":
        changed[at] = (chain[at][0] + b"!", chain[at][1])
    elif kind == "add":
        changed.insert(at, (b"new", faults(chain[:at])[1]))
    else:
        changed[at], changed[at + 1] = chain[at + 1], chain[at]
    found, head = faults(changed)
    assert BROKEN in found.values()
    assert min(found) <= at + 1
    assert head != faults(chain)[1], "a head that was kept shows it too"


def test_one_break_is_reported_once_and_what_is_written_later_follows() -> None:
    chain = linked(b"a", b"b", b"c", b"d", b"e")
    del chain[1]
    found, head = faults(chain)
    assert list(found) == [1]
    assert list(faults([*chain, (b"later", head)])[0]) == [1]


def test_a_link_covers_what_has_none() -> None:
    """Torn lines and records of a time without links: were only the line before hashed, those above could change."""
    whole = linked(b"old", b"older", b"torn", b"new", without=(0, 1, 2))
    assert faults(whole, readable=False)[0] == {}
    for at in range(3):
        changed = list(whole)
        changed[at] = (b"other", None)
        assert faults(changed, readable=False)[0] == {3: BROKEN}


@pytest.mark.parametrize("readable", [True, False])
def test_once_begun_every_record_has_a_link(readable: bool) -> None:
    found, _ = faults([*linked(b"a"), (b"b", None)], readable=readable)
    assert found == ({1: NO_LINK} if readable else {})
