"""Check the claims of Section 6 of Biswas, Cormode and Maple, and answer its open questions."""

from functools import partial
from typing import Any

import numpy as np

from ldpnb.accuracy import histograms
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats
from ldpnb.claims import Evidence, Numbers, within
from ldpnb.deciders import derivative, identity, limit, oo, replaced, symbols
from ldpnb.estimators import frequency
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.formulas import personalised
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.papers.biswas2022.proofs import (
    KARY,
    KEEP,
    SWITCH,
    a,
    b,
    everywhere,
    f,
    n,
    pi,
    survey,
    t,
    u,
    v,
    x,
    y,
)
from ldpnb.papers.biswas2022.written_out import USERS, direct_encoding
from ldpnb.privacy import channel, participation, shuffling
from ldpnb.privacy.shuffling import ShuffledReports
from ldpnb.rng import stream

DELTA = 1e-6
DOMAIN = 101

RATES = np.array([0.08, 0.5, 0.8, 0.3])
"""Sampling rates of four values."""

TWO_RATES = np.array([0.3, 0.9])
TWO = KaryRandomisedResponse(1.0, 2)
FOUR = KaryRandomisedResponse(1.0, 4)


def _with_silence(sent: Floats) -> Floats:
    """Add the probability of no report, as the last output, to those of each report."""
    return np.vstack([sent, 1 - sent.sum(axis=0)])


def section_6_open_question_i(e: Evidence) -> Numbers:
    *sizes, scale = symbols("s1 s2 s3 c")
    rates = [scale / size for size in sizes]
    users = sizes[0] + sizes[1] + sizes[2]
    for mean in PersonalRates(sizes, rates, KARY).mean(np.diag(sizes)):
        e.decides(identity(mean, users / 3))
    mean, _ = proofs.moments(proofs.pooled, proofs.TWO_RATES)
    e.proven(identity(mean, proofs.RATES.mean([x, y])))
    _repair_proven(e)

    # Silence tells most in the last of the three settings.
    settings = ((0.1, RATES), (1.0, RATES), (0.1, np.array([0.5, 0.99, 0.7])))
    for epsilon, rate_of_value in settings:
        law = _with_silence(direct_encoding(epsilon, rate_of_value.size) * rate_of_value)
        krr = KaryRandomisedResponse(epsilon, rate_of_value.size)
        e.same(participation.value_dependent_channel(rate_of_value, krr), law)

        loss = participation.participation_loss(
            epsilon, lowest_rate=rate_of_value.min(), highest_rate=rate_of_value.max()
        )
        e.same(loss, np.log(law[:, :, None] / law[:, None]).max())

    by_report = _with_silence(direct_encoding(1.0, 2) * TWO_RATES[:, None])
    e.same(participation.report_dependent_channel(TWO_RATES, TWO), by_report)

    by_value = channel.privacy_loss(participation.value_dependent_channel(RATES, FOUR))
    repaired = channel.privacy_loss(participation.report_dependent_channel(TWO_RATES, TWO))
    e.needs(np.isclose(repaired.epsilon, 1.0))

    shares = np.array([0.5, 0.3, 0.15, 0.05])
    means = PersonalRates(1e4 * shares, 0.02 / shares, FOUR).mean(np.diag(1e4 * shares))
    e.needs(np.allclose(means, means[0]))
    return {"mean": means[0], "revealed": by_value.epsilon, "repaired": repaired.epsilon}


def _repair_proven(e: Evidence) -> None:
    """Decide that sampling by the randomised report is private and its estimate unbiased.

    Silence is included. It has the probability ``sum_y R(y|x) (1 - pi(y))``; `u` and `v` are how
    often the reports of two values are held back, ``rest`` those of all others together.
    """
    (rest,) = symbols("rest")
    held_back = SWITCH * (u + v + rest)
    first = held_back + (KEEP - SWITCH) * u
    second = held_back + (KEEP - SWITCH) * v
    e.proven(everywhere(t * first - second, u=(0, 1), v=(0, 1), rest=(0, oo)))

    def estimate(tallies: Any) -> Any:
        both = estimators.reweighted_reports(tallies, users=n, report_rates=[u, v], mechanism=KARY)
        return both[0]

    mean, variance = proofs.moments(estimate, ((n * f, KEEP, u), (n * (1 - f), SWITCH, u)))
    e.proven(identity(mean, n * f))
    stated = personalised.variance_reweighted_reports(
        n * f, users=n, report_rates=[u], mechanism=KARY
    )
    e.proven(identity(variance, stated[0]))


