"""The blankets' bounds against the sums that they bound, written out for few users."""

import numpy as np
import pytest

import ldpnb as ldp
from ldpnb.privacy import blanket as blankets

MECHANISMS = [
    ldp.KaryRandomisedResponse(1.0, 3),
    ldp.UnaryEncoding.symmetric(1.0, 2),
    ldp.UnaryEncoding.optimised(1.0, 3),
    ldp.SubsetSelection(1.0, 4, 2),
    ldp.LocalHashing(1.0, 2, 3),
    ldp.SignRandomiser(1.0, 3),
]


def mean_positive_part(steps: np.ndarray, chances: np.ndarray, terms: int) -> float:
    """Return ``E[(Z_1 + ... + Z_n)_+]`` for independent steps, from all values of the sum."""
    values = np.zeros(1)
    law = np.ones(1)
    for _ in range(terms):
        sums = np.add.outer(values, steps).round(15)
        values, places = np.unique(sums, return_inverse=True)
        law = np.bincount(places.ravel(), np.outer(law, chances).ravel())
    return float(law @ np.maximum(values, 0.0))


def enumerated_delta(blanket: ldp.Blanket, epsilon: float, users: int) -> float:
    """Return the largest ``E[(Z_1 + ... + Z_n)_+] / n`` over pairs of values."""
    no_blanket = 1 - blanket.chances.sum()
    chances = np.append(blanket.chances, no_blanket)
    deltas = []
    for first, second in zip(blanket.first, blanket.second, strict=True):
        steps = np.append(first - np.exp(epsilon) * second, 0.0)
        deltas.append(mean_positive_part(steps, chances, users) / users)
    return max(deltas)


class OwnMechanism:
    """Tell truthfully whether the value is 0, and otherwise say something at random."""

    def channel(self) -> np.ndarray:
        return np.array([[0.8, 0.3, 0.3], [0.2, 0.7, 0.7]])


@pytest.mark.parametrize("name", ldp.FREQUENCY)
def test_the_blanket_of_every_named_mechanism_is_that_of_its_channel(name: str) -> None:
    mechanism = ldp.FREQUENCY[name](1.0, 3)
    of_channel = ldp.Blanket.of_channel(mechanism.channel())

    blanket = ldp.Blanket.of(mechanism)

    for users in (2, 100):
        delta = of_channel.delta_upper(0.3, users=users)
        assert blanket.delta_upper(0.3, users=users) == pytest.approx(delta, rel=1e-4)


def test_a_mechanism_of_ones_own_has_the_blanket_of_its_channel() -> None:
    own = OwnMechanism()

    blanket = ldp.Blanket.of(own)

    assert blanket.epsilon == pytest.approx(np.log(3.5))
    assert blanket.chances.sum() == pytest.approx(0.5)


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_bound_of_few_users_is_their_mean_and_little_more(
    mechanism: ldp.SubsetSelection, rate: float
) -> None:
    blanket = ldp.Blanket.of(mechanism).sampled(rate)
    for users in (2, 10):
        for epsilon in (0.0, 0.3, 0.9, 0.9998):
            exact = enumerated_delta(blanket, epsilon, users)
            assert exact * (1 - 1e-10) <= blanket.delta_upper(epsilon, users=users) <= exact * 1.004


def test_a_budget_that_is_nearly_the_local_one_leaves_little_delta() -> None:
    local = 3.0
    blanket = ldp.Blanket.of(ldp.KaryRandomisedResponse(local, 38))
    for users in (2, 10):
        for gap in (1e-4, 1e-6, 1e-12):
            epsilon = local * (1 - gap)
            exact = enumerated_delta(blanket, epsilon, users)
            upper = blanket.delta_upper(epsilon, users=users)
            assert exact * (1 - 1e-3) <= upper <= local * gap

    assert blanket.epsilon_upper(1e-310, users=43) == local
    budget = blanket.epsilon_upper(2.6e-6, users=43)
    assert blanket.delta_upper(budget, users=43) <= 2.6e-6
    assert blanket.delta_upper(budget * (1 - 1e-5), users=43) > 2.6e-6


def test_the_bound_holds_however_much_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    blanket = ldp.Blanket.of(ldp.KaryRandomisedResponse(1.0, 3))
    for cut in (0.5, 2.0, 5.0):
        monkeypatch.setattr(blankets, "CUT", cut)
        most = 1.004 + 20 * np.exp(-cut)
        for users in (2, 10):
            exact = enumerated_delta(blanket, 0.3, users)
            upper = blanket.delta_upper(0.3, users=users)
            assert exact * (1 - 1e-10) <= upper <= exact * most
