"""Runs of notebooks while the disk fills, and while they are killed at any moment: each file is
old or new, and whole.
"""

import errno
import os
import random
import signal
import statistics
import subprocess
import sys
import time
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
    rooms = [folder / room for room in ("notebooks", "figures")]
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for r in rooms
        for p in r.rglob("*")
        if p.is_file()
    }


def write_line(checkout: Path, slope: float) -> None:
    """Write the notebook as an author leaves it, not executed."""
    (checkout / "notebooks/1_demo/02_broken.ipynb").unlink(missing_ok=True)
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    path.write_text(notebook(PARAMETERS, COMPUTE.replace("factor * i", f"{slope} * i")))


def execute() -> runner.Outcome:
    catalogue.catalogue.cache_clear()
    (task,) = runner.tasks([catalogue.find("01_line")], {}, None)
    return runner.execute(task)


def whole(left: dict[str, bytes], *versions: dict[str, bytes]) -> bool:
    """Whether every file is the one of some version."""
    return all(
        any(version.get(name) == content for version in versions) for name, content in left.items()
    )


@pytest.fixture
def versions(checkout: Path) -> list[dict[str, bytes]]:
    """Results of two versions of a notebook, the second not yet executed there."""
    made = []
    for slope in (2.0, 3.0):
        write_line(checkout, slope)
        assert execute().error == ""
        made.append(files(checkout))

    for name, content in made[0].items():
        (checkout / name).write_bytes(content)

    write_line(checkout, 3.0)
    return [
        made[0]
        | {"notebooks/1_demo/01_line.ipynb": files(checkout)["notebooks/1_demo/01_line.ipynb"]},
        made[1],
    ]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO], ids=errno.errorcode.get)
def test_where_the_disk_fails_each_file_is_old_or_new(
    call: str, number: int, checkout: Path, versions: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failed = getattr(os, call), 0
    while True:
        left = [failed]

        def failing(*arguments: object, left: list[int] = left) -> object:
            left[0] -= 1
            if left[0] == -1:
                raise OSError(number, os.strerror(number))
            return real(*arguments)

        monkeypatch.setattr(os, call, failing)
        outcome = execute()
        monkeypatch.setattr(os, call, real)
        if not outcome.error:
            break
        failed += 1
        assert outcome.error == f"1_demo/01_line: {os.strerror(number)}"
        assert whole(files(checkout), *versions)

    assert failed == 4  # the notebook and three files of its figure
    assert files(checkout) == versions[1]


def test_a_run_killed_at_any_moment_leaves_old_or_new_and_the_next_one_ends_it(
    checkout: Path, versions: list
) -> None:
    print("LDPNB_SEED =", SEED)
    chance, command = random.Random(SEED), [sys.executable, "-m", "ldpnb", "run", "-j", "1"]
    start = time.perf_counter()

    assert execute().error == ""

    longest = 4 + 2 * (time.perf_counter() - start)
    for _ in range(20):
        for name, content in versions[0].items():
            (checkout / name).write_bytes(content)

        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            process.wait(chance.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))

        process.communicate()
        left = {
            name: content
            for name, content in files(checkout).items()
            if not Path(name).name.startswith(".")
        }

        assert whole(left, *versions)
        assert execute().error == ""
        assert files(checkout).items() >= versions[1].items()


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

    print(
        f"{work}: {len(seconds)} of 20 ended, in {statistics.median(seconds):.3f} s, at most {max(seconds):.3f} s"
    )

    assert len(seconds) == 20
