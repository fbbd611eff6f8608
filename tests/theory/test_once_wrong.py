"""Numbers that were wrong once, where everything cancels or overflows: right now by a closed form, or refused."""

import math
import warnings
from collections.abc import Callable, Iterator

import mpmath as mp
import numpy as np
import pytest

from ldpnb.accuracy import histograms, information, means, tails
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.designs.sizes import SizeLaw, binomial_size
from ldpnb.estimators.bayes import krr_posterior_saddle
from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.mechanisms.means import OneBit
from ldpnb.planning.questions import Frequency
from ldpnb.privacy import best_channel, hockey_stick, rounding, shuffling, unequal
from ldpnb.privacy.random_size import random_size_loss

UNIFORM = [1 / 3] * 3
NARROW = np.array([[0.5 + 1e-13, 0.5], [0.5 - 1e-13, 0.5]])


def with_a_gap(epsilon: float) -> float:
    weights = np.full(61, 1e-9)
    weights[[5, 40]] = 0.5
    return random_size_loss(SizeLaw(np.log(weights / weights.sum())), epsilon)


def krr(epsilon: float, size: int = 2) -> KaryRandomisedResponse:
    return KaryRandomisedResponse(epsilon, size)


def coin(epsilon: float) -> float:
    """Return the variance of an unbiased share by one report of two values, ``1 / (4 sinh^2(epsilon/2))``."""
    return float(1 / (2 * mp.sinh(mp.mpf(epsilon) / 2)) ** 2)


def of_two_clusters(size: int, epsilon: float) -> float:
    with mp.workdps(60):
        e, n = mp.exp(-mp.mpf(epsilon)), mp.mpf(2 * size)
        rest = size * e ** (2 * size)
        return float(mp.log((n - 1) / n * (size + rest) / ((size - 1) * e + rest)))


def rights() -> Iterator[tuple[str, Callable[[], float], float]]:
    for epsilon, loss in ((1.01, 1.7440), (1.05, 1.8615)):
        yield f"a law with a gap, {epsilon}", lambda e=epsilon: round(with_a_gap(e), 4), loss
    wide, million = (
        shuffling.ShuffledReports(3000, 0.2, krr(6.0, 50)),
        shuffling.ShuffledReports(10**6, 1.0, krr(8, 10)),
    )
    yield "shuffled, upper", lambda: round(wide.epsilon_upper(1e-9), 7), 1.0259017
    yield "shuffled, lower", lambda: round(wide.epsilon_lower(1e-9), 7), 1.0258973
    yield "shuffled, delta at most", lambda: round(million.delta_upper(0.1), 8), 0.00372216
    yield "shuffled, delta at least", lambda: round(million.delta_lower(0.1), 8), 0.00372216
    yield "closed form", lambda: round(shuffling.closed_form(1e-6, users=10**5, epsilon=4.0), 6), 0.534634
    yield "fair signs", lambda: float(f"{tails.symmetric_binomial(5 * 10**9, 6 * 5e9**0.5):.0e}"), 2e-9
    yield "one bit", lambda: means.success(OneBit(1.0), 5 * 10**9, 0.1), 1.0
    for epsilon in (1e-5, 1e-6, 1e-7, 1e-8, 50.0):
        c, e = math.expm1(epsilon), math.exp(epsilon)
        yield (
            f"distribution, {epsilon}",
            lambda k=epsilon: information.distribution_error(krr(k, 3), UNIFORM),
            (2 / 3 * ((c + 3) / c) ** 2),
        )
        yield (
            f"frequency, {epsilon}",
            lambda k=epsilon: information.frequency_error(krr(k, 3), UNIFORM),
            (2 / 3 * (6 * e + 3) / c / c),
        )
    for epsilon in (20.0, 30.0, 40.0, 50.0):
        survey = SampledCounts(1000, 1.0, krr(epsilon))
        for holders in (500, 1000):
            yield (
                f"rescaled, {epsilon}, {holders}",
                lambda s=survey, h=holders: s.variance_rescaled(h),
                1000 * coin(epsilon),
            )
            yield (
                f"realised, {epsilon}, {holders}",
                lambda s=survey, h=holders: s.variance_realised_size(h),
                (1000 * coin(epsilon)),
            )
            yield (
                f"pure, {epsilon}, {holders}",
                lambda k=epsilon, h=holders: histograms.pure_variance(h, users=1000, mechanism=krr(k)),
                1000 * coin(epsilon),
            )
    for epsilon in (1e-8, 40.0, 50.0):
        yield (
            f"unbiased error, {epsilon}",
            lambda k=epsilon: information.unbiased_frequency_error(krr(k)),
            2 * coin(epsilon),
        )
    yield "unbiased", lambda: unbiased([600, 400], 1000, krr(1e-8))[0], 20000000.5
    yield "entropy of tallies", lambda: float(f"{TwoValues(7, 50.0).entropies()[1]:.1e}"), 6.6e-20
    yield "clusters", lambda: unequal.pps_cluster_loss([10**6, 10**6], 1e-9), of_two_clusters(10**6, 1e-9)
    yield "29 % of 50 are 14.5, in floats less", lambda: rounding.nearest_rounding_loss(49, 0.29, 0.5), 0.5
    yield "nothing is drawn", lambda: rounding.nearest_rounding_loss(10, 4.57e-8, 700.0), 0.0
    yield "no privacy at all", lambda: hockey_stick.channel_delta(np.eye(3), 1.0), 1.0
    yield "posterior", lambda: krr_posterior_saddle([5, 3, 2], [0.5] * 3, epsilon=699.0).frequencies[0], 0.5


