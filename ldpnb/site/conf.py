"""Sphinx's settings for the site; `ldpnb.site.__main__` gives it the folder of its pages."""

import os
from pathlib import Path

from ldpnb import __version__

HERE = Path(__file__).parent

project, author, release = "ldpnb", "the authors of ldpnb", __version__
copyright = "the authors of ldpnb, MIT licence"
extensions = [
    "myst_nb",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_design",
    "ldpnb.site.extension",
    *(["jupyterlite_sphinx"] if os.environ.get("LDPNB_LITE") else []),
]
jupyterlite_dir = str(HERE.parents[1] / "build/lite")  # with the package's wheel
jupyterlite_contents = ["_lite/*"]
jupyterlite_bind_ipynb_suffix = False
exclude_patterns = ["_*", "**/examples"]  # parts of pages
nb_execution_mode = "off"
nb_output_stderr = "remove"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # formulas in outputs too
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "attrs_inline"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
suppress_warnings = [
    "myst.header",
    "mystnb.unknown_mime_type",
]  # a skipped level; a chart, drawn from its numbers
autosummary_generate = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
default_role = "code"
html_math_renderer = "mathml"
templates_path = [str(HERE / "templates")]
html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = "ldpnb"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_js_files = [("ledger.js", {"defer": ""})]
html_show_search_summary = False  # it fetches pages, which a page opened from disk may not
html_show_sourcelink = html_copy_source = False
html_theme_options = {
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the lines that define a documented object, from the page of its subpackage."""
    from ldpnb.site.pages import address

    try:
        return "../" + address(f"{info['module']}.{info['fullname']}")
    except (AttributeError, TypeError):  # a field or a table has no lines of its own
        return None
