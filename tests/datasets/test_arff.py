"""ARFF as OpenML writes it, and files that are none."""

from __future__ import annotations

import pytest

from privet.datasets.arff import read_arff
from privet.errors import TableError

HEADER = "@relation r\n@attribute a {x,y}\n@attribute b numeric\n@data\n"


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("x,1", ["x", "1"]),
        ("  x ,\t1.50 ", ["x", "1.50"]),
        ("'x','1'", ["x", "1"]),
        ("?,?", [None, None]),
        ("'?',\"?\"", ["?", "?"]),  # in quotes it is a value
        (r"'it\'s, so',2", ["it's, so", "2"]),
        (r'"say \"a\"",2', ['say "a"', "2"]),
        ("<=50K,-1e-3", ["<=50K", "-1e-3"]),
        ("Trinadad&Tobago,0", ["Trinadad&Tobago", "0"]),
        (",", ["", ""]),
    ],
)
def test_a_row(line: str, row: list[str | None]) -> None:
    assert read_arff(HEADER + line) == (["a", "b"], [row])


def test_names_comments_and_empty_lines() -> None:
    header = "% it's \"loose\"\n\n@RELATION 'r'\n@ATTRIBUTE 'bruises%3F' {t}\n@attribute fLength: REAL\r\n"
    text = header + "@DATA\n\n%x\nt,1\r\n"
    assert read_arff(text) == (["bruises%3F", "fLength:"], [["t", "1"]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no @data"),
        ("<html>busy</html>", "no @data"),
        (HEADER.replace("@data", ""), "no @data"),
        (HEADER + "x", "2 columns and a row of 1"),
        (HEADER + "x,1,2", "a row of 3"),
        (HEADER + "'x,1", "cannot be read"),
        (HEADER + "'x'y,1", "cannot be read"),
        (HEADER + "{0 x, 1 2}", "sparse"),
        ("@attribute 'a numeric\n@data\n", "@attribute line"),
    ],
)
def test_a_file_that_is_not_arff_is_refused(text: str, said: str) -> None:
    with pytest.raises(TableError, match=said):
        read_arff(text)
