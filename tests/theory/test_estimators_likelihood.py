"""Maximum-likelihood estimates: exact where a formula exists, certified everywhere."""

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


def cases(name: str) -> list[dict]:
    chosen = [case for case in CASES if case["fn"] == name]
    assert chosen
    return chosen


def test_krr_estimates_meet_the_reference() -> None:
    for case in cases("rr"):
        mechanism, users = KaryRandomisedResponse(case["eps"], len(case["s"])), sum(case["s"])
        plain = unbiased(case["s"], users, mechanism)
        assert plain == pytest.approx(case["FO"], rel=1e-9)
        assert project_simplex(plain) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)
        assert krr_mle(case["s"], epsilon=case["eps"]) == pytest.approx(
            case["mle"], rel=1e-9, abs=1e-12
        )


def test_unary_estimates_meet_the_reference() -> None:
    for case in cases("ue"):
        make = UnaryEncoding.optimised if case["kind"] == "OUE" else UnaryEncoding.symmetric
        mechanism, tallies = make(case["eps"], case["a"]), np.array(case["tallies"])
        plain = unbiased(tallies @ mechanism.outputs(), tallies.sum(), mechanism)
        assert plain == pytest.approx(case["FO"], rel=1e-9)
        assert project_simplex(plain) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)
        fit = mle(mechanism.channel(), tallies, tolerance=1e-9)
        short = support_mle(mechanism.outputs(), tallies, mechanism)
        for estimate in (fit.estimate, short.estimate):
            assert estimate == pytest.approx(case["mle"], rel=1e-9, abs=1e-12)
        value = tallies @ np.log(mechanism.channel() @ fit.estimate) / tallies.sum()
        assert value == pytest.approx(case["loglik_per_user_rel"], rel=1e-9)


def test_a_value_that_all_but_few_reports_name_has_the_whole_share() -> None:
    budgets = np.geomspace(0.001, 5, 40)
    assert all(krr_mle([1_000_003, 3, 1], epsilon=e).tolist() == [1.0, 0.0, 0.0] for e in budgets)


def test_one_user_may_be_all_that_are_sampled() -> None:
    estimate = sampling.rescaled(
        [1, 0], users=1, sampling_rate=1.0, mechanism=KaryRandomisedResponse(1.0, 2)
    )
    assert estimate.sum() == pytest.approx(1, abs=1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=3, max_size=12).filter(any), st.floats(0.05, 8))
def test_scaling_leads_from_the_mle_by_normal_errors_to_norm_sub(
    tallies: list[int], epsilon: float
) -> None:
    mechanism = KaryRandomisedResponse(epsilon, len(tallies))
    plain, offset = unbiased(tallies, sum(tallies), mechanism), float(normal_offset(mechanism))
    assert scale_simplex(plain, 1 / np.expm1(epsilon)) == pytest.approx(
        krr_mle(tallies, epsilon=epsilon), abs=1e-9
    )
    assert scale_simplex(plain, 1e7) == pytest.approx(project_simplex(plain), abs=1e-4)
    normal = scale_simplex(plain, offset)
    assert normal.sum() == pytest.approx(1)
    pull = (
        1 - ((plain + offset) / (normal + offset)) ** 2
    )  # of the weighted squares, the same for all that are kept
    level = pull[normal > 0]
    assert np.ptp(level) <= 1e-6 * max(1, abs(level.max()))
    assert (pull[normal == 0] >= level.min() - 1e-6).all()


