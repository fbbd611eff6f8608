"""Where the checkout's files are found on the site: notebooks and code as pages, everything else as it is."""

import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import ldpnb
from ldpnb.checks import UsageError
from ldpnb.run.catalogue import home

PACKAGE = Path(ldpnb.__file__).parent
CODE = "code/index.html"


def local(path: str) -> Path:
    """Return the file behind a path within the checkout; the package's files are those that run."""
    return (PACKAGE.parent if path.split("/")[0] == PACKAGE.name else home()) / path


def address(path: str) -> str:
    """Return where a file or folder of the checkout lies on the site.

    Examples
    --------
    >>> address("notebooks/00_start_here.ipynb"), address("ldpnb/rng.py"), address("figures/verdicts.csv")
    ('00_start_here.html', 'code/ldpnb/rng.py.html', 'verdicts.csv')
    >>> address("notebooks/2_bun2022"), address("ldpnb/privacy")
    ('index.html#bun2022', 'code/index.html#ldpnb/privacy')
    """
    room, _, inside = path.partition("/")
    match room:
        case "notebooks" if path.endswith((".ipynb", ".md")):
            return inside.rpartition(".")[0] + ".html"
        case "notebooks":
            return f"index.html#{inside.partition('_')[2]}"
        case "figures":
            return inside
    if local(path).is_dir():
        return f"{CODE}#{path}"
    return f"code/{path}.html" if path.endswith(".py") else f"code/{path}"


def texts() -> list[Path]:
    """Return the texts beside the notebooks: the paths by topic, then the glossary."""
    return sorted((home() / "notebooks").glob("*.md"), reverse=True)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a function or class is defined: a file of the checkout and a line in it."""

    name: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.name}"

    @property
    def address(self) -> str:
        """Return the line's address on the site."""
        return f"{address(self.path)}#L-{self.line}"


def place(function: Any) -> Place:
    """Return where a function, method, property or class is defined.

    >>> place(Atlas.relink).name, place(Place.address).path
    ('Atlas.relink', 'ldpnb/site/atlas.py')
    """
    plain = inspect.unwrap(getattr(function, "fget", None) or getattr(function, "__func__", function))
    file = Path(inspect.getfile(plain)).relative_to(PACKAGE.parent).as_posix()
    return Place(plain.__qualname__, file, inspect.getsourcelines(plain)[1])


class Atlas:
    """The addresses of what the pages link to, and the files to copy because of it, by address."""

    def __init__(self) -> None:
        self.copied: dict[str, Path] = {}

    def relink(self, page: str, place: str) -> Callable[[str], str]:
        """Return the function that turns the links of a file into links of its page.

        Parameters
        ----------
        page : str
            The page's address.
        place : str
            The file's path within the checkout, from which its links are written.

        Raises
        ------
        UsageError
            By that function, for a link to a file that does not exist.
        """

        def turn(url: str) -> str:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc or not parts.path:
                return url
            path = os.path.normpath(PurePosixPath(place).parent / unquote(parts.path))
            if not local(path).exists():
                raise UsageError(f"{place} links to {url}, which does not exist")
            target, _, section = address(path).partition("#")
            if target == f"code/{path}":
                self.copied[target] = local(path)
            fragment = re.sub(r"^L(\d+)$", r"L-\1", parts.fragment) or section
            return os.path.relpath(target, PurePosixPath(page).parent) + (f"#{fragment}" if fragment else "")

        return turn
