"""What can go wrong while results are written: afterwards each file is the old or the new one, whole, and the next run
repairs the rest.
"""

import errno
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from ldpnb import writing
from ldpnb.checks import UsageError
from ldpnb.run import catalogue, execution
from ldpnb.sweeps import folder as folders

LINE = "1_demo/01_line"
STEPS = ("open", "mkdir", "write", "fsync", "replace")


def snapshot(folder: Path) -> dict[str, bytes]:
    """All results under a checkout, and whatever else lies among them."""
    rooms = [folder / room for room in ("notebooks", "figures", "build/state", "build/work")]
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for r in rooms for p in sorted(r.rglob("*")) if p.is_file()
    }


def pretend(version: str) -> Callable[[execution.Task, Path, Path], None]:
    """A run without a kernel, whose results tell the version that left them."""

    def run(task: execution.Task, executed: Path, figures: Path) -> None:
        content = json.loads(task.notebook.path.read_text(encoding="utf-8"))
        said = {"output_type": "stream", "name": "stdout", "text": [version]}
        code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(code, 1):
            cell |= {"execution_count": number, "outputs": [said]}
        executed.write_text(json.dumps(content))
        (figures / LINE).mkdir(parents=True)
        for suffix in (".png", ".pdf", ".csv", ".json"):
            (figures / LINE / f"figure_1{suffix}").write_text(20_000 * version)

    return run


def up_to_date() -> bool:
    catalogue.catalogue.cache_clear()
    return execution.up_to_date(catalogue.find("01_line"))


def restore(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.fixture
def execute(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], execution.Outcome]:
    """Run the notebook, as far as its results go, by some version of the code."""

    def run(version: str) -> execution.Outcome:
        monkeypatch.setattr(execution, "_papermill", pretend(version))
        catalogue.catalogue.cache_clear()
        (task,) = execution.plan([catalogue.find("01_line")], {}, None)
        return execution.execute(task)

    return run


@pytest.fixture
def old(checkout: Path, execute: Callable) -> dict[str, bytes]:
    """The results of a first run."""
    assert execute("old").error == ""
    return snapshot(checkout)


@pytest.fixture
def new(checkout: Path, old: dict[str, bytes], execute: Callable) -> dict[str, bytes]:
    """The results of a second run, before which all is as the first one left it."""
    assert execute("new").error == ""
    made = snapshot(checkout)
    restore(checkout, old)
    assert up_to_date()
    return made


def same_run(files: dict[str, bytes]) -> dict[str, bytes]:
    """Results without the state, which tells the time."""
    return {name: content for name, content in files.items() if not name.startswith("build/state")}


