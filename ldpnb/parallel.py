"""Run a function over many items with joblib, on this machine's cores or on a Dask cluster, and survive what happens to workers.

Results come as they finish, each with its item. A worker that dies, by its own task or by another's hand, costs no result: what it had in hand is
run again, and an item that kills its worker every time comes back as `Lost` while all others go on. A scheduler that is gone is a `PoolError`.
"""

import contextlib
import itertools
import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeVar

from ldpnb.catalogue import UsageError

BACKENDS = ("loky", "dask")

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECTING = 10
_DEATHS = 3
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


@contextlib.contextmanager
def pool(backend: str = "loky", jobs: int = 1, scheduler: str | None = None) -> Iterator[Pool]:
    """Open workers for `unordered` and close them.

    Parameters
    ----------
    backend : {"loky", "dask"}
        Processes of this machine, or a Dask cluster.
    jobs : int
        Worker processes on this machine; without effect on a cluster that is already there. One loky job runs in this process.
    scheduler : str, optional
        Address of an existing Dask scheduler; without it, `dask` starts a cluster of `jobs` processes on the loopback interface.

    Raises
    ------
    UsageError
        If the backend is unknown or not installed, the scheduler does not answer, or one is named for another backend than `dask`.
    """
    if backend not in BACKENDS:
        raise UsageError(f"backend must be one of {', '.join(BACKENDS)}, got backend={backend!r}")
    if scheduler and backend != "dask":
        raise UsageError(f"scheduler needs backend dask, got backend={backend!r}")
    if backend == "dask":
        with _client(jobs, scheduler) as client:
            yield Pool(_dask_backend()(client=client), jobs)
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1) if jobs == 1 else contextlib.nullcontext():
        yield Pool("loky", jobs)


@contextlib.contextmanager
def _client(jobs: int, scheduler: str | None) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise UsageError("backend dask needs dask.distributed; `pip install 'ldpnb[dask]'` brings it") from None
    # a worker that leaves is this module's business; the user hears of what could not be done
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        address: Any = scheduler
        if scheduler is None:
            local = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": logging.CRITICAL}
            address = stack.enter_context(LocalCluster(n_workers=jobs, threads_per_worker=1, **local))
        try:
            client = Client(address, timeout=_CONNECTING, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {scheduler} ({type(error).__name__})") from None
        yield stack.enter_context(client)


@cache
def _dask_backend() -> Any:
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        """joblib's Dask backend, which would wait for ever for a batch that Dask has given up (joblib 1.6)."""

        def submit(self, func: Any, callback: Any = None) -> Any:
            future = super().submit(func, callback)
            future.add_done_callback(partial(_give_back, func, callback))
            return future

        def effective_n_jobs(self, n_jobs: int) -> int:
            # joblib would run the items in this process if it saw a single worker
            return max(2, int(super().effective_n_jobs(n_jobs)))

    return Backend


def _give_back(batch: Any, callback: Callable[[Any], None], future: Future[Any]) -> None:
    """Answer for a batch whose workers died: of several items any may be the reason, so they are to go again one by one."""
    if future.exception() is not None:
        keys = [arguments[1] for _, arguments, _ in batch.items]
        callback([(key, Lost() if len(keys) == 1 else _AGAIN) for key in keys])


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
        Items per message to a worker; "auto" joins short ones to batches of about half a second.

    Yields
    ------
    (item, result)
        With `Lost` as the result of an item that killed its worker every time.

    Raises
    ------
    PoolError
        If the workers as a whole are gone, or the function raises.
    """
    waiting: Iterable[tuple[int, Item]] = enumerate(items)
    handed_out, deaths = dict[int, Item](), Counter[int]()

    def hand_out(source: Iterable[tuple[int, Item]]) -> Iterator[Any]:
        from joblib import delayed

        for key, item in source:
            handed_out[key] = item
            yield delayed(_keyed)(function, key, item)

    while True:
        with contextlib.suppress(BrokenProcessPool):
            for key, result in _results(hand_out(waiting), pool, batch_size):
                if result is not _AGAIN:
                    yield handed_out.pop(key), result
            if not handed_out:
                return
        deaths.update(handed_out)
        suspects, batch_size = list(handed_out.items()), 1
        handed_out.clear()
        for key, item in (s for s in suspects if deaths[s[0]] >= _DEATHS):
            yield item, _alone(hand_out([(key, item)]), pool)
            del handed_out[key]
        waiting = itertools.chain((s for s in suspects if deaths[s[0]] < _DEATHS), waiting)


def _alone(call: Iterator[Any], pool: Pool) -> Any:
    try:
        ((_, result),) = _results(call, pool, 1)
    except BrokenProcessPool:
        return Lost()
    return result


def _keyed(function: Callable[[Any], Any], key: int, item: Any) -> tuple[int, Any]:
    return key, function(item)


def _results(calls: Iterator[Any], pool: Pool, batch_size: int | str) -> Iterator[Any]:
    from joblib import Parallel, parallel_config

    threads = {"inner_max_num_threads": 1} if pool.backend == "loky" else {}
    with parallel_config(backend=pool.backend, n_jobs=pool.jobs, **threads):
        parallel = Parallel(return_as="generator_unordered", batch_size=batch_size)
    results = None
    try:
        results = parallel(calls)
        for result in results:  # noqa: UP028  # `yield from` would close joblib's generator before its warning is silenced
            yield result
    except BrokenProcessPool:
        raise
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        raise PoolError(f"the workers cannot go on: {type(error).__name__}: {first}") from error
    finally:
        if results is not None:
            with warnings.catch_warnings():  # joblib warns of results that an interrupted run leaves behind
                warnings.simplefilter("ignore", UserWarning)
                results.close()
