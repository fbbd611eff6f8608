"""The texts of claims as HTML."""

from functools import cache

from markupsafe import Markup, escape

from ldpnb.notebook.notation import formulas, signs
from ldpnb.site.mathematics import kept, mathml


@cache
def typeset(text: str) -> Markup:
    """Return a text as HTML in which its formulas are MathML.

    >>> typeset("n <= 5 & so")
    Markup('<math display="inline"><mrow><mi>n</mi><mo>≤</mo><mn>5</mn></mrow></math> &amp; so')
    """
    pieces = (Markup(mathml(tex)) if tex else escape(signs(source)) for source, tex in formulas(text))
    return Markup(kept("".join(pieces)))
