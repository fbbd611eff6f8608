r"""The formulas of claims, which are written for a terminal, as mathematics: ``e^(2 epsilon)`` and the like.

Only what the grammar below reads as a whole becomes a formula, symbol by symbol and in the same order; everything else
stays the text that it is. Fractions keep their slash, products their juxtaposition.
"""

import re
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape

from ldpnb.site.mathematics import GREEK, kept, mathml

_GREEK = set(GREEK.values())
_NAMES = {"ln", "exp", "log", "sinh", "cosh", "tanh", "det", "min", "max"}
_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\d)|(?<!\w)\.\d+)"
    r"|(?P<word>[A-Za-z]+(?:-hat)?\d*)|(?P<op><=|>=|->|\.\.\.|[-+*/=<>^_()\[\]{}|,~'])|(?P<space> +)|(?P<other>.)",
    re.DOTALL,
)
_PLACE = re.compile(
    "(?:Algorithm|Appendix|Corollary|Definition|Equation|Fact|Figure|Lemma|Proposition|Remark|Section|Table|Theorem)s?"
)
_RELATIONS = {"=": "=", "<": "<", ">": ">", "<=": r"\le ", ">=": r"\ge ", "->": r"\to "}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _NoFormulaError(Exception):
    """What stands here is not read as a formula."""