def level(column: list[Fraction], extra: Fraction, lack: int) -> tuple[int, Fraction]:
    """Return the last rank K with ``(K + extra) v_K > S_K - lack``, and S_K, one after the other
    and exactly.
    """
    total, last = Fraction(0), (0, Fraction(0))
    for rank, value in enumerate(sorted(column, reverse=True), start=1):
        total += value
        if (rank + extra) * value > total - lack:
            last = rank, total
    return last


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 1025])
@pytest.mark.parametrize("kind", ["ties", "few", "all kept", "heavy", "close"])
def test_projection_and_krr_mle_are_exact_at_every_length(size: int, kind: str) -> None:
    rng = np.random.default_rng(size)
    tallies = {
        "ties": rng.integers(0, 3, (2, size)) + (np.arange(size) == 0),
        "few": rng.integers(0, 1000, (2, size)) * (np.arange(size) < 5) + 1,
        "all kept": np.full((2, size), 10**6) + rng.integers(0, 2, (2, size)),
        "heavy": 1 + np.floor(1e6 / rng.random((2, size))).astype(np.int64),
        "close": 2**40 - np.arange(2 * size).reshape(2, size) ** 2,
    }[kind]
    for epsilon in (1e-300, 1e-8, 1.0, 700.0):
        c = Fraction(float(np.expm1(epsilon)))
        kept, total = level([Fraction(int(s)) for s in tallies[0]], c, 0)
        exact = [
            max(float((c + kept) * Fraction(int(s)) / (c * total) - 1 / c), 0) for s in tallies[0]
        ]
        assert krr_mle(tallies, epsilon=epsilon)[0] == pytest.approx(exact, rel=1e-9, abs=1e-15)
        assert (krr_mle(tallies[0], epsilon=epsilon) == krr_mle(tallies, epsilon=epsilon)[0]).all()
    for point in (tallies / tallies.sum() * 3 - 0.01, tallies + 1e15):
        kept, total = level([Fraction(x) for x in point[0]], Fraction(0), 1)
        exact = [max(float(Fraction(x) - (total - 1) / kept), 0) for x in point[0]]
        assert project_simplex(point)[0] == pytest.approx(exact, rel=1e-9, abs=1e-14)
        assert (project_simplex(point[0]) == project_simplex(point)[0]).all()


@pytest.mark.parametrize(
    ("kind", "epsilon", "size", "users"),
    [
        *(
            (kind, epsilon, 10, 10**6)
            for kind in ("symmetric", "optimised")
            for epsilon in (1e-6, 0.5, 8.0, 30.0)
        ),
        *(("optimised", epsilon, 74, 5000) for epsilon in (0.5, 4.0, 8.0, 20.0)),
    ],
)
def test_unary_encoding_is_certified_at_every_epsilon(
    kind: str, epsilon: float, size: int, users: int
) -> None:
    mechanism, rng = getattr(UnaryEncoding, kind)(epsilon, size), np.random.default_rng(4)
    outputs, tallies = mechanism.sample_outputs(
        rng.multinomial(users, rng.dirichlet(np.full(size, 0.5))), rng=rng
    )
    fit = support_mle(outputs, tallies, mechanism, tolerance=1e-3)
    assert (
        certificate_gap(1 + np.expm1(epsilon) * outputs, tallies, fit.estimate / fit.estimate.sum())
        < 1.1e-3
    )


def test_packed_reports_are_the_reports() -> None:
    mechanism, rng = UnaryEncoding.optimised(2.0, 74), np.random.default_rng(5)
    outputs, tallies = mechanism.sample_outputs(rng.multinomial(2000, np.full(74, 1 / 74)), rng=rng)
    packed = np.packbits(outputs, axis=1)
    assert (
        support_mle(packed, tallies, mechanism).estimate
        == support_mle(outputs, tallies, mechanism).estimate
    ).all()
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
    stopped = (np.full((2, 2), 0.5), np.array([0.0, 0.5]))
    monkeypatch.setattr("ldpnb.estimators.likelihood.interior_point", lambda *_, **__: stopped)
    assert mle(np.eye(2), [[1, 1], [1, 1]], tolerance=1.0).gap.tolist() == [0.0, 1.0]
    with pytest.raises(
        NotCertifiedError, match=r"may be 1 nats below its maximum, tolerance=0\.99"
    ):
        mle(np.eye(2), [[1, 1], [1, 1]], tolerance=0.99)


def test_an_easy_data_set_does_not_end_the_search_for_a_hard_one() -> None:
    channel = KaryRandomisedResponse(6.0, 5).channel()
    easy, hard = [200, 200, 200, 200, 200], [10**6, 3, 1, 0, 0]
    fit = mle(channel, [easy, hard, easy], tolerance=1e-6)
    assert fit.gap.max() <= 1e-6
    assert (fit.estimate >= 0).all()
    for estimate, tallies in zip(fit.estimate, (easy, hard, easy), strict=True):
        assert estimate == pytest.approx(krr_mle(tallies, epsilon=6.0), abs=1e-12)
        assert certificate_gap(channel, tallies, estimate) <= 1e-5
