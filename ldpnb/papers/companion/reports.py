"""Check the companion's claims on local reports: one function for each claim.

In proofs ``t = e^epsilon``, and `g` is the number of cells of local hashing.
"""

from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import sympy

from ldpnb.accuracy import gaps, histograms
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, Numbers, agree, joined
from ldpnb.deciders import budget, identity, symbols
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.biswas2022.written_out import Case
from ldpnb.privacy import blanket, shuffling
from ldpnb.privacy import channel as channels

t, g = symbols("t g")
eps = budget(t)
HASHING = LocalHashing.optimised(1.0, 3)

USERS = 50_000
"""Users of the shuffled reports that are compared with central noise."""

DELTA = 1e-6

SHARES = (0.5, 0.25, 0.1, 0.05, 0.01, 0.001)
"""Shares of the first of two groups."""

BUDGETS = (0.1, 0.5, 1.0, 2.0, 3.0, 6.0)


def blanket_bound(of_mechanism: blanket.Blanket, epsilon: float, users: int) -> float:
    """Return the bound of the blanket on delta, from all combinations of what users contribute.

    A user in the blanket contributes ``first - e^epsilon second`` of the class of its report, and
    any other user contributes 0.
    """
    inside = of_mechanism.first[0] - np.exp(epsilon) * of_mechanism.second[0]
    values = np.append(inside, 0.0)
    chances = np.append(of_mechanism.chances, 1 - of_mechanism.chances.sum())

    sums = reduce(np.add.outer, [values] * users)
    weights = reduce(np.multiply.outer, [chances] * users)
    return float((weights * np.maximum(sums, 0)).sum() / users)


def small() -> tuple[Any, ...]:
    """Return a mechanism of each kind, with few values."""
    return (
        KaryRandomisedResponse(1.5, 3),
        UnaryEncoding.symmetric(1.5, 3),
        LocalHashing(1.5, 3, 3),
        SubsetSelection(1.5, 4, 2),
    )


def the_sign_is_best_for_equal_groups() -> bool:
    """Show that no channel beats the sign's ``4/tanh^2(eps/2)`` for equal groups.

    Take an output that has the probabilities ``high`` and ``low``, summed over the inputs that
    raise and that lower the gap. Their ratio lies between ``1/t`` and ``t``. The dual bound needs a
    price for each input that covers ``(high - low)^2 / ((high + low)/4)``.
    """
    high, low = symbols("high low")
    price = 4 * ((t - 1) / (t + 1)) * ((t - 1) / (t + 1))
    excess = price * (high + low) - 4 * (high - low) * (high - low) / (high + low)
    slack = excess * (high + low) * (t + 1) * (t + 1)
    is_covered = identity(slack, 16 * (t * low - high) * (t * high - low))

    sign = gaps.GroupGap(SignedBit(eps, (1, 1)), (1, 1))
    return is_covered and identity(sign.worst_variance() * 2, 64 / (4 * price))


def the_best_channel_for_a_gap(e: Evidence) -> Numbers:
    e.proven(the_sign_is_best_for_equal_groups())

    # Worst variances over the least one, of one sign and of ``M_R``, which may move the group.
    sign = {}
    moved = {}
    for share, epsilon in product(SHARES, BUDGETS):
        best = BestGapChannel(epsilon, share)
        matrix = best.channel()
        inputs = np.repeat([share, 1 - share], 2) / 2

        # It is a channel of its budget, unbiased, and its variance meets the dual bound.
        e.same(matrix.sum(axis=0), np.ones(4))
        e.same(channels.privacy_loss(matrix).epsilon, epsilon)
        e.same(best.scores @ matrix / best.target, np.ones(4))
        e.same(best.scores**2 @ matrix @ inputs, best.variance)
        e.sure(abs(best.variance / best.bound - 1) < 1e-6)

        sizes = (round(1000 * share), 1000 - round(1000 * share))
        by_sign = gaps.GroupGap(SignedBit(epsilon, sizes), sizes)
        by_moved = gaps.GroupGap(DiscretisedMeans.calibrated(epsilon), sizes)
        sign[share, epsilon] = float(1000 * by_sign.worst_variance() / best.variance)
        moved[share, epsilon] = float(1000 * by_moved.worst_variance() / best.variance)

    for share, epsilon in sign:
        if share < 0.5 and epsilon <= 2:
            e.needs(min(sign[share, epsilon], moved[share, epsilon]) > 1 + 1e-6)
    for share, epsilon in product((0.1, 0.25), (3.0, 6.0)):
        e.needs(abs(moved[share, epsilon] - 1) < 1e-6)

    return {
        "channels": len(sign),
        "sign": sign[0.25, 1.0],
        "moved": moved[0.25, 1.0],
        "rare_sign": sign[0.01, 1.0],
        "rare_moved": moved[0.01, 1.0],
    }


