"""One plan per value of a quantity, as a tidy table for figures."""

from collections.abc import Sequence
from typing import Any

from ldpnb.planning.questions import Question
from ldpnb.planning.solve import plan


def over(question: Question, name: str, values: Sequence[float], *, tail: str = "best", yardstick: bool = True) -> Any:
    """Answer a question for several values of a quantity.

    Parameters
    ----------
    question : Frequency, Mean or Gap
    name : str
        The quantity that varies, such as ``"epsilon"``.
    values : sequence of float
    tail : str
        As for `ldpnb.planning.solve.plan`.
    yardstick : bool
        Whether to include what a trusted curator would need.

    Returns
    -------
    DataFrame
        A row per value and mechanism that can: `name`, ``mechanism``, the quantity asked for, ``tail``, ``bits``; in
        the order of the mechanisms.
    """
    import pandas as pd

    rows = []
    for value in values:
        found = plan(question.with_value(name, value), tail=tail)
        able = [a for a in found.answers if a.feasible and (yardstick or not a.yardstick)]
        rows += [(value, a.mechanism, a.value, a.tail, a.bits) for a in able]
    return pd.DataFrame(rows, columns=[name, "mechanism", found.unknown, "tail", "bits"])
