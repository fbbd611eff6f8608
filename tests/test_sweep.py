"""Sweeps: the same numbers however they are run, each computed once, and never of other data.

`experiments.py` has the experiments. Means and errors are computed a second time from the streams
of all blocks, and the same sweep is run in threads, in processes, on Dask and after interruptions.
"""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import click
import experiments
import numpy as np
import pandas as pd
import psutil
import pytest
from click.testing import CliRunner, Result
from experiments import FAR
from patience import PATIENCE

from ldpnb import sweep as sweeps
from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.notebook.parameters import Parameter
from ldpnb.rng import stream
from ldpnb.sweep import State, sweep
from ldpnb.sweep_command import executor, processes
from ldpnb.sweep_command import values as values_of

HERE = Path(__file__).parent
PAGE = HERE.parent / "ldpnb/site/pages/sweeps.md"
POINTS = {"point": [0, 1, 2, 3]}


def run(folder: Path, experiment=experiments.uniform, grid=POINTS, **options) -> pd.DataFrame:
    """Run a sweep in one thread of this process."""
    with ThreadPoolExecutor(1) as pool:
        return sweep(experiment, grid, folder, pool, **{"repetitions": 6, **options})


def state(folder: Path, experiment=experiments.uniform, grid=POINTS, **options) -> State:
    """Run a sweep, and return what it says before it starts."""
    told: list[State] = []
    run(folder, experiment, grid, tell=told.append, **options)
    return told[0]


def blocks(folder: Path) -> list[Path]:
    return sorted((folder / "blocks").glob("*.json"))


def command(*arguments: str | Path) -> Result:
    """Call the command line in this process."""
    words = ["sweep", *map(str, arguments)]
    return CliRunner().invoke(cli, words, standalone_mode=False)


def started(folder: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command line in a process of its own, in a folder."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ldpnb", "sweep", *map(str, arguments)],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(holds) -> None:
    begin = time.monotonic()
    while not holds():
        assert time.monotonic() - begin < PATIENCE
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    """Tell whether a process is there and no zombie."""
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_companions_experiment_has_errors_that_shrink_with_the_users(tmp_path: Path) -> None:
    result = command("frequencies", "-g", "n=1e3,1e5", "-r", 40, "-o", tmp_path, "-j", 1)
    assert result.exit_code == 0

    table = pd.read_csv(tmp_path / "table.csv")
    keys = ["target", "estimator"]
    few = table[table["n"] == 1000].set_index(keys)["mean"]
    many = table[table["n"] == 100_000].set_index(keys)["mean"]
    assert (many < few / 2).all()


def test_the_numbers_depend_neither_on_the_workers_nor_on_the_grid_around_a_point(
    tmp_path: Path,
) -> None:
    here = run(tmp_path / "here", repetitions=1500)
    with processes(2) as pool:
        sweep(experiments.uniform, POINTS, tmp_path / "two", pool, repetitions=1500)

    table = (tmp_path / "two/table.csv").read_bytes()
    assert table == (tmp_path / "here/table.csv").read_bytes()

    alone = run(tmp_path / "alone", grid={"point": [2]}, repetitions=1500)
    assert alone["mean"].tolist() == here[here["point"] == 2]["mean"].tolist()


