"""What an allocation costs under privacy, on a family of populations that can be listed."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from ldpnb.accuracy import allocation
from ldpnb.designs import strata
from ldpnb.papers.bun2022.tables import private_allocation

FAMILY = allocation.Family((6, 4), (1.0, 3.0))
NEYMAN = allocation.outcomes(FAMILY, allocation.neyman(FAMILY, 4))


def test_family_lists_all_populations_and_neighbours() -> None:
    assert len(FAMILY.populations) == 35
    assert len(FAMILY.neighbours) == 6 * 5 + 7 * 4
    assert FAMILY.variances((3, 4)) == pytest.approx([np.var([0, 0, 0, 1, 1, 1], ddof=1), 0.0])


def test_estimate_law_is_that_of_two_hypergeometric_counts() -> None:
    law = FAMILY.estimate_law((2, 3), allocation.fixed((3, 2)))
    assert sum(law.values()) == pytest.approx(1)
    expected = sum(
        hypergeom.pmf(h, 6, 2, 3) * hypergeom.pmf(k, 4, 3, 2) * (6 * h / 3 + 4 * 3 * k / 2) / 10
        for h in range(4)
        for k in range(3)
    )
    assert sum(v * p for v, p in law.items()) == pytest.approx(expected) == pytest.approx((2 + 9) / 10)


def test_the_variance_of_a_fixed_allocation_is_that_of_the_weighted_mean() -> None:
    variances = allocation.outcomes(FAMILY, allocation.fixed((4, 3))).variances()
    known = [strata.Strata(FAMILY.sizes, FAMILY.variances(p)).variance((4, 3)) for p in FAMILY.populations]
    assert variances == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("drawn", [1, 2, 3])
def test_neyman_is_the_best_allocation_of_each_population(drawn: int) -> None:
    fixed = allocation.outcomes(FAMILY, allocation.fixed((drawn, 4 - drawn)))
    assert (NEYMAN.variances() <= fixed.variances() + 1e-12).all()


def test_loss_falls_with_the_noise_and_meets_the_budget() -> None:
    losses = [NEYMAN.loss(scale) for scale in np.geomspace(0.05, 50, 30)]
    assert (np.diff(losses) < 0).all()
    for epsilon in (0.01, 0.5, 3.0):
        assert NEYMAN.loss(NEYMAN.noise_scale(epsilon)) == pytest.approx(epsilon, rel=1e-9)


def test_proportional_allocation_mixes_whole_numbers() -> None:
    rule = allocation.proportional((6, 4), 0.4)
    assert sum(p for p, _ in rule((0, 0))) == pytest.approx(1)
    assert sum(p * sum(m) for p, m in rule((0, 0))) == pytest.approx(4)
    with pytest.raises(ValueError, match="must give every stratum at least one record"):
        allocation.proportional((6, 4), 0.2)


def test_best_found_is_never_worse_than_neyman_or_proportional() -> None:
    tables = private_allocation.candidates(FAMILY, 4)
    solved = private_allocation.variances(tables, [0.1, 1.0, 4.0]).pivot(
        index="epsilon (nats)", columns="rule", values="worst population"
    )
    assert (solved["best found"] <= solved["Neyman"] + 1e-12).all()
    assert (solved["best found"] <= solved["proportional, rounded at random"] + 1e-12).all()


def test_too_large_an_epsilon_needs_no_noise_and_is_refused() -> None:
    table = allocation.outcomes(FAMILY, allocation.fixed((2, 2)))
    with pytest.raises(ValueError, match=r"epsilon must be small enough to call for noise, got epsilon=1000.0"):
        table.noise_scale(1000.0)
    with pytest.raises(ValueError, match="height must be > 0 and finite, got height=0"):
        allocation.Family((3, 3), (0, 1.0))
