"""Simulated establishments agree exactly with what they are simulated from."""

from ldpnb.papers.bun2022 import establishments


def test_establishments_agree_exactly_with_their_classes_and_the_total() -> None:
    tally = establishments.simulate(top_code=50_000)
    assert (tally["employees"] * tally["establishments"]).sum() == establishments.EMPLOYED
    for low, high, count in establishments.CLASSES:
        assert tally.loc[tally["employees"].between(low, high), "establishments"].sum() == count
    assert not tally["employees"].duplicated().any()
    assert tally.equals(establishments.simulate(top_code=50_000))
    assert establishments.simulate(top_code=10_000)["employees"].max() == 10_000
