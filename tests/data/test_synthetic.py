"""The sources' synthetic populations: their shape, their size, and how they are read."""

import csv
from importlib.resources import files

import numpy as np
import pytest
from scipy import stats

from ldpnb.data import synthetic
from ldpnb.papers.biswas2022.tables.sampling import data_sets

ROWS = csv.DictReader(files("ldpnb").joinpath("papers/biswas2022/printed.csv").read_text().splitlines())
PUBLISHED = {row["key"]: float(row["value"]) for row in ROWS}


@pytest.mark.parametrize(("trials", "probability"), [(100, 0.5), (1, 0.0), (7, 1.0), (2000, 0.3)])
def test_binomial_agrees_with_scipy(trials: int, probability: float) -> None:
    expected = stats.binom.pmf(np.arange(trials + 4), trials, probability)
    np.testing.assert_allclose(synthetic.binomial(trials, probability, largest=trials + 3), expected, rtol=1e-9)


def test_the_first_data_set_of_biswas2022_has_101_values() -> None:
    distribution = synthetic.binomial(int(PUBLISHED["first_trials"]), PUBLISHED["first_probability"])
    assert (distribution > 0).sum() == PUBLISHED["domain_size"] + 1


def test_a_sum_would_hardly_differ_from_the_first_data_set_but_the_mixture_does() -> None:
    first = synthetic.binomial(100, 0.5)
    total = np.convolve(synthetic.binomial(50, 0.6), synthetic.binomial(50, 0.4))
    mixture = synthetic.binomial_mixture(50, (0.6, 0.4), largest=100)
    assert np.abs(total - first).sum() / 2 == pytest.approx(0.00991, abs=5e-6)
    assert np.abs(mixture - first).sum() / 2 == pytest.approx(0.987, abs=5e-4)


def test_data_sets_are_those_of_the_source_and_depend_on_the_seed_only() -> None:
    nodes = int(PUBLISHED["nodes"])
    drawn = data_sets(nodes, seed=1)
    assert [counts.sum() for counts in drawn.values()] == [nodes, nodes]
    assert {counts.size for counts in drawn.values()} == {101}
    first, second = drawn.values()
    mean = PUBLISHED["first_trials"] * PUBLISHED["first_probability"]
    assert first @ np.arange(101) / nodes == pytest.approx(mean, abs=0.12)
    assert second @ np.arange(101) / nodes == pytest.approx(PUBLISHED["second_trials"] / 2, abs=0.15)
    np.testing.assert_array_equal(first, data_sets(nodes, seed=1)["Bin(100, .5)"])
    assert (first != data_sets(nodes, seed=2)["Bin(100, .5)"]).any()


def test_dirichlet_draws_are_distributions() -> None:
    draw = synthetic.dirichlet(50, 0.5, rng=np.random.default_rng(1))
    assert draw.min() >= 0
    assert draw.sum() == pytest.approx(1)


RNG = np.random.default_rng(1)
REFUSED = [
    (lambda: synthetic.binomial(0, 0.5), "trials must be an integer >= 1"),
    (lambda: synthetic.binomial(5, 1.5), r"probability must lie in \[0, 1\]"),
    (lambda: synthetic.binomial(5, 0.5, largest=4), "largest must be an integer >= 5, got largest=4"),
    (lambda: synthetic.sample_counts(np.array([0.5, 0.6]), 5, rng=RNG), "distribution must sum to 1"),
    (lambda: synthetic.sample_counts(np.array([0.5, 0.5]), 0, rng=RNG), "users must be an integer >= 1"),
    (lambda: synthetic.dirichlet(1, 0.5, rng=RNG), "domain_size must be an integer >= 2"),
    (lambda: synthetic.dirichlet(3, 0.0, rng=RNG), "concentration must be > 0"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
