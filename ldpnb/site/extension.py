"""What stock Sphinx lacks: formulas as MathML, and links to files of the checkout."""

import os
import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

from ldpnb.run.catalogue import home
from ldpnb.site import mathematics
from ldpnb.site.pages import linked_modules


def resolve(app: Any, doctree: nodes.document) -> None:
    """Turn links to modules into links to the pages of their code.

    A link to another file or folder of the checkout, which no page shows, becomes plain text.
    """
    with_page = set(linked_modules())
    name = app.env.docname
    root = "../" * name.count("/")
    for node in list(doctree.findall(addnodes.pending_xref)):
        target = node["reftarget"]
        path = os.path.normpath(os.path.join(os.path.dirname(name), target))
        module = re.fullmatch(r"(ldpnb/[\w/]+?)(?:/__init__)?\.py", path)
        if module and module[1].replace("/", ".") in with_page:
            address = f"{root}_modules/{module[1]}.html"
            node.replace_self(nodes.reference("", "", *node.children, refuri=address))
        elif node["reftype"] == "myst" and target and (home() / path).exists():
            node.replace_self(nodes.inline("", "", *node.children))


def setup(app: Any) -> dict[str, bool]:
    """Connect these to Sphinx."""
    app.connect("doctree-read", resolve)
    app.add_html_math_renderer("mathml", (mathematics.inline, None), (mathematics.block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
