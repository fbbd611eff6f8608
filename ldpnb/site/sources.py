"""The package's code as pages, for the links from a result to what computed it."""

import ast
import os
import re
from functools import cache
from pathlib import PurePosixPath

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from ldpnb.site.atlas import PACKAGE, Atlas, address, local
from ldpnb.site.markdown import render
from ldpnb.site.templates import page

# the classes that the style sheet gives a colour
_COLOURED = "k|kn|kc|kd|kt|ow|s|s1|s2|sd|sa|si|se|sr|m|mi|mf|mh|mb|nf|nc|nd|fm|c|c1|ch|cm"
_PLAIN = re.compile(rf'<span class="(?!(?:{_COLOURED})")\w+">([^<]*)</span>')


@cache
def highlighted(code: str) -> str:
    """Return Python code as HTML, its coloured tokens in elements with Pygments' classes; no element spans two lines."""
    marked = str(highlight(code, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)))
    return _PLAIN.sub(r"\1", marked).rstrip("\n")


def modules() -> list[str]:
    """Return the package's modules, as paths within the checkout."""
    return sorted(p.relative_to(PACKAGE.parent).as_posix() for p in PACKAGE.rglob("*.py"))


def code_pages(of: list[str]) -> dict[str, str]:
    """Return a page for every module and one for every folder of modules, by address."""
    folders = sorted({str(f) for m in of for f in PurePosixPath(m).parents if f.name})
    return {address(m): module_page(m) for m in of} | {address(f): _folder(f, of, folders) for f in folders}


def module_page(path: str) -> str:
    """Return the page that shows a module."""
    code = local(path).read_text(encoding="utf-8")
    name = PurePosixPath(path)
    lines = (f'<span id="L-{i}">{line}</span>' for i, line in enumerate(highlighted(code).split("\n"), 1))
    return page(
        "code",
        address(path),
        title=name.name,
        folder=f"{name.parent}/",
        description=_about(path),
        body=Markup("\n".join(lines)),
    )


def _folder(path: str, of: list[str], folders: list[str]) -> str:
    inside = [p for p in (*folders, *of) if str(PurePosixPath(p).parent) == path and not p.endswith("__init__.py")]
    members = [
        {
            "address": os.path.relpath(address(p), PurePosixPath(address(path)).parent),
            "name": p.split("/")[-1],
            "about": _about(p),
        }
        for p in (*inside, f"{path}/__init__.py")
        if p in folders or p in of
    ]
    above = str(PurePosixPath(path).parent)
    folder = "" if above == "." else f"{above}/"
    return page("folder", address(path), title=f"{path}/", folder=folder, description=_about(path), members=members)


def _about(path: str) -> str:
    """Return the first paragraph of a module's docstring, or of a package's."""
    file = local(path) / "__init__.py" if local(path).is_dir() else local(path)
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) if file.exists() else None
    return " ".join((text or "").split("\n\n")[0].split())


def text_page(path: str, atlas: Atlas) -> str:
    """Return the page of a Markdown file."""
    text = local(path).read_text(encoding="utf-8")
    body = Markup(render(text, atlas.relink(address(path), path)))
    return page("text", address(path), title=path, description=path, body=body)
