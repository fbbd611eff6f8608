"""Facts about the two group-mean mechanisms: their law, their exact loss, and simulations from that law."""

import json
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ldpnb.mechanisms import moves
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans, published_group_epsilon
from ldpnb.privacy.channel import privacy_loss
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


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("groups", [2, 5])
def test_calibrated_mechanisms_lose_exactly_their_budget(epsilon: float, groups: int) -> None:
    mechanism = DiscretisedMeans.calibrated(epsilon, groups)
    assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert privacy_loss(mechanism.channel()).epsilon == pytest.approx(epsilon, rel=1e-9)
    assert LaplaceMeans.calibrated(epsilon, groups).epsilon == pytest.approx(epsilon, rel=1e-12)


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


def test_clipping_rescues_k_above_2_only() -> None:
    assert LaplaceMeans.published(1.0).clipped_epsilon == pytest.approx(1.693147181)
    assert LaplaceMeans.published(0.1).clipped_epsilon == pytest.approx(1.198612289)
    assert LaplaceMeans.published(6.0).clipped_epsilon == pytest.approx(6.0)
    assert LaplaceMeans.calibrated(1.0).clipped_epsilon == pytest.approx(1.0)


def exact_tally_law(mechanism: DiscretisedMeans) -> dict[tuple[int, ...], float]:
    """Law of the four report counts of three users ``(0, 0.5), (0, -1), (1, 0.2)``, by enumeration of all reports."""
    inputs = [(0, 0.5), (0, -1.0), (1, 0.2)]
    columns = [mechanism.channel([value])[:, group] for group, value in inputs]
    law: dict[tuple[int, ...], float] = {}
    for reports in product(range(4), repeat=3):
        key = tuple(np.bincount(reports, minlength=4).tolist())
        chance = float(np.prod([column[report] for column, report in zip(columns, reports, strict=True)]))
        law[key] = law.get(key, 0.0) + chance
    return law


def test_sampled_tallies_follow_the_enumerated_law() -> None:
    mechanism = DiscretisedMeans(0.7, 1.3)
    runs = 60_000
    counts, values = [[1, 1, 0], [0, 0, 1]], [0.5, -1.0, 0.2]
    drawn = mechanism.sample_tallies(counts, values, repetitions=runs, rng=stream("tallies", seed=1)).reshape(runs, 4)
    seen, times = np.unique(drawn, axis=0, return_counts=True)
    law = exact_tally_law(mechanism)
    assert {tuple(row) for row in seen.tolist()} <= set(law)
    chances = np.array([law[tuple(row)] for row in seen.tolist()])
    z = (times / runs - chances) / np.sqrt(chances * (1 - chances) / runs)
    assert np.abs(z).max() < 5.5


@pytest.mark.parametrize("groups", [2, 3])
def test_sums_of_reports_have_the_moments_of_single_reports(groups: int) -> None:
    for mechanism in (DiscretisedMeans(0.7, 1.3, groups), LaplaceMeans(0.7, 1.3, 0.8, groups)):
        counts = np.array([[3, 2], [4, 1], [2, 2]])[:groups]
        values, runs = np.array([0.9, -0.4]), 40_000
        sums = mechanism.sample_sums(counts, values, repetitions=runs, rng=stream("sums", groups, seed=2))
        own = np.repeat(np.arange(groups), counts.sum(axis=1))
        held = np.concatenate([np.repeat(values, row) for row in counts])
        singles = np.zeros((runs, groups))
        rng = stream("singles", groups, seed=2)
        for user in range(own.size):
            reported, sent = mechanism.randomize(np.full(runs, own[user]), np.full(runs, held[user]), rng=rng)
            singles[np.arange(runs), reported] += sent
        error = np.sqrt((sums.var(axis=0) + singles.var(axis=0)) / runs)
        assert np.abs((sums.mean(axis=0) - singles.mean(axis=0)) / error).max() < 5
        ratio = sums.var(axis=0) / singles.var(axis=0)
        assert np.abs(ratio - 1).max() < 0.06


def test_a_sum_of_laplace_variables_is_drawn_exactly() -> None:
    ones = moves.sum_of_laplace(np.full(100_000, 1), rng=stream("laplace", seed=3))
    share = float(np.mean(np.abs(ones) > 1))
    assert abs(share - np.exp(-1)) < 5 * np.sqrt(np.exp(-1) / 100_000)
    assert moves.sum_of_laplace(np.array([0, 0]), rng=stream("none", seed=3)).tolist() == [0.0, 0.0]


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
        (lambda: DiscretisedMeans(0.0, 1.0), "group_epsilon must be > 0 and finite, got group_epsilon=0"),
        (lambda: LaplaceMeans(1.0, -1.0), "value_epsilon must be > 0 and finite"),
        (lambda: LaplaceMeans(1.0, 1.0, groups=1), "groups must be an integer >= 2, got groups=1"),
        (lambda: LaplaceMeans(1.0, 1.0, k=-1.0), "k must be > 0"),
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
