"""Estimates at the limits: what is refused, what is accepted, and references computed another way."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from ldpnb.estimators import bayes, gaps, linear
from ldpnb.estimators.bayes import fitted_concentration, krr_posterior, krr_posterior_saddle, support_posterior
from ldpnb.estimators.frequency import project_simplex
from ldpnb.estimators.likelihood import NotCertifiedError, certificate_gap, krr_mle, mle, support_mle
from ldpnb.estimators.saddle import saddle_point
from ldpnb.estimators.sampling import hajek, ratio
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans

WARNER = KaryRandomisedResponse(1.0, 2)
GIBBS = {"prior": 0.5, "sweeps": 40, "rng": np.random.default_rng(1)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (lambda t=t: krr_mle(t, epsilon=1.0), m)
            for t, m in (
                ([3, -1], "tallies must be whole numbers >= 0"),
                ([0.5, 1], "tallies must be whole numbers >= 0"),
                ([3.0, np.inf], "tallies must be whole numbers"),
                ([3.0, np.nan], "tallies must be whole numbers"),
                ([0, 0], "tallies must have a positive sum"),
                ([[3, 4], [0, 0]], "tallies must have a positive sum"),
                ([2**52, 2**52], r"tallies must have a positive sum below 2\^53"),
                ([], "tallies must be an array of numbers"),
                (5, "tallies must be an array of numbers"),
                (["a", "b"], "tallies must be an array of numbers"),
            )
        ),
        *((lambda e=e: krr_mle([1, 2], epsilon=e), "epsilon must be") for e in (0, -1.0, np.nan, np.inf, "1")),
        *(
            (lambda c=c: mle(c, [1, 2]), "channel must be a matrix of numbers >= 0")
            for c in ([0.5, 0.5], [[0.5, np.nan], [0.5, 0.5]], [[1.0, -0.1], [0.0, 1.1]], [[np.inf, 1.0], [1.0, 1.0]])
        ),
        (lambda: mle(np.eye(2), [1, 2, 3]), "tallies must have one entry per output, 2, got 3"),
        (lambda: mle(np.eye(2), [-1, 5]), "tallies must be whole numbers"),
        (lambda: mle([[1.0, 1.0], [0.0, 0.0]], [1, 1]), "channel must allow every output"),
        (
            lambda: support_mle(np.eye(2), [1, 1], KaryRandomisedResponse(1.0, 3)),
            r"outputs must have shape \(2, 3\), got \(2, 2\)",
        ),
        (
            lambda: support_posterior(np.eye(2), [1, 1], KaryRandomisedResponse(1.0, 3), **GIBBS),
            r"outputs must have shape \(2, 3\)",
        ),
        *(
            (lambda p=p: krr_posterior([1, 2, 3], p, epsilon=1.0), "prior must be > 0 and finite")
            for p in (0.0, -1.0, [1.0, 0.0, 1.0], np.nan)
        ),
        (
            lambda: bayes.posterior(np.full((5, 5), 0.2), [200, 0, 0, 0, 0], np.ones(5)),
            "users must be few for so many values, got 200 users and 5 values",
        ),
        *(
            (lambda v=v: project_simplex(v), "vector must be finite with at least one entry")
            for v in ([0.5, np.nan], [np.inf, 0.0], [], np.empty((2, 0)), 1.0)
        ),
        *(
            (lambda c=c: linear.best_weights(c), "channel must be a matrix of outputs by inputs")
            for c in ([0.5, 0.5], np.ones((2, 3, 3)), np.ones((0, 2)))
        ),
        (lambda: ratio([3.0, np.inf], users=10, mechanism=WARNER), "tallies must be finite and >= 0"),
        (lambda: ratio([[3, 4], [0, 0]], users=10, mechanism=WARNER), "tallies must have a positive sum for a ratio"),
        (
            lambda: hajek([[[3, 4]], [[0, 0]]], users=10, rates=[0.5], mechanism=WARNER),
            "tallies must have a positive sum for a ratio",
        ),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(call: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_whole_numbers_may_be_floats_and_nearly_as_many_as_there_are() -> None:
    assert krr_mle([70.0, 30.0], epsilon=1.0).tolist() == krr_mle([70, 30], epsilon=1.0).tolist()
    assert krr_mle([70, 0], epsilon=1.0).tolist() == [1, 0]
    assert krr_mle([2**52, 2**52 - 1], epsilon=1.0) == pytest.approx([0.5, 0.5], abs=1e-12)


def test_every_data_set_must_be_certified_within_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = (np.full((2, 2), 0.5), np.array([0.0, 0.5]))
    monkeypatch.setattr("ldpnb.estimators.likelihood.interior_point", lambda *_, **__: stopped)
    assert mle(np.eye(2), [[1, 1], [1, 1]], tolerance=1.0).gap.tolist() == [0.0, 1.0]
    with pytest.raises(NotCertifiedError, match=r"may be 1 nats below its maximum, tolerance=0\.99"):
        mle(np.eye(2), [[1, 1], [1, 1]], tolerance=0.99)


def test_the_certificate_overlooks_outputs_that_were_not_seen() -> None:
    assert certificate_gap(np.eye(3), [5, 5, 0], [0.5, 0.5, 0.0]) == pytest.approx(0, abs=1e-12)


def log_ratio(x: float, mean: float) -> float:
    """Likelihood of a mean over the largest one at a folded normal value, by search."""

    def lack(m: float) -> float:
        return -float(np.logaddexp(-((x - m) ** 2) / 2, -((x + m) ** 2) / 2))

    best = minimize_scalar(lack, bounds=(0, x + 1), method="bounded", options={"xatol": 1e-10})
    return min(best.fun, lack(0.0)) - lack(mean)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("mean", [0.05, 0.4, 0.9, 1.3, 2.0, 3.1, 5.0])
def test_both_ends_of_an_acceptance_region_are_equally_likely_or_it_starts_at_zero(level: float, mean: float) -> None:
    ((low, high),) = gaps.acceptance_region([mean], level)
    if low == 0:
        assert log_ratio(0.0, mean) >= log_ratio(high, mean) - 1e-9
    else:
        assert log_ratio(low, mean) == pytest.approx(log_ratio(high, mean), abs=1e-8)
    reached = ndtr(high - mean) - ndtr(-high - mean) - ndtr(low - mean) + ndtr(-low - mean)
    assert reached == pytest.approx(level, rel=1e-12)


def test_intervals_are_the_means_whose_regions_hold_the_estimate() -> None:
    observed = np.array([0.3, 1.5, 2.7, 4.0, 6.0, 7.5])
    lower, upper = gaps.absolute_interval(-observed, 1.0, level=0.99).T
    for means, inside in ((lower + 1e-3, True), (lower - 1e-3, False), (upper - 1e-3, True), (upper + 1e-3, False)):
        regions = gaps.acceptance_region(np.maximum(means, 0), 0.99)
        held = (regions[:, 0] <= observed) & (observed <= regions[:, 1])
        assert (held[means > 0] == inside).all()


def test_intervals_pass_into_the_usual_ones_without_a_step() -> None:
    observed = np.linspace(0, 15, 3001)
    ends = gaps.absolute_interval(observed, 1.0, level=0.99)
    steps = np.array([b - a for a, b in pairwise(ends)])
    assert steps.min() >= 0
    assert steps[observed[1:] > 10] == pytest.approx(0.005, abs=1e-6)
    assert ends[observed > 10] == pytest.approx(observed[observed > 10, None] + [[-2.575829, 2.575829]], abs=1e-5)


def test_one_client_a_group_is_enough() -> None:
    mechanism = DiscretisedMeans(1.0, 1.0)
    assert gaps.group_means(mechanism, [2.0, 0.0], [1, 1]).tolist() == [2 / mechanism.gain, 0]


class Recorder(np.random.Generator):
    """A generator that keeps the parameters of the Dirichlet vectors it draws."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.shapes: list[np.ndarray] = []

    def dirichlet(self, alpha, size=None):
        self.shapes.append(np.asarray(alpha))
        return super().dirichlet(alpha, size)


