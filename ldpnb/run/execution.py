"""Running the notebooks with papermill and writing what they leave, all or nothing.

A notebook is executed into a folder of its own; only when it has passed do the executed notebook and its figures
replace the previous ones. What is written does not depend on when, where or how often it was run, so running everything
again changes no file.
"""

import contextlib
import errno
import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb import claims, writing
from ldpnb.checks import UsageError
from ldpnb.notebook import environment
from ldpnb.run import imports
from ldpnb.run.catalogue import Notebook, home, require_uncommitted
from ldpnb.run.parallel import ONE_THREAD, Lost, pool, require_files, unordered

_KERNEL_CONFIG = """\
c = get_config()  # noqa: F821
c.IPKernelApp.log_level = 50
c.HistoryManager.enabled = False
c.InlineBackend.figure_formats = {"png"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Software": None}}
"""
_KEPT_CELL_METADATA = ("tags", "jupyter", "slideshow")
_KERNEL = "python3"
_LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
"""As a kernel says it, but for its version, which another machine would change."""

_CELL_TIMEOUT, _OPEN_FILES = 600, 128
_SILENT = ("Kernel didn't respond", "Kernel died before replying", "Timeout waiting for kernel_info reply")
# a kernel is told of them through its environment, where Linux takes 128 KB at most
_LONGEST_PARAMETERS = 100_000


class RunError(RuntimeError):
    """A notebook did not run to its end, or its outputs could not be written."""


class SilentKernelError(RunError):
    """A kernel did not answer after its start."""


