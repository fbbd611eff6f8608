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
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from ldpnb import writing
from ldpnb.checks import UsageError
from ldpnb.notebook.environment import FIGURES_FOLDER, HEADLESS, RUN_PARAMETERS
from ldpnb.notebook.publishing import provenance
from ldpnb.run import kernels
from ldpnb.run.catalogue import Notebook, home, require_uncommitted
from ldpnb.run.sameness import same

MOST_PRINTED = 1_000_000
"""Characters that a cell may print."""


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
    """Return the executions for some notebooks, once all that can be checked has been.

    Without parameters or `output` the notebooks and their figures are renewed in place; with
    parameters, `output` defaults to a folder in ``build/runs`` named after them, so that other
    parameters replace nothing. A `UsageError` refuses parameters that a notebook does not take, and
    a folder that must not or cannot be written.
    """
    parameters = {notebook: notebook.check(given) for notebook in notebooks}
    if output is None and not given:
        wanted = [Task(notebook, {}, notebook.path, home() / "figures") for notebook in notebooks]
    else:
        digest = hashlib.sha256(
            json.dumps(dict(given), sort_keys=True, default=str).encode()
        ).hexdigest()[:8]
        folder = (output or home() / f"build/runs/{digest}").absolute()
        require_uncommitted(folder)
        wanted = [
            Task(n, own, folder / f"{n.id}.ipynb", folder / "figures")
            for n, own in parameters.items()
        ]
    for folder in {folder for task in wanted for folder in (task.target.parent, task.figures)}:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise UsageError(
                f"output folder cannot be written: {folder} ({error.strerror})"
            ) from None
    return wanted


def run(wanted: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """Execute tasks, each in one of `jobs` processes; yield outcomes as they come.

    Whatever ends this generator ends the processes and their kernels.
    """
    jobs = min(jobs, len(wanted))
    if jobs < 2:
        yield from map(execute, wanted)
        return
    ended = kernels.be_killed_with_parent if sys.platform == "linux" else None
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), ended) as pool:
        try:
            # the last first: it decides every claim, and takes longest
            running = {pool.submit(execute, task): task for task in reversed(wanted)}
            for done in as_completed(running):
                task, lost = running[done], done.exception()
                yield (
                    Outcome(task, 0.0, f"{task.notebook.id}: its process ended: {lost}")
                    if lost
                    else done.result()
                )
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def execute(task: Task) -> Outcome:
    """Execute one task.

    On failure keep what was there, and leave ``<name>.failed.ipynb`` beside it.
    """
    start = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as folder:
            error = _renew(task, Path(folder))
    except OSError as failure:
        error = failure.strerror or str(failure)
    return Outcome(
        task, time.perf_counter() - start, f"{task.notebook.id}: {error}" if error else ""
    )


