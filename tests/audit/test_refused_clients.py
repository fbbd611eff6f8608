"""A client that an audit cannot follow is refused in one line.

Whatever an audit replaces, such as the functions of `random`, is restored afterwards.
"""

import contextlib
import itertools
import math
import os
import random
import secrets
import signal
import sys
import threading
import time

import clients
import numpy as np
import pytest
from clients import imported_random, warner
from readable import stated

from ldpnb.audit import AuditError, exact_channel

GENERATOR = np.random.default_rng(5)
MEMORY = {}
CALLS = itertools.count()


def memoised(value):
    if value not in MEMORY:
        MEMORY[value] = warner(value)
    return MEMORY[value]


def swallows(value):
    try:
        return math.log(random.random())
    except Exception:
        return value


def swallows_everything(value):
    try:
        return math.log(random.random())
    except:  # noqa: E722
        return value


def draws_on_after_a_refusal(value):
    while True:
        try:
            return math.log(random.random())
        except:  # noqa: E722
            _ = random.random() < 0.5


def alternates(value):
    return value if random.random() < 0.5 or next(CALLS) % 2 else 1 - value


def asks_the_clock(value):
    return time.perf_counter_ns()


def recurses(value):
    return recurses(value + (random.random() < 2))


def deep(value):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def contains_itself(value):
    own = []
    own.append(own)
    return own


def loops(value):
    while True:
        value += 1


def swallows_and_loops(value):
    while True:
        with contextlib.suppress(Exception):
            value += 1


def counts_for_ever(value):
    return itertools.count()


def own_generator(value):
    return np.random.Generator(np.random.PCG64()).random() < 0.5


def kept_in_a_closure():
    generator = np.random.default_rng(6)
    return lambda value: generator.random() < 0.5


def laplace(value):
    return value + np.random.laplace()  # noqa: NPY002


def wrong_probabilities(value):
    return np.random.choice(2, p=[0.5, 0.6])  # noqa: NPY002