RIGHTS = list(rights())


@pytest.mark.parametrize(("found", "expected"), [line[1:] for line in RIGHTS], ids=[line[0] for line in RIGHTS])
def test_numbers_are_right(found: Callable[[], float], expected: float) -> None:
    assert found() == pytest.approx(expected, rel=1e-10 if expected else 0, abs=0)


def finite(result: object) -> bool:
    fields = getattr(result, "__dataclass_fields__", None)
    return all(np.isfinite(getattr(result, f)).all() for f in fields) if fields else bool(np.isfinite(result).all())


@pytest.mark.parametrize(
    "call",
    [
        lambda: shuffling.ShuffledReports(10**9, 1.0, krr(1.0, 10)).delta_upper(0.1),
        lambda: shuffling.ShuffledReports(1000, 1.0, krr(700.0, 10)).delta_upper(699.0),
        lambda: shuffling.ShuffledReports(1000, 1.0, krr(700.0, 10)).delta_lower(699.0),
        lambda: TwoValues(7, 40.0).entropies(),
        lambda: TwoValues(7, 50.0).risk(),
        lambda: TwoValues(1000, 292.6, 3.26e-7).posteriors(),
        lambda: TwoValues(1000, 3.26e-7, 292.6).posteriors(),
        lambda: information.entropy_constants(krr(40.0, 3).channel(), [UNIFORM]),
        lambda: information.fisher_information(NARROW, [0.3, 0.7]),
        lambda: information.conditional_covariance(NARROW, [0.3, 0.7]),
        lambda: hockey_stick.total_variation(LaplaceMeans(699.0, 700.0)),
    ],
)
def test_numbers_are_finite_without_a_warning(call: Callable[[], object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert finite(call())


def test_probabilities_and_squared_errors_keep_their_range() -> None:
    assert TwoValues(7, 50.0).risk().frequency > 0
    assert hockey_stick.total_variation(LaplaceMeans(699.0, 700.0)) <= 1
    assert shuffling.ShuffledReports(10**9, 1.0, krr(1.0, 10)).delta_upper(0.0) <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda n=n: Frequency(count=n, epsilon=1.0, failure=0.01, values=16),
                "count must be at most 1,000,000,000,000 people",
            )
            for n in (10**16, 10**17, 10**18)
        ),
        (lambda: shuffling.ShuffledReports(10**10, 1.0, krr(1.0, 10)).delta_upper(0.1), "users must be at most"),
        (lambda: information.frequency_error(np.full((2, 2), 0.5), [0.3, 0.7]), "channel must"),
        (lambda: best_channel.staircase_patterns(27, 1.0), "domain_size must be <= 16"),
        (lambda: binomial_size(10**12, 0.5), "population must be <= 10000000"),
    ],
)
def test_what_cannot_be_right_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
