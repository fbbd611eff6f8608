"""Build the site: ``python -m ldpnb.site [FOLDER]`` from a checkout, into ``build/site``."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

from ldpnb.run.catalogue import catalogue, home
from ldpnb.site import notebooks, pages

HERE = Path(__file__).parent
COPIED = ("notebooks/**/*.md", "notebooks/**/*.csv", "figures/**/*.png", "figures/**/*.csv")


def sources() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of everything that Sphinx reads."""
    for path in sorted((HERE / "pages").iterdir()):
        yield path.name, path.read_bytes()
    yield "CITATION.cff", (home() / "CITATION.cff").read_bytes()
    yield "contribute.md", (home() / "CONTRIBUTING.md").read_bytes()

    for name, text in pages.generated():
        yield name, text.encode()
    for pattern in (*COPIED, "figures/*/errata.md"):
        for path in sorted(home().glob(pattern)):
            yield path.relative_to(home()).as_posix(), path.read_bytes()

    for notebook in catalogue():
        page = notebooks.page(notebook)
        yield f"notebooks/{notebook.id}.ipynb", nbformat.writes(page).encode()
        lite = notebooks.for_a_browser(notebook)
        yield f"_lite/{notebook.id}.ipynb", nbformat.writes(lite).encode()


def main() -> int:
    """Build the site; return Sphinx's exit code."""
    from sphinx.cmd.build import build_main

    build = home() / "build"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else build / "site"
    shutil.rmtree(build / "pages", ignore_errors=True)
    if target == build / "site":  # else pages that are no more would stay
        shutil.rmtree(target, ignore_errors=True)
    for name, content in sources():
        path = build / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    # every page anew, a warning is an error, and all of them are shown
    options = ["-E", "-W", "--keep-going", "-q", "-j", "2", "-c", str(HERE)]
    trees = ["-d", str(build / "doctrees")]
    code = build_main([*options, *trees, str(build / "pages"), str(target)])
    if code:
        return code

    for source_map in target.rglob("*.map"):
        source_map.unlink()
    for notebook in catalogue():
        shutil.copy(notebook.path, target / f"notebooks/{notebook.id}.ipynb")
    print(f"the site is in {target / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
