"""A plugin of pytest for notebooks under nbval: kernels without a reader, and the numbers behind figures compared.

    pytest -p ldpnb.run.checking --nbval --nbval-current-env --nbval-sanitize-with ldpnb/run/nbval_sanitize.cfg

nbval compares what cells print. After a notebook's last cell every CSV file of its figures is compared with the stored
one. Simulated cells and tables (``simulated.json``) are compared only where numpy's generator draws as it did when they
were stored.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ldpnb import writing
from ldpnb.notebook.environment import FIGURES_FOLDER, FORMAT
from ldpnb.rng import as_recorded
from ldpnb.run.catalogue import home
from ldpnb.run.runner import kernel_environment
from ldpnb.run.sameness import ABSOLUTE, RELATIVE

_FRESH = pytest.StashKey[Path]()


@cache
def _simulated() -> dict[str, Any]:
    """Return the tables that are simulated, and by notebook the numbers of its simulated cells."""
    with writing.whole(Path(__file__).with_name("simulated.json")) as text:
        simulated: dict[str, Any] = json.loads(text)
    return simulated


def pytest_configure(config: pytest.Config) -> None:
    """Give every kernel the environment of a run without a reader."""
    folder = tempfile.TemporaryDirectory(prefix="ldpnb-check-")
    config.add_cleanup(folder.cleanup)
    config.stash[_FRESH] = Path(folder.name)
    os.environ.update(kernel_environment(config.stash[_FRESH], Path()))


@pytest.hookimpl(trylast=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Add the comparison of numbers after the cells of every notebook of the companion."""
    ours = file_path.suffix == ".ipynb" and file_path.is_relative_to(home() / "notebooks")
    return NotebookNumbers.from_parent(parent, path=file_path) if ours else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Name the folder of a notebook's fresh figures before nbval starts its kernel; nobody looks at their PDFs."""
    cell = hasattr(item, "cell_num")
    os.environ[FIGURES_FOLDER] = str(item.config.stash[_FRESH] / _id(item.path)) if cell else ""
    os.environ[FORMAT] = "png" if cell else ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let nbval execute simulated cells, but compare nothing, where the generator draws otherwise."""
    for item in [] if as_recorded() else items:
        if hasattr(item, "cell_num") and item.cell_num in _simulated()["cells"].get(_id(item.path), ()):
            item.options["check"] = False  # type: ignore[attr-defined]


def _id(path: Path) -> str:
    folder = home() / "notebooks"
    return (path.relative_to(folder) if path.is_relative_to(folder) else Path(path.name)).with_suffix("").as_posix()


class NotebookNumbers(pytest.File):
    """A notebook as a set of tables."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the comparison of them all."""
        yield SameNumbers.from_parent(self, name="numbers")


class SameNumbers(pytest.Item):
    """A fresh run makes the stored tables: the same words and, to a relative 1e-6, the same numbers."""

    def runtest(self) -> None:
        """Compare the tables."""
        import pandas as pd

        stored, fresh = (
            {p.relative_to(folder).as_posix(): p for p in (folder / _id(self.path)).rglob("*.csv")}
            for folder in (home() / "figures", self.config.stash[_FRESH])
        )
        assert fresh.keys() == stored.keys()
        skipped = [] if as_recorded() else [name for name in stored if name in _simulated()["tables"]]
        for name in stored.keys() - {*skipped}:
            one, other = pd.read_csv(stored[name]), pd.read_csv(fresh[name])
            pd.testing.assert_frame_equal(other, one, rtol=RELATIVE, atol=ABSOLUTE, obj=name)
        if skipped:
            pytest.skip(f"simulated, and this generator draws other numbers: {', '.join(skipped)}")
