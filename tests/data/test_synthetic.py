"""The sources' populations, public and synthetic: their shape, their size, and how they are
read.
"""

import csv
from importlib.resources import files

import numpy as np
import pytest
from scipy import stats

from ldpnb.data import public, synthetic
from ldpnb.papers.biswas2022.tables.sampling import data_sets

ROWS = csv.DictReader(
    files("ldpnb").joinpath("papers/biswas2022/printed.csv").read_text().splitlines()
)
PUBLISHED = {row["key"]: float(row["value"]) for row in ROWS}


def test_adult_has_the_users_and_values_of_the_source() -> None:
    age, workclass = public.adult("age"), public.adult("workclass")
    assert (age.users, age.counts.size, workclass.users, workclass.counts.size) == (
        32_561,
        74,
        32_561,
        9,
    )
    assert age.counts[age.labels.index("89")] == 0
    assert (age.numbers[0], age.low, age.high) == (17, 17, 90)
    assert age.mean == pytest.approx(38.5816, abs=1e-4)
    assert (workclass.labels[0], workclass.counts[0]) == ("Private", 22_696)
    with pytest.raises(ValueError, match="column must be one of age, workclass, got column='fare'"):
        public.adult("fare")


@pytest.mark.parametrize(("trials", "probability"), [(100, 0.5), (1, 0.0), (7, 1.0), (2000, 0.3)])
def test_binomial_agrees_with_scipy(trials: int, probability: float) -> None:
    expected = stats.binom.pmf(np.arange(trials + 4), trials, probability)
    np.testing.assert_allclose(
        synthetic.binomial(trials, probability, largest=trials + 3), expected, rtol=1e-9
    )


def test_data_sets_are_those_of_the_source_and_depend_on_the_seed_only() -> None:
    nodes = int(PUBLISHED["nodes"])
    drawn = data_sets(nodes, seed=1)
    assert [counts.sum() for counts in drawn.values()] == [nodes, nodes]
    assert {counts.size for counts in drawn.values()} == {101}

    first, second = drawn.values()
    mean = PUBLISHED["first_trials"] * PUBLISHED["first_probability"]

    assert first @ np.arange(101) / nodes == pytest.approx(mean, abs=0.12)
    assert second @ np.arange(101) / nodes == pytest.approx(
        PUBLISHED["second_trials"] / 2, abs=0.15
    )

    np.testing.assert_array_equal(first, data_sets(nodes, seed=1)["Bin(100, .5)"])
    assert (first != data_sets(nodes, seed=2)["Bin(100, .5)"]).any()


RNG = np.random.default_rng(1)
REFUSED = [
    (lambda: synthetic.binomial(0, 0.5), "trials must be an integer >= 1"),
    (lambda: synthetic.binomial(5, 1.5), r"probability must lie in \[0, 1\]"),
    (
        lambda: synthetic.binomial(5, 0.5, largest=4),
        "largest must be an integer >= 5, got largest=4",
    ),
    (
        lambda: synthetic.sample_counts(np.array([0.5, 0.6]), 5, rng=RNG),
        "distribution must sum to 1",
    ),
    (
        lambda: synthetic.sample_counts(np.array([0.5, 0.5]), 0, rng=RNG),
        "users must be an integer >= 1",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
