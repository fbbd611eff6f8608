"""Put draws from a tape in place of every source of randomness, and put the real ones back."""

import contextlib
import functools
import gc
import os
import pickle
import random
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ldpnb.audit.draws import NumpyDraws, PythonDraws
from ldpnb.audit.tape import AuditError, Left, Tape

_one_at_a_time = threading.Lock()

StandIn = tuple[Any, str, Callable[..., Any]]
"""What is replaced: its owner, its name there, and what stands in for it."""


@contextlib.contextmanager
def replaced(tape: Tape, patience: float) -> Iterator[NumpyDraws]:
    """Let this thread draw from a tape; other threads keep the real sources.

    Parameters
    ----------
    tape : Tape
        What is drawn from.
    patience : float
        Seconds without a draw after which the client is stopped.

    Yields
    ------
    NumpyDraws
        A Generator on the tape.

    Raises
    ------
    AuditError
        If another audit runs in this process, or if a real generator was drawn from.
    """
    if not _one_at_a_time.acquire(blocking=False):
        raise AuditError("another audit is running in this process; wait until it has ended")

    originals: list[tuple[Any, str, Any]] = []
    try:
        before = _states()
        generator = NumpyDraws(tape)
        try:
            with _watched(tape, patience):
                for owner, name, stand_in in _stand_ins(tape, generator):
                    original = vars(owner)[name]
                    originals.append((owner, name, original))
                    setattr(owner, name, _for_this_thread(stand_in, original))
                yield generator
        except Left:
            raise AuditError(_drawn_elsewhere(before) or tape.refusal) from None
        except AuditError as error:
            raise AuditError(_drawn_elsewhere(before) or str(error)) from error.__cause__
        if _drawn_elsewhere(before):
            raise AuditError(_drawn_elsewhere(before))
    finally:
        for owner, name, original in reversed(originals):
            setattr(owner, name, original)
        _one_at_a_time.release()


