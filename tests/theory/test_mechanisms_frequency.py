import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ldpnb.estimators.frequency import project_simplex, unbiased
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.privacy.channel import privacy_loss

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/002.json").read_text())["cases"]
ALL = [
    KaryRandomisedResponse(1.0, 2),
    KaryRandomisedResponse(0.3, 5),
    UnaryEncoding.optimised(1.0, 4),
    UnaryEncoding.symmetric(2.0, 3),
    UnaryEncoding(0.6, 0.3, 3),
]


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_stated_epsilon_is_the_exact_loss_of_the_channel(mechanism) -> None:
    assert privacy_loss(mechanism.channel()).epsilon == pytest.approx(mechanism.epsilon, rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_epsilon_survives_the_ends_of_its_range(epsilon: float) -> None:
    for mechanism in (
        KaryRandomisedResponse(epsilon, 3),
        UnaryEncoding.optimised(epsilon, 3),
        UnaryEncoding.symmetric(epsilon, 3),
    ):
        assert privacy_loss(mechanism.channel()).epsilon == pytest.approx(epsilon, rel=1e-5)
        assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-5)
        assert mechanism.p > mechanism.q


def test_randomised_response_probabilities_are_the_textbook_ones() -> None:
    mechanism = KaryRandomisedResponse(1.0, 4)
    assert mechanism.p == pytest.approx(np.e / (np.e + 3), rel=1e-14)
    assert mechanism.q == pytest.approx(1 / (np.e + 3), rel=1e-14)
    assert mechanism.truthful_rate == pytest.approx(mechanism.p - mechanism.q, rel=1e-14)
    assert mechanism.channel().sum(axis=0) == pytest.approx(np.ones(4), rel=1e-14)


def test_unary_channel_is_the_product_of_its_bits() -> None:
    mechanism = UnaryEncoding(0.6, 0.3, 3)
    for y, bits in enumerate(mechanism.outputs()):
        for x in range(3):
            ones = np.where(np.arange(3) == x, 0.6, 0.3)
            assert mechanism.channel()[y, x] == pytest.approx(np.prod(np.where(bits, ones, 1 - ones)), rel=1e-13)


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_tallies_have_the_mean_and_variance_of_independent_reports(mechanism) -> None:
    counts, repetitions = np.array([70, 20, 10, 5, 0][: mechanism.domain_size]), 20_000
    rng = np.random.default_rng(7)
    draws = np.array([mechanism.sample_tallies(counts, rng=rng) for _ in range(repetitions)])
    support = np.full((mechanism.domain_size,) * 2, mechanism.q)
    np.fill_diagonal(support, mechanism.p)
    mean, variance = support @ counts, (support * (1 - support)) @ counts
    # Bonferroni over at most 10 comparisons a mechanism: false alarm below 1e-6
    assert np.abs(draws.mean(axis=0) - mean).max() < 5.6 * np.sqrt(variance.max() / repetitions)
    assert np.abs(draws.var(axis=0) / variance - 1).max() < 5.6 * np.sqrt(3 / repetitions)


def test_joint_law_of_two_tallies_is_exact() -> None:
    mechanism, counts = KaryRandomisedResponse(0.7, 2), np.array([3, 2])
    rng = np.random.default_rng(3)
    draws = np.array([mechanism.sample_tallies(counts, rng=rng)[0] for _ in range(40_000)])
    exact = np.convolve(stats.binom.pmf(range(4), 3, mechanism.p), stats.binom.pmf(range(3), 2, mechanism.q))
    assert stats.chisquare(np.bincount(draws, minlength=6), 40_000 * exact).pvalue > 1e-6