@dataclass(frozen=True, slots=True)
class Task:
    """One execution of a notebook."""

    notebook: Notebook
    parameters: Mapping[str, Any]
    target: Path
    figures: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an execution ended."""

    task: Task
    seconds: float
    error: str = ""
    retried: bool = False
    """Whether a second kernel ran it, since the first did not answer."""


def build() -> Path:
    """Return the folder for everything that is not committed."""
    return home() / "build"


def kernel_environment(figures: Path | None, parameters: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the environment of a kernel without a reader: no user configuration, one thread, and where figures go."""
    folder = build() / "ipython"
    profile = folder / "profile_default"
    config = profile / "ipython_kernel_config.py"
    if not (config.is_file() and config.read_bytes() == _KERNEL_CONFIG.encode()):
        writing.write({config: _KERNEL_CONFIG.encode()})
    fixed = {
        "IPYTHONDIR": str(folder),
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    own = {
        environment.HEADLESS: "1",
        environment.FIGURES_FOLDER: str(figures or ""),
        environment.RUN_PARAMETERS: json.dumps(dict(parameters or {}), sort_keys=True),
        claims.DECISIONS: os.environ.get(claims.DECISIONS) or str(_decisions()),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    return ONE_THREAD | fixed | own


def _decisions() -> Path:
    """Return the folder of what this very code has decided."""
    return build() / "decisions" / code_hash(home())[:16]


def plan(notebooks: Sequence[Notebook], given: Mapping[str, Any], output: Path | None) -> list[Task]:
    """Return the executions for some notebooks, after checking everything that can be checked before a kernel starts.

    Parameters
    ----------
    notebooks : sequence of Notebook
    given : mapping
        Parameters by name; without any, notebooks and figures are renewed in place.
    output : Path, optional
        Folder for the results; with parameters it defaults to one below ``build/runs`` named after them.

    Raises
    ------
    UsageError
        For a parameter that a notebook does not have or of the wrong type, an output that cannot be written, or a
        missing kernel, or where too few files may be open for one.
    """
    tasks = []
    for notebook in notebooks:
        parameters = notebook.check(given)
        text = json.dumps(parameters, sort_keys=True)
        if len(text) > _LONGEST_PARAMETERS:
            raise UsageError(f"parameters must have at most {_LONGEST_PARAMETERS:,} characters, got {len(text):,}")
        if output is None and not given:
            tasks.append(Task(notebook, {}, notebook.path, home() / "figures"))
            continue
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        folder = output or build() / "runs" / f"{notebook.id.replace('/', '-')}-{digest}"
        task = Task(notebook, parameters, folder / f"{notebook.id}.ipynb", folder / "figures")
        require_uncommitted(folder, task.target, task.figures, task.figures / notebook.id)
        tasks.append(task)
    for folder in {folder for t in tasks for folder in (t.target.parent, t.figures)}:
        _require_writable(folder)
    _require_kernel()
    for outdated in _decisions().parent.glob("*"):
        if outdated != _decisions():
            shutil.rmtree(outdated, ignore_errors=True)
    used = [(t.target.parent, t.figures, t.figures / t.notebook.id, _state(t.notebook).parent) for t in tasks]
    for folder in {build() / "work"}.union(*used):
        writing.discard_leftovers(folder)
    return tasks


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"output folder cannot be written: {folder} ({error.strerror})") from None


def _require_kernel() -> None:
    """Refuse to run where no kernel could: its channels and this side of them need some fifty open files."""
    require_files(_OPEN_FILES, "a kernel")
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        KernelSpecManager().get_kernel_spec(_KERNEL)
    except NoSuchKernel:
        raise UsageError(f"no Jupyter kernel {_KERNEL}; `python -m pip install ipykernel` brings it") from None


def run(tasks: Sequence[Task], jobs: int, backend: str = "loky", scheduler: str | None = None) -> Iterator[Outcome]:
    """Execute tasks in `jobs` processes or on a Dask cluster that shares this disk; yield outcomes as they come."""
    if not tasks or (backend == "loky" and (jobs == 1 or len(tasks) == 1)):
        yield from map(execute, tasks)
        return
    # a process that shares its imports with its kernels starts as slowly as two kernels
    work = partial(_execute_alone, many=len(tasks) > 3 * jobs)
    with pool(backend, min(jobs, len(tasks)), scheduler) as workers:
        for task, result in unordered(work, tasks, workers, batched=False):
            if isinstance(result, Lost):
                yield Outcome(task, 0.0, f"{task.notebook.id}: {result.reason}")
            else:
                yield result


_alone = threading.Lock()


def _execute_alone(task: Task, many: bool) -> Outcome:
    """Execute a task; a Dask worker with several threads takes one at a time, as its kernels have its environment."""
    from ldpnb.run.kernels import share_imports

    with _alone:
        if many:
            share_imports()
        return execute(task)


def execute(task: Task) -> Outcome:
    """Execute one task; on failure keep what was there and leave ``<name>.failed.ipynb`` beside it."""
    start, retried = time.perf_counter(), False
    failed = task.target.with_suffix(".failed.ipynb")
    try:
        with writing.scratch(build() / "work") as folder:
            executed, figures = folder / "notebook.ipynb", folder / "figures"
            figures.mkdir()
            try:
                try:
                    _papermill(task, executed, figures)
                except SilentKernelError:  # a loaded machine; the second one finds its modules in memory
                    retried = True
                    _papermill(task, executed, figures)
            except RunError:
                if executed.exists():
                    writing.write({failed: executed.read_bytes()})
                raise
            _install(task, executed, figures)
            failed.unlink(missing_ok=True)
        remember(task, time.perf_counter() - start)
    except RunError as error:
        left = f" (see {failed})" if failed.exists() else ""
        return Outcome(task, time.perf_counter() - start, f"{task.notebook.id}: {error}{left}")
    except OSError as error:
        reason = "no space left on the disk" if error.errno == errno.ENOSPC else f"{error.strerror or error}"
        return Outcome(task, time.perf_counter() - start, f"{task.notebook.id}: cannot write its results: {reason}")
    return Outcome(task, time.perf_counter() - start, retried=retried)


def _papermill(task: Task, executed: Path, figures: Path) -> None:
    import logging

    imports.jsonschema()
    import papermill

    from ldpnb.run.kernels import bind_kernels

    bind_kernels()
    from papermill.exceptions import PapermillExecutionError

    # what fails is told in one line, and a kernel that does not answer only if the next does not either
    logging.getLogger("papermill").setLevel(logging.CRITICAL + 1)
    # an interrupt leaves coroutines behind, and asyncio would report each after the one line that says so
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    os.environ.update(kernel_environment(figures / task.notebook.id, task.parameters))
    try:
        papermill.execute_notebook(
            _unformatted(task.notebook.path),
            _unformatted(executed),
            parameters=dict(task.parameters),
            kernel_name=_KERNEL,
            language="python",
            progress_bar=False,
            execution_timeout=_CELL_TIMEOUT,
            start_timeout=120,
            cwd=str(task.notebook.path.parent),
            # a graceful shutdown waits three seconds in many runs
            shutdown_kernel="immediate",
        )
    except PapermillExecutionError as error:
        raise RunError(f"cell {error.cell_index} raised {error.ename}: {error.evalue}") from None
    except Exception as error:  # a dead kernel, a time-out: papermill has many ways to say so
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            raise
        first = (str(error).strip().splitlines() or [""])[0]
        if first.startswith(_SILENT):
            raise SilentKernelError(f"its kernel did not answer, twice: {first}") from None
        raise RunError(f"{type(error).__name__}: {first}") from None


def _unformatted(path: Path) -> str:
    """Return a path as papermill takes it, for which braces hold the names of parameters."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _install(task: Task, executed: Path, figures: Path) -> None:
    """Put a run's results into place: first its figures, then the notebook; two runs of a notebook take turns."""
    content = normalised(
        json.loads(executed.read_text(encoding="utf-8")), task.notebook.path, keep_injected=bool(task.parameters)
    )
    made = {task.figures / p.relative_to(figures): p.read_bytes() for p in sorted(figures.rglob("*")) if p.is_file()}
    own = task.figures / task.notebook.id
    with writing.turn(task.target.parent):
        writing.write({**made, task.target: content.encode()})
        for path in [p for p in own.rglob("*") if p.is_file() and p not in made] if own.is_dir() else []:
            path.unlink(missing_ok=True)


def normalised(notebook: dict[str, Any], path: Path, *, keep_injected: bool = False) -> str:
    """Return an executed notebook as text without anything that differs between two identical runs.

    Its cells are numbered and named after its `path`, so that no two notebooks share a cell's id.
    """
    cells = [
        c for c in notebook["cells"] if keep_injected or "injected-parameters" not in c["metadata"].get("tags", [])
    ]
    count, name = 0, _number(path)
    for i, cell in enumerate(cells):
        cell["id"] = f"{name}-cell-{i:02d}"
        cell["metadata"] = {k: cell["metadata"][k] for k in _KEPT_CELL_METADATA if cell["metadata"].get(k)}
        if cell["cell_type"] == "code":
            count += cell["execution_count"] is not None
            cell["execution_count"] = count if cell["execution_count"] is not None else None
            cell["outputs"] = _outputs(cell["outputs"], cell["execution_count"])
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": _KERNEL}
    about = {"kernelspec": kernel, "language_info": _LANGUAGE}
    content = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _number(path: Path) -> str:
    """Return a notebook's number, with its folder's, or the name of one that has no number.

    >>> _number(Path("notebooks/3_lopuhaa2020/01b_mle.ipynb")), _number(Path("notebooks/own_data.ipynb"))
    ('3-01b', 'own-data')
    """
    folder = [path.parent.name] if path.parent.name[:1].isdigit() else []
    parts = [name.partition("_")[0] if name[:1].isdigit() else name for name in [*folder, path.stem]]
    return re.sub(r"[^0-9A-Za-z]+", "-", "-".join(parts))[:40]


def tidy(path: Path) -> str:
    """Normalise a notebook file; return what was wrong with it, or nothing."""
    if not path.is_file():
        return f"{path}: is no file"
    try:
        before = path.read_text(encoding="utf-8")
        after = normalised(json.loads(before), path.resolve())
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"{path}: is not a notebook"
    cells = [c for c in json.loads(after)["cells"] if c["cell_type"] == "code" and c["source"]]
    if any(c["execution_count"] is None for c in cells):
        return f"{path}: not executed; `ldpnb run` does it"
    if after != before:
        writing.write({path: after.encode()})
        return f"{path}: normalised"
    return ""


def _outputs(outputs: list[dict[str, Any]], count: int | None) -> list[dict[str, Any]]:
    """Join stream outputs, which a kernel may flush in one piece or several, and drop volatile metadata."""
    kept: list[dict[str, Any]] = []
    for output in outputs:
        if output["output_type"] == "stream" and kept and kept[-1].get("name") == output["name"]:
            kept[-1]["text"] = "".join(kept[-1]["text"]) + "".join(output["text"])
            continue
        if output["output_type"] == "execute_result":
            output["execution_count"] = count
        if "metadata" in output:
            output["metadata"] = {k: v for k, v in output["metadata"].items() if k.startswith("image/")}
        kept.append(output)
    for output in kept:
        if output["output_type"] == "stream":
            output["text"] = "".join(output["text"]).splitlines(keepends=True)
    return kept


def fingerprint(notebook: Notebook) -> str:
    """Return a hash of everything a notebook's results follow from: its sources, the package, the lock."""
    digest = hashlib.sha256()
    cells = json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]
    digest.update(
        json.dumps([(c["cell_type"], "".join(c["source"]), c["metadata"].get("tags")) for c in cells]).encode()
    )
    digest.update(code_hash(home()).encode())
    return digest.hexdigest()


