"""Facts about the second routes of the claims that no claim itself compares with anything."""

import numpy as np
import pytest

from ldpnb.papers.biswas2022.routes import published
from ldpnb.papers.bun2022.section_5 import counted
from ldpnb.papers.juarez2022.routes import mean_error_cdf
from ldpnb.papers.lecture20.routes import clipped_mass, smallest_error
from ldpnb.rng import stream
from ldpnb.run.catalogue import find


@pytest.mark.parametrize("name", ["01_sampling_bias", "02_tv_vs_communication"])
def test_notebooks_run_at_the_scale_of_the_source(name: str) -> None:
    defaults = {p.name: p.default for p in find(f"1_biswas2022/{name}").parameters}
    assert defaults["users"] == published()["nodes"] == 50_000
    assert {published()["rate_low"], published()["rate_high"]} <= set(defaults["sampling_rates"])


@pytest.mark.parametrize("threshold", [-5.0, 0.0, 3.0])
def test_noisy_count_events_are_chances(threshold: float) -> None:
    inside, neighbour, outside = counted((2, 3, 1), 2, 0.5, threshold)
    assert 0 < outside < neighbour < inside < 1
    assert inside / neighbour <= 1.65


def test_the_law_of_a_mean_of_errors_is_that_of_simulated_ones() -> None:
    normal = stream("errors", seed=1).standard_normal((100_000, 10))
    means = np.abs(np.abs(0.8 + 0.5 * normal) - 0.8).mean(axis=1)
    for point in (0.25, 0.35, 0.5):
        share = float(np.mean(means <= point))
        assert mean_error_cdf(point, 0.5, 0.8, 10) == pytest.approx(share, abs=5 * 0.5 / np.sqrt(100_000))


def test_the_least_error_is_exceeded_as_seldom_as_asked() -> None:
    errors, chances = np.array([-1.0, 0.0, 2.0, 3.0]), np.array([0.3, 0.6, 0.09, 0.01])
    assert [smallest_error(errors, chances, failure) for failure in (0.01, 0.0999, 0.1, 0.4)] == [2.0, 2.0, 1.0, 0.0]


def test_what_is_clipped_is_what_leaves_the_band() -> None:
    laws = np.array([[0.5, 0.9, 0.5], [0.25, 0.05, 0.3], [0.25, 0.05, 0.2]])
    np.testing.assert_allclose(clipped_mass(laws, 1.5), [0, 0.7 / 3, 0], atol=1e-15)
    np.testing.assert_allclose(clipped_mass(laws, 1.25), [0, 0.3, 0], atol=1e-15)
