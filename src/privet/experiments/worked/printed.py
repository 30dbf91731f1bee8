"""A number as a source prints it, judged against ours."""

from __future__ import annotations

from collections.abc import Sequence

from privet.experiments.outcome import Statement, judged


def decimals(text: str) -> int:
    """How many digits are printed after the point."""
    return len(text.partition(".")[2])


def rounds_to(value: float, text: str) -> bool:
    """Whether a number is printed so, rounded to as many digits.

    >>> rounds_to(0.0196, "0.02"), rounds_to(0.904837, "0.90483")
    (True, False)
    """
    unit = 10.0 ** -decimals(text)
    return abs(value - float(text)) <= unit * (0.5 + 1e-9)


def printed(source: str, says: str, text: str, ours: float, why: str = "") -> Statement:
    """One number. ``why`` is said where it differs."""
    holds = rounds_to(ours, text)
    told = f"{ours:.{decimals(text) + 2}f}"
    return Statement(source, says, text, told, judged(holds), "" if holds else why)


def printed_row(source: str, says: str, texts: Sequence[str], ours: Sequence[float], why: str = "") -> Statement:
    """A row of numbers that stand or fall together; those that differ are named."""
    pairs = list(zip(texts, ours, strict=True))
    wrong = [f"{text} is {value:.{decimals(text) + 1}f}" for text, value in pairs if not rounds_to(value, text)]
    told = " ".join(f"{value:.{decimals(text)}f}" for text, value in pairs)
    reason = f"{'; '.join(wrong)}. {why}".strip() if wrong else ""
    return Statement(source, says, " ".join(texts), told, judged(not wrong), reason)


def claimed(
    source: str, says: str, published: object, ours: object, holds: bool, why: str = "", *, rule: str = ""
) -> Statement:
    """Anything else. ``why`` is said where it differs, ``rule`` (how it was judged) always."""
    told = "; ".join(text for text in (rule, "" if holds else why or "no reason is known") if text)
    return Statement(source, says, str(published), str(ours), judged(holds), told)
