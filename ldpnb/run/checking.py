"""A plugin of pytest for notebooks under nbval: kernels without a reader, and the numbers behind figures compared.

    pytest -p ldpnb.run.checking --nbval --nbval-current-env --nbval-sanitize-with ldpnb/run/nbval_sanitize.cfg

nbval compares what cells print. After a notebook's last cell every CSV file of its figures is compared with the stored
one. Simulated cells and tables (``simulated.json``) are compared only where numpy's generator draws as it did when they
were stored, and skipped elsewhere.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
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
_SIMULATED = pytest.StashKey[dict[str, Any]]()


def pytest_configure(config: pytest.Config) -> None:
    """Give every kernel the environment of a run without a reader."""
    config.stash[_FRESH] = Path(tempfile.mkdtemp(prefix="ldpnb-check-"))
    os.environ.update(kernel_environment(config.stash[_FRESH], Path()))
    try:
        with writing.whole(Path(__file__).with_name("simulated.json")) as text:
            config.stash[_SIMULATED] = json.loads(text)
    except OSError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the fresh figures."""
    shutil.rmtree(config.stash[_FRESH], ignore_errors=True)


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
        if hasattr(item, "cell_num") and item.cell_num in item.config.stash[_SIMULATED]["cells"].get(
            _id(item.path), ()
        ):
            item.options["check"] = False  # type: ignore[attr-defined]


def _id(path: Path) -> str:
    folder = home() / "notebooks"
    return (path.relative_to(folder) if path.is_relative_to(folder) else Path(path.name)).with_suffix("").as_posix()


class NotebookNumbers(pytest.File):
    """A notebook as a set of tables."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a comparison for every table, and one for their names."""
        yield SameTables.from_parent(self, name="same tables")
        for path in sorted((home() / "figures" / _id(self.path)).rglob("*.csv")):
            yield SameNumbers.from_parent(self, name=path.stem, stored=path)


class SameTables(pytest.Item):
    """A fresh run makes the tables that are stored, no more and no fewer."""

    def runtest(self) -> None:
        """Compare the names of files."""
        folders = (home() / "figures" / _id(self.path), self.config.stash[_FRESH] / _id(self.path))
        stored, fresh = ({p.relative_to(folder).as_posix() for p in folder.rglob("*.csv")} for folder in folders)
        assert fresh == stored


class SameNumbers(pytest.Item):
    """A fresh table has the stored words and, to a relative 1e-6, the stored numbers."""

    def __init__(self, *, stored: Path, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.stored, self.own = stored, stored.relative_to(home() / "figures").as_posix()

    def runtest(self) -> None:
        """Compare the tables."""
        import pandas as pd

        if self.own in self.config.stash[_SIMULATED]["tables"] and not as_recorded():
            pytest.skip("simulated, and this generator draws other numbers")
        stored, fresh = (pd.read_csv(path) for path in (self.stored, self.config.stash[_FRESH] / self.own))
        pd.testing.assert_frame_equal(fresh, stored, rtol=RELATIVE, atol=ABSOLUTE)
