"""Estimate and variance are unbiased over every sample and every report of tiny populations.

Nothing is simulated: each possible sample and each possible report is taken with its probability.
"""

import itertools

import numpy as np
import pytest
from enumerate_surveys import moments, samples_of

from ldpnb.survey.device import device

SHARES = {
    "Warner": device(p="3/4", q="1/4"),
    "forced response": device(p="5/6", q="1/3"),
    "p below q": device(p="1/6", q="2/3"),
    "forced yes": device(p=1, q="2/5"),
    "no false yes": device(p="1/2", q=0),
    "k-RR": device(p="1/2", q="1/6", values=4),
    "unary": device(p="1/2", q="1/4", mechanism="unary", values=4),
}
TRUTH = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]
NUMBERS = device(p="3/4", q="1/4", low=0, high=1)


def in_clusters(size, clusters):
    def design(people):
        return {
            "cluster": [str(person // size) for person in people],
            "cluster_size": np.full(len(people), float(size)),
            "clusters": clusters,
        }

    return design


PAIRS = list(itertools.combinations(range(3), 2))
WHOLE_CLUSTERS = [[2 * a, 2 * a + 1, 2 * b, 2 * b + 1] for a, b in PAIRS]
DESIGNS = {
    "simple": {"number": 3},
    "everybody": {"number": 6},
    "strata": {"number": [2, 2], "strata": [0, 0, 0, 1, 1, 1]},
    "unequal strata": {"number": [2, 2], "strata": [0, 0, 1, 1, 1, 1]},
    "clusters": {"number": 4, "samples": WHOLE_CLUSTERS, "design": in_clusters(2, 3)},
    "two stages": {
        "number": 4,
        "samples": samples_of([2, 2], [0, 0, 0, 1, 1, 1], 6),
        "design": in_clusters(3, 2),
    },
}


@pytest.mark.parametrize("made", SHARES.values(), ids=SHARES)
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_estimate_and_variance_of_a_share_are_unbiased(made, design):
    mean, true_variance, mean_variance = moments(made, TRUTH, **design)
    assert mean == pytest.approx(np.mean(TRUTH))
    assert mean_variance == pytest.approx(true_variance, rel=1e-9)


def two_of_four_clusters_of_two():
    truths = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    samples = [[2 * a, 2 * a + 1, 2 * b, 2 * b + 1] for a, b in itertools.combinations(range(4), 2)]
    return truths, samples, in_clusters(2, 4)


def test_weights_that_are_exact_give_the_same_as_sizes():
    made = SHARES["forced response"]
    sizes = {"0": 2, "1": 4}

    def weighted(people):
        strata = ["0" if person < 2 else "1" for person in people]
        return {
            "stratum": strata,
            "weight": np.array([sizes[name] / 2 for name in strata]),
            "population": sizes,
        }

    plain = moments(made, TRUTH, **DESIGNS["unequal strata"])
    by_weight = moments(
        made, TRUTH, [2, 2], samples=samples_of([2, 2], [0, 0, 1, 1, 1, 1], 6), design=weighted
    )

    assert by_weight == pytest.approx(plain)


def test_unequal_weights_give_an_unbiased_variance_of_clusters_drawn_with_replacement():
    """Poststrata of equal size with weights, drawn anew each time: no correction is needed."""
    made = SHARES["Warner"]
    truths = [1.0, 0.0, 1.0, 1.0]
    samples = [list(people) for people in itertools.product([0, 1], [0, 1], [2, 3], [2, 3])]

    def weighted(people):
        return {
            "stratum": ["a" if person < 2 else "b" for person in people],
            "weight": np.array([3.0 if person < 2 else 1.0 for person in people]),
        }

    mean, true_variance, mean_variance = moments(
        made, truths, [2, 2], samples=samples, design=weighted
    )

    assert mean == pytest.approx(0.75 * 0.5 + 0.25 * 1.0)
    assert mean_variance == pytest.approx(true_variance)


def test_clusters_without_sizes_make_the_variance_too_large_and_never_too_small():
    made = SHARES["Warner"]
    truths, samples, design = two_of_four_clusters_of_two()

    def without_sizes(people):
        return {"cluster": design(people)["cluster"]}

    _, true_variance, corrected = moments(made, truths, 4, samples=samples, design=design)
    _, _, plain = moments(made, truths, 4, samples=samples, design=without_sizes)
    assert corrected == pytest.approx(true_variance)
    assert plain > true_variance


@pytest.mark.parametrize(
    "truths",
    [[0.0, 0.25, 0.5, 1.0, 0.7], [0.5] * 5, [0.0, 1.0, 1.0, 0, 0]],
    ids=["various numbers", "all the same", "ends only"],
)
def test_the_variance_of_a_mean_of_bits_is_too_large_by_the_spread_over_the_population(truths):
    mean, true_variance, mean_variance = moments(NUMBERS, truths, 3)
    assert mean == pytest.approx(np.mean(truths))
    assert mean_variance - true_variance == pytest.approx(np.var(truths, ddof=1) / 5)


@pytest.mark.parametrize(
    ("design", "value"),
    [({"number": 3}, 0.29), ({"number": [2, 2], "strata": [0, 0, 0, 1, 1, 1, 1]}, 0.22193877551)],
    ids=["simple", "strata"],
)
def test_the_variance_equals_one_enumerated_by_others(design, value):
    truths = [1.0, 0.0, 0.0, 1.0, 1.0]
    if "strata" in design:
        truths = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]

    _, true_variance, mean_variance = moments(SHARES["Warner"], truths, **design)
    assert true_variance == pytest.approx(value)
    assert mean_variance == pytest.approx(value)