class Faulty:
    """The module os, of which one call fails."""

    def __init__(self, failing: int, number: int, error: type[BaseException] = OSError) -> None:
        self.left, self.error = failing, error(number, os.strerror(number))

    def __getattr__(self, name: str) -> Any:
        function = getattr(os, name)
        if name not in STEPS:
            return function

        def call(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise self.error
            return function(*arguments, **options)

        return call


FULL = "no space left on the disk"


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.ENOSPC, FULL), (errno.EROFS, "Read-only file system"), (errno.EIO, "Input/output error")],
)
def test_a_failing_disk_leaves_old_or_new_at_every_step(
    number: int, reason: str, checkout: Path, old: dict, new: dict, execute: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = 0
    for failing in count(1) if reason == FULL else (3, 9, 15, 99):
        with monkeypatch.context() as patch:
            patch.setattr(writing, "os", Faulty(failing, number))
            outcome = execute("new")
        left = snapshot(checkout)
        if not outcome.error:
            break
        failed += 1
        assert outcome.error == f"{LINE}: cannot write its results: {reason}"
        assert left.keys() == old.keys()
        changed = [name for name in old if left[name] != old[name]]
        assert all(left[name] == new[name] for name in changed)
        assert up_to_date() == (not changed)
        restore(checkout, old)
    assert failed >= (18 if reason == FULL else 3)
    assert same_run(left) == same_run(new)
    assert up_to_date()


def test_a_failed_run_on_a_full_disk_leaves_no_torn_report(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(task: execution.Task, executed: Path, figures: Path) -> None:
        executed.write_text("half of it")
        raise execution.RunError("cell 2 raised ZeroDivisionError: division by zero")

    before = snapshot(checkout)
    monkeypatch.setattr(execution, "_papermill", broken)
    monkeypatch.setattr(writing, "os", Faulty(4, errno.ENOSPC))
    line = catalogue.find("01_line")
    outcome = execution.execute(execution.Task(line, {}, line.path, checkout))
    assert outcome.error == f"{LINE}: cannot write its results: {FULL}"
    assert snapshot(checkout) == before


KILLED = """
import json, os, signal, sys
from itertools import count
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_faults import STEPS, pretend, restore, same_run, snapshot
from ldpnb import writing
from ldpnb.run import catalogue, execution

def die_at(left):
    def wrapped(function):
        def call(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)
        return call
    for step in (*STEPS, "unlink", "rmdir"):
        setattr(os, step, wrapped(getattr(os, step)))

home = Path(sys.argv[1])
(task,) = execution.plan([catalogue.find("01_line")], {}, None)
stale = task.figures / "1_demo/01_line/figure_0.png"
execution._papermill = pretend("old")
assert not execution.execute(task).error
old = snapshot(home) | {"figures/1_demo/01_line/figure_0.png": b"stale"}
execution._papermill = pretend("new")
assert not execution.execute(task).error
new, killed = snapshot(home), 0
for moment in count(1):
    restore(home, old)
    child = os.fork()
    if child == 0:
        die_at([moment])
        os._exit(1 if execution.execute(task).error else 0)
    status = os.waitpid(child, 0)[1]
    left = {n: c for n, c in snapshot(home).items() if not n.endswith(".partial") and "build/work" not in n}
    for name, content in left.items():
        assert content in (old.get(name), new.get(name)) or name.startswith("build/state"), (moment, name)
    assert set(new) <= set(left) <= set(old), (moment, status, set(left) ^ set(old))
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL, (moment, status)
    killed += 1
    (task,) = execution.plan([task.notebook], {}, None)
    tidy = snapshot(home)
    assert not [n for n in tidy if "partial" in n or "build/work" in n], moment
    assert not execution.up_to_date(task.notebook) or same_run(tidy) == same_run(new), moment
    assert not execution.execute(task).error and execution.up_to_date(task.notebook), moment
    assert {n for n in snapshot(home)} == set(new), moment
print(killed)
"""


def test_a_kill_at_every_step_leaves_old_or_new_and_the_next_run_repairs(checkout: Path) -> None:
    folders = [str(folder) for folder in (checkout, Path(__file__).parents[1], Path(__file__).parent)]
    command = [sys.executable, "-W", "error", "-c", KILLED, *folders]
    result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) >= 30


ENDLESS = """
import sys
from itertools import cycle
from pathlib import Path
from ldpnb import writing
folder = Path(sys.argv[1])
print("ready", flush=True)
for letter in cycle(b"ab"):
    writing.write({folder / name: 300_000 * bytes([letter]) for name in ("one", "other")}, durable=False)
"""


def test_a_kill_at_any_moment_leaves_whole_files(tmp_path: Path) -> None:
    moments = random.Random("moments of death")
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0, 0.05))
        process.kill()
        process.communicate()
        for path in tmp_path.iterdir():
            if not path.name.endswith(".partial"):
                content = path.read_bytes()
                assert (len(content), len(set(content))) == (300_000, 1)
    writing.discard_leftovers(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "other"]


def test_leftovers_are_removed_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    def slowly() -> Iterator[bytes]:
        yield b"first"
        writing.discard_leftovers(tmp_path)
        yield b"second"

    for name in (f".{16 * 'a'}.partial", f".{16 * 'b'}.partial/inside"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    for name in (".mine.partial", "aaaaaaaaaaaaaaaa.partial", "thesis"):
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / f".{16 * 'c'}.partial")
    writing.write({tmp_path / "whole": slowly()})
    with writing.scratch(tmp_path) as folder:
        writing.discard_leftovers(tmp_path)
        assert folder.is_dir()
    assert (tmp_path / "whole").read_bytes() == b"firstsecond"
    assert {p.name for p in tmp_path.iterdir()} == {".mine.partial", "aaaaaaaaaaaaaaaa.partial", "thesis", "whole"}


def test_a_writer_whose_file_passed_for_a_leftover_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, calls = writing._lock, []

    def late(descriptor: int, *, wait: bool) -> bool:
        calls.append(wait)
        if len(calls) == 1:
            writing.discard_leftovers(tmp_path)
        return lock(descriptor, wait=wait)

    monkeypatch.setattr(writing, "_lock", late)
    writing.write({tmp_path / "whole": b"all"})
    assert calls == [True, False, True]
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("whole", b"all")]


def test_of_two_runs_at_once_one_wins_whole(checkout: Path, old: dict[str, bytes]) -> None:
    (task,) = execution.plan([catalogue.find("01_line")], {}, None)
    start = threading.Barrier(2)

    def install(version: str, turn: int) -> None:
        work = checkout / f"build/{version}{turn}"
        (work / "figures").mkdir(parents=True)
        pretend(version)(task, work / "executed.ipynb", work / "figures")
        start.wait()
        execution._install(task, work / "executed.ipynb", work / "figures")

    for turn in range(8):
        with ThreadPoolExecutor(2) as both:
            list(both.map(install, ("one", "two"), (turn, turn)))
        left = same_run(snapshot(checkout))
        assert left.keys() == same_run(old).keys()
        results = [content for name, content in left.items() if LINE in name]
        assert len(results) == 5
        assert all(b"one" in content for content in results) != all(b"two" in content for content in results)


