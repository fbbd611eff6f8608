"""Handing out work, on workers that are pretended: what is in hand, what comes back, and what a death costs."""

import itertools
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from ldpnb.checks import UsageError
from ldpnb.run.parallel import Lost, Pool, PoolError, interrupts_held_back, require_backend, unordered


class DiedError(Exception):
    """The worker died."""


class Workers:
    """A pool whose calls run at once; one that has a deadly item in hand dies, as often as that item kills."""

    def __init__(self, deadly: dict[int, int] | None = None) -> None:
        self.deadly, self.calls = Counter(deadly), []
        self.pool = Pool(self.submit, lambda: 4, DiedError)

    def submit(self, function: Callable[..., Any], called: Callable[..., Any], batch: list[int]) -> Future[Any]:
        self.calls.append(batch)
        done: Future[Any] = Future()
        fatal = [item for item in batch if self.deadly[item] > 0]
        self.deadly.subtract(fatal)
        if fatal:
            done.set_exception(DiedError())
        else:
            try:
                done.set_result(function(called, batch))
            except ArithmeticError as error:
                done.set_exception(error)
        return done


def square(item: int) -> int:
    return item * item


def test_every_item_comes_back_once_and_short_ones_travel_together() -> None:
    workers = Workers()
    assert sorted(unordered(square, range(1000), workers.pool)) == [(i, i * i) for i in range(1000)]
    assert len(workers.calls) < 100
    assert [len(batch) for batch in workers.calls[:4]] == [1] * 4
    workers = Workers()
    assert len(list(unordered(square, range(100), workers.pool, batched=False))) == len(workers.calls) == 100


def test_items_are_taken_as_workers_become_free() -> None:
    taken = itertools.count()
    results = unordered(square, taken, Workers().pool, batched=False)
    assert next(results) in [(i, i * i) for i in range(4)]
    assert next(taken) == 4


@pytest.mark.parametrize("times", [1, 2, 3, 9])
def test_a_death_costs_no_result_and_an_item_that_kills_every_time_is_lost(times: int) -> None:
    workers = Workers({500: times})
    results = dict(unordered(square, range(1000), workers.pool))
    assert results == {i: i * i for i in range(1000)} | ({500: Lost()} if times > 2 else {})
    assert times == 1 or workers.calls[-1] == [500]


def test_what_cannot_go_on_says_why() -> None:
    with pytest.raises(PoolError, match="the workers cannot go on: ZeroDivisionError: "):
        list(unordered(lambda item: 1 // item, range(3), Workers().pool))


def test_results_come_as_they_finish() -> None:
    gate: Future[None] = Future()
    with ThreadPoolExecutor(2) as threads:
        results = unordered(
            lambda item: item or gate.result(), range(20), Pool(threads.submit, lambda: 2), batched=False
        )
        assert [item for item, _ in itertools.islice(results, 19)] == list(range(1, 20))
        gate.set_result(None)
        assert list(results) == [(0, None)]


def ended(number: int, _frame: object) -> None:
    raise InterruptedError(number)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_ends_a_command_waits_until_a_worker_has_been_started(name: str, request: pytest.FixtureRequest) -> None:
    number = getattr(signal, name)
    request.addfinalizer(partial(signal.signal, number, signal.signal(number, ended)))
    started = []

    def start() -> None:
        with interrupts_held_back():
            signal.raise_signal(number)
            started.append("a worker")

    with pytest.raises(InterruptedError):
        start()
    assert started
    assert signal.getsignal(number) is ended


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes look after their parents")
def test_a_process_whose_parent_is_gone_before_it_asks_for_its_end_ends() -> None:
    code = "import os, ldpnb.run.orphans as o; o.die_with_parent(os.getppid() + {}); print('goes on')"
    said = [subprocess.run([sys.executable, "-c", code.format(n)], capture_output=True, check=False) for n in (0, 1)]
    assert [(one.returncode, one.stdout) for one in said] == [(0, b"goes on\n"), (1, b"")]


@pytest.mark.parametrize(("backend", "least"), [("loky", 40), ("dask", 112)])
def test_more_jobs_than_open_files_allow_are_refused(backend: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (least - 1, least))
    with pytest.raises(UsageError, match=f"open files must be at least {least} for 4 jobs, got {least - 1} "):
        require_backend(backend, None, 4)
    require_backend(backend, None, 1) if backend == "loky" else require_backend(backend, "tcp://127.0.0.1:1", 4)
