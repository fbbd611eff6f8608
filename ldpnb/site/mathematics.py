"""Formulas as MathML when a page is built: no script, no font, and read aloud by a screen reader.

The translation is latex2mathml's; what browsers make of it differs from TeX in a few places, mended here.
"""

import re
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

_NAME = r"<m[io][^>]*>([A-Za-z]{2,})</m[io]>"
_AFTER = (
    (r"<mi>([⌈⌉⌊⌋])</mi>", r'<mo stretchy="false">\1</mo>'),
    (r"<mi>([~⟹⟺⟶⟵↦∥±∓∣′])</mi>", r"<mo>\1</mo>"),
    (r"<mo>([∞∅…⋯])</mo>", r"<mi>\1</mi>"),
    (r"<mi>([Α-Ω])</mi>", r'<mi mathvariant="normal">\1</mi>'),
    (r"<mo([^>]*)>([/|‖])</mo>", r'<mo\1 lspace="0" rspace="0">\2</mo>'),
    (
        r"(<mrow>|<mo[^>]*>(?:[(\[{=,≤≥]|&lt;|&gt;)</mo>)<mo>([−+±∓])</mo>",
        r'\1<mo form="prefix">\2</mo>',
    ),
    (_NAME, r'<mo lspace=".17em" rspace=".17em">\1</mo>'),  # ln x, but ln(x) and (ln x
    (r' rspace=".17em">(\w+)</mo>(?=(<mrow>)?<mo[^>]*>[(\[{|])', r' rspace="0">\1</mo>'),
    (r'(<mrow>|</mo>)<mo lspace=".17em"', r'\1<mo lspace="0"'),
    (
        r"<msub>(<mo)([^>]*>(?:max|min|sup|inf|lim)</mo>.*?)</msub>",
        r'<munder>\1 movablelimits="true"\2</munder>',
    ),
)


@cache
def mathml(formula: str, *, block: bool = False) -> str:
    """Return a TeX formula, without its dollar signs, as MathML; a block stands on a line of its own."""
    formula = re.sub(r"\\mathrm\s*\{(\w)\}|\\mathrm\s+(\w)", r"\\text{\1\2}", formula)
    made: str = convert(formula.strip(), xmlns="", display="block" if block else "inline").replace(
        ' xmlns=""', ""
    )
    made = re.sub(r"&#x([0-9A-F]+);", lambda m: escape(chr(int(m[1], 16))), made)
    for pattern, replacement in _AFTER:
        made = re.sub(pattern, replacement, made)
    return made


def inline(self: Any, node: nodes.math) -> None:
    """Add a formula in a line to a page."""
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """Add a formula on a line of its own."""
    made = mathml(node.astext(), block=True)
    # a wide formula is scrolled on a phone, by the keyboard too
    self.body.append(f'<div class="formula" tabindex="0">{made}</div>')
    raise nodes.SkipNode
