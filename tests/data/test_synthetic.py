"""The populations of the sources, public and synthetic, have the shape and size that they state."""

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
    age = public.adult("age")
    assert age.users == 32_561
    assert age.counts.size == 74
    assert age.counts[age.labels.index("89")] == 0
    assert age.numbers[0] == 17
    assert (age.low, age.high) == (17, 90)
    assert age.mean == pytest.approx(38.5816, abs=1e-4)

    workclass = public.adult("workclass")
    assert workclass.users == 32_561
    assert workclass.counts.size == 9
    assert workclass.labels[0] == "Private"
    assert workclass.counts[0] == 22_696

    with pytest.raises(ValueError, match="column must be one of age, workclass, got column='fare'"):
        public.adult("fare")


@pytest.mark.parametrize(("trials", "probability"), [(100, 0.5), (1, 0.0), (7, 1.0), (2000, 0.3)])
def test_binomial_agrees_with_scipy(trials: int, probability: float) -> None:
    expected = stats.binom.pmf(np.arange(trials + 4), trials, probability)
    found = synthetic.binomial(trials, probability, largest=trials + 3)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_data_sets_are_those_of_the_source_and_depend_on_the_seed_only() -> None:
    nodes = int(PUBLISHED["nodes"])
    values = np.arange(101)
    first, second = data_sets(nodes, seed=1).values()

    assert first.sum() == nodes
    assert second.sum() == nodes

    first_mean = PUBLISHED["first_trials"] * PUBLISHED["first_probability"]
    second_mean = PUBLISHED["second_trials"] / 2
    assert first @ values / nodes == pytest.approx(first_mean, abs=0.12)
    assert second @ values / nodes == pytest.approx(second_mean, abs=0.15)

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


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