STATES = {
    "truncated": lambda good: good[: len(good) // 2],
    "empty": lambda _: b"",
    "rubbish": lambda _: bytes(range(256)),
    "a list": lambda _: b"[]",
    "null": lambda _: b"null",
    "a number": lambda _: b"7",
    "deep": lambda _: b"[" * 100_000,
    "other types": lambda _: b'{"from": 1, "results": [2]}',
    "of another notebook": lambda good: good.replace(b'"from": "', b'"from": "0'),
    "of other results": lambda good: good.replace(b'"results": "', b'"results": "0'),
}


FIGURES = {
    "truncated": lambda good: good[:1000],
    "empty": lambda _: b"",
    "rubbish": lambda _: bytes(range(256)),
    "missing": lambda _: None,
}
DAMAGED = [(f"build/state/{LINE}.json", STATES, fault) for fault in STATES]
DAMAGED += [(f"figures/{LINE}/figure_1{s}", FIGURES, f) for s in (".png", ".pdf", ".csv", ".json") for f in FIGURES]


@pytest.mark.parametrize(("name", "faults", "fault"), DAMAGED)
def test_a_damaged_state_or_figure_is_noticed_and_only_costs_another_run(
    checkout: Path, old: dict[str, bytes], execute: Callable, name: str, faults: dict[str, Callable], fault: str
) -> None:
    path = checkout / name
    content = faults[fault](path.read_bytes())
    path.unlink() if content is None else path.write_bytes(content)
    assert not up_to_date()
    assert execute("old").error == ""
    assert same_run(snapshot(checkout)) == same_run(old)
    assert up_to_date()


def test_a_damaged_kernel_profile_is_written_anew(checkout: Path) -> None:
    execution.kernel_environment(None)
    config = checkout / "build/ipython/profile_default/ipython_kernel_config.py"
    good = config.read_bytes()
    for bad in (good[:50], b"", b"raise SystemExit"):
        config.write_bytes(bad)
        execution.kernel_environment(None)
        assert config.read_bytes() == good


def test_leftovers_of_killed_runs_disappear_without_another_run(checkout: Path, old: dict[str, bytes]) -> None:
    for place in (f"figures/{LINE}", "figures", "notebooks/1_demo", "build/state/1_demo", "build/work"):
        (checkout / place / f".{16 * '0'}.partial").write_bytes(b"half of it")
    execution.plan([catalogue.find("01_line")], {}, None)
    assert snapshot(checkout) == old
    assert up_to_date()


def test_clocks_do_not_matter(
    checkout: Path, old: dict[str, bytes], execute: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for moment in (0, 1, 4102444800):
        for name in old:
            os.utime(checkout / name, (moment, moment))
        assert up_to_date()
    path = checkout / f"notebooks/{LINE}.ipynb"
    path.write_text(path.read_text().replace("factor * i", "factor + i"))
    os.utime(path, (0, 0))
    assert not up_to_date()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert execute("old").error == ""
    assert up_to_date()


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + bytes(20) + b"PAR2", b"PAR1" + b"\xff" * 20 + b"PAR1", bytes(99)]
)
def test_a_result_of_a_sweep_counts_when_whole_and_is_named_when_damaged_inside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tasks/ab/ab.parquet"
    writing.write({path: content, tmp_path / "manifest.json": b'{"experiment": "gaps", "grid": {"n": [1]}}'})
    assert folders.finished(tmp_path) == set()
    path.write_bytes(b"PAR1" + bytes(40) + (20).to_bytes(4, "little") + b"PAR1")
    assert folders.finished(tmp_path) == {"ab"}
    with pytest.raises(UsageError, match=r"holds damaged results; delete .*ab\.parquet and sweep again"):
        folders.collect(tmp_path)


@pytest.mark.parametrize("failing", [1, 2])
def test_a_site_that_cannot_be_put_into_place_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    from ldpnb.site import builder

    monkeypatch.setattr(builder, "files", lambda _: iter([("static/site.css", ""), ("index.html", version)]))
    monkeypatch.setattr(builder.links, "problems", lambda _: [])
    version = "old"
    builder.build(tmp_path / "site")
    version, replace, left = "new", os.replace, [failing]

    def interrupted(*arguments: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        replace(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(builder.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            builder.build(tmp_path / "site")
    assert (tmp_path / "site/index.html").read_text() == "old"
    (tmp_path / f".{16 * '0'}.partial").mkdir()
    builder.build(tmp_path / "site")
    assert (tmp_path / "site/index.html").read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_an_interrupt_while_results_are_written_leaves_old_or_new(
    checkout: Path, old: dict, new: dict, execute: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for failing in range(2, 40, 6):
        steps, interrupted = Faulty(failing, 0, KeyboardInterrupt), False
        with monkeypatch.context() as patch:
            patch.setattr(writing, "os", steps)
            try:
                execute("new")
            except KeyboardInterrupt:
                interrupted = True
        left = snapshot(checkout)
        assert left.keys() == old.keys()
        assert interrupted == (steps.left <= 0)
        assert all(left[name] in (old[name], new[name]) or name.startswith("build/state") for name in old)
        restore(checkout, old)
