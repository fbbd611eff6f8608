"""Running notebooks: all or nothing, the same twice, and nothing lost when something goes wrong."""

import errno
import json
import shutil
from pathlib import Path

import pytest

from ldpnb.checks import UsageError
from ldpnb.claims import DECISIONS
from ldpnb.run import catalogue, execution
from ldpnb.run.nbval_plugin import compare_folders, compare_tables


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def run_one(name: str, **parameters) -> execution.Outcome:
    (task,) = execution.plan([catalogue.find(name)], parameters, None)
    return execution.execute(task)


def test_a_run_leaves_picture_vector_numbers_and_provenance_and_repeats_to_the_byte(checkout: Path) -> None:
    assert run_one("01_line").error == ""
    first = files(checkout / "figures") | files(checkout / "notebooks")
    stems = {"1_demo/01_line/figure_1" + s for s in (".png", ".pdf", ".csv", ".json")}
    assert set(files(checkout / "figures")) == stems
    assert json.loads(first["1_demo/01_line/figure_1.json"])["caption"] == "A line."
    catalogue.catalogue.cache_clear()
    assert execution.up_to_date(catalogue.find("01_line"))
    assert run_one("01_line").error == ""
    assert files(checkout / "figures") | files(checkout / "notebooks") == first


def test_own_parameters_write_to_a_folder_of_their_own(checkout: Path) -> None:
    outcome = run_one("01_line", users="3", factor=2)
    assert outcome.error == ""
    assert not (checkout / "figures/1_demo").exists()
    assert outcome.task.target.is_relative_to(checkout / "build/runs")
    written = outcome.task.figures / "1_demo/01_line/figure_1"
    assert written.with_suffix(".csv").read_text() == "x,y\n0,0\n1,2\n2,4\n"
    assert json.loads(written.with_suffix(".json").read_text())["parameters"] == {"factor": 2.0, "users": 3}


def test_a_failure_keeps_the_last_good_output_and_shows_the_cell(checkout: Path) -> None:
    target = checkout / "notebooks/1_demo/02_broken.ipynb"
    before = target.read_bytes()
    outcome = run_one("02_broken")
    assert "02_broken: cell 2 raised ZeroDivisionError: division by zero" in outcome.error
    assert target.read_bytes() == before
    assert "ZeroDivisionError" in target.with_suffix(".failed.ipynb").read_text()
    assert [n.id for n in catalogue.catalogue()] == ["1_demo/01_line", "1_demo/02_broken"]


def test_stale_figures_of_a_notebook_disappear(checkout: Path) -> None:
    stale = checkout / "figures/1_demo/01_line/figure_9.png"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"old")
    assert run_one("01_line").error == ""
    assert not stale.exists()


def test_a_changed_source_or_result_is_not_up_to_date(checkout: Path) -> None:
    assert not execution.up_to_date(catalogue.find("01_line"))
    run_one("01_line")
    catalogue.catalogue.cache_clear()
    notebook = catalogue.find("01_line")
    numbers = checkout / "figures/1_demo/01_line/figure_1.csv"
    kept = numbers.read_text()
    numbers.write_text("x,y\n")
    assert not execution.up_to_date(notebook)
    numbers.write_text(kept)
    assert execution.up_to_date(notebook)
    notebook.path.write_text(notebook.path.read_text().replace("factor * i", "factor + i"))
    assert not execution.up_to_date(notebook)


OUTSIDE = "output must lie outside what is committed"
CANNOT = "output folder cannot be written: "


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        *((f, OUTSIDE) for f in ("figures/mine", "figures", "notebooks", ".", "link", "notebooks/../figures/x")),
        ("taken/below", rf"{CANNOT}.*taken/below.* \(Not a directory\)"),
        ("locked", rf"{CANNOT}.*locked.* \(Permission denied\)"),
    ],
)
def test_a_folder_that_must_not_or_cannot_be_written_is_refused_before_any_kernel(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, folder: str, message: str
) -> None:
    def refused(**_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    (checkout / "figures").mkdir()
    (checkout / "link").symlink_to("figures")
    (checkout / "taken").write_text("a file, not a folder")
    if folder == "locked":  # chmod does not stop root, who runs the tests in containers
        monkeypatch.setattr(execution.tempfile, "TemporaryFile", refused)
    with pytest.raises(UsageError, match=message):
        execution.plan([catalogue.find("01_line")], {"users": 2}, checkout / folder)


def test_a_relative_path_counts_from_where_the_command_is_given(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    path.write_text(path.read_text().replace("label: str", "data: str"))
    catalogue.catalogue.cache_clear()
    monkeypatch.chdir(checkout)
    (checkout / "people.csv").touch()
    there = str(checkout / "people.csv")
    for given, meant in (("people.csv", there), (there, there), ("", "")):
        (task,) = execution.plan([catalogue.find("01_line")], {"data": given}, None)
        assert task.parameters["data"] == meant
    with pytest.raises(UsageError, match=r"data must be a file, got data='?none\.csv"):
        execution.plan([catalogue.find("01_line")], {"data": "none.csv"}, None)


def test_a_missing_kernel_is_named(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_KERNEL", "python2000")
    with pytest.raises(UsageError, match="no Jupyter kernel python2000"):
        execution.plan([catalogue.find("01_line")], {}, None)


def test_numbers_that_differ_beyond_the_tolerance_are_reported(tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("name,y\na,1.0\nb,2.0\n")
    for rows, differing in {
        "a,1.0000000001\nb,2.0\n": [],
        "a,1.0\nb,2.00001\n": ["one.csv: y in row 1: 2.0 became 2.00001 (1 rows differ)"],
        "a,1.0\nc,2.0\n": ["one.csv: name in row 1: b became c (1 rows differ)"],
        "a,1.0\n": ["one.csv: 2 rows of ['name', 'y'] became 1 rows of ['name', 'y']"],
    }.items():
        other.write_text(f"name,y\n{rows}")
        assert compare_tables(one, other) == differing


def test_a_figure_that_is_no_longer_made_is_reported(checkout: Path) -> None:
    run_one("01_line")
    committed, fresh = checkout / "figures/1_demo/01_line", checkout / "fresh"
    shutil.copytree(committed, fresh)
    assert compare_folders(committed, fresh) == []
    (fresh / "figure_1.csv").rename(fresh / "figure_2.csv")
    assert compare_folders(committed, fresh) == [
        "figure_1.csv is committed but was not made",
        "figure_2.csv was made but is not committed",
    ]


def test_decisions_are_kept_for_the_very_code_and_lock_that_made_them(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DECISIONS, raising=False)
    folders = []
    for lock in ("numpy==2.3.0", "numpy==2.3.1"):
        (checkout / "requirements.lock").write_text(lock)
        execution.code_hash.cache_clear()
        execution.plan([catalogue.find("01_line")], {}, None)
        folders.append(Path(execution.kernel_environment(None)[DECISIONS]))
        folders[-1].mkdir(parents=True)
    execution.plan([catalogue.find("01_line")], {}, None)
    execution.code_hash.cache_clear()
    assert [folder.exists() for folder in folders] == [False, True]