REFUSED = {
    "returns a draw": (lambda x: [x, random.random()], "returns a continuous random number"),
    "Laplace noise": (laplace, "calls np.random.laplace"),
    "Laplace noise of a generator": (lambda x, rng: x + rng.laplace(), "draws by rng.laplace"),
    "Gaussian noise": (lambda x: x + random.gauss(0, 1), "computes with a random number"),
    "logarithm": (lambda x: math.log(random.random()), "computes with a random number"),
    "logarithm of an array": (lambda x, rng: np.log(rng.random(2)), "asks for .log"),
    "square": (lambda x: random.random() ** 2 < 0.5, r"\(pow\)"),
    "remainder": (lambda x: random.random() % 0.1 < 0.05, r"\(mod\)"),
    "two draws compared": (lambda x: random.random() < random.random(), "two random numbers"),
    "draws sorted": (lambda x, rng: np.argsort(rng.random(3)), "two random numbers"),
    "nan": (lambda x: random.random() < math.nan, "compares a random number with nan"),
    "float32 threshold": (lambda x: random.random() < np.float32(0.1), r"write float\(...\)"),
    "float32 draws": (lambda x, rng: rng.random(2, dtype=np.float32) < 0.5, "32-bit"),
    "text": (lambda x: f"{random.random()}", r"\(text\)"),
    "many integers": (lambda x: random.randint(0, 10**9), "one of 1,000,000,001 integers"),
    "many whole numbers": (lambda x: int(10**9 * random.random()), "too many whole numbers"),
    "memory": (memoised, "remembers something between calls"),
    "a counter": (alternates, "remembers something between calls"),
    "a clock": (asks_the_clock, "remembers something between calls"),
    "seeds": (lambda x: random.seed(1), "calls random.seed"),
    "seeds NumPy": (lambda x: np.random.seed(1), "calls np.random.seed"),  # noqa: NPY002
    "system bytes": (lambda x: os.urandom(1)[0] < 128, "bytes from the operating system"),
    "a token": (lambda x: secrets.token_bytes(1), "bytes from the operating system"),
    "a generator that it keeps": (lambda x: GENERATOR.random() < 0.5, "cannot be followed"),
    "a generator in a closure": (kept_in_a_closure(), "cannot be followed|for the same draws"),
    "a new Random": (lambda x: random.Random().random() < 0.5, "makes its own"),
    "a new NumPy generator": (own_generator, "makes its own"),
    "the bits behind a generator": (
        lambda x, rng: rng.bit_generator.random_raw() < 2**63,
        "asks for rng.bit_generator",
    ),
    "an object": (lambda x: object(), "type object, which cannot be compared"),
    "an endless iterator": (counts_for_ever, "an iterator of more than 5,000 entries"),
    "an error": (lambda x: 1 // x, "raises ZeroDivisionError: .*, for input 0"),
    "an error of several lines": (lambda x: int("1\n2"), "raises ValueError: .*, for input 0"),
    "an exit": (lambda x: sys.exit(3), "raises SystemExit: 3, for input 0"),
    "a huge message": (lambda x: {}[10**5 * "x"], "raises KeyError"),
    "wrong probabilities": (wrong_probabilities, "raises ValueError"),
    "a swallowed refusal": (swallows, "computes with a random number"),
    "everything swallowed": (swallows_everything, "computes with a random number"),
    "recursion": (recurses, "raises RecursionError"),
    "a deep output": (deep, "raises RecursionError"),
    "an output in itself": (contains_itself, "raises RecursionError"),
    "an audit within": (lambda x: exact_channel(warner, [0, 1]).epsilon, "another audit"),
    "too many draws": (lambda x: [random.random() < 0.5 for _ in range(501)], "500 random"),
    "too many paths": (lambda x: [random.random() < 0.5 for _ in range(12)], "5,000 paths"),
}


def everything_replaceable():
    """The contents of all modules and classes in which an audit replaces something."""
    owners = [
        random,
        random.Random,
        random.SystemRandom,
        secrets,
        np.random,
        np.random.bit_generator,
        os,
        clients,
    ]
    return [(owner, dict(vars(owner))) for owner in owners]


def states_of_generators():
    return random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused_in_one_line_and_restored(name):
    client, why = REFUSED[name]
    MEMORY.clear()
    before = everything_replaceable()
    alarm = signal.getsignal(signal.SIGALRM)
    states = states_of_generators()

    with pytest.raises(AuditError, match=why) as refusal:
        exact_channel(client, [0, 1], limit=5_000, patience=2.0)

    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 500

    assert everything_replaceable() == before
    assert states_of_generators() == states
    assert signal.getsignal(signal.SIGALRM) is alarm
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert isinstance(random.random(), float)


@pytest.mark.parametrize("client", [loops, swallows_and_loops, draws_on_after_a_refusal])
def test_a_loop_without_draws_is_stopped(client):
    with pytest.raises(AuditError, match=r"ran for 0\.1 s without|computes with a random number"):
        exact_channel(client, [0, 1], patience=0.1)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_of_a_test_runner_goes_on():
    signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        exact_channel(warner, [0, 1])
        remaining, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 900 < remaining <= 1000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_an_error_of_the_client_keeps_its_traceback():
    with pytest.raises(AuditError, match="for input 0") as refusal:
        exact_channel(lambda x: 1 // x, [0, 1])
    assert isinstance(refusal.value.__cause__, ZeroDivisionError)


def test_an_interrupt_ends_the_audit_and_restores():
    def interrupted(value):
        raise KeyboardInterrupt

    before = everything_replaceable()
    with pytest.raises(KeyboardInterrupt):
        exact_channel(interrupted, [0, 1])
    assert everything_replaceable() == before


def test_names_that_modules_import_are_followed_and_restored():
    real = clients.imported_random
    channel = exact_channel(clients.warner_by_name, [0, 1])
    assert channel.epsilon == pytest.approx(math.log(3))
    assert clients.imported_random is real is imported_random


def test_other_threads_draw_really():
    drawn = []

    def watched(value):
        thread = threading.Thread(target=lambda: drawn.append(np.random.default_rng().random()))
        thread.start()
        thread.join()
        return warner(value)

    exact_channel(watched, [0, 1])
    assert drawn
    assert all(isinstance(number, float) for number in drawn)


def test_a_thread_can_audit():
    found = []
    thread = threading.Thread(target=lambda: found.append(exact_channel(warner, [0, 1]).epsilon))
    thread.start()
    thread.join()
    assert found == [pytest.approx(math.log(3))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"client": 3}, "client must be callable, got client=3"),
        ({"inputs": [0]}, "inputs must have two or more values, got 1"),
        ({"inputs": "yes"}, "inputs must be a sequence of values, got 'yes'"),
        ({"inputs": 4}, "inputs must be a sequence of values, got 4"),
        ({"inputs": [0, 1, 0]}, "inputs must be different, got 0 twice"),
        ({"limit": 0}, "limit must be an integer >= 1"),
        ({"cut": 1.0}, "cut must be < 1"),
        ({"cut": -0.1}, r"cut must lie in \[0, 1\]"),
        ({"patience": 0.0}, r"patience must lie in \[0\.001, 86400\]"),
    ],
    ids=stated,
)
def test_arguments_are_checked_before_the_client_runs(arguments, message):
    def client(value):
        raise AssertionError

    with pytest.raises((ValueError, TypeError), match=message):
        exact_channel(**{"client": client, "inputs": [0, 1]} | arguments)
