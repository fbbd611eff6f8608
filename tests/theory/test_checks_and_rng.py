"""Validators say name, rule and value, and streams depend on their key and seed alone.

Symbols and balls pass the validators as they are.
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

NAN = float("nan")
INF = float("inf")

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
            message = re.escape(f"budget {rule}, got budget={value!r}")
            with pytest.raises(ValueError, match=f"^{message}$"):
                check(value, "budget")


@pytest.mark.parametrize("check", NUMBERS)
def test_a_check_takes_a_number(check: Callable[..., Any]) -> None:
    for value in ("1.0", None, True, np.True_, [1.0], np.array(1.0), 1j, b"1"):
        with pytest.raises(TypeError, match=r"^epsilon must be a number, got epsilon="):
            check(value, "epsilon")


@pytest.mark.parametrize(
    ("limits", "value", "message"),
    [
        ({"at_least": 2}, 1, "size must be an integer >= 2, got size=1"),
        ({"at_least": 1, "at_most": 3}, 4, "size must be an integer from 1 to 3, got size=4"),
    ],
)
def test_a_whole_number_out_of_its_limits_is_refused(
    limits: dict[str, int], value: int, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        checks.whole(value, "size", **limits)


ALL_ZEROS = "must have a positive sum, got all zeros"
WHOLE = "must be whole numbers >= 0, got"
VECTOR = "must be one-dimensional with at least"


@pytest.mark.parametrize(
    ("limits", "counts", "message"),
    [
        ({}, [3, -1], f"tallies {WHOLE} tallies[1]=-1"),
        ({}, [3, 1.5, -2], f"tallies {WHOLE} tallies[1]=1.5"),
        ({}, [NAN, 2], f"tallies {WHOLE} tallies[0]=nan"),
        ({"least": 1}, [3, 0], "tallies must be whole numbers >= 1, got tallies[1]=0"),
        ({}, [0, 0, 0], f"tallies {ALL_ZEROS}"),
        ({}, [], f"tallies {VECTOR} 1 entries, got shape (0,)"),
        ({}, 5, f"tallies {VECTOR} 1 entries, got shape ()"),
        ({"minimum_size": 2}, [4], f"tallies {VECTOR} 2 entries, got shape (1,)"),
    ],
)
def test_what_cannot_be_counts_is_refused(
    limits: dict[str, int], counts: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        checks.counts(counts, "tallies", **limits)


def test_counts_are_no_words() -> None:
    with pytest.raises(TypeError, match=r"^tallies must be numbers, got dtype"):
        checks.counts(["3", "4"], "tallies")


@pytest.mark.parametrize(
    ("chances", "message"),
    [
        ([0.5, 0.5 + 1e-8], "prior must sum to 1, got sum"),
        ([1.5, -0.5], "prior must be a vector of probabilities, got"),
        ([NAN, 1.0], "prior must be a vector of probabilities, got"),
        ([[0.5, 0.5]], "prior must be a vector of probabilities, got"),
    ],
)
def test_what_is_no_distribution_is_refused(chances: list, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        checks.distribution(chances, "prior")


@pytest.mark.parametrize("value", [{1, 2}, np.array(2.0)], ids=["a set", "one number"])
def test_a_pair_is_a_sequence_of_two(value: Any) -> None:
    message = re.escape(f"pair must have 2 entries, got pair={value!r}")
    with pytest.raises(ValueError, match=f"^{message}"):
        checks.entries(value, "pair", 2)


def test_a_choice_is_one_of_those_that_are_offered() -> None:
    with pytest.raises(ValueError, match=r"^way must be one of up, down, got way='left'"):
        checks.choice("left", "way", among=("up", "down"))


def test_counts_of_any_type_come_back_as_integers() -> None:
    short = np.array([1, 2], dtype=np.uint8)
    single = np.array([1.0, 2.0], dtype=np.float32)
    for given_counts in ([1, 2], (1.0, 2.0), short, single):
        counted = checks.counts(given_counts, "tallies")
        assert counted.dtype == np.int64
        assert counted.tolist() == [1, 2]


def first_draw(*key: str | int | float, seed: int = 2022) -> int:
    return int(stream(*key, seed=seed).integers(2**62))


def test_keys_that_differ_have_different_streams() -> None:
    with_separators = [
        ("a\x1fsb",),
        ("a", "b"),
        ("a\x1b", "b"),
        ("a\x1b\x1fsb",),
        ("a\x1b\x1b", "b"),
        ("", "a"),
        ("a", ""),
    ]
    large_numbers = [
        (2**53,),
        (2**53 + 1,),
        (2**53 + 2,),
        (10**400,),
        (10**400 + 1,),
        (-(2**53) - 1,),
        ("9007199254740993",),
    ]
    keys = with_separators + large_numbers
    assert len({first_draw(*key) for key in keys}) == len(keys)
    assert first_draw(0.0) == first_draw(-0.0) == first_draw(0)


def test_a_stream_is_not_shifted_by_another() -> None:
    alone = stream("b", seed=1).random(5).tolist()
    stream("a", seed=1).random(1000)
    np.random.default_rng(1).random(1000)
    assert stream("b", seed=1).random(5).tolist() == alone


def test_streams_are_the_same_in_another_process() -> None:
    code = "from ldpnb.rng import stream; print(stream('kRR', 0.5, seed=7).integers(2**62))"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ended.stdout) == first_draw("kRR", 0.5, seed=7)


@pytest.mark.parametrize("part", [None, (1, 2), [1], b"kRR", 1j], ids=repr)
def test_a_key_of_something_else_is_refused(part: Any) -> None:
    with pytest.raises(TypeError, match=r"^a stream key consists of str, int and float, got"):
        stream("kRR", part, seed=1)


def test_numpy_functions_take_symbols() -> None:
    x = sympy.symbols("x", positive=True)
    functions = (np.exp, np.expm1, np.log, np.log1p, np.sqrt, np.square, np.tanh, np.sinh)
    for function in functions:
        value = function(Symbol(x)).expression.subs(x, 2)
        assert float(value) == pytest.approx(float(function(2.0)), rel=1e-14)


def test_symbols_are_calculated_with() -> None:
    x = sympy.symbols("x", positive=True)
    value = (2 - Symbol(x)) / 4 * Symbol(x) ** 2 + 1
    assert float(value.expression.subs(x, 3)) == pytest.approx(-1.25)
    assert (-Symbol(x)).expression == -x
    assert abs(-Symbol(-x)).expression == x


def test_validators_let_exact_numbers_pass_and_nothing_else() -> None:
    assert is_exact(flint.arb(1))
    assert not is_exact(np.float64(1))
    ball = flint.arb(-1)
    assert checks.positive(ball, "epsilon") is ball
