"""A run of a notebook replaces all of its results or none, and loses no edit of its author.

What is the same within the tolerance stays as it is; a failed or interrupted run leaves everything
as it was; and a check names the number that differs from the stored one.
"""

import hashlib
import io
import json
import multiprocessing.context
import os
import platform
import re
import signal
import sys
import time
from base64 import b64encode
from importlib.util import find_spec
from pathlib import Path

import pytest
from demonstration import COMPUTE, PARAMETERS, begun, gone, notebook
from jupyter_client.connect import LocalPortCache
from jupyter_client.provisioning import KernelProvisionerFactory
from patience import PATIENCE
from PIL import Image

from ldpnb.checks import UsageError
from ldpnb.notebook.publishing import provenance
from ldpnb.run import catalogue, kernels, runner, simulated

FIGURE = "figures/1_demo/01_line/figure_1"


def files(folder: Path) -> dict[str, bytes]:
    """The content of every file in a folder, by its path."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """The paths of files that are new or have another content."""
    return {name for name, content in after.items() if content != before.get(name)}


def run_one(name: str, **parameters) -> runner.Outcome:
    catalogue.catalogue.cache_clear()
    (task,) = runner.tasks([catalogue.find(name)], parameters, None)
    return runner.execute(task)


def ids_of_notebooks() -> list[str]:
    catalogue.catalogue.cache_clear()
    return [listed.id for listed in catalogue.catalogue()]


def rewrite(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_two_jobs_run_what_one_runs_and_a_notebook_that_fails_lets_the_others_go_on(
    checkout: Path, ldpnb
) -> None:
    result = ldpnb("run", "-j", "2")
    assert result.returncode == 1
    assert re.search(r"^1_demo/01_line  \d+\.\d s$", result.stdout, re.MULTILINE)
    assert "failed: 1_demo/02_broken: cell 2 raised ZeroDivisionError" in result.stderr
    assert "1 of 2 notebooks failed; what was there before is untouched" in result.stderr
    assert os.listdir(checkout / "notebooks/1_demo").count("02_broken.failed.ipynb") == 1

    first = files(checkout)
    assert {f"{FIGURE}{suffix}" for suffix in (".png", ".csv", ".json")} <= first.keys()

    made = json.loads(first[f"{FIGURE}.json"])
    assert made["caption"] == "A line."
    assert made["drawn"][".png"] == hashlib.sha256(first[f"{FIGURE}.png"]).hexdigest()

    (checkout / f"{FIGURE}.png").unlink()
    assert run_one("01_line").error == ""
    assert files(checkout) == first


def test_what_is_the_same_within_the_tolerance_is_left_as_it_is_and_what_is_not_is_renewed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    moved = "import os; factor *= 1 + float(os.environ.get('MOVED', 0))\n"
    path.write_text(notebook(PARAMETERS, moved + COMPUTE, "float(table.y.sum()) / 3"))

    assert run_one("01_line").error == ""
    first = files(checkout)
    source = path.read_text()

    monkeypatch.setenv("MOVED", "1e-8")  # as another processor might compute
    assert run_one("01_line").error == ""
    assert files(checkout) == first

    monkeypatch.delenv("MOVED")
    for before, after in (
        ("factor * i", "factor * i * (1 + 1e-4)"),
        ('\\"x\\", \\"y\\")', '\\"x\\", \\"y\\", title=\\"A finding\\")'),
    ):
        path.write_text(source)
        rewrite(path, before, after)
        assert run_one("01_line").error == ""
        renewed = changed(first, files(checkout))
        assert {f"{FIGURE}.json", "notebooks/1_demo/01_line.ipynb"} <= renewed, after


def test_a_picture_is_renewed_only_if_its_pixels_differ(checkout: Path) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    picture = (checkout / FIGURE).with_suffix(".png")
    assert run_one("01_line").error == ""

    # The same pixels in other bytes, as another version of a library writes them.
    other = io.BytesIO()
    Image.open(picture).save(other, "png", compress_level=0)
    stored = other.getvalue()
    picture.write_bytes(stored)

    record = json.loads(picture.with_suffix(".json").read_text())
    record["drawn"][".png"] = hashlib.sha256(stored).hexdigest()
    picture.with_suffix(".json").write_bytes(provenance(record))
    first = files(checkout / "figures")

    rewrite(path, "# A demonstration", "# Another title")
    assert run_one("01_line").error == ""
    assert files(checkout / "figures") == first

    rewrite(path, '\\"A line.\\"', '\\"A rising line.\\"')
    assert run_one("01_line").error == ""
    renewed = changed(first, files(checkout / "figures"))
    assert {Path(name).suffix for name in renewed} == {".json"}
    assert b64encode(stored).decode() in path.read_text(), "the notebook shows the stored picture"


def test_another_version_of_python_changes_no_notebook(checkout: Path) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    assert run_one("01_line").error == ""

    rewrite(path, f'"version": "{platform.python_version()}"', '"version": "3.99.0"')
    rewrite(path, "# A demonstration", "# Another title")
    before = path.read_text()
    assert run_one("01_line").error == ""
    assert path.read_text() == before


def test_what_a_cell_prints_piece_by_piece_is_one_text_as_a_terminal_shows_it(
    checkout: Path,
) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    bar = "for i in range(3): print(f'\\r{i} of 3', end='', flush=True)\nprint('\\ndone')"
    path.write_text(notebook(PARAMETERS, bar))

    assert run_one("01_line").error == ""

    (output,) = json.loads(path.read_text())["cells"][2]["outputs"]
    assert output["text"] == ["2 of 3\n", "done\n"]


def test_a_wide_table_has_its_first_and_last_ten_columns_as_in_any_kernel(checkout: Path) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    path.write_text(notebook(PARAMETERS, "import pandas as pd; pd.DataFrame([range(25)])"))
    assert run_one("01_line").error == ""

    (output,) = json.loads(path.read_text())["cells"][2]["outputs"]
    shown = re.findall(r"<th>(\d+|\.\.\.)</th>", "".join(output["data"]["text/html"]))
    assert shown[:21] == [*map(str, range(10)), "...", *map(str, range(15, 25))]


SAID = """\
import sys
print('one', flush=True)
print('two', flush=True)
print('three', file=sys.stderr, flush=True)
print('\\rfour\\r', end='', flush=True)"""


def test_a_notebook_keeps_what_its_cells_say_in_order_their_tags_and_ids_of_its_own(
    checkout: Path,
) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    path.write_text(notebook(PARAMETERS, SAID, "users"))
    assert run_one("01_line").error == ""

    cells = json.loads(path.read_text())["cells"]
    streams = [(output["name"], output["text"]) for output in cells[2]["outputs"]]
    assert streams == [
        ("stdout", ["one\n", "two\n"]),
        ("stderr", ["three\n"]),
        ("stdout", ["four\r"]),
    ]
    assert [cell["id"] for cell in cells] == [f"1-01-cell-0{place}" for place in range(4)]
    assert [cell["metadata"] for cell in cells] == [{}, {"tags": ["parameters"]}, {}, {}]
    assert "papermill" not in json.loads(path.read_text())["metadata"]


TOO_MUCH = {
    "print('x' * 2_000_000)": "cell 3 printed 2,000,001 characters",
    "'x' * 11_000_000": "cell 3 shows an output of 11,000,",
    "raise ValueError('\\x1b[2J\\n' * 4_000_000)": "cell 2 raised ValueError: '\\x1b[2J",
}


@pytest.mark.parametrize("cell", TOO_MUCH)
def test_a_cell_that_prints_or_shows_too_much_is_named_in_a_line(cell: str, checkout: Path) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    path.write_text(notebook(PARAMETERS, cell))
    before = path.read_bytes()

    error = run_one("01_line").error
    assert error.startswith(f"1_demo/01_line: {TOO_MUCH[cell]}")
    assert error.isprintable()
    assert len(error) < 500
    assert path.read_bytes() == before
    assert path.with_suffix(".failed.ipynb").stat().st_size < 1_100_000


def test_own_parameters_write_to_a_folder_of_their_own(checkout: Path) -> None:
    outcome = run_one("01_line", users="3", factor=2)
    assert outcome.error == ""
    assert not (checkout / "figures/1_demo").exists()
    assert outcome.task.target.is_relative_to(checkout / "build/runs")

    (other,) = runner.tasks([outcome.task.notebook], {"users": "4"}, None)
    assert other.target != outcome.task.target

    written = outcome.task.figures / "1_demo/01_line/figure_1"
    assert written.with_suffix(".csv").read_text() == "x,y\n0,0\n1,2\n2,4\n"
    assert json.loads(written.with_suffix(".json").read_text())["parameters"] == {
        "factor": 2.0,
        "users": 3,
    }


def test_a_failure_keeps_the_last_good_output_and_shows_the_cell(checkout: Path) -> None:
    target = checkout / "notebooks/1_demo/02_broken.ipynb"
    before = target.read_bytes()

    outcome = run_one("02_broken")
    assert "02_broken: cell 2 raised ZeroDivisionError: division by zero" in outcome.error
    assert target.read_bytes() == before
    assert "ZeroDivisionError" in target.with_suffix(".failed.ipynb").read_text()
    assert ids_of_notebooks() == ["1_demo/01_line", "1_demo/02_broken"]


EDIT = """\
import pathlib
path = pathlib.Path({path!r})
path.write_text(path.read_text() + " ")
41 + 1"""


def test_an_edit_during_a_run_stands_and_the_result_is_kept_beside_it(checkout: Path) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    path.write_text(notebook(PARAMETERS, COMPUTE, EDIT.format(path=str(path))))
    source = path.read_text()

    outcome = run_one("01_line")
    assert "it was edited while it ran: the edit is kept" in outcome.error
    assert path.read_text() == source + " "
    assert not (checkout / "figures").exists() or not files(checkout / "figures")

    executed = json.loads(path.with_suffix(".executed.ipynb").read_text())
    assert executed["cells"][3]["outputs"][0]["data"]["text/plain"] == ["42"]
    assert ids_of_notebooks() == ["1_demo/01_line", "1_demo/02_broken"]


INSIDE = "output must lie below build/ or outside the checkout"
CANNOT = "output folder cannot be written: "
REFUSED_FOLDERS = {
    "figures/mine": INSIDE,
    "notebooks": INSIDE,
    ".": INSIDE,
    "link": INSIDE,
    "build/../figures/x": INSIDE,
    "mine": INSIDE,
    "build/taken/below": rf"{CANNOT}.*taken/below.* \(Not a directory\)",
    "/proc/x": rf"{CANNOT}/proc/x",
}


@pytest.mark.parametrize("folder", REFUSED_FOLDERS)
def test_a_folder_that_must_not_or_cannot_be_written_is_refused_before_any_kernel(
    checkout: Path, folder: str
) -> None:
    (checkout / "figures").mkdir()
    (checkout / "link").symlink_to("figures")
    (checkout / "build").mkdir()
    (checkout / "build/taken").write_text("a file, not a folder")

    with pytest.raises(UsageError, match=REFUSED_FOLDERS[folder]):
        runner.tasks([catalogue.find("01_line")], {"users": 2}, checkout / folder)


def test_a_relative_path_counts_from_where_the_command_is_given(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    rewrite(path, "# a name", "# file; a name")
    catalogue.catalogue.cache_clear()
    line = catalogue.find("01_line")

    monkeypatch.chdir(checkout)
    (checkout / "people.csv").touch()
    absolute = str(checkout / "people.csv")

    for given, meant in {"people.csv": absolute, absolute: absolute, "": ""}.items():
        (task,) = runner.tasks([line], {"label": given}, None)
        assert task.parameters["label"] == meant

    with pytest.raises(UsageError, match=r"label must be a file, got label='?none\.csv"):
        runner.tasks([line], {"label": "none.csv"}, None)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize(
    ("number", "work"),
    [
        pytest.param(signal.SIGKILL, "numpy", marks=pytest.mark.nightly, id="killed"),
        pytest.param(signal.SIGINT, "idle", id="interrupted"),
    ],
)
def test_a_run_that_is_ended_leaves_everything_as_it_was_and_its_kernel_ends(
    checkout: Path, number: signal.Signals, work: str
) -> None:
    process, kernel = begun(checkout, work)
    before = files(checkout)

    process.send_signal(number)
    _, error = process.communicate(timeout=PATIENCE)

    end = time.monotonic() + PATIENCE
    while not gone(kernel):
        assert time.monotonic() < end, "the kernel goes on"
        time.sleep(0.05)

    assert files(checkout) == before
    if number == signal.SIGINT:
        kept = "what has finished is kept, everything else is as it was"
        assert process.returncode == 130
        assert error.strip() == f"ldpnb: interrupted; {kept}"


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux")
def test_kernels_are_forked_unless_the_variable_says_otherwise_or_nothing_can_be_forked(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_process: object) -> None:
        raise OSError("no more processes")

    variable = "JUPYTER_DEFAULT_PROVISIONER_NAME"
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    show = f"import os; print(open('/proc/self/cmdline').read(), os.environ['{variable}'])"
    path.write_text(notebook(PARAMETERS, show))
    process = multiprocessing.context.ForkServerProcess

    for provisioner, start, program in (
        ("local-provisioner", process.start, "ipykernel_launcher"),
        ("ldpnb-forked", refused, "ipykernel_launcher"),
        ("ldpnb-forked", process.start, "forkserver"),
    ):
        KernelProvisionerFactory.clear_instance()  # which has read the variable
        monkeypatch.setenv(variable, provisioner)
        monkeypatch.setattr(process, "start", start)

        assert run_one("01_line").error == ""
        assert re.search(f"{program}.*{provisioner}", path.read_text())


def test_all_that_is_imported_before_kernels_are_forked_can_be() -> None:
    """A forkserver says nothing of a module that has moved, and every kernel starts more slowly."""
    assert [name for name in kernels.PRELOADED if find_spec(name) is None] == []


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux")
def test_ports_are_chosen_once_the_imports_are_there(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the kernel opens its ports, another program may take them."""
    steps = []
    process = multiprocessing.context.ForkServerProcess
    start = process.start
    find_port = LocalPortCache.find_available_port

    def noted_start(*arguments):
        steps.append("imports")
        return start(*arguments)

    def noted_find_port(*arguments):
        steps.append("ports")
        return find_port(*arguments)

    monkeypatch.setattr(process, "start", noted_start)
    monkeypatch.setattr(LocalPortCache, "find_available_port", noted_find_port)

    assert run_one("01_line").error == ""
    assert "ports" in steps
    assert steps.index("imports") < steps.index("ports")


