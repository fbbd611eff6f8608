"""Sweeps: what is run, the same numbers however it is run, kept once each, and collected exactly."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from matplotlib.image import imread

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.run.parallel import pool
from ldpnb.sweeps import folder as folders
from ldpnb.sweeps import grid, plot, registry, session


def sweep(experiment: str = "disturbed:gated", /, repetitions: int = 6, block: int = 3, **axes: str) -> grid.Sweep:
    return grid.plan(experiment, axes or {"point": "0:3:4"}, {}, repetitions=repetitions, block=block)


def collected(of: grid.Sweep, folder: Path, tasks: list[grid.Task] | None = None) -> pd.DataFrame:
    """The table after tasks have been run here, in a given order."""
    folders.prepare(folder, of)
    for task in list(of.tasks()) if tasks is None else tasks:
        rows = grid.execute((task, registry.provenance(of.experiment.id)))
        assert not isinstance(rows, str), rows
        folders.store(folder, task, rows)
    return folders.collect(folder)


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["sweep", *map(str, arguments)], standalone_mode=False)


@pytest.mark.parametrize("experiment", registry.EXPERIMENTS)
def test_every_experiment_runs_and_its_errors_shrink_with_the_users(experiment: str, tmp_path: Path) -> None:
    table = collected(sweep(experiment, 40, 40, n="1e3,1e5"), tmp_path)
    series = [c for c in ("target", "estimator") if c in table]
    few, many = (table[table["n"] == n].set_index(series or "mechanism")["mse"] for n in (1000, 100_000))
    unbiased = few.index != "c_DE"  # which takes the reports of a sample for those of all
    assert (many[unbiased] < few[unbiased] / 2).all()
    for parameter in registry.find(experiment).parameters:
        assert parameter.meaning.endswith(".")
        if parameter.type in ("int", "float"):
            with pytest.raises(UsageError, match=f"{parameter.name} must lie in "):
                sweep(experiment, **{parameter.name: "-2"})


def test_ranges_and_lists_become_values_of_the_parameters_type() -> None:
    epsilon, n, mechanism = (registry.find("gaps").parameter(name) for name in ("epsilon", "n", "mechanism"))
    assert grid.values(epsilon, "0.1:5:50")[:3] == (0.1, 0.2, 0.3)
    assert grid.values(epsilon, "1e-3:10:5:log") == (0.001, 0.01, 0.1, 1.0, 10.0)
    assert grid.values(n, "1e4,1e6") == (10_000, 1_000_000)
    assert grid.values(n, "2:4:9") == (2, 3, 4)
    assert grid.values(epsilon, "1,1.0,2") == (1.0, 2.0)
    assert grid.values(mechanism, "M_L, k = 2,M_R, signed bit") == ("M_L, k = 2", "M_R", "signed bit")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gaps", "-g", "epsilom=1,2"], "gaps has no parameter epsilom (did you mean epsilon?); it has mechanism,"),
        (["gap"], "no experiment gap (did you mean gaps?); `ldpnb sweep --list` shows all"),
        (["gaps", "-p", "n=many"], "n must be of type int, got n='many'"),
        (["gaps", "-g", "n=1e3,1.5"], "n must be of type int, got n='1.5'"),
        (["gaps", "-g", "epsilon=1:2"], "epsilon must be low:high:count[:log]"),
        (["gaps", "-g", "epsilon=2:1:5"], "epsilon must be low:high:count[:log]"),
        (["gaps", "-g", "epsilon=0:1:5:log"], "low > 0 for log; got epsilon=0:1:5:log"),
        (["gaps", "-g", "epsilon=0:1:5:lin"], "epsilon must be low:high:count[:log]"),
        (["gaps", "-g", "epsilon=1,inf"], "epsilon must be finite, got epsilon=inf"),
        (["gaps", "-g", "epsilon="], "epsilon must have a value, got epsilon="),
        (["gaps", "-g", "mechanism=M_R,M_X"], "got mechanism='M_X' (did you mean M_R?)"),
        (["gaps", "-g", "n=1e3", "-p", "n=10"], "n is both in the grid and fixed"),
        (["gaps", "-g", "n=1e3", "--grid", "n=10"], "n is given twice"),
        (["gaps", "--repetitions", "1"], "need repetitions >= 2, block >= 1, seed >= 0, got 1, None, 2022"),
        (["gaps", "--scheduler", "tcp://127.0.0.1:1"], "scheduler needs backend dask, got backend='loky'"),
        (["no_such_module:x"], "no experiment no_such_module:x: No module named"),
        (["disturbed:undocumented"], "parameter point needs a type among int, float, str, bool, a default and a line"),
    ],
)
def test_wrong_usage_is_refused_before_any_work(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = command(*arguments, "--output", tmp_path / "out", "--jobs", "1")
    assert message in str(result.exception)
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_points_numbers_do_not_depend_on_the_grid_around_it(tmp_path: Path) -> None:
    few, more = sweep(point="3,7"), sweep(point="7,1,3,5")
    one, other = (collected(s, tmp_path / str(len(s))).set_index(["point", "law"]) for s in (few, more))
    pd.testing.assert_frame_equal(one, other.loc[one.index])
    fixed = grid.plan("disturbed:gated", {}, {"point": "7"}, repetitions=6, block=3)
    single = collected(fixed, tmp_path / "fixed").set_index(["point", "law"])
    pd.testing.assert_frame_equal(single, other.loc[single.index])


def test_more_repetitions_keep_the_blocks_that_were_there() -> None:
    few, more = sweep(repetitions=6, block=3), sweep(repetitions=12, block=3)
    assert {task.id for task in few.tasks()} < {task.id for task in more.tasks()}


def test_tasks_are_distinct_and_so_are_their_streams() -> None:
    tasks = list(sweep(point="0:9:10", repetitions=10, block=3).tasks())
    assert [t.repetitions for t in tasks[:4]] == [3, 3, 3, 1]
    assert len({t.id for t in tasks}) == len({t.rng().random() for t in tasks}) == 40


def test_order_and_repetition_of_tasks_change_nothing(tmp_path: Path) -> None:
    of = sweep()
    tasks = list(of.tasks())
    orders = [tasks, tasks[::-1], tasks[3:] + tasks]
    made = [collected(of, tmp_path / str(i), order) for i, order in enumerate(orders)]
    assert len({folders.write_table(tmp_path, table) for table in made}) == 1
    assert len(folders.finished(tmp_path / "2")) == len(of)


def test_blocks_add_up_to_the_mean_and_error_of_all_their_repetitions(tmp_path: Path) -> None:
    of = grid.plan("disturbed:gated", {"point": "2"}, {}, repetitions=11, block=4)
    row = collected(of, tmp_path).iloc[0]
    values = np.concatenate(
        [next(iter(of.experiment.function(repetitions=t.repetitions, rng=t.rng())))[1]["value"] for t in of.tasks()]
    )
    assert (row["repetitions"], row["point_too"], row["point_too_standard_error"]) == (11, 2.0, 0.0)
    assert row["value"] == pytest.approx(values.mean(), rel=1e-14)
    assert row["value_standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(11), rel=1e-12)


def test_blocks_far_from_zero_lose_no_precision() -> None:
    values = 1e9 + np.random.default_rng(1).random(12)
    sums = [(v.sum(), np.square(v - v.mean()).sum()) for v in np.split(values, 3)]
    blocks = pd.DataFrame(sums, columns=["sum", "squares"]).assign(series=0, block=range(3), measure="m", count=4)
    row = folders.combined(blocks).iloc[0]
    assert row["m_standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(12), rel=1e-6)


def test_the_table_is_tidy_and_in_the_order_of_the_grid(tmp_path: Path) -> None:
    table = collected(sweep(point="5,1,3", first_waiting="9,8"), tmp_path)
    assert table.columns.tolist() == [
        *("first_waiting", "gate", "point", "law", "repetitions"),
        *("value", "value_standard_error", "point_too", "point_too_standard_error"),
    ]
    assert table[["point", "first_waiting", "law"]].to_numpy().tolist()[:5] == [
        [5, 9, "uniform"], [5, 9, "normal"], [5, 8, "uniform"], [5, 8, "normal"], [1, 9, "uniform"]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "there", "other", "message"),
    [
        ("", lambda good: good, {"point": "1,2", "repetitions": 8}, "another grid and repetitions; name another --out"),
        ("", lambda good: good.replace('"python": "3', '"python": "2'), {}, "holds a sweep with another provenance"),
        ("", lambda _: "{", {}, "is not the folder of a sweep"),
        ("manifest.json/below", lambda good: good, {}, "output folder cannot be written"),
    ],
)
def test_a_folder_belongs_to_one_sweep(tmp_path: Path, place: str, there: Callable, other: dict, message: str) -> None:
    folders.prepare(tmp_path, sweep())
    folders.prepare(tmp_path, sweep())
    manifest = tmp_path / "manifest.json"
    manifest.write_text(there(manifest.read_text()))
    with pytest.raises(UsageError, match=message):
        folders.prepare(tmp_path / place, sweep(**other))


def test_provenance_follows_the_code_that_an_experiment_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = registry._sources("ldpnb.sweeps.experiments")
    assert {"ldpnb.mechanisms.frequency", "ldpnb.estimators.likelihood", "ldpnb.rng"} <= set(reached)
    assert not {"ldpnb.cli", "ldpnb.claims", "ldpnb.sweeps.session"} & set(reached)
    monkeypatch.setitem(registry.provenance("disturbed:gated"), "numpy", "1.0")
    task = next(sweep().tasks())
    here = registry.provenance("disturbed:gated") | {"numpy": "2.0"}
    assert grid.execute((task, here)) == "its worker has numpy 1.0 instead of 2.0"


def test_a_file_that_a_crash_cut_off_is_done_again(tmp_path: Path) -> None:
    of = sweep()
    whole = folders.write_table(tmp_path, collected(of, tmp_path))
    cut, empty, *_ = sorted(tmp_path.rglob("*.parquet"))
    cut.write_bytes(cut.read_bytes()[:-9])
    empty.write_bytes(b"")
    done = folders.finished(tmp_path)
    assert len(done) == len(of) - 2
    with pool(jobs=1) as workers:
        assert len(list(session.outcomes(of, tmp_path, workers, done=done))) == 2
    assert folders.write_table(tmp_path, folders.collect(tmp_path)) == whole


def test_failures_are_reported_with_their_point_and_done_again_once_mended(tmp_path: Path) -> None:
    out, mended = tmp_path / "out", tmp_path / "mended"
    arguments = ["disturbed:faulty", "--grid", "point=0:4:5", "-p", f"mended={mended}", "--output", out, "--jobs", "1"]
    first = command(*arguments, "--repetitions", "4")
    assert first.exit_code == 1
    assert "5 tasks: 1 kept (0 from before), 4 failed" in first.output
    for line in (
        "failed: point=1, block 0: ZeroDivisionError: nothing to divide by",
        "failed: point=2, block 0: ValueError: value must be 4 finite numbers",
        "failed: point=3, block 0: ValueError: the experiment must yield a series, got none",
        "failed: point=4, block 0: ValueError: labels must not be named as other columns, got point",
    ):
        assert line in first.stderr
    assert pd.read_csv(out / "failures.csv")["point"].tolist() == [1, 2, 3, 4]
    mended.touch()
    second = command(*arguments, "--repetitions", "4")
    assert second.exit_code == 0
    assert "5 tasks: 5 kept (1 from before), 0 failed" in second.output
    assert not (out / "failures.csv").exists()


def test_a_full_disk_ends_the_sweep_and_keeps_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, calls = folders.store, []

    def full(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        store(*arguments)

    arguments = ["disturbed:gated", "--grid", "point=0:4:5", "--output", tmp_path, "--jobs", "1", "--repetitions", "4"]
    monkeypatch.setattr(folders, "store", full)
    stopped = command(*arguments)
    assert stopped.exit_code == 1
    assert f"No space left on device; 2 of 5 tasks are kept in {tmp_path}, and the same command" in stopped.stderr
    monkeypatch.undo()
    assert "5 kept (2 from before)" in command(*arguments).output


@pytest.mark.parametrize(("jobs", "kept", "workers"), [(300, 0, 6), (300, 3, 3), (300, 5, 2), (4, 0, 4), (1, 0, 1)])
def test_no_worker_is_started_without_a_task(
    jobs: int, kept: int, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["gaps", "--grid", "epsilon=1:6:6", "--repetitions", "2", "--output", tmp_path]
    assert command(*arguments, "--jobs", "1").exit_code == 0
    for result in sorted(p for p in (tmp_path / "tasks").rglob("*") if p.is_file())[kept:]:
        result.unlink()
    asked = []
    monkeypatch.setattr(session, "pool", lambda _, jobs, __: asked.append(jobs) or pool(jobs=1))
    assert command(*arguments, "--jobs", str(jobs)).exit_code == 0
    assert asked == [workers]


def test_the_command_lists_runs_and_does_nothing_twice(tmp_path: Path) -> None:
    listed = command("--list").output
    assert "gaps: Simulate the estimated gap between the means of two equal groups." in listed
    assert "  -p epsilon=1.0  (float) (0, 700]; privacy budget per report, nats." in listed
    arguments = ["gaps", "--grid", "epsilon=0.5,1", "--repetitions", "20", "--output", tmp_path, "--jobs", "1"]
    first, second = command(*arguments), command(*arguments)
    assert "2 tasks: 2 kept (0 from before), 0 failed" in first.output
    assert "2 tasks: 2 kept (2 from before), 0 failed" in second.output
    assert first.output.splitlines()[-1] == second.output.splitlines()[-1]
    assert pd.read_csv(tmp_path / "table.csv")["epsilon"].tolist() == [0.5, 1.0]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    collected(sweep("frequencies", 4, 4, epsilon="1,2", n="1e3,1e4"), folder)
    return folder


def test_any_column_is_drawn_against_any_other(drawn: Path) -> None:
    figure = plot.draw(drawn, "epsilon", "mse", by="estimator", where={"target": "frequency"}, log="x,y")
    left, right = figure.axes
    assert [axis.get_title(loc="left") for axis in (left, right)] == ["n = 1000", "n = 10000"]
    assert (left.get_xlabel(), left.get_xscale()) == ("epsilon (nats)", "log")
    assert (left.get_ylabel(), left.get_yscale()) == ("mse", "log")
    expected = folders.collect(drawn).query("n == 1000 and target == 'frequency' and estimator == 'Norm-Sub'")
    assert left.containers[1].lines[0].get_ydata().tolist() == expected["mse"].tolist()
    options = ["--x=n", "--y=mse", "--by=estimator", "--where=epsilon=2", "--where=target=frequency", "--log=x"]
    result = CliRunner().invoke(cli, ["plot", str(drawn), *options], standalone_mode=False)
    assert result.output.strip() == str(drawn / "mse_by_n.png")
    assert imread(drawn / "mse_by_n.png").shape[0] > 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "epsilom"}, r"no column epsilom \(did you mean epsilon\?\)"),
        ({"by": "colour"}, "no column colour"),
        ({"where": {"n": "5"}}, "no rows with n=5"),
        ({"where": {"n": "many"}}, "n must be of type int"),
        ({"log": "z"}, "log must be x, y or x,y, got log='z'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(drawn: Path, options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plot.draw(drawn, **{"x": "epsilon", "y": "mse", "by": "estimator", **options})


def test_too_many_panels_and_unknown_formats_are_refused(tmp_path: Path) -> None:
    collected(sweep(point="0:12:13", repetitions=2, block=2), tmp_path)
    with pytest.raises(UsageError, match="point vary too; pick with --where"):
        plot.draw(tmp_path, "value", "point_too", by="law")
    with pytest.raises(UsageError, match=r"output must end in .png, .pdf, .svg, got output=.*x.gif"):
        plot.save(plot.draw(tmp_path, "point", "value", by="law"), tmp_path / "x.gif")
    with pytest.raises(UsageError, match="is not the folder of a sweep"):
        plot.draw(tmp_path / "tasks", "point", "value")
