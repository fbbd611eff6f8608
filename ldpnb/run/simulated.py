"""What is simulated: the columns and cells that other random streams change, and by how much.

``simulated.json`` beside this file names them, as ``make streams`` measures it in whole runs with other streams. Where
numpy's generator draws what it drew when the numbers were stored (`ldpnb.rng.as_recorded`), all of them must be as
stored. Where it does not, a simulated number may lie `WITHIN` of its column's standard errors from the stored one, and
the text of a cell with simulated numbers must be the same up to its numbers. All else must be the same there too.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("simulated.json")
WITHIN = 16.0
"""Standard errors, each the largest standard deviation of a column's number over the runs."""

_NUMBER = re.compile(r"[-+\u2212]?\d[\d,.]*(?:e[-+]?\d+)?%?|\b(?:nan|inf)\b")
_PADDING = re.compile(r"[\s-]+")


@cache
def _known() -> dict[str, Any]:
    return json.loads(PATH.read_text(encoding="utf-8"))


def tolerances(table: str) -> dict[str, float]:
    """Return by how much each simulated column of a table may differ under another stream; texts by anything.

    Parameters
    ----------
    table : str
        Its place below ``figures``, such as ``plan/needs.csv``.
    """
    errors = _known()["tables"].get(table, {})
    return {column: WITHIN * error if error is not None else float("inf") for column, error in errors.items()}


def cells(notebook: str) -> dict[int, str]:
    """Return by place among a notebook's code cells what is simulated there: ``numbers``, or ``words`` too."""
    return {int(place): kind for place, kind in _known()["cells"].get(notebook, {}).items()}


def without_numbers(text: Any) -> Any:
    """Return a text with its numbers masked and its padding levelled.

    >>> without_numbers("share  0.351 of 20,000"), without_numbers("share -0.4e-3 of 1")
    ('share # of #', 'share # of #')
    """
    return _PADDING.sub(" ", _NUMBER.sub("#", text)) if isinstance(text, str) else text
