"""A plugin of pytest for notebooks under nbval: kernels without a reader, and the numbers behind figures compared.

    pytest -p ldpnb.run.checking --nbval --nbval-current-env --nbval-sanitize-with ldpnb/run/nbval_sanitize.cfg

nbval compares what cells print; after a notebook's last cell, `SameNumbers` compares the tables of its figures. It is a
plugin, since a test file beside the notebooks could neither name each one's folder before nbval starts its kernel, nor
come after its cells where tests are shared among processes.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ldpnb.notebook.environment import FIGURES_FOLDER, FORMAT
from ldpnb.rng import as_recorded
from ldpnb.run.catalogue import home
from ldpnb.run.runner import kernel_environment
from ldpnb.run.sameness import ABSOLUTE, RELATIVE

_FRESH = pytest.StashKey[Path]()

SIMULATED = json.loads(Path(__file__).with_name("simulated.json").read_bytes())
"""Tables, and numbers of cells by notebook, that are compared only where numpy's generator draws as it did for them."""


def pytest_configure(config: pytest.Config) -> None:
    """Give every kernel the environment of a run without a reader."""
    folder = tempfile.TemporaryDirectory(prefix="ldpnb-check-")
    config.add_cleanup(folder.cleanup)
    config.stash[_FRESH] = Path(folder.name)
    os.environ.update(kernel_environment(config.stash[_FRESH], Path()))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the doctests of the site where what builds it is not installed."""
    pages = collection_path.is_relative_to(Path(__file__).parents[1] / "site")
    return True if pages and find_spec("sphinx") is None else None


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
    number = getattr(item, "cell_num", None)
    if not as_recorded() and number in SIMULATED["cells"].get(_id(item.path), ()):
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

        folders = [folder / _id(self.path) for folder in (home() / "figures", self.config.stash[_FRESH])]
        stored, fresh = ({path.name: path for path in folder.rglob("*.csv")} for folder in folders)
        assert fresh.keys() == stored.keys()
        skipped = {name for name in stored if f"{_id(self.path)}/{name}" in SIMULATED["tables"] and not as_recorded()}
        for name in stored.keys() - skipped:
            one, other = pd.read_csv(stored[name]), pd.read_csv(fresh[name])
            pd.testing.assert_frame_equal(other, one, rtol=RELATIVE, atol=ABSOLUTE, obj=name)
        if skipped:
            pytest.skip(f"simulated, and this generator draws other numbers: {', '.join(sorted(skipped))}")