@dataclass(slots=True)
class _Reader:
    """Reads one formula from a list of tokens ``(kind, text)``.

    It stands `at` a token; what was read is a `real` formula, `depth` brackets deep, and has `related` two sides.
    """

    tokens: list[tuple[str, str]]
    at: int
    real: bool = False
    depth: int = 0
    related: bool = False

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        place = self.at + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else ("end", "")

    def operator(self, among: str | dict[str, str]) -> str:
        """Take an operator with the same space on both sides, and return it, or nothing."""
        before = self.peek()[0] == "space"
        kind, text = self.peek(before)
        after = self.peek(before + 1)[0] == "space"
        if kind == "op" and text in among and before == after:
            return text
        return ""

    def relation(self) -> str:
        tex = self.sum()
        for among in iter(lambda: self.operator(_RELATIONS), ""):
            start = (self.at, self.real)
            self.at += 3 if self.peek()[0] == "space" else 1
            try:
                tex, self.real = tex + _RELATIONS[among] + self.sum(), True
                self.related = True
            except _NoFormulaError:
                self.at, self.real = start
                break
        return tex

    def sum(self) -> str:
        sign = ""
        if self.peek() in (("op", "-"), ("op", "+")):
            sign, self.at = self.peek()[1], self.at + 1
        tex = sign + self.product(first=not sign and not self.depth)
        while self.operator("+-"):
            start = (self.at, self.real)
            spaced = self.peek()[0] == "space"
            if not spaced and self.peek(-1)[0] == self.peek(1)[0] == "number":
                break
            self.at += 1 + spaced
            try:
                text = self.peek(-1)[1]
                self.at += spaced
                tex, self.real = tex + text + self.product(), True
            except _NoFormulaError:
                self.at, self.real = start
                break
        return tex

    def product(self, first: bool = False) -> str:
        article = first and self.peek()[1] in ("a", "A")
        tex = self.factor()
        while not article or self.peek()[0] != "space" or self.operator("*/"):
            start = (self.at, self.real)
            try:
                tex += self.multiplied()
            except _NoFormulaError:
                self.at, self.real = start
                break
            article = False
        return tex

    def multiplied(self) -> str:
        """Read one more factor, behind an operator or beside the one before."""
        dot, spaced, before = self.operator("*/"), self.peek()[0] == "space", self.peek(-1)
        if dot:
            self.at, self.real = self.at + 1 + 2 * spaced, True
            return {"*": r"\cdot ", "/": "/"}[dot] + self.factor()
        kind, text = self.peek(spaced)
        one = before[1] in ("1", "}") and self.peek(-2)[1] not in ("_", "^")
        if kind == "number" or text in ("|", "...", *"a" * spaced) or (spaced and one):
            raise _NoFormulaError
        self.at += spaced
        start, related = self.at, self.related
        self.related = False
        tex = self.factor()
        remark = text == "(" and (self.related or all(k != "op" or t in "()_" for k, t in self.tokens[start : self.at]))
        named = before[1].isupper() and self.peek() == ("op", "-") and len(self.peek(1)[1]) > 1
        if spaced and (remark or named):
            raise _NoFormulaError
        self.related |= related
        return " " + tex

    def factor(self) -> str:
        tex = self.atom()
        while self.peek() in (("op", "'"), ("op", "~")) or (self.peek() == ("op", "*") and self._ends(1)):
            mark = self.peek()[1]
            if mark == "'" and self.peek(1)[0] == "word":
                raise _NoFormulaError
            tex = {"'": f"{tex}'", "~": rf"\tilde{{{tex}}}", "*": f"{tex}^*"}[mark]
            self.at, self.real = self.at + 1, True
        if self.peek() == ("op", "^"):
            self.at += 1
            tex, self.real = f"{{{tex}}}^{{{self.exponent()}}}", True
        return tex

    def _ends(self, ahead: int) -> bool:
        """Return whether no operand follows, as after a star that marks a symbol."""
        kind, text = self.peek(ahead)
        return (kind in ("space", "end", "other") and self.peek(-1)[0] == "word") or text in (",", ")", "(")

    def exponent(self) -> str:
        if self.peek() == ("op", "("):
            self.at, self.depth = self.at + 1, self.depth + 1
            tex = self.relation()
            self.close(")")
            return tex
        sign = "-" if self.peek() == ("op", "-") else ""
        self.at += len(sign)
        return sign + self.atom()

    def close(self, bracket: str) -> None:
        if self.peek() != ("op", bracket):
            raise _NoFormulaError
        self.at, self.depth = self.at + 1, self.depth - 1

    def atom(self) -> str:
        kind, text = self.peek()
        if kind == "number":
            self.at += 1
            return rf"\text{{{text}}}" if "e" in text else text.replace(",", "{,}")
        if kind == "op" and text == "...":
            self.at += 1
            return r"\dots "
        if kind == "op" and text in _CLOSING:
            return self.group(text)
        if kind == "op" and text == "|" and not self.depth:
            return self.absolute()
        if kind == "word":
            return self.symbol(text)
        raise _NoFormulaError

    def group(self, bracket: str) -> str:
        self.at, self.depth = self.at + 1, self.depth + 1
        parts = [self.relation()]
        while self.peek() in (("op", ","), ("op", "|")):
            between = self.peek()[1]
            self.at += 1 + (self.peek(1)[0] == "space")
            parts += [", " if between == "," else r"\mid ", self.relation()]
        self.close(_CLOSING[bracket])
        shown = {"{": (r"\{", r"\}")}.get(bracket, (bracket, _CLOSING[bracket]))
        return shown[0] + "".join(parts) + shown[1]

    def absolute(self) -> str:
        self.at += 1
        tex = self.relation()
        if self.peek() != ("op", "|"):
            raise _NoFormulaError
        self.at += 1
        return f"|{tex}|"

    def symbol(self, text: str) -> str:
        tex = self.name(text)
        self.at += 1
        if self.peek() == ("op", "_"):
            self.at, self.real = self.at + 1, True
            return f"{tex}_{{{self.below()}}}"
        if text == "sqrt":
            return rf"\sqrt{{{self.radicand()}}}"
        if text in _NAMES or text == "sum":
            return tex + self.argument(text)
        return tex

    def below(self) -> str:
        if self.peek() == ("op", "("):
            return self.exponent()
        kind, text = self.peek()
        if kind not in ("word", "number"):
            raise _NoFormulaError
        self.at += 1
        return _below(text)

    def argument(self, name: str) -> str:
        """Read what a function's name stands before, which it must."""
        power = ""
        if self.peek() == ("op", "^"):
            self.at += 1
            power = f"^{{{self.exponent()}}}"
        self.at += self.peek()[0] == "space"
        if name == "sum" and self.peek()[0] == "number":
            raise _NoFormulaError
        return f"{power} {self.factor()}"

    def radicand(self) -> str:
        if self.peek() == ("op", "("):
            return self.exponent()
        self.at += self.peek()[0] == "space"
        return self.atom()

    def name(self, text: str) -> str:
        plain = text.rstrip("0123456789")
        digits = text[len(plain) :]
        if text in _NAMES or text == "log2":
            self.real = True
            return rf"\{plain}" + ("_2" if digits else " ")
        if text in ("sum", "sqrt", "Var", "Omega"):
            self.real = True
            return {"sum": r"\sum", "sqrt": "", "Var": r"\operatorname{Var}", "Omega": r"\Omega"}[text]
        if text in _GREEK:
            self.real = True
            return rf"\{'var' * (text == 'epsilon')}{text} "
        if text.endswith("-hat") and len(text) == len("c-hat"):
            self.real = True
            return rf"\hat{{{text[0]}}}"
        if digits and plain in ("eps", *"cdefmnpqrx"):
            self.real = True
            return (r"\varepsilon" if plain == "eps" else plain) + f"_{{{digits}}}"
        if text == "E" and (
            self.peek(1)[1] in ("[", "(") or (self.peek(1)[0] == "space" and self.peek(2)[0] == "word")
        ):
            return r"\operatorname{E}"
        if len(text) == 1:
            return text
        if text.isupper() and self.peek(1) == ("op", "_"):
            return rf"\mathrm{{{text}}}"
        raise _NoFormulaError


