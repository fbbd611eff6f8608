"""The validators say name, rule and value; the random streams depend on their key and seed and on nothing else."""

import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb import checks
from ldpnb.rng import stream

NAN, INF = float("nan"), float("inf")
NUMBERS = (checks.positive, checks.non_negative, checks.probability, checks.rate, checks.open_probability, checks.whole)


@pytest.mark.parametrize(
    ("check", "value", "rule"),
    [
        (checks.positive, 0, "must be > 0 and finite"),
        (checks.positive, -1.5, "must be > 0 and finite"),
        (checks.positive, NAN, "must be > 0 and finite"),
        (checks.positive, INF, "must be > 0 and finite"),
        (checks.non_negative, -1e-300, "must be >= 0 and finite"),
        (checks.non_negative, NAN, "must be >= 0 and finite"),
        (checks.non_negative, INF, "must be >= 0 and finite"),
        (checks.probability, -0.1, r"must lie in \[0, 1\]"),
        (checks.probability, 1.1, r"must lie in \[0, 1\]"),
        (checks.probability, NAN, r"must lie in \[0, 1\]"),
        (checks.rate, 0, r"must lie in \(0, 1\]"),
        (checks.rate, 1.0001, r"must lie in \(0, 1\]"),
        (checks.rate, -0.5, r"must lie in \(0, 1\]"),
        (checks.rate, NAN, r"must lie in \(0, 1\]"),
        (checks.open_probability, 0, r"must lie in \(0, 1\)"),
        (checks.open_probability, 1, r"must lie in \(0, 1\)"),
        (checks.open_probability, NAN, r"must lie in \(0, 1\)"),
        (checks.whole, -1, "must be an integer >= 0"),
        (checks.whole, 2.5, "must be an integer >= 0"),
        (checks.whole, NAN, "must be an integer >= 0"),
        (checks.whole, INF, "must be an integer >= 0"),
        (checks.whole, -INF, "must be an integer >= 0"),
    ],
)
def test_a_number_out_of_range_is_refused_by_name_rule_and_value(
    check: Callable[..., Any], value: float, rule: str
) -> None:
    with pytest.raises(ValueError, match=rf"^budget {rule}, got budget={value!r}$"):
        check(budget=value)


@pytest.mark.parametrize("check", NUMBERS)
@pytest.mark.parametrize("value", ["1.0", None, True, np.True_, [1.0], np.array(1.0), 1j, b"1"], ids=repr)
def test_what_is_not_a_number_is_refused_as_such(check: Callable[..., Any], value: Any) -> None:
    with pytest.raises(TypeError, match=r"^epsilon must be a number, got epsilon="):
        check(epsilon=value)


@pytest.mark.parametrize("check", NUMBERS)
def test_a_check_takes_exactly_one_argument(check: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"one argument at a time, got \['a', 'b'\]"):
        check(a=1, b=1)
    with pytest.raises(TypeError, match=r"one argument at a time, got \[\]"):
        check()


def test_the_edges_of_a_range_belong_to_it_or_not() -> None:
    assert checks.positive(x=5e-324) == 5e-324
    assert checks.non_negative(x=0) == 0.0
    assert (checks.probability(x=0), checks.probability(x=1)) == (0.0, 1.0)
    assert checks.rate(x=1) == 1.0
    assert checks.whole(x=2, at_least=2) == 2


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.uint64(3)], ids=repr)
def test_every_kind_of_number_is_accepted_and_returned_plain(value: Any) -> None:
    for check in (checks.positive, checks.non_negative):
        assert type(check(x=value)) is float
        assert check(x=value) == 3.0
    assert type(checks.whole(x=value)) is int
    assert checks.whole(x=value) == 3


def test_large_whole_numbers_lose_no_digit() -> None:
    assert checks.whole(users=2**60 + 1) == 2**60 + 1


