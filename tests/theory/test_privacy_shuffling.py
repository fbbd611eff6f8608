"""Shuffled reports: bounds that meet their delta, the sums behind them, and Gaussian noise to compare with."""

import numpy as np
import pytest
from scipy import stats

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import shuffling
from ldpnb.privacy.shuffling import ShuffledReports


def shuffled(epsilon: float, size: int, users: int, rate: float) -> ShuffledReports:
    return ShuffledReports(users, rate, KaryRandomisedResponse(epsilon, size))


def two_tallies_written_out(epsilon: float, local: float, size: int, users: int, rate: float) -> float:
    """Hockey stick between the joint laws of the two tallies, cell by cell."""
    q = 1 / (np.exp(local) + size - 1)
    keep, switch = rate * np.exp(local) * q, rate * q
    cells = np.arange(int(users * switch + 12 * np.sqrt(users * switch)) + 20)
    first = stats.binom.pmf(cells, users - 1, switch)
    others = first[:, None] * stats.binom.pmf(cells, users - 1 - cells[:, None], switch / (1 - switch))

    def law(one: float, other: float) -> np.ndarray:
        joint = (1 - one - other) * others
        joint[1:] += one * others[:-1]
        joint[:, 1:] += other * others[:, :-1]
        return joint

    return float(np.maximum(law(keep, switch) - np.exp(epsilon) * law(switch, keep), 0).sum())


def test_two_tallies_agree_with_their_laws_written_out() -> None:
    epsilon = shuffled(2.0, 10, 2000, 0.4).epsilon_two_tallies(1e-5)
    assert two_tallies_written_out(epsilon, 2.0, 10, 2000, 0.4) == pytest.approx(1e-5, rel=1e-5)


@pytest.mark.parametrize(
    ("known", "width"),
    [
        ((3.0, 20, 5000, 1.0), 1e-4),
        ((1.0, 101, 50_000, 0.1), 1e-4),
        ((8.0, 101, 50_000, 1.0), 1e-4),
        ((2.0, 3, 9000, 0.9), 1e-4),
        ((4.0, 101, 10**6, 0.3), 1e-3),
    ],
)
def test_bounds_are_close_and_meet_their_delta(known: tuple[float, int, int, float], width: float) -> None:
    reports = shuffled(*known)
    upper, lower = reports.epsilon_upper(1e-6), reports.epsilon_lower(1e-6)
    assert -1e-6 * upper < upper - lower < width * upper
    assert reports.delta_upper(upper) == pytest.approx(1e-6, rel=1e-6)
    assert reports.delta_lower(lower) == pytest.approx(1e-6, rel=1e-6)


KNOWN = [(3.0, 20, 5000, 1.0), (7.0, 10, 50_000, 1.0), (1.0, 3, 3000, 1.0), (0.5, 5, 2000, 0.3)]
FEW = [(8.0, 101, 1000, 1.0), (3.0, 3, 3000, 1.0), (6.0, 3, 800, 0.5), (2.0, 1000, 500, 0.05)]


@pytest.mark.parametrize("bound", ["_upper", "_lower"])
@pytest.mark.parametrize("known", KNOWN + FEW)
def test_strided_sums_agree_with_full_ones(bound: str, known: tuple[float, int, int, float]) -> None:
    described = getattr(shuffled(*known), bound)
    for epsilon in (0.0, 0.05, 0.3):
        full = shuffling._delta(epsilon, described, resolution=1e9)
        assert shuffling._delta(epsilon, described) == pytest.approx(full, rel=2e-5, abs=1e-14)


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
@pytest.mark.parametrize("users", [2, 50_000])
@pytest.mark.parametrize("rate", [1e-6, 0.5, 1.0])
def test_budgets_survive_the_ends_of_every_range(epsilon: float, users: int, rate: float) -> None:
    reports = shuffled(epsilon, 101, users, rate)
    for bound in (reports.epsilon_upper, reports.epsilon_lower, reports.epsilon_two_tallies):
        assert 0 <= bound(1e-6) <= epsilon
    assert 0 < reports.delta_upper(0.0) <= 1 + 1e-12
    assert max(reports.delta_upper(epsilon), reports.delta_lower(epsilon)) < 1e-15


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 1e-6), (0.1, 1e-9), (1.0, 1e-6), (50.0, 1e-6)])
def test_gaussian_deviation_spends_exactly_delta(epsilon: float, delta: float) -> None:
    deviation = shuffling.gaussian_deviation(epsilon, delta)
    assert shuffling.gaussian_delta(epsilon, deviation=deviation) == pytest.approx(delta, rel=1e-6)
    assert shuffling.gaussian_delta(epsilon, deviation=0.99 * deviation) > delta


def test_endless_budgets_and_endless_noise_leave_no_delta() -> None:
    assert shuffling.gaussian_delta(1e300, deviation=1.0) == 0
    assert shuffling.gaussian_delta(40.0, deviation=1.0) < 1e-100
    assert shuffling.gaussian_delta(60.0, deviation=1e200) == 0
