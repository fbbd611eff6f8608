import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.designs import laws
from ldpnb.privacy import lemmas, optimiser, rounding, subsampling


def rounded_law(population: int, rate: float) -> laws.Law:
    chances = np.zeros(population + 2)
    whole = int(np.floor(rate * population))
    chances[whole : whole + 2] = 1 - (rate * population - whole), rate * population - whole
    return laws.subsets_of_random_size(list(range(population)), chances[: population + 1])


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.integers(1, 5), st.floats(0.05, 0.95), st.sampled_from([1e-4, 0.5, 2.0]))
def test_random_rounding_is_the_linear_program(population: int, rate: float, epsilon: float) -> None:
    first, second = rounded_law(population, rate), rounded_law(population + 1, rate)
    exact = optimiser.largest_loss(first, second, epsilon=epsilon).loss
    assert rounding.random_rounding_loss(population, rate, epsilon) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0])
def test_supremum_bounds_every_population_and_is_approached(epsilon: float) -> None:
    for rate in np.linspace(0.02, 0.98, 25):
        supremum = rounding.random_rounding_loss_supremum(rate, epsilon)
        losses = [rounding.random_rounding_loss(n, rate, epsilon) for n in (*range(1, 40), 1000)]
        assert max(losses) <= supremum * (1 + 1e-12)
    near = rounding.random_rounding_loss(10**12, 0.25, epsilon)
    assert near == pytest.approx(rounding.random_rounding_loss_supremum(0.25, epsilon), rel=1e-10)


def test_rounding_to_nearest_loses_exactly_epsilon_where_it_jumps() -> None:
    assert rounding.nearest_rounding_loss(14, 0.1, 0.5) == 0.5
    assert rounding.nearest_rounding_loss(10, 0.1, 0.5) == lemmas.inserted_record_loss(1, 10, 0.5) < 0.5


def test_fixed_size_lemma_extremes() -> None:
    assert subsampling.srs_loss(0.7, 1) == pytest.approx(0.7)
    assert subsampling.proportion_noise_scale(1.0, 100, 100) == pytest.approx(0.01)
    assert lemmas.mixture_loss(0.4, common=0.0, other=1.0) == lemmas.mixture_loss_product_form(
        0.4, common=0.0, other=1.0
    )
