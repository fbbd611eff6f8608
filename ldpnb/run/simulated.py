"""Simulated results: the columns and cells that change with the random streams, and by how much.

``simulated.json`` next to this file lists them, as measured by ``make streams`` in whole runs with other streams. Where
numpy's generator draws as it did when the numbers were stored (`ldpnb.rng.as_recorded`), all of them must be as stored.
Elsewhere a simulated number may differ from the stored one by `WITHIN` standard errors of its column, and the text of a
cell with simulated numbers by its numbers. Everything else must be the same there too.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("simulated.json")
WITHIN = 16.0
"""In standard errors: the largest standard deviation of a column's numbers over the runs."""

_NUMBER = re.compile(r"[-+\u2212]?\d[\d,.]*(?:e[-+]?\d+)?%?|\b(?:nan|inf)\b")
_PADDING = re.compile(r"[\s-]+")


@cache
def _known() -> dict[str, Any]:
    return json.loads(PATH.read_text(encoding="utf-8"))


def tolerances(table: str) -> dict[str, float]:
    """Return by how much each simulated column of a table may differ under another stream; texts without limit.

    Parameters
    ----------
    table : str
        Its path below ``figures``, such as ``plan/needs.csv``.
    """
    errors = _known()["tables"].get(table, {})
    return {column: WITHIN * error if error is not None else float("inf") for column, error in errors.items()}


def cells(notebook: str) -> dict[int, str]:
    """Return what is simulated in a notebook's code cells, by position: ``numbers``, or also ``words``."""
    return {int(place): kind for place, kind in _known()["cells"].get(notebook, {}).items()}


def without_numbers(text: Any) -> Any:
    """Return a text with numbers masked and padding normalised.

    >>> without_numbers("share  0.351 of 20,000"), without_numbers("share -0.4e-3 of 1")
    ('share # of #', 'share # of #')
    """
    return _PADDING.sub(" ", _NUMBER.sub("#", text)) if isinstance(text, str) else text
