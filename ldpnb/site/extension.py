"""What stock Sphinx lacks: formulas as MathML, and links from notebooks to the package's code."""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

from ldpnb.site import mathematics
from ldpnb.site.pages import linked_modules


def resolve(app: Any, doctree: nodes.document) -> None:
    """Turn links to files of the package into links to the pages of their code."""
    known = set(linked_modules())
    root = "../" * app.env.docname.count("/")
    for node in list(doctree.findall(addnodes.pending_xref)):
        found = re.fullmatch(r"(?:\.\./)*(ldpnb/[\w/]+?)(?:/__init__)?\.py", node["reftarget"])
        if found and found[1].replace("/", ".") in known:
            address = f"{root}_modules/{found[1]}.html"
            node.replace_self(nodes.reference("", "", *node.children, refuri=address))


def setup(app: Any) -> dict[str, bool]:
    """Connect these to Sphinx."""
    app.connect("doctree-read", resolve)
    app.add_html_math_renderer("mathml", (mathematics.inline, None), (mathematics.block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
