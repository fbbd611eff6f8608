"""What the rooms of the theory refuse, by name, rule and value.

`REFUSED` has a call for each rule, and the words that the error must contain. Single numbers out of
their range are left to test_out_of_range.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ldpnb.accuracy import gaps, histograms, means, tails
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.designs import laws, strata
from ldpnb.estimators import gaps as gap_estimates
from ldpnb.estimators import linear, sampling
from ldpnb.estimators.frequency import project_simplex
from ldpnb.estimators.likelihood import krr_mle, mle, support_mle
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit, histogram_sensitivity
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.biswas2022.formulas import personalised
from ldpnb.papers.biswas2022.formulas.distances import exact_total_variation
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.papers.biswas2022.formulas.reporters import poisson
from ldpnb.papers.bun2022.formulas import allocation, clusters, samples, sizes, unequal
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.bun2022.formulas.random_size import random_size_loss
from ldpnb.papers.bun2022.formulas.releases import releases_loss
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.papers.lopuhaa2020.formulas import bayes, exact_risk, information, lower_bounds
from ldpnb.papers.lopuhaa2020.formulas.best_channel import best_channel
from ldpnb.privacy import hockey_stick, lemmas, participation, shuffling, subsampling
from ldpnb.privacy.blanket import Blanket
from ldpnb.privacy.channel import as_channel
from ldpnb.privacy.optimiser import largest_loss
from ldpnb.rng import stream

RNG = stream("refused", seed=1)

WARNER = KaryRandomisedResponse(1.0, 2)
KRR = KaryRandomisedResponse(1.0, 3)
UNARY = UnaryEncoding.optimised(1.0, 2)
SIGNS = SignRandomiser(1.0, 2)
SUBSETS = SubsetSelection(1.0, 3, 1)

ONE_BIT = OneBit(1.0, 2.0)
DISCRETISED = DiscretisedMeans(1.0, 1.0)
LAPLACE = LaplaceMeans(1.0, 1.0)
SIGNED_BIT = SignedBit(1.0, (1, 1))
SIGNED_LAPLACE = SignedLaplace(1.0, (1, 1))

PUBLISHED_GAP = GroupGap.of_halves(LaplaceMeans.published(1.0), 4)
DISCRETISED_GAP = GroupGap.of_halves(DISCRETISED, 4)

FAMILY = allocation.Family((2, 2), (1.0, 1.0))
FAR_APART = allocation.Outcomes(np.array([0.0, 700.5]), np.eye(2), np.array([[0, 1]]))

ONE_GROUP_OF_COSTS = {"noises": [1], "costs": [1], "sizes": [1], "budget": 1}
OF_TEN_USERS = {"users": 10, "mechanism": WARNER}
AT_ONE_RATE = {"rates": [0.5], "mechanism": KRR}
LAPLACE_LAW = [(1.0, 0.0, 2.0)]

Refusal = tuple[Callable[[], object], str]
"""A call, and a pattern of the words that its error contains."""


def sure_loss(epsilon: float, chance: float = 1.0, mechanism: str = "deletion") -> float:
    return largest_loss({(1,): chance}, {(2,): 1.0}, epsilon=epsilon, mechanism=mechanism).loss


MECHANISMS: list[Refusal] = [
    (lambda: UnaryEncoding(0.2, 0.2, 2), "q must be < p, got p=0.2, q=0.2"),
    (lambda: UnaryEncoding(0.6, 0.3, 3, truthful_rate=1.5), r"truthful_rate must lie in \(0, 1\]"),
    (
        lambda: KaryRandomisedResponse(1.0, 10**6).channel(),
        "domain_size must be an integer from 2 to 10000, got",
    ),
    (
        lambda: LaplaceMeans(1.0, 1.0).law(2, 0.0),
        "group must be an integer from 0 to 1, got group=2",
    ),
    (lambda: LaplaceMeans.executed(1.0).clipped_epsilon, "reversed_noise=True"),
    (
        lambda: SubsetSelection(1.0, 4, 4),
        "subset_size must be an integer from 1 to 3, got subset_size=4",
    ),
    (lambda: SubsetSelection(1.0, 30, 10).outputs(), "subsets must be at most 5000"),
    (
        lambda: SignRandomiser(1.0, 13).channel(),
        "domain_size must be an integer from 2 to 12, got domain_size=13",
    ),
    (
        lambda: LocalHashing(1.0, 17, 2).channel(),
        r"outputs must be at most 100000 to list them, g\^\(k \+ 1\)",
    ),
    (
        lambda: LaplaceMeans(1.0, 1.0, 2.0, 2**24 + 1).law(0, 0.0),
        "groups must be an integer from 2 to 16777216, got",
    ),
    (
        lambda: BestGapChannel(1.0, 0.5).sizes(2**63),
        "users must be an integer from 2 to 9223372036854775807",
    ),
    (
        lambda: BestGapChannel(1.1e-8, 1e-10).variance,
        r"share and epsilon must leave digits .*epsilon=1\.1e-08",
    ),
    (lambda: histogram_sensitivity("swap"), "neighbours must be one of replacement, deletion"),
    (lambda: SignedLaplace(1.0, (0, 3)), r"sizes must be whole numbers >= 1, got sizes\[0\]=0"),
    (
        lambda: SIGNS.randomize_with_public_signs([0], [[0, 1]], rng=RNG),
        r"public must be signs -1 and \+1",
    ),
    (lambda: ONE_BIT.one_rate([0.5, np.nan]), "values must lie in"),
    (
        lambda: CentralLaplace(1.0).sample_sums([-0.5], [3], rng=RNG),
        r"values must lie in \[0, 1.0\], got values\[0\]",
    ),
    (lambda: ONE_BIT.sample_sums([0, 1], [3], rng=RNG), "values must have 1 entries"),
    (lambda: ONE_BIT.sample_sums([0], [3, 1], rng=RNG), "values must have 2 entries"),
    (
        lambda: ONE_BIT.sample_sums([1], [3], rng=RNG, repetitions=0),
        "repetitions must be an integer >= 1, got repetitions",
    ),
    (
        lambda: DISCRETISED.sample_tallies([[1], [1]], [1.2], rng=RNG),
        r"values must lie in \[-1, 1\], got values\[0\]=1.2",
    ),
    (
        lambda: DISCRETISED.sample_tallies([[1, 2]], [0.0, 1.0], rng=RNG),
        "counts must have one row per group, 2",
    ),
    (
        lambda: DISCRETISED.sample_tallies([[1, 2], [1, 1]], [0.0], rng=RNG),
        "values must match counts, got shapes",
    ),
]

DESIGNS: list[Refusal] = [
    (
        lambda: strata.strata_of_tallies([1.0, 2.0], [0, 2]),
        "stratum must leave none empty, got no record in stratum 1",
    ),
    (lambda: strata.Strata([3, 0], [1, 1]), r"sizes must be whole numbers >= 1, got sizes\[1\]=0"),
    (
        lambda: strata.Strata([3, 3], [1]),
        r"variances must have 2 entries, got variances=array\(\[1",
    ),
    (
        lambda: strata.Strata([3, 3], [1, -1]),
        r"variances must lie in \[0.0, inf\], got variances\[1\]=-1",
    ),
    (lambda: strata.Strata([3, 3]).neyman(2), "variances must be given for this, got none"),
    (
        lambda: strata.Strata([3, 3], [0, 0]).neyman(2),
        "variances must have a positive entry, got all zeros",
    ),
    (lambda: strata.Strata([3, 3]).weighted_mean([1.0]), "sample_means must have 2 entries"),
    (
        lambda: strata.Strata([3, 3]).capped([4.0, 0.0]),
        "asked must sum to at most what its strata hold, 3, got 4",
    ),
    (lambda: strata.Strata([3, 3], [1, 1]).variance([1, 4]), r"got drawn\[1\]=4 of 3"),
    (
        lambda: strata.Strata([3, 3], [1, 1]).best_whole(1),
        "total must be at least 1 per stratum .* 2, got total=1",
    ),
    (
        lambda: samples.simple_random_tallies([3, 2], 6, rng=RNG),
        "size must be an integer from 0 to 5, got size=6",
    ),
    (lambda: samples.pps_rates([1, 0], 1), r"weights must lie in \(0, inf\], got weights\[1\]=0"),
    (
        lambda: samples.poisson_positions([0.5, 1.5], rng=RNG),
        r"rates must lie in \[0, 1\], got rates\[1\]=1.5",
    ),
    (lambda: laws.subsets([1, 2], 3), "size must be an integer from 0 to 2, got size=3"),
    (lambda: laws.whole_clusters([[1]], 2), "chosen must be an integer from 0 to 1, got chosen=2"),
    (
        lambda: laws.subsets_of_random_size([1, 2], [0.5, 0.25, 0.125]),
        "size_law must .*sum to 1, got",
    ),
    (lambda: laws.poisson([1, 2], [0.5, 1.5]), r"rates must lie in \[0, 1\], got rates\[1\]=1.5"),
    (lambda: laws.poisson([1, 2], [-0.5, 0.5]), r"rates must lie in \[0, 1\], got rates\[0\]=-0.5"),
    (lambda: laws.poisson([1, 2], [0.5]), "rates must have 2 entries"),
    (lambda: laws.one_draw([[1], [2]], [2, -1]), r"weights must lie in .*got weights\[1\]=-1"),
    (lambda: laws.one_draw([[1], [2]], [2]), "weights must have 2 entries"),
    (lambda: laws.one_draw([[1], [2]], [0, 0]), "weights must have a positive entry, got all z"),
    (
        lambda: laws.every_kth([1, 2, 3], 2),
        "step must divide the number of records, got step=2 and 3 records",
    ),
    (lambda: laws.every_kth([1, 2], 0), "step must be an integer >= 1, got step=0"),
    (lambda: poisson([-1], 0.5, rng=RNG), "counts must be whole numbers"),
    (lambda: poisson([1], 0.0, rng=RNG), r"rates must lie in \(0, 1\]"),
    (lambda: sizes.SizeLaw(np.zeros(3)), "must be the logarithms of a probability law"),
    (
        lambda: sizes.truncated_gaussian_size(10**12, 5.0, 1.0),
        "population must be an integer from 1 to 10000000, got",
    ),
    (
        lambda: sizes.truncated_gaussian_size(10, 5.0, 0),
        "deviation must be > 0 and finite, got deviation=0",
    ),
]
ESTIMATORS: list[Refusal] = [
    (lambda: krr_mle([3, -1], epsilon=1.0), "tallies must be whole numbers >= 0"),
    (lambda: krr_mle([3.0, np.nan], epsilon=1.0), "tallies must be whole numbers"),
    (lambda: krr_mle([[3, 4], [0, 0]], epsilon=1.0), "tallies must have a positive sum"),
    (lambda: krr_mle([2**52, 2**52], epsilon=1.0), r"tallies must have a positive sum below 2\^53"),
    (lambda: krr_mle([], epsilon=1.0), "tallies must be an array of numbers"),
    (lambda: krr_mle(5, epsilon=1.0), "tallies must be an array of numbers"),
    (lambda: krr_mle([1, 2], epsilon=0), "epsilon must be > 0"),
    (lambda: krr_mle([1, 2], epsilon=np.nan), "epsilon must be > 0"),
    (lambda: krr_mle([1, 2], epsilon=np.inf), "epsilon must be > 0"),
    (lambda: krr_mle([1, 2], epsilon="1"), "epsilon must be a number"),
    (lambda: mle([0.5, 0.5], [1, 2]), "channel must be a matrix of numbers >= 0"),
    (lambda: mle([[0.5, np.nan], [0.5, 0.5]], [1, 2]), "channel must be a matrix of numbers >= 0"),
    (lambda: mle([[1.0, 1.0], [0.0, 0.0]], [1, 1]), "channel must allow every output"),
    (lambda: mle(np.eye(2), [1, 2, 3]), "tallies must have one entry per output, 2, got 3"),
    (lambda: support_mle([[0, 0.5, 1]], [1], KRR), "outputs must be bits, 0 or 1, got 0.5"),
    (
        lambda: support_mle(np.full((1, 3), 2, np.uint8), [1], KRR),
        "outputs must be bits, 0 or 1, got 2",
    ),
    (
        lambda: support_mle(np.eye(2), [1, 1], KRR),
        r"shape \(2, 3\), or \(2, 1\) packed, got \(2, 2\)",
    ),
    (lambda: bayes.krr_posterior([1, 2], 0.0, epsilon=1.0), r"prior must lie in \(0, inf\]"),
    (
        lambda: bayes.krr_posterior([1, 2], [1.0, -1.0], epsilon=1.0),
        r"prior must lie in \(0, inf\]",
    ),
    (lambda: bayes.krr_posterior([1, 2], np.nan, epsilon=1.0), r"prior must lie in \(0, inf\]"),
    (
        lambda: bayes.fitted_concentration([5], epsilon=1.0),
        "tallies must be one-dimensional with at least 2 entries",
    ),
    (
        lambda: bayes.support_posterior(np.eye(2), [1, 1], KRR, 0.5, sweeps=40, rng=RNG),
        r"outputs must have shape \(2, 3\)",
    ),
    (
        lambda: bayes.posterior(np.full((2, 2), 0.5), [5_000_000, 0], 1.0),
        "users must be few for so many values",
    ),
    (lambda: project_simplex([0.5, np.nan]), "vector must be finite"),
    (lambda: project_simplex([[0, 1], [np.inf, 0]]), "vector must be finite"),
    (lambda: project_simplex([]), "vector must be finite"),
    (lambda: project_simplex(1.0), "vector must be finite"),
    (lambda: linear.best_weights([0.5, 0.5]), "channel must be a matrix of outputs by inputs"),
    (
        lambda: gap_estimates.signed_gap([[0.7]]),
        r"means must be those of two groups or more, got shape \(1, 1\)",
    ),
    (lambda: gap_estimates.acceptance_region([0.0], 1), r"level must lie in \(0, 1\), got level=1"),
    (
        lambda: gap_estimates.group_means(DISCRETISED, [[1.0, 2.0]], [3, 0]),
        "sizes must be whole numbers >= 1",
    ),
    (
        lambda: sampling.unadjusted([1, 2, 3], **OF_TEN_USERS),
        "tallies must have one entry per value",
    ),
    (lambda: sampling.unadjusted([1, -4], **OF_TEN_USERS), "tallies must be finite and >= 0"),
    (
        lambda: sampling.hajek([[1, 1]], rates=[0.5], **OF_TEN_USERS | {"users": 0}),
        "users must be an integer >= 1",
    ),
    (
        lambda: sampling.hajek([[[3, 4]], [[0, 0]]], rates=[0.5], **OF_TEN_USERS),
        "tallies must have a positive sum for a ratio",
    ),
    (lambda: sampling.horvitz_thompson([[1, 2, 3], [4, 5, 6]], **AT_ONE_RATE), "one row per rate"),
    (lambda: sampling.hajek([[1, 2]], rates=[[0.5]], **OF_TEN_USERS), "rates must be a vector"),
    (
        lambda: sampling.personalised([1, 2], expected_reports=11, **OF_TEN_USERS),
        "expected_reports must be <= ",
    ),
    (
        lambda: sampling.reweighted_reports([1, 2], report_rates=[0.5], **OF_TEN_USERS),
        "report_rates must have",
    ),
    (
        lambda: sampling.reweighted_reports([1, 2], report_rates=[0.5, 1.5], **OF_TEN_USERS),
        r"rates must .* \(0, 1\]",
    ),
]
NO_DISTRIBUTIONS = "distributions must be positive and sum to 1, on 2 to 8 values"

PRIVACY: list[Refusal] = [
    (
        lambda: subsampling.proportion_noise_scale(1.0, 10, 5),
        "population must be an integer >= 10, got population=5",
    ),
    (lambda: subsampling.poisson_loss(1.0, 0.1, neighbours="swap"), "neighbours must be one of"),
    (lambda: releases_loss([], abs), "at least one release"),
    (
        lambda: lemmas.mixture_loss(0.5, common=1.0, other=0.5),
        "other must be >= common, got other=0.5 and common=1.0",
    ),
    (
        lambda: lemmas.inserted_record_loss(5, 4, 1.0),
        "size must be an integer from 0 to 4, got size=5",
    ),
    (
        lambda: lemmas.largest_tilted_mean([1, 1, 1], [0.0, 2.0, 1.0], 1.0),
        "values must be nondecreasing",
    ),
    (
        lambda: lemmas.largest_tilted_mean([0.0, 0.0], [0.0, 1.0], 1.0),
        "law must be weights >= 0, not all zero",
    ),
    (
        lambda: unequal.element_loss_floor([-0.1, 0.5], 1.0),
        r"rates must lie in \[0, 1\], got rates\[0\]=-0.1",
    ),
    (lambda: unequal.element_loss_floor([], 1.0), r"largest_rate must lie in \(0, 1\]"),
    (lambda: unequal.element_loss_floor([0.0, 0.0], 1.0), r"largest_rate must lie in \(0, 1\]"),
    (
        lambda: unequal.poisson_loss([0.5, 0.5], [1.1, 0.5], 1.0),
        r"neighbour_rates must lie in \[0, 1\]",
    ),
    (lambda: unequal.pps_cluster_loss([1], 1.0), "sizes must have a sum of at least 2"),
    (
        lambda: unequal.systematic_loss(range(5), 0, 9, step=2, epsilon=1.0),
        "step must divide the number of records",
    ),
    (
        lambda: clusters.log_symmetric_ratio([0.0, 0.0], 4),
        "order must be an integer from 1 to 3, got order=4",
    ),
    (
        lambda: ClusterSample([1, 2], 2).identifying_confusion(1.0),
        "chosen must leave a cluster out, got chosen=2 of 2",
    ),
    (lambda: ClusterSample([2, 0, 3], 1), r"sizes must be whole numbers >= 1, got sizes\[1\]=0"),
    (
        lambda: ClusterSample([10**18, 3, 3], 2),
        r"sizes must add up to less than 2\*\*53, got 1e\+18",
    ),
    (lambda: ClusterSample([2, 3], 3), "chosen must be an integer from 1 to 2, got chosen=3"),
    (lambda: ClusterSample([1, 1], 1, 2), "changed must be an integer from 0 to 1, got changed=2"),
    (
        lambda: ClusterSample([1, 1], 1).loss(1.0, neighbours="swap"),
        "neighbours must be one of deletion, replacement",
    ),
    (lambda: sure_loss(25.0), r"at most 30.0 nats, got 50.0"),
    (
        lambda: sure_loss(9e-10),
        "epsilon must be >= 1e-09 nats for a linear program, got epsilon=9e-10",
    ),
    (lambda: sure_loss(1.0, chance=0.5), "first must sum to 1"),
    (
        lambda: sure_loss(1.0, mechanism="swap"),
        "mechanism must be one of deletion, replacement, got",
    ),
    (lambda: FAR_APART.loss(1.0), "scale must be at least a 700th"),
    (
        lambda: Blanket.of_channel([[0.5, 0.0], [0.5, 1.0]]),
        "channel must be private: .* has no blanket",
    ),
    (
        lambda: Blanket.of(KRR).delta_upper(0.1, users=10**9 + 1),
        "users must be an integer from 2 to 1000000000, got",
    ),
    (
        lambda: shuffling.ShuffledReports(10**12, 0.5, KRR),
        "users must be an integer from 2 to 1000000000, got",
    ),
    (
        lambda: shuffling.ShuffledReports(9, 0.5, WARNER).epsilon_lower(0.1),
        "domain_size must be .* >= 3",
    ),
    (
        lambda: shuffling.ShuffledReports(10, 1e-6, KaryRandomisedResponse(700, 3)),
        r"rate \* q must be at least 1e",
    ),
    (
        lambda: hockey_stick.law_delta(LAPLACE_LAW, LAPLACE_LAW * 2, 0.1),
        "second must have 1 entries, got second=array",
    ),
    (
        lambda: hockey_stick.law_delta([(1.1, 0.0, 2.0)], LAPLACE_LAW, 0.1),
        r"probability of first must lie in \[0, 1\]",
    ),
    (
        lambda: hockey_stick.law_delta(LAPLACE_LAW, [(0.5, np.nan, 1.0)], 0.1),
        "location of second must lie in",
    ),
    (
        lambda: participation.participation_loss(1.0, lowest_rate=0.3, highest_rate=0.2),
        "lowest_rate must be <= ",
    ),
    (lambda: participation.value_dependent_channel([0.5, 0.5], KRR), "rates must have 3 entries"),
    (
        lambda: participation.report_dependent_channel([np.nan, 1, 1], KRR),
        r"rates must .*, got rates\[0\]=nan",
    ),
    (lambda: best_channel([1.0], 1.0), NO_DISTRIBUTIONS),
    (lambda: best_channel([0.5, 0.5, 0.0], 1.0), NO_DISTRIBUTIONS),
    (lambda: best_channel([[0.5, 0.5], [0.6, 0.6]], 1.0), NO_DISTRIBUTIONS),
    (lambda: best_channel(np.full(9, 1 / 9), 1.0), NO_DISTRIBUTIONS),
    (
        lambda: random_size_loss(sizes.size_law([0, 1, 0]), 1.1e100),
        r"epsilon must lie in \[0, 1e\+100\], got epsilon=1.1e",
    ),
    (
        lambda: as_channel([[np.nan, 0.5], [0.5, 0.5]]),
        r"channel must lie in .*, got channel\[0, 0\]=nan",
    ),
    (
        lambda: as_channel(np.empty((0, 2))),
        r"channel must be a matrix of outputs by inputs, got shape \(0, 2\)",
    ),
    (lambda: as_channel([[0.5, 0.4, 0.5], [0.5, 0.3, 0.6]]), r"got column 1 with sum .*0\.7"),
]
UNEQUAL_GROUPS = "sizes must be those of two equal groups"

ACCURACY: list[Refusal] = [
    (lambda: SampledCounts(10, 0.5, WARNER, "random"), "data must be one of fixed, iid"),
    (
        lambda: SampledCounts(1, 0.5, WARNER).variance_rescaled(2),
        r"holders must lie in \[0, 1\], got holders=2",
    ),
    (lambda: PersonalRates([2], [0.0], WARNER), r"rates must .* in \(0, 1\], got rates=\[0.0\]"),
    (lambda: PersonalRates([2, 2], [0.5], WARNER), "rates must have 2 entries"),
    (
        lambda: PersonalRates([2], [0.5], WARNER).mean([-1]),
        "holders must lie between 0 and the group's size",
    ),
    (lambda: PersonalRates([2], [0.5], WARNER).mean(3), "holders must have one row per group"),
    (
        lambda: personalised.optimal_rates(**ONE_GROUP_OF_COSTS | {"noises": [0]}),
        "noises must be > 0",
    ),
    (
        lambda: personalised.optimal_rates(**ONE_GROUP_OF_COSTS | {"costs": [1, 1]}),
        "costs must have 1 entries",
    ),
    (lambda: GroupGap(DISCRETISED, (5, 0)), "sizes must be whole numbers >= 1"),
    (lambda: GroupGap(DISCRETISED, (5, 1, 2)), "sizes must have 2 entries"),
    (lambda: GroupGap(SignedBit(1.0, (5, 5)), (5, 6)), "sizes must be the mechanism's"),
    (
        lambda: GroupGap.of_halves(DISCRETISED, 5),
        "users must be even for two equal groups, got users=5",
    ),
    (
        lambda: GroupGap(DISCRETISED, (5, 5)).variance((0.0, 1.2)),
        r"second_moment must lie in \[0, 1\], got second_moment=1",
    ),
    (
        lambda: GroupGap(DISCRETISED, (5, 5)).misestimated_variance((1.0,), (0.0, 0.0)),
        "size_factors must have 2 entries",
    ),
    (lambda: gaps.misestimated_gap_bias((1.5, 0.0), (0.1, 0.1)), "size_factors must be > 0"),
    (lambda: gaps.misestimated_gap_bias((1.5, 1.0), (-1.5, 0.1)), r"means must lie in \[-1, 1\]"),
    (lambda: PUBLISHED_GAP.failure(0.1, "markov"), "tail must be one of chebyshev"),
    (lambda: PUBLISHED_GAP.failure(0.1, "chernoff"), "needs equal noise scales"),
    (lambda: PUBLISHED_GAP.error_bound(0.1, "hoeffding"), "tail must be one of chebyshev, normal"),
    (
        lambda: DISCRETISED_GAP.failure(0.1, "chernoff"),
        "tail must fit the mechanism, got tail='chernoff' for DiscretisedMeans",
    ),
    (lambda: GroupGap(DISCRETISED, (2, 3)).failure(0.1, "exact"), UNEQUAL_GROUPS),
    (lambda: GroupGap(DISCRETISED, (3, 2)).failure(0.1, "exact"), UNEQUAL_GROUPS),
    (lambda: budgets.required_gain(1, 0.5), "users must be an integer >= 2, got users=1"),
    (
        lambda: tails.symmetric_binomial(10**12 + 1, 6e6),
        "terms must be an integer from 1 to 1000000000000, got",
    ),
    (
        lambda: information.fisher_information(np.eye(2), [1.0, 0.0]),
        "distribution must be positive, got a zero",
    ),
    (
        lambda: information.frequency_error(np.full((2, 2), 0.5), [0.3, 0.7]),
        "channel must tell its inputs apart",
    ),
    (
        lambda: information.entropy_constants(UNARY.channel(), [[1.0, 0.0]]),
        "distributions must have positive entries",
    ),
    (
        lambda: information.entropy_constants(np.eye(2), [[0.5, 0.5]]),
        "channel must .* got one that tells them apart",
    ),
    (
        lambda: lower_bounds.LowerBounds(3, 1.0).frequency("sharpest"),
        "form must be one of published, sharp",
    ),
    (lambda: lower_bounds.any_channel_bound_at([0.5, 0.6], 1.0), "distribution must sum to 1"),
    (
        lambda: exact_risk.exact_risks(np.full((8, 3), 1 / 8), 40, np.ones(3), {}),
        "users must be few for 8 outputs",
    ),
    (
        lambda: exact_risk.TwoValues(10**6, 1.0).posteriors(),
        "users must be few to list every tally",
    ),
    (
        lambda: means.users_for_certain(LocalLaplace(1e-8), 1e-6, 1e-9),
        "exact count of at most 1e\\+10 users",
    ),
    (
        lambda: histograms.unary_report_bits(0.7, 0.2, 0),
        "domain_size must be an integer >= 1, got domain_size=0",
    ),
    (
        lambda: means.largest_warner_constant(201, 0.01),
        "users must be an integer from 1 to 200, got users=201",
    ),
    (
        lambda: means.largest_warner_constant(0, 0.01),
        "users must be an integer from 1 to 200, got users=0",
    ),
    (
        lambda: information.fisher_information(np.ones((2, 2, 1)), [0.5, 0.5]),
        "one entry per input of the channel",
    ),
    (
        lambda: exact_total_variation([5, 4], SampledCounts(10, 0.5, WARNER)),
        "must add up to the 10 users, got 9",
    ),
    (
        lambda: exact_total_variation([9000, 0], SampledCounts(9000, 1.0, WARNER)),
        "at most 2000 expected reports, got",
    ),
    (lambda: allocation.proportional((6, 4), 0.2), "must give every stratum at least one record"),
    (
        lambda: allocation.outcomes(FAMILY, allocation.fixed((1, 1))).noise_scale(1e3),
        "epsilon must be small enough",
    ),
]


REFUSED = [*MECHANISMS, *DESIGNS, *ESTIMATORS, *PRIVACY, *ACCURACY]


@pytest.mark.parametrize(
    ("call", "message"), REFUSED, ids=[message.replace("\\", "") for _, message in REFUSED]
)
def test_bad_input_is_refused_by_name_rule_and_value(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("mechanism", [WARNER, UNARY, SIGNS, SUBSETS])
def test_a_mechanism_refuses_counts_of_another_domain(mechanism: Any) -> None:
    with pytest.raises(ValueError, match=r"counts must have [23] entries"):
        mechanism.sample_tallies([1, 2, 3, 4], rng=RNG)


@pytest.mark.parametrize("mechanism", [WARNER, UNARY, SIGNS, SUBSETS])
def test_a_mechanism_refuses_values_of_another_domain(mechanism: Any) -> None:
    with pytest.raises(ValueError, match=r"values must lie in 0 \.\."):
        mechanism.randomize([0, 9], rng=RNG)


@pytest.mark.parametrize("mechanism", [WARNER, UNARY, SIGNS])
def test_a_mechanism_refuses_negative_counts(mechanism: Any) -> None:
    with pytest.raises(ValueError, match=r"got counts\[1\]=-1"):
        mechanism.sample_tallies([3, -1], rng=RNG)


@pytest.mark.parametrize("mechanism", [DISCRETISED, SIGNED_BIT, SIGNED_LAPLACE])
def test_a_mechanism_draws_once_or_more_often(mechanism: Any) -> None:
    with pytest.raises(ValueError, match="repetitions must be an integer >= 1"):
        mechanism.sample_sums([[1], [1]], [0], repetitions=0, rng=RNG)


@pytest.mark.parametrize("mechanism", [DISCRETISED, LAPLACE, SIGNED_BIT, SIGNED_LAPLACE])
@pytest.mark.parametrize("counts", [[1, 1], [[1], [1], [1]], [[[1]], [[1]]]])
def test_counts_have_one_row_for_each_group(mechanism: Any, counts: list) -> None:
    with pytest.raises(ValueError, match="counts must have one row per group, 2, got shape"):
        mechanism.sample_sums(counts, [0.5], rng=RNG)


@pytest.mark.parametrize("groups", [[[0]], [0, 1], [0.0], [True], [-1], [2]])
def test_groups_are_one_whole_number_for_each_user(groups: list) -> None:
    with pytest.raises((ValueError, TypeError), match=r"groups must|values must have"):
        LAPLACE.randomize(groups, [0.5], rng=RNG)