def section_6_ii_a_higher_epsilon(e: Evidence) -> None:
    e.proven(proofs.sums_over_users("variance_unadjusted", "variance_realised_size"))
    mean, _ = proofs.moments(proofs.unadjusted, proofs.FIXED)
    e.proven(identity(survey().bias_unadjusted(n * f), mean - n * f))

    # Independent data add a term that does not depend on epsilon.
    fixed = survey("fixed")
    drawn = survey("iid")
    added = n * f * (1 - f)
    unadjusted = drawn.variance_unadjusted(n * f) - fixed.variance_unadjusted(n * f)
    realised = drawn.variance_realised_size(n * f) - fixed.variance_realised_size(n * f)
    e.proven(identity(unadjusted, added * pi * pi))
    e.proven(identity(realised, added))

    for share in (0, 1):
        e.decides(everywhere(-derivative(fixed.variance_unadjusted(n * share), t)))
        e.decides(everywhere(-derivative(fixed.variance_realised_size(n * share), t)))
        e.decides(everywhere(derivative(fixed.bias_unadjusted(n * share), t)))

    _, together = proofs.moments(proofs.pooled, proofs.TWO_RATES)
    e.proven(identity(together, proofs.RATES.variance([x, y])))
    first = SampledCounts(a, u, KARY).variance_unadjusted(x)
    second = SampledCounts(b, v, KARY).variance_unadjusted(y)
    scale = (a + b) / (a * u + b * v)
    e.proven(identity(together, scale * scale * (first + second)))


def section_6_ii_shuffling(e: Evidence) -> Numbers:
    """Decide that the cited bound tends to 0, written in ``x = e^epsilon / n``."""
    growth, failure, half = symbols("x failure half")
    spread = np.sqrt(growth * failure) + growth
    bound = np.log1p(8 * half * spread)
    e.decides(identity(limit(bound, growth.expression, 0)))

    bounds = {}
    for name, users in (("few", 50_000), ("many", 5_000_000)):
        x_ = np.exp(5.0) / users
        written = np.log1p(8 * np.tanh(2.5) * (np.sqrt(x_ * np.log(4 / DELTA)) + x_))
        bounds[name] = shuffling.closed_form(DELTA, users=users, epsilon=5.0)
        e.same(bounds[name], written)
    return bounds


def section_6_ii_maximum_likelihood(e: Evidence) -> Numbers:
    noisy, count, deviation = symbols("noisy count sd")
    log_likelihood = -((noisy - count) ** 2) / (2 * deviation**2)
    slope_there = replaced(derivative(log_likelihood, count), count, noisy)
    e.decides(identity(slope_there))
    e.decides(identity(derivative(log_likelihood, count, 2), -1 / deviation**2))

    users = 1000
    noise = shuffling.gaussian_deviation(0.5, DELTA)
    exact = np.repeat([users / 10, 0.0], [10, 90])
    observed = exact + noise * stream("gaussian", seed=1).standard_normal(100)

    nearest = users * frequency.project_simplex(observed / users)
    moved = nearest - observed
    level = moved[nearest > 0]
    e.sure(np.allclose(level, level[0]))
    e.sure((moved[nearest == 0] >= level[0]).all())
    return {
        "users": users,
        "deviation": noise,
        "values": 90,
        "negative": (observed < 0).sum(),
        "zeros": (nearest == 0).sum(),
    }


def section_6_open_question_ii(e: Evidence) -> Numbers:
    ratios = {}
    budgets = {}
    for local, rate in ((5.0, 0.1), (7.0, 1.0), (8.0, 1.0)):
        krr = KaryRandomisedResponse(local, DOMAIN)
        reports = ShuffledReports(USERS, rate, krr)
        high = reports.epsilon_upper(DELTA)
        low = reports.epsilon_lower(DELTA)
        e.same(reports.delta_upper(high), DELTA, rel=1e-6, abs=0)
        e.same(reports.delta_lower(low), DELTA, rel=1e-6, abs=0)
        e.needs(abs(high - low) < 1e-4 * high)

        variance = SampledCounts(USERS, rate, krr).rare_variance_realised_size
        gaussian = shuffling.gaussian_deviation(high, DELTA) ** 2
        laplace = histograms.central_laplace_count_variance(high)
        e.needs(laplace < min(variance, gaussian))
        ratios[local] = variance / gaussian
        budgets[local] = high

    gaussian = shuffling.gaussian_deviation(budgets[5.0], DELTA) ** 2
    laplace = histograms.central_laplace_count_variance(budgets[5.0])
    generic = shuffling.closed_form(DELTA, users=USERS, epsilon=5.0)
    counts = SampledCounts(USERS, 0.1, KaryRandomisedResponse(5.0, DOMAIN))
    common = counts.variance_realised_size(0.05 * USERS)

    e.needs(within("equal", ratios[5.0], 1))
    e.needs(ratios[5.0] < ratios[7.0] < ratios[8.0])
    e.needs(common > 2 * gaussian)
    e.needs(generic > budgets[5.0])
    return {
        "central": budgets[5.0],
        "laplace": ratios[5.0] * gaussian / laplace,
        "common": common / gaussian,
        "generic": generic,
        "ratio_5": ratios[5.0],
        "ratio_7": ratios[7.0],
        "ratio_8": ratios[8.0],
    }