def local_hashing_is_unary_encoding(e: Evidence) -> Numbers:
    hashing = LocalHashing(eps, 3, g)
    e.proven(identity(np.exp(hashing.unary.epsilon), t))
    e.proven(identity(hashing.truthful_rate, hashing.p - hashing.q))

    # With t + 1 cells it is optimised unary encoding.
    best = LocalHashing(eps, 3, t + 1)
    e.proven(identity(best.p, sympy.Rational(1, 2)))
    e.proven(identity(best.q, UnaryEncoding.optimised(eps, 3).q))

    channel = HASHING.channel()
    e.needs(agree(channels.privacy_loss(channel).epsilon, 1.0))

    near = LocalHashing.optimised(1.0, 100)
    oue = UnaryEncoding.optimised(1.0, 100)
    e.same(oue.epsilon, 1.0)
    variance = histograms.pure_variance(0, users=1, mechanism=near)
    least = histograms.pure_variance(0, users=1, mechanism=oue)
    return {"outputs": len(channel), "cells": near.cells, "ratio": float(variance / least)}


def shuffled_reports_of_any_randomizer(e: Evidence) -> Numbers:
    for mechanism in small():
        few = blanket.Blanket.of(mechanism)
        exact = blanket_bound(few, 0.7, 4)
        e.sure(exact <= few.delta_upper(0.7, users=4) <= exact * 1.01)

    central = {}
    for name, mechanism in (
        ("krr", KaryRandomisedResponse(2.0, 16)),
        ("sue", UnaryEncoding.symmetric(2.0, 16)),
        ("olh", LocalHashing.optimised(2.0, 16)),
        ("subset", SubsetSelection.optimal(2.0, 16)),
    ):
        e.same(mechanism.epsilon, 2.0)
        central[name] = blanket.Blanket.of(mechanism).epsilon_upper(DELTA, users=100_000)

    published = shuffling.closed_form(DELTA, users=100_000, epsilon=2.0)
    e.needs(max(central.values()) < published / 5)
    return central | {"published": published}


def variance_of_shuffled_reports(e: Evidence, central: float, rate: float) -> float:
    """Return the variance at a rare value if the shuffled reports have a central budget."""
    local = shuffling.local_budget(central, DELTA, users=USERS, rate=rate, domain_size=101)
    reports = shuffling.ShuffledReports(USERS, rate, KaryRandomisedResponse(local, 101))
    deltas = [reports.delta_lower(central), reports.delta_upper(central)]
    e.same(deltas, [DELTA, DELTA], rel=5e-3, abs=0)

    variance = float(SampledCounts(USERS, rate, reports.mechanism).rare_variance_realised_size)

    # The same from all cases of one user who holds another value.
    one = Case(reports.mechanism, (0,), (rate,))
    estimate = estimators.realised_size(one.tallies, sampling_rate=rate, mechanism=one.mechanism)
    e.same(estimate, one.realised)
    e.same(variance, USERS * one.variance(one.realised)[1])
    return variance


def shuffled_reports_against_central_gaussian_noise(e: Evidence) -> Numbers:
    budgets = (0.1, 1.0, 2.0)
    rates = (0.02, 0.2, 1.0)
    gaussian = {}
    laplace = {}
    for central, rate in (*product(budgets, rates), (4.0, 0.2)):
        variance = variance_of_shuffled_reports(e, central, rate)
        gaussian[central, rate] = variance / shuffling.gaussian_deviation(central, DELTA) ** 2
        laplace[central, rate] = variance / histograms.central_laplace_count_variance(central)

    e.needs(all(gaussian[central, 0.2] < 1 < gaussian[central, 0.02] for central in budgets))
    e.needs(gaussian[2.0, 0.2] < gaussian[1.0, 0.2] < gaussian[0.1, 0.2])
    e.needs(gaussian[0.1, 1.0] < 1 < gaussian[1.0, 1.0])

    larger = laplace.pop((4.0, 0.2))
    e.needs(larger < 1 < min(laplace.values()))
    return {
        "tenth": joined((gaussian[0.1, rate] for rate in rates), ".3f"),
        "one": joined((gaussian[1.0, rate] for rate in rates), ".3f"),
        "two": joined((gaussian[2.0, rate] for rate in rates), ".3f"),
        "least": min(laplace.values()),
        "larger": larger,
    }
