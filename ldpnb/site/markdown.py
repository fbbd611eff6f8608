"""The notebooks' prose: nbconvert's Markdown, with MathML, links into the site, and headings that can be linked to."""

from collections.abc import Callable
from typing import Any

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from ldpnb.site.mathematics import kept, mathml
from ldpnb.site.plain import slug


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, without a script to draw the formulas."""

    def __init__(self, relink: Callable[[str], str]) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self._relink = relink

    def inline_math(self, body: str) -> str:
        return mathml(body)

    def block_math(self, body: str) -> str:
        return f'<span class="formula">{mathml(body, block=True)}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return super().link(text, self._relink(url), title)

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        return f'<h{level} id="{slug(text)}">{text}</h{level}>\n'


def render(text: str, relink: Callable[[str], str]) -> str:
    r"""Return Markdown as HTML; `relink` turns the address of a link as written into that on the page.

    Raises
    ------
    ValueError
        For a formula that cannot be translated, or whatever `relink` raises.

    Examples
    --------
    >>> render("see [here](a.py)", lambda url: url + ".html")
    '<p>see <a href="a.py.html">here</a></p>\n'
    """
    return kept(MarkdownWithMath(renderer=_Renderer(relink)).render(text))