def section_6_open_question_iii(e: Evidence) -> Numbers:
    _lagrange_point_is_the_maximum(e)
    _dual_bound_proven(e)

    krr = KaryRandomisedResponse(1.0, 10)
    floor = SampledCounts(1000, 0.1, krr).rare_variance_realised_size
    vertex = PersonalRates([100, 900], [1.0, 1e-16], krr).rare_variance

    weighted = partial(personalised.rare_variance_horvitz_thompson, sizes=[500, 500])
    alike = [personalised.report_noise(krr)] * 2
    uniform = weighted(noises=alike, rates=[0.1, 0.1])
    uneven = weighted(noises=alike, rates=[0.15, 0.05])
    e.needs(np.allclose([vertex, uniform], floor, rtol=1e-9))

    mixed = np.array(
        [personalised.report_noise(KaryRandomisedResponse(epsilon, 10)) for epsilon in (0.5, 3.0)]
    )
    rates = personalised.optimal_rates(noises=mixed, costs=[1, 1], sizes=[500, 500], budget=100.0)
    best = weighted(noises=mixed, rates=rates)

    price = (500 * np.sqrt(mixed).sum() / 100) ** 2
    per_user = np.where(mixed <= price, 2 * np.sqrt(mixed * price), mixed + price)
    dual = 500 * per_user.sum() - price * 100
    e.needs(np.isclose(best, dual, rtol=1e-9))
    return {
        "equal": PersonalRates([1000], [0.1], krr).rare_variance,
        "vertex": vertex,
        "uniform": uniform,
        "uneven": uneven,
        "best": best,
        "flat": weighted(noises=mixed, rates=[0.1, 0.1]),
    }


def _lagrange_point_is_the_maximum(e: Evidence) -> None:
    """Decide that equalising two rates raises ``Var*(T)``, and how low it can fall.

    It falls to ``Var*(c-hat)``, at a vertex.
    """
    ratio, third, size = symbols("w third size")
    other = u * ratio
    mean_rate = (u + other) / 2
    equal = PersonalRates([1, 1, size], [mean_rate, mean_rate, third], KARY).rare_variance
    apart = PersonalRates([1, 1, size], [u, other, third], KARY).rare_variance

    gap = KEEP - SWITCH
    scale = (2 + size) / ((u + other + size * third) * gap)
    squares = SWITCH * SWITCH * (u - other) * (u - other) / 2
    e.proven(identity(equal - apart, squares * scale * scale))
    e.decides(everywhere(equal - apart, u=(0, 1), w=(0, 1), third=(0, 1), size=(0, oo)))

    of_vertex = PersonalRates([n * pi, n - n * pi], [1, v], KARY).rare_variance
    floor = survey().rare_variance_realised_size
    e.proven(identity(replaced(of_vertex, v, 0), floor))

    chance = SWITCH * u
    e.proven(everywhere(chance * (1 - chance) - chance * (1 - SWITCH), u=(0, 1)))
    _, variance = proofs.moments(proofs.realised, proofs.RARE)
    e.proven(identity(variance, floor))


def _dual_bound_proven(e: Evidence) -> None:
    """Decide which rates the Horvitz-Thompson estimate wants.

    Equal users want equal rates, others ``min(1, root noise / root price)``. Per user, ``A/x + m x
    >= 2 sqrt(A m)``, and ``>= A + m`` where ``m <= A`` and ``x <= 1``. The sum is a lower bound for
    every price m of a report, and those rates reach it.
    """
    noise = personalised.report_noise(KARY)
    gap = KEEP - SWITCH
    e.proven(identity(noise, SWITCH * (1 - SWITCH) / (gap * gap)))

    weighted = partial(
        personalised.rare_variance_horvitz_thompson, noises=[noise, noise], sizes=[1, 1]
    )
    apart = weighted(rates=[u, v])
    equal = weighted(rates=[(u + v) / 2, (u + v) / 2])
    e.proven(identity(apart - equal, noise * (u - v) * (u - v) / (u * v * (u + v))))

    root, price, share, ratio = symbols("root price share w")
    slack = root * root / share + price * price * share - 2 * root * price
    e.proven(identity(slack, (root - price * share) * (root - price * share) / share))

    capped = root * ratio
    slack = root * root / share + capped * capped * share - root * root - capped * capped
    e.proven(everywhere(slack, root=(0, oo), w=(0, 1), share=(0, 1)))
