"""Run a function over many items with joblib, on this machine's cores or on a Dask cluster, and survive what happens to
workers.

Results come as they finish, each with its item. A worker that dies, by its own task or by another's hand, costs no
result: what it had in hand is run again, and an item that kills its worker every time comes back as `Lost` while all
others go on. A scheduler that is gone is a `PoolError`.
"""

import contextlib
import itertools
import logging
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from functools import cache
from multiprocessing import resource_tracker
from typing import Any, TypeVar, cast

from ldpnb.checks import UsageError

BACKENDS = ("loky", "dask")

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECTING, _STARTING = 10, 60
_AGAIN = object()


class PoolError(RuntimeError):
    """The workers as a whole cannot go on: the scheduler is gone, there are no workers, or they cannot load the tasks."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What comes back for an item whose worker process died every time."""

    reason: str = "its worker process died every time (killed, or out of memory)"


@dataclass(frozen=True, slots=True)
class Pool:
    """Where to run: joblib's backend and how many items at a time."""

    backend: Any
    jobs: int
    deaths: int = 2
    """How many deaths of workers an item may be near before it goes alone to see whether it is the reason."""


@contextlib.contextmanager
def pool(backend: str = "loky", jobs: int = 1, scheduler: str | None = None) -> Iterator[Pool]:
    """Open workers for `unordered` and close them.

    Parameters
    ----------
    backend : {"loky", "dask"}
        Processes of this machine, or a Dask cluster.
    jobs : int
        Worker processes on this machine; without effect on a cluster that is already there. One loky job runs in this
        process.
    scheduler : str, optional
        Address of an existing Dask scheduler; without it, `dask` starts a cluster of `jobs` processes on the loopback
        interface.

    Raises
    ------
    UsageError
        If the backend is unknown or not installed, the scheduler does not answer, or one is named for another backend
        than `dask`.
    """
    if backend not in BACKENDS:
        raise UsageError(f"backend must be one of {', '.join(BACKENDS)}, got backend={backend!r}")
    if scheduler and backend != "dask":
        raise UsageError(f"scheduler needs backend dask, got backend={backend!r}")
    if backend == "dask":
        with _client(jobs, scheduler) as client:
            yield Pool(_dask_backend()(client=client), jobs, deaths=1)  # others' clusters have tried several times
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1) if jobs == 1 else contextlib.nullcontext():
        yield Pool("loky", jobs)


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the block is left; the processes that are started in it never hear it.

    A process that is interrupted while its parent starts it is known to nobody, who could end it, and one that is
    interrupted while it imports says so at length.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # to start it lets Ctrl-C through again (Python 3.13)
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)


