"""What separates cells is seen in the header, and a decimal comma is read where semicolons separate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.tables.lines import cells_of_line, separator_of

HEADERS = {
    "age,ward,ill": ",",
    "age;ward;ill": ";",
    "age\tward\till": "\t",
    '"age";"ward";"ill"': ";",
    '"age;years","ward;old",ill': ",",  # what is in quotes separates nothing
    "price, EUR;ward;ill": ";",  # a comma in a name
    "age": ",",
    "": ",",
    "a;b,c": ",",  # as many of one as of the other
}


@pytest.mark.parametrize("header", HEADERS)
def test_what_separates_is_seen_in_the_header(header: str) -> None:
    assert separator_of(header) == HEADERS[header]


NUMBERS = {
    "37,8": "37.8",
    "-0,5": "-0.5",
    " ,25 ": " .25 ",
    "1,5e3": "1.5e3",
    '"2,5"': "2.5",
    "1.234,5": "1.234,5",  # a thousands point: not a number here, and the owner's check says so
    "1,234,567": "1,234,567",
    "a,5": "a,5",
    "5,": "5,",
    "37.8": "37.8",
    "٣,٥": "٣,٥",  # digits of other scripts are left alone
}


@pytest.mark.parametrize("cell", NUMBERS)
def test_a_decimal_comma_beside_semicolons(cell: str) -> None:
    assert cells_of_line(f"x;{cell};37,8", ";", 3) == ["x", NUMBERS[cell], "37.8"]


def test_no_decimal_comma_beside_tabs_and_commas() -> None:
    assert cells_of_line("x\t37,8", "\t", 2) == ["x", "37,8"]
    assert cells_of_line('x,"37,8"', ",", 2) == ["x", "37,8"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_read(number: float) -> None:
    (cell,) = cells_of_line(repr(number).replace(".", ","), ";", 1)
    assert float(str(cell)) == number


@given(st.text(st.sampled_from('1,;\t" -a.'), max_size=12), st.sampled_from(",;\t"), st.integers(1, 4))
def test_a_line_gives_as_many_cells_as_the_header_or_none(line: str, separator: str, width: int) -> None:
    cells = cells_of_line(line, separator, width)
    assert len(cells) == width
    assert all(cell is None for cell in cells) or all(cell is not None for cell in cells)
