"""Pytest plugin: compare what nbval does not, the figures of notebooks and the numbers behind them.

nbval re-executes every committed notebook against its stored outputs, but compares no pictures. Its kernels write their
figures to a temporary folder of the run; after a notebook's last cell an additional test compares those with the
committed ones, and the committed ones with the pictures in the notebook.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ldpnb.claims import DECISIONS
from ldpnb.notebook.environment import FIGURES_FOLDER, FORMAT
from ldpnb.rng import as_recorded
from ldpnb.run import imports
from ldpnb.run.catalogue import home
from ldpnb.run.simulated import cells, tolerances, without_numbers

RELATIVE, ABSOLUTE = 1e-6, 1e-12
LIKENESS = 0.08
"""Largest root mean square difference of pictures of one figure from two machines.

Black and white differ by 1, two figures by 0.13 or more.
"""

imports.jsonschema()  # before nbval does

_SANITISED = Path(__file__).with_name("nbval_sanitize.cfg")
_FIGURES = pytest.StashKey[Path]()
_KINDS = ({".png", ".pdf", ".csv", ".json"}, {".csv", ".tex", ".json"})


def pytest_configure(config: pytest.Config) -> None:
    """Give every kernel of nbval the environment of a headless run, and decide claims anew, once for all of them."""
    from nbval import kernel

    from ldpnb.run.execution import build, kernel_environment

    if hasattr(config, "workerinput"):
        folder = Path(config.workerinput["figures"])
    else:
        build().mkdir(exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="check-", dir=build()))
    config.stash[_FIGURES] = folder
    config.option.nbval_sanitize_with = str(_SANITISED)
    kernel.start_new_kernel = twice(kernel.start_new_kernel)
    os.environ[DECISIONS] = str(folder / "decisions")
    os.environ.update(kernel_environment(None))


def twice(start: Callable[..., Any]) -> Callable[..., Any]:
    """Return what starts a kernel, and another if that one does not answer: its ports may have been taken meanwhile."""

    def started(*given: Any, **named: Any) -> Any:
        try:
            return start(*given, **named)
        except RuntimeError:
            return start(*given, **named)

    return started


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Name the folder of a notebook's figures before nbval starts its kernel; nobody looks at their vector versions."""
    own = _of_the_companion(item.path)
    os.environ[FORMAT] = "png" if own else ""
    if own:
        os.environ[FIGURES_FOLDER] = str(item.config.stash[_FIGURES] / _own(item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the run's folder to a worker process."""
    node.workerinput["figures"] = str(node.config.stash[_FIGURES])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the run's folder when all workers are done."""
    if not hasattr(config, "workerinput") and _FIGURES in config.stash:
        shutil.rmtree(config.stash[_FIGURES], ignore_errors=True)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Ignore the remains of failed runs and JupyterLab's checkpoints."""
    leave = collection_path.name.endswith(".failed.ipynb") or ".ipynb_checkpoints" in collection_path.parts
    return True if leave else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Add the comparison of numbers to every notebook of the companion."""
    if _of_the_companion(file_path):
        return NotebookFigures.from_parent(parent, path=file_path)
    return None


def _of_the_companion(path: Path) -> bool:
    return path.suffix == ".ipynb" and (home() / "notebooks") in path.parents


def _own(path: Path) -> Path:
    """Return the path of a notebook's figures within a folder of figures."""
    return path.relative_to(home() / "notebooks").with_suffix("")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run a notebook's comparison after its cells, and mask simulated numbers if random streams differ.

    Kernels of many notebooks share their imports, which for a few would take longer.
    """
    if not as_recorded():
        for item in items:
            if _of_the_companion(item.path) and hasattr(item, "cell_num"):
                _loosen(item, cells(_own(item.path).as_posix()).get(item.cell_num, ""))
    from ldpnb.run.kernels import bind_kernels, share_imports

    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    many = sum(isinstance(item, FigureNumbers) for item in items) > 3 * processes
    share_imports() if many else bind_kernels()
    order = {path: i for i, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (order[item.path], isinstance(item, FigureNumbers)))


def _loosen(cell: Any, simulated: str) -> None:
    """Compare the text of nbval's cell up to its simulated numbers, or not at all if its words are simulated too."""
    if simulated == "numbers":
        plain = cell.sanitize
        cell.sanitize = lambda text: without_numbers(plain(text))
    elif simulated == "words":
        cell.options["check"] = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, as notebooks need.

    The negative controls, which are many, are distributed by claim. The tests that decide all claims stay together, so
    that each is decided once.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFileOrClaim(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            path, _, name = nodeid.partition("::")
            if path.endswith("test_negative_controls.py"):
                return name.split(" ")[0]
            return "verdicts" if re.search(r"test_(verdicts_\w+|claims)\.py$", path) else path

    return ByFileOrClaim(config, log)


class NotebookFigures(pytest.File):
    """A notebook as a set of figures."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the comparison."""
        yield FigureNumbers.from_parent(self, name="figure numbers")


class FigureNumbers(pytest.Item):
    """Comparison of the numbers of a notebook's fresh run with the committed ones."""

    def runtest(self) -> None:
        """Compare every CSV file, and check that every committed figure was made again."""
        own = _own(self.path)
        committed = home() / "figures" / own
        simulated = (
            {} if as_recorded() else {p.name: tolerances(f"{own.as_posix()}/{p.name}") for p in _tables(committed)}
        )
        fresh = self.config.stash[_FIGURES] / own
        differences = untied(committed, self.path) + compare_folders(committed, fresh, simulated)
        if differences:
            raise FigureMismatchError(f"{own}:\n  " + "\n  ".join(differences))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Return the list of differences without a traceback."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, line and name of the test."""
        return self.path, 0, f"{self.path.stem}: figure numbers"


class FigureMismatchError(AssertionError):
    """A figure's numbers differ from the committed ones."""


def _tables(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.csv")) if folder.is_dir() else []


def compare_folders(
    committed: Path, fresh: Path, simulated: Mapping[str, Mapping[str, float]] | None = None
) -> list[str]:
    """Return the differences between two folders of figures: files, captions, and numbers beyond the tolerance.

    If random streams differ, `simulated` gives the tolerances of the simulated columns of each table.
    """
    names = [{p.name for p in _tables(folder)} for folder in (committed, fresh)]
    lines = [f"{name} is committed but was not made" for name in sorted(names[0] - names[1])]
    lines += [f"{name} was made but is not committed" for name in sorted(names[1] - names[0])]
    for name in sorted(names[0] & names[1]):
        lines += compare_tables(committed / name, fresh / name, (simulated or {}).get(name, {}))
        captions = [_about((folder / name).with_suffix(".json")).get("caption") for folder in (committed, fresh)]
        captions = [without_numbers(caption) for caption in captions] if simulated else captions
        lines += [f"{name}: another caption"] if captions[0] != captions[1] else []
        if not (simulated or {}).get(name):
            lines += _compare_drawn((committed / name).with_suffix(""), (fresh / name).with_suffix(""))
    return lines


def _compare_drawn(committed: Path, fresh: Path) -> list[str]:
    """Compare pictures by similarity, as machines draw them differently, and LaTeX tables with their numbers."""
    lines = []
    if committed.with_suffix(".png").exists() and not alike(committed.with_suffix(".png"), fresh.with_suffix(".png")):
        lines.append(f"{committed.name}.png: another picture")
    same = {s: _digest(committed.with_suffix(s)) == _digest(fresh.with_suffix(s)) for s in (".csv", ".tex")}
    if same[".csv"] and not same[".tex"]:
        lines.append(f"{committed.name}.tex is not what {committed.name}.csv comes with")
    return lines


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def alike(one: Path, other: Path) -> bool:
    """Return whether two pictures show the same, up to differences between machines."""
    import numpy as np
    from matplotlib.image import imread

    if not (one.exists() and other.exists()):
        return False
    if one.read_bytes() == other.read_bytes():
        return True
    first, second = (imread(path)[..., :3].astype(float) for path in (one, other))
    height, width = (min(first.shape[i], second.shape[i]) for i in range(2))
    if max(abs(first.shape[i] - second.shape[i]) for i in range(2)) > 3:
        return False
    return bool(np.sqrt(np.square(first[:height, :width] - second[:height, :width]).mean()) < LIKENESS)


def untied(figures: Path, notebook: Path | None = None) -> list[str]:
    """Return the inconsistencies in a folder of figures, one per line.

    Every figure has its numbers, whose hash is in its provenance, and a vector version of the same size; with a
    notebook, the pictures must be exactly those that it shows.
    """
    stems = sorted({path.with_suffix("") for path in figures.glob("*.*")})
    lines = [line for stem in stems for line in _untied(stem)]
    if notebook is None:
        return lines
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    shown = {hashlib.sha256(base64.b64decode(data["image/png"])).hexdigest() for data in outputs if "image/png" in data}
    files = {hashlib.sha256(path.read_bytes()).hexdigest(): path.name for path in figures.glob("*.png")}
    lines += [f"{name} is not a picture that the notebook shows" for key, name in files.items() if key not in shown]
    return lines + ["the notebook shows a picture that is not among its figures" for key in shown if key not in files]


def _untied(stem: Path) -> list[str]:
    import pandas as pd

    suffixes = {path.suffix for path in stem.parent.glob(f"{stem.name}.*")}
    if suffixes not in _KINDS:
        return [f"{stem.name} has {', '.join(sorted(suffixes))}"]
    about = _about(stem.with_suffix(".json"))
    if not about.keys() >= {"caption", "parameters", "rows", "columns", "sha256", "drawn"}:
        return [f"{stem.name}.json is no provenance"]
    lines = []
    if _digest(stem.with_suffix(".csv")) != about["sha256"]:
        lines.append(f"{stem.name}.csv does not hold the numbers that {stem.name}.json tells of")
    for suffix in suffixes - {".csv", ".json"}:
        if _digest(stem.with_suffix(suffix)) != about["drawn"].get(suffix):
            lines.append(f"{stem.name}{suffix} is not what {stem.name}.json tells of")
    table = pd.read_csv(stem.with_suffix(".csv"), dtype=str, keep_default_na=False)
    if (len(table), list(table.columns)) != (about["rows"], about["columns"]):
        lines.append(f"{stem.name}.json tells of other rows or columns than {stem.name}.csv has")
    if about["parameters"] or not about["caption"].strip():
        lines.append(f"{stem.name}.json tells of a run with parameters {about['parameters']} or of no caption")
    if ".pdf" in suffixes and not _same_size(stem.with_suffix(".png"), stem.with_suffix(".pdf")):
        lines.append(f"{stem.name}.pdf has not the size of {stem.name}.png")
    return lines


def _about(path: Path) -> dict[str, Any]:
    """Return a figure's provenance, empty if there is none."""
    try:
        about = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def _same_size(picture: Path, vector: Path) -> bool:
    """Return whether a picture at 150 dots per inch is as large as a page at 72."""
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", vector.read_bytes())
    head = picture.read_bytes()[:24]
    if box is None or len(head) < 24:
        return False
    return all(
        abs(pixels * 72 / 150 - float(points)) < 1
        for pixels, points in zip(struct.unpack(">II", head[16:24]), box.groups(), strict=True)
    )


def compare_tables(committed: Path, fresh: Path, allowed: Mapping[str, float] | None = None) -> list[str]:
    """Return the columns in which two CSV files differ: texts at all, numbers by more than the tolerance.

    Columns in `allowed` may differ by that much; if it is infinite, they are not compared.
    """
    import numpy as np
    import pandas as pd

    one, other = pd.read_csv(committed), pd.read_csv(fresh)
    if list(one.columns) != list(other.columns) or len(one) != len(other):
        before, after = (f"{len(table)} rows of {list(table.columns)}" for table in (one, other))
        return [f"{committed.name}: {before} became {after}"]
    lines = []
    for column in one.columns:
        a, b, apart = one[column], other[column], (allowed or {}).get(column, ABSOLUTE)
        if apart == np.inf:
            continue
        if a.dtype.kind in "iuf" and b.dtype.kind in "iuf":
            same = np.isclose(a.to_numpy(float), b.to_numpy(float), rtol=RELATIVE, atol=apart, equal_nan=True)
        else:
            same = ((a == b) | (a.isna() & b.isna())).to_numpy()
        if not same.all():
            row = int(np.argmin(same))
            changed = f"{a[row]} became {b[row]} ({np.count_nonzero(~same)} rows differ)"
            lines.append(f"{committed.name}: {column} in row {row}: {changed}")
    return lines
