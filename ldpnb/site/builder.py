"""The whole site in one folder, the same bytes from the same checkout."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ldpnb.checks import UsageError, shown
from ldpnb.claims import SOURCES
from ldpnb.run.catalogue import Notebook, catalogue, home
from ldpnb.site import charts, explore, front, launch, links, planner, reference, search, sources
from ldpnb.site import entries as told
from ldpnb.site.atlas import Atlas, texts
from ldpnb.site.entries import Entry
from ldpnb.site.pages import notebook_page, text_page
from ldpnb.site.templates import STATIC, page

_UNSEARCHED = ("index.html", "ledger.html", "search.html", "code/")
"""Pages whose text others hold."""
_SHARED = (charts.BUNDLE, "static/charts.js", "static/explore.js")


def build(target: Path, playing: Sequence[Notebook] = (), settings: int = explore.SETTINGS) -> int:
    """Write the site of the committed notebooks and figures; return the number of its pages.

    Parameters
    ----------
    target : Path
        The folder; a site that lies there is replaced, in one step and only by one without a dead link.
    playing : sequence of Notebook
        Whose live sections play on their pages; their cells are run.
    settings : int
        For how many settings of its controls a live section is computed, at most.

    Raises
    ------
    UsageError
        If a notebook has not been executed, a figure or the ledger is missing, or the folder holds something else than
        a site.
    OSError
        If a figure or the ledger is damaged.
    """
    if os.path.lexists(target) and not target.is_dir():
        raise UsageError(f"output must be a folder, got {shown(str(target))}")
    if target.exists() and not (target / "static/site.css").exists() and any(target.iterdir()):
        raise UsageError(f"output must be empty or an earlier site, got {shown(str(target))}")
    grids = explore.grids(playing, settings)
    try:
        _put(target, grids)
    except OSError as error:
        if error.errno is None:  # not the system's: a figure or the ledger is damaged, as it says
            raise
        raise UsageError(f"output cannot be written: {shown(str(target))} ({error.strerror})") from None
    return sum(1 for _ in target.rglob("*.html"))


def _put(target: Path, grids: dict[str, str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=target.parent) as temporary:
        work = Path(temporary)
        folder = work / "site"
        for path, content in files(grids):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content.encode() if isinstance(content, str) else content.read_bytes())
        wrong = links.problems(folder)
        if wrong:
            raise UsageError("the site is not written:\n  " + "\n  ".join(wrong))
        if target.exists():
            os.replace(target, work / "before")
        try:
            os.replace(folder, target)
        except BaseException:
            if (work / "before").exists():
                os.replace(work / "before", target)
            raise


def files(grids: dict[str, str]) -> Iterator[tuple[str, str | Path]]:
    """Yield every file of the site: its address and its content, as text or as the file to copy."""
    found, notebooks = list[search.Section](), {f"{n.id}.html" for n in catalogue()}
    for path, content in _contents(grids):
        yield path, content
        if isinstance(content, str) and path.endswith(".html") and not path.startswith(_UNSEARCHED):
            kind = "notebook" if path in notebooks else "function" if path.startswith("api/") else "page"
            found += search.sections(path, content, kind)
    yield "static/search-index.js", search.index(found)


def _contents(grids: dict[str, str]) -> Iterator[tuple[str, str | Path]]:
    notebooks, atlas, entries = catalogue(), Atlas(), told.entries()
    yield ".nojekyll", ""
    for asset in sorted(STATIC.iterdir()):
        yield f"static/{asset.name}", asset
    yield charts.BUNDLE, charts.bundle()
    yield from _planner(grids)
    yield "index.html", _front(notebooks, entries)
    yield "ledger.html", _ledger(entries)
    yield "search.html", page("search", "search.html", title="Search", description="Search the whole site")
    for before, notebook, after in zip([None, *notebooks], notebooks, [*notebooks[1:], None], strict=False):
        scripts = dict(_scripts(notebook, grids))
        yield from scripts.items()
        shown = notebook_page(notebook, entries, (before, after), atlas, [*_SHARED, *scripts] if scripts else [])
        yield f"{notebook.id}.html", shown
        yield f"{notebook.id}.ipynb", launch.offered(notebook)
    for path in texts():
        yield f"{path.stem}.html", text_page(path, atlas)
    figures = home() / "figures"
    for path in sorted(p for p in figures.rglob("*") if p.suffix in (".png", ".pdf", ".csv", ".tex")):
        yield path.relative_to(figures).as_posix(), path
    yield from reference.pages(entries)
    yield from sources.code_pages(sources.modules())
    yield from sorted(atlas.copied.items())


def _scripts(notebook: Notebook, grids: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what makes a notebook's page play: its figures as charts, its live section as a grid."""
    figures = charts.figures(notebook)
    if figures:
        yield f"{notebook.id}/figures.js", charts.script("FIGURES", figures)
    if notebook.id in grids:
        yield f"{notebook.id}/explore.js", _settings(grids[notebook.id])


def _planner(grids: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the page of the planner and of the audit of a channel that a reader types in."""
    own = {"planner/explore.js": _settings(grids[explore.PLANNER])} if explore.PLANNER in grids else {}
    yield from own.items()
    scripts = [*(_SHARED if own else ()), *own, "static/audit.js"]
    about = "Mechanisms ranked by their error, and the exact privacy loss of a table of chances"
    told: dict[str, Any] = {"title": "The planner", "description": about, "failure": planner.FAILURE}
    told["plan"] = "plan.html" if any(notebook.id == "plan" for notebook in catalogue()) else ""
    yield "planner.html", page("planner", "planner.html", scripts=scripts, plays=bool(own), **told)


def _settings(grid: str) -> str:
    return f"window.EXPLORE = {grid.strip()};\n"


def _front(notebooks: Sequence[Notebook], entries: list[Entry]) -> str:
    pages = {n.id: f"{n.id}.html" for n in notebooks}
    return page(
        "index",
        "index.html",
        title="ldpnb",
        description="Five sources on local differential privacy and sampling: every claim decided by computed evidence",
        paths=any(path.stem == "paths" for path in texts()),
        tour=pages.get("00_start_here", ""),
        claims=sum(e.source in SOURCES for e in entries),
        headline=front.headline(entries),
        surprises=front.surprises(entries, notebooks),
        groups=front.gallery(notebooks, entries),
    )


def _ledger(entries: list[Entry]) -> str:
    return page(
        "verdicts",
        "ledger.html",
        title="The ledger",
        description="Every claim of five sources on local differential privacy and sampling, with its verdict",
        rests={e.claim: found for e in entries if (found := reference.rests_on(e.claim))},
        tex=(home() / told.CSV).with_suffix(".tex").exists(),
        **told.filtered(entries),
    )
