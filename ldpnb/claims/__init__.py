"""The claims of the sources, and the evidence that decides them.

A claim has two parts: its words are a table of ``papers/<source>/section_<n>.toml``, and its
check is the function of the same name in the Python file beside it. Everything else is derived:
status, list, counts, erratum sheets, and the formulas that a claim rests on.

>>> from ldpnb.claims import decide
>>> decide("biswas2022/theorem-3.5").status
'fails'
"""

from .degrees import WORDS, better, joined, rounded_up, within
from .evidence import Evidence, How, Status, UnsoundError, agree
from .register import (
    TEXTS,
    Check,
    Claim,
    Numbers,
    Source,
    Verdict,
    claims,
    decide,
    find,
    published,
    select,
    sources,
    verdict,
)

__all__ = [
    "TEXTS",
    "WORDS",
    "Check",
    "Claim",
    "Evidence",
    "How",
    "Numbers",
    "Source",
    "Status",
    "UnsoundError",
    "Verdict",
    "agree",
    "better",
    "claims",
    "decide",
    "find",
    "joined",
    "published",
    "rounded_up",
    "select",
    "sources",
    "verdict",
    "within",
]
