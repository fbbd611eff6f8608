"""The ratio estimate's moments, against every outcome of a few users and the leading term of many."""

import itertools

import numpy as np
import pytest

from ldpnb.accuracy import hajek
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def enumerated(held: list[int], sizes: list[int], rates: list[float], mechanism: KaryRandomisedResponse) -> np.ndarray:
    """Mean and variance over who is silent, who reports the value and who another, given that somebody reports."""
    users = [
        (group, chance, rate)
        for group, (h, n, rate) in enumerate(zip(held, sizes, rates, strict=True))
        for chance in [mechanism.p] * h + [mechanism.q] * (n - h)
    ]
    moments = np.zeros(3)
    for outcome in itertools.product((None, 0, 1), repeat=len(users)):
        if any(said is not None for said in outcome):
            probability, tallies = 1.0, np.zeros((len(sizes), mechanism.domain_size))
            for said, (group, chance, rate) in zip(outcome, users, strict=True):
                probability *= 1 - rate if said is None else rate * (1 - chance if said else chance)
                if said is not None:
                    tallies[group, said] += 1
            estimate = estimators.hajek(tallies, users=len(users), rates=rates, mechanism=mechanism)[0]
            moments += probability * np.array([1, estimate, estimate**2])
    mean = moments[1] / moments[0]
    return np.array([mean, moments[2] / moments[0] - mean**2])


@pytest.mark.parametrize(
    ("held", "sizes", "rates", "epsilon", "domain_size"),
    [
        ([2, 1], [4, 3], [0.5, 0.3], 1.0, 3),
        ([1, 0], [1, 1], [0.5, 1.0], 2.0, 2),
        ([3], [6], [0.05], 0.3, 4),
        ([1, 2, 0], [2, 2, 2], [0.9, 0.2, 1.0], 4.0, 5),
        ([0], [5], [1.0], 1.0, 2),
        ([4], [6], [0.999999], 1e-3, 2),
    ],
)
def test_moments_are_those_of_every_outcome(
    held: list[int], sizes: list[int], rates: list[float], epsilon: float, domain_size: int
) -> None:
    mechanism = KaryRandomisedResponse(epsilon, domain_size)
    survey = PersonalRates(sizes, rates, mechanism)
    found = [hajek.mean_hajek(survey, held), hajek.variance_hajek(survey, held)]
    assert found == pytest.approx(enumerated(held, sizes, rates, mechanism), rel=1e-10, abs=1e-8)


def test_the_leading_term_remains_when_there_are_many_reports() -> None:
    mechanism, scaled_gaps = KaryRandomisedResponse(3.0, 4), []
    for users in (1e2, 1e4, 1e6):
        survey, held = PersonalRates([users, users], [0.2, 0.6], mechanism), [0.5 * users, 0.1 * users]
        exact, leading = (
            hajek.variance_hajek(survey, held),
            survey.inverse_rate_variance(held, 0.6 * users / (2 * users)),
        )
        scaled_gaps.append(users * (exact / leading - 1))
        # the bias tends to a constant number of users: - sum_j (r_j - r) (1/pi_j - 1) / (p - q), over their number
        assert hajek.mean_hajek(survey, held) - 0.6 * users == pytest.approx(-1 / 3, abs=1 / users + 1e-6 * users**0.5)
    # the gap is c / n + O(1 / n^2): times n it settles, a hundred times closer with a hundred times as many users
    first, second = np.diff(scaled_gaps)
    assert abs(first) < 0.05 * abs(scaled_gaps[-1])
    assert second / first == pytest.approx(0.01, rel=0.1)


def test_the_step_of_the_integral_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for sizes, rates in (([10_000, 10_000], [1e-4, 0.01]), ([3, 5], [0.9, 0.1]), ([10**9, 10**3], [1e-6, 1.0])):
        survey, held = PersonalRates(sizes, rates, KaryRandomisedResponse(1.0, 10)), np.array(sizes) // 3
        coarse = hajek.mean_hajek(survey, held), hajek.variance_hajek(survey, held)
        with monkeypatch.context() as finer:
            finer.setattr(hajek, "_STEP", hajek._STEP / 2)
            fine = hajek.mean_hajek(survey, held), hajek.variance_hajek(survey, held)
        assert coarse == pytest.approx(fine, rel=1e-11)