@contextlib.contextmanager
def _watched(tape: Tape, patience: float) -> Iterator[None]:
    """Stop a client that neither draws nor returns for a while.

    Only the main thread of a system with alarms can be stopped; elsewhere nothing is watched.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and hasattr(signal, "setitimer")):
        yield
        return

    seen = (tape.runs, tape.steps)
    quiet = 0

    def look(*_: Any) -> None:
        nonlocal seen, quiet
        now = (tape.runs, tape.steps)
        quiet = quiet + 1 if now == seen else 0
        seen = now
        if quiet == 2:
            tape.refuse(
                f"ran for {patience:g} s without making a random choice or returning; if it does "
                "not loop forever, raise patience"
            )

    earlier = signal.signal(signal.SIGALRM, look)
    started = time.monotonic()
    remaining, repeated = signal.setitimer(signal.ITIMER_REAL, patience / 2, patience / 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
        if remaining:  # somebody else's alarm, such as that of a test runner
            passed = time.monotonic() - started
            signal.setitimer(signal.ITIMER_REAL, max(remaining - passed, 1e-3), repeated)


def _stand_ins(tape: Tape, generator: NumpyDraws) -> list[StandIn]:
    """Return what is replaced, each once."""
    found = [*_of_python(tape), *_of_numpy(tape, generator)]
    return [*found, *_imported_by_name(found)]


def _of_python(tape: Tape) -> Iterator[StandIn]:
    """Yield what is replaced in the standard library."""
    python = PythonDraws(tape)
    real_seed = random.Random.seed

    for name in _methods_of(random._inst, random):
        if name in ("seed", "setstate"):
            yield random, name, _refusing(tape, f"calls random.{name}, which fixes its draws")
        else:
            yield random, name, getattr(python, name)

    def seed_of_its_own(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None:
            tape.refuse("makes its own random.Random(); call random.random() instead")
        real_seed(self, a, version)

    yield random.Random, "seed", seed_of_its_own

    def system(name: str) -> Callable[..., Any]:
        return lambda self, *arguments: getattr(python, name)(*arguments)

    for name in ("random", "getrandbits", "_randbelow"):
        yield random.SystemRandom, name, system(name)
    yield secrets, "randbits", python.getrandbits

    bytes_of_the_system = _refusing(tape, "draws bytes from the operating system")
    yield os, "urandom", bytes_of_the_system
    yield random, "_urandom", bytes_of_the_system


def _of_numpy(tape: Tape, generator: NumpyDraws) -> Iterator[StandIn]:
    """Yield what is replaced in NumPy."""
    real_default_rng = np.random.default_rng

    def default_rng(seed: Any = None) -> np.random.Generator:
        return generator if seed is None else real_default_rng(seed)

    yield np.random, "default_rng", default_rng

    def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        drawn = generator.integers(low, high, size, dtype)
        return int(drawn) if size is None else drawn

    followed: dict[str, Callable[..., Any]] = {
        "rand": lambda *shape: generator.random(shape or None),
        "randint": randint,
        "uniform": generator.uniform,
        "choice": generator.choice,
        "binomial": generator.binomial,
        "permutation": generator.permutation,
        "shuffle": generator.shuffle,
    }
    followed |= dict.fromkeys(("random", "random_sample", "ranf", "sample"), generator.random)
    for name in sorted(_methods_of(np.random.mtrand._rand, np.random) | {*followed, "seed"}):
        unknown = _refusing(tape, f"calls np.random.{name}, which is not followed")
        yield np.random, name, followed.get(name, unknown)

    own = _refusing(
        tape, "makes its own NumPy generator; take it as an argument instead: client(value, rng)"
    )
    yield np.random.bit_generator, "randbits", own


def _imported_by_name(found: list[StandIn]) -> Iterator[StandIn]:
    """Yield the same functions in modules that import them by name (``from random import ...``)."""
    places = {(id(owner), name) for owner, name, _ in found}
    of_modules = [one for one in found if not isinstance(one[0], type)]
    stand_ins = {id(vars(owner)[name]): stand_in for owner, name, stand_in in of_modules}

    for module in list(sys.modules.values()):
        for name, thing in _globals_of(module):
            if id(thing) in stand_ins and (id(module), name) not in places:
                yield module, name, stand_ins[id(thing)]


def _globals_of(module: Any) -> list[tuple[str, Any]]:
    names = getattr(module, "__dict__", None)
    return list(names.items()) if type(names) is dict else []


def _methods_of(instance: Any, module: Any) -> set[str]:
    """Return the names in a module that are methods of its hidden generator."""
    return {
        name for name, thing in vars(module).items() if getattr(thing, "__self__", None) is instance
    }


def _refusing(tape: Tape, what: str) -> Callable[..., Any]:
    return lambda *_, **__: tape.refuse(what)


def _for_this_thread(stand_in: Callable[..., Any], original: Any) -> Callable[..., Any]:
    auditor = threading.get_ident()

    @functools.wraps(original)
    def call(*arguments: Any, **options: Any) -> Any:
        chosen = stand_in if threading.get_ident() == auditor else original
        return chosen(*arguments, **options)

    return call


State = tuple[Callable[[], Any], bytes]
"""How a generator is asked for its state, and the state before the audit."""


def _states() -> list[State]:
    """Return the states of all real generators."""
    asks: list[Callable[[], Any]] = []
    for generator in _generators():
        if isinstance(generator, np.random.Generator):
            asks.append(functools.partial(getattr, generator.bit_generator, "state"))
        elif isinstance(generator, np.random.BitGenerator):
            asks.append(functools.partial(getattr, generator, "state"))
        elif isinstance(generator, np.random.RandomState):
            asks.append(generator.get_state)
        else:
            asks.append(generator.getstate)
    asks += _compiled_states()
    return [(ask, pickle.dumps(ask())) for ask in asks]


def _generators() -> list[Any]:
    """Return every generator that the garbage collector knows, or that is global in a module.

    The collector does not know those that `gc.freeze` has set aside.
    """
    kinds = {np.random.Generator, np.random.RandomState, random.Random}
    kinds |= _descendants(np.random.BitGenerator)
    found = [thing for thing in gc.get_objects() if type(thing) in kinds]
    for module in list(sys.modules.values()):
        found += [thing for _, thing in _globals_of(module) if type(thing) in kinds]
    return list({id(thing): thing for thing in found}.values())


def _descendants(kind: type) -> set[type]:
    """Return all classes below a class."""
    below: set[type] = set(kind.__subclasses__())
    return below.union(*map(_descendants, below))


def _compiled_states() -> list[Callable[[], Any]]:
    """Return how to ask the two generators of compiled code for their states."""
    numba = sys.modules.get("numba")
    if numba is None or numba.config.DISABLE_JIT:
        return []
    try:
        from numba import _helperlib as compiled

        pointers = (compiled.rnd_get_np_state_ptr, compiled.rnd_get_py_state_ptr)
        return [functools.partial(_compiled_state, compiled, pointer) for pointer in pointers]
    except (ImportError, AttributeError):
        raise AuditError(
            "random draws in code that this version of numba compiles cannot be followed; set "
            "NUMBA_DISABLE_JIT=1"
        ) from None


def _compiled_state(compiled: Any, pointer: Callable[[], Any]) -> Any:
    return compiled.rnd_get_state(pointer())


def _drawn_elsewhere(before: list[State]) -> str:
    """Return what is wrong if a real generator has moved since, else nothing."""
    if all(pickle.dumps(ask()) == state for ask, state in before):
        return ""
    return (
        "the client draws where it cannot be followed, from a generator that it keeps or in "
        "compiled code; use client(value, rng) or random.random() instead"
    )
