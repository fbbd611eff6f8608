"""Running notebooks with papermill, and putting into place what they leave.

A notebook is executed in a temporary place. Only when it has passed, and only if it is still the
file that was executed, do its outputs and figures replace the earlier ones, each file in one step.
A file that is the same as before (`ldpnb.run.sameness`) is left as it is, and so is a picture in a
notebook whose words have changed. So running everything again changes no file, on any processor.
"""

import hashlib
import json
import logging
import multiprocessing
import os
import re
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from ldpnb import writing
from ldpnb.checks import UsageError, shown
from ldpnb.notebook.environment import FIGURES_FOLDER, HEADLESS, RUN_PARAMETERS
from ldpnb.notebook.publishing import provenance
from ldpnb.run import kernels
from ldpnb.run.catalogue import Notebook, home, require_uncommitted
from ldpnb.run.sameness import same

MOST_PRINTED = 1_000_000
"""Characters that a cell may print."""

MOST_SHOWN = 10_000_000
"""Characters that a value, table, picture or error of a cell may have in the notebook's file."""


@dataclass(frozen=True, slots=True)
class Task:
    """One execution of a notebook: where its result and its figures go."""

    notebook: Notebook
    parameters: Mapping[str, Any]
    target: Path
    figures: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an execution ended; `error` is empty if it passed."""

    task: Task
    seconds: float
    error: str = ""


def tasks(
    notebooks: Sequence[Notebook], given: Mapping[str, Any], output: Path | None
) -> list[Task]:
    """Return the executions of some notebooks, after all checks that need no execution.

    Parameters
    ----------
    notebooks : sequence of Notebook
        The notebooks to execute.
    given : mapping
        Values of parameters by name, the same for all notebooks.
    output : Path or None
        The folder for results and figures. If it is None and no parameter is given, the notebooks
        and their figures are renewed in place. If it is None and a parameter is given, results go
        to a folder in ``build/runs`` that is named after the parameters, and replace nothing.

    Raises
    ------
    UsageError
        If a notebook does not take the parameters, or a folder must not or cannot be written.
    """
    values = {notebook: notebook.check(given) for notebook in notebooks}

    if output is None and not given:
        planned = [Task(notebook, {}, notebook.path, home() / "figures") for notebook in notebooks]
    else:
        folder = (output or _folder_for(given)).absolute()
        require_uncommitted(folder)
        planned = [
            Task(notebook, values[notebook], folder / f"{notebook.id}.ipynb", folder / "figures")
            for notebook in notebooks
        ]

    for task in planned:
        _require_writable(task.target.parent)
        _require_writable(task.figures)
    return planned


def _folder_for(given: Mapping[str, Any]) -> Path:
    """Return the folder for a run with some parameters, the same whenever they are the same."""
    parameters = json.dumps(dict(given), sort_keys=True, default=str)
    digest = hashlib.sha256(parameters.encode()).hexdigest()
    return home() / "build/runs" / digest[:8]


def _require_writable(folder: Path) -> None:
    """Make a folder, and refuse it with a `UsageError` if no file can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UsageError(f"output folder cannot be written: {folder} ({error.strerror})") from None


def run(planned: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """Execute tasks, each in one of `jobs` processes; yield outcomes as they come.

    When this generator ends, by an error or an interrupt too, its processes and kernels end.
    """
    jobs = min(jobs, len(planned))
    if jobs < 2:
        yield from map(execute, planned)
        return

    on_start = kernels.be_killed_with_parent if sys.platform == "linux" else None
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), on_start) as pool:
        try:
            # The last one decides every claim and takes longest, so it starts first.
            running = {pool.submit(execute, task): task for task in reversed(planned)}
            for future in as_completed(running):
                yield _outcome(future, running[future])
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _outcome(future: Future[Outcome], task: Task) -> Outcome:
    """Return the outcome of a task whose process has ended, whether or not it was killed."""
    lost = future.exception()
    if lost:
        return Outcome(task, 0.0, f"{task.notebook.id}: its process ended: {lost}")
    return future.result()