@pytest.mark.parametrize(("sweeps", "warm", "kept"), [(40, 10, 40), (59, 14, 40), (80, 20, 80)])
def test_gibbs_sampling_averages_twenty_batches_after_a_quarter_of_the_sweeps(
    sweeps: int, warm: int, kept: int
) -> None:
    mechanism, tallies, rng = UnaryEncoding.optimised(1.5, 2), [2, 4, 1, 2], Recorder(1)
    found, error = support_posterior(mechanism.outputs(), tallies, mechanism, 0.5, sweeps=sweeps, rng=rng)
    assert len(rng.shapes) == warm + kept
    means = np.array([shape / shape.sum() for shape in rng.shapes[warm:]])
    assert found.distribution == pytest.approx(means.mean(axis=0), rel=1e-12)
    batches = means.reshape(20, kept // 20, 2).mean(axis=1)
    assert error == pytest.approx(np.sqrt(((batches - means.mean(axis=0)) ** 2).sum(axis=0) / 19 / 20), rel=1e-12)
    with pytest.raises(ValueError, match="sweeps must be an integer >= 40, got sweeps=39"):
        support_posterior(mechanism.outputs(), tallies, mechanism, 0.5, sweeps=39, rng=rng)


def test_the_fitted_concentration_is_likelier_than_its_neighbours_and_between_its_limits() -> None:
    rng = np.random.default_rng(13)
    held = rng.multinomial(20_000, rng.dirichlet(np.full(64, 0.7)))
    tallies = KaryRandomisedResponse(3.0, 64).sample_tallies(held, rng=rng)
    found = fitted_concentration(tallies, epsilon=3.0)
    evidence = [
        saddle_point(np.column_stack([tallies, np.full(64, found * factor)]), np.ones(64, dtype=int), np.expm1(3.0))
        for factor in (0.97, 1.0, 1.03)
    ]
    assert evidence[1].log_evidence > max(evidence[0].log_evidence, evidence[2].log_evidence)
    assert 950 < fitted_concentration(np.full(64, 100), epsilon=2.0) < 1000
    assert 8 < fitted_concentration(np.full(64, 100), epsilon=2.0, largest=10.0) < 10
    assert 1e-3 < fitted_concentration([1000, *[0] * 9], epsilon=9.0) < 1.02e-3


def test_two_values_are_enough_and_one_is_refused() -> None:
    tallies, epsilon = [30, 10], 1.0
    near, exact = krr_posterior_saddle(tallies, 0.5, epsilon=epsilon), krr_posterior(tallies, 0.5, epsilon=epsilon)
    assert near.distribution == pytest.approx(exact.distribution, abs=0.02)
    assert near.frequencies == pytest.approx(bayes.frequency_mean(near.distribution, [0.5, 0.5], 40), rel=1e-14)
    assert 1e-3 < fitted_concentration(tallies, epsilon=epsilon) < 1e3
    for estimate in (krr_posterior, krr_posterior_saddle):
        with pytest.raises(ValueError, match="tallies"):
            estimate([40], 0.5, epsilon=epsilon)


def test_the_best_weights_do_not_need_the_uniform_distribution_spelled_out() -> None:
    channel = UnaryEncoding.optimised(1.0, 3).channel()
    assert linear.best_weights(channel) == pytest.approx(linear.best_weights(channel, np.full(3, 1 / 3)), rel=1e-12)
    assert linear.least_squares_weights([[1.0]]).tolist() == [[1.0]]


def test_half_the_weights_have_half_the_deviation() -> None:
    channel, counts = KaryRandomisedResponse(1.0, 3).channel(), [60, 40, 10]
    weights = linear.best_weights(channel)
    assert linear.deviations(weights / 2, channel, counts) == pytest.approx(
        linear.deviations(weights, channel, counts) / 2, rel=1e-12
    )