@cache
def code_hash(checkout: Path) -> str:
    """Hash Python's version, the package and the lock, once per process: a run does not change them."""
    digest = hashlib.sha256(platform.python_version().encode())
    package = Path(ldpnb.__file__).parent
    files = [p for p in package.rglob("*") if p.suffix in (".py", ".csv", ".mplstyle") and p.is_file()]
    lock = checkout / "requirements.lock"
    for path in [*sorted(files), *([lock] if lock.exists() else [])]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _state(notebook: Notebook) -> Path:
    return build() / "state" / f"{notebook.id}.json"


def _results_hash(notebook: Notebook) -> str:
    digest = hashlib.sha256(notebook.path.read_bytes())
    own = home() / "figures" / notebook.id
    for path in sorted(p for p in own.rglob("*") if p.is_file()) if own.is_dir() else []:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def up_to_date(notebook: Notebook) -> bool:
    """Return whether the notebook was run here since its sources changed, and its results are as that run left them."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        state = json.loads(_state(notebook).read_bytes())
        return bool(state["from"] == fingerprint(notebook) and state["results"] == _results_hash(notebook))
    return False


def remember(task: Task, seconds: float) -> None:
    """Record a run in place: what it followed from, what it left, and under which versions."""
    if task.target != task.notebook.path:
        return
    versions = {name: metadata.version(name) for name in ("numpy", "scipy", "pandas", "matplotlib", "papermill")}
    state = {"from": fingerprint(task.notebook), "results": _results_hash(task.notebook), "seconds": round(seconds, 2)}
    about = state | {"python": platform.python_version(), "versions": versions}
    writing.write({_state(task.notebook): (json.dumps(about, indent=1) + "\n").encode()})