@pytest.mark.parametrize("mechanism", ALL[2:], ids=repr)
def test_joint_outputs_agree_with_the_channel(mechanism) -> None:
    counts = np.array([50_000, 20_000, 0, 1000][: mechanism.domain_size])
    outputs, tallies = mechanism.sample_outputs(counts, rng=np.random.default_rng(5))
    codes = outputs @ (1 << np.arange(mechanism.domain_size))
    seen = np.bincount(codes, tallies, minlength=2**mechanism.domain_size)
    expected = mechanism.channel() @ counts
    assert tallies.sum() == counts.sum()
    assert ((seen - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-6, expected.size)


def test_large_unary_outputs_are_the_users_bits_grouped() -> None:
    mechanism, counts = UnaryEncoding.optimised(3.0, 20), np.arange(20) * 50
    outputs, tallies = mechanism.sample_outputs(counts, rng=np.random.default_rng(1))
    bits = mechanism.randomize(np.repeat(np.arange(20), counts), rng=np.random.default_rng(1))
    assert (tallies @ outputs == bits.sum(axis=0)).all()
    assert len(outputs) == len(np.unique(bits, axis=0))


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_users_one_by_one_have_the_channel_as_their_law(mechanism) -> None:
    value, users = 1, 40_000
    reports = mechanism.randomize(np.full(users, value), rng=np.random.default_rng(11))
    codes = reports if reports.ndim == 1 else reports @ (1 << np.arange(mechanism.domain_size))
    expected = users * mechanism.channel()[:, value]
    assert stats.chisquare(np.bincount(codes, minlength=expected.size), expected).pvalue > 1e-6


def test_a_billion_users_cost_what_a_thousand_cost() -> None:
    counts = np.full(1000, 10**6)
    tallies = KaryRandomisedResponse(1.0, 1000).sample_tallies(counts, rng=np.random.default_rng(0))
    assert tallies.sum() == 10**9


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"] == "rr"], ids=lambda c: str(c["s"]))
def test_unbiased_and_norm_sub_meet_the_reference(case: dict) -> None:
    mechanism = KaryRandomisedResponse(case["eps"], len(case["s"]))
    estimate = unbiased(case["s"], sum(case["s"]), mechanism)
    assert estimate == pytest.approx(case["FO"], rel=1e-9)
    assert project_simplex(estimate) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", [c for c in REFERENCE if c["fn"] == "ue"], ids=lambda c: c["kind"])
def test_unary_estimates_meet_the_reference(case: dict) -> None:
    make = UnaryEncoding.optimised if case["kind"] == "OUE" else UnaryEncoding.symmetric
    mechanism, tallies = make(case["eps"], case["a"]), np.array(case["tallies"])
    estimate = unbiased(tallies @ mechanism.outputs(), tallies.sum(), mechanism)
    assert estimate == pytest.approx(case["FO"], rel=1e-9)
    assert project_simplex(estimate) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)


def test_projection_is_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(2)
    points, vertices = rng.normal(size=(200, 6)), np.eye(6)
    nearest = project_simplex(points)
    assert nearest.sum(axis=1) == pytest.approx(np.ones(200), rel=1e-12)
    assert nearest.min() >= 0
    # the variational inequality: no vertex of the simplex lies in front of the projection
    ahead = np.einsum("ij,vij->vi", points - nearest, vertices[:, None, :] - nearest)
    assert ahead.max() <= 1e-12


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: KaryRandomisedResponse(0.0, 3), "epsilon must be > 0 and finite, got epsilon=0.0"),
        (lambda: KaryRandomisedResponse(float("nan"), 3), "epsilon must be > 0 and finite, got epsilon=nan"),
        (lambda: KaryRandomisedResponse(float("inf"), 3), "epsilon must be > 0 and finite, got epsilon=inf"),
        (lambda: KaryRandomisedResponse(1.0, 1), "domain_size must be an integer >= 2, got domain_size=1"),
        (lambda: UnaryEncoding(0.3, 0.6, 3), "q must be < p, got p=0.3, q=0.6"),
        (lambda: UnaryEncoding(1.0, 0.5, 3), r"p must lie in \(0, 1\), got p=1.0"),
        (lambda: UnaryEncoding.optimised(-1.0, 3), "epsilon must be > 0 and finite, got epsilon=-1.0"),
        (lambda: UnaryEncoding.optimised(1.0, 13).channel(), "domain_size must be <= 12 to list every output"),
    ],
)
def test_bad_mechanisms_are_refused_by_name_rule_and_value(make, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        make()


@pytest.mark.parametrize("epsilon", ["1.0", None, True])
def test_epsilon_must_be_a_number(epsilon) -> None:
    with pytest.raises(TypeError, match="epsilon must be a number"):
        KaryRandomisedResponse(epsilon, 3)


@pytest.mark.parametrize(
    ("counts", "rule"),
    [
        ([3, -1], r"whole numbers >= 0, got counts\[1\]=-1"),
        ([3, 0.5], r"whole numbers >= 0, got counts\[1\]=0.5"),
        ([0, 0], "positive sum, got all zeros"),
        ([], "at least 1 entries"),
        ([1, 2, 3], "one entry per value, 2, got 3"),
    ],
)
@pytest.mark.parametrize("mechanism", [KaryRandomisedResponse(1.0, 2), UnaryEncoding.optimised(1.0, 2)])
def test_bad_counts_are_refused(mechanism, counts: list, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        mechanism.sample_tallies(counts, rng=np.random.default_rng(0))


def test_values_outside_the_domain_are_refused() -> None:
    with pytest.raises(ValueError, match=r"values must lie in 0 .. 1, got 0 .. 2"):
        KaryRandomisedResponse(1.0, 2).randomize([0, 2], rng=np.random.default_rng(0))


def test_an_excluded_input_has_infinite_loss_and_names_the_pair() -> None:
    loss = privacy_loss([[0.5, 0.0], [0.5, 1.0], [0.0, 0.0]])
    assert loss.epsilon == np.inf
    assert (loss.output, loss.inputs) == (0, (0, 1))


@pytest.mark.parametrize("channel", [[[0.5, 0.5]], [[1.0, -0.1], [0.0, 1.1]], [0.5, 0.5], []])
def test_a_matrix_that_is_no_channel_is_refused(channel) -> None:
    with pytest.raises(ValueError, match="channel must"):
        privacy_loss(channel)
