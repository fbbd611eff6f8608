"""Shuffled reports: bounds that meet their delta, and the sums behind them.

The second way is the sum over all tallies with 40 digits.
"""

from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, ctx

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import tallies
from ldpnb.privacy.shuffling import ShuffledReports, closed_form


def shuffled(epsilon: float, size: int, users: int, rate: float) -> ShuffledReports:
    return ShuffledReports(users, rate, KaryRandomisedResponse(epsilon, size))


def binomial(chance: arb, most: int) -> Callable[[int, int], arb]:
    """Return the probability of so many successes in so many trials, of up to `most`."""
    if chance.contains(1):
        return lambda trials, successes: arb(successes == trials)

    log_factorials = [arb(number + 1).lgamma() for number in range(most + 1)]
    yes = chance.log()
    no = (1 - chance).log()

    def probability(trials: int, successes: int) -> arb:
        failures = trials - successes
        ways = log_factorials[trials] - log_factorials[successes] - log_factorials[failures]
        return (ways + successes * yes + failures * no).exp()

    return probability


def exact_delta(epsilon: float, reports: ShuffledReports, *, above: bool) -> arb:
    """Sum over all tallies ``A + B`` and ``L``, with 40 digits, leaving out less than 1e-35.

    ``A`` and ``B`` users report the two values in question and ``L`` are hidden, as in
    `ldpnb.privacy.tallies`. The upper bound and the lower bound hide different shares of reports.
    """
    users = reports.users
    size = reports.mechanism.domain_size
    local = arb(reports.mechanism.epsilon)
    rate = arb(reports.rate)
    budget = arb(epsilon).exp()
    hidden_values = 0 if above else 1

    q = 1 / (local.exp() + size - 1)
    contrast = local.expm1()
    share = hidden_values * (-local).exp()
    hidden = rate * q * (contrast + hidden_values)
    apart = hidden / (1 - 2 * rate * q)

    chance_of_both = binomial(2 * rate * q, users)
    chance_of_second = binomial(arb(0.5), users)
    chance_of_unseen = binomial(apart, users)
    total = arb(0)
    for both in range(users + 1):
        outer = chance_of_both(users, both)
        if outer * contrast < 1e-40:
            continue

        mass = [arb(0)]
        first_moment = [arb(0)]
        for second in range(both // 2 + 1):
            chance = chance_of_second(both, second)
            mass.append(mass[-1] + chance)
            first_moment.append(first_moment[-1] + second * chance)

        left = users - both
        middle = float(left * apart)
        reach = 14 * (middle * float(1 - apart)) ** 0.5 + 40
        for unseen in range(max(int(middle - reach), 0), min(int(middle + reach), left) + 1):
            most = contrast * both - (budget - 1) * (users - (1 - share) * unseen)
            if most > 0:
                slope = contrast * (1 + budget)
                last = int(min(float(most / slope), both // 2)) + 1
                part = most * mass[last] - slope * first_moment[last]
                total += outer * chance_of_unseen(left, unseen) * part
    return total / users


@pytest.mark.parametrize(
    ("local", "size", "users", "rate", "target"),
    [
        (4.3126, 20, 918, 0.5, 1.4255e-8),
        (3.8659, 28, 209, 0.5, 4.607e-5),
        (3.1434, 11, 254, 1.0, 4.453e-7),
        (6.0, 50, 3000, 0.2, 1e-9),
        (0.01, 3, 40, 1.0, 1e-3),
        (12.0, 5, 60, 0.9, 1e-6),
        (300.0, 4, 30, 0.7, 1e-3),
        (2.0, 1000, 500, 0.01, 1e-7),
        (1.0, 3, 2, 1e-6, 1e-9),
    ],
)
def test_bounds_hold_against_forty_digits(
    local: float, size: int, users: int, rate: float, target: float
) -> None:
    reports = shuffled(local, size, users, rate)
    upper = reports.epsilon_upper(target)
    lower = reports.epsilon_lower(target)
    assert lower <= upper

    with ctx.workprec(160):
        above = exact_delta(upper, reports, above=True)
        below = exact_delta(lower, reports, above=False)
        assert above <= target <= below or upper == 0
        assert above <= reports.delta_upper(upper) <= above * (1 + 1e-8) + 1e-300
        assert below * (1 - 1e-8) <= reports.delta_lower(lower) <= below


@pytest.mark.parametrize("local", [0.1, 4.0, 700.0])
@pytest.mark.parametrize("users", [2, 300, 10**5])
def test_bounds_are_ordered_over_the_whole_range(local: float, users: int) -> None:
    rng = np.random.default_rng(7)
    for size, rate in ((8, 1.0), (1000, 0.3), (3, 0.9)):
        reports = shuffled(local, size, users, rate)
        for epsilon in (0.0, local * 10 ** rng.uniform(-6, 0), local * rng.uniform(0, 1), local):
            assert 0 <= reports.delta_lower(epsilon) <= reports.delta_upper(epsilon) <= 1

        target = 10 ** rng.uniform(-12, -1)
        assert 0 <= reports.epsilon_lower(target) <= reports.epsilon_upper(target) <= local


@pytest.mark.parametrize(
    ("local", "size", "users", "rate"),
    [(1.0, 4, 30, 0.7), (3.0, 8, 400, 1.0), (0.5, 3, 60, 0.9), (2.0, 1000, 50, 1.0)],
)
def test_bounds_hold_however_much_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, local: float, size: int, users: int, rate: float
) -> None:
    reports = shuffled(local, size, users, rate)
    budgets = np.array([0.0, 0.05, 0.2]) * local
    exact = [(reports.delta_lower(epsilon), reports.delta_upper(epsilon)) for epsilon in budgets]

    monkeypatch.setattr(tallies, "log_chernoff", lambda *_: 0.0)
    monkeypatch.setattr(tallies, "STEP", 0.1)
    for margin, most in ((0.1, np.inf), (1.0, np.inf), (7.0, 1.05)):
        monkeypatch.setattr(tallies, "MARGIN", margin)
        for epsilon, (lower, upper) in zip(budgets, exact, strict=True):
            assert lower / most <= reports.delta_lower(epsilon) < lower * (1 + 1e-9)
            assert upper * (1 - 1e-9) < reports.delta_upper(epsilon) < upper * most


@pytest.mark.parametrize(("users", "delta"), [(50_000, 1e-6), (1000, 1e-3)])
def test_the_published_closed_form_reaches_to_the_end_of_its_range_and_no_further(
    users: int, delta: float
) -> None:
    last = np.log(users / (16 * np.log(2 / delta)))
    assert closed_form(delta, users=users, epsilon=last * (1 - 1e-9)) > 0
    assert np.isnan(closed_form(delta, users=users, epsilon=last * (1 + 1e-9)))
