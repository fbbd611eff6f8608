"""Formulas on the site's pages: TeX as MathML, and what the plain texts of claims say as formulas."""

import re
from html import unescape

import pytest

from ldpnb.notebook.notation import GREEK, formulas
from ldpnb.site import entries
from ldpnb.site.mathematics import mathml
from ldpnb.site.notation import typeset

TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        (r"\mathrm{E}[x]", "<mtext>E</mtext>"),
        (r"\Delta", '<mi mathvariant="normal">Δ</mi>'),
        (r"\max_x f", '<munder><mo movablelimits="true" lspace="0" rspace="0.1667em">max</mo><mi>x</mi></munder>'),
        (r"2\ln x", '<mo lspace="0.1667em" rspace="0.1667em">ln</mo>'),
        (r"\operatorname{Var}[x]", '<mo lspace="0" rspace="0">Var</mo>'),
        (r"\operatorname*{arg\,max}_x f", "<munder>"),
        (r"\mathbb{1}", "<mn>\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ONE}</mn>"),
        (r"\mathbf{xy}", "\N{MATHEMATICAL BOLD SMALL X}"),
        (r"a/b", '<mo lspace="0" rspace="0">/</mo>'),
        (r"\ln\det A", '<mo lspace="0" rspace="0.1667em">ln</mo>'),
        (r"[-1, 1]", '<mo form="prefix">\N{MINUS SIGN}</mo>'),
        (r"a - 1", "<mo>\N{MINUS SIGN}</mo>"),
        (r"|x| \pm 1", '<mo stretchy="false" lspace="0" rspace="0">|</mo><mo>±</mo>'),
        (r"\overline{x+y}", '<mo accent="true" stretchy="true">\N{OVERLINE}</mo>'),
        (r"\bigl\{x\bigr\}", ">{</mo>"),
        (r"1, \dots, n", "<mi>…</mi>"),
        (r"\begin{aligned}a&=b\\&=c\end{aligned}", '<mtd columnalign="right">'),
        (r"x \sim y", "<mo>\N{TILDE OPERATOR}</mo>"),
    ],
)
def test_formulas_look_as_in_tex(formula: str, part: str) -> None:
    assert part in mathml(formula)


@pytest.mark.parametrize("formula", [r"\absent{x}", r"\left( x", r"K \\alpha"])
def test_tex_without_a_translation_is_refused_with_the_formula(formula: str) -> None:
    with pytest.raises(ValueError, match="formula must") as error:
        mathml(formula)
    assert repr(formula) in str(error.value)


def symbols(text: str) -> str:
    """A text's symbols in their order, the same for the terminal's notation and for its formulas set as mathematics."""
    for other, ours in (
        ("...", "…"),
        ("<=", "≤"),
        (">=", "≥"),
        ("!=", "≠"),
        ("->", "→"),
        ("-hat", "^"),
        ("'", "\N{PRIME}"),
        ("log2", "log_2"),
    ):
        text = text.replace(other, ours)
    text = re.sub(r"([\d.]+)e(-?)0*(\d+)", lambda m: f"{m[1]}{TIMES}10{m[2]}{m[3]}".removeprefix(f"1{TIMES}"), text)
    named = "|".join(sorted(set(GREEK.values()), key=len, reverse=True))
    letter = {name: letter for letter, name in GREEK.items() if letter != "ϵ"} | {"eps": "ε"}
    text = re.sub(rf"(?<![A-Za-z])(?:{named}|eps(?=\d))(?![A-Za-z])", lambda m: letter[m[0]], text)
    for word, sign in {
        "sqrt": "",
        "sum": "∑",
        "floor(": "",
        "Omega": "Ω",
        "Phi": "Φ",
        "-": "\N{MINUS SIGN}",
        "*": "·",
        "·": "",
        "|": "\N{DIVIDES}",
    }.items():
        text = text.replace(word, sign)
    return re.sub(r"[\s^_(){}~⌊⌋]", "", text)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("ln(1 + (m/n)(e^epsilon - 1))", r"\ln (1+(m/n)({e}^{\varepsilon }-1))"),
        ("e^(2 epsilon)", r"{e}^{2 \varepsilon }"),
        ("1/(4 n sinh^2(epsilon/2))", r"1/(4 n \sinh ^{2} (\varepsilon /2))"),
        ("c sqrt(1/m - 1/k)", r"c \sqrt{1/m-1/k}"),
        ("O(m/(epsilon sqrt n))", r"O(m/(\varepsilon \sqrt{n}))"),
        ("mu_1'/mu_0'", r"\mu _{1}'/\mu _{0}'"),
        ("0 <= c_DE <= n", r"0\le c_{\mathrm{DE}}\le n"),
        ("E c-hat = n f", r"\operatorname{E} \hat{c}=n f"),
        ("e^(epsilon |m - m'|)", r"{e}^{\varepsilon |m-m'|}"),
        ("sum_(j holds i) pi_j", r"\sum_{j\text{ holds }i} \pi _{j}"),
        ("f = 5,000", "f=5{,}000"),
        ("9.1e-07", r"9.1\times 10^{-7}"),
        ("|S/n - Q p|_1^2 != floor(a/2)", r"{|S/n-Q p|_{1}}^{2}\ne \lfloor a/2\rfloor "),
        ("sum_j pi_j (1 - pi_j)", r"\sum_{j} \pi _{j} (1-\pi _{j})"),
    ],
)
def test_formulas_of_claims_are_read_as_they_are_meant(text: str, formula: str) -> None:
    ((source, tex),) = formulas(text)
    assert (source, tex.replace(" ", "")) == (text, formula.replace(" ", ""))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("any 2 epsilon-LDP one", ["2 epsilon"]),
        ("X, Y epsilon_1-close", ["epsilon_1"]),
        ("at eps1 = eps2 = 1 M_R loses", ["eps1 = eps2 = 1", "M_R"]),
        ("4169 (g_DE) of noises of sum 1", ["(g_DE)"]),
        ("0.02 (n = 100)", ["(n = 100)"]),
        ("a sample of 3-4 users' values, i.e. k-RR or a 1-bit mean", []),
        ("B(largest other cluster) e^loss <= |MLE - P|^2", ["e^loss <= |MLE - P|^2"]),
        ("the loss <= 2 of M_R's report, under bun2022/theorem-4.3", ["M_R"]),
        ("0.98 at 0.5 (-1.5), small-epsilon or 1/share", ["(-1.5)", "epsilon", "1/share"]),
        ("A sum of a mean", []),
        ("Under Definition 3.1 Var(g)/(n f) is", ["Var(g)/(n f)"]),
        ("by Theorem 4.2 exp(2 x) grows, and Table 1 n, and 4.2 exp(x)", ["exp(2 x)", "n", "4.2 exp(x)"]),
        ("all 81 x 81 sequences of x", ["x"]),
    ],
)
def test_what_is_no_formula_stays_text(text: str, read: list[str]) -> None:
    assert [source for source, tex in formulas(text) if tex] == read


def test_every_text_of_the_ledger_keeps_its_symbols_in_their_order() -> None:
    for claim in entries.entries():
        for text in (claim.says, claim.over, claim.evidence, claim.corrected, claim.assumption, claim.argument):
            shown = unescape(re.sub(r"<[^>]+>", " ", str(typeset(text))))
            assert symbols(shown) == symbols(text)
