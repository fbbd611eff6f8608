"""Validators say name, rule and value and let symbols and balls pass; streams depend on their
key and seed alone.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ldpnb import checks
from ldpnb.arithmetic import Symbol, is_exact
from ldpnb.rng import stream

NAN, INF = float("nan"), float("inf")
NUMBERS = (
    checks.positive,
    checks.non_negative,
    checks.probability,
    checks.rate,
    checks.open_probability,
    checks.whole,
)


@settings(derandomize=True, max_examples=60, deadline=None)
@example(0)
@example(1)
@example(5e-324)
@example(-1e-300)
@example(2.5)
@example(NAN)
@example(INF)
@example(-INF)
@example(2**53 + 1)
@given(st.one_of(st.floats(), st.integers()))
def test_a_number_passes_exactly_where_its_rule_says_and_is_refused_by_name_rule_and_value(
    value: float,
) -> None:
    rules: dict[Callable[..., Any], tuple[bool, str]] = {
        checks.positive: (0 < value < INF, "must be > 0 and finite"),
        checks.non_negative: (0 <= value < INF, "must be >= 0 and finite"),
        checks.probability: (0 <= value <= 1, "must lie in [0, 1]"),
        checks.rate: (0 < value <= 1, "must lie in (0, 1]"),
        checks.open_probability: (0 < value < 1, "must lie in (0, 1)"),
        checks.whole: (0 <= value < INF and value == int(value), "must be an integer >= 0"),
    }
    for check, (passes, rule) in rules.items():
        if passes:
            assert check(value, "budget") == (value if check is checks.whole else float(value))
        else:
            with pytest.raises(
                ValueError, match="^" + re.escape(f"budget {rule}, got budget={value!r}") + "$"
            ):
                check(value, "budget")


@pytest.mark.parametrize("check", NUMBERS)
def test_a_check_takes_a_number(check: Callable[..., Any]) -> None:
    for value in ("1.0", None, True, np.True_, [1.0], np.array(1.0), 1j, b"1"):
        with pytest.raises(TypeError, match=r"^epsilon must be a number, got epsilon="):
            check(value, "epsilon")


COUNTED = "tallies must be one-dimensional with at least"
LIKELY = "prior must be a vector of probabilities, got"
REFUSED = [
    (
        lambda: checks.whole(1, "domain_size", at_least=2),
        "domain_size must be an integer >= 2, got domain_size=1",
    ),
    (
        lambda: checks.whole(4, "chosen", at_least=1, at_most=3),
        "chosen must be an integer from 1 to 3, got chosen=4",
    ),
    (
        lambda: checks.counts([3, -1], "tallies"),
        "tallies must be whole numbers >= 0, got tallies[1]=-1",
    ),
    (
        lambda: checks.counts([3, 0], "sizes", least=1),
        "sizes must be whole numbers >= 1, got sizes[1]=0",
    ),
    (
        lambda: checks.counts([3, 1.5, -2], "tallies"),
        "tallies must be whole numbers >= 0, got tallies[1]=1.5",
    ),
    (
        lambda: checks.counts([NAN, 2], "tallies"),
        "tallies must be whole numbers >= 0, got tallies[0]=nan",
    ),
    (
        lambda: checks.counts([0, 0, 0], "tallies"),
        "tallies must have a positive sum, got all zeros",
    ),
    (lambda: checks.counts([], "tallies"), f"{COUNTED} 1 entries, got shape (0,)"),
    (lambda: checks.counts(5, "tallies"), f"{COUNTED} 1 entries, got shape ()"),
    (lambda: checks.counts([4], "tallies", minimum_size=2), f"{COUNTED} 2 entries, got shape (1,)"),
    (lambda: checks.counts(["3", "4"], "tallies"), "tallies must be numbers, got dtype"),
    (lambda: checks.distribution([0.5, 0.5 + 1e-8], "prior"), "prior must sum to 1, got sum"),
    (lambda: checks.distribution([1.5, -0.5], "prior"), LIKELY),
    (lambda: checks.distribution([NAN, 1.0], "prior"), LIKELY),
    (lambda: checks.distribution([[0.5, 0.5]], "prior"), LIKELY),
    (lambda: checks.entries({1, 2}, "pair", 2), "pair must have 2 entries, got pair={1, 2}"),
    (
        lambda: checks.entries(np.array(2.0), "pair", 2),
        "pair must have 2 entries, got pair=array(2.)",
    ),
    (
        lambda: checks.choice("left", "way", among=("up", "down")),
        "way must be one of up, down, got way='left'",
    ),
]


@pytest.mark.parametrize(("check", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_breaks_a_rule_is_refused_by_name_rule_and_value(
    check: Callable[[], Any], message: str
) -> None:
    with pytest.raises(
        TypeError if "numbers, got dtype" in message else ValueError, match=f"^{re.escape(message)}"
    ):
        check()


def test_counts_come_back_as_integers_whatever_they_were() -> None:
    for given_counts in (
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2], dtype=np.uint8),
        np.array([1.0, 2.0], dtype=np.float32),
    ):
        counted = checks.counts(given_counts, "tallies")
        assert counted.dtype == np.int64
        assert counted.tolist() == [1, 2]


def first(*key: str | int | float, seed: int = 2022) -> int:
    return int(stream(*key, seed=seed).integers(2**62))


def test_keys_that_differ_have_different_streams() -> None:
    keys = [
        ("a\x1fsb",),
        ("a", "b"),
        ("a\x1b", "b"),
        ("a\x1b\x1fsb",),
        ("a\x1b\x1b", "b"),
        ("", "a"),
        ("a", ""),
    ]
    keys += [
        (2**53,),
        (2**53 + 1,),
        (2**53 + 2,),
        (10**400,),
        (10**400 + 1,),
        (-(2**53) - 1,),
        ("9007199254740993",),
    ]
    assert len({first(*key) for key in keys}) == len(keys)
    assert first(0.0) == first(-0.0) == first(0)


def test_a_stream_is_not_shifted_by_another() -> None:
    alone = stream("b", seed=1).random(5).tolist()
    stream("a", seed=1).random(1000)
    np.random.default_rng(1).random(1000)
    assert stream("b", seed=1).random(5).tolist() == alone


def test_streams_are_the_same_in_another_process() -> None:
    code = "from ldpnb.rng import stream; print(stream('kRR', 0.5, seed=7).integers(2**62))"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert int(printed) == first("kRR", 0.5, seed=7)


@pytest.mark.parametrize("part", [None, (1, 2), [1], b"kRR", 1j], ids=repr)
def test_a_key_of_something_else_is_refused(part: Any) -> None:
    with pytest.raises(TypeError, match=r"^a stream key consists of str, int and float, got"):
        stream("kRR", part, seed=1)


def test_numpy_functions_take_symbols() -> None:
    x = sympy.symbols("x", positive=True)
    for name in ("exp", "expm1", "log", "log1p", "sqrt", "square", "tanh", "sinh"):
        value = getattr(np, name)(Symbol(x)).expression.subs(x, 2)
        assert float(value) == pytest.approx(float(getattr(np, name)(2.0)), rel=1e-14)
    both = (2 - Symbol(x)) / 4 * Symbol(x) ** 2 + 1
    assert float(both.expression.subs(x, 3)) == pytest.approx(-1.25)
    assert (-Symbol(x)).expression == abs(-Symbol(-x)).expression * -1 == -x


def test_validators_let_exact_numbers_pass_and_nothing_else() -> None:
    assert is_exact(flint.arb(1))
    assert not is_exact(np.float64(1))
    ball = flint.arb(-1)
    assert checks.positive(ball, "epsilon") is ball