def _below(text: str) -> str:
    if text in _GREEK:
        return rf"\{'var' * (text == 'epsilon')}{text}"
    return text if len(text) == 1 or text.isdigit() else rf"\mathrm{{{text}}}"


def formulas(text: str) -> list[tuple[str, str]]:
    r"""Return a text in pieces, each with its TeX if it is a formula.

    >>> formulas("at most ln(1 + q(e^epsilon - 1)), a box")
    [('at most ', ''), ('ln(1 + q(e^epsilon - 1))', '\\ln (1+q ({e}^{\\varepsilon }-1))'), (', a box', '')]
    """
    tokens = [(m.lastgroup or "", m[0]) for m in _TOKEN.finditer(text)]
    pieces: list[tuple[str, str]] = []
    at = 0
    while at < len(tokens):
        tex, end = _read(tokens, at)
        source = "".join(t for _, t in tokens[at:end])
        if not tex and pieces and not pieces[-1][1]:
            pieces[-1] = (pieces[-1][0] + source, "")
        else:
            pieces.append((source, tex))
        at = end
    return pieces


def _read(tokens: list[tuple[str, str]], at: int) -> tuple[str, int]:
    """Return the TeX of the formula that begins at a token, and where it ends; or nothing, and the next token."""
    kind, text = tokens[at]
    before = tokens[at - 1] if at else ("end", "")
    if kind in ("space", "other") or before[0] in ("word", "number") or before[1] in tuple("_'-+*/^)]}|"):
        return "", at + 1
    named = before[0] == "space" and at > 1 and _PLACE.fullmatch(tokens[at - 2][1])
    if kind == "number" and named:  # Theorem 4.2 is no factor of what follows
        return "", at + 1
    reader = _Reader(tokens, at)
    try:
        tex = reader.relation()
    except _NoFormulaError:
        return "", at + 1
    after, beyond = reader.peek(), reader.peek(1)
    alone = reader.at == at + 1 and re.fullmatch("[b-df-hj-z]", text) and after[0] in ("space", "end", "op", "other")
    if (
        after[0] in ("word", "number")
        or after[1] in ("_", "^", "(", "[", "{")
        or (after[1] == "'" and beyond[0] == "word")
    ):
        return "", at + 1
    if after[1] in (".", "-") and beyond[0] == "word" and not reader.real:
        return "", at + 1
    if text == "x" and after[0] == before[0] == "space" and beyond[0] == tokens[at - 2][0] == "number":
        return "", at + 1  # so many times so many
    return (" ".join(tex.split()), reader.at) if reader.real or alone else ("", at + 1)


@cache
def typeset(text: str) -> Markup:
    """Return a text as HTML in which its formulas are MathML.

    >>> typeset("n <= 5 & so")
    Markup('<math display="inline"><mrow><mi>n</mi><mo>≤</mo><mn>5</mn></mrow></math> &amp; so')
    """
    pieces = (Markup(mathml(tex)) if tex else escape(source) for source, tex in formulas(text))
    return Markup(kept("".join(pieces)))
