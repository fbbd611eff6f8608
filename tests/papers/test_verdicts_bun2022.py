import pytest

from ldpnb import claims
from ldpnb.papers.bun2022 import routes as enumeration

CORRECTED = {
    "lemma-b.1",
    "theorem-3.1-small-epsilon",
    "figure-2",
    "section-4.3-deterministic-rounding",
    "section-6.3-systematic-sampling",
    "equation-7",
    "section-7.2-neyman-example",
}
REPRODUCED = {
    *("theorem-2.2", "section-2.4", "lemma-a.2", "lemma-a.3", "lemma-a.4", "lemma-b.3"),
    *("theorem-3.1-upper-bound", "theorem-3.1-lower-bound"),
    *("section-4.1", "proposition-4.1", "proposition-4.2", "appendix-f", "theorem-4.3"),
    *("theorem-5.1", "theorem-5.2", "equation-3", "theorem-5.3", "section-5.2-two-stage-sampling"),
    *("proposition-6.1-equation-4", "proposition-6.1-equation-5"),
    *("section-6.1-pps-of-elements", "section-6.2-pps-of-clusters"),
    *("definition-7.1", "equation-6", "equation-8", "section-7.2-weighted-mean", "theorem-7.2"),
}


def test_every_claim_has_the_status_it_should() -> None:
    expected = {f"bun2022/{place}": "corrected" for place in CORRECTED}
    expected |= {f"bun2022/{place}": "reproduced" for place in REPRODUCED}
    assert {c.id: claims.decide(c.id).status for c in claims.claims("bun2022")} == expected


def test_rebuilt_formulas_are_named_as_assumptions() -> None:
    for place in ("theorem-5.1", "theorem-4.3", "figure-2", "proposition-6.1-equation-4", "section-7.2-neyman-example"):
        assert "recoverable" in claims.decide(f"bun2022/{place}").assumption


def test_published_numbers_are_read_from_their_table() -> None:
    assert enumeration.published() == {"top_stratum_change": 19.0, "top_code": 10_000.0}


@pytest.mark.parametrize("threshold", [-5.0, 0.0, 3.0])
def test_noisy_count_events_are_chances(threshold: float) -> None:
    inside, neighbour, outside = enumeration.noisy_count_events((2, 3, 1), 2, 0.5, threshold)
    assert 0 < outside < neighbour < inside < 1
    assert inside / neighbour <= 1.65