def test_what_changes_with_other_random_numbers_is_simulated(checkout: Path) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    drawn = "import numpy as np\nfloat(np.random.default_rng(users).random())"
    streamed = "from ldpnb.rng import stream\nfloat(stream('a', seed=users).random())"
    path.write_text(notebook(PARAMETERS, COMPUTE, drawn, "users", streamed))

    assert run_one("01_line").error == ""
    rewrite((checkout / FIGURE).with_suffix(".csv"), "1,0.5", "1,0.500005")
    assert simulated.parts(path) == simulated.Parts(frozenset({2, 4}), frozenset())


def test_a_check_runs_the_cells_and_names_a_number_that_differs_from_the_stored_one(
    checkout: Path, ldpnb
) -> None:
    assert run_one("01_line").error == ""

    numbers = (checkout / FIGURE).with_suffix(".csv")
    rewrite(numbers, "1,0.5", "1,0.500005")
    never_executed = checkout / "notebooks/1_demo/03_new.ipynb"
    never_executed.write_text(notebook(PARAMETERS))
    result = ldpnb("check", "01_line", "03_new", PYTEST_ADDOPTS="--nbval-lax --collect-only")

    assert result.returncode == 1
    assert 'figure_1.csv.iloc[:, 1] (column name="y") values are different' in result.stdout
    assert "nothing is stored for this cell, because it was not executed" in result.stdout
    assert "2 failed, 3 passed" in result.stdout
