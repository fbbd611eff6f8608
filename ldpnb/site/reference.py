"""The library's functions and classes with their docstrings, and the claims that rest on each."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent

from markupsafe import Markup, escape

import ldpnb
from ldpnb import claims
from ldpnb.notebook.notation import formulas
from ldpnb.site import sources
from ldpnb.site.atlas import local, place
from ldpnb.site.card import formula
from ldpnb.site.entries import Entry
from ldpnb.site.mathematics import mathml
from ldpnb.site.notation import typeset
from ldpnb.site.plain import plain
from ldpnb.site.templates import page

ROOMS = ("mechanisms", "estimators", "designs", "privacy", "accuracy", "surveys", "planning", "data", "rng", "claims")
INDEX = "api/index.html"
_INLINE = re.compile(r"``(.+?)``|`(.+?)`|(?<![\w*])\*(\w[\w -]*)\*(?![\w*])", re.DOTALL)
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_FIELDS = {"Parameters", "Returns", "Yields", "Raises", "Attributes"}


@dataclass(frozen=True, slots=True)
class Item:
    """A public function, class or method of the library."""

    path: str
    signature: str
    doc: str
    line: int
    members: tuple["Item", ...] = ()

    @property
    def name(self) -> str:
        """Return its name within its module."""
        return self.path.split(".", 1 if self.path.split(".")[0] in ("rng", "claims") else 2)[-1]

    @property
    def room(self) -> str:
        """Return the room it is in."""
        return self.path.split(".")[0]

    @property
    def module(self) -> str:
        """Return the file that holds it, as a path within the checkout."""
        return f"ldpnb/{self.path.removesuffix('.' + self.name).replace('.', '/')}.py"

    @property
    def address(self) -> str:
        """Return its address on the site."""
        return f"api/{self.room}.html#{self.path}"

    @property
    def public(self) -> str:
        """Return how it is called after ``import ldpnb as ldp``, or nothing."""
        return f"ldp.{self.name}" if self.path in _public() else ""

    @property
    def summary(self) -> Markup:
        """Return the first sentence of its docstring."""
        return _text(self.doc.split("\n\n")[0])

    @property
    def described(self) -> Markup:
        """Return its docstring as HTML."""
        return described(self.doc)


@cache
def _public() -> set[str]:
    """Return the paths of the names that ``ldpnb`` has itself."""
    stub = ast.parse(Path(ldpnb.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {f"{line.module}.{n.name}" for line in stub.body if isinstance(line, ast.ImportFrom) for n in line.names}


@cache
def items() -> dict[str, Item]:
    """Return the library's public functions, classes and methods by their path within ``ldpnb``."""
    found = [item for module in sources.modules() for item in _of_module(module)]
    return {i.path: i for top in found for i in (top, *top.members)}


def _of_module(module: str) -> Iterator[Item]:
    dotted = module.removeprefix("ldpnb/").removesuffix(".py").replace("/", ".")
    if dotted.split(".")[0] in ROOMS and not dotted.endswith("__init__"):
        for node in ast.parse(local(module).read_text(encoding="utf-8")).body:
            yield from _items(node, dotted)


def _items(node: ast.stmt, where: str) -> Iterator[Item]:
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
        return
    path, doc = f"{where}.{node.name}", ast.get_docstring(node) or ""
    members = tuple(i for n in node.body for i in _items(n, path)) if isinstance(node, ast.ClassDef) else ()
    yield Item(path, _signature(node), doc, node.lineno, members)


