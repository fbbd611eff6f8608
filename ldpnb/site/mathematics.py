"""Formulas as MathML when a page is built: no script, no font, and read aloud by a screen reader.

The translation is latex2mathml's. What browsers make of it differs from TeX in a few places, which
are mended here.
"""

import re
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

THIN = ".17em"
"""A thin space of TeX."""

NAME = r"<m[io][^>]*>([A-Za-z]{2,})</m[io]>"
"""The name of a function, such as ln."""

OPENING = r"(?:[(\[{=,≤≥]|&lt;|&gt;)"
"""What stands before a sign that belongs to the number after it."""

MENDED = (
    # brackets of floor and ceiling keep their size
    (r"<mi>([⌈⌉⌊⌋])</mi>", r'<mo stretchy="false">\1</mo>'),
    # relations and arrows are operators, with space around them, and infinity and dots are not
    (r"<mi>([~⟹⟺⟶⟵↦∥±∓∣′])</mi>", r"<mo>\1</mo>"),
    (r"<mo>([∞∅…⋯])</mo>", r"<mi>\1</mi>"),
    # Greek capitals are upright
    (r"<mi>([Α-Ω])</mi>", r'<mi mathvariant="normal">\1</mi>'),
    # no space around a slash or a norm
    (r"<mo([^>]*)>([/|‖])</mo>", r'<mo\1 lspace="0" rspace="0">\2</mo>'),
    # a sign at the beginning is a prefix, without space after it
    (rf"(<mrow>|<mo[^>]*>{OPENING}</mo>)<mo>([−+±∓])</mo>", r'\1<mo form="prefix">\2</mo>'),
    # space around a function's name: ln x, but ln(x) and (ln x
    (NAME, rf'<mo lspace="{THIN}" rspace="{THIN}">\1</mo>'),
    (
        rf' rspace="{re.escape(THIN)}">(\w+)</mo>(?=(<mrow>)?<mo[^>]*>[(\[{{|])',
        r' rspace="0">\1</mo>',
    ),
    (rf'(<mrow>|</mo>)<mo lspace="{re.escape(THIN)}"', r'\1<mo lspace="0"'),
    # what stands under max and its like does so in a formula of its own, and beside it in a line
    (
        r"<msub>(<mo)([^>]*>(?:max|min|sup|inf|lim)</mo>.*?)</msub>",
        r'<munder>\1 movablelimits="true"\2</munder>',
    ),
)
"""Patterns in the translation, and what replaces them, in this order."""


@cache
def mathml(formula: str, *, block: bool = False) -> str:
    """Return a formula of TeX, without its dollar signs, as MathML.

    Parameters
    ----------
    formula : str
        The formula.
    block : bool
        Whether it stands on a line of its own.
    """
    # A single letter in roman is text, but latex2mathml would take it for a variable.
    formula = re.sub(r"\\mathrm\s*\{(\w)\}|\\mathrm\s+(\w)", r"\\text{\1\2}", formula)
    markup: str = convert(formula.strip(), xmlns="", display="block" if block else "inline")

    markup = markup.replace(' xmlns=""', "")
    markup = re.sub(r"&#x([0-9A-F]+);", lambda code: escape(chr(int(code[1], 16))), markup)
    for pattern, replacement in MENDED:
        markup = re.sub(pattern, replacement, markup)
    return markup


def inline(self: Any, node: nodes.math) -> None:
    """Add a formula in a line to a page."""
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """Add a formula on a line of its own."""
    markup = mathml(node.astext(), block=True)
    # On a phone a wide formula is scrolled; the tab index lets the keyboard scroll it too.
    self.body.append(f'<div class="formula" tabindex="0">{markup}</div>')
    raise nodes.SkipNode
