"""Sweeps: the same numbers however they are run, kept once each, resumed, and collected exactly."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from disturbed import FAR
from patience import PATIENCE

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.rng import stream
from ldpnb.sweeps import sweep as sweeps

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _experiments_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", str(HERE))  # for workers


def run(
    folder: Path, experiment: str = "disturbed:gated", point: str = "0:3:4", **options: int
) -> pd.DataFrame:
    return sweeps.sweep(experiment, {"point": point}, folder, **{"repetitions": 6, **options})[0]


def computed(folder: Path, experiment: str = "disturbed:gated") -> int:
    return sweeps.sweep(experiment, {"point": "0:3:4"}, folder, repetitions=6)[1]


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["sweep", *map(str, arguments)], standalone_mode=False)


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "ldpnb", "sweep", *map(str, arguments)]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def blocks(folder: Path) -> list[Path]:
    return sorted((folder / "blocks").glob("*.json"))


def wait_until(holds) -> float:
    begin = time.monotonic()
    while not holds():
        assert time.monotonic() - begin < PATIENCE
        time.sleep(0.02)
    return time.monotonic() - begin


def test_the_companions_experiment_runs_and_its_errors_shrink_with_the_users(
    tmp_path: Path,
) -> None:
    table, _ = sweeps.sweep("frequencies", {"n": "1e3,1e5"}, tmp_path / "out", repetitions=40)
    few, many = (
        table[table["n"] == n].set_index(["target", "estimator"])["mse"] for n in (1000, 100_000)
    )
    assert (many < few / 2).all()
    for parameter in sweeps.parameters("frequencies").values():
        assert parameter.meaning
        if parameter.type in ("int", "float"):
            with pytest.raises(UsageError, match=f"{parameter.name} must lie in "):
                sweeps.sweep("frequencies", {parameter.name: "-2"}, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "frequencies -g epsilom=1,2",
            "frequencies has no parameter epsilom (did you mean epsilon?); it has mechanism,",
        ),
        (
            "frequency",
            "no experiment frequency: module 'ldpnb.sweeps.experiments' has no attribute",
        ),
        ("frequencies -g n=many", "n must be of type int, got n='many'"),
        ("frequencies -g n=1e3,1.5", "n must be of type int, got n='1.5'"),
        ("frequencies -g epsilon=1:2", "epsilon must be low:high:count"),
        (
            "frequencies -g epsilon=0:1:5:log",
            "with low > 0, or a list with commas, got epsilon=0:1:5:log",
        ),
        ("frequencies -g epsilon=1,inf", "epsilon must be of type float, got epsilon='inf'"),
        ("frequencies -g epsilon=", "epsilon must be of type float, got epsilon=''"),
        ("frequencies -g mechanism=SUE,k-RS", "got mechanism='k-RS' (did you mean k-RR?)"),
        ("frequencies -g n=1e3 --grid n=10", "n is given twice"),
        ("frequencies -r 1", "1 is not in the range x>=2"),
        (
            "frequencies --scheduler tcp://127.0.0.1:1",
            "--backend dask and --scheduler need each other, got loky",
        ),
        ("no_such_module:x", "no experiment no_such_module:x: No module named"),
        (
            "disturbed:untyped",
            "disturbed:untyped: point needs a default and a type among int, float",
        ),
    ],
)
def test_wrong_usage_is_refused_before_any_work(
    arguments: str, message: str, tmp_path: Path
) -> None:
    result = command(*arguments.split(), "--output", tmp_path / "out", "--jobs", "1")
    assert isinstance(result.exception, UsageError | click.UsageError)
    assert message in str(result.exception)
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("mine")
    with pytest.raises(UsageError, match="the folder must be new, empty or of another sweep"):
        run(tmp_path)
    assert (tmp_path / "table.csv").read_text() == "mine"


def test_the_numbers_do_not_depend_on_the_workers_or_on_the_grid_around_a_point(
    tmp_path: Path,
) -> None:
    for jobs in (1, 2):
        run(tmp_path / str(jobs), jobs=jobs, repetitions=1500)
    assert (tmp_path / "1/table.csv").read_bytes() == (tmp_path / "2/table.csv").read_bytes()
    alone, beside = (
        run(tmp_path / "3", point="2", repetitions=1500),
        pd.read_csv(tmp_path / "1/table.csv"),
    )
    assert alone["value"].tolist() == beside.query("point == 2")["value"].tolist()


def test_blocks_add_up_to_the_mean_and_error_of_all_their_repetitions(tmp_path: Path) -> None:
    near, far = run(tmp_path, point="2", repetitions=2500).to_dict("records")
    point = ("first_waiting", 10**9, "gate", "", "point", 2)
    rngs = [stream("sweep", "disturbed:gated", *point, "block", i, seed=2022) for i in range(3)]
    values = np.concatenate(
        [rng.random(size) for rng, size in zip(rngs, (1000, 1000, 500), strict=True)]
    )
    for row, offset, precision, of_error in ((near, 0, 1e-13, 1e-11), (far, FAR, 1e-9, 1e-9)):
        assert (row["repetitions"], row["point_too"], row["point_too_standard_error"]) == (
            2500,
            2.0,
            0.0,
        )
        assert row["value"] - offset == pytest.approx(values.mean(), rel=precision)
        assert row["value_standard_error"] == pytest.approx(
            values.std(ddof=1) / np.sqrt(2500), rel=of_error
        )


def test_finished_blocks_are_not_run_again_and_damaged_ones_are(tmp_path: Path) -> None:
    first = run(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in blocks(tmp_path)}
    cut, empty, other, kept = before
    cut.write_bytes(cut.read_bytes()[:-9])
    empty.write_bytes(b"")
    other.write_bytes(
        kept.read_bytes().replace(b"0.1", b"0.2", 1).replace(b"0.5", b"0.6", 1) + b"\n"
    )
    table, again = sweeps.sweep("disturbed:gated", {"point": "0:3:4"}, tmp_path, repetitions=6)
    assert again == 3
    pd.testing.assert_frame_equal(table, first)
    assert kept.stat().st_mtime_ns == before[kept]
    assert (
        sweeps.sweep("disturbed:gated", {"point": "0:5:6"}, tmp_path, repetitions=6)[1] == 2
    )  # a wider grid


def test_blocks_of_other_code_are_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(HERE / "disturbed.py", tmp_path / "mine.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert [computed(tmp_path / "out", "mine:gated") for _ in range(2)] == [4, 0]
    (tmp_path / "beside.py").write_text("# a module that it might import\n")
    sweeps.code_of.cache_clear()
    assert computed(tmp_path / "out", "mine:gated") == 4
    with pytest.raises(RuntimeError, match="its worker has other code"):
        sweeps.compute(sweeps.Block("mine:gated", (("point", 1),), 0, 2, 1, "of another worker"))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("error", "ZeroDivisionError: nothing to divide by"),
        ("number", "ValueError: value must be 4 finite numbers"),
        ("none", "ValueError: the experiment must yield a series, got none"),
        ("label", "ValueError: labels must not be named as parameters, got fault"),
    ],
)
def test_a_failure_names_its_point_and_the_sweep_goes_on_once_it_is_mended(
    fault: str, message: str, tmp_path: Path
) -> None:
    mended = tmp_path / "mended"
    words = [
        "disturbed:faulty",
        "-g",
        f"fault=fine,{fault}",
        "-g",
        f"mended={mended}",
        "-o",
        tmp_path / "out",
        "-r4",
    ]
    first = command(*words, "-j1")
    assert isinstance(first.exception, click.ClickException)
    assert f"fault={fault}, mended={mended}: {message}" in str(first.exception)
    mended.touch()
    assert command(*words, "-j1").output == f"{tmp_path / 'out/table.csv'}: 2 rows, 1 new blocks\n"


def test_the_command_lists_runs_and_does_nothing_twice(tmp_path: Path) -> None:
    assert command().output == command("frequencies").output
    assert "frequencies: Compare estimators of a histogram: unbiased, Norm-Sub" in command().output
    assert (
        "  -g epsilon=1.0  (float) (0, 700]; privacy budget of a report, nats" in command().output
    )
    arguments = [
        "frequencies",
        "--grid",
        "epsilon=0.5,1",
        "--repetitions",
        "20",
        "--output",
        tmp_path,
        "--jobs",
        "1",
    ]
    first, second = command(*arguments), command(*arguments)
    assert first.output.endswith("table.csv: 12 rows, 2 new blocks\n")
    assert second.output.endswith("table.csv: 12 rows, 0 new blocks\n")
    assert pd.read_csv(tmp_path / "table.csv")["epsilon"].unique().tolist() == [0.5, 1.0]


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_is_ended_goes_on_later(way: signal.Signals, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    words = [
        "disturbed:gated",
        "-g",
        "point=0:5:6",
        "-g",
        "first_waiting=3",
        "-g",
        f"gate={gate}",
        "-r4",
        "-j2",
    ]
    process = start(*words, "-o", tmp_path / "out")
    wait_until(
        lambda: len(list(tmp_path.glob("gate.*"))) == 2 and len(blocks(tmp_path / "out")) == 3
    )
    workers = [int(path.suffix[1:]) for path in tmp_path.glob("gate.*")]
    process.send_signal(way)
    process.wait(PATIENCE)
    if way != signal.SIGKILL:
        wait_until(lambda: not any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers))
        assert process.returncode == 130
        line = "ldpnb: interrupted; what has finished is kept, everything else is as it was"
        assert line in process.stderr.read().splitlines()
    for pipe in (
        process.stdout,
        process.stderr,
    ):  # which workers keep open until they have been idle for a while
        pipe.close()
    gate.touch()
    assert "12 rows, 3 new blocks" in command(*words[:-1], "-j1", "-o", tmp_path / "out").output


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Address of a cluster of two processes that know our experiments."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HERE))
        with distributed.LocalCluster(**options) as cluster:
            yield cluster.scheduler_address


def test_on_dask_a_lost_worker_loses_no_point_and_the_numbers_are_the_same(
    scheduler: str, tmp_path: Path
) -> None:
    words = [
        "disturbed:lethal",
        "-g",
        "point=0:19:20",
        "-g",
        f"killed={tmp_path / 'killed'}",
        "-r",
        "3",
    ]
    options = ["-o", tmp_path / "dask", "--backend", "dask", "--scheduler", scheduler]
    assert "20 rows, 20 new blocks" in command(*words, *options).output
    assert (tmp_path / "killed").exists()
    there = pd.read_csv(tmp_path / "dask/table.csv")
    assert there["point"].tolist() == list(range(20))
    assert command(*words, "-o", tmp_path / "here", "-j", "1").exit_code == 0
    pd.testing.assert_frame_equal(there, pd.read_csv(tmp_path / "here/table.csv"))
