"""The validators say name, rule and value; the random streams depend on their key and seed and on nothing else."""

import re
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ldpnb import checks
from ldpnb.rng import stream

NAN, INF = float("nan"), float("inf")
NUMBERS = (checks.positive, checks.non_negative, checks.probability, checks.rate, checks.open_probability, checks.whole)


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
def test_a_number_passes_exactly_where_its_rule_says_and_is_refused_by_name_rule_and_value(value: float) -> None:
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
            assert check(budget=value) == (value if check is checks.whole else float(value))
        else:
            with pytest.raises(ValueError, match="^" + re.escape(f"budget {rule}, got budget={value!r}") + "$"):
                check(budget=value)


@pytest.mark.parametrize("check", NUMBERS)
def test_a_check_takes_exactly_one_argument_that_is_a_number(check: Callable[..., Any]) -> None:
    for value in ("1.0", None, True, np.True_, [1.0], np.array(1.0), 1j, b"1"):
        with pytest.raises(TypeError, match=r"^epsilon must be a number, got epsilon="):
            check(epsilon=value)
    with pytest.raises(TypeError, match=r"one argument at a time, got \['a', 'b'\]"):
        check(a=1, b=1)
    with pytest.raises(TypeError, match=r"one argument at a time, got \[\]"):
        check()


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.uint64(3)], ids=repr)
def test_every_kind_of_number_is_accepted_and_returned_plain(value: Any) -> None:
    for check in (checks.positive, checks.non_negative):
        assert type(check(x=value)) is float
        assert check(x=value) == 3.0
    assert type(checks.whole(x=value)) is int
    assert checks.whole(x=value) == 3


def test_large_whole_numbers_lose_no_digit() -> None:
    assert checks.whole(users=2**60 + 1) == 2**60 + 1


COUNTED = "tallies must be one-dimensional with at least"
LIKELY = "prior must be a vector of probabilities, got"
REFUSED = [
    (lambda: checks.whole(domain_size=1, at_least=2), "domain_size must be an integer >= 2, got domain_size=1"),
    (lambda: checks.whole(domain_size=1.0, at_least=2), "domain_size must be an integer >= 2, got domain_size=1.0"),
    (lambda: checks.counts(tallies=[3, -1]), "tallies must be whole numbers >= 0, got tallies[1]=-1"),
    (lambda: checks.counts(tallies=[3, 1.5, -2]), "tallies must be whole numbers >= 0, got tallies[1]=1.5"),
    (lambda: checks.counts(tallies=[NAN, 2]), "tallies must be whole numbers >= 0, got tallies[0]=nan"),
    (lambda: checks.counts(tallies=[INF, 2]), "tallies must be whole numbers >= 0, got tallies[0]=inf"),
    (lambda: checks.counts(tallies=[0, 0, 0]), "tallies must have a positive sum, got all zeros"),
    (lambda: checks.counts(tallies=[]), f"{COUNTED} 1 entries, got shape (0,)"),
    (lambda: checks.counts(tallies=5), f"{COUNTED} 1 entries, got shape ()"),
    (lambda: checks.counts(tallies=[[1, 2], [3, 4]]), f"{COUNTED} 1 entries, got shape (2, 2)"),
    (lambda: checks.counts(tallies=[4], minimum_size=2), f"{COUNTED} 2 entries, got shape (1,)"),
    (lambda: checks.counts(tallies=["3", "4"]), "tallies must be numbers, got dtype"),
    (lambda: checks.counts(tallies=[True, False]), "tallies must be numbers, got dtype"),
    (lambda: checks.counts(tallies=[None, 1]), "tallies must be numbers, got dtype"),
    (lambda: checks.distribution(prior=[0.5, 0.4]), "prior must sum to 1, got sum"),
    (lambda: checks.distribution(prior=[0.5, 0.5 + 1e-8]), "prior must sum to 1, got sum"),
    (lambda: checks.distribution(prior=[1.5, -0.5]), LIKELY),
    (lambda: checks.distribution(prior=[NAN, 1.0]), LIKELY),
    (lambda: checks.distribution(prior=[INF, 1.0]), LIKELY),
    (lambda: checks.distribution(prior=[]), LIKELY),
    (lambda: checks.distribution(prior=[[0.5, 0.5]]), LIKELY),
    (lambda: checks.distribution(prior=1.0), LIKELY),
    (lambda: checks.entries(2, pair={1, 2}), "pair must have 2 entries, got pair={1, 2}"),
    (lambda: checks.entries(2, pair="ab"), "pair must have 2 entries, got pair='ab'"),
    (lambda: checks.entries(2, pair=np.array(2.0)), "pair must have 2 entries, got pair=array(2.)"),
    (lambda: checks.choice(way="left", among=("up", "down")), "way must be one of up, down, got way='left'"),
    (lambda: checks.choice(way=3, among=("up", "down")), "way must be one of up, down, got way=3"),
    (lambda: checks.choice(way=None, among=("up", "down")), "way must be one of up, down, got way=None"),
]


