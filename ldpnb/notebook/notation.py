r"""The formulas of claims, which are written for a terminal, as mathematics: ``e^(2 epsilon)`` and the like.

Only what the grammar below reads as a whole becomes a formula, symbol by symbol and in the same order; everything else
stays the text that it is. Fractions keep their slash, products their juxtaposition.
"""

import re
import unicodedata
from dataclasses import dataclass

GREEK = {chr(c): unicodedata.name(chr(c)).rsplit(" ", 1)[1].lower() for c in range(0x3B1, 0x3CA)} | {
    "ϵ": "epsilon",
    "λ": "lambda",
}
"""Letters and their names."""
_GREEK = set(GREEK.values())
_NAMES = {"ln", "exp", "log", "sinh", "cosh", "tanh", "coth", "det", "min", "max"}
_OPERATORS = {"Var", "Cov", "Pr", "tr", "KL", "Lap"}
_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?!,?\d)|\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\d)|(?<!\w)\.\d+)"
    r"|(?P<word>[A-Za-z\u00c0-\u024f]+(?:-hat)?\d*|[\u03b1-\u03c9](?![₀-₉²]))"
    r"|(?P<op><=|>=|!=|->|\.\.\.|[-+*/=<>^_()\[\]{}|,~'])|(?P<space> +)|(?P<other>.)",
    re.DOTALL,
)
_PLACE = re.compile(
    "(?:Algorithm|Appendix|Corollary|Definition|Equation|Fact|Figure|Lemma|Proposition|Remark|Section|Table|Theorem)s?"
)
_RELATIONS = {"=": "=", "<": "<", ">": ">", "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "->": r"\to "}
_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _NoFormulaError(Exception):
    """What stands here is not read as a formula."""


@dataclass(slots=True)
class _Reader:
    """Reads one formula from a list of tokens ``(kind, text)``.

    It stands `at` a token; what was read is a `real` formula, `depth` brackets deep, and has `related` two sides. It is
    within `bars`, or where there may be `words`, as in an exponent.
    """

    tokens: list[tuple[str, str]]
    at: int
    real: bool = False
    depth: int = 0
    related: bool = False
    bars: bool = False
    words: bool = False

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
                tex, self.real = tex + _RELATIONS[among] + self.sum(first=False), True
                self.related = True
            except _NoFormulaError:
                self.at, self.real = start
                break
        return tex

    def sum(self, first: bool = True) -> str:
        sign = ""
        if self.peek() in (("op", "-"), ("op", "+")):
            sign, self.at = self.peek()[1], self.at + 1
            self.real |= self.peek()[0] == "number"
        tex = sign + self.product(first=first and not sign and not self.depth)
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
        bar = text == "|" and (self.bars or not spaced or self.peek(2)[0] == "space")
        article = spaced and text == "a" and self.peek(2)[0] == "space" and self.peek(3)[0] != "op"
        if kind == "number" or text == "..." or bar or article or (spaced and one):
            raise _NoFormulaError
        self.at += spaced
        start, related = self.at, self.related
        self.related = False
        tex = self.factor()
        signs = [t for k, t in self.tokens[start : self.at] if k == "op" and t not in "()_"]
        remark = text == "(" and (self.related or not signs or (signs == ["-"] and self.tokens[start + 1][1] == "-"))
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
                break
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
            return self.enclosed()
        sign = "-" if self.peek() == ("op", "-") else ""
        self.at += len(sign)
        words, self.words = self.words, True
        tex = sign + self.atom()
        self.words = words
        while self.peek() == ("op", "'") and self.peek(1)[0] != "word":
            self.at, tex = self.at + 1, tex + "'"
        return tex

    def enclosed(self, bracket: str = ")", words: bool = True) -> str:
        """Read what stands in brackets, up to the one that closes them: parts between commas and bars."""
        before = (self.words, self.bars)
        self.words, self.bars = self.words or words, False
        self.at, self.depth = self.at + 1, self.depth + 1
        parts = [self.relation()]
        while self.peek(spaced := self.peek()[0] == "space") in (("op", ","), ("op", "|")):
            between = self.peek(spaced)[1]
            self.real |= between == "|"
            self.at += 1 + spaced + (self.peek(spaced + 1)[0] == "space")
            parts.append((", " if between == "," else r"\mid ") + self.relation())
        self.close(bracket)
        self.words, self.bars = before
        return "".join(parts)

    def close(self, bracket: str) -> None:
        if self.peek() != ("op", bracket):
            raise _NoFormulaError
        self.at, self.depth = self.at + 1, self.depth - 1

    def atom(self) -> str:
        kind, text = self.peek()
        if kind == "number":
            self.at += 1
            return self.number(text)
        if kind == "op" and text == "...":
            self.at += 1
            return r"\dots "
        if kind == "op" and text in _CLOSING:
            return self.group(text)
        if kind == "op" and text == "|":
            return self.absolute()
        if kind == "word":
            return self.symbol(text)
        raise _NoFormulaError

    def number(self, text: str) -> str:
        digits, _, exponent = text.partition("e")
        if not exponent:
            return digits.replace(",", "{,}")
        self.real = True
        power = f"10^{{{int(exponent)}}}"
        return power if digits == "1" else rf"{digits}\times {power}"

    def group(self, bracket: str) -> str:
        inside = self.enclosed(_CLOSING[bracket], words=False)
        shown = {"{": (r"\{", r"\}")}.get(bracket, (bracket, _CLOSING[bracket]))
        return self.indexed(shown[0] + inside + shown[1])

    def absolute(self) -> str:
        if self.bars:
            raise _NoFormulaError
        self.at, self.bars = self.at + 1, True
        tex = self.relation()
        if self.peek() != ("op", "|"):
            raise _NoFormulaError
        self.at, self.bars, self.real = self.at + 1, False, True
        return self.indexed(f"|{tex}|")

    def indexed(self, tex: str) -> str:
        """Read what stands below a symbol or bracket, if anything does."""
        if self.peek() != ("op", "_"):
            return tex
        self.at, self.real = self.at + 1, True
        return f"{tex}_{{{self.below()}}}"

    def symbol(self, text: str) -> str:
        tex = self.name(text)
        self.at += 1
        if self.peek() == ("op", "_"):
            return self.indexed(tex)
        if text == "floor" and self.peek() == ("op", "("):
            return rf"\lfloor {self.enclosed()}\rfloor "
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
        if name == "sum" and (self.peek()[0] == "number" or self.peek()[1] in ("of", "over")):
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
        if text in ("sum", "sqrt", "Omega", "Phi") or (text == "floor" and self.peek(1) == ("op", "(")):
            self.real = True
            return "" if text in ("sqrt", "floor") else rf"\{text}"
        if text in _OPERATORS:
            self.real = True
            return rf"\operatorname{{{text}}}"
        if (letter := GREEK.get(text, text)) in _GREEK:
            self.real = True
            return rf"\{'var' * (letter == 'epsilon')}{letter} "
        if text.endswith("-hat") and (len(text) == len("c-hat") or text.removesuffix("-hat") in _GREEK):
            self.real = True
            below = text.removesuffix("-hat")
            return rf"\hat{{{'' if len(below) == 1 else chr(92)}{below}}}"
        if digits and plain in ("eps", *"cdefmnpqrx"):
            self.real = True
            return (r"\varepsilon" if plain == "eps" else plain) + f"_{{{digits}}}"
        if text == "E" and (self.peek(1)[1] in ("[", "(") or self._mean_of()):
            self.real |= self.peek(1)[1] in ("[", "(")
            return r"\operatorname{E}"
        if len(text) == 1:
            return text
        if text.isupper() and (self.peek(1) == ("op", "_") or self.bars):
            return rf"\mathrm{{{text}}}"
        return self.word(text)

    def _mean_of(self) -> bool:
        return self.peek(1)[0] == "space" and (self.peek(2)[0] == "word" or self.peek(2)[1] == "|")

    def word(self, text: str) -> str:
        """Read a word of English, which only an exponent, an index, a fraction or the base of a power may hold."""
        before, over = self.peek(-2), self.peek(1)[1] + self.peek(2)[1] == "/("
        under = self.peek(-1)[1] == "/" and (before[0] == "number" or before[1] in (")", "|") or len(before[1]) == 1)
        allowed = self.words or over or under or self.peek(1) == ("op", "^")
        if not text.isalpha() or self.peek(1) == ("op", "_") or not allowed:
            raise _NoFormulaError
        beside = [self.peek(side)[0] == "space" and self.peek(2 * side)[0] in ("word", "number") for side in (-1, 1)]
        around = (" " * spaced for spaced in beside)
        return rf"\text{{{text.join(around)}}}" if self.words else rf"\mathrm{{{text}}}"


def _below(text: str) -> str:
    if text in _GREEK:
        return rf"\{'var' * (text == 'epsilon')}{text}"
    return text if len(text) == 1 or text.isdigit() else rf"\mathrm{{{text}}}"


def formulas(text: str, *, words: bool = False) -> list[tuple[str, str]]:
    r"""Return a text in pieces, each with its TeX if it is a formula, which may contain `words` as names of parameters.

    >>> formulas("at most ln(1 + q(e^epsilon - 1)), a box")
    [('at most ', ''), ('ln(1 + q(e^epsilon - 1))', '\\ln (1+q ({e}^{\\varepsilon }-1))'), (', a box', '')]
    """
    tokens = [(m.lastgroup or "", m[0]) for m in _TOKEN.finditer(text)]
    pieces: list[tuple[str, str]] = []
    at = 0
    while at < len(tokens):
        tex, end = _read(tokens, at, words)
        source = "".join(t for _, t in tokens[at:end])
        if not tex and pieces and not pieces[-1][1]:
            pieces[-1] = (pieces[-1][0] + source, "")
        else:
            pieces.append((source, tex))
        at = end
    return pieces


def _read(tokens: list[tuple[str, str]], at: int, words: bool) -> tuple[str, int]:
    """Return the TeX of the formula that begins at a token, and where it ends; or nothing, and the next token."""
    kind, text = tokens[at]
    before = tokens[at - 1] if at else ("end", "")
    prefixed = before[1] == "-" and at > 1 and len(tokens[at - 2][1]) > 1 and text in _GREEK
    joined = before[0] in ("word", "number") or before[1] in tuple("_'-+*/^)]}|.")
    if kind in ("space", "other") or (joined and not prefixed):
        return "", at + 1
    named = before[0] == "space" and at > 1 and _PLACE.fullmatch(tokens[at - 2][1])
    if kind == "number" and named:  # Theorem 4.2 is no factor of what follows
        return "", at + 1
    reader = _Reader(tokens, at, words=words)
    try:
        tex = reader.relation()
    except _NoFormulaError:
        return "", at + 1
    after, beyond = reader.peek(), reader.peek(1)
    alone = reader.at == at + 1 and re.fullmatch("[b-df-hj-z]", text) and after[0] in ("space", "end", "op", "other")
    if (
        after[0] in ("word", "number")
        or after[1] in ("_", "^", "(", "[", "{")
        or (after[1] == "'" and beyond[0] == "word" and beyond[1] != "s")
    ):
        return "", at + 1
    if after[1] in (".", "-") and beyond[0] == "word" and not reader.real:
        return "", at + 1
    if text == "x" and after[0] == before[0] == "space" and beyond[0] == tokens[at - 2][0] == "number":
        return "", at + 1  # so many times so many
    return (" ".join(tex.split()), reader.at) if reader.real or alone else ("", at + 1)


def signs(text: str) -> str:
    """Return text with the relations between its words as single characters.

    >>> signs("loss <= bound")
    'loss ≤ bound'
    """
    return re.sub("|".join(_SIGNS), lambda sign: _SIGNS[sign[0]], text)


def marked(text: str) -> str:
    r"""Return plain text as Markdown that shows it as it is, its formulas as mathematics.

    >>> marked("at n * q_1 <= 2, users <= 3 by _it_")
    'at $n\\cdot q_{1}\\le 2$, users ≤ 3 by \\_it\\_'
    """
    if "$" in text:  # Markdown with TeX
        return text
    return "".join(f"${tex}$" if tex else _escaped(signs(source)) for source, tex in formulas(text))


def _escaped(text: str) -> str:
    return re.sub(r"([\\*`$]|<(?=[A-Za-z/!])|(?<!\w)_|_(?!\w)|~(?=~)|\[(?=[^\]]*\]\())", r"\\\1", text)
