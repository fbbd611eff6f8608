"""Run a function over many items, on this machine's cores or on a Dask cluster, and survive the death of workers.

Both loky and Dask have the interface of `concurrent.futures`. Results come as they finish, each with its item. If a
worker dies, because of its task or for another reason, no result is lost: its items are run again, and an item that
kills its worker every time is returned as `Lost` while all others continue. The loss of the scheduler is a
`PoolError`.
"""

import contextlib
import itertools
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from ldpnb.checks import UsageError, needed_for
from ldpnb.run.orphans import die_with_parent

BACKENDS = ("loky", "dask")
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Environment of a process that shares its cores with others."""

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECTING, _STARTING, _IDLE = 10, 60, 300
_OPEN_FILES = {"loky": (32, 2), "dask": (64, 12)}
"""How many are needed at least, and for every process beside."""
_BATCH = 0.2


class PoolError(RuntimeError):
    """No worker can continue: scheduler or workers are gone, or cannot load the tasks."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The result of an item whose worker process died every time."""

    reason: str = "its worker process died every time (killed, or out of memory)"


@dataclass(frozen=True, slots=True)
class Pool:
    """Workers to run calls on.

    Parameters
    ----------
    submit : callable
        Hands a call to the workers and returns its future.
    window : callable
        Returns how many calls to have pending: two per worker, so that none waits for its next.
    died : exception
        What a call raises if its worker process died.
    remote : bool
        Whether the workers are reached through a scheduler.
    """

    submit: Callable[..., Future[Any]]
    window: Callable[[], int]
    died: type[Exception] = BrokenExecutor
    remote: bool = False


@contextlib.contextmanager
def pool(backend: str = "loky", jobs: int = 1, scheduler: str | None = None) -> Iterator[Pool]:
    """Open workers for `unordered` and close them.

    Parameters
    ----------
    backend : {"loky", "dask"}
        Processes of this machine, or a Dask cluster.
    jobs : int
        Worker processes on this machine; without effect on an existing cluster. One loky job runs in this process.
    scheduler : str, optional
        Address of an existing Dask scheduler; without it, `dask` starts a cluster of `jobs` processes on the loopback
        interface.

    Raises
    ------
    UsageError
        If the backend is unknown or not installed, the scheduler does not answer, or one is given for another backend
        than `dask`, or where too few files may be open.
    """
    require_backend(backend, scheduler, jobs)
    opened = _cluster(jobs, scheduler) if backend == "dask" else _processes(jobs) if jobs > 1 else _this_process()
    with opened as workers:
        yield workers


def require_backend(backend: str, scheduler: str | None, jobs: int) -> None:
    """Refuse an unknown backend, a scheduler for a backend other than `dask`, and more jobs than open files allow."""
    if backend not in BACKENDS:
        raise UsageError(f"backend must be one of {', '.join(BACKENDS)}, got backend={backend!r}")
    if scheduler and backend != "dask":
        raise UsageError(f"scheduler needs backend dask, got backend={backend!r}")
    if scheduler is None and (jobs > 1 or backend == "dask"):
        least, each = _OPEN_FILES[backend]
        require_files(least + each * jobs, f"{jobs} jobs")


def require_files(least: int, use: str) -> None:
    """Refuse what would need more open files than this process may have."""
    with contextlib.suppress(ImportError):  # Windows
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if 0 <= files < least:
            raise UsageError(f"open files must be at least {least} for {use}, got {files} (`ulimit -n`)")


@contextlib.contextmanager
def _this_process() -> Iterator[Pool]:
    from threadpoolctl import threadpool_limits

    def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(function(*arguments))
        except Exception as error:
            done.set_exception(error)
        return done

    with threadpool_limits(1):
        yield Pool(submit, lambda: 1)


@contextlib.contextmanager
def _processes(jobs: int) -> Iterator[Pool]:
    from loky import get_reusable_executor
    from loky.process_executor import TerminatedWorkerError

    ending = {"initializer": die_with_parent, "initargs": (os.getpid(),)}
    executor = partial(get_reusable_executor, jobs, timeout=_IDLE, env=ONE_THREAD, **ending)

    def submit(*call: Any) -> Future[Any]:
        with interrupts_held_back():  # workers are started here
            while True:
                with contextlib.suppress(BrokenExecutor):  # the next one is whole
                    return executor().submit(*call)

    try:
        yield Pool(submit, lambda: 2 * jobs, TerminatedWorkerError)
    finally:
        with interrupts_held_back():
            executor().shutdown(kill_workers=True)


