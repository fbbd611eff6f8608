"""The pages' templates and what they need beside them."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from ldpnb.notebook.notation import marked
from ldpnb.site.atlas import texts
from ldpnb.site.notation import typeset
from ldpnb.site.plain import plain

HERE = Path(__file__).parent
STATIC = HERE / "static"


@cache
def environment() -> jinja2.Environment:
    """Return the environment of the page templates, which escapes whatever is not marked as HTML."""
    loader = jinja2.FileSystemLoader(HERE / "templates")
    made = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    made.filters |= {"plain": plain, "marked": marked, "typeset": typeset}
    return made


def page(template: str, address: str, **content: Any) -> str:
    """Return a page that lies at `address`, a path from the site's root.

    Examples
    --------
    >>> "<title>A page · ldpnb</title>" in page("modules", "a/b.html", title="A page", description="", folders={})
    True
    """
    root = "../" * address.count("/")
    return fragment(template, root=root, texts=[path.stem for path in texts()], **content) + "\n"


def fragment(template: str, **content: Any) -> str:
    """Return what a template makes of its content."""
    return environment().get_template(f"{template}.html.j2").render(content)
