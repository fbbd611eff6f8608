"""What decides Section 6 of biswas2022: answers to its open questions, and a check for each claim."""

from functools import partial
from typing import Any

import numpy as np

from ldpnb.accuracy import histograms
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats
from ldpnb.claims import Evidence, Numbers, within
from ldpnb.deciders import derivative, identity, oo, replaced, symbols
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

DELTA, DOMAIN = 1e-6, 101
RATES = np.array([0.08, 0.5, 0.8, 0.3])
TWO, FOUR, TWO_RATES = (
    KaryRandomisedResponse(1.0, 2),
    KaryRandomisedResponse(1.0, 4),
    np.array([0.3, 0.9]),
)


def _with_silence(sent: Floats) -> Floats:
    """Add the chance of no report, as the last output, to those of each report."""
    return np.vstack([sent, 1 - sent.sum(axis=0)])


def section_6_open_question_i(e: Evidence) -> Numbers:
    *sizes, scale = symbols("s1 s2 s3 c")
    for mean in PersonalRates(sizes, [scale / size for size in sizes], KARY).mean(np.diag(sizes)):
        e.decides(identity(mean, (sizes[0] + sizes[1] + sizes[2]) / 3))
    e.proven(
        identity(proofs.moments(proofs.pooled, proofs.TWO_RATES)[0], proofs.RATES.mean([x, y]))
    )
    _repair_proven(e)
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    means = PersonalRates(1e4 * shares, 0.02 / shares, FOUR).mean(np.diag(1e4 * shares))
    for epsilon, rates in (
        (0.1, RATES),
        (1.0, RATES),
        (0.1, np.array([0.5, 0.99, 0.7])),
    ):  # silence tells most last
        law = _with_silence(direct_encoding(epsilon, rates.size) * rates)
        e.same(
            participation.value_dependent_channel(
                rates, KaryRandomisedResponse(epsilon, rates.size)
            ),
            law,
        )
        loss = participation.participation_loss(
            epsilon, lowest_rate=rates.min(), highest_rate=rates.max()
        )
        e.same(loss, np.log(law[:, :, None] / law[:, None]).max())
    by_report = _with_silence(direct_encoding(1.0, 2) * TWO_RATES[:, None])
    e.same(participation.report_dependent_channel(TWO_RATES, TWO), by_report)
    revealed = channel.privacy_loss(participation.value_dependent_channel(RATES, FOUR)).epsilon
    repaired = channel.privacy_loss(participation.report_dependent_channel(TWO_RATES, TWO)).epsilon
    e.needs(np.isclose(repaired, 1.0) and np.allclose(means, means[0]))
    return {"mean": means[0], "revealed": revealed, "repaired": repaired}


def _repair_proven(e: Evidence) -> None:
    """Decide that sampling by the noisy report is private, silence included, and its estimate unbiased.

    Silence has chance ``sum_y R(y|x) (1 - pi(y))``; `u` and `v` are how often the reports of two values are held back,
    ``rest`` those of all others together.
    """
    rest = symbols("rest")[0]
    first, second = (SWITCH * (u + v + rest) + (KEEP - SWITCH) * own for own in (u, v))
    e.proven(everywhere(t * first - second, u=(0, 1), v=(0, 1), rest=(0, oo)))

    def estimate(tallies: Any) -> Any:
        return estimators.reweighted_reports(tallies, users=n, report_rates=[u, v], mechanism=KARY)[
            0
        ]

    mean, variance = proofs.moments(estimate, ((n * f, KEEP, u), (n * (1 - f), SWITCH, u)))
    e.proven(identity(mean, n * f))
    stated = personalised.variance_reweighted_reports(
        n * f, users=n, report_rates=[u], mechanism=KARY
    )
    e.proven(identity(variance, stated[0]))


