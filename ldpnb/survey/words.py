"""Words that plans and estimates have in common, as a report on a survey would put them."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ldpnb.claims import rounded_up
from ldpnb.survey.device import Device
from ldpnb.words import exact

WIDTH = 88

ASSUMED = (
    "All this assumes that every respondent followed the device, and that neither the true answer "
    "nor the report influenced who responded."
)


def described(device: Device) -> str:
    """Return what a device is."""
    answers = len(device.answers)
    if device.is_noisy:
        scale = device.scale * device.length
        return (
            f"a number from {exact(device.low)} to {exact(device.high)} with Laplace noise of "
            f"scale {scale:.12g}"
        )
    if device.mechanism == "1-bit":
        kind = f"one bit for a number from {exact(device.low)} to {exact(device.high)}"
    elif device.is_unary:
        kind = f"unary encoding ({device.mechanism}) with a bit for each of {answers:,} answers"
    elif device.mechanism == "k-RR":
        kind = f"k-ary randomised response with {answers:,} answers"
    else:
        kind = "a yes/no question"
    return f"{kind}, p = {_probability(device.p)} and q = {_probability(device.q)}"


def _probability(value: float) -> str:
    """Return a probability exactly: as a short decimal, or as the fraction that a device has.

    >>> _probability(5 / 6), _probability(0.75), _probability(0.7310585786300049)
    ('5/6', '0.75', '0.73105857863')
    """
    decimal = f"{value:.12g}"
    fraction = Fraction(value).limit_denominator(100)
    if len(decimal) > 8 and float(fraction) == value:
        return str(fraction)
    return decimal


def privacy(device: Device) -> str:
    """Return what a report reveals about a respondent."""
    epsilon = device.epsilon
    if math.isinf(epsilon):
        return (
            "Privacy: epsilon = inf. There is a report that is possible under one true answer and "
            "impossible under another."
        )
    exact = ""
    times = rounded_up(math.exp(epsilon), 3) if epsilon < 6 else f"e^{epsilon:.4g}"
    if device.odds is not None and device.odds.denominator < 1000:
        exact = f"ln({device.odds}) = "
        times = str(device.odds) if device.odds.denominator == 1 else times
    return (
        f"Privacy: epsilon = {exact}{epsilon:.12g} for each report. A report is at most {times} "
        "times as likely under one true answer as under another."
    )


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of words in columns: the first and the last to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        inner: list[Any] = []
        for word, width in zip(row[1:-1], widths[1:-1], strict=True):
            inner.append(word.rjust(width))
        lines.append("  ".join([row[0].ljust(widths[0]), *inner, row[-1]]).rstrip())
    return lines
