"""Information and limiting errors of channels that tell nearly nothing, or nearly everything."""

import numpy as np
import pytest

from ldpnb.accuracy import information
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

POINT = np.array([0.5, 0.3, 0.2])
ERRORS = (information.distribution_error, information.frequency_error)


def test_errors_at_small_and_large_budgets_are_those_of_the_closed_form() -> None:
    for error in ERRORS:
        for epsilon in (1e-3, 1.0, 20.0, 50.0, 300.0):
            mechanism = KaryRandomisedResponse(epsilon, 3)
            assert error(mechanism.channel(), POINT) == pytest.approx(error(mechanism, POINT), rel=1e-10)
    for epsilon in (1e-8, 1e-5, 1.0):
        lead = 6 / np.expm1(epsilon) ** 2 + 4 / np.expm1(epsilon)
        assert information.frequency_error(KaryRandomisedResponse(epsilon, 3), POINT) == pytest.approx(lead, rel=1e-12)
    tail = 2 * 2 * np.exp(-50.0)
    assert information.frequency_error(KaryRandomisedResponse(50.0, 3), POINT) == pytest.approx(tail, rel=1e-12)


def test_a_channel_too_near_one_that_tells_nothing_is_refused() -> None:
    for channel in (KaryRandomisedResponse(1e-8, 3).channel(), np.full((3, 3), 1 / 3), np.ones((1, 3))):
        with pytest.raises(ValueError, match="channel must tell its inputs apart"):
            information.distribution_error(channel, [0.5, 0.25, 0.25])
    with pytest.raises(ValueError, match="one entry per value, 3, got 2"):
        information.frequency_error(KaryRandomisedResponse(1.0, 3), [0.5, 0.5])


def test_outputs_that_nobody_sends_do_not_count() -> None:
    channel = np.vstack([KaryRandomisedResponse(1.0, 3).channel(), np.zeros((2, 3))])
    plain = KaryRandomisedResponse(1.0, 3).channel()
    for formula in (*ERRORS, information.fisher_information, information.conditional_covariance):
        assert formula(channel, POINT) == pytest.approx(formula(plain, POINT), rel=1e-12)
    assert information.entropy_constants(channel, [POINT]) == pytest.approx(
        information.entropy_constants(plain, [POINT])
    )


def test_the_covariance_given_the_report_keeps_its_digits_at_large_budgets() -> None:
    # to first order in q the report is wrong with chance (k - 1) q, and any pair of values is confused both ways
    q = KaryRandomisedResponse(50.0, 3).q
    pairs = -q * (POINT[:, None] + POINT)
    np.fill_diagonal(pairs, 0)
    full = pairs - np.diag(pairs.sum(axis=1))
    found = information.conditional_covariance(KaryRandomisedResponse(50.0, 3).channel(), POINT)
    assert found == pytest.approx(full[:2, :2], rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 30.0, 300.0])
def test_entropy_constants_agree_with_closed_forms(epsilon: float) -> None:
    points = [POINT, [1e-200, 0.5, 0.5], [0.999, 5e-4, 5e-4]]
    for point in points:
        told, rest = information.entropy_constants(KaryRandomisedResponse(epsilon, 3).channel(), [point])
        assert told == pytest.approx(information.krr_log_det_information(point, epsilon=epsilon), rel=1e-9)
        assert np.isfinite(rest)
    with pytest.raises(ValueError, match="distributions must have positive entries"):
        information.entropy_constants(UnaryEncoding.optimised(1.0, 3).channel(), [[0.5, 0.5, 0.0]])
    with pytest.raises(ValueError, match="tells them apart"):
        information.entropy_constants(np.eye(3), [POINT])