@contextlib.contextmanager
def _client(jobs: int, scheduler: str | None) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError:
        raise UsageError("backend dask needs dask.distributed; `pip install 'ldpnb[dask]'` brings it") from None
    # a worker that leaves is this module's business; the user hears of what could not be done
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        address: Any = scheduler
        if scheduler is None:
            with interrupts_held_back():
                cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                    # any free port; and a task that Dask tries again may kill a worker that is still starting, and leave it dead for good
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "allowed_failures": 0},
                )
                address = stack.enter_context(cluster)
        try:
            if scheduler is not None:
                parse_host_port(parse_address(scheduler)[1])
            client = Client(address, timeout=_CONNECTING, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {scheduler} ({type(error).__name__})") from None
        yield stack.enter_context(client)


@cache
def _dask_backend() -> Any:
    from distributed.scheduler import KilledWorker
    from joblib.parallel import AutoBatchingMixin, ParallelBackendBase, SequentialBackend

    class Backend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
        """Dask under joblib. joblib's own waits for ever for a batch that Dask gave up, and opens a client in every
        worker (1.6).
        """

        MIN_IDEAL_BATCH_DURATION, MAX_IDEAL_BATCH_DURATION = 1.0, 4.0
        supports_retrieve_callback = True

        def __init__(self, client: Any) -> None:
            super().__init__(nesting_level=0)
            self.client = client

        def effective_n_jobs(self, _n_jobs: int) -> int:
            self.client.wait_for_workers(1, timeout=_STARTING)
            # joblib would run the items in this process if it heard of a single worker
            return max(2, int(sum(self.client.ncores().values())))

        def submit(self, func: Any, callback: Any = None) -> Any:
            future = self.client.submit(func, pure=False)
            keys = [arguments[1] for _, arguments, _ in func.items]
            future.add_done_callback(lambda done: callback((done, keys)))
            return future

        def retrieve_result_callback(self, out: tuple[Any, list[int]]) -> list[Any]:
            future, keys = out
            try:
                return list(future.result())
            except KilledWorker:
                return [(key, _AGAIN) for key in keys]

        def get_nested_backend(self) -> tuple[Any, int]:
            return SequentialBackend(nesting_level=1), 1

    return Backend


def unordered(
    function: Callable[[Item], Result], items: Iterable[Item], pool: Pool, *, batch_size: int | str = "auto"
) -> Iterator[tuple[Item, Result | Lost]]:
    """Yield every item with the function's result, as they finish.

    Parameters
    ----------
    function : callable
        Can be imported by the workers; should not raise.
    items : iterable
        Taken as workers become free, so there may be more than fit in memory.
    pool : Pool
        From `pool`.
    batch_size : int or "auto"
        Items per message to a worker; "auto" joins short ones to batches of about a second.

    Yields
    ------
    (item, result)
        With `Lost` as the result of an item that killed its worker every time.

    Raises
    ------
    PoolError
        If the workers as a whole are gone, or the function raises.

    Notes
    -----
    On a cluster, what a dead worker had in hand is run again when all other items are done.
    """
    waiting: Iterable[tuple[int, Item]] = enumerate(items)
    handed_out, deaths = dict[int, Item](), Counter[int]()

    def hand_out(source: Iterable[tuple[int, Item]]) -> Iterator[Any]:
        from joblib import delayed

        for key, item in source:
            handed_out[key] = item
            yield delayed(_keyed)(function, key, item)

    while True:
        with contextlib.suppress(BrokenExecutor):
            for key, result in _results(hand_out(waiting), pool, batch_size):
                if result is not _AGAIN:
                    yield handed_out.pop(key), result
            if not handed_out:
                return
        deaths.update(list(handed_out))
        suspects, batch_size = dict(handed_out), 1
        handed_out.clear()
        for key in [key for key in suspects if deaths[key] >= pool.deaths]:
            item = suspects.pop(key)
            yield item, _alone(function, item, pool)
        waiting = itertools.chain(suspects.items(), waiting)


def _alone(function: Callable[[Item], Result], item: Item, pool: Pool) -> Result | Lost:
    from joblib import delayed

    with contextlib.suppress(BrokenExecutor):
        for _, result in _results(iter([delayed(_keyed)(function, 0, item)]), pool, 1):
            if result is not _AGAIN:
                return cast(Result, result)
    return Lost()


def _keyed(function: Callable[[Any], Any], key: int, item: Any) -> tuple[int, Any]:
    return key, function(item)


def _results(calls: Iterator[Any], pool: Pool, batch_size: int | str) -> Iterator[Any]:
    from joblib import Parallel, parallel_config

    threads = {"inner_max_num_threads": 1} if pool.backend == "loky" else {}
    with parallel_config(backend=pool.backend, n_jobs=pool.jobs, **threads):
        parallel = Parallel(return_as="generator_unordered", batch_size=batch_size)
    results = None
    try:
        with interrupts_held_back():  # here the first items are handed out, and with them the workers are started
            results = parallel(calls)
        for result in results:  # noqa: UP028  # `yield from` would close joblib's generator before its warning is silenced
            yield result
    except BrokenExecutor:
        raise
    except Exception as error:
        if isinstance(error, TimeoutError):
            raise PoolError(f"the Dask cluster has had no worker for {_STARTING} s") from error
        if pool.backend != "loky" and isinstance(error, CancelledError | OSError):
            raise PoolError("the connection to the Dask scheduler was lost") from error
        first = (str(error).strip().splitlines() or [""])[0]
        raise PoolError(f"the workers cannot go on: {type(error).__name__}: {first}") from error
    finally:
        if results is not None:
            with interrupts_held_back(), warnings.catch_warnings():
                # joblib warns of results that an interrupted run leaves behind
                warnings.simplefilter("ignore", UserWarning)
                results.close()