def _signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Return how it is called; a class by its fields, a property by its name."""
    if isinstance(node, ast.ClassDef):
        fields = [n for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        shown = [ast.unparse(n.target) + (f"={ast.unparse(n.value)}" if n.value else "") for n in fields]
        made = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        return f"{node.name}{_arguments(made[0]) if made else '(' + ', '.join(shown) + ')'}"
    bare = any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}{'' if bare else _arguments(node)}{returns}"


def _arguments(node: ast.FunctionDef) -> str:
    return "(" + re.sub(r"^(self|cls)(, )?", "", ast.unparse(node.args)) + ")"


def described(doc: str) -> Markup:
    r"""Return a docstring (numpydoc) as HTML, its formulas as MathML.

    >>> described("Like `Column`.\n\nParameters\n----------\nn : int\n    Users.")  # doctest: +ELLIPSIS
    Markup('<p>Like <code>Column</code>.</p><p><strong>Parameters</strong></p><dl><dt><code>n</code> int</dt>...')
    """
    head, *rest = _SECTION.split(doc)
    parts = [_blocks(head)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        parts.append(Markup("<p><strong>{}</strong></p>").format(title))
        parts.append(_fields(body) if title in _FIELDS else _blocks(body))
    return Markup("").join(parts)


def _blocks(text: str) -> Markup:
    parts = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block.lstrip().startswith(">>>"):
            code = sources.highlighted(dedent(block))
            parts.append(Markup("<pre><code>{}</code></pre>").format(Markup(code)))
        elif block.lstrip().startswith(".. math::"):
            tex = " ".join(block.replace(".. math::", "").split())
            parts.append(Markup('<p><span class="formula">{}</span></p>').format(Markup(mathml(tex, block=True))))
        elif re.match(r"\s*- ", block):
            entries = [_text(e) for e in re.split(r"^\s*- ", block, flags=re.MULTILINE)[1:]]
            parts.append(Markup("<ul>{}</ul>").format(Markup("").join(map(Markup("<li>{}</li>").format, entries))))
        elif block.strip():
            parts.append(Markup("<p>{}</p>").format(_text(block)))
    return Markup("").join(parts)


def _fields(body: str) -> Markup:
    """Return ``name : type`` and what stands indented below each."""
    parts = []
    for field in re.split(r"\n(?=\S)", body.strip("\n")):
        head, _, text = field.partition("\n")
        name, _, kind = head.partition(" : ")
        parts.append(Markup("<dt><code>{}</code> {}</dt><dd>{}</dd>").format(name, _text(kind, escape), _text(text)))
    return Markup("<dl>{}</dl>").format(Markup("").join(parts))


def _text(text: str, typeset: Callable[[str], Markup] = typeset) -> Markup:
    """Return a paragraph: what stands between backticks as code, or as a formula if it is one, and stressed words."""
    parts, at = list[Markup | str](), 0
    text = " ".join(text.split())
    for found in _INLINE.finditer(text):
        stressed = Markup("<em>{}</em>").format(found[3]) if found[3] else None
        parts += [typeset(text[at : found.start()]), stressed or _literal(found[1], found[2])]
        at = found.end()
    return Markup("").join([*parts, typeset(text[at:])])


def _literal(literal: str | None, name: str | None) -> Markup:
    pieces = formulas(literal, words=True) if literal and not re.match(r"\w{2,}=", literal) else []
    if len(pieces) == 1 and pieces[0][1] and re.search(r"[-+^<>=/ ]|epsilon", literal or ""):
        return Markup(mathml(pieces[0][1]))
    return Markup("<code>{}</code>").format(literal or name)


def link(path: str) -> str:
    """Return the address of a formula that a claim rests on: in the reference, else its line of code."""
    return items()[path].address if path in items() else place(formula(path)).address


def rests_on(claim: str) -> list[tuple[str, str]]:
    """Return what a claim rests on, as names and addresses; nothing for a claim that is not this package's."""
    try:
        paths = claims.find(claim).rests_on
    except ValueError:
        return []
    return [
        (".".join(p.split(".")[-2:] if p.split(".")[-2][0].isupper() else p.split(".")[-1:]), link(p)) for p in paths
    ]


def resting(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return, by the path of a function, the claims that rest on it."""
    found: dict[str, list[Entry]] = {}
    known = {c.id: c for c in claims.claims()}
    for entry in entries:
        for path in known[entry.claim].rests_on if entry.claim in known else ():
            found.setdefault(path, []).append(entry)
    return found


def pages(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield the address and content of a page for each room of the library, and of one that lists the public names."""
    above = resting(entries)
    tops = [i for i in items().values() if i.path.count(".") == (1 if i.room in ("rng", "claims") else 2)]
    for room in ROOMS:
        own = [i for i in tops if i.room == room]
        if own:
            about = f"The functions and classes of ldpnb.{room}"
            yield (
                f"api/{room}.html",
                page(
                    "reference", f"api/{room}.html", title=f"ldpnb.{room}", description=about, items=own, resting=above
                ),
            )
    public = {r: [i for i in tops if i.room == r and i.public] for r in ROOMS}
    titles = {r: plain(_about(r)) for r in ROOMS}
    rooms = [r for r in ROOMS if any(i.room == r for i in tops)]
    yield (
        INDEX,
        page(
            "names", INDEX, title="The library", description="Public names", rooms=rooms, public=public, titles=titles
        ),
    )


def _about(room: str) -> str:
    path = local(f"ldpnb/{room}.py" if room in ("rng", "claims") else f"ldpnb/{room}/__init__.py")
    return " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0].split())
