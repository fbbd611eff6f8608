"""The blankets of mechanisms in closed form against those of their channels."""

import pytest

import ldpnb as ldp

MECHANISMS = [
    ldp.KaryRandomisedResponse(1.0, 3),
    ldp.UnaryEncoding.symmetric(1.0, 2),
    ldp.UnaryEncoding.optimised(1.0, 3),
    ldp.SubsetSelection(1.0, 4, 2),
    ldp.LocalHashing(1.0, 2, 3),
    ldp.SignRandomiser(1.0, 3),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_the_blanket_of_a_mechanism_is_that_of_its_channel(mechanism: ldp.SubsetSelection) -> None:
    known, listed = ldp.Blanket.of(mechanism).sampled(0.7), ldp.Blanket.of_channel(mechanism.channel()).sampled(0.7)
    for epsilon in (0.0, 0.2):
        delta = listed.delta_upper(epsilon, users=50)
        assert known.delta_upper(epsilon, users=50) == pytest.approx(delta, rel=1e-9)
        assert delta > 1e-3
    assert known.delta_upper(known.epsilon_upper(1e-4, users=50), users=50) <= 1e-4
