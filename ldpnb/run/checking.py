"""A plugin of pytest for notebooks under nbval: no reader, and the numbers behind figures compared.

    pytest -p ldpnb.run.checking --nbval --nbval-current-env --nbval-sanitize-with FILE

nbval compares what cells print, but no pictures; after a notebook's last cell, `SameNumbers`
compares the tables of its figures, which are the numbers of its charts. It is a plugin, since a
test file beside the notebooks could neither name each one's folder before nbval starts its kernel,
nor come after its cells where tests are shared among processes.

numpy 2.5 draws about one binomial in 20,000 otherwise than the versions before it. Under it, a cell
or a table that differs is skipped if it is simulated, which is what changes with other random
numbers (`ldpnb.run.simulated`).
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from nbval.plugin import NbCellError

from ldpnb.notebook.environment import FIGURES_FOLDER
from ldpnb.run import simulated
from ldpnb.run.catalogue import home
from ldpnb.run.runner import kernel_environment
from ldpnb.run.sameness import ABSOLUTE, RELATIVE

_FRESH = pytest.StashKey[Path]()

_SKIPPED = "simulated, and this version of numpy draws other numbers"

_AS_RECORDED = np.lib.NumpyVersion(np.__version__) < "2.5.0"
"""Whether this numpy draws the numbers that are stored."""


def pytest_configure(config: pytest.Config) -> None:
    """Give every kernel the environment of a run without a reader."""
    folder = config.stash[_FRESH] = Path(tempfile.mkdtemp(prefix="ldpnb-check-"))
    atexit.register(
        shutil.rmtree, folder, ignore_errors=True
    )  # a process of xdist may end without pytest's clean-up
    os.environ.update(kernel_environment(folder, Path()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Compare numbers after the last cell of the companion's notebooks."""
    for notebook in {item.parent: None for item in items if hasattr(item, "cell_num")}:
        if notebook and notebook.path.is_relative_to(home() / "notebooks"):
            last = max(i for i, item in enumerate(items) if item.parent is notebook)
            items.insert(last + 1, SameNumbers.from_parent(notebook, name="numbers"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Name the folder of a notebook's fresh figures before nbval starts its kernel."""
    fresh = item.config.stash[_FRESH] / _name(item)
    os.environ[FIGURES_FOLDER] = str(fresh) if hasattr(item, "cell_num") else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skip a cell that differs because this numpy draws other numbers than the stored ones."""
    try:
        return (yield)
    except NbCellError as differs:
        if _AS_RECORDED or str(differs) != "Cell outputs differ":
            raise
        if item.cell_num not in simulated.parts(item.path).cells:  # type: ignore[attr-defined]
            raise
        pytest.skip(_SKIPPED)


def _name(item: pytest.Item) -> str:
    """Return the id of the companion's notebook that an item is of, or the name of another file."""
    folder = home() / "notebooks"
    path = (
        item.path.relative_to(folder) if item.path.is_relative_to(folder) else Path(item.path.name)
    )
    return path.with_suffix("").as_posix()


class SameNumbers(pytest.Item):
    """Whether a fresh run makes the stored tables.

    It has the same words and, to a relative 1e-6, the same numbers.
    """

    def runtest(self) -> None:
        """Compare the tables."""
        import pandas as pd

        name = _name(self)
        figures, made = home() / "figures" / name, self.config.stash[_FRESH] / name
        stored, fresh = ({path.name for path in folder.glob("*.csv")} for folder in (figures, made))
        assert stored <= fresh
        differing = {}
        for table in sorted(fresh):
            one = pd.read_csv(figures / table)
            other = pd.read_csv(made / table)
            try:
                pd.testing.assert_frame_equal(other, one, rtol=RELATIVE, atol=ABSOLUTE, obj=table)
            except AssertionError as error:
                if _AS_RECORDED:
                    raise
                differing[table] = error

        if differing:
            drawn = simulated.parts(self.path).tables
            for table, reason in differing.items():
                if table not in drawn:
                    raise reason
            pytest.skip(f"{', '.join(differing)}: {_SKIPPED}")
