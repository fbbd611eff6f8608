"""A plugin of pytest for notebooks under nbval: kernels without a reader, and the numbers behind figures compared.

    pytest -p ldpnb.run.checking --nbval --nbval-current-env --nbval-sanitize-with ldpnb/run/nbval_sanitize.cfg

nbval compares what cells print, but no pictures; after a notebook's last cell, `SameNumbers` compares the tables of its
figures, which are the numbers of its charts. It is a plugin, since a test file beside the notebooks could neither name
each one's folder before nbval starts its kernel, nor come after its cells where tests are shared among processes.
"""

import atexit
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from ldpnb.notebook.environment import FIGURES_FOLDER
from ldpnb.run.catalogue import home
from ldpnb.run.runner import kernel_environment
from ldpnb.run.sameness import ABSOLUTE, RELATIVE

_FRESH = pytest.StashKey[Path]()

SIMULATED = json.loads(Path(__file__).with_name("simulated.json").read_bytes())
"""Tables, and numbers of cells by notebook, that are compared only where numpy's generator draws as it did for them."""
_AS_RECORDED = np.lib.NumpyVersion(np.__version__) < "2.5.0"
"""2.5 draws about one binomial in 20,000 otherwise."""


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
    cell, name = getattr(item, "cell_num", None), _name(item)
    os.environ[FIGURES_FOLDER] = "" if cell is None else str(item.config.stash[_FRESH] / name)
    if not _AS_RECORDED and cell in SIMULATED["cells"].get(name, ()):
        item.options["check"] = False  # type: ignore[attr-defined]


def _name(item: pytest.Item) -> str:
    """Return the id of the companion's notebook that an item is of, or the name of another file."""
    folder = home() / "notebooks"
    path = (
        item.path.relative_to(folder) if item.path.is_relative_to(folder) else Path(item.path.name)
    )
    return path.with_suffix("").as_posix()


class SameNumbers(pytest.Item):
    """A fresh run makes the stored tables: the same words and, to a relative 1e-6, the same numbers."""

    def runtest(self) -> None:
        """Compare the tables."""
        import pandas as pd

        name = _name(self)
        figures, made = home() / "figures" / name, self.config.stash[_FRESH] / name
        stored, fresh = ({path.name for path in folder.glob("*.csv")} for folder in (figures, made))
        assert stored <= fresh
        skipped = (
            set()
            if _AS_RECORDED
            else {table for table in fresh if f"{name}/{table}" in SIMULATED["tables"]}
        )
        for table in sorted(fresh - skipped):
            one, other = pd.read_csv(figures / table), pd.read_csv(made / table)
            pd.testing.assert_frame_equal(other, one, rtol=RELATIVE, atol=ABSOLUTE, obj=table)
        if skipped:
            pytest.skip(
                f"simulated, and this generator draws other numbers: {', '.join(sorted(skipped))}"
            )
