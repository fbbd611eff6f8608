"""The package's code as pages whose lines can be linked to."""

import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb.run.ledger import place

PLAIN = "n|nn|nf|nc|nd|nb|bp|fm|p|o|ow|w|m[ifho]|s[ai]"
"""Tokens that are not coloured, by far the most."""
PACKAGE = Path(ldpnb.__file__).parent


def address(name: str) -> str:
    """Return the page and line of a function, method, property or class of the package, from the root of the site."""
    file, line = place(pkgutil.resolve_name(name))
    return f"code/{file.with_suffix('.html').as_posix()}#L-{line}"


def pages(_app: Any) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield a page for each module, for Sphinx's event ``html-collect-pages``."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    formatter = HtmlFormatter(linespans="L", cssclass="highlight code")
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE.parent)
        text = highlight(path.read_text(encoding="utf-8"), PythonLexer(), formatter)
        text = re.sub(rf'<span class="(?:{PLAIN})">([^<]*)</span>', r"\1", text).replace("<pre>", '<pre tabindex="0">')
        yield f"code/{name.with_suffix('').as_posix()}", {"title": name.as_posix(), "body": text}, "code.html"