@pytest.mark.parametrize(("check", "message"), REFUSED)
def test_what_breaks_a_rule_is_refused_by_name_rule_and_value(check: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError if "numbers, got dtype" in message else ValueError, match=f"^{re.escape(message)}"):
        check()


def test_what_keeps_a_rule_only_just_passes() -> None:
    assert checks.whole(domain_size=2, at_least=2) == 2
    assert checks.distribution(prior=[1 / 3] * 3).tolist() == [1 / 3] * 3
    assert checks.distribution(prior=[1, 0]).dtype == np.float64
    assert checks.choice(way="up", among=("up", "down")) == "up"


def test_counts_come_back_as_integers_whatever_they_were() -> None:
    for given_counts in ([1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.uint8), np.array([1.0, 2.0], dtype=np.float32)):
        counted = checks.counts(tallies=given_counts)
        assert counted.dtype == np.int64
        assert counted.tolist() == [1, 2]


def first(*key: str | int | float, seed: int = 2022) -> int:
    return int(stream(*key, seed=seed).integers(2**62))


def test_equal_keys_and_seeds_give_equal_streams() -> None:
    one, other = stream("kRR", 0.5, 3, seed=1), stream("kRR", 0.5, 3, seed=1)
    assert one.random(1000).tolist() == other.random(1000).tolist()


def test_streams_differ_by_every_part_of_their_key_its_order_and_the_seed() -> None:
    texts, numbers = [("a",), ("b",), ("a", "b"), ("b", "a"), ("ab",), ("a1",), ("1",), ()], [(1,), (-1,)]
    keys = [*texts, *numbers, ("a", 1), (1, "a"), ("a", 1.5)]
    draws = [first(*key) for key in keys] + [first("a", seed=0), first("a", seed=1), first("a", seed=2**70)]
    assert len(set(draws)) == len(draws)


def test_numbers_of_equal_value_are_the_same_key_whatever_their_type() -> None:
    assert len({first("x", n) for n in (2, 2.0, np.int64(2), np.float64(2), np.uint8(2))}) == 1
    assert first("x", 2) != first("x", "2")


def test_keys_that_differ_have_different_streams() -> None:
    keys = [("a\x1fsb",), ("a", "b"), ("a\x1b", "b"), ("a\x1b\x1fsb",), ("a\x1b\x1b", "b"), ("", "a"), ("a", "")]
    keys += [(2**53,), (2**53 + 1,), (2**53 + 2,), (10**400,), (10**400 + 1,), (-(2**53) - 1,), ("9007199254740993",)]
    assert len({first(*key) for key in keys}) == len(keys)
    assert first(0.0) == first(-0.0) == first(0)


def test_a_stream_is_not_shifted_by_another() -> None:
    alone = stream("b", seed=1).random(5).tolist()
    stream("a", seed=1).random(1000)
    np.random.default_rng(1).random(1000)
    assert stream("b", seed=1).random(5).tolist() == alone


def test_streams_are_the_same_in_another_process() -> None:
    code = "from ldpnb.rng import stream; print(stream('kRR', 0.5, seed=7).integers(2**62))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(printed) == first("kRR", 0.5, seed=7)


def test_the_streams_of_a_grid_are_uncorrelated() -> None:
    draws = np.array([stream("grid", i, seed=3).standard_normal(4000) for i in range(12)])
    correlations = [abs(np.corrcoef(draws[i], draws[j])[0, 1]) for i, j in combinations(range(12), 2)]
    assert max(correlations) < 5.5 / np.sqrt(4000)


@pytest.mark.parametrize("part", [None, (1, 2), [1], b"kRR", 1j], ids=repr)
def test_a_key_of_something_else_is_refused(part: Any) -> None:
    with pytest.raises(TypeError, match=r"^a stream key consists of str, int and float, got"):
        stream("kRR", part, seed=1)


@pytest.mark.parametrize("named", [{"seed": -1}, {"seed": 1.5}, {"seed": "seven"}, {}], ids=repr)
def test_a_seed_that_is_missing_or_no_whole_number_is_refused(named: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        stream("kRR", **named)
