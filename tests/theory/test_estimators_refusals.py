"""What every estimator refuses, by name, rule and value."""

from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.designs.reporters import poisson
from ldpnb.estimators import bayes, gaps, linear, sampling
from ldpnb.estimators.bayes import krr_posterior, krr_posterior_saddle, support_posterior
from ldpnb.estimators.frequency import project_simplex
from ldpnb.estimators.likelihood import krr_mle, mle, support_mle
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans

RNG = np.random.default_rng(1)
KRR = KaryRandomisedResponse(1.0, 3)
GIBBS = {"prior": 0.5, "rng": RNG}
TWO = {"users": 10, "mechanism": KaryRandomisedResponse(1.0, 2)}
ONE_ROW = {"rates": [0.5], "mechanism": KRR}

LIKELIHOOD = [
    (lambda: krr_mle([3, -1], epsilon=1.0), "tallies must be whole numbers >= 0"),
    (lambda: krr_mle([0.5, 1], epsilon=1.0), "tallies must be whole numbers >= 0"),
    (lambda: krr_mle([3.0, np.inf], epsilon=1.0), "tallies must be whole numbers"),
    (lambda: krr_mle([3.0, np.nan], epsilon=1.0), "tallies must be whole numbers"),
    (lambda: krr_mle([0, 0], epsilon=1.0), "tallies must have a positive sum"),
    (lambda: krr_mle([[3, 4], [0, 0]], epsilon=1.0), "tallies must have a positive sum"),
    (lambda: krr_mle([2**52, 2**52], epsilon=1.0), r"tallies must have a positive sum below 2\^53"),
    (lambda: krr_mle([], epsilon=1.0), "tallies must be an array of numbers"),
    (lambda: krr_mle(5, epsilon=1.0), "tallies must be an array of numbers"),
    (lambda: krr_mle(["a", "b"], epsilon=1.0), "tallies must be an array of numbers"),
    *((lambda e=e: krr_mle([1, 2], epsilon=e), "epsilon must be") for e in (0, -1.0, np.nan, np.inf, "1")),
    (lambda: mle([0.5, 0.5], [1, 2]), "channel must be a matrix of numbers >= 0"),
    (lambda: mle([[0.5, np.nan], [0.5, 0.5]], [1, 2]), "channel must be a matrix of numbers >= 0"),
    (lambda: mle([[1.0, -0.1], [0.0, 1.1]], [1, 2]), "channel must be a matrix of numbers >= 0"),
    (lambda: mle([[np.inf, 1.0], [1.0, 1.0]], [1, 2]), "channel must be a matrix of numbers >= 0"),
    (lambda: mle([[1.0, 1.0], [0.0, 0.0]], [1, 1]), "channel must allow every output"),
    (lambda: mle(np.eye(2), [1, 2, 3]), "tallies must have one entry per output, 2, got 3"),
    (lambda: mle(np.eye(2), [-1, 5]), "tallies must be whole numbers"),
    (lambda: support_mle(np.full((1, 3), 0.5), [1], KRR), "outputs must be bits, 0 or 1, got a number between them"),
    (lambda: support_mle(np.full((1, 3), 2), [1], KRR), r"outputs must lie in \[0, 1\], got outputs\[0, 0\]=2"),
    (lambda: support_mle(np.full((1, 3), 2, np.uint8), [1], KRR), "outputs must be bits, 0 or 1, got 2"),
    (lambda: support_mle(np.eye(2), [1, 1], KRR), r"outputs must have shape \(2, 3\), got \(2, 2\)"),
]
BAYES = [
    (lambda: krr_posterior([40], 0.5, epsilon=1.0), "tallies"),
    (lambda: krr_posterior_saddle([40], 0.5, epsilon=1.0), "tallies"),
    (lambda: bayes.fitted_concentration([40], epsilon=1.0), "tallies"),
    (lambda: bayes.fitted_concentration([40, 2], epsilon=1.0, smallest=9e-5), "smallest must be >= 1e-4 and < largest"),
    *(
        (lambda p=p: krr_posterior([1, 2, 3], p, epsilon=1.0), "prior must be > 0 and finite")
        for p in (0.0, -1.0, [1.0, 0.0, 1.0], np.nan)
    ),
    (lambda: support_posterior(np.eye(2), [1, 1], KRR, sweeps=40, **GIBBS), r"outputs must have shape \(2, 3\)"),
    (lambda: support_posterior(np.eye(3), [1, 1, 1], KRR, sweeps=39, **GIBBS), "sweeps must be an integer >= 40, got"),
    (lambda: bayes.posterior(np.full((2, 2), 0.5), [5_000_000, 0], 1.0), "users must be few for so many values"),
]
POINTS = [
    *(
        (lambda v=v: project_simplex(v), "vector must be finite with at least one entry")
        for v in ([0.5, np.nan], [np.inf, 0.0], [], np.empty((2, 0)), 1.0)
    ),
    *(
        (lambda c=c: linear.best_weights(c), "channel must be a matrix of outputs by inputs")
        for c in ([0.5, 0.5], np.ones((2, 3, 3)), np.ones((0, 2)))
    ),
    (lambda: gaps.absolute_interval([0.1], 0.0), "sd must be > 0"),
    *(
        (
            lambda pair=pair: gaps.signed_gap([0.7, 0.3], pair),
            "pair must (be two of the 2 groups in means|have 2 entries), got pair=",
        )
        for pair in ((0, 2), (0, 1, 1), 1)
    ),
    (lambda: gaps.signed_gap(np.zeros((3, 2)), (0, 2)), "pair must be two of the 2 groups in means"),
    (lambda: gaps.self_sized_means(DiscretisedMeans(1.0, 1.0), [[1, -1], [1, 1]]), r"tallies must lie in \[0, inf\]"),
    (lambda: gaps.self_sized_means(DiscretisedMeans(1.0, 1.0), [[1, 2]]), r"tallies must have shape \(\.\.\., 2, 2\)"),
    (lambda: gaps.acceptance_region([0.0], 1), r"level must lie in \(0, 1\), got level=1"),
    (lambda: gaps.group_means(DiscretisedMeans(1.0, 1.0), [[1.0, 2.0]], [3, 0]), "sizes must be >= 1"),
]
SAMPLES = [
    (lambda: sampling.rescaled([1, 2], sampling_rate=0, **TWO), "sampling_rate must lie"),
    (lambda: sampling.realised_size([1, 2, 3], sampling_rate=1.1, mechanism=KRR), "got sampling_rate=1.1"),
    (lambda: sampling.unadjusted([1, 2, 3], **TWO), "tallies must have one entry per value"),
    (lambda: sampling.unadjusted([1, -4], **TWO), "tallies must be finite and >= 0"),
    (lambda: sampling.ratio([3.0, np.inf], **TWO), "tallies must be finite and >= 0"),
    (lambda: sampling.ratio([0, 0], **TWO), "tallies must have a positive sum for a ratio"),
    (lambda: sampling.ratio([[3, 4], [0, 0]], **TWO), "tallies must have a positive sum for a ratio"),
    (lambda: sampling.hajek([[[3, 4]], [[0, 0]]], rates=[0.5], **TWO), "tallies must have a positive sum for a ratio"),
    (lambda: sampling.horvitz_thompson([1, 2, 3], **ONE_ROW), "one row per rate"),
    (lambda: sampling.horvitz_thompson([[1, 2, 3], [4, 5, 6]], **ONE_ROW), "one row per rate"),
    (lambda: sampling.hajek([[1, 2], [3, 4]], rates=[0.5, 0.0], **TWO), r"rates must .* \(0, 1\]"),
    (lambda: sampling.hajek([[1, 2]], rates=[[0.5]], **TWO), "rates must be a vector"),
    (lambda: sampling.personalised([1, 2], expected_reports=11, **TWO), "expected_reports must be <= "),
    (lambda: sampling.reweighted_reports([1, 2], report_rates=[0.5], **TWO), "report_rates must have"),
    (lambda: sampling.reweighted_reports([1, 2], report_rates=[0.5, 1.5], **TWO), r"rates must .* \(0, 1\]"),
    (lambda: poisson([1.5], 0.5, rng=RNG), "counts must be whole numbers"),
    (lambda: poisson([-1], 0.5, rng=RNG), "counts must be whole numbers"),
    (lambda: poisson([1], 0.0, rng=RNG), r"rates must lie in \(0, 1\]"),
]


@pytest.mark.parametrize(("call", "message"), [*LIKELIHOOD, *BAYES, *POINTS, *SAMPLES])
def test_bad_input_is_refused_by_name_rule_and_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("users", [0, -1, 2.5])
@pytest.mark.parametrize(
    "estimate",
    [
        lambda **known: sampling.ratio([1, 1], **known),
        lambda **known: sampling.unadjusted([1, 1], **known),
        lambda **known: sampling.rescaled([1, 1], sampling_rate=0.5, **known),
        lambda **known: sampling.hajek([[1, 1]], rates=[0.5], **known),
        lambda **known: sampling.reweighted_reports([1, 1], report_rates=[0.5, 1], **known),
    ],
)
def test_estimates_from_a_sample_need_users(estimate: Callable[..., object], users: float) -> None:
    with pytest.raises(ValueError, match="users must be an integer >= 1"):
        estimate(**TWO | {"users": users})


def test_one_user_is_a_sample_of_users() -> None:
    assert sampling.personalised([1, 0], expected_reports=1.0, **TWO | {"users": 1}).sum() == pytest.approx(1)