def test_blocks_add_up_to_the_mean_and_error_of_all_their_repetitions(tmp_path: Path) -> None:
    rows = run(tmp_path, grid={"point": [2]}, repetitions=2500).to_dict("records")
    near, far, place = rows

    blocks_of_numbers = []
    for block, size in enumerate((1000, 1000, 500)):
        rng = stream("sweep", "uniform", "point", 2, "block", block, seed=2022)
        blocks_of_numbers.append(rng.random(size))
    numbers = np.concatenate(blocks_of_numbers)
    error = numbers.std(ddof=1) / np.sqrt(2500)

    assert near["mean"] == pytest.approx(numbers.mean(), rel=1e-13)
    assert near["standard_error"] == pytest.approx(error, rel=1e-11)
    assert far["mean"] - FAR == pytest.approx(numbers.mean(), rel=1e-9)
    assert far["standard_error"] == pytest.approx(error, rel=1e-9)
    assert place["mean"] == 2.0
    assert place["standard_error"] == 0.0
    assert place["repetitions"] == 2500


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1:0.5:3", (0.1, 0.3, 0.5)),
        ("1,1.0, 2", (1.0, 2.0)),
        ("1e-3:10:5:log", (0.001, 0.01, 0.1, 1.0, 10.0)),
        ("2:2:1", (2.0,)),
    ],
)
def test_a_range_or_a_list_gives_its_values(text: str, values: tuple[float, ...]) -> None:
    assert values_of(Parameter("epsilon", "float", 1.0, ""), text) == values


def test_finished_blocks_are_not_run_again_and_a_wider_grid_runs_what_is_new(
    tmp_path: Path,
) -> None:
    assert state(tmp_path) == State(finished=0, new=4, changed=0, damaged=0)
    assert state(tmp_path) == State(finished=4, new=0, changed=0, damaged=0)
    wider = state(tmp_path, grid={"point": range(6)})
    assert wider == State(finished=4, new=2, changed=0, damaged=0)


def test_damaged_blocks_are_run_again(tmp_path: Path) -> None:
    first = run(tmp_path)
    cut, empty, edited, kept = blocks(tmp_path)
    cut.write_bytes(cut.read_bytes()[:-9])
    empty.write_bytes(b"")
    block = json.loads(edited.read_bytes())
    block["rows"][0]["mean"] += 0.125
    edited.write_text(json.dumps(block))
    before = kept.stat().st_mtime_ns

    assert state(tmp_path) == State(finished=1, new=0, changed=0, damaged=3)
    pd.testing.assert_frame_equal(run(tmp_path), first)
    assert kept.stat().st_mtime_ns == before


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an experiment, a module that it imports, and data that it reads."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own_helper.py").write_text("def double(x):\n    return 2 * x\n")
    (folder / "own_mine.py").write_text(
        "from pathlib import Path\n"
        "import numpy as np\n"
        "import own_helper\n"
        "def of_data(*, factor: float = 1.0, file: str = '', repetitions: int, rng) -> None:\n"
        "    value = float(Path(file).read_text()) if file else 3.0\n"
        "    yield {}, {'value': np.full(repetitions, own_helper.double(factor * value))}\n"
    )
    (folder / "data.csv").write_text("1.0")
    monkeypatch.syspath_prepend(folder)
    yield folder

    for name in ("own_mine", "own_helper"):
        sys.modules.pop(name, None)


def test_blocks_of_other_code_are_run_anew_and_counted(own: Path, tmp_path: Path) -> None:
    experiment = importlib.import_module("own_mine").of_data
    grid = {"factor": [1.0, 2.0]}
    assert state(tmp_path / "out", experiment, grid).new == 2

    (own / "plot.py").write_text("# it is not imported\n")
    assert state(tmp_path / "out", experiment, grid).finished == 2

    (own / "own_helper.py").write_text("def double(x):\n    return 2.0 * x\n")
    told = state(tmp_path / "out", experiment, {"factor": [1.0, 2.0, 3.0]})
    assert told == State(finished=0, new=1, changed=2, damaged=0)
    assert "2 to run again because code, data or versions have changed" in str(told)


def test_results_of_two_data_files_do_not_mix(own: Path, tmp_path: Path) -> None:
    experiment = importlib.import_module("own_mine").of_data
    data = own / "data.csv"
    grid = {"factor": [1.0, 2.0], "file": [str(data)]}

    with pytest.raises(RuntimeError, match=r"reads .*data\.csv: name this file"):
        run(tmp_path / "out", experiment, grid)

    table = run(tmp_path / "out", experiment, grid, depends=[data])
    assert table["mean"].tolist() == [2.0, 4.0]

    data.write_text("5.0")
    wider = {"factor": [1.0, 2.0, 3.0], "file": [str(data)]}
    table = run(tmp_path / "out", experiment, wider, depends=[data])
    assert table["mean"].tolist() == [10.0, 20.0, 30.0]


