"""The package's code as pages, to which results link."""

import ast
import os
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any

import pygments
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from ldpnb.site.atlas import CODE, PACKAGE, address, local
from ldpnb.site.kept import kept
from ldpnb.site.templates import page

# the classes that the style sheet gives a colour
_COLOURED = "k|kn|kc|kd|kt|ow|s|s1|s2|sd|sa|si|se|sr|m|mi|mf|mh|mb|nf|nc|nd|fm|c|c1|ch|cm"
_PLAIN = re.compile(rf'<span class="(?!(?:{_COLOURED})")\w+">([^<]*)</span>')


@cache
def highlighted(code: str, **options: Any) -> str:
    """Return Python code as HTML, its coloured tokens in elements with Pygments' classes."""
    marked = str(highlight(code, PythonLexer(stripnl=False), HtmlFormatter(**options or {"nowrap": True})))
    return _PLAIN.sub(r"\1", marked).rstrip("\n")


def modules() -> list[str]:
    """Return the package's modules, as paths within the checkout."""
    return sorted(p.relative_to(PACKAGE.parent).as_posix() for p in PACKAGE.rglob("*.py"))


def code_pages(of: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the address and content of a page for every module, and of one that lists them by folder."""
    folders: dict[str, list[dict[str, str]]] = {}
    own = Path(__file__).read_text(encoding="utf-8")
    for path in of:
        code, name = local(path).read_text(encoding="utf-8"), PurePosixPath(path)
        about = " ".join((ast.get_docstring(ast.parse(code)) or "").split("\n\n")[0].split())
        marked = partial(highlighted, code, linespans="L", cssclass="source")
        body = Markup(kept(f"code/{path}", marked, code, own, pygments.__version__))
        above = os.path.relpath(f"{CODE}#{name.parent}", PurePosixPath(address(path)).parent)
        yield address(path), page("code", address(path), title=path, description=about, above=above, body=body)
        member = {"name": name.name, "page": os.path.relpath(address(path), "code"), "about": about}
        folders.setdefault(str(name.parent), []).append(member)
    yield CODE, page("modules", CODE, title="The code", description="The package's modules", folders=folders)
