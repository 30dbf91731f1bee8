"""Names that run from right to left stand in a line by themselves, and nothing in a name is invisible."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.bidi import END, ISOLATE, bare, isolated, padded, shortened, width_of
from privet.schema import Categorical, Numeric, Schema
from privet.structure.splits import Multiway, OneCategory, Threshold

HEBREW, ARABIC, PERSIAN = "גיל", "العمر", "می\u200cخواهم"
CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
odd = st.text(st.sampled_from("ab גע" + CONTROLS + "\u200e\u200f\n\t\x1b\x9b"), max_size=12)


@pytest.mark.parametrize("name", ["age", "Größe", "体重", "naïve café", "x\xa0y", "", "💉 dose"])
def test_ordinary_text_stays_as_it_is(name: str) -> None:
    assert isolated(name) == name


@pytest.mark.parametrize("name", [HEBREW, ARABIC, PERSIAN, f"{HEBREW} (days)", "a\u200f"])
def test_text_from_right_to_left_is_isolated_and_can_be_searched(name: str) -> None:
    assert isolated(name) == f"{ISOLATE}{name}{END}"


@pytest.mark.parametrize("control", CONTROLS)
def test_what_turns_a_line_is_written_visibly(control: str) -> None:
    assert isolated(f"{control}ega") == f"{ISOLATE}\\u{ord(control):04x}ega{END}"


@given(odd, odd)
def test_a_sentence_of_isolated_names_is_left_alone(first: str, second: str) -> None:
    sentence = f"{isolated(first)} <= {isolated(second)}"
    assert isolated(sentence) == sentence
    assert width_of(padded(sentence, 200)) == 200
    assert bare(sentence).count(" <= ") >= 1


@given(odd, st.integers(1, 12))
def test_nothing_gets_out_of_its_isolate(name: str, most: int) -> None:
    for told in (isolated(name), shortened(isolated(name), most)):
        depth = 0
        for character in told:
            depth += (character == ISOLATE) - (character == END)
            assert depth >= 0
            turns = unicodedata.bidirectional(character) in ("R", "AL", "AN")
            assert not turns or depth, "what runs from right to left is inside"
            assert character in (ISOLATE, END) or unicodedata.category(character) != "Cc"
            assert character not in CONTROLS.replace(ISOLATE, "").replace(END, "")
        assert depth == 0


def test_conditions_keep_their_signs_in_place() -> None:
    schema = Schema(
        (Numeric(HEBREW, 0, 100, bins=2), Categorical("\u202eega", (ARABIC, "b"))), Categorical("ill", ("no", "yes"))
    )
    assert Threshold(0, 0).describe(schema, 0) == f"{ISOLATE}{HEBREW}{END} <= 50"
    assert OneCategory(1, 0).describe(schema, 1) == f"{ISOLATE}\\u202eega{END} != {ISOLATE}{ARABIC}{END}"
    assert Multiway(1).describe(schema, 1) == f"{ISOLATE}\\u202eega{END} = b"
