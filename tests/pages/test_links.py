"""A link to code leads to its page, and one to another file is text; Sphinx sees all others."""

from types import SimpleNamespace

import pytest

pytest.importorskip(
    "latex2mathml", reason="no latex2mathml in this environment; `make site` brings it"
)

from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

from ldpnb.site.extension import resolve
from ldpnb.site.pages import linked_modules

CODE = linked_modules()[0].replace(".", "/")


def resolved(page: str, target: str, kind: str = "myst") -> nodes.Element:
    """What a link of a page becomes."""
    document = new_document(page)
    link = addnodes.pending_xref("", nodes.Text("words"), reftarget=target, reftype=kind)
    document += nodes.paragraph("", "", link)
    resolve(SimpleNamespace(env=SimpleNamespace(docname=page)), document)

    (paragraph,) = document.children
    (found,) = paragraph.children
    assert found.astext() == "words"
    return found


@pytest.mark.parametrize(
    ("page", "up"), [("index", ""), ("notebooks/paths", "../"), ("notebooks/1_a/01_b", "../../")]
)
def test_a_link_to_code_leads_to_its_page_from_every_folder(page: str, up: str) -> None:
    found = resolved(page, f"{up}{CODE}.py")
    assert isinstance(found, nodes.reference)
    assert found["refuri"] == f"{up}_modules/{CODE}.html"


@pytest.mark.parametrize(
    "target", ["../LICENSE", "../tests/papers", "../ldpnb/site/conf.py", "../Makefile"]
)
def test_a_link_to_what_no_page_shows_is_plain_text(target: str) -> None:
    found = resolved("notebooks/paths", target)
    assert isinstance(found, nodes.inline)


@pytest.mark.parametrize(
    ("target", "kind"),
    [("../LICENCE", "myst"), ("", "myst"), ("ldpnb/nowhere.py", "myst"), ("../LICENSE", "class")],
    ids=["a file that is not there", "nothing", "a module that is not there", "a name"],
)
def test_sphinx_refuses_what_leads_nowhere_because_it_is_left_as_it_was(
    target: str, kind: str
) -> None:
    assert isinstance(resolved("notebooks/paths", target, kind), addnodes.pending_xref)
