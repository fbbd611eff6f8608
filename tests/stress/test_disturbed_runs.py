"""Runs of notebooks while the disk fails, and runs that are killed at any moment.

Whatever happens, each file is the old one or the new one, and whole.
"""

import errno
import itertools
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from demonstration import COMPUTE, PARAMETERS, WORK, begun, gone, notebook

from ldpnb.run import catalogue, runner

pytestmark = pytest.mark.nightly

SEED = int(os.environ.get("LDPNB_SEED") or random.SystemRandom().randrange(2**32))
SHORT = 5
"""Seconds within which a kernel must be gone."""


def files(folder: Path) -> dict[str, bytes]:
    """All committed files of a checkout."""
    paths = [*folder.glob("notebooks/**/*"), *folder.glob("figures/**/*")]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()
    }


LINE = "notebooks/1_demo/01_line.ipynb"


def write_line(checkout: Path, slope: float) -> None:
    """Write the notebook as an author leaves it, not executed."""
    (checkout / "notebooks/1_demo/02_broken.ipynb").unlink(missing_ok=True)
    code = COMPUTE.replace("factor * i", f"{slope} * i")
    (checkout / LINE).write_text(notebook(PARAMETERS, code))


def write_files(checkout: Path, contents: dict[str, bytes]) -> None:
    for name, content in contents.items():
        (checkout / name).write_bytes(content)


def execute() -> runner.Outcome:
    catalogue.catalogue.cache_clear()
    (task,) = runner.tasks([catalogue.find("01_line")], {}, None)
    return runner.execute(task)


def whole(left: dict[str, bytes], *versions: dict[str, bytes]) -> bool:
    """Whether every file is that of some version."""
    for name, content in left.items():
        if content not in [version.get(name) for version in versions]:
            return False

    return True


@pytest.fixture
def versions(checkout: Path) -> list[dict[str, bytes]]:
    """The files before and after a run of a notebook that was edited.

    Before the run, they have the results of the earlier text; so the checkout is left.
    """
    write_line(checkout, 2.0)
    assert execute().error == ""
    before = files(checkout)

    write_line(checkout, 3.0)
    edited = (checkout / LINE).read_bytes()
    assert execute().error == ""
    after = files(checkout)

    before[LINE] = edited
    write_files(checkout, before)
    return [before, after]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO], ids=errno.errorcode.get)
def test_where_the_disk_fails_each_file_is_old_or_new(
    call: str, number: int, checkout: Path, versions: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(os, call)
    before, after = versions

    def failing_after(calls: int) -> Callable[..., object]:
        """The system's call, which fails once so many calls have succeeded."""
        made = itertools.count()

        def maybe_fail(*arguments: object) -> object:
            if next(made) == calls:
                raise OSError(number, os.strerror(number))
            return real(*arguments)

        return maybe_fail

    # One call for the notebook and one for each of the three files of its figure.
    for calls in range(4):
        write_files(checkout, before)
        monkeypatch.setattr(os, call, failing_after(calls))
        assert execute().error == f"1_demo/01_line: {os.strerror(number)}"
        assert whole(files(checkout), before, after)

    monkeypatch.setattr(os, call, real)
    assert execute().error == ""
    assert files(checkout) == after


def test_a_run_killed_at_any_moment_leaves_old_or_new_and_the_next_one_ends_it(
    checkout: Path, versions: list
) -> None:
    print("LDPNB_SEED =", SEED)
    chance = random.Random(SEED)
    before, after = versions

    start = time.perf_counter()
    assert execute().error == ""
    longest = 4 + 2 * (time.perf_counter() - start)

    command = [sys.executable, "-m", "ldpnb", "run", "-j", "1"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for _ in range(20):
        write_files(checkout, before)
        process = subprocess.Popen(command, start_new_session=True, **streams)
        try:
            process.wait(chance.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))

        process.communicate()
        left = files(checkout)
        visible = {name: left[name] for name in left if not Path(name).name.startswith(".")}
        assert whole(visible, before, after)

        assert execute().error == ""
        assert files(checkout).items() >= after.items()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize("work", WORK)
def test_a_kernel_whose_runner_is_killed_ends_by_itself(work: str, checkout: Path) -> None:
    seconds = []
    for _ in range(20):
        process, kernel = begun(checkout, work)
        process.kill()

        start = time.perf_counter()
        while not gone(kernel):
            assert time.perf_counter() - start < SHORT, "the kernel goes on"
            time.sleep(0.005)

        seconds.append(time.perf_counter() - start)
        process.communicate()

    middle = statistics.median(seconds)
    print(f"{work}: 20 kernels ended, in {middle:.3f} s, at most {max(seconds):.3f} s")
