"""Appendix D of juarez2022: its printed numbers by exact arithmetic."""

from flint import arb

from ldpnb.deciders import ball, digits
from ldpnb.papers.juarez2022 import clients


def difference_prints_as(column: str, printed: str) -> bool | None:
    """Decide whether the difference of a column of the published rates prints as a number."""
    first, second = (ball(f"{rate}") for rate in clients.published_rates(column))
    return digits(first - second, printed)


def equal_counts_are_likely(kinds: int, copies: int, level: float) -> bool:
    """Decide whether draws with replacement give every one of some kinds the same count with at least a chance."""
    draws = kinds * copies
    chance = arb(draws + 1).lgamma() - kinds * arb(copies + 1).lgamma() - draws * arb(kinds).log()
    return bool(chance > arb(level).log())