def execute(task: Task) -> Outcome:
    """Execute one task.

    If it fails, its earlier results stay as they were, and ``<name>.failed.ipynb`` is left beside
    them.
    """
    start = time.perf_counter()
    try:
        # A file that is still open somewhere, which Windows does not remove, is no failure.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            error = _renew(task, Path(folder))
    except OSError as failure:
        error = failure.strerror or str(failure)

    seconds = time.perf_counter() - start
    if error:
        return Outcome(task, seconds, f"{task.notebook.id}: {error}")
    return Outcome(task, seconds)


def _renew(task: Task, folder: Path) -> str:
    """Execute one task in a folder and put its results into place.

    Return why that could not be done, or an empty text.
    """
    source = task.notebook.path.read_bytes()
    figures = folder / "figures"
    environment = kernel_environment(folder, figures / task.notebook.id, task.parameters)
    with mock.patch.dict(os.environ, environment):
        notebook, error = executed(source, task.parameters, task.notebook.path.parent, folder)
    result = _normalised(notebook, task.notebook.id)

    failed = task.target.with_suffix(".failed.ipynb")
    if error:
        writing.write(failed, result)
        return f"{error} (see {failed})"
    failed.unlink(missing_ok=True)

    fresh = {
        task.figures / path.relative_to(figures): path.read_bytes()
        for path in figures.rglob("*")
        if path.is_file()
    }
    published = _figures(fresh)
    for path, content in published.items():
        if path.suffix == ".png":
            result = result.replace(b64encode(fresh[path]), b64encode(content))

    # The notebook comes first: it must be written right after the comparison with its source.
    contents = {task.target: _stored_or(task.target, result)} | published
    changed = {path: content for path, content in contents.items() if _stored(path) != content}
    if changed and task.notebook.path.read_bytes() != source:
        beside = task.target.with_suffix(".executed.ipynb")
        writing.write(beside, result)
        return f"it was edited while it ran: the edit is kept, and the result is in {beside}"

    for path, content in changed.items():
        writing.write(path, content)
    return ""