def test_a_worker_with_other_versions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = sweeps.packed_up(experiments.uniform, ())
    monkeypatch.setattr(sweeps, "versions", lambda: sent.versions | {"numpy": "1.0"})
    with pytest.raises(
        RuntimeError, match=r"point=1: .* the worker has numpy 1.0, but the sweep has "
    ):
        sweeps.compute(sent, sweeps.Block("uniform", {"point": 1}, 0, 2, 1))


WRONG_USAGE = [
    ("frequencies -g epsilom=1,2", "has no parameter epsilom (did you mean epsilon?)"),
    ("frequency", "no experiment frequency: it must be frequencies or MODULE:FUNCTION"),
    ("frequencies -g n=many", "n must be of type int, got n='many'"),
    ("frequencies -g n=1e3,1.5", "n must be of type int, got n='1.5'"),
    ("frequencies -g n=-2", "n must lie in [1, inf)"),
    ("frequencies -g epsilon=1:2", "epsilon must be low:high:count"),
    ("frequencies -g epsilon=1:2:3:4", "epsilon must be low:high:count"),
    ("frequencies -g epsilon=1:701:5", "epsilon must lie in (0, 700]"),
    ("experiments:gated -g first_waiting=0:1:5:log", "with low > 0, or a list with commas"),
    ("experiments:gated -g first_waiting=-1e308:1e308:3", "must be low:high:count"),
    ("frequencies -g epsilon=1,inf", "epsilon must be of type float, got epsilon='inf'"),
    ("frequencies -g epsilon=", "epsilon must be of type float, got epsilon=''"),
    (
        "frequencies -g epsilon=0.1:700:100000000",
        "the range of epsilon must have 1 to 10,000 values, got epsilon=0.1:700:100000000",
    ),
    (
        "frequencies -g epsilon=1:2:1000 -g n=1:5000:1000",
        "a sweep must have 1 to 100,000 blocks, got 1,000,000",
    ),
    (f"frequencies -r {10**18}", "a sweep must have 1 to 100,000 blocks, got 1,000,000,000"),
    ("frequencies -g mechanism=SUE,k-RS", "got mechanism='k-RS' (did you mean k-RR?)"),
    ("frequencies -g n=1e3 --grid n=10", "n is given twice"),
    ("frequencies -r 1", "1 is not in the range x>=2"),
    (
        "frequencies -j 1 --scheduler tcp://127.0.0.1:1",
        "--jobs must not be given with --scheduler",
    ),
    ("frequencies --depends nothing.csv", "'nothing.csv' does not exist"),
    ("no_such_module:x", "no experiment no_such_module:x: No module named"),
    ("os:sep", "os:sep must be a function, got str"),
    ("experiments:untyped", "point needs a default and a type among int, float"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), WRONG_USAGE, ids=[arguments for arguments, _ in WRONG_USAGE]
)
def test_wrong_usage_is_refused_before_any_work(
    arguments: str, message: str, tmp_path: Path
) -> None:
    result = command(*arguments.split(), "--output", tmp_path / "out")
    assert isinstance(result.exception, UsageError | click.UsageError)
    assert message in str(result.exception)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"pint": [1]}, "uniform: got an unexpected keyword argument 'pint'"),
        ({"point": "12"}, "point must be a sequence of values, got point='12'"),
        ({"point": []}, "a sweep must have 1 to 100,000 blocks, got 0"),
        ({"point": [None]}, "point must be a word or a finite number, got point=None"),
        ({"point": [float("nan")]}, "point must be a word or a finite number, got point=nan"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused(grid, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        run(tmp_path / "out", grid=grid)
    assert not list(tmp_path.iterdir())


def test_a_function_that_captures_variables_is_refused(tmp_path: Path) -> None:
    def captured(*, repetitions, rng):
        yield {}, {"value": np.full(repetitions, len(str(tmp_path)))}

    with pytest.raises(UsageError, match="at the top level of a module"):
        run(tmp_path / "out", captured, {})


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("mine")
    message = "the folder must be new, empty, or the folder of another sweep"
    with pytest.raises(UsageError, match=message):
        run(tmp_path)
    assert (tmp_path / "table.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("error", "ZeroDivisionError: nothing to divide by"),
        ("number", "ValueError: value must be 4 finite numbers"),
        ("none", "ValueError: the experiment must yield a series with a measure, got none"),
        ("label", "ValueError: a label must not be called fault"),
        ("twice", "ValueError: value of the series {} must be yielded only once"),
    ],
)
def test_a_failure_names_its_point_and_the_sweep_goes_on_once_it_is_mended(
    fault: str, message: str, tmp_path: Path
) -> None:
    mended = tmp_path / "mended"
    grid = {"fault": ["fine", fault], "mended": [str(mended)]}

    with pytest.raises(RuntimeError) as failed:
        run(tmp_path / "out", experiments.faulty, grid, repetitions=4)
    assert str(failed.value).startswith(f"fault={fault}, mended={mended}: {message}")

    mended.touch()
    told = state(tmp_path / "out", experiments.faulty, grid, repetitions=4)
    assert told == State(finished=1, new=1, changed=0, damaged=0)


class AtOnce(Executor):
    """Run a call when it is submitted: all have ended when the first result is read."""

    def submit(self, function, /, *args, **kwargs) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def test_what_ended_beside_a_failure_is_kept(tmp_path: Path) -> None:
    names = ["fine", "good", "well", "error", "right", "sound"]
    grid = {"fault": names, "mended": [str(tmp_path / "never")]}

    with AtOnce() as pool, pytest.raises(RuntimeError, match=r"^fault=error"):
        sweep(experiments.faulty, grid, tmp_path / "out", pool, repetitions=4)

    assert len(blocks(tmp_path / "out")) == len(names) - 1


def test_the_command_lists_runs_and_does_nothing_twice(tmp_path: Path) -> None:
    listed = command("frequencies").output
    assert command().output == listed
    assert "  -g epsilon=1.0  (float) (0, 700]; privacy budget of a report, nats" in listed

    arguments = ["frequencies", "-g", "epsilon=0.5,1", "-r", 20, "-o", tmp_path, "-j", 1]
    first = command(*arguments)
    second = command(*arguments)
    assert "2 blocks: 0 finished before, 2 new\n" in first.output
    assert "2 blocks: 2 finished before, 0 new\n" in second.output
    assert second.output.endswith("table.csv: 12 rows\n")
    assert pd.read_csv(tmp_path / "table.csv")["epsilon"].unique().tolist() == [0.5, 1.0]


def test_the_pages_experiment_runs_from_the_current_folder_whatever_else_lies_there(
    tmp_path: Path,
) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mine.py").write_text(code[1])
    for taken_name in ("click.py", "random.py"):
        text = "raise SystemExit('a file of the folder was imported')"
        (tmp_path / taken_name).write_text(text)

    words = ["mine:shares", "-g", "epsilon=1,2", "-r", 100, "-j", 1, "-o", "results"]
    process = started(tmp_path, *words)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert output == "results/table.csv: 4 rows\n"

    table = pd.read_csv(tmp_path / "results/table.csv")
    means = table[table["estimator"] == "unbiased"]["mean"]
    variances = [0.00094, 0.00017]  # pq / n(p - q)^2
    assert means.tolist() == pytest.approx(variances, rel=0.5)


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_a_sweep_that_is_ended_ends_its_workers_and_goes_on_later(
    way: signal.Signals, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    grid = ["-g", "point=0:5:6", "-g", "first_waiting=3", "-g", f"gate={gate}"]
    words = ["experiments:gated", *grid, "-r4", "-o", tmp_path / "out"]

    def waiting_workers() -> list[int]:
        return [int(path.suffix[1:]) for path in tmp_path.glob("gate.*")]

    process = started(HERE, *words, "-j2")
    wait_until(lambda: len(waiting_workers()) == 2 and len(blocks(tmp_path / "out")) == 3)
    workers = waiting_workers()
    process.send_signal(way)
    process.wait(PATIENCE)
    wait_until(lambda: not any(map(is_alive, workers)))
    _, errors = process.communicate(timeout=PATIENCE)

    if way == signal.SIGINT:
        assert process.returncode == 130
        line = "ldpnb: interrupted; what has finished is kept, everything else is as it was"
        assert errors.splitlines()[-1] == line
        assert "Traceback" not in errors

    gate.touch()
    assert "6 blocks: 3 finished before, 3 new\n" in command(*words, "-j1").output


def test_a_killed_worker_ends_the_sweep_with_its_finished_blocks_kept(tmp_path: Path) -> None:
    grid = ["-g", "point=0:5:6", "-g", f"killed={tmp_path / 'killed'}"]
    words = ["experiments:lethal", *grid, "-r3", "-j1", "-o", tmp_path / "out"]

    first = command(*words)
    assert isinstance(first.exception, click.ClickException)
    assert first.exception.exit_code == 1
    assert "finished blocks are kept, and the same command continues" in str(first.exception)
    assert "6 blocks: 5 finished before, 1 new\n" in command(*words).output


@pytest.fixture
def scheduler() -> Iterator[str]:
    """Start a scheduler of Dask as its users do, and return its address."""
    with dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard") as process:
        for line in process.stderr:
            found = re.search(r"Scheduler at: +(tcp://\S+)", line)
            if found:
                break
        yield found[1]


@contextmanager
def dask(*arguments: str, **options) -> Iterator[subprocess.Popen[str]]:
    """Start Dask's own command, and end it at the end."""
    words = [sys.executable, "-m", "dask", *arguments]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **options) as process:
        yield process
        process.terminate()
        process.stderr.read()


def worker(scheduler: str, folder: Path) -> AbstractContextManager[subprocess.Popen[str]]:
    """Start a worker with one thread, in a folder and with a path that have no file of ours."""
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return dask("worker", scheduler, *options, cwd=folder, env=environment)


@pytest.mark.nightly
def test_on_dask_the_one_worker_of_one_thread_computes_everything(
    scheduler: str, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "empty").mkdir()
    words = ["experiments:process", "-g", "point=0:3:4", "-r2", "--scheduler", scheduler]
    before_any_worker = started(HERE, *words, "-o", tmp_path / "out")

    with worker(scheduler, tmp_path / "empty") as only:
        _, errors = before_any_worker.communicate(timeout=PATIENCE)
        assert before_any_worker.returncode == 0, errors
        table = pd.read_csv(tmp_path / "out/table.csv")
        assert table["mean"].unique().tolist() == [only.pid]

        with executor(1, scheduler) as there:
            sweep(experiments.uniform, POINTS, tmp_path / "there", there, repetitions=6)

    on_dask = pd.read_csv(tmp_path / "there/table.csv")
    pd.testing.assert_frame_equal(on_dask, run(tmp_path / "here"), check_exact=True)


@pytest.mark.nightly
def test_on_dask_a_worker_that_is_lost_in_the_middle_loses_no_block(
    scheduler: str, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    killed = tmp_path / "killed"
    grid = ["-g", "point=0:9:10", "-g", f"killed={killed}"]
    words = ["experiments:lethal", *grid, "-r3", "-o", tmp_path / "out"]

    with worker(scheduler, tmp_path) as first, worker(scheduler, tmp_path) as second:
        process = started(HERE, *words, "--scheduler", scheduler)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        first_lives = first.poll() is None
        second_lives = second.poll() is None
        assert first_lives != second_lives

    assert killed.exists()
    table = pd.read_csv(tmp_path / "out/table.csv")
    assert table["point"].tolist() == list(range(10))