def _renew(task: Task, folder: Path) -> str:
    """Execute one task in a folder and put its results into place.

    Return why that could not be done, or nothing.
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
    kept = _figures(fresh)
    for path in kept:
        if path.suffix == ".png":
            result = result.replace(b64encode(fresh[path]), b64encode(kept[path]))

    # the notebook is the first: it is written at once, before another edit
    wanted = {task.target: _stored_or(task.target, result)} | kept
    changed = {path: content for path, content in wanted.items() if _stored(path) != content}
    if changed and task.notebook.path.read_bytes() != source:
        beside = task.target.with_suffix(".executed.ipynb")
        writing.write(beside, result)
        return f"it was edited while it ran: the edit stands, and the result is {beside}"
    for path, content in changed.items():
        writing.write(path, content)
    return ""


def _stored(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _stored_or(path: Path, fresh: bytes) -> bytes:
    """Return what a file holds if a fresh one is the same, and else the fresh one."""
    stored = _stored(path)
    return fresh if stored is None or not same(stored, fresh) else stored


def _figures(fresh: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """Return the files of figures, each the stored one where that is the same."""
    kept = {path: _stored_or(path, content) for path, content in fresh.items()}
    for path in kept:
        if path.suffix == ".json":  # which has the hashes of the others
            table = kept[path.with_suffix(".csv")]
            pictures = {
                suffix: hashlib.sha256(kept[path.with_suffix(suffix)]).hexdigest()
                for suffix in json.loads(fresh[path])["drawn"]
            }
            hashes = {"sha256": hashlib.sha256(table).hexdigest(), "drawn": pictures}
            kept[path] = provenance(json.loads(kept[path]) | hashes)
    return kept


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

    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # what fails is told once
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
            shutdown_kernel="immediate",  # a graceful one waits three seconds in many runs
        )
    except PapermillExecutionError as wrong:
        error = f"cell {wrong.cell_index} raised {wrong.ename}: {wrong.evalue}"
    except Exception as wrong:  # a dead kernel, a time-out: papermill has many ways to say so
        error = f"{type(wrong).__name__}: {(str(wrong).strip().splitlines() or [''])[0]}"
    notebook = json.loads(result.read_bytes() if result.exists() else source)
    stored = json.loads(source)["metadata"].get("language_info", {})
    if "version" in stored:  # of Python, without which JupyterLab takes a notebook for changed
        notebook["metadata"]["language_info"]["version"] = stored["version"]
    printed = _joined(notebook)
    return notebook, error or printed


def _joined(notebook: dict[str, Any]) -> str:
    """Join what each cell printed piece by piece; return which one printed too much."""
    error = ""
    for i, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue

        outputs: list[dict[str, Any]] = []
        for output in cell["outputs"]:
            before = outputs[-1] if outputs else {}
            if output["output_type"] == "stream" and output["name"] == before.get("name"):
                before["text"].extend(output["text"])
            else:
                outputs.append(output)
        cell["outputs"] = outputs

        for output in outputs:
            if output["output_type"] == "stream":
                text = "".join(output["text"])
                if len(text) > MOST_PRINTED:
                    error = error or (
                        f"cell {i + 1} printed {len(text):,} characters, and a notebook keeps "
                        f"at most {MOST_PRINTED:,} of a cell"
                    )
                lines = map(_on_screen, text[:MOST_PRINTED].split("\n"))
                output["text"] = "\n".join(lines).splitlines(keepends=True)
    return error


def _on_screen(line: str) -> str:
    """Return what a terminal shows of a line, such as the last state of a progress bar."""
    shown = line.rstrip("\r")
    return shown.rpartition("\r")[2] + line[len(shown) :]


def _normalised(notebook: dict[str, Any], name: str) -> bytes:
    """Return the file of an executed notebook without what differs between two runs.

    Cells are numbered after the notebook (``1-02-cell-00``), so that one copied from another shares
    no id with it.
    """
    prefix = re.sub(r"[^0-9A-Za-z]+", "-", re.sub(r"(^|/)(\d[^_/]*)_[^/]*", r"\1\2", name))[:40]
    for i, cell in enumerate(notebook["cells"]):
        cell["id"] = f"{prefix}-cell-{i:02d}"
        given = cell["metadata"]  # to which papermill adds times
        cell["metadata"] = {
            name: given[name] for name in ("tags", "jupyter", "slideshow") if given.get(name)
        }
    notebook["metadata"].pop("papermill", None)
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def kernel_environment(
    folder: Path, figures: Path, parameters: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return the environment of a kernel without a reader.

    It has no settings of a user's own, and one thread; the kernel is forked. IPython's own files go
    below `folder`; the run's own parameters are recorded with every figure.
    """
    return dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1") | {
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_DEFAULT_PROVISIONER_NAME": os.environ.get(
            "JUPYTER_DEFAULT_PROVISIONER_NAME", kernels.NAME
        ),
        HEADLESS: "1",
        FIGURES_FOLDER: str(figures),
        RUN_PARAMETERS: json.dumps(dict(parameters or {}), sort_keys=True),
    }