@contextlib.contextmanager
def _cluster(jobs: int, scheduler: str | None) -> Iterator[Pool]:
    with needed_for("backend dask"):
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
        from distributed.scheduler import KilledWorker
    # a worker that leaves and the coroutines that an interrupt leaves behind are this module's business; the user hears
    # of what could not be done
    for name in ("distributed", "distributed.client", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(_local_cluster(jobs)) if scheduler is None else scheduler
        try:
            if scheduler is not None:
                parse_host_port(parse_address(scheduler)[1])
            with interrupts_held_back():
                client = stack.enter_context(Client(address, timeout=_CONNECTING, set_as_default=False))
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {scheduler} ({type(error).__name__})") from None
        if scheduler is None:
            client.register_plugin(_bound())

        def window() -> int:
            client.wait_for_workers(1, timeout=_STARTING)
            return 2 * int(sum(client.ncores().values()))

        yield Pool(lambda *call: _Remote(client.submit(*call, pure=False)), window, KilledWorker, remote=True)


def _bound() -> Any:
    """Return what lets a Dask worker end with the process that started it."""
    from distributed import WorkerPlugin

    class Bound(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            die_with_parent()

    return Bound()


class _Remote(Future[Any]):
    """A future of Dask's as one of `concurrent.futures`, whose result is fetched when it is asked for.

    Dask's own executor fetches it before, and leaves a future undone for ever if the scheduler goes meanwhile.
    """

    def __init__(self, there: Any) -> None:
        super().__init__()
        self._there = there
        there.add_done_callback(lambda _: self.set_result(None))

    def result(self, timeout: float | None = None) -> Any:
        super().result(timeout)
        return self._there.result()


@contextlib.contextmanager
def _local_cluster(jobs: int) -> Iterator[Any]:
    from distributed import LocalCluster

    class Cluster(LocalCluster):
        def _update_worker_status(self, op: str, msg: Any) -> None:
            with contextlib.suppress(KeyError):  # a worker that dies while it starts is unknown to it
                super()._update_worker_status(op, msg)

    with contextlib.ExitStack() as stack:
        with interrupts_held_back():
            cluster = Cluster(
                n_workers=jobs,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                # any free port; and a task that Dask tries again may kill a worker that is still starting, and leave it
                # dead for good
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "allowed_failures": 0},
            )
            stack.enter_context(cluster)
        try:
            yield cluster
        finally:
            # Dask starts a worker that died again, and cannot end it before it has
            with contextlib.suppress(TimeoutError):
                cluster.wait_for_workers(jobs, timeout=_CONNECTING)


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C and the ends that `endings.hear` takes for it back until the block is left.

    A process that is started while its parent is interrupted is known to nobody, who could end it, and one that is
    interrupted while it imports says so at length: those started in the block never hear Ctrl-C.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    late, heard_as_such = list[int](), dict[int, Any]()
    if threading.current_thread() is threading.main_thread():  # no other may
        ends = (number for number in (signal.SIGTERM, signal.SIGHUP) if callable(signal.getsignal(number)))
        heard_as_such = {number: signal.signal(number, lambda number, _: late.append(number)) for number in ends}
    resource_tracker.ensure_running()  # to start it lets Ctrl-C through again (Python 3.13)
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        for number, handler in heard_as_such.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        for number in late:
            signal.raise_signal(number)


def unordered(
    function: Callable[[Item], Result], items: Iterable[Item], pool: Pool, *, batched: bool = True
) -> Iterator[tuple[Item, Result | Lost]]:
    """Yield every item with the function's result, as they finish.

    Parameters
    ----------
    function : callable
        Importable by the workers; should not raise.
    items : iterable
        Taken as workers become free, so there may be more than fit into memory.
    pool : Pool
        From `pool`.
    batched : bool
        Whether short items may be batched, to a fifth of a second.

    Yields
    ------
    (item, result)
        With `Lost` as the result of an item that killed its worker every time.

    Raises
    ------
    PoolError
        If all workers are gone, or the function raises.

    Notes
    -----
    Items pending when a worker died are run again when all others are done, unbatched; those pending at another death
    are run one at a time, so that the item to blame is identified.
    """
    for share in (1.0, 0.5, 0.0):
        again: list[Item] = []
        for batch, results in _finished(function, items, pool, share, batched and share == 1):
            if results is None:
                again += batch
            else:
                yield from zip(batch, results, strict=True)
        if not again:
            return
        items = again
    yield from ((item, Lost()) for item in items)


def _finished(
    function: Callable[[Item], Result], items: Iterable[Item], pool: Pool, share: float, batched: bool
) -> Iterator[tuple[list[Item], list[Result] | None]]:
    """Yield batches with their results, or None if the worker died; a share of the window is pending."""
    waiting, size, running = iter(items), 1, dict[Future[Any], list[Item]]()
    try:
        limit = max(1, int(share * pool.window()))
        while True:
            while len(running) < limit and (batch := list(itertools.islice(waiting, size))):
                running[pool.submit(_called, function, batch)] = batch
            if not running:
                return
            done, _ = wait(running, _STARTING, FIRST_COMPLETED)
            for future in done:
                batch = running.pop(future)
                try:
                    results, seconds = future.result()
                except pool.died:
                    yield batch, None
                    continue
                yield batch, results
                if batched:
                    size = max(1, min(2 * len(batch), int(_BATCH * len(batch) / max(seconds, 1e-9))))
            if not done:
                pool.window()  # raises if no worker is left
    except Exception as error:
        raise PoolError(_reason(error, pool.remote)) from error


def _called(function: Callable[[Item], Result], batch: list[Item]) -> tuple[list[Result], float]:
    """Return the results of a batch and the time taken in seconds."""
    start = time.perf_counter()
    return [function(item) for item in batch], time.perf_counter() - start


def _reason(error: Exception, remote: bool) -> str:
    if remote and isinstance(error, TimeoutError):
        return f"the Dask cluster has had no worker for {_STARTING} s"
    if remote and isinstance(error, CancelledError | OSError):
        return "the connection to the Dask scheduler was lost"
    first = (str(error).strip().splitlines() or [""])[0]
    return f"the workers cannot go on: {type(error).__name__}: {first}"
