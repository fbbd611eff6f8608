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
from ldpnb.run.sameness import RELATIVE

_FRESH = pytest.StashKey[Path]()

_SKIPPED = "simulated, and this version of numpy draws other numbers"

_NEVER_EXECUTED = "nothing is stored for this cell, because it was not executed: run the notebook"

_AS_RECORDED = np.lib.NumpyVersion(np.__version__) < "2.5.0"
"""Whether this numpy draws the numbers that are stored."""


def pytest_configure(config: pytest.Config) -> None:
    """Give every kernel the environment of a run that nobody watches."""
    folder = Path(tempfile.mkdtemp(prefix="ldpnb-check-"))
    config.stash[_FRESH] = folder

    # A process of xdist may end without pytest's clean-up.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    os.environ.update(kernel_environment(folder, Path()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Compare numbers after the last cell of the companion's notebooks."""
    last_cells = {item.parent: item for item in items if _is_cell(item)}
    for notebook, last_cell in last_cells.items():
        if notebook and notebook.path.is_relative_to(home() / "notebooks"):
            after = items.index(last_cell) + 1
            items.insert(after, SameNumbers.from_parent(notebook, name="numbers"))


def _is_cell(item: pytest.Item) -> bool:
    """Return whether an item of pytest is a cell under nbval."""
    return hasattr(item, "cell_num")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Name the folder of a notebook's fresh figures before nbval starts its kernel."""
    fresh = item.config.stash[_FRESH] / _name(item)
    os.environ[FIGURES_FOLDER] = str(fresh) if _is_cell(item) else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skip a cell that differs because this numpy draws other numbers than the stored ones.

    A cell that was never executed fails, since nbval would compare nothing.
    """
    if _is_cell(item) and item.cell.execution_count is None:  # type: ignore[attr-defined]
        pytest.fail(_NEVER_EXECUTED, pytrace=False)
    try:
        return (yield)
    except NbCellError as error:
        if _AS_RECORDED or str(error) != "Cell outputs differ":
            raise
        if item.cell_num not in simulated.parts(item.path).cells:  # type: ignore[attr-defined]
            raise
        pytest.skip(f"cells of {_name(item)}: {_SKIPPED}")


def _name(item: pytest.Item) -> str:
    """Return the id of the companion's notebook that an item is of, or the name of another file."""
    folder = home() / "notebooks"
    path = Path(item.path.name)
    if item.path.is_relative_to(folder):
        path = item.path.relative_to(folder)
    return path.with_suffix("").as_posix()


class SameNumbers(pytest.Item):
    """The test that a fresh run of a notebook makes the stored tables of its figures.

    Their words must be the same, and their numbers to a relative 1e-6.
    """

    def runtest(self) -> None:
        """Compare the tables."""
        name = _name(self)
        stored = home() / "figures" / name
        fresh = self.config.stash[_FRESH] / name
        tables = sorted(path.name for path in fresh.glob("*.csv"))
        missing = {path.name for path in stored.glob("*.csv")} - set(tables)
        if missing:  # no assert statement, which Python leaves out under -O
            raise AssertionError(f"the notebook no longer makes {', '.join(sorted(missing))}")

        differences = {}
        for table in tables:
            try:
                _require_same_table(stored / table, fresh / table)
            except AssertionError as error:
                if _AS_RECORDED:
                    raise
                differences[table] = error

        if differences:
            drawn = simulated.parts(self.path).tables
            for table, difference in differences.items():
                if table not in drawn:
                    raise difference
            pytest.skip(f"{', '.join(differences)} of {name}: {_SKIPPED}")


def _require_same_table(stored: Path, fresh: Path) -> None:
    """Raise an AssertionError that shows where two tables differ, if they do."""
    import pandas as pd

    pd.testing.assert_frame_equal(
        pd.read_csv(fresh),
        pd.read_csv(stored),
        rtol=RELATIVE,
        atol=0,
        obj=stored.name,
    )