@pytest.mark.parametrize(("value", "least"), [(1, 2), (0, 1), (1.0, 2)])
def test_a_domain_that_is_too_small_is_refused(value: float, least: int) -> None:
    with pytest.raises(ValueError, match=rf"^domain_size must be an integer >= {least}, got domain_size={value!r}$"):
        checks.whole(domain_size=value, at_least=least)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([3, -1], r"tallies must be whole numbers >= 0, got tallies\[1\]=-1"),
        ([3, 1.5, -2], r"tallies must be whole numbers >= 0, got tallies\[1\]=1\.5"),
        ([NAN, 2], r"tallies must be whole numbers >= 0, got tallies\[0\]=nan"),
        ([INF, 2], r"tallies must be whole numbers >= 0, got tallies\[0\]=inf"),
        ([0, 0, 0], "tallies must have a positive sum, got all zeros"),
        ([], r"tallies must be one-dimensional with at least 1 entries, got shape \(0,\)"),
        (5, r"tallies must be one-dimensional with at least 1 entries, got shape \(\)"),
        ([[1, 2], [3, 4]], r"tallies must be one-dimensional with at least 1 entries, got shape \(2, 2\)"),
    ],
    ids=repr,
)
def test_bad_counts_are_refused_by_name_rule_and_value(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        checks.counts(tallies=value)


@pytest.mark.parametrize("value", [["3", "4"], [True, False], [None, 1]], ids=repr)
def test_counts_that_are_not_numbers_are_refused_as_such(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^tallies must be numbers, got dtype"):
        checks.counts(tallies=value)


def test_counts_keep_to_a_minimum_size_and_may_be_allowed_to_be_empty_of_users() -> None:
    with pytest.raises(
        ValueError, match=r"^tallies must be one-dimensional with at least 2 entries, got shape \(1,\)$"
    ):
        checks.counts(tallies=[4], minimum_size=2)
    assert checks.counts(tallies=[0, 0], allow_empty=True).tolist() == [0, 0]


def test_counts_come_back_as_integers_whatever_they_were() -> None:
    for given_counts in ([1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.uint8), np.array([1.0, 2.0], dtype=np.float32)):
        counted = checks.counts(tallies=given_counts)
        assert counted.dtype == np.int64
        assert counted.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0.5, 0.4], "prior must sum to 1, got sum"),
        ([1.5, -0.5], "prior must be a vector of probabilities, got"),
        ([NAN, 1.0], "prior must be a vector of probabilities, got"),
        ([INF, 1.0], "prior must be a vector of probabilities, got"),
        ([], "prior must be a vector of probabilities, got"),
        ([[0.5, 0.5]], "prior must be a vector of probabilities, got"),
        (1.0, "prior must be a vector of probabilities, got"),
    ],
    ids=repr,
)
def test_what_is_not_a_distribution_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        checks.distribution(prior=value)


def test_a_distribution_may_be_off_by_rounding_only() -> None:
    assert checks.distribution(prior=[1 / 3] * 3).tolist() == [1 / 3] * 3
    assert checks.distribution(prior=[1, 0]).dtype == np.float64
    with pytest.raises(ValueError, match="must sum to 1"):
        checks.distribution(prior=[0.5, 0.5 + 1e-8])


def test_a_choice_is_refused_with_the_choices() -> None:
    assert checks.choice(neighbours="deletion", among=("deletion", "replacement")) == "deletion"
    for wrong in ("swap", 3, None):
        message = rf"^neighbours must be one of deletion, replacement, got neighbours={wrong!r}$"
        with pytest.raises(ValueError, match=message):
            checks.choice(neighbours=wrong, among=("deletion", "replacement"))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.one_of(st.floats(), st.integers()))
def test_a_number_passes_exactly_where_its_rule_says(value: float) -> None:
    rules: dict[Callable[..., Any], bool] = {
        checks.positive: 0 < value < INF,
        checks.non_negative: 0 <= value < INF,
        checks.probability: 0 <= value <= 1,
        checks.rate: 0 < value <= 1,
        checks.open_probability: 0 < value < 1,
        checks.whole: 0 <= value < INF and value == int(value),
    }
    for check, passes in rules.items():
        if passes:
            assert check(x=value) == value
        else:
            with pytest.raises(ValueError, match=r"^x must"):
                check(x=value)


def first(*key: str | int | float, seed: int = 2022) -> int:
    return int(stream(*key, seed=seed).integers(2**62))


def test_equal_keys_and_seeds_give_equal_streams() -> None:
    one, other = stream("kRR", 0.5, 3, seed=1), stream("kRR", 0.5, 3, seed=1)
    assert one.random(1000).tolist() == other.random(1000).tolist()


def test_streams_differ_by_every_part_of_their_key_its_order_and_the_seed() -> None:
    keys = [
        ("a",),
        ("b",),
        ("a", "b"),
        ("b", "a"),
        ("ab",),
        ("a", 1),
        (1, "a"),
        ("a1",),
        ("a", 1.5),
        ("1",),
        (1,),
        (),
        (-1,),
    ]
    draws = [first(*key) for key in keys] + [first("a", seed=0), first("a", seed=1), first("a", seed=2**70)]
    assert len(set(draws)) == len(draws)


def test_numbers_of_equal_value_are_the_same_key_whatever_their_type() -> None:
    assert len({first("x", n) for n in (2, 2.0, np.int64(2), np.float64(2), np.uint8(2))}) == 1
    assert first("x", 2) != first("x", "2")


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


@pytest.mark.parametrize("seed", [-1, 1.5, "seven"])
def test_a_seed_that_is_no_whole_number_is_refused(seed: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        stream("kRR", seed=seed)


def test_the_seed_must_be_named() -> None:
    with pytest.raises(TypeError, match="seed"):
        stream("kRR")
