"""Privacy at the limits of its arguments: what is refused, by name, rule and value, and what holds at the ends."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ldpnb.designs import sizes
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import clusters, hockey_stick, lemmas, participation, rounding, subsampling, unequal
from ldpnb.privacy.best_channel import best_channel, staircase_patterns
from ldpnb.privacy.blanket import Blanket
from ldpnb.privacy.channel import as_channel, privacy_loss
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.privacy.noisy_statistics import noisy_statistic_losses
from ldpnb.privacy.optimiser import largest_loss
from ldpnb.privacy.random_size import random_size_loss
from ldpnb.privacy.shuffling import ShuffledReports, closed_form, local_budget

RESPONSE = KaryRandomisedResponse(1.0, 3)
PAIR = [[0.5, 0.5], [0.4, 0.6]]


def cluster_loss(*design: Any, neighbours: str = "deletion") -> float:
    return ClusterSample(*design).loss(1.0, neighbours=neighbours)


def sure_loss(epsilon: float, chance: float = 1.0, mechanism: str = "deletion") -> float:
    return largest_loss({(1,): chance}, {(2,): 1.0}, epsilon=epsilon, mechanism=mechanism).loss


REFUSALS: list[tuple[Callable[[], object], str]] = [
    (lambda: subsampling.proportion_noise_scale(1.0, 10, 5), "population must be an integer >= 10, got population=5"),
    (lambda: subsampling.with_replacement_loss(1.0, 1, 1), "population must be an integer >= 2, got population=1"),
    (lambda: rounding.random_rounding_loss(5, 1.0, 1.0), r"sampling_rate must lie in \(0, 1\), got"),
    (lambda: lemmas.mixture_loss(0.5, common=1.0, other=0.5), "other must be >= common, got other=0.5 and common=1.0"),
    (lambda: lemmas.inserted_record_loss(5, 4, 1.0), "size must be at most the population's 4, got size=5"),
    (lambda: lemmas.inserted_record_loss(0, 0, 1.0), "population must be an integer >= 1, got population=0"),
    (lambda: lemmas.largest_tilted_mean([1, 1, 1], [0.0, 2.0, 1.0], 1.0), "values must be nondecreasing"),
    (lambda: lemmas.largest_tilted_mean([1, 1, 1], [2.0, 1.0, 3.0], 1.0), "values must be nondecreasing"),
    (lambda: lemmas.largest_tilted_mean([0.0, 0.0], [0.0, 1.0], 1.0), "law must be weights >= 0, not all zero"),
    (lambda: lemmas.largest_tilted_mean([2.0, -1.0], [0.0, 1.0], 1.0), "law must be weights >= 0, not all zero"),
    (lambda: unequal.element_loss_floor([-0.1, 0.5], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
    (lambda: unequal.element_loss_floor([0.5, 1.2], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
    (lambda: unequal.element_loss_floor([], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
    (lambda: unequal.element_loss_floor([0.0, 0.0], 1.0), r"rates must lie in \[0, 1\] and have a positive one"),
    (lambda: unequal.poisson_loss([0.5, -0.1], [0.5, 0.5], 1.0), "rates must be one chance in"),
    (lambda: unequal.poisson_loss([0.5, 0.5], [1.1, 0.5], 1.0), "neighbour_rates must be one chance in"),
    (lambda: unequal.poisson_loss([0.5], [0.5, 0.5], 1.0), "neighbour_rates must be one chance"),
    *(
        (lambda s=s: unequal.pps_cluster_loss(s, 1.0), "sizes must be integers >= 1 with a sum of at least 2")
        for s in ([1], [3, 0])
    ),
    (lambda: unequal.systematic_loss(range(5), 0, 9, step=2, epsilon=1.0), "step must divide the number of records"),
    (lambda: clusters.log_symmetric_ratio([0.0, 0.0], 0), "order must be an integer >= 1, got order=0"),
    (lambda: clusters.log_symmetric_ratio([0.0, 0.0], 4), "order must be at most 3, got order=4"),
    (lambda: ClusterSample([1, 2], 2).identifying_confusion(1.0), "chosen must leave a cluster out, got chosen=2 of 2"),
    (lambda: cluster_loss([2, 0, 3], 1), r"sizes must be integers >= 1, got sizes\[1\]=0"),
    (lambda: cluster_loss([2, 1.5], 1), r"sizes must be whole numbers >= 0, got sizes\[1\]=1.5"),
    (lambda: cluster_loss([2, 3], 3), "chosen must be at most the number of clusters, 2, got chosen=3"),
    (lambda: cluster_loss([2, 3], 0), "chosen must be an integer >= 1, got chosen=0"),
    (lambda: cluster_loss([1, 1], 1, 2), "changed must be an index below 2, got changed=2"),
    (lambda: cluster_loss([1, 1], 1, neighbours="swap"), "neighbours must be one of deletion, replacement"),
    (lambda: sizes.SizeLaw(np.zeros(3)), "must be the logarithms of a probability law"),
    (lambda: sizes.size_law([0.5, 0.4]), "probabilities must sum to 1"),
    (lambda: sizes.truncated_gaussian_size(10, 5.0, 0), "deviation must be > 0 and finite, got deviation=0"),
    (lambda: sure_loss(25.0), r"at most 30.0 nats, got 50.0"),
    (lambda: sure_loss(0), "epsilon must be > 0 and finite"),
    (lambda: sure_loss(9e-10), "epsilon must be >= 1e-09 nats for a linear program, got epsilon=9e-10"),
    (lambda: Blanket.of_channel([[0.5, 0.0], [0.5, 1.0]]), "channel must be private: an output that some value never"),
    (lambda: Blanket.of(RESPONSE).delta_upper(0.1, users=10**9 + 1), "users must be at most 1000000000, got users=1"),
    (lambda: sure_loss(1.0, chance=0.5), "law must sum to 1"),
    (lambda: sure_loss(1.0, mechanism="swap"), "mechanism must be one of deletion, replacement, got"),
    (lambda: noisy_statistic_losses([0.0, 700.5], PAIR, [[0, 1]], 1.0), "scale must be at least a 700th"),
    (lambda: ShuffledReports(10, 0.5, RESPONSE).epsilon_upper(0.0), r"delta must lie in \(0, 1\), got delta=0.0"),
    (lambda: ShuffledReports(10, 0.5, RESPONSE).delta_upper(-0.1), "epsilon must be >= 0"),
    (lambda: ShuffledReports(10**12, 0.5, RESPONSE).epsilon_upper(0.1), "users must be at most 1000000000 .*, got use"),
    (
        lambda: ShuffledReports(10, 1e-6, KaryRandomisedResponse(700, 3)).delta_upper(1),
        r"rate \* q must be at least 1e",
    ),
    (lambda: ShuffledReports(1, 0.5, RESPONSE), "users must be an integer >= 2, got users=1"),
    (lambda: ShuffledReports(9, 0.5, KaryRandomisedResponse(1, 2)).epsilon_lower(0.1), "domain_size must be .* >= 3"),
    (lambda: hockey_stick.discrete_delta([0.5, 0.5], [0.5, 0.5], -0.1), "epsilon must be >= 0"),
    (lambda: hockey_stick.discrete_delta([0.5, 0.5], [0.5, 0.6], 0.1), "second must sum to 1"),
    (lambda: hockey_stick.epsilon_at_delta(lambda _: 0.5, 0), r"delta must lie in \(0, 1\), got delta=0"),
    (
        lambda: hockey_stick.law_delta([(1.0, 0.0, 2.0)], [(0.5, 0.0, 1.0)] * 2, 0.1),
        r"as many reported groups.*got shapes",
    ),
    (lambda: hockey_stick.law_delta(1.0, 2.0, 0.1), r"\(groups, 3\), got shapes \(\) and \(\)"),
    (
        lambda: hockey_stick.law_delta([(1.1, 0.0, 2.0)], [(0.5, 0.0, 1.0)], 0.1),
        r"weight of first must lie in \[0, 1\]",
    ),
    (lambda: hockey_stick.law_delta([(1.0, 0.0, 2.0)], [(0.5, np.nan, 1.0)], 0.1), "location of second must lie in"),
    (lambda: hockey_stick.law_delta([(1.0, 0.0, 0.0)], [(0.5, 0.0, 1.0)], 0.1), r"scale of first must lie in \[1e-150"),
    (lambda: participation.participation_loss(1.0, lowest_rate=0.3, highest_rate=0.2), "lowest_rate must be <= "),
    (lambda: participation.participation_loss(1.0, lowest_rate=0.0, highest_rate=0.2), "lowest_rate must lie in"),
    (lambda: participation.value_dependent_channel([0.5, 0.5], RESPONSE), r"rates must be 3 numbers in \[0, 1\]"),
    (lambda: participation.value_dependent_channel([-0.1, 0.5, 1], RESPONSE), r"rates must be 3 numbers in \[0, 1\]"),
    (lambda: participation.report_dependent_channel([0.5, 1.1, 1], RESPONSE), r"rates must be 3 numbers in \[0, 1\]"),
    (lambda: participation.report_dependent_channel([np.nan, 1, 1], RESPONSE), r"rates must be 3 numbers in \[0, 1\]"),
    (lambda: best_channel([1.0], 1.0), "distributions must be positive and sum to 1, on 2 to 8 values"),
    (lambda: best_channel([0.5, 0.5, 0.0], 1.0), "distributions must be positive and sum to 1, on 2 to 8 values"),
    (lambda: best_channel([[0.5, 0.5], [0.6, 0.6]], 1.0), "distributions must be positive and sum to 1"),
    (lambda: best_channel(np.full(9, 1 / 9), 1.0), "distributions must be positive and sum to 1, on 2 to 8 values"),
    (lambda: staircase_patterns(1, 1.0), "domain_size must be an integer >= 2, got domain_size=1"),
    (lambda: staircase_patterns(17, 1.0), "domain_size must be <= 16 to list every pattern, got domain_size=17"),
    (lambda: closed_form(1e-6, users=0, epsilon=1.0), "users must be an integer >= 1, got users=0"),
    (lambda: best_channel([0.5, 0.5], 1e-310), "epsilon must be a normal number, got epsilon=1e-310"),
    (lambda: random_size_loss(sizes.fixed_size(1, 2), 1.1e100), r"epsilon must be <= 1e\+100 nats, got epsilon=1.1e"),
    (lambda: as_channel([[np.nan, 0.5], [0.5, 0.5]]), "channel must have entries in"),
    (lambda: as_channel([[-0.5, 0.5], [1.5, 0.5]]), "channel must have entries in"),
    (lambda: as_channel([0.5, 0.5]), r"channel must be a matrix of outputs by inputs, got shape \(2,\)"),
    (lambda: as_channel(np.empty((0, 2))), r"channel must be a matrix of outputs by inputs, got shape \(0, 2\)"),
    (lambda: as_channel([[0.5, 0.4, 0.5], [0.5, 0.3, 0.6]]), r"got column 1 with sum .*0\.7"),
    (lambda: as_channel([[0.5, 0.4, 0.9], [0.5, 0.5, 0.6]]), r"got column 2 with sum .*1\.5"),
]


@pytest.mark.parametrize(("call", "message"), REFUSALS)
def test_arguments_out_of_range_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("epsilon", [1e-9, 15.0])
def test_the_extreme_budgets_of_a_linear_program_are_budgets(epsilon: float) -> None:
    assert sure_loss(epsilon) == pytest.approx(2 * epsilon, rel=1e-12)


def test_what_is_refused_beyond_its_limit_is_accepted_at_it() -> None:
    assert staircase_patterns(16, 1.0).shape == (2**16 - 2, 16)
    assert random_size_loss(sizes.fixed_size(2, 2), 1e100) == 2e100
    assert Blanket.of(RESPONSE).delta_upper(0.9, users=10**9) < 1e-9
    assert np.isnan(closed_form(1e-6, users=1, epsilon=1.0))


def test_chances_of_zero_and_one_are_chances() -> None:
    assert unequal.element_loss_floor([0.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert unequal.poisson_loss([1.0, 0.0], [1.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert clusters.log_symmetric_ratio([0.0, 0.0], 3) == np.inf
    assert clusters.log_symmetric_ratio([0.0, 0.0], 1) == pytest.approx(-np.log(2), rel=1e-12)


def test_whole_numbers_may_be_given_as_floats() -> None:
    assert repr(ClusterSample([2, 3], 1.0, 1.0)) == repr(ClusterSample([2, 3], 1, 1))


def test_a_rate_of_fifteen_digits_is_read_as_it_is_written_and_a_longer_one_is_not() -> None:
    half = 5 * 10**14  # of which that is half a record more than 25e13; the nearest float is less
    loss = lemmas.inserted_record_loss(half // 2 + 1, half, 0.5)
    assert rounding.nearest_rounding_loss(half, 0.500000000000001, 0.5) == pytest.approx(float(loss), rel=1e-12)
    assert rounding.nearest_rounding_loss(48 * 10**14, 0.5000000000000001, 0.5) != 0.5


def test_local_budgets_of_hundreds_of_nats_are_found() -> None:
    assert 200 < local_budget(200.0, 1e-6, users=3, rate=0.01, domain_size=3) < 220


def test_an_output_that_nobody_sends_tells_nothing() -> None:
    found = privacy_loss([[0.75, 0.25], [0.0, 0.0], [0.25, 0.75]])
    assert found.epsilon == pytest.approx(np.log(3), rel=1e-12)
    assert found.output != 1


def test_a_sure_reporter_is_excluded_by_silence() -> None:
    channel = participation.value_dependent_channel([0.0, 0.5, 1.0], RESPONSE)
    assert channel.sum(axis=0) == pytest.approx(np.ones(3), rel=1e-12)
    assert privacy_loss(channel).epsilon == np.inf


def test_noise_of_a_700th_of_the_range_is_enough() -> None:
    assert noisy_statistic_losses([0.0, 700.0], PAIR, [[0, 1]], 1.0) > 0


@pytest.mark.parametrize(("users", "delta"), [(50_000, 1e-6), (1000, 1e-3)])
def test_the_published_closed_form_reaches_to_the_end_of_its_range_and_no_further(users: int, delta: float) -> None:
    last = np.log(users / (16 * np.log(2 / delta)))
    assert closed_form(delta, users=users, epsilon=last * (1 - 1e-9)) > 0
    assert np.isnan(closed_form(delta, users=users, epsilon=last * (1 + 1e-9)))


def test_all_records_may_be_drawn_before_one_is_inserted() -> None:
    assert lemmas.inserted_record_loss(3, 3, 0.5) == pytest.approx(np.log1p(0.75 * np.expm1(1.0)), rel=1e-12)


def test_a_law_of_thousands_of_sizes_is_tilted() -> None:
    tilted = lemmas.largest_tilted_mean(np.ones(2000), np.arange(2000), 1.0)
    assert tilted == pytest.approx(1999 - 1 / np.expm1(1), rel=1e-12)
