import numpy as np
import pytest

from ldpnb.designs.reporters import expected_reports, poisson, sampled_tallies
from ldpnb.estimators import sampling
from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

MECHANISM = KaryRandomisedResponse(1.0, 4)
TALLIES = np.array([[30, 20, 10, 5], [8, 9, 10, 11]])


def test_all_estimates_agree_when_everybody_reports() -> None:
    n = int(TALLIES[0].sum())
    usual = n * unbiased(TALLIES[0], n, MECHANISM)
    known = {"users": n, "mechanism": MECHANISM}
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
    t = sampling.personalised(pooled, users=200, expected_reports=80, mechanism=MECHANISM)
    ht = sampling.horvitz_thompson(TALLIES, rates=[0.4, 0.4], mechanism=MECHANISM)
    ratio = sampling.hajek(TALLIES, users=200, rates=[0.4, 0.4], mechanism=MECHANISM)
    np.testing.assert_allclose(t, sampling.rescaled(pooled, users=200, sampling_rate=0.4, mechanism=MECHANISM))
    np.testing.assert_allclose(ht, sampling.realised_size(pooled, sampling_rate=0.4, mechanism=MECHANISM))
    np.testing.assert_allclose(ratio, sampling.ratio(pooled, users=200, mechanism=MECHANISM))


def test_the_ratio_estimates_sum_to_the_number_of_users() -> None:
    assert sampling.ratio(TALLIES, users=200, mechanism=MECHANISM).sum(axis=1) == pytest.approx([200, 200])
    assert sampling.hajek(TALLIES, users=200, rates=[0.2, 0.5], mechanism=MECHANISM).sum() == pytest.approx(200)


def test_realised_size_sums_to_the_rescaled_number_of_reports() -> None:
    estimate = sampling.realised_size(TALLIES[0], sampling_rate=0.25, mechanism=MECHANISM)
    assert estimate.sum() == pytest.approx(TALLIES[0].sum() / 0.25)


def test_leading_axes_are_repetitions() -> None:
    together = sampling.rescaled(TALLIES, users=100, sampling_rate=0.5, mechanism=MECHANISM)
    for one, row in zip(together, TALLIES, strict=True):
        np.testing.assert_array_equal(one, sampling.rescaled(row, users=100, sampling_rate=0.5, mechanism=MECHANISM))


def test_sampled_tallies_count_the_users_who_report() -> None:
    rng = np.random.default_rng(1)
    assert sampled_tallies([5, 0, 3, 2], 1.0, MECHANISM, rng=rng).sum() == 10
    assert (sampled_tallies([[5, 0, 3, 2], [0, 0, 0, 0]], 0.5, MECHANISM, rng=rng)[1] == 0).all()
    assert poisson([[10, 20], [30, 40]], [[0.1], [1.0]], rng=rng)[1].tolist() == [30, 40]
    assert expected_reports([[10, 20], [30, 40]], [[0.1], [1.0]]) == 73


FEW, RNG = [1, 2, 3, 4], np.random.default_rng(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda **m: sampling.rescaled(FEW, users=10, sampling_rate=0, **m), "sampling_rate must lie"),
        (lambda **m: sampling.realised_size(FEW, sampling_rate=1.1, **m), "got sampling_rate=1.1"),
        (lambda **m: sampling.unadjusted([1, 2, 3], users=10, **m), "tallies must have one entry per value"),
        (lambda **m: sampling.unadjusted([1, 2, 3, -4], users=10, **m), "tallies must be finite and >= 0"),
        (lambda **m: sampling.ratio([0, 0, 0, 0], users=10, **m), "positive sum"),
        (lambda **m: sampling.hajek([[0, 0, 0, 0]], users=9, rates=[0.5], **m), "positive sum"),
        (lambda **m: sampling.horvitz_thompson(TALLIES, rates=[0.5], **m), "one row per rate"),
        (lambda **m: sampling.horvitz_thompson(TALLIES, rates=[0.5, 0.0], **m), r"rates must .* \(0, 1\]"),
        (lambda **m: sampling.personalised(FEW, users=10, expected_reports=11, **m), "expected_reports must be <= "),
        (lambda **m: sampling.reweighted_reports(FEW, users=10, report_rates=[0.5], **m), "report_rates must have"),
        (lambda **m: poisson([1.5], 0.5, rng=RNG), "counts must be whole numbers"),
        (lambda **m: poisson([-1], 0.5, rng=RNG), "counts must be whole numbers"),
        (lambda **m: poisson([1], 0.0, rng=RNG), r"rates must lie in \(0, 1\]"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(mechanism=MECHANISM)
