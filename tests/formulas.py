"""Where formulas stand: in the rooms that all sources share, and in each source's own folder."""

import importlib
import pkgutil
from collections.abc import Sequence
from importlib.util import find_spec

from ldpnb.claims import sources

SHARED = ("accuracy", "designs", "estimators", "mechanisms", "privacy")
SOURCES = [key for key, source in sources().items() if source.number]
"""The sources, without the results of our own."""


def modules(shared: Sequence[str] = SHARED) -> list[str]:
    """Return the names of all modules of formulas, of these rooms and of every source."""
    packages = [f"ldpnb.{room}" for room in shared]
    for source in SOURCES:
        own = f"ldpnb.papers.{source}.formulas"
        if find_spec(own) is not None:
            packages.append(own)

    found = []
    for package in packages:
        path = importlib.import_module(package).__path__
        found += [f"{package}.{info.name}" for info in pkgutil.iter_modules(path)]

    return found
