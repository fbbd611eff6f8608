"""Exact risks and entropies on two values where next to nothing, or next to everything, is known."""

from math import comb

import flint
import numpy as np
import pytest

from ldpnb.accuracy import exact_risk
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def by_enumeration(users: int, epsilon: float, alpha: float) -> tuple[float, float]:
    """H(T|Y) and the error of the frequencies from the joint law of tallies and reports, in balls."""
    mechanism, joint = KaryRandomisedResponse(flint.arb(epsilon), flint.arb(2)), {}
    own, total = flint.arb(alpha), 2 * flint.arb(alpha)
    for held in range(users + 1):
        rising = (own + held).gamma() * (own + users - held).gamma() / (own.gamma() * own.gamma())
        chance = comb(users, held) * rising * total.gamma() / (total + users).gamma()
        for kept in range(held + 1):
            for turned in range(users - held + 1):
                true = kept + users - held - turned
                ways = comb(held, kept) * comb(users - held, turned)
                key = (held, kept + turned)
                joint[key] = joint.get(key, 0) + chance * ways * mechanism.p**true * mechanism.q ** (users - true)
    entropy, error = flint.arb(0), flint.arb(0)
    for seen in range(users + 1):
        column = [joint[held, seen] for held in range(users + 1)]
        whole = sum(column)
        mean = sum(held * chance for held, chance in enumerate(column)) / whole
        entropy -= sum(chance * (chance / whole).log() for chance in column)
        error += 2 * sum(chance * (held - mean) * (held - mean) for held, chance in enumerate(column)) / users**2
    return float(entropy), float(error)


@pytest.mark.parametrize("epsilon", [1e-8, 0.01, 1.0, 20.0, 40.0, 50.0, 699.0])
@pytest.mark.parametrize(("users", "alpha"), [(1, 0.5), (7, 0.5), (7, 3.0)])
def test_what_is_left_to_know_about_the_tallies_keeps_its_digits(users: int, alpha: float, epsilon: float) -> None:
    case, before = TwoValues(users, epsilon, alpha), flint.ctx.prec
    flint.ctx.prec = 2500
    try:
        entropy, error = by_enumeration(users, epsilon, alpha)
    finally:
        flint.ctx.prec = before
    assert case.entropies()[1] == pytest.approx(entropy, rel=1e-12)
    assert case.risk().frequency == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("concentration", [1e-3, 7.0, 292.6, 1e5])
@pytest.mark.parametrize("epsilon", [3.26e-7, 2.0, 300.0])
def test_posteriors_are_finite_under_any_prior(concentration: float, epsilon: float) -> None:
    found = TwoValues(500, epsilon, concentration).posteriors()
    assert found.chances.sum() == pytest.approx(1, rel=1e-9)
    assert (found.frequency_variances >= 0).all()
    assert (found.variances > 0).all()
    assert (found.means > 0).all()
    assert (found.means < 1).all()
    # the prior's law of the frequency is kept on average, in mean and in variance
    spread = found.frequency_variances + (found.frequency_means - 0.5) ** 2
    total = 2 * concentration
    assert found.chances @ spread == pytest.approx((total + 500) / (4 * 500 * (total + 1)), rel=1e-8)


def test_jeffreys_prior_keeps_the_weights_of_thousands_of_nodes() -> None:
    first, second, weights, _ = TwoValues(50, 1.0)._likelihood(3000)
    np.testing.assert_allclose(weights, 1 / 3000, rtol=1e-12)
    assert min(first.min(), second.min()) == pytest.approx(np.sin(np.pi / 12_000) ** 2, rel=1e-12)


def test_tallies_times_nodes_reach_their_limit_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_risk, "_MOST_CHANCES", 4 * 5)
    assert TwoValues(4, 1.0).posteriors().means.size == 5
    monkeypatch.setattr(exact_risk, "_MOST_CHANCES", 4 * 5 - 1)
    with pytest.raises(ValueError, match="users must be few to list every tally at 5 nodes, got users=4"):
        TwoValues(4, 1.0).posteriors()
