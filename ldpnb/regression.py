"""Pytest plugin: what nbval cannot see of a notebook, the numbers behind its figures.

nbval re-executes every committed notebook against its stored outputs, but compares no picture. The kernels it starts write their figures to
``build/check``; after a notebook's last cell one more test per notebook compares the numbers there with the committed ones.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ldpnb.catalogue import home

RELATIVE, ABSOLUTE = 1e-6, 1e-12


def pytest_configure(config: pytest.Config) -> None:
    """Give every kernel that nbval starts the environment of a headless run."""
    from ldpnb.companion import build, kernel_environment
    from ldpnb.kernels import share_imports

    share_imports()
    folder = build() / "check"
    if not hasattr(config, "workerinput"):
        shutil.rmtree(folder, ignore_errors=True)
    os.environ.update(kernel_environment(folder))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the remains of failed runs and JupyterLab's checkpoints."""
    leave = collection_path.name.endswith(".failed.ipynb") or ".ipynb_checkpoints" in collection_path.parts
    return True if leave else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Add the comparison of numbers to every notebook of the companion."""
    if file_path.suffix == ".ipynb" and (home() / "notebooks") in file_path.parents:
        return NotebookFigures.from_parent(parent, path=file_path)
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a notebook's comparison after its cells."""
    order = {path: i for i, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (order[item.path], isinstance(item, FigureNumbers)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, as notebooks need, but share out the negative controls claim by claim: they are many."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFileOrClaim(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            path, _, name = nodeid.partition("::")
            return name.split(" ")[0] if path.endswith("test_negative_controls.py") else path

    return ByFileOrClaim(config, log)


class NotebookFigures(pytest.File):
    """A notebook seen as a set of figures."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the one comparison."""
        yield FigureNumbers.from_parent(self, name="figure numbers")


class FigureNumbers(pytest.Item):
    """The numbers that a notebook's fresh run left against the committed ones."""

    def runtest(self) -> None:
        """Compare every CSV file, and that every committed figure was made again."""
        from ldpnb.companion import build

        own = self.path.relative_to(home() / "notebooks").with_suffix("")
        differences = compare_folders(home() / "figures" / own, build() / "check" / own)
        if differences:
            raise FigureMismatchError(f"{own}:\n  " + "\n  ".join(differences))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Return the list of differences without a traceback."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the test stands and its name."""
        return self.path, 0, f"{self.path.stem}: figure numbers"


class FigureMismatchError(AssertionError):
    """A figure's numbers are not the committed ones."""


def compare_folders(committed: Path, fresh: Path) -> list[str]:
    """Return the differences between two folders of figures, a line each: missing files, captions, and numbers beyond the tolerance."""
    names = [{p.name for p in folder.glob("*.csv")} if folder.is_dir() else set() for folder in (committed, fresh)]
    lines = [f"{name} is committed but was not made" for name in sorted(names[0] - names[1])]
    lines += [f"{name} was made but is not committed" for name in sorted(names[1] - names[0])]
    for name in sorted(names[0] & names[1]):
        lines += compare_tables(committed / name, fresh / name)
        captions = [
            json.loads((folder / name).with_suffix(".json").read_text())["caption"] for folder in (committed, fresh)
        ]
        lines += [f"{name}: another caption"] if captions[0] != captions[1] else []
    return lines


def compare_tables(committed: Path, fresh: Path) -> list[str]:
    """Return the columns in which two CSV files differ: text exactly, numbers by more than 1e-6 relatively (and 1e-12)."""
    import numpy as np
    import pandas as pd

    one, other = pd.read_csv(committed), pd.read_csv(fresh)
    if list(one.columns) != list(other.columns) or len(one) != len(other):
        return [
            f"{committed.name}: {one.shape[0]} rows of {list(one.columns)} became {other.shape[0]} of {list(other.columns)}"
        ]
    lines = []
    for column in one.columns:
        a, b = one[column], other[column]
        if a.dtype.kind in "iuf" and b.dtype.kind in "iuf":
            same = np.isclose(a.to_numpy(float), b.to_numpy(float), rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
        else:
            same = ((a == b) | (a.isna() & b.isna())).to_numpy()
        if not same.all():
            row = int(np.argmin(same))
            lines.append(
                f"{committed.name}: {column} in row {row}: {a[row]} became {b[row]} ({np.count_nonzero(~same)} rows differ)"
            )
    return lines
