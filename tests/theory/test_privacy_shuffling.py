"""Shuffled reports: bounds that meet their delta, the sums behind them, and Gaussian noise to compare with."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import shuffling, tallies
from ldpnb.privacy.shuffling import ShuffledReports


def shuffled(epsilon: float, size: int, users: int, rate: float) -> ShuffledReports:
    return ShuffledReports(users, rate, KaryRandomisedResponse(epsilon, size))


def two_tallies_written_out(epsilon: float, local: float, size: int, users: int, rate: float) -> float:
    """Hockey stick between the joint laws of the two tallies, cell by cell."""
    q = 1 / (np.exp(local) + size - 1)
    keep, switch = rate * np.exp(local) * q, rate * q
    cells = np.arange(min(int(users * switch + 12 * np.sqrt(users * switch)) + 20, users))
    first = stats.binom.pmf(cells, users - 1, switch)
    others = first[:, None] * stats.binom.pmf(cells, users - 1 - cells[:, None], switch / (1 - switch))

    def law(one: float, other: float) -> np.ndarray:
        joint = (1 - one - other) * others
        joint[1:] += one * others[:-1]
        joint[:, 1:] += other * others[:, :-1]
        return joint

    return float(np.maximum(law(keep, switch) - np.exp(epsilon) * law(switch, keep), 0).sum())


@pytest.mark.parametrize(("users", "rate", "delta"), [(2000, 0.4, 1e-5), (30, 1.0, 1e-3)])
def test_two_tallies_agree_with_their_laws_written_out(users: int, rate: float, delta: float) -> None:
    epsilon = shuffled(2.0, 10, users, rate).epsilon_two_tallies(delta)
    assert two_tallies_written_out(epsilon, 2.0, 10, users, rate) == pytest.approx(delta, rel=1e-5)


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
    assert 0 <= upper - lower < width * upper
    assert reports.delta_upper(upper) == pytest.approx(1e-6, rel=1e-6)
    assert reports.delta_lower(lower) == pytest.approx(1e-6, rel=1e-6)


def exact_delta(epsilon: float, reports: ShuffledReports, *, above: bool) -> mpmath.mpf:
    """Sum over all tallies ``A + B`` and ``L``, with 40 digits, leaving out less than 1e-35."""
    users, size, hidden_values = reports.users, reports.mechanism.domain_size, 0 if above else 1
    local, rate = mpmath.mpf(reports.mechanism.epsilon), mpmath.mpf(reports.rate)
    budget, q = mpmath.exp(mpmath.mpf(epsilon)), 1 / (mpmath.exp(local) + size - 1)
    contrast, share = mpmath.expm1(local), hidden_values * mpmath.exp(-local)
    hidden = rate * q * (contrast + hidden_values)
    apart = hidden / (1 - 2 * rate * q)
    logs = [mpmath.loggamma(i + 1) for i in range(users + 1)]

    def chance(trials: int, chosen: int, one: mpmath.mpf) -> mpmath.mpf:
        if one == 1:
            return mpmath.mpf(chosen == trials)
        ways = logs[trials] - logs[chosen] - logs[trials - chosen]
        return mpmath.exp(ways + chosen * mpmath.log(one) + (trials - chosen) * mpmath.log(1 - one))

    total = mpmath.mpf(0)
    for both in range(users + 1):
        outer = chance(users, both, 2 * rate * q)
        if outer * contrast < mpmath.mpf(10) ** -40:
            continue
        mass, first = [mpmath.mpf(0)], [mpmath.mpf(0)]
        for second in range(both // 2 + 1):
            mass.append(mass[-1] + chance(both, second, mpmath.mpf(1) / 2))
            first.append(first[-1] + second * chance(both, second, mpmath.mpf(1) / 2))
        middle, left = float((users - both) * apart), users - both
        reach = 14 * (middle * float(1 - apart)) ** 0.5 + 40
        for unseen in range(max(int(middle - reach), 0), min(int(middle + reach), left) + 1):
            most = contrast * both - (budget - 1) * (users - (1 - share) * unseen)
            if most > 0:
                last = min(int(most / (contrast * (1 + budget))), both // 2) + 1
                part = most * mass[last] - contrast * (1 + budget) * first[last]
                total += outer * chance(left, unseen, apart) * part
    return total / users


WIDE = [
    (4.3126, 20, 918, 0.5, 1.4255e-8),
    (3.8659, 28, 209, 0.5, 4.607e-5),
    (3.1434, 11, 254, 1.0, 4.453e-7),
    (6.0, 50, 3000, 0.2, 1e-9),
    (0.01, 3, 40, 1.0, 1e-3),
    (12.0, 5, 60, 0.9, 1e-6),
    (300.0, 4, 30, 0.7, 1e-3),
    (2.0, 1000, 500, 0.01, 1e-7),
    (1.0, 3, 2, 1e-6, 1e-9),
]


@pytest.mark.parametrize("known", WIDE)
def test_bounds_hold_against_forty_digits(known: tuple[float, int, int, float, float]) -> None:
    *given, target = known
    reports = shuffled(*given)
    upper, lower = reports.epsilon_upper(target), reports.epsilon_lower(target)
    assert lower <= upper
    with mpmath.workdps(40):
        above, below = exact_delta(upper, reports, above=True), exact_delta(lower, reports, above=False)
        assert above <= target <= below or upper == 0
        assert above <= reports.delta_upper(upper) <= above * (1 + 1e-8) + 1e-300
        assert below * (1 - 1e-8) <= reports.delta_lower(lower) <= below


def test_budgets_are_bounds_where_the_root_lies_on_the_wrong_side() -> None:
    # ln(delta) falls so fast here that a root known to 1e-8 misses delta by more than the 1e-7 left for it
    for known, target in (
        ((1.2975891864705358, 21, 12, 0.05), 1.0254395290221606e-8),
        ((9.2422, 29, 113, 1.0), 1.2e-9),
    ):
        reports = shuffled(*known)
        assert reports.delta_lower(reports.epsilon_lower(target)) >= target
        assert reports.delta_upper(reports.epsilon_upper(target)) <= target


@pytest.mark.parametrize("local", [0.1, 1.0, 4.0, 40.0, 700.0])
@pytest.mark.parametrize("users", [2, 17, 3000, 10**6])
def test_bounds_are_ordered_over_the_whole_range(local: float, users: int) -> None:
    rng = np.random.default_rng(7)
    for size, rate in ((8, 1.0), (1000, 0.3), (3, 0.9))[: 2 if users > 3000 else 3]:
        reports = shuffled(local, size, users, rate)
        for epsilon in (0.0, local * 10 ** rng.uniform(-6, 0), local * rng.uniform(0, 1), local):
            assert 0 <= reports.delta_lower(epsilon) <= reports.delta_upper(epsilon) <= 1
        target = 10 ** rng.uniform(-12, -1)
        assert 0 <= reports.epsilon_lower(target) <= reports.epsilon_upper(target) <= local


def test_a_million_users_are_bounded_to_a_millionth() -> None:
    reports = shuffled(0.1, 8, 10**6, 1.0)
    upper, lower = reports.epsilon_upper(1e-6), reports.epsilon_lower(1e-6)
    assert 0 <= upper - lower <= 1e-7 * upper
    assert reports.delta_upper(0.0) - reports.delta_lower(0.0) <= 1e-7 * reports.delta_lower(0.0)


def test_few_blocks_still_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = shuffled(5.0, 4, 400, 0.8)
    exact = [reports.delta_lower(0.3), reports.delta_upper(0.3)]
    monkeypatch.setattr(tallies, "TABLED", 0)
    coarse = [reports.delta_lower(0.3), reports.delta_upper(0.3)]
    assert coarse[0] < exact[0] < exact[1] < coarse[1] < exact[1] * 1.01


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shuffled(1.0, 3, 10, 0.5).epsilon_upper(0.0), r"delta must lie in \(0, 1\), got delta=0.0"),
        (lambda: shuffled(1.0, 3, 1, 0.5), "users must be an integer >= 2, got users=1"),
        (lambda: shuffled(1.0, 3, 10, 0.0), r"rate must lie in \(0, 1\]"),
        (lambda: shuffled(1.0, 2, 10, 0.5).epsilon_lower(1e-6), "domain_size must be an integer >= 3"),
        (lambda: shuffled(1.0, 3, 10, 0.5).delta_upper(-0.1), "epsilon must be >= 0"),
        (
            lambda: shuffled(1.0, 3, 10**12, 0.5).epsilon_upper(1e-6),
            "users must be at most 1000000000 .*, got users=10",
        ),
        (lambda: shuffled(1.0, 3, 10**12, 0.5).delta_lower(0.1), "users must be at most 1000000000 .*, got users=10"),
        (lambda: shuffled(700.0, 3, 10, 1e-6).delta_upper(1.0), r"rate \* q must be at least 1e-305"),
        (lambda: shuffled(700.0, 3, 10, 1.0).epsilon_two_tallies(0.1), "epsilon must be at most 340.0"),
        (lambda: shuffling.gaussian_deviation(0.0, 1e-6), "epsilon must be > 0"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