def _stored(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _stored_or(path: Path, fresh: bytes) -> bytes:
    """Return what a file holds if a fresh one is the same, and else the fresh one."""
    stored = _stored(path)
    if stored is not None and same(stored, fresh):
        return stored
    return fresh


def _figures(fresh: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """Return the files of figures, each the stored one where that is the same."""
    files = {path: _stored_or(path, content) for path, content in fresh.items()}
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}

    # The provenance of a figure has the hashes of its other files, which may now be stored ones.
    for path in fresh:
        if path.suffix == ".json":
            suffixes = json.loads(fresh[path])["drawn"]
            renewed = {
                "sha256": hashes[path.with_suffix(".csv")],
                "drawn": {suffix: hashes[path.with_suffix(suffix)] for suffix in suffixes},
            }
            files[path] = provenance(json.loads(files[path]) | renewed)
    return files


def executed(
    source: bytes, parameters: Mapping[str, Any], place: Path, folder: Path
) -> tuple[dict[str, Any], str]:
    """Execute a notebook.

    Parameters
    ----------
    source : bytes
        The file of the notebook.
    parameters : mapping
        The parameters that are set, by name.
    place : Path
        The folder in which its cells run.
    folder : Path
        A folder for temporary files.

    Returns
    -------
    tuple of dict and str
        The notebook with its outputs; and what its first failing cell or its kernel said, which is
        empty if all passed.
    """
    import papermill
    from papermill.exceptions import PapermillExecutionError

    # Papermill logs an error that it raises too; it is to be told once.
    logging.getLogger("papermill").setLevel(logging.CRITICAL)

    copy = folder / "source.ipynb"
    result = folder / "result.ipynb"
    error = ""
    copy.write_bytes(source)
    try:
        papermill.execute_notebook(
            copy,
            result,
            parameters=dict(parameters),
            kernel_name="python3",
            language="python",
            progress_bar=False,
            execution_timeout=600,
            start_timeout=120,
            cwd=place,
            shutdown_kernel="immediate",  # a graceful one often waits three seconds
        )
    except PapermillExecutionError as failure:
        said = shown(" ".join(str(failure.evalue).split()))
        error = f"cell {failure.cell_index} raised {failure.ename}: {said}"
    except Exception as failure:  # papermill raises many classes for a dead kernel or a time-out
        first_line, *_ = [*str(failure).strip().splitlines(), ""]
        error = f"{type(failure).__name__}: {shown(first_line)}"

    notebook = json.loads(result.read_bytes() if result.exists() else source)

    # Another version of Python is no change; without any, JupyterLab takes a notebook for changed.
    stored = json.loads(source)["metadata"].get("language_info", {})
    if "version" in stored:
        notebook["metadata"]["language_info"]["version"] = stored["version"]

    too_long = _bound_outputs(notebook)
    return notebook, error or too_long


def _bound_outputs(notebook: dict[str, Any]) -> str:
    """Join what each cell printed piece by piece, and cut what is too long, in place.

    Return which cell printed or showed too much, or an empty text.
    """
    errors = []
    for number, cell in enumerate(notebook["cells"], start=1):
        if cell["cell_type"] != "code":
            continue

        cell["outputs"] = _joined(cell["outputs"])
        for output in cell["outputs"]:
            if output["output_type"] != "stream":
                length = len(json.dumps(output))
                if length > MOST_SHOWN:
                    errors.append(
                        f"cell {number} shows an output of {length:,} characters, but a notebook "
                        f"keeps at most {MOST_SHOWN:,}"
                    )
                    output.clear()
                    output |= {"output_type": "stream", "name": "stderr", "text": [errors[-1]]}
                continue

            text = "".join(output["text"])
            if len(text) > MOST_PRINTED:
                errors.append(
                    f"cell {number} printed {len(text):,} characters, but a notebook keeps "
                    f"at most {MOST_PRINTED:,} of a cell"
                )
            lines = [_on_screen(line) for line in text[:MOST_PRINTED].split("\n")]
            output["text"] = "\n".join(lines).splitlines(keepends=True)
    return errors[0] if errors else ""


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the outputs of a cell, with successive pieces of one stream as one."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output["output_type"] == "stream" and output["name"] == last.get("name"):
            last["text"].extend(output["text"])
        else:
            joined.append(output)
    return joined


def _on_screen(line: str) -> str:
    """Return what a terminal shows of a line, such as the last state of a progress bar."""
    text = line.rstrip("\r")
    end = line[len(text) :]
    _, _, last_state = text.rpartition("\r")
    return last_state + end


def _normalised(notebook: dict[str, Any], name: str) -> bytes:
    """Return the file of an executed notebook without what differs between two runs.

    The ids of cells name their notebook (``1-02-cell-00``), so that no two notebooks share one,
    even if one was copied from the other.
    """
    numbers = re.sub(r"(^|/)(\d[^_/]*)_[^/]*", r"\1\2", name)
    prefix = re.sub(r"[^0-9A-Za-z]+", "-", numbers)[:40]
    for i, cell in enumerate(notebook["cells"]):
        cell["id"] = f"{prefix}-cell-{i:02d}"

        # Papermill adds the times of each execution.
        metadata = cell["metadata"]
        kept = [key for key in ("tags", "jupyter", "slideshow") if metadata.get(key)]
        cell["metadata"] = {key: metadata[key] for key in kept}

    notebook["metadata"].pop("papermill", None)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    return f"{text}\n".encode()


def kernel_environment(
    folder: Path, figures: Path, parameters: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return the environment of a kernel that nobody watches.

    The user's settings do not reach it, and it has one thread, so that every run is the same.

    Parameters
    ----------
    folder : Path
        A temporary folder, for files of IPython.
    figures : Path
        Where the cells put figures.
    parameters : mapping, optional
        The parameters of the run, which are recorded with every figure.
    """
    provisioner = "JUPYTER_DEFAULT_PROVISIONER_NAME"
    return {
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",  # the kernel of this environment, before a user's own
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else the debugger prints a warning
        provisioner: os.environ.get(provisioner, kernels.NAME),  # forked, see ldpnb.run.kernels
        HEADLESS: "1",
        FIGURES_FOLDER: str(figures),
        RUN_PARAMETERS: json.dumps(dict(parameters or {}), sort_keys=True),
    }
