"""Where a notebook runs or lies on a host, once the project knows its own address.

That is one setting: ``Repository`` among the ``[project.urls]`` of ``pyproject.toml``. Without it no link is shown.
"""

import json
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any
from urllib.parse import quote, urlsplit

from ldpnb.checks import UsageError, shown
from ldpnb.run.catalogue import Notebook, home

BRANCH = "main"
_HOSTS = {"github.com": ("GitHub", "gh", "/blob/"), "gitlab.com": ("GitLab", "gl", "/-/blob/")}


def repository() -> str:
    """Return the project's own address, of the checkout or else of the installed package, or nothing."""
    settings = home() / "pyproject.toml"
    if settings.exists():
        urls = tomllib.loads(settings.read_text(encoding="utf-8")).get("project", {}).get("urls", {})
    else:
        try:
            stated = metadata("ldpnb").get_all("Project-URL") or []
        except PackageNotFoundError:
            stated = []
        urls = dict(line.split(", ", 1) for line in stated)
    return str({name.lower(): url for name, url in urls.items()}.get("repository", "")).removesuffix("/")


def links(address: str, path: str) -> list[tuple[str, str]]:
    """Return where a notebook of the repository can be opened, each as a name and an address.

    Parameters
    ----------
    address : str
        Of the repository, or nothing.
    path : str
        The notebook's, within it.

    Raises
    ------
    UsageError
        If the address is not one of a repository on a host.

    Examples
    --------
    >>> [name for name, _ in links("https://github.com/someone/ldpnb", "notebooks/plan.ipynb")]
    ['Binder', 'Colab', 'GitHub']
    >>> links("", "notebooks/plan.ipynb")
    []
    """
    if not address:
        return []
    parts = urlsplit(address)
    project = parts.path.strip("/").removesuffix(".git")
    if parts.scheme != "https" or not parts.hostname or "/" not in project:
        raise UsageError(f"Repository must be like https://host/owner/name, got {shown(address)}")
    if parts.hostname not in _HOSTS:
        where = f"https://mybinder.org/v2/git/{quote(address, safe='')}/{BRANCH}"
        return [("Binder", f"{where}?labpath={quote(path, safe='')}")]
    name, short, blob = _HOSTS[parts.hostname]
    held = project if short == "gh" else quote(project, safe="")
    found = [("Binder", f"https://mybinder.org/v2/{short}/{held}/{BRANCH}?labpath={quote(path, safe='')}")]
    if short == "gh":
        found.append(("Colab", f"https://colab.research.google.com/github/{project}/blob/{BRANCH}/{quote(path)}"))
    return [*found, (name, f"https://{parts.hostname}/{project}{blob}{BRANCH}/{quote(path)}")]


def needs(address: str) -> tuple[str, str]:
    """Return how to get the package, from the repository at an address or else from a checkout: a command, and where.

    >>> needs("https://github.com/someone/ldpnb")
    ('pip install git+https://github.com/someone/ldpnb', '')
    """
    return (f"pip install git+{address}", "") if address else ("pip install .", ", in a copy of its checkout")


def offered(notebook: Notebook) -> str:
    """Return a notebook for those who may lack the package: its first cell says how to get it, and fails without."""
    content = json.loads(notebook.path.read_text(encoding="utf-8"))
    command, where = needs(repository())
    source = f"# This notebook needs the package ldpnb. Where it is missing: {command}{where}\nimport ldpnb"
    first: dict[str, Any] = {"cell_type": "code", "execution_count": None, "id": "needs-ldpnb", "metadata": {}}
    content["cells"].insert(0, first | {"outputs": [], "source": source.splitlines(keepends=True)})
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
