"""Formulas on the pages are MathML that looks as TeX would set it."""

import pytest

pytest.importorskip(
    "latex2mathml", reason="no latex2mathml in this environment; `make site` brings it"
)

from ldpnb.site.mathematics import mathml


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        (r"\Delta", '<mi mathvariant="normal">Δ</mi>'),
        (r"\hat p", '<mover accent="true"><mi>p</mi><mo>^</mo></mover>'),
        (r"\max_x f", '<munder><mo movablelimits="true"'),
        (r"2\ln x", '<mo lspace=".17em" rspace=".17em">ln</mo>'),
        (r"\operatorname{Var}[x]", '<mo lspace="0" rspace="0">Var</mo>'),
        (r"a/b", '<mo lspace="0" rspace="0">/</mo>'),
        (r"[-1, 1]", '<mo form="prefix">\N{MINUS SIGN}</mo>'),
        (r"a < b", "<mo>&lt;</mo>"),
        (r"\mathrm{d}x", "<mtext>d</mtext>"),
        (r"\mathrm d", "<mtext>d</mtext>"),
        (r"\lceil x \rceil", '<mo stretchy="false">⌈</mo>'),
        (r"a \sim b", "<mo>~</mo>"),
        (r"x \implies y", "<mo>⟹</mo>"),
        (r"n \to \infty", "<mi>∞</mi>"),
        (r"1, \ldots, n", "<mi>…</mi>"),
        (r"\beta", "<mi>β</mi>"),
        (r"|x|", '<mo stretchy="false" lspace="0" rspace="0">|</mo>'),
        (r"x = -1", '<mo>=</mo><mo form="prefix">\N{MINUS SIGN}</mo>'),
        (r"a - b", "<mi>a</mi><mo>\N{MINUS SIGN}</mo>"),
        (r"2\ln(x)", '<mo lspace=".17em" rspace="0">ln</mo>'),
        (r"(\ln x)", '<mo lspace="0" rspace=".17em">ln</mo>'),
        (r"\min_{x} f", '<munder><mo movablelimits="true"'),
        (r"x_1", "<msub><mi>x</mi><mn>1</mn></msub>"),
    ],
)
def test_formulas_look_as_in_tex(formula: str, part: str) -> None:
    assert part in mathml(formula)


def test_a_formula_of_its_own_is_a_block() -> None:
    assert 'display="block"' in mathml("x", block=True)
    assert 'display="inline"' in mathml("x")
