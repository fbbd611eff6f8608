"""Sphinx's settings for the site; `ldpnb.site.__main__` gives it the folder of its pages."""

import os
from pathlib import Path

from ldpnb import __version__

HERE = Path(__file__).parent
LITE = bool(os.environ.get("LDPNB_LITE"))

project = "ldpnb"
author = "the authors of ldpnb"
release = __version__
copyright = "the authors of ldpnb, MIT licence"
exclude_patterns = ["_*", "**/examples"]  # parts of pages
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "ldpnb.site.extension",
]

# notebooks and Markdown
nb_execution_mode = "off"
nb_output_stderr = "remove"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # figures and formulas in outputs too
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
suppress_warnings = [
    "myst.header",  # a level of headings that is left out
    "autodoc",  # which takes the arguments of an alias of `Callable` for a signature
]

# the library
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
default_role = "code"
add_module_names = False
toc_object_entries_show_parents = "hide"

# the pages
html_theme = "pydata_sphinx_theme"
html_title = "ldpnb"
html_math_renderer = "mathml"
templates_path = [str(HERE / "templates")]
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_js_files = [("ledger.js", {"defer": ""})]
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"**": []}  # whose width the code needs
html_search_scorer = str(HERE / "static/scorer.js")
html_show_search_summary = False  # it fetches pages, which a page opened from disk may not
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
}

if LITE:
    extensions.append("jupyterlite_sphinx")
    jupyterlite_dir = str(HERE.parents[1] / "build/lite")  # with the package's wheel
    jupyterlite_contents = ["_lite/*"]
    jupyterlite_bind_ipynb_suffix = False