def section_6_ii_a_higher_epsilon(e: Evidence) -> None:
    e.proven(proofs.sums_over_users("variance_unadjusted", "variance_realised_size"))
    mean = proofs.moments(proofs.unadjusted, proofs.FIXED)[0]
    e.proven(identity(survey().bias_unadjusted(n * f), mean - n * f))
    for name, rate in (("variance_unadjusted", pi), ("variance_realised_size", 1)):
        fixed, iid = (getattr(survey(data), name)(n * f) for data in proofs.DATA)
        e.proven(identity(iid - fixed, n * f * (1 - f) * rate * rate))
    for name in ("variance_unadjusted", "variance_realised_size", "bias_unadjusted"):
        for share in (0, 1):
            slope = derivative(getattr(survey(), name)(n * share), t)
            e.decides(everywhere(slope if name == "bias_unadjusted" else -slope))
    together = proofs.moments(proofs.pooled, proofs.TWO_RATES)[1]
    e.proven(identity(together, proofs.RATES.variance([x, y])))
    parts = [
        SampledCounts(m, rate, KARY).variance_unadjusted(holders)
        for m, rate, holders in ((a, u, x), (b, v, y))
    ]
    scale = (a + b) / (a * u + b * v)
    e.proven(identity(together, scale * scale * (parts[0] + parts[1])))


def section_6_ii_maximum_likelihood(e: Evidence) -> Numbers:
    noisy, count, deviation = symbols("noisy count sd")
    likelihood = -((noisy - count) ** 2) / (2 * deviation**2)  # its logarithm, up to a constant
    at_its_best = replaced(derivative(likelihood, count), count, noisy)
    e.decides(
        identity(at_its_best) and identity(derivative(likelihood, count, 2), -1 / deviation**2)
    )
    users, noise = 1000, shuffling.gaussian_deviation(0.5, DELTA)
    exact = np.repeat([users / 10, 0.0], [10, 90])
    observed = exact + noise * stream("gaussian", seed=1).standard_normal(100)
    nearest = users * frequency.project_simplex(observed / users)
    level = (nearest - observed)[nearest > 0]
    e.needs(np.allclose(level, level[0]) and ((nearest - observed)[nearest == 0] >= level[0]).all())
    numbers = {"users": users, "deviation": noise, "values": 90}
    return numbers | {"negative": (observed < 0).sum(), "zeros": (nearest == 0).sum()}


def section_6_open_question_ii(e: Evidence) -> Numbers:
    ratios, budgets = {}, {}
    for local, rate in ((5.0, 0.1), (7.0, 1.0), (8.0, 1.0)):
        given = (USERS, rate, KaryRandomisedResponse(local, DOMAIN))
        reports = ShuffledReports(*given)
        high, low = reports.epsilon_upper(DELTA), reports.epsilon_lower(DELTA)
        e.same(
            [reports.delta_upper(high), reports.delta_lower(low)], [DELTA, DELTA], rel=1e-6, abs=0
        )
        e.needs(abs(high - low) < 1e-4 * high)
        variance = SampledCounts(*given).rare_variance_realised_size
        ratios[local], budgets[local] = (
            variance / shuffling.gaussian_deviation(high, DELTA) ** 2,
            high,
        )
    gaussian = shuffling.gaussian_deviation(budgets[5.0], DELTA) ** 2
    common = SampledCounts(USERS, 0.1, KaryRandomisedResponse(5.0, DOMAIN)).variance_realised_size(
        0.05 * USERS
    )
    laplace = ratios[5.0] * gaussian / histograms.central_laplace_count_variance(budgets[5.0])
    generic = shuffling.closed_form(DELTA, users=USERS, epsilon=5.0)
    e.needs(within("equal", ratios[5.0], 1) and generic > budgets[5.0])
    e.needs(ratios[5.0] < ratios[7.0] < ratios[8.0] and common > 2 * gaussian and laplace > 1)
    numbers = {
        "central": budgets[5.0],
        "laplace": laplace,
        "common": common / gaussian,
        "generic": generic,
    }
    return numbers | {f"ratio_{local:g}": ratio for local, ratio in ratios.items()}


