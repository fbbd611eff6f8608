"""What decides local reports: a check for each claim of ``reports.toml``; ``t = e^epsilon``."""

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
USERS, DELTA = 50_000, 1e-6
SHARES, BUDGETS = (0.5, 0.25, 0.1, 0.05, 0.01, 0.001), (0.1, 0.5, 1.0, 2.0, 3.0, 6.0)


def blanket_bound(known: blanket.Blanket, epsilon: float, users: int) -> float:
    """Return the blanket's bound from all combinations of the users' values of ``Z``."""
    values = np.append(known.first[0] - np.exp(epsilon) * known.second[0], 0.0)
    chances = np.append(known.chances, 1 - known.chances.sum())
    sums = reduce(np.add.outer, [values] * users)
    weights = reduce(np.multiply.outer, [chances] * users)
    return float((weights * np.maximum(sums, 0)).sum() / users)


def small() -> tuple[Any, ...]:
    """Return a mechanism of each kind with few values."""
    unary, hashing = UnaryEncoding.symmetric(1.5, 3), LocalHashing(1.5, 3, 3)
    return KaryRandomisedResponse(1.5, 3), unary, hashing, SubsetSelection(1.5, 4, 2)


def the_best_channel_for_a_gap(e: Evidence) -> Numbers:
    # no channel beats the sign's 4/tanh^2(eps/2) for equal groups: the dual bound at y = T. Prices per input cover
    # (high - low)^2 / ((high + low)/4), with high and low the chances of an output, summed over inputs that raise and
    # lower the gap, in a ratio from 1/t to t
    high, low = symbols("high low")
    price = 4 * ((t - 1) / (t + 1)) * ((t - 1) / (t + 1))
    slack = (
        (price * (high + low) - 4 * (high - low) * (high - low) / (high + low))
        * (high + low)
        * (t + 1)
        * (t + 1)
    )
    e.proven(identity(slack, 16 * (t * low - high) * (t * high - low)))
    e.proven(
        identity(
            gaps.GroupGap(SignedBit(eps, (1, 1)), (1, 1)).worst_variance() * 2, 64 / (4 * price)
        )
    )
    sign, moved = {}, {}  # variances over the least one, values 0 being the worst for all
    for share, epsilon in product(SHARES, BUDGETS):
        best, sizes = (
            BestGapChannel(epsilon, share),
            (round(1000 * share), 1000 - round(1000 * share)),
        )
        matrix, inputs = best.channel(), np.repeat([share, 1 - share], 2) / 2
        e.same(matrix.sum(axis=0), np.ones(4))
        e.same(channels.privacy_loss(matrix).epsilon, epsilon)
        e.same(best.scores @ matrix / best.target, np.ones(4))
        e.same(best.scores**2 @ matrix @ inputs, best.variance)
        e.sure(abs(best.variance / best.bound - 1) < 1e-6)
        others = SignedBit(epsilon, sizes), DiscretisedMeans.calibrated(epsilon)
        ratios = (
            1000 * gaps.GroupGap(other, sizes).worst_variance() / best.variance for other in others
        )
        sign[share, epsilon], moved[share, epsilon] = map(float, ratios)
    e.needs(all(min(sign[s, b], moved[s, b]) > 1 + 1e-6 for s, b in sign if s < 0.5 and b <= 2))
    e.needs(all(abs(moved[s, b] - 1) < 1e-6 for s, b in product((0.1, 0.25), (3.0, 6.0))))
    shown = {"sign": sign[0.25, 1.0], "moved": moved[0.25, 1.0]}
    return shown | {
        "rare_sign": sign[0.01, 1.0],
        "rare_moved": moved[0.01, 1.0],
        "channels": len(sign),
    }


def local_hashing_is_unary_encoding(e: Evidence) -> Numbers:
    hashing, best = LocalHashing(eps, 3, g), LocalHashing(eps, 3, t + 1)
    e.proven(
        identity(np.exp(hashing.unary.epsilon), t)
        and identity(hashing.truthful_rate, hashing.p - hashing.q)
    )
    # with t + 1 cells it is OUE
    e.proven(
        identity(best.p, sympy.Rational(1, 2))
        and identity(best.q, UnaryEncoding.optimised(eps, 3).q)
    )
    channel = HASHING.channel()
    e.needs(agree(channels.privacy_loss(channel).epsilon, 1.0))
    near, oue = LocalHashing.optimised(1.0, 100), UnaryEncoding.optimised(1.0, 100)
    e.same(oue.epsilon, 1.0)
    variance, least = (histograms.pure_variance(0, users=1, mechanism=one) for one in (near, oue))
    return {"outputs": len(channel), "cells": near.cells, "ratio": float(variance / least)}


def shuffled_reports_of_any_randomizer(e: Evidence) -> Numbers:
    for mechanism in small():
        few = blanket.Blanket.of(mechanism)
        exact = blanket_bound(few, 0.7, 4)
        e.sure(exact <= few.delta_upper(0.7, users=4) <= exact * 1.01)
    published = shuffling.closed_form(DELTA, users=100_000, epsilon=2.0)
    made: dict[str, Any] = {
        "krr": KaryRandomisedResponse(2.0, 16),
        "sue": UnaryEncoding.symmetric(2.0, 16),
    }
    made |= {"olh": LocalHashing.optimised(2.0, 16), "subset": SubsetSelection.optimal(2.0, 16)}
    e.same([mechanism.epsilon for mechanism in made.values()], np.full(4, 2.0))
    central = {
        name: blanket.Blanket.of(one).epsilon_upper(DELTA, users=100_000)
        for name, one in made.items()
    }
    e.needs(max(central.values()) < published / 5)
    return central | {"published": published}


def shuffled_reports_against_central_gaussian_noise(e: Evidence) -> Numbers:
    gaussian, laplace = {}, {}
    for central, rate in (*product((0.1, 1.0, 2.0), (0.02, 0.2, 1.0)), (4.0, 0.2)):
        local = shuffling.local_budget(central, DELTA, users=USERS, rate=rate, domain_size=101)
        reports = shuffling.ShuffledReports(USERS, rate, KaryRandomisedResponse(local, 101))
        e.same(
            [reports.delta_lower(central), reports.delta_upper(central)],
            [DELTA, DELTA],
            rel=5e-3,
            abs=0,
        )
        variance = float(SampledCounts(USERS, rate, reports.mechanism).rare_variance_realised_size)
        one = Case(reports.mechanism, (0,), (rate,))  # a user who holds another value
        e.same(
            estimators.realised_size(one.tallies, sampling_rate=rate, mechanism=one.mechanism),
            one.realised,
        )
        e.same(variance, USERS * one.variance(one.realised)[1])
        gaussian[central, rate] = variance / shuffling.gaussian_deviation(central, DELTA) ** 2
        laplace[central, rate] = variance / histograms.central_laplace_count_variance(central)
    e.needs(
        all(gaussian[central, 0.2] < 1 < gaussian[central, 0.02] for central in (0.1, 1.0, 2.0))
    )
    e.needs(
        gaussian[2.0, 0.2] < gaussian[1.0, 0.2] < gaussian[0.1, 0.2]
        and gaussian[0.1, 1.0] < 1 < gaussian[1.0, 1.0]
    )
    larger = laplace.pop((4.0, 0.2))
    e.needs(larger < 1 < min(laplace.values()))
    rows = [
        joined((gaussian[c, rate] for rate in (0.02, 0.2, 1.0)), ".3f") for c in (0.1, 1.0, 2.0)
    ]
    return dict(zip(("tenth", "one", "two"), rows, strict=True)) | {
        "least": min(laplace.values()),
        "larger": larger,
    }
