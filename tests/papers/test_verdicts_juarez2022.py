"""The verdicts on juarez2022 and the second routes they use."""

import numpy as np
import pytest

from ldpnb import claims
from ldpnb.accuracy import gaps
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import printed as published
from ldpnb.papers.juarez2022 import routes
from ldpnb.privacy import hockey_stick
from ldpnb.rng import stream

STATUSES = {
    "definition-2.2": "corrected",
    "theorem-4.1": "refuted",
    "theorem-4.1-allocation": "corrected",
    "theorem-4.3-k-2": "reproduced",
    "theorem-4.3-allocation": "corrected",
    "theorem-4.3-other-k": "refuted",
    "appendix-b-privacy": "refuted",
    "section-4-range-of-k": "corrected",
    "equation-21": "reproduced",
    "proposition-5.2": "reproduced",
    "equation-19": "reproduced",
    "equation-20": "reproduced",
    "theorem-5.4-variance": "reproduced",
    "theorem-5.4-unbiased": "refuted",
    "figure-1-crossings": "corrected",
    "section-5-k-2": "refuted",
    "appendix-b-error": "refuted",
    "figure-3": "reproduced",
    "figure-2-small-groups": "corrected",
    "figure-2-misestimated-sizes": "refuted",
    "table-1": "reproduced",
    "table-1-dashes": "corrected",
    "table-2-bounds": "reproduced",
    "figure-4": "reproduced",
    "table-2-errors": "corrected",
    "appendix-d-rates": "corrected",
    "appendix-d-synthetic-data": "refuted",
    "appendix-d-bounds": "reproduced",
}


def test_every_claim_has_the_verdict_it_deserves() -> None:
    found = {c.id.partition("/")[2]: claims.decide(c.id).status for c in claims.claims("juarez2022")}
    assert found == STATUSES


def test_printed_formulas_are_those_of_the_package_at_two_groups() -> None:
    for first, second in ((0.2, 1.0), (1.5, 0.4)):
        group = {"size": 30, "clients": 100, "second_moment": 0.4}
        found = gaps.variance_discretised_mean(DiscretisedMeans(first, second), 30, 100, 0.4)
        assert found == pytest.approx(routes.printed_variance_discretised(first, second, **group), rel=1e-12)
        found = gaps.variance_laplace_mean(LaplaceMeans(first, second, 1.3), 30, 100, 0.4)
        assert found == pytest.approx(routes.printed_variance_laplace(first, second, 1.3, **group), rel=1e-12)


def test_quadrature_agrees_with_the_closed_form_of_delta() -> None:
    mechanism = LaplaceMeans.published(0.8)
    pair = ((0, 1.0), (1, 1.0))
    closed = hockey_stick.law_delta(mechanism.law(0, 1.0), mechanism.law(1, 1.0), 0.5)
    assert routes.integrated_delta(mechanism, pair, 0.5) == pytest.approx(closed, rel=1e-11)


def test_the_law_of_a_mean_of_errors_is_that_of_simulated_ones() -> None:
    normal = stream("errors", seed=1).standard_normal((100_000, 10))
    means = np.abs(np.abs(0.8 + 0.5 * normal) - 0.8).mean(axis=1)
    for point in (0.25, 0.35, 0.5):
        share = float(np.mean(means <= point))
        assert routes.mean_error_cdf(point, 0.5, 0.8, 10) == pytest.approx(share, abs=5 * 0.5 / np.sqrt(100_000))


def test_printed_numbers_keep_their_decimals() -> None:
    assert published.decimals("Table 2", "M_R sd eps=0.01") == 4
    assert published.value("Table 2", "M_R sd eps=10") == 0
    assert len(published.table_1()) == 30
