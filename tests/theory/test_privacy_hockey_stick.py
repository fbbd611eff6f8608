"""Facts about exact hockey-stick divergences: reference values, two routes, both ends of the budget."""

import json
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.privacy import hockey_stick

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]


def mechanism_of(case: dict) -> tuple[LaplaceMeans, float]:
    inputs = case["inputs"]
    if case["fn"] == "ML_delta":
        return LaplaceMeans(inputs["eps1"], inputs["eps2"], inputs["k"]), inputs["eps"]
    return LaplaceMeans.published(inputs["eps"]), 0.0 if case["fn"] == "ML_opt_TV" else inputs["eps"]


@pytest.mark.parametrize(
    "case", [c for c in REFERENCE if c["fn"] in ("ML_delta", "ML_opt_delta_at_claimed_eps", "ML_opt_TV")], ids=str
)
def test_deltas_are_those_of_the_reference(case: dict) -> None:
    mechanism, epsilon = mechanism_of(case)
    assert hockey_stick.laplace_means_delta(mechanism, epsilon) == pytest.approx(float(case["value"]), rel=1e-9)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(0.05, 1), st.floats(-1, 1), st.floats(0.2, 5), st.floats(0.05, 1), st.floats(0.2, 5), st.floats(0, 3))
def test_the_closed_form_is_the_integral(
    weight: float, location: float, scale: float, other_weight: float, other_scale: float, epsilon: float
) -> None:
    first, second = (weight, location, scale), (other_weight, 0.0, other_scale)
    delta, region = hockey_stick.laplace_delta(first, second, epsilon)

    def integrand(x: float) -> float:
        p, q = (w / (2 * s) * np.exp(-abs(x - m) / s) for w, m, s in (first, second))
        return max(p - np.exp(epsilon) * q, 0.0)

    reach = 60 * max(scale, other_scale)
    cuts = sorted(
        {-reach, reach, 0.0, location, *(float(x) for x in region.ravel() if np.isfinite(x) and abs(x) < reach)}
    )
    whole = sum(quad(integrand, a, b, epsabs=1e-12, limit=200)[0] for a, b in pairwise(cuts))
    assert delta == pytest.approx(whole, rel=1e-7, abs=1e-10)


def test_the_worst_values_are_extreme() -> None:
    grid = np.linspace(-1, 1, 9)
    for mechanism in (LaplaceMeans.published(0.3), LaplaceMeans.published(3.0), LaplaceMeans(0.5, 1.0, 1.3, 3)):
        for epsilon in (0.0, 0.2, 1.0):
            laws = [mechanism.law(g, v) for g in (0, 1) for v in grid]
            largest = max(hockey_stick.law_delta(p, q, epsilon) for p in laws for q in laws)
            assert hockey_stick.laplace_means_delta(mechanism, epsilon) == pytest.approx(largest, rel=1e-12)


def test_delta_vanishes_at_the_loss_of_k_2_and_not_below() -> None:
    for epsilon in (1e-6, 0.5, 5.0, 50.0):
        mechanism = LaplaceMeans.calibrated(epsilon)
        assert hockey_stick.laplace_means_delta(mechanism, epsilon * (1 + 1e-12)) < 1e-12
        assert hockey_stick.laplace_means_delta(mechanism, 0.98 * epsilon) > 0


def test_delta_of_the_published_mechanism_tends_to_one_half() -> None:
    assert hockey_stick.laplace_means_delta(LaplaceMeans.published(1e-6), 1e-6) == pytest.approx(0.5, abs=1e-6)


def test_densities_that_only_touch_add_nothing() -> None:
    # beyond epsilon = 2 the kept reports of the published mechanism meet e^epsilon times the moved ones in one point
    for epsilon in np.linspace(2.1, 200, 400):
        kept, moved = LaplaceMeans.published(epsilon).law(0, 1.0)
        assert hockey_stick.laplace_delta(tuple(kept), tuple(moved), epsilon)[0] == 0
        assert hockey_stick.laplace_delta(tuple(moved), tuple(kept), epsilon)[0] > 0


def test_delta_of_a_channel_is_the_largest_over_pairs() -> None:
    mechanism = DiscretisedMeans(0.4, 0.9, 3)
    channel = mechanism.channel([-1, 0, 1])
    pairs = [hockey_stick.discrete_delta(p, q, 0.5) for p in channel.T for q in channel.T]
    assert hockey_stick.channel_delta(channel, 0.5) == pytest.approx(max(pairs))
    assert hockey_stick.channel_delta(channel, mechanism.epsilon) == pytest.approx(0, abs=1e-15)


def test_epsilon_at_delta_inverts_delta() -> None:
    mechanism = LaplaceMeans.published(0.1)
    delta_at = partial(hockey_stick.laplace_means_delta, mechanism)
    epsilon = hockey_stick.epsilon_at_delta(delta_at, 1e-6)
    assert epsilon == pytest.approx(26.17487384, rel=1e-8)
    assert delta_at(epsilon) == pytest.approx(1e-6, rel=1e-6)
    assert hockey_stick.epsilon_at_delta(lambda _: 1e-9, 1e-6) == 0.0
    assert hockey_stick.epsilon_at_delta(lambda _: 0.5, 1e-6) == np.inf


def test_bad_input_is_refused_by_name_rule_and_value() -> None:
    with pytest.raises(ValueError, match="epsilon must be >= 0"):
        hockey_stick.discrete_delta([0.5, 0.5], [0.5, 0.5], -0.1)
    with pytest.raises(ValueError, match="second must sum to 1"):
        hockey_stick.discrete_delta([0.5, 0.5], [0.5, 0.6], 0.1)
    with pytest.raises(ValueError, match=r"delta must lie in \(0, 1\), got delta=0"):
        hockey_stick.epsilon_at_delta(lambda _: 0.5, 0)


@pytest.mark.parametrize("least", [1e-12, 699.5])
def test_budgets_near_the_ends_of_the_range_are_found(least: float) -> None:
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < least), 0.1) == pytest.approx(least, rel=1e-11)
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < 700.5), 0.1) == np.inf
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.5 * (budget < 1.5), 0.1, largest=1.0) == np.inf


def test_a_law_without_mass_needs_no_delta() -> None:
    delta, region = hockey_stick.laplace_delta((0.0, 0.0, 1.0), (1.0, 0.0, 1.0), 0.0)
    assert delta == 0
    assert region.shape == (0, 2)


def test_the_smallest_of_equally_good_budgets_is_taken() -> None:
    assert hockey_stick.epsilon_at_delta(lambda budget: 0.25 if budget >= 1 else 0.5, 0.25) == pytest.approx(
        1, rel=1e-11
    )


def test_the_delta_of_two_laws_has_a_direction() -> None:
    wide, narrow = (1.0, 0.0, 2.0), (1.0, 0.0, 1.0)
    there, back = (hockey_stick.law_delta([p], [q], 0.1) for p, q in ((wide, narrow), (narrow, wide)))
    assert there == hockey_stick.laplace_delta(wide, narrow, 0.1)[0]
    assert back == hockey_stick.laplace_delta(narrow, wide, 0.1)[0]
    assert there > 1.1 * back


def test_laws_of_different_numbers_of_groups_are_not_compared() -> None:
    with pytest.raises(ValueError, match="zip"):
        hockey_stick.law_delta([(1.0, 0.0, 2.0)], [(0.5, 0.0, 1.0), (0.5, 0.0, 1.0)], 0.1)
