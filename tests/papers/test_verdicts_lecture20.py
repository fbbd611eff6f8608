"""The verdicts on lecture20, and the independent routes behind them."""

import numpy as np
import pytest
from scipy import stats

from ldpnb import claims
from ldpnb.papers.lecture20 import routes

STATUSES = {
    "randomised-response": "reproduced",
    "mean-central-laplace": "reproduced",
    "mean-local-laplace": "reproduced",
    "mean-error-of-local-laplace": "corrected",
    "sample-complexity-central": "reproduced",
    "sample-complexity-local": "reproduced",
    "1-bit-mean": "reproduced",
    "1-bit-mean-error": "reproduced",
    "frequency-central-laplace": "reproduced",
    "frequency-sign-randomiser": "refuted",
    "frequency-estimator": "reproduced",
    "frequency-communication": "reproduced",
    "local-model-pure-or-approximate": "open",
}


def test_every_claim_of_the_lecture_is_decided_as_known() -> None:
    decided = {c.id.removeprefix("lecture20/"): claims.decide(c.id).status for c in claims.claims("lecture20")}
    assert decided == STATUSES


@pytest.mark.parametrize(
    ("claim", "number"),
    [
        ("randomised-response", "2.472"),
        ("mean-central-laplace", "4.605"),
        ("mean-local-laplace", "6.58"),
        ("mean-error-of-local-laplace", "3.643"),
        ("sample-complexity-central", "0.6321"),
        ("sample-complexity-local", "13.27"),
        ("1-bit-mean-error", "2.3242"),
        ("frequency-central-laplace", "23.016"),
        ("frequency-sign-randomiser", "1.09861"),
        ("frequency-estimator", "75000"),
    ],
)
def test_evidence_carries_the_deciding_number(claim: str, number: str) -> None:
    assert number in claims.decide(f"lecture20/{claim}").evidence


def test_half_line_integrates_a_laplace_density() -> None:
    law = stats.laplace(0, 3.0)
    assert routes.half_line(law.pdf, 3.0, start=2.0) == pytest.approx(law.sf(2.0), rel=1e-12)
    assert 2 * routes.half_line(lambda y: y**2 * law.pdf(y), 3.0) == pytest.approx(law.var(), rel=1e-12)


def test_inverted_tail_is_that_of_simulated_sums() -> None:
    sums = np.random.default_rng(1).laplace(size=(40_000, 30)).sum(axis=1)
    seen, expected = (np.abs(sums) > 9.0).mean(), routes.inverted_tail(30, 9.0)
    assert abs(seen - expected) < 5.5 * np.sqrt(expected / 40_000)


def test_orders_that_grow_or_vanish_are_not_the_same() -> None:
    assert routes.same_order([1.0, 1.9])
    assert not routes.same_order([1.0, 2.1])
    assert not routes.same_order([0.0, 0.0])
