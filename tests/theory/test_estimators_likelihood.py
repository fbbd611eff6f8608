"""Maximum-likelihood estimates: exact where a formula exists, certified everywhere.

The second ways: estimates computed beforehand by other code (`tests/reference/002.json`), fractions
in which nothing is rounded, and the certificate, which bounds the distance to the maximum.
"""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.estimators import sampling
from ldpnb.estimators.frequency import normal_offset, project_simplex, scale_simplex, unbiased
from ldpnb.estimators.likelihood import (
    Fit,
    NotCertifiedError,
    certificate_gap,
    krr_mle,
    mle,
    support_mle,
)
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

CASES = json.loads((Path(__file__).parents[1] / "reference/002.json").read_text())["cases"]

UNARY = {"SUE": UnaryEncoding.symmetric, "OUE": UnaryEncoding.optimised}


def reference_cases(name: str) -> list[dict]:
    chosen = [case for case in CASES if case["fn"] == name]
    assert chosen
    return chosen


def test_krr_estimates_meet_the_reference() -> None:
    for case in reference_cases("rr"):
        tallies = case["s"]
        mechanism = KaryRandomisedResponse(case["eps"], len(tallies))

        plain = unbiased(tallies, sum(tallies), mechanism)
        assert plain == pytest.approx(case["FO"], rel=1e-9)
        assert project_simplex(plain) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)
        likeliest = krr_mle(tallies, epsilon=case["eps"])
        assert likeliest == pytest.approx(case["mle"], rel=1e-9, abs=1e-12)


def test_unary_estimates_meet_the_reference() -> None:
    for case in reference_cases("ue"):
        mechanism = UNARY[case["kind"]](case["eps"], case["a"])
        tallies = np.array(case["tallies"])
        users = tallies.sum()

        plain = unbiased(tallies @ mechanism.outputs(), users, mechanism)
        assert plain == pytest.approx(case["FO"], rel=1e-9)
        assert project_simplex(plain) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)

        from_channel = mle(mechanism.channel(), tallies, tolerance=1e-9).estimate
        from_supports = support_mle(mechanism.outputs(), tallies, mechanism).estimate
        assert from_channel == pytest.approx(case["mle"], rel=1e-9, abs=1e-12)
        assert from_supports == pytest.approx(case["mle"], rel=1e-9, abs=1e-12)

        log_likelihood = tallies @ np.log(mechanism.channel() @ from_channel)
        assert log_likelihood / users == pytest.approx(case["loglik_per_user_rel"], rel=1e-9)


def test_a_value_that_all_but_few_reports_name_has_the_whole_share() -> None:
    for epsilon in np.geomspace(0.001, 5, 40):
        assert krr_mle([1_000_003, 3, 1], epsilon=epsilon).tolist() == [1.0, 0.0, 0.0]


def test_one_user_may_be_all_that_are_sampled() -> None:
    warner = KaryRandomisedResponse(1.0, 2)
    estimate = sampling.rescaled([1, 0], users=1, sampling_rate=1.0, mechanism=warner)
    assert estimate.sum() == pytest.approx(1, abs=1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=3, max_size=12).filter(any), st.floats(0.05, 8))
def test_scaling_leads_from_the_mle_by_normal_errors_to_norm_sub(
    tallies: list[int], epsilon: float
) -> None:
    mechanism = KaryRandomisedResponse(epsilon, len(tallies))
    plain = unbiased(tallies, sum(tallies), mechanism)
    likeliest = scale_simplex(plain, 1 / np.expm1(epsilon))
    assert likeliest == pytest.approx(krr_mle(tallies, epsilon=epsilon), abs=1e-9)
    assert scale_simplex(plain, 1e7) == pytest.approx(project_simplex(plain), abs=1e-4)

    # the pull of the weighted squares is the same for all values that are kept
    offset = float(normal_offset(mechanism))
    normal = scale_simplex(plain, offset)
    pull = 1 - ((plain + offset) / (normal + offset)) ** 2
    kept = pull[normal > 0]
    assert normal.sum() == pytest.approx(1)
    assert np.ptp(kept) <= 1e-6 * max(1, abs(kept.max()))
    assert (pull[normal == 0] >= kept.min() - 1e-6).all()


def kept_ranks(column: list[Fraction], extra: Fraction, lack: int) -> tuple[int, Fraction]:
    """Return the last rank ``K`` with ``(K + extra) v_K > S_K - lack``, and ``S_K``."""
    total = Fraction(0)
    kept = (0, Fraction(0))
    for rank, value in enumerate(sorted(column, reverse=True), start=1):
        total += value
        if (rank + extra) * value > total - lack:
            kept = (rank, total)
    return kept


def krr_mle_in_fractions(tallies: np.ndarray, epsilon: float) -> list[float]:
    c = Fraction(float(np.expm1(epsilon)))
    exact = [Fraction(tally) for tally in tallies.tolist()]
    kept, total = kept_ranks(exact, c, 0)
    return [max(float((c + kept) * tally / (c * total) - 1 / c), 0) for tally in exact]


def projection_in_fractions(point: np.ndarray) -> list[float]:
    exact = [Fraction(entry) for entry in point]
    kept, total = kept_ranks(exact, Fraction(0), 1)
    return [max(float(entry - (total - 1) / kept), 0) for entry in exact]