def section_6_open_question_iii(e: Evidence) -> Numbers:
    _lagrange_point_is_the_maximum(e)
    _dual_bound_proven(e)
    mechanism = KaryRandomisedResponse(1.0, 10)
    vertex = PersonalRates([100, 900], [1.0, 1e-16], mechanism).rare_variance
    floor = SampledCounts(1000, 0.1, mechanism).rare_variance_realised_size
    weighted = partial(personalised.rare_variance_horvitz_thompson, sizes=[500, 500])
    alike = [personalised.report_noise(mechanism)] * 2
    uniform, uneven = (weighted(noises=alike, rates=rates) for rates in ([0.1, 0.1], [0.15, 0.05]))
    e.needs(np.allclose([vertex, uniform], floor, rtol=1e-9))
    mixed = np.array(
        [personalised.report_noise(KaryRandomisedResponse(epsilon, 10)) for epsilon in (0.5, 3.0)]
    )
    rates = personalised.optimal_rates(noises=mixed, costs=[1, 1], sizes=[500, 500], budget=100.0)
    best, flat = (weighted(noises=mixed, rates=chosen) for chosen in (rates, [0.1, 0.1]))
    price = (500 * np.sqrt(mixed).sum() / 100) ** 2
    dual = (
        500 * np.where(mixed <= price, 2 * np.sqrt(mixed * price), mixed + price).sum()
        - price * 100
    )
    e.needs(np.isclose(best, dual, rtol=1e-9))
    numbers = {"equal": PersonalRates([1000], [0.1], mechanism).rare_variance, "vertex": vertex}
    return numbers | {"uniform": uniform, "uneven": uneven, "best": best, "flat": flat}


def _lagrange_point_is_the_maximum(e: Evidence) -> None:
    """Decide that equalising two rates raises Var*(T), and how low it can fall: to Var*(c-hat), at a vertex."""
    w, third, size = symbols("w third size")
    other, sizes, gap = u * w, [1, 1, size], KEEP - SWITCH
    pairs = ((u + other) / 2, (u + other) / 2), (u, other)
    equal, apart = (PersonalRates(sizes, [*pair, third], KARY).rare_variance for pair in pairs)
    scale = (2 + size) / ((u + other + size * third) * gap)
    e.proven(
        identity(equal - apart, SWITCH * SWITCH * (u - other) * (u - other) / 2 * scale * scale)
    )
    e.decides(everywhere(equal - apart, u=(0, 1), w=(0, 1), third=(0, 1), size=(0, oo)))
    vertex = replaced(PersonalRates([n * pi, n - n * pi], [1, v], KARY).rare_variance, v, 0)
    e.proven(identity(vertex, survey().rare_variance_realised_size))
    chance = SWITCH * u
    e.proven(everywhere(chance * (1 - chance) - chance * (1 - SWITCH), u=(0, 1)))
    e.proven(
        identity(
            proofs.moments(proofs.realised, proofs.RARE)[1], survey().rare_variance_realised_size
        )
    )


def _dual_bound_proven(e: Evidence) -> None:
    """Decide that Horvitz-Thompson wants equal rates of equal users, and ``min(1, root noise / root price)`` of others.

    Per user, ``A/x + m x >= 2 sqrt(A m)``, and ``>= A + m`` where ``m <= A`` and ``x <= 1``: summed, a lower bound for
    every price m of a report, reached by those rates.
    """
    noise = personalised.report_noise(KARY)
    e.proven(identity(noise, SWITCH * (1 - SWITCH) / ((KEEP - SWITCH) * (KEEP - SWITCH))))
    weighted = partial(
        personalised.rare_variance_horvitz_thompson, noises=[noise, noise], sizes=[1, 1]
    )
    apart, equal = weighted(rates=[u, v]), weighted(rates=[(u + v) / 2, (u + v) / 2])
    e.proven(identity(apart - equal, noise * (u - v) * (u - v) / (u * v * (u + v))))
    root, price, share, w = symbols("root price share w")
    slack = root * root / share + price * price * share - 2 * root * price
    e.proven(identity(slack, (root - price * share) * (root - price * share) / share))
    capped = root * w
    slack = root * root / share + capped * capped * share - root * root - capped * capped
    e.proven(everywhere(slack, root=(0, oo), w=(0, 1), share=(0, 1)))
