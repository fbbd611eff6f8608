"""Facts about the two group-mean mechanisms: their law, their exact loss, and simulations from that law."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans, published_group_epsilon
from ldpnb.rng import stream

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
SIGNS = DiscretisedMeans(1.0, 1.0)


@pytest.mark.parametrize(
    ("function", "stated"),
    [
        ("MR_exact_eps", lambda i: DiscretisedMeans(i["eps1"], i["eps2"]).epsilon),
        ("MR_opt_eps1_for_eps", lambda i: DiscretisedMeans.calibrated(i["eps"]).group_epsilon),
        ("ML_k2_exact_eps", lambda i: LaplaceMeans(i["eps1"], i["eps2"]).epsilon),
    ],
)
def test_losses_are_those_of_the_reference(function: str, stated) -> None:
    found = [case for case in REFERENCE if case["fn"] == function]
    assert found
    for case in found:
        assert stated(case["inputs"]) == pytest.approx(float(case["value"]), rel=1e-9)


def test_equal_budgets_lose_up_to_half_as_much_again_and_never_less_than_claimed() -> None:
    for epsilon in np.geomspace(1e-3, 20, 30):
        mechanism = DiscretisedMeans.published(float(epsilon))
        assert 1 < mechanism.epsilon / mechanism.claimed_epsilon < 1.5


def test_the_published_laplace_mechanism_claims_its_budget_by_equation_1() -> None:
    for epsilon in np.geomspace(0.01, 100, 40):
        assert LaplaceMeans.published(float(epsilon)).claimed_epsilon == pytest.approx(epsilon, rel=1e-12)
    assert LaplaceMeans.published(0.3).epsilon == np.inf
    assert LaplaceMeans.published(2.0).epsilon == 2.0
    assert published_group_epsilon(2 / 3) == pytest.approx(np.log(3) - 1 / 3)


def test_the_executed_mechanism_swaps_the_two_scales() -> None:
    stated, executed = LaplaceMeans.published(1.0), LaplaceMeans.executed(1.0)
    assert (stated.kept_scale, stated.moved_scale) == (2.0, 1.0)
    assert (executed.kept_scale, executed.moved_scale) == (1.0, 2.0)
    assert LaplaceMeans.executed(10.0).k == 2.0


@pytest.mark.parametrize("groups", [2, 3])
def test_sums_of_noisy_reports_have_the_moments_of_single_ones(groups: int) -> None:
    mechanism, runs, values = LaplaceMeans(0.7, 1.3, 0.8, groups), 40_000, np.array([0.9, -0.4])
    counts = np.array([[3, 2], [4, 1], [2, 2]])[:groups]
    sums = mechanism.sample_sums(counts, values, repetitions=runs, rng=stream("sums", groups, seed=2))
    singles, rng = np.zeros((runs, groups)), stream("singles", groups, seed=2)
    for (group, i), number in np.ndenumerate(counts):
        for _ in range(number):
            reported, sent = mechanism.randomize(np.full(runs, group), np.full(runs, values[i]), rng=rng)
            singles[np.arange(runs), reported] += sent
    error = np.sqrt((sums.var(axis=0) + singles.var(axis=0)) / runs)
    assert np.abs((sums.mean(axis=0) - singles.mean(axis=0)) / error).max() < 5
    assert sums.var(axis=0) / singles.var(axis=0) == pytest.approx(np.ones(groups), abs=0.06)


@pytest.mark.parametrize("mechanism", [DiscretisedMeans.calibrated(1.0), LaplaceMeans.calibrated(1.0)])
def test_a_thousand_measurements_of_a_billion_users_take_less_than_a_second(
    mechanism: DiscretisedMeans | LaplaceMeans,
) -> None:
    start = time.process_time()
    counts = np.full((2, 4), 125_000_000)
    sums = mechanism.sample_sums(counts, [1, 0.5, -0.5, 0.1], repetitions=1000, rng=stream("billion", seed=4))
    assert time.process_time() - start < 1
    assert sums.shape == (1000, 2)
    expected = mechanism.gain * counts[0].sum() * 0.275
    assert np.abs(sums.mean(axis=0) / expected - 1).max() < 1e-3


RNG = stream("bad", seed=5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LaplaceMeans(1.0, -1.0), "value_epsilon must be > 0 and finite"),
        (lambda: LaplaceMeans.executed(1.0).clipped_epsilon, "reversed_noise=True"),
        (
            lambda: SIGNS.sample_tallies([[1], [1]], [1.2], rng=RNG),
            r"values must lie in \[-1, 1\], got values\[0\]=1.2",
        ),
        (lambda: SIGNS.sample_tallies([[1, 2]], [0.0, 1.0], rng=RNG), "counts must have one row per group, 2"),
        (lambda: SIGNS.sample_tallies([[1, -2], [1, 1]], [0.0, 1.0], rng=RNG), "counts must be whole numbers >= 0"),
        (
            lambda: SIGNS.sample_tallies([[1], [1]], [0.0], repetitions=0, rng=RNG),
            "repetitions must be an integer >= 1",
        ),
        (lambda: SIGNS.randomize([0, 2], [0.0, 0.0], rng=RNG), r"groups must lie in 0 .. 1, got 0 .. 2"),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
