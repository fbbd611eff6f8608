"""What stock Sphinx lacks: pictures with caption and table, and links to the ledger and to code."""

import html
import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

from ldpnb.run.catalogue import home
from ldpnb.run.ledger import committed_ledger
from ldpnb.site import mathematics, pages


def raw(text: str) -> nodes.raw:
    """Return a node that is HTML as it stands."""
    return nodes.raw("", text, format="html")


def figure(name: str, image: nodes.image, root: str) -> nodes.container:
    """Return a published figure: its finding, the picture, caption and table."""
    path = home() / f"figures/{name}"
    made = json.loads(path.with_suffix(".json").read_bytes())
    title, setting, caption = (
        made.get(part, "").replace("c-hat", "ĉ") for part in ("title", "setting", "caption")
    )
    image["alt"], label = caption, html.escape(caption)
    link = f'<span class="files"><a href="{root}figures/{name}.csv">CSV</a></span>'
    return nodes.container(
        "",
        nodes.paragraph("", "", nodes.strong(text=title), nodes.Text(f" {setting}")),
        image,
        raw(f'<p class="caption">{label} {link}</p>'),
        classes=["published"],
        ids=["figure-" + name.rsplit("/", 1)[-1].replace("_", "-")],
    )


def draw(app: Any, doctree: nodes.document) -> None:
    """Make charts of published pictures, and a notebook's page: links to the ledger, plain tables."""
    docname = app.env.docname
    name, root = docname.removeprefix("notebooks/"), "../" * docname.count("/")
    published = {
        path.stem: json.loads(path.read_bytes())
        for path in (home() / "figures" / name).glob("*.json")
    }
    pictures = {
        made["drawn"][".png"]: f"{name}/{stem}"
        for stem, made in published.items()
        if "encoding" in made
    }
    for image in list(doctree.findall(nodes.image)):
        path = Path(image["uri"])
        if path.parts[0] == "figures" and not image["classes"]:  # which those on cards have
            pictures[path.stem] = path.relative_to("figures").with_suffix("").as_posix()
        if stem := pictures.get(path.stem):  # which myst-nb names by its hash
            image.parent.replace(image, figure(stem, image.deepcopy(), root))
    own = [row for row in committed_ledger() if row["notebook"] == name]
    verdicts = {f"{row['place']}: {row['status']}.": row["claim"] for row in own}
    for strong in list(doctree.findall(nodes.strong)):
        if claim := verdicts.pop(strong.astext().replace("$", ""), None):
            place = {"refdomain": "std", "reftype": "ref", "reftarget": pages.anchor(claim)}
            to = addnodes.pending_xref(
                "", nodes.inline(text="in the ledger"), refexplicit=True, **place
            )
            strong.parent.insert(strong.parent.index(strong) + 1, [nodes.Text(" "), to])
    for table in doctree.findall(nodes.raw):
        if "<table" in table.astext():
            table.children = [nodes.Text(plain(table.astext()))]
    title = next(doctree.findall(nodes.title), None)
    if title is not None and (home() / f"{docname}.ipynb").exists():
        links = f'<a href="{Path(name).name}.ipynb" download>Download this notebook</a>'
        if "jupyterlite_sphinx" in app.extensions:
            links += (
                f' <a href="{root}lite/lab/index.html?path={name}.ipynb">Run in the browser</a>'
            )
        title.parent.insert(title.parent.index(title) + 1, raw(f'<p class="files">{links}</p>'))


def plain(table: str) -> str:
    """Return pandas' HTML of a table without its style, its borders and its empty heads."""
    table = re.sub(r"<style.*?</style>", "", table, flags=re.DOTALL)
    return table.replace(' border="1"', "").replace("<th></th>", "<td></td>")


def resolve(app: Any, doctree: nodes.document) -> None:
    """Turn the links to the package's code and to figures into links to their pages and files."""
    root = "../" * app.env.docname.count("/")
    for node in list(doctree.findall(addnodes.pending_xref)):
        target = node["reftarget"]
        file = re.fullmatch(r"(?:\.\./)*(ldpnb/[\w/]+\.py|figures/[\w/.]+)(?:#L(\d+))?", target)
        if target.startswith("code:"):
            address = target.removeprefix("code:")
        elif file and (pages.PACKAGE.parent / file[1]).exists():
            address = (
                f"code/{file[1].removesuffix('.py')}.html" if file[1].endswith(".py") else file[1]
            )
            address += f"#L-{file[2]}" if file[2] else ""
        else:
            continue
        node.replace_self(nodes.reference("", "", *node.children, refuri=root + address))


def setup(app: Any) -> dict[str, bool]:
    """Connect these to Sphinx."""
    app.connect("doctree-read", draw)
    app.connect("doctree-read", resolve)
    app.connect("html-collect-pages", pages.code)
    app.add_html_math_renderer("mathml", (mathematics.inline, None), (mathematics.block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
