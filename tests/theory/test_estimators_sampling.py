import numpy as np
import pytest

from ldpnb.designs.reporters import expected_reports, poisson, sampled_tallies
from ldpnb.estimators import sampling
from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

MECHANISM = KaryRandomisedResponse(1.0, 4)
TALLIES = np.array([[30, 20, 10, 5], [8, 9, 10, 11]])


def test_all_estimates_agree_when_every_node_reports() -> None:
    n = int(TALLIES[0].sum())
    usual = n * unbiased(TALLIES[0], n, MECHANISM)
    known = {"nodes": n, "mechanism": MECHANISM}
    for estimate in (
        sampling.unadjusted(TALLIES[0], **known),
        sampling.rescaled(TALLIES[0], sampling_rate=1.0, **known),
        sampling.realised_size(TALLIES[0], sampling_rate=1.0, mechanism=MECHANISM),
        sampling.ratio(TALLIES[0], **known),
        sampling.personalised(TALLIES[0], expected_reports=n, **known),
        sampling.horvitz_thompson(TALLIES[:1], rates=[1.0], mechanism=MECHANISM),
        sampling.hajek(TALLIES[:1], rates=[1.0], **known),
        sampling.reweighted_reports(TALLIES[0], report_rates=np.ones(4), **known),
    ):
        np.testing.assert_allclose(estimate, usual, rtol=1e-12)


def test_equal_rates_reduce_the_personal_estimates_to_the_common_ones() -> None:
    pooled = TALLIES.sum(axis=0)
    t = sampling.personalised(pooled, nodes=200, expected_reports=80, mechanism=MECHANISM)
    ht = sampling.horvitz_thompson(TALLIES, rates=[0.4, 0.4], mechanism=MECHANISM)
    ratio = sampling.hajek(TALLIES, nodes=200, rates=[0.4, 0.4], mechanism=MECHANISM)
    np.testing.assert_allclose(t, sampling.rescaled(pooled, nodes=200, sampling_rate=0.4, mechanism=MECHANISM))
    np.testing.assert_allclose(ht, sampling.realised_size(pooled, sampling_rate=0.4, mechanism=MECHANISM))
    np.testing.assert_allclose(ratio, sampling.ratio(pooled, nodes=200, mechanism=MECHANISM))


def test_the_ratio_estimates_sum_to_the_number_of_nodes() -> None:
    assert sampling.ratio(TALLIES, nodes=200, mechanism=MECHANISM).sum(axis=1) == pytest.approx([200, 200])
    assert sampling.hajek(TALLIES, nodes=200, rates=[0.2, 0.5], mechanism=MECHANISM).sum() == pytest.approx(200)


def test_realised_size_sums_to_the_rescaled_number_of_reports() -> None:
    estimate = sampling.realised_size(TALLIES[0], sampling_rate=0.25, mechanism=MECHANISM)
    assert estimate.sum() == pytest.approx(TALLIES[0].sum() / 0.25)


def test_leading_axes_are_repetitions() -> None:
    together = sampling.rescaled(TALLIES, nodes=100, sampling_rate=0.5, mechanism=MECHANISM)
    for one, row in zip(together, TALLIES, strict=True):
        np.testing.assert_array_equal(one, sampling.rescaled(row, nodes=100, sampling_rate=0.5, mechanism=MECHANISM))


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_estimates_stay_finite_at_the_ends_of_epsilon(epsilon: float) -> None:
    mechanism = KaryRandomisedResponse(epsilon, 4)
    estimate = sampling.realised_size(TALLIES[0], sampling_rate=0.5, mechanism=mechanism)
    assert np.isfinite(estimate).all()
    assert estimate.sum() == pytest.approx(130, rel=1e-6)


def test_sampled_tallies_count_the_nodes_that_report() -> None:
    rng = np.random.default_rng(1)
    assert sampled_tallies([5, 0, 3, 2], 1.0, MECHANISM, rng=rng).sum() == 10
    assert (sampled_tallies([[5, 0, 3, 2], [0, 0, 0, 0]], 0.5, MECHANISM, rng=rng)[1] == 0).all()
    assert poisson([[10, 20], [30, 40]], [[0.1], [1.0]], rng=rng)[1].tolist() == [30, 40]
    assert expected_reports([[10, 20], [30, 40]], [[0.1], [1.0]]) == 73


def test_sampled_tallies_have_the_right_mean_and_variance() -> None:
    rng, counts = np.random.default_rng(2), [40, 10, 0, 0]
    draws = np.array([sampled_tallies(counts, 0.3, MECHANISM, rng=rng)[0] for _ in range(4000)])
    chances = 0.3 * np.repeat([MECHANISM.p, MECHANISM.q], [40, 10])
    mean, variance = chances.sum(), (chances * (1 - chances)).sum()
    assert abs(draws.mean() - mean) < 5 * np.sqrt(variance / 4000)
    assert abs(draws.var() / variance - 1) < 5 * np.sqrt(2 / 4000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampling.rescaled([1, 2, 3, 4], nodes=10, sampling_rate=0, mechanism=MECHANISM), "sampling_rate must"),
        (
            lambda: sampling.rescaled([1, 2, 3, 4], nodes=10, sampling_rate=1.1, mechanism=MECHANISM),
            r"got sampling_rate=1.1",
        ),
        (
            lambda: sampling.unadjusted([1, 2, 3], nodes=10, mechanism=MECHANISM),
            "tallies must have one entry per value",
        ),
        (lambda: sampling.unadjusted([1, 2, 3, -4], nodes=10, mechanism=MECHANISM), "tallies must be finite and >= 0"),
        (lambda: sampling.unadjusted([1, 2, 3, 4], nodes=0, mechanism=MECHANISM), "nodes must be an integer >= 1"),
        (lambda: sampling.ratio([0, 0, 0, 0], nodes=10, mechanism=MECHANISM), "positive sum"),
        (lambda: sampling.hajek([[0, 0, 0, 0]], nodes=9, rates=[0.5], mechanism=MECHANISM), "positive sum"),
        (lambda: sampling.horvitz_thompson(TALLIES, rates=[0.5], mechanism=MECHANISM), "one row per rate"),
        (lambda: sampling.horvitz_thompson(TALLIES, rates=[0.5, 0.0], mechanism=MECHANISM), r"rates must .* \(0, 1\]"),
        (
            lambda: sampling.personalised([1, 2, 3, 4], nodes=10, expected_reports=11, mechanism=MECHANISM),
            "expected_reports must be <= nodes=10",
        ),
        (
            lambda: sampling.reweighted_reports([1, 2, 3, 4], nodes=10, report_rates=[0.5], mechanism=MECHANISM),
            "report_rates must have one entry per value",
        ),
        (lambda: poisson([1.5], 0.5, rng=np.random.default_rng(1)), "counts must be whole numbers"),
        (lambda: poisson([-1], 0.5, rng=np.random.default_rng(1)), "counts must be whole numbers"),
        (lambda: poisson([1], 0.0, rng=np.random.default_rng(1)), r"rates must lie in \(0, 1\]"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
