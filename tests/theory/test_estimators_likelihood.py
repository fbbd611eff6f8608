"""Maximum-likelihood estimates: exact where a formula exists, certified everywhere."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.estimators.frequency import normal_offset, project_simplex, scale_simplex, unbiased
from ldpnb.estimators.likelihood import Fit, NotCertifiedError, certificate_gap, krr_mle, mle, support_mle
from ldpnb.estimators.solvers import Rows, proximal_newton
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

CASES = json.loads((Path(__file__).parents[1] / "reference/002.json").read_text())["cases"]


def cases(name: str) -> list[dict]:
    found = [case for case in CASES if case["fn"] == name]
    assert found
    return found


def test_krr_estimates_meet_the_reference() -> None:
    for case in cases("rr"):
        mechanism, users = KaryRandomisedResponse(case["eps"], len(case["s"])), sum(case["s"])
        plain = unbiased(case["s"], users, mechanism)
        assert plain == pytest.approx(case["FO"], rel=1e-9)
        assert project_simplex(plain) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)
        assert krr_mle(case["s"], epsilon=case["eps"]) == pytest.approx(case["mle"], rel=1e-9, abs=1e-12)


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


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=2, max_size=12).filter(any), st.floats(0.01, 12))
def test_values_that_survive_norm_sub_survive_the_mle(tallies: list[int], epsilon: float) -> None:
    plain = unbiased(tallies, sum(tallies), KaryRandomisedResponse(epsilon, len(tallies)))
    near, best = project_simplex(plain), krr_mle(tallies, epsilon=epsilon)
    assert (best[near > 1e-12] > 0).all()
    if plain.min() >= 0:
        assert best == pytest.approx(plain, abs=1e-9)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=3, max_size=12).filter(any), st.floats(0.05, 8))
def test_scaling_leads_from_the_mle_by_normal_errors_to_norm_sub(tallies: list[int], epsilon: float) -> None:
    mechanism = KaryRandomisedResponse(epsilon, len(tallies))
    plain, offset = unbiased(tallies, sum(tallies), mechanism), float(normal_offset(mechanism))
    assert scale_simplex(plain, 1 / np.expm1(epsilon)) == pytest.approx(krr_mle(tallies, epsilon=epsilon), abs=1e-9)
    assert scale_simplex(plain, 1e7) == pytest.approx(project_simplex(plain), abs=1e-4)
    normal = scale_simplex(plain, offset)
    assert normal.sum() == pytest.approx(1)
    pull = 1 - ((plain + offset) / (normal + offset)) ** 2  # of the weighted squares, the same for all that are kept
    level = pull[normal > 0]
    assert np.ptp(level) <= 1e-6 * max(1, abs(level.max()))
    assert (pull[normal == 0] >= level.min() - 1e-6).all()


@pytest.mark.parametrize("kept", [1, 255, 256, 257, 2048, 2999, 3000])
def test_a_distribution_is_its_own_projection_whatever_is_beside_it(kept: int) -> None:
    point = np.r_[np.full(kept, 1 / kept), np.full(3000 - kept, -1.0)]
    assert project_simplex(point) == pytest.approx(np.maximum(point, 0), rel=1e-12)


def test_the_krr_mle_solves_a_million_values_in_one_sort() -> None:
    tallies = np.random.default_rng(1).multinomial(10**7, np.full(10**6, 1e-6))
    assert krr_mle(tallies, epsilon=3.0).sum() == pytest.approx(1, abs=1e-9)


def level(column: list[Fraction], extra: Fraction, lack: int) -> tuple[int, Fraction]:
    """Return the last rank K with ``(K + extra) v_K > S_K - lack``, and S_K, one after the other and exactly."""
    total, found = Fraction(0), (0, Fraction(0))
    for rank, value in enumerate(sorted(column, reverse=True), start=1):
        total += value
        if (rank + extra) * value > total - lack:
            found = rank, total
    return found


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 2049])
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
    for epsilon in (1e-300, 1e-16, 1.5e-12, 1e-8, 1.0, 700.0):
        c = Fraction(float(np.expm1(epsilon)))
        kept, total = level([Fraction(int(s)) for s in tallies[0]], c, 0)
        exact = [max(float((c + kept) * Fraction(int(s)) / (c * total) - 1 / c), 0) for s in tallies[0]]
        assert krr_mle(tallies, epsilon=epsilon)[0] == pytest.approx(exact, rel=1e-9, abs=1e-15)
        assert (krr_mle(tallies[0], epsilon=epsilon) == krr_mle(tallies, epsilon=epsilon)[0]).all()
    for point in (tallies / tallies.sum() * 3 - 0.01, tallies + 1e15):
        kept, total = level([Fraction(x) for x in point[0]], Fraction(0), 1)
        exact = [max(float(Fraction(x) - (total - 1) / kept), 0) for x in point[0]]
        assert project_simplex(point)[0] == pytest.approx(exact, rel=1e-9, abs=1e-14)
        assert (project_simplex(point[0]) == project_simplex(point)[0]).all()


def test_a_value_just_below_the_threshold_is_left_out() -> None:
    assert krr_mle([5, 5, 1], epsilon=np.log(8.5)) == pytest.approx([0.5, 0.5, 0.0], rel=1e-12)


def test_no_share_exceeds_one() -> None:
    assert krr_mle([0, 0, 9517, 0], epsilon=37.39038366551683).tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("size", [3, 32, 33])
def test_channels_whose_columns_differ_are_certified_at_any_length(size: int) -> None:
    rng = np.random.default_rng(size)
    channel = rng.dirichlet(np.full(2 * size, 0.5), size).T + 1e-3
    tallies = rng.multinomial(10**4, channel @ np.eye(size)[0] / channel[:, 0].sum())
    estimate = mle(channel, tallies, tolerance=1e-6).estimate
    gradient = channel.T @ (tallies / tallies.sum() / (channel @ estimate))
    assert gradient.max() <= 1 + 1e-9
    assert estimate.sum() == pytest.approx(1, rel=1e-12)


def test_many_data_sets_are_solved_like_one() -> None:
    mechanism, rng = UnaryEncoding.optimised(2.0, 4), np.random.default_rng(3)
    tallies = rng.multinomial(500, mechanism.channel() @ np.array([0.7, 0.2, 0.1, 0.0]), size=8)
    together = mle(mechanism.channel(), tallies, tolerance=1e-9)
    apart = [mle(mechanism.channel(), tally, tolerance=1e-9).estimate for tally in tallies]
    assert together.estimate.shape == (8, 4)
    assert together.estimate == pytest.approx(np.array(apart), abs=1e-9)
    assert together.gap.max() < 1e-9


@pytest.mark.parametrize(
    ("kind", "epsilon", "size", "users"),
    [
        *((kind, epsilon, 10, 10**6) for kind in ("symmetric", "optimised") for epsilon in (1e-6, 0.5, 8.0, 30.0)),
        *(("optimised", epsilon, 74, 5000) for epsilon in (0.5, 4.0, 8.0, 20.0)),
    ],
)
def test_unary_encoding_is_certified_at_every_epsilon(kind: str, epsilon: float, size: int, users: int) -> None:
    mechanism, rng = getattr(UnaryEncoding, kind)(epsilon, size), np.random.default_rng(4)
    outputs, tallies = mechanism.sample_outputs(rng.multinomial(users, rng.dirichlet(np.full(size, 0.5))), rng=rng)
    fit = support_mle(outputs, tallies, mechanism, tolerance=1e-3)
    assert certificate_gap(1 + np.expm1(epsilon) * outputs, tallies, fit.estimate / fit.estimate.sum()) < 1.1e-3


def test_hundreds_of_values_are_certified_without_listing_outputs() -> None:
    mechanism, rng = UnaryEncoding.optimised(6.0, 150), np.random.default_rng(6)
    held = rng.multinomial(1000, rng.dirichlet(np.full(150, 0.5)))
    outputs = mechanism.randomize(np.repeat(np.arange(150), held), rng=rng)
    fit = support_mle(outputs, np.ones(1000, dtype=int), mechanism, tolerance=0.1)
    assert certificate_gap(1 + np.expm1(6.0) * outputs, np.ones(1000), fit.estimate / fit.estimate.sum()) < 0.11


def test_a_sample_of_the_rows_is_model_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldpnb.estimators.solvers._MODEL_WORK", 1e6)
    monkeypatch.setattr("ldpnb.estimators.solvers._LARGE", 1)
    mechanism, rng = UnaryEncoding.optimised(5.0, 40), np.random.default_rng(7)
    held = rng.multinomial(20_000, rng.dirichlet(np.full(40, 0.3)))
    outputs, tallies = mechanism.sample_outputs(held, rng=rng)
    fit = support_mle(outputs, tallies, mechanism, tolerance=1e-3)
    exact = mle(1 + np.expm1(5.0) * outputs, tallies, tolerance=1e-3)
    assert fit.estimate == pytest.approx(exact.estimate, abs=1e-4)


def test_single_precision_alone_is_never_a_certificate() -> None:
    rng = np.random.default_rng(10)
    rows = Rows(rng.integers(0, 2, (400, 40), dtype=np.uint8), np.full(400, 1 / 400), 1.0, 2.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldpnb.estimators.solvers._LARGE", 1)
        assert proximal_newton(rows, np.full(40, 1 / 40), tolerance=1e-9, passes=2)[1] == np.inf


def test_outputs_that_leave_the_estimate_open_still_get_a_maximum() -> None:
    fit = mle([[0.5, 0.25, 0.25], [0.5, 0.75, 0.75]], [40, 60])
    assert isinstance(fit, Fit)
    assert fit.estimate[0] == pytest.approx(0.6, abs=1e-6)


def test_whole_numbers_may_be_floats_and_nearly_as_many_as_there_are() -> None:
    assert krr_mle([70.0, 30.0], epsilon=1.0).tolist() == krr_mle([70, 30], epsilon=1.0).tolist()
    assert krr_mle([70, 0], epsilon=1.0) == pytest.approx([1, 0], rel=1e-15, abs=0)
    assert krr_mle([2**52, 2**52 - 1], epsilon=1.0) == pytest.approx([0.5, 0.5], abs=1e-12)


def test_every_data_set_must_be_certified_within_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = (np.full((2, 2), 0.5), np.array([0.0, 0.5]))
    monkeypatch.setattr("ldpnb.estimators.likelihood.interior_point", lambda *_, **__: stopped)
    assert mle(np.eye(2), [[1, 1], [1, 1]], tolerance=1.0).gap.tolist() == [0.0, 1.0]
    with pytest.raises(NotCertifiedError, match=r"may be 1 nats below its maximum, tolerance=0\.99"):
        mle(np.eye(2), [[1, 1], [1, 1]], tolerance=0.99)


def test_the_certificate_overlooks_outputs_that_were_not_seen() -> None:
    for times in (1, 5):
        assert certificate_gap(np.eye(3), [times, times, 0], [0.5, 0.5, 0.0]) == pytest.approx(0, abs=1e-12)


def test_scaling_solves_every_row_by_itself() -> None:
    rows = [[0.75, 0.5, -0.25], [0.2, 0.5, 0.3], [3.0, -0.5, -0.9]]
    together = scale_simplex([rows, rows], 1.0)
    assert together.shape == (2, 3, 3)
    assert (together[1] == [scale_simplex(row, 1.0) for row in rows]).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_found_in_every_row(wrong: float) -> None:
    for rows in ([[0.5, wrong], [0.0, 1.0]], [[0.0, 1.0], [wrong, 0.5]], [wrong, 0.5, 0.1]):
        for estimate in (project_simplex, lambda point: scale_simplex(point, 1.0)):
            with pytest.raises(ValueError, match="vector must be finite with at least one entry"):
                estimate(rows)


def test_values_that_are_left_out_do_not_cost_the_others_their_precision() -> None:
    tallies = [600, 300, 5, 0, 0, 2]
    loose = mle(KaryRandomisedResponse(1.0, 6).channel(), tallies)
    assert loose.gap <= 1e-9
    assert loose.estimate == pytest.approx(krr_mle(tallies, epsilon=1.0), abs=1e-12)


def test_an_easy_data_set_does_not_end_the_search_for_a_hard_one() -> None:
    channel = KaryRandomisedResponse(6.0, 5).channel()
    easy, hard = [200, 200, 200, 200, 200], [10**6, 3, 1, 0, 0]
    fit = mle(channel, [easy, hard, easy], tolerance=1e-6)
    assert fit.gap.max() <= 1e-6
    assert (fit.estimate >= 0).all()
    for estimate, tallies in zip(fit.estimate, (easy, hard, easy), strict=True):
        assert estimate == pytest.approx(krr_mle(tallies, epsilon=6.0), abs=1e-12)
        assert certificate_gap(channel, tallies, estimate) <= 1e-5