def two_data_sets(kind: str, size: int) -> np.ndarray:
    rng = np.random.default_rng(size)
    values = np.arange(size)
    if kind == "ties":
        return rng.integers(0, 3, (2, size)) + (values == 0)
    if kind == "few":
        return rng.integers(0, 1000, (2, size)) * (values < 5) + 1
    if kind == "all kept":
        return np.full((2, size), 10**6) + rng.integers(0, 2, (2, size))
    if kind == "heavy":
        return 1 + np.floor(1e6 / rng.random((2, size))).astype(np.int64)
    return 2**40 - np.arange(2 * size).reshape(2, size) ** 2


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 1025])
@pytest.mark.parametrize("kind", ["ties", "few", "all kept", "heavy", "close"])
def test_projection_and_krr_mle_are_exact_at_every_length(size: int, kind: str) -> None:
    tallies = two_data_sets(kind, size)
    for epsilon in (1e-300, 1e-8, 1.0, 700.0):
        exact = krr_mle_in_fractions(tallies[0], epsilon)
        estimate = krr_mle(tallies, epsilon=epsilon)[0]
        assert estimate == pytest.approx(exact, rel=1e-9, abs=1e-15)
        assert (krr_mle(tallies[0], epsilon=epsilon) == estimate).all()

    for points in (tallies / tallies.sum() * 3 - 0.01, tallies + 1e15):
        exact = projection_in_fractions(points[0])
        projected = project_simplex(points)[0]
        assert projected == pytest.approx(exact, rel=1e-9, abs=1e-14)
        assert (project_simplex(points[0]) == projected).all()


def assert_certified(mechanism: UnaryEncoding, users: int) -> None:
    """Draw reports and check that the estimate is within a thousandth of a nat of the maximum."""
    rng = np.random.default_rng(4)
    holders = rng.multinomial(users, rng.dirichlet(np.full(mechanism.domain_size, 0.5)))
    outputs, tallies = mechanism.sample_outputs(holders, rng=rng)

    estimate = support_mle(outputs, tallies, mechanism, tolerance=1e-3).estimate
    likelihoods = 1 + np.expm1(mechanism.epsilon) * outputs
    assert certificate_gap(likelihoods, tallies, estimate / estimate.sum()) < 1.1e-3


@pytest.mark.parametrize("kind", UNARY)
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 8.0, 30.0])
def test_unary_encoding_is_certified_at_every_epsilon(kind: str, epsilon: float) -> None:
    assert_certified(UNARY[kind](epsilon, 10), users=10**6)


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 8.0, 20.0])
def test_unary_encoding_of_many_values_is_certified_at_every_epsilon(epsilon: float) -> None:
    assert_certified(UnaryEncoding.optimised(epsilon, 74), users=5000)


def test_packed_reports_are_the_reports() -> None:
    mechanism = UnaryEncoding.optimised(2.0, 74)
    rng = np.random.default_rng(5)
    holders = rng.multinomial(2000, np.full(74, 1 / 74))
    outputs, tallies = mechanism.sample_outputs(holders, rng=rng)

    packed = np.packbits(outputs, axis=1)
    from_packed = support_mle(packed, tallies, mechanism).estimate
    assert (from_packed == support_mle(outputs, tallies, mechanism).estimate).all()

    packed[3, -1] |= 1
    with pytest.raises(ValueError, match="outputs must have no bits beyond the 74 values"):
        support_mle(packed, tallies, mechanism)


def test_outputs_that_leave_the_estimate_open_still_get_a_maximum() -> None:
    fit = mle([[0.5, 0.25, 0.25], [0.5, 0.75, 0.75]], [40, 60])
    assert isinstance(fit, Fit)
    assert fit.estimate[0] == pytest.approx(0.6, abs=1e-6)


def test_every_data_set_must_be_certified_within_the_tolerance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    estimates = np.full((2, 2), 0.5)
    gaps = np.array([0.0, 0.5])
    monkeypatch.setattr(
        "ldpnb.estimators.likelihood.interior_point", lambda *_, **__: (estimates, gaps)
    )

    two_data_sets = [[1, 1], [1, 1]]
    assert mle(np.eye(2), two_data_sets, tolerance=1.0).gap.tolist() == [0.0, 1.0]
    message = r"may be 1 nats below its maximum, tolerance=0\.99"
    with pytest.raises(NotCertifiedError, match=message):
        mle(np.eye(2), two_data_sets, tolerance=0.99)


def test_an_easy_data_set_does_not_end_the_search_for_a_hard_one() -> None:
    channel = KaryRandomisedResponse(6.0, 5).channel()
    easy = [200, 200, 200, 200, 200]
    hard = [10**6, 3, 1, 0, 0]
    data_sets = [easy, hard, easy]

    fit = mle(channel, data_sets, tolerance=1e-6)
    assert fit.gap.max() <= 1e-6
    assert (fit.estimate >= 0).all()
    for estimate, tallies in zip(fit.estimate, data_sets, strict=True):
        assert estimate == pytest.approx(krr_mle(tallies, epsilon=6.0), abs=1e-12)
        assert certificate_gap(channel, tallies, estimate) <= 1e-5
