"""Build the site: ``python -m ldpnb.site`` from a checkout, into ``build/site``."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

from ldpnb.run.catalogue import catalogue, home
from ldpnb.site import pages

HERE = Path(__file__).parent


def sources() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every page, written by hand, generated or a notebook, and of every picture."""
    for path in sorted((HERE / "pages").iterdir()):
        yield path.name, path.read_bytes()
    yield "CITATION.cff", (home() / "CITATION.cff").read_bytes()
    yield "contribute.md", (home() / "CONTRIBUTING.md").read_bytes()
    for name, text in pages.generated():
        yield name, text.encode()
    for pattern in (
        "notebooks/**/*.md",
        "notebooks/**/*.csv",
        "figures/**/*.png",
        "figures/*/errata.md",
    ):
        for path in sorted(home().glob(pattern)):
            yield path.relative_to(home()).as_posix(), path.read_bytes()
    for notebook in catalogue():
        yield f"notebooks/{notebook.id}.ipynb", notebook.path.read_bytes()
        book = nbformat.read(
            notebook.path, 4
        )  # which in a browser begins by installing the package there
        book.cells.insert(0, nbformat.v4.new_code_cell("%pip install -q ldpnb"))
        yield f"_lite/{notebook.id}.ipynb", nbformat.writes(book).encode()


def main() -> int:
    """Build the site; return Sphinx's exit code."""
    from sphinx.cmd.build import build_main

    build, target = (
        home() / "build",
        Path(sys.argv[1] if len(sys.argv) > 1 else home() / "build/site"),
    )
    shutil.rmtree(build / "pages", ignore_errors=True)
    for name, content in sources():
        path = build / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    options = [
        "-W",
        "-n",
        "-E",
        "-q",
        "--keep-going",
        "-j",
        "2",
        "-c",
        str(HERE),
        "-d",
        str(build / "doctrees"),
    ]
    code = build_main([*options, str(build / "pages"), str(target)])
    if not code:
        keep = shutil.ignore_patterns("*.png", "*.json", "*.tex")
        shutil.copytree(home() / "figures", target / "figures", ignore=keep, dirs_exist_ok=True)
        for source_map in target.rglob("*.map"):
            source_map.unlink()
        for notebook in catalogue():
            shutil.copy(notebook.path, target / f"notebooks/{notebook.id}.ipynb")
        print(f"the site is {target / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
