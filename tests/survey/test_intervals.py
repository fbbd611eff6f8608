"""Exact intervals hold just the shares that brute force finds, and all intervals cover."""

import math

import numpy as np
import pytest
from made_surveys import SURVEYS, Survey
from scipy import stats

from ldpnb.rng import stream
from ldpnb.survey.binomials import sampled_tail
from ldpnb.survey.device import device
from ldpnb.survey.intervals import exact_share

FALSE_ALARM = 1e-6
"""How improbable a result has to be before a simulation counts as failed."""


def law(population, holders, sample, p, q):
    """The chance of each number of yes, by convolution."""
    chances = np.zeros(sample + 1)
    for own in range(max(0, sample - (population - holders)), min(holders, sample) + 1):
        weight = stats.hypergeom.pmf(own, population, holders, sample)
        theirs = stats.binom.pmf(range(own + 1), own, p)
        others = stats.binom.pmf(range(sample - own + 1), sample - own, q)
        chances += weight * np.convolve(theirs, others)

    return chances


DEVICES = {
    "Warner": (0.7, 0.3),
    "forced response": (5 / 6, 1 / 3),
    "forced yes": (1.0, 0.25),
    "no false yes": (0.8, 0.0),
    "no device": (1.0, 0.0),
    "p below q": (1 / 6, 5 / 6),
    "forced yes, p below q": (0.3, 1.0),
}


@pytest.mark.parametrize("chances", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize(("population", "sample"), [(24, 10), (18, 18)])
def test_exact_intervals_hold_just_the_shares_that_fit(population, sample, chances):
    made = device(p=chances[0], q=chances[1])
    laws = [law(population, holders, sample, *chances) for holders in range(population + 1)]
    covered = np.zeros(population + 1)

    for yes in range(sample + 1):
        found = exact_share(yes, sample, population, made, 0.05)

        fitting = []
        for holders, chance in enumerate(laws):
            tails = chance[yes:].sum(), chance[: yes + 1].sum()
            if min(tails) > 0.025 + 1e-12:
                fitting.append(holders / population)

        if fitting:
            assert found.low == pytest.approx(min(fitting))
            assert found.high == pytest.approx(max(fitting))

        for holders, chance in enumerate(laws):
            if found.low - 1e-12 <= holders / population <= found.high + 1e-12:
                covered[holders] += chance[yes]

    assert covered.min() >= 0.95 - 1e-12


@pytest.mark.parametrize("chances", DEVICES.values(), ids=DEVICES)
def test_tails_equal_sums_by_brute_force(chances):
    p = max(chances)
    q = min(chances)

    for holders in (0, 3, 11, 24):
        wanted = law(24, holders, 10, p, q)
        for least in range(11):
            tail = sampled_tail(least, 10, 24, holders, p, q)
            assert tail == pytest.approx(wanted[least:].sum(), abs=1e-10)


def missed_and_variances(survey: Survey, repetitions: int, rng) -> tuple[dict, np.ndarray]:
    """How often an interval of each group misses, and all estimates with their variances."""
    missed: dict[str, int] = {}
    found = []
    for _ in range(repetitions):
        rows = survey.estimated(rng)
        found.append((rows[0].estimate, rows[0].standard_error ** 2))

        is_missed = dict.fromkeys((row.group for row in rows), False)
        for row in rows:
            covers = row.low - 1e-12 <= survey.truth(row) <= row.high + 1e-12
            is_missed[row.group] |= not covers

        for group, is_group_missed in is_missed.items():
            missed[group] = missed.get(group, 0) + is_group_missed

    return missed, np.array(found)


def check(survey: Survey, repetitions: int, rng) -> None:
    """Check that intervals cover, estimates are unbiased, and standard errors are right."""
    missed, found = missed_and_variances(survey, repetitions, rng)
    for group, number in missed.items():
        allowed = 0.05 if survey.is_exact else 0.06  # Student's t is an approximation
        if group:
            allowed += 0.015
        assert number <= stats.binom.isf(FALSE_ALARM, repetitions, allowed), group

    estimates, variances = found.T
    spread = estimates.std(ddof=1)
    assert abs(estimates.mean() - survey.mean) < 5 * spread / math.sqrt(repetitions)

    ratio = variances.mean() / spread**2
    slack = 5 * math.sqrt(2.5 / repetitions)
    assert 1 - slack < ratio < 1 + slack + survey.excess


@pytest.mark.parametrize("survey", SURVEYS.values(), ids=SURVEYS)
def test_intervals_cover_and_standard_errors_are_right(survey):
    repetitions = 12 if survey.is_exact else 100
    check(survey, repetitions, stream("coverage", seed=1))


@pytest.mark.nightly
@pytest.mark.parametrize("survey", SURVEYS.values(), ids=SURVEYS)
def test_intervals_cover_and_standard_errors_are_right_in_many_surveys(survey):
    repetitions = 1500 if survey.is_exact else 4000
    check(survey, repetitions, stream("coverage", seed=2))
