"""TeX formulas as MathML, which a browser draws without a script, prints, and reads aloud.

The translation is `latex2mathml`'s. What browsers make of it differs from TeX in a few places (upright letters,
operator names, limits, spaces), and those are mended here, within MathML Core.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from xml.etree.ElementTree import Element, fromstring, tostring

_BEFORE = (
    (r"\\mathrm\s*\{(\w)\}|\\mathrm\s+(\w)", r"\\text{\1\2}"),
    (r"\\operatorname\*\{\s*arg\s*(?:\\[,;!: ]\s*)?(max|min)\s*\}|\\arg\s*\\(max|min)", r"\\arg\1\2 "),
    (r"\\(begin|end)\{aligned\}", r"\\\1{align*}"),
)
_BIG = {r"\{": "{", r"\}": "}", r"\|": "‖", r"\lVert": "‖", r"\rVert": "‖", r"\lfloor": "⌊", r"\rfloor": "⌋"}
_LIMITS = {"max", "min", "sup", "inf", "lim", "argmax", "argmin"}
_AS_IDENTIFIER = "∞∅…⋯"
_AS_OPERATOR = {"~": "\N{TILDE OPERATOR}", **{c: c for c in "⌈⌉⌊⌋⟹⟺⟶⟵⟷↦∥±∓\N{DIVIDES}\N{PRIME}"}}
_WIDE_ACCENTS = {"―": "\N{OVERLINE}", "^": "\N{COMBINING CIRCUMFLEX ACCENT}", "~": "\N{COMBINING TILDE}"}
_THIN = "0.1667em"
_OPENING, _CLOSING = "([{⟨⌈⌊|‖", (*")]}⟩⌉⌋|‖!", "\N{PRIME}")
_SIGNS = {"-", "\N{MINUS SIGN}", "+", "±", "∓"}
_SPACED = "=<>≤≥≠≈→∈\N{TILDE OPERATOR}"
_ENDED = re.compile(r'<math display="inline"(?:(?!</math>).)*</math>[.,;:!?)\]]+', re.DOTALL)
_LONG = 24
"""Characters from which a formula in a sentence may be wider than a phone and gets a line of its own there."""


@cache
def mathml(formula: str, *, block: bool = False) -> str:
    r"""Return a TeX formula, given without its dollar signs, as a MathML element; a block stands on a line of its own.

    Raises
    ------
    ValueError
        For TeX that has no translation; the formula is named.

    Examples
    --------
    >>> mathml(r"\hat p")
    '<math display="inline"><mrow><mover accent="true"><mi>p</mi><mo>^</mo></mover></mrow></math>'
    """
    from latex2mathml.converter import Converter

    text = formula.strip()
    for pattern, replacement in _BEFORE:
        text = re.sub(pattern, replacement, text)
    if "\\\\" in text and "\\begin" not in text:
        raise ValueError(f"formula must break lines within an environment only, got {formula!r}")
    try:
        tree = Converter(xmlns="", display="block" if block else "inline").convert_to_element(text)
    except Exception as error:  # latex2mathml has a class for each mistake and no common one
        mistake = type(error).__name__
        raise ValueError(f"formula must be TeX that can be translated, got {formula!r} ({mistake})") from error
    del tree.attrib["xmlns"]
    for element in tree.iter():
        element.text = _decoded(element.text)
        if element.text and element.text.startswith("\\"):
            raise ValueError(f"formula must use known commands only, got {element.text} in {formula!r}")
    _mend(tree)
    if not block and len("".join(tree.itertext())) > _LONG:
        tree.set("class", "long")
    return tostring(tree, encoding="unicode")


def kept(markup: str) -> str:
    """Return HTML in which a formula and the punctuation behind it stay on one line, which browsers would part.

    >>> kept('(at <math display="inline"><mi>n</mi></math>), so')
    '(at <span class="kept"><math display="inline"><mi>n</mi></math>),</span> so'
    """
    return _ENDED.sub(r'<span class="kept">\g<0></span>', markup)


def spoken(formula: str) -> str:
    r"""Return a TeX formula as text, for a window's title or a picture's alternative text.

    >>> spoken(r"\frac{\epsilon}{2} \le \sqrt{n+1}, x_i^2")
    'ϵ/2 ≤ √(n+1), x_i^2'
    """
    return linear(mathml(formula))


def linear(element: str) -> str:
    """Return a MathML element as text.

    >>> linear("<math><msup><mi>e</mi><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow></msup></math>")
    'e^(a+1)'
    """
    return re.sub(r"\s+([,;.])", r"\1", " ".join(_spoken(fromstring(element)).split()))


def _spoken(element: Element) -> str:
    parts = [_spoken(child) for child in element]
    match element.tag:
        case "mo" if (text := element.text or "").strip() and text in _SPACED:
            return f" {text} "
        case "mo" if (element.text or "") == ",":
            return ", "
        case "msqrt":
            return "√" + _grouped("".join(parts))
        case "mfrac":
            return "/".join(map(_grouped, parts))
        case "msub" | "munder":
            return "_".join(map(_grouped, parts))
        case "mover" if element.get("accent"):
            return parts[0] + _WIDE_ACCENTS.get(parts[1], parts[1])
        case "msup" | "mover":
            return "^".join(map(_grouped, parts))
        case "msubsup" | "munderover":
            return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    return (element.text or "") + "".join(parts)


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"\w*", text) else f"({text})"


def _decoded(text: str | None) -> str | None:
    return text and _BIG.get(text, re.sub(r"&#x([0-9A-Fa-f]+);", lambda m: chr(int(m[1], 16)), text))


def _mend(tree: Element) -> None:
    for parent in list(tree.iter()):
        _letters(parent)
        _accents(parent)
        _limits(parent)
    for parent in list(tree.iter()):
        for before, element, after in _neighbours(parent):
            core = _core(element)
            if core is not None:
                _space(core, before, after)


def _letters(element: Element) -> None:
    """Letters and symbols: alphabets as characters of their own, capital Greek upright, relations as operators."""
    text, variant = element.text or "", element.attrib.get("mathvariant")
    if variant and variant != "normal":
        del element.attrib["mathvariant"]
        element.text = "".join(_styled(c, variant) for c in text)
    elif element.tag == "mi" and re.fullmatch("[\N{GREEK CAPITAL LETTER ALPHA}-\N{GREEK CAPITAL LETTER OMEGA}]", text):
        element.set("mathvariant", "normal")
    elif element.tag == "mi" and text in _AS_OPERATOR:
        element.tag, element.text = "mo", _AS_OPERATOR[text]
        if text in "⌈⌉⌊⌋":
            element.set("stretchy", "false")
    elif element.tag == "mo" and text and text in _AS_IDENTIFIER:
        element.tag = "mi"


def _styled(letter: str, variant: str) -> str:
    """Return a letter or digit in one of Unicode's mathematical alphabets.

    >>> [unicodedata.name(_styled(c, "double-struck")) for c in "xR1"]
    ['MATHEMATICAL DOUBLE-STRUCK SMALL X', 'DOUBLE-STRUCK CAPITAL R', 'MATHEMATICAL DOUBLE-STRUCK DIGIT ONE']
    """
    name = re.sub(r"(LATIN|GREEK) (SMALL|CAPITAL) LETTER", r"\2", unicodedata.name(letter, ""))
    for prefix in ("MATHEMATICAL ", ""):
        try:
            return unicodedata.lookup(f"{prefix}{variant.upper().replace('BOLD-', 'BOLD ')} {name}")
        except KeyError:
            continue
    return letter


def _accents(element: Element) -> None:
    """Stretch bars and hats over more than one letter."""
    if element.tag == "mover" and len(element) == 2 and (element[1].text or "") in _WIDE_ACCENTS:
        wide = element[0].tag == "mrow" and len("".join(element[0].itertext())) > 1
        if wide or element[1].text == "―":
            element.set("accent", "true")
            element[1].text = _WIDE_ACCENTS[element[1].text or ""]
            element[1].set("stretchy", "true")


def _limits(element: Element) -> None:
    """Put what stands below ``max`` there in a display, and beside it within a sentence."""
    under = {"msub": "munder", "msubsup": "munderover"}
    if element.tag in under and re.sub(r"\W", "", element[0].text or "") in _LIMITS:
        element.tag = under[element.tag]
        element[0].tag = "mo"
        element[0].set("movablelimits", "true")


def _neighbours(parent: Element) -> Iterator[tuple[Element | None, Element, Element | None]]:
    if parent.tag not in ("mrow", "mtd", "math", "mstyle", "msqrt"):
        return
    children = list(parent)
    yield from zip([None, *children], children, [*children[1:], None], strict=False)


def _core(element: Element) -> Element | None:
    """Return the operator whose spacing an element takes, through its scripts."""
    while element.tag in ("msub", "msup", "msubsup", "munder", "munderover") and len(element):
        element = element[0]
    return element if element.tag in ("mo", "mi") else None


def _space(core: Element, before: Element | None, after: Element | None) -> None:
    """Set an operator's name off by a thin space from all but brackets and operators, and slashes and bars by none."""
    text = core.text or ""
    if text in ("/", "|", "‖"):
        core.set("lspace", "0")
        core.set("rspace", "0")
    elif text in _SIGNS and (before is None or (before.tag == "mo" and before.text not in _CLOSING)):
        core.set("form", "prefix")
    elif _is_name(text) or (core.tag == "mo" and text.isalpha()):
        core.tag = "mo"
        core.set("lspace", _THIN if before is not None and before.tag != "mo" else "0")
        core.set("rspace", _THIN if after is not None and _needs_space(after) else "0")


def _is_name(text: str) -> bool:
    return len(text) > 1 and re.fullmatch(r"[A-Za-z\W]*[A-Za-z]", text) is not None


def _needs_space(after: Element) -> bool:
    """Return whether an operator's name has to be set off from what follows it."""
    core, first = _core(after), next((t for t in after.itertext() if t), " ")[0]
    name = core is not None and _is_name(core.text or "")
    return name or (first not in _OPENING and after.tag != "mo")
