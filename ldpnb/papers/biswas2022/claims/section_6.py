"""The open questions of Section 6 of biswas2022, answered.

Which rate is enough (the first of them) is in `section_4`.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from ldpnb.accuracy import histograms, personalised
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, claim, within
from ldpnb.deciders import derivative, identity, oo, replaced, symbols
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs, routes
from ldpnb.papers.biswas2022.proofs import KARY, KEEP, SWITCH, a, b, everywhere, f, n, pi, survey, t, u, v, x, y
from ldpnb.papers.biswas2022.routes import CASES, NOISE, RANDOMISER, Array, all_reports, keep_and_switch, outcomes
from ldpnb.privacy import channel as privacy
from ldpnb.privacy import participation, shuffling
from ldpnb.privacy.shuffling import ShuffledReports

DELTA = 1e-6
DOMAIN = 101
BUDGETS = (0.0, 0.4, 1.2)

proven = partial(claim, kind="proof", reach="all parameters")


@proven(
    "Section 6, open question (i)",
    PersonalRates.mean,
    personalised.variance_reweighted_reports,
    participation.participation_loss,
    participation.value_dependent_channel,
    participation.report_dependent_channel,
    estimators.personalised,
    estimators.reweighted_reports,
    privacy.privacy_loss,
    *NOISE,
    over="every epsilon, k, n, all shares above 0 and all rates in (0, 1]",
    argument=f"{proofs.SUMS} The mean of T is decided for three values; holders of each send as many reports. The loss "
    "is the larger of the extreme ratios of a report and of silence.",
    corrected="With rates c / f(x_j) the sample is balanced, as intended, so that T estimates n/k for every value; and "
    "silence is informative: the exact loss is max(epsilon + ln(h/l), ln((1-l)/(1-h))) for rates from l to h > l. "
    "Randomise first and send the report y with probability pi(y): still epsilon-LDP, and (N_i/pi(i) - n q)/(p-q) is "
    "unbiased.",
)
def inverse_frequency_sampling(e: Evidence) -> str:
    """After a first round the sampling rates can be made inversely proportional to the values' frequencies, T being
    unbiased for any rates.
    """
    values, by_value, mechanism = (0, 0, 0, 1), np.array([0.3, 0.9]), KaryRandomisedResponse(1.0, 2)
    reports = all_reports(values, tuple(by_value[list(values)]), 1.0, 2)
    pooled = estimators.personalised(reports.totals, users=4, expected_reports=1.8, mechanism=mechanism)
    survey = PersonalRates(np.array([3, 1]), by_value, mechanism)
    e.same(reports.mean(pooled), survey.mean([[3, 0], [0, 1]]))
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    inverse = PersonalRates(1e4 * shares, 0.02 / shares, KaryRandomisedResponse(1.0, 4))
    means = inverse.mean(np.diag(1e4 * shares))
    e.same(means, np.full(4, 2500.0))
    revealed = _loss_of_participation(e, 1.0)
    *sizes, scale = symbols("s1 s2 s3 c")
    for mean in PersonalRates(sizes, [scale / size for size in sizes], KARY).mean(np.diag(sizes)):
        e.proven(identity(mean, (sizes[0] + sizes[1] + sizes[2]) / 3))
        e.decides(identity(mean, sizes[0]))
    _repair_proven(e)
    return (
        f"n = 10000, f = (.5, .3, .15, .05): E T = ({', '.join(f'{m:g}' for m in means)}), the uniform distribution "
        "whatever the data; rates between .08 and .8 by true value raise the privacy loss from 1 to "
        f"{revealed:.4f}, and a rate of 1 beside lower ones makes it infinite; deciding by the noisy report keeps it "
        f"at {_repair(e, values, by_value, mechanism):.4f}"
    )


def _repair_proven(e: Evidence) -> None:
    """Decide that sampling by the noisy report is private, silence included, and its estimate unbiased.

    Silence has chance ``sum_y R(y|x) (1 - pi(y))``; `u` and `v` are how often the reports of two values are held back,
    ``rest`` those of all others together.
    """
    rest = symbols("rest")[0]
    first, second = (SWITCH * (u + v + rest) + (KEEP - SWITCH) * own for own in (u, v))
    e.proven(everywhere(t * first - second, u=(0, 1), v=(0, 1), rest=(0, oo)))
    known: dict[str, Any] = {"users": n, "mechanism": KARY}

    def estimate(tallies: Any) -> Any:
        return estimators.reweighted_reports(tallies, report_rates=[u, v], **known)[0]

    mean, variance = proofs.moments(estimate, ((n * f, KEEP, u), (n * (1 - f), SWITCH, u)))
    e.proven(identity(mean, n * f))
    e.proven(identity(variance, personalised.variance_reweighted_reports(n * f, report_rates=[u], **known)[0]))


def _loss_of_participation(e: Evidence, epsilon: float) -> float:
    """Return the loss of value-dependent participation, from its channel written out."""
    rates = np.array([0.08, 0.5, 0.8, 0.3])
    written = np.vstack([routes.direct_encoding(epsilon, 4) * rates, 1 - rates])
    e.same(participation.value_dependent_channel(rates, KaryRandomisedResponse(epsilon, 4)), written)
    loss = privacy.privacy_loss(written).epsilon
    e.same(participation.participation_loss(epsilon, lowest_rate=0.08, highest_rate=0.8), loss)
    return loss


def _repair(e: Evidence, values: tuple[int, ...], rates: Array, mechanism: KaryRandomisedResponse) -> float:
    """Return the exact loss of sampling by the noisy report; estimate, variance and channel must be as enumerated."""
    sent = routes.direct_encoding(mechanism.epsilon, mechanism.domain_size) * rates[:, None]
    channel = np.vstack([sent, 1 - sent.sum(axis=0)])
    e.same(participation.report_dependent_channel(rates, mechanism), channel)
    law, counts = outcomes(sent[:, list(values)].T), np.bincount(values, minlength=mechanism.domain_size)
    known: dict[str, Any] = {"users": len(values), "report_rates": rates, "mechanism": mechanism}
    estimates = estimators.reweighted_reports(law.totals, **known)
    e.same(law.mean(estimates), counts)
    e.same(law.variance(estimates), personalised.variance_reweighted_reports(counts, **known))
    loss = privacy.privacy_loss(channel).epsilon
    e.same(loss, mechanism.epsilon)
    return loss


@proven(
    "Section 6 (ii), a higher epsilon",
    SampledCounts.variance_unadjusted,
    SampledCounts.variance_realised_size,
    SampledCounts.bias_unadjusted,
    PersonalRates.variance,
    estimators.personalised,
    estimators.unadjusted,
    estimators.realised_size,
    *RANDOMISER,
    over="every epsilon, k, n, every data, fixed or iid, and all rates in (0, 1]",
    argument=f"{proofs.SUMS} Each user's part is decided; that of T is that of c_DE at the user's own rate.",
)
def a_higher_epsilon(e: Evidence) -> str:
    """A higher epsilon gives a better bound on the variance of c_DE and T."""
    for data, law in proofs.DATA.items():
        mean, variance = proofs.moments(proofs.unadjusted, law)
        e.proven(identity(survey(data).bias_unadjusted(n * f), mean - n * f))
        e.proven(identity(survey(data).variance_unadjusted(n * f), variance))
        e.proven(identity(survey(data).variance_realised_size(n * f), proofs.moments(proofs.realised, law)[1]))
    for name, rate in (("variance_unadjusted", pi), ("variance_realised_size", 1)):
        fixed, iid = (getattr(survey(data), name)(n * f) for data in proofs.DATA)
        e.proven(identity(iid - fixed, n * f * (1 - f) * rate * rate))
    for name in ("variance_unadjusted", "variance_realised_size", "bias_unadjusted"):
        for held in (0, 1):
            slope = derivative(getattr(survey(), name)(n * held), t)
            e.decides(everywhere(slope if name == "bias_unadjusted" else -slope))
    together = proofs.moments(proofs.pooled, proofs.TWO_RATES)[1]
    e.proven(identity(together, proofs.RATES.variance([x, y])))
    parts = [SampledCounts(m, rate, KARY).variance_unadjusted(held) for m, rate, held in ((a, u, x), (b, v, y))]
    scale = (a + b) / (a * u + b * v)
    e.proven(identity(together, scale * scale * (parts[0] + parts[1])))
    few = {epsilon: SampledCounts(50_000, 0.1, KaryRandomisedResponse(epsilon, DOMAIN)) for epsilon in (1.0, 3.0, 8.0)}
    for case in CASES:
        e.same(case.survey.variance_unadjusted(case.holders), case.reports.variance(case.unadjusted))
    shown = ", ".join(f"{np.sqrt(known.variance_realised_size(0)):.4g}" for known in few.values())
    return (
        "the variances of c_DE, c-hat and T fall in epsilon at every value, and at rates below 1 the size of c_DE's "
        f"bias; standard deviations of c-hat at a value nobody holds, n = 50000, pi = .1, k = {DOMAIN}, epsilon = 1, "
        f"3, 8: {shown}"
    )


@claim(
    "Section 6, open question (ii)",
    ShuffledReports.delta_upper,
    ShuffledReports.delta_lower,
    ShuffledReports.epsilon_upper,
    ShuffledReports.epsilon_lower,
    shuffling.closed_form,
    shuffling.gaussian_delta,
    shuffling.gaussian_deviation,
    SampledCounts.rare_variance_realised_size,
    SampledCounts.variance_realised_size,
    histograms.central_laplace_count_variance,
    estimators.realised_size,
    KaryRandomisedResponse.truthful_rate,
    kind="certified",
    example=True,
    over="n = 50000, k = 101, delta = 1e-6, three pairs of epsilon and pi: the source asks for a comparison and states "
    "no result; each takes a sum over tallies; central budgets are under replacement of one user's value, to whoever "
    "sees the shuffled reports only",
    assumption="Rare values, and enough random reports per value (n q of some hundred at pi = 1). A value of share f "
    "pays n f (p(1-p) - q(1-q)) / (pi (p-q)^2) more for its own randomisation and n f (1-pi)/pi for being sampled.",
)
def shuffling_against_gaussian(e: Evidence) -> str:
    """With shuffling, the variance of direct encoding with sampling can be compared with that of the central Gaussian
    mechanism at equal privacy.
    """
    _pair_of_data_sets_agrees(e)
    _blanket_agrees(e)
    e.same(shuffling.gaussian_delta(0.3, deviation=1.7), routes.normal_delta(0.3, 1.7))
    back = shuffling.gaussian_delta(0.1, deviation=shuffling.gaussian_deviation(0.1, DELTA))
    e.same(back, DELTA, rel=1e-7, abs=0)
    _variances_agree(e)
    noise = stats.laplace(scale=2 / 0.5)  # a replaced value moves two counts by 1
    e.same(histograms.central_laplace_count_variance(0.5), noise.expect(np.square))
    users, ratios, budgets = int(routes.published()["nodes"]), {}, {}
    for local, rate in ((5.0, 0.1), (7.0, 1.0), (8.0, 1.0)):
        given = (users, rate, KaryRandomisedResponse(local, DOMAIN))
        reports = ShuffledReports(*given)
        high, low = reports.epsilon_upper(DELTA), reports.epsilon_lower(DELTA)
        e.same([reports.delta_upper(high), reports.delta_lower(low)], [DELTA, DELTA], rel=1e-6, abs=0)
        e.needs(abs(high - low) < 1e-4 * high)
        variance = SampledCounts(*given).rare_variance_realised_size
        ratios[local], budgets[local] = variance / shuffling.gaussian_deviation(high, DELTA) ** 2, high
    e.sure(within("equal", ratios[5.0], 1))
    gaussian = shuffling.gaussian_deviation(budgets[5.0], DELTA) ** 2
    held = SampledCounts(users, 0.1, KaryRandomisedResponse(5.0, DOMAIN)).variance_realised_size(0.05 * users)
    generic = shuffling.closed_form(DELTA, users=users, epsilon=5.0)
    e.same(generic, routes.amplified_as_published(5.0, users, DELTA))
    laplace = ratios[5.0] * gaussian / histograms.central_laplace_count_variance(budgets[5.0])
    return (
        f"n = {users}, k = {DOMAIN}, delta = 1e-6: local 5 at pi = .1 is central {budgets[5.0]:.4f} (bounds agree to "
        f"1e-4) with {ratios[5.0]:.3f} times the Gaussian's variance at a rare value ({laplace:.1f} times the Laplace "
        f"mechanism's) and {held / gaussian:.1f} times at a value of share .05; local 7 at pi = 1 is "
        f"{budgets[7.0]:.3f} with {ratios[7.0]:.3f}, local 8 {budgets[8.0]:.3f} with {ratios[8.0]:.2f}; the generic "
        f"bound allows {generic:.3f} at local 5 and pi = 1"
    )


def _pair_of_data_sets_agrees(e: Evidence) -> None:
    """Compare the lower bound with the tallies' laws of two data sets written out in full."""
    local, size, rate, laws = 1.5, 3, 0.7, []
    for value in (0, 1):
        reports = all_reports((value, 2, 2, 2), (rate,) * 4, local, size)
        cells = (reports.totals @ [1, 10, 100]).astype(int)
        laws.append(np.bincount(cells, weights=reports.chances, minlength=1000))
    shuffled = ShuffledReports(4, rate, KaryRandomisedResponse(local, size))
    for budget in BUDGETS:
        e.same(shuffled.delta_lower(budget), np.maximum(laws[0] - np.exp(budget) * laws[1], 0).sum())


def _blanket_agrees(e: Evidence) -> None:
    """Compare the upper bound with the proof's mixture over blanket messages, the differing user's among them."""
    n, local, size, rate = 5, 1.5, 4, 0.7
    keep, switch = keep_and_switch(local, size)
    blanket, total = 1 - rate * (keep - switch), np.zeros(3)
    for others in range(n):
        weight = math.comb(n - 1, others) * blanket**others * (1 - blanket) ** (n - 1 - others)
        messages = outcomes(np.full((others + 1, size), rate * switch / blanket))
        one, other = (1 + np.expm1(local) * messages.totals[:, v] / (others + 1) for v in (0, 1))
        for i, budget in enumerate(BUDGETS):
            total[i] += weight * blanket * messages.mean(np.maximum(one - np.exp(budget) * other, 0))
    shuffled = ShuffledReports(n, rate, KaryRandomisedResponse(local, size))
    e.same([shuffled.delta_upper(budget) for budget in BUDGETS], total)


def _variances_agree(e: Evidence) -> None:
    """Enumerate one user who holds the value and one who does not, at the domain's full size."""
    survey = SampledCounts(50_000, 0.1, KaryRandomisedResponse(5.0, DOMAIN))
    one = all_reports((0,), (0.1,), 5.0, DOMAIN)
    estimates = estimators.realised_size(one.totals, sampling_rate=0.1, mechanism=survey.mechanism)
    holder, other = one.variance(estimates)[:2]
    e.same(survey.rare_variance_realised_size, 50_000 * other)
    e.same(survey.variance_realised_size(2500), 2500 * holder + 47_500 * other)
    e.same(one.mean(estimates), np.eye(DOMAIN)[0])


@proven(
    "Section 6, open question (iii)",
    PersonalRates.rare_variance,
    PersonalRates.variance_horvitz_thompson,
    personalised.rare_variance_horvitz_thompson,
    personalised.report_noise,
    personalised.optimal_rates,
    SampledCounts.rare_variance_realised_size,
    estimators.horvitz_thompson,
    *NOISE,
    estimators.realised_size,
    over="every epsilon, k, n, every number of reports and all rates in (0, 1]",
    argument="Pairs of users decide: among two rates with a given sum, equal ones maximise Var*(T) and minimise "
    "Horvitz-Thompson's variance. A dual bound, decided for one user, is reached by the rates named.",
    reading="reconstructed",
    assumption="The required sum of the rates is lost; 'a probability distribution' would make it 1, one report in "
    "expectation. Any sum is allowed.",
    corrected="Var*(T) is concave in the rates for a given sum: the Lagrange point is its maximum. It falls towards "
    "rates of 0 and 1, where T hears some users only and the sample's size is no longer random (if the sum is whole). "
    "Horvitz-Thompson has sum_j A_j / pi_j, convex: equal rates for equal users, else pi_j = min(1, lambda sqrt(A_j / "
    "k_j)), a report costing k_j. None of it depends on the value i.",
)
def optimal_sampling_rates(e: Evidence) -> str:
    """Lagrange multipliers give personal rates, summing to a constant, that minimise Var*(T), and doing so for all
    values at once is hard.
    """
    _horvitz_thompson_agrees(e)
    _lagrange_point_is_the_maximum(e)
    _dual_bound_proven(e)
    mechanism = KaryRandomisedResponse(1.0, 10)
    equal = PersonalRates(np.array([1000]), np.array([0.1]), mechanism).rare_variance
    e.same(equal, _variance_by_user(mechanism))
    vertex = PersonalRates(np.array([100, 900]), np.array([1.0, 1e-16]), mechanism).rare_variance
    floor = SampledCounts(1000, 0.1, mechanism).rare_variance_realised_size
    noises = [personalised.report_noise(mechanism)] * 2
    uniform, uneven = (
        personalised.rare_variance_horvitz_thompson(noises=noises, sizes=[500, 500], rates=rates)
        for rates in ([0.1, 0.1], [0.15, 0.05])
    )
    e.same([vertex, uniform], [floor, floor])
    best, flat, rates = _mixed_budgets(e)
    return (
        f"n = 1000, B = 100 expected reports, epsilon = 1, k = 10: Var*(T) is {equal:.1f} at the Lagrange point pi_j = "
        f"B/n, the maximum, and {vertex:.1f} with 100 users at rate 1; Horvitz-Thompson {uniform:.1f} at equal rates, "
        f"{uneven:.1f} at .15/.05; users of epsilon .5 and 3 in equal parts: rates {rates[0]:.4f} and {rates[1]:.4f} "
        f"give {best:.1f} (equal rates {flat:.1f}), equal to the dual bound"
    )


def _lagrange_point_is_the_maximum(e: Evidence) -> None:
    """Decide that equalising two rates raises Var*(T), and how low it can fall: to Var*(c-hat), at a vertex."""
    w, third, size = symbols("w third size")
    other, sizes, gap = u * w, [1, 1, size], KEEP - SWITCH
    equal, apart = (
        PersonalRates(sizes, [*pair, third], KARY).rare_variance
        for pair in (((u + other) / 2, (u + other) / 2), (u, other))
    )
    scale = (2 + size) / ((u + other + size * third) * gap)
    e.proven(identity(equal - apart, SWITCH * SWITCH * (u - other) * (u - other) / 2 * scale * scale))
    e.decides(everywhere(apart - equal, u=(0, 1), w=(0, 1), third=(0, 1), size=(0, oo)))
    vertex = replaced(PersonalRates([n * pi, n - n * pi], [1, v], KARY).rare_variance, v, 0)
    e.proven(identity(vertex, survey().rare_variance_realised_size))
    chance = SWITCH * u
    e.proven(everywhere(chance * (1 - chance) - chance * (1 - SWITCH), u=(0, 1)))
    e.proven(identity(proofs.moments(proofs.realised, proofs.RARE)[1], survey().rare_variance_realised_size))


def _dual_bound_proven(e: Evidence) -> None:
    """Decide that Horvitz-Thompson wants equal rates of equal users, and ``min(1, root noise / root price)`` of others.

    Per user, ``A/x + m x >= 2 sqrt(A m)``, and ``>= A + m`` where ``m <= A`` and ``x <= 1``: summed, a lower bound for
    every price m of a report, reached by those rates.
    """
    noise = personalised.report_noise(KARY)
    e.proven(identity(noise, SWITCH * (1 - SWITCH) / ((KEEP - SWITCH) * (KEEP - SWITCH))))
    known: dict[str, Any] = {"noises": [noise, noise], "sizes": [1, 1]}
    apart, equal = (
        personalised.rare_variance_horvitz_thompson(rates=rates, **known)
        for rates in ([u, v], [(u + v) / 2, (u + v) / 2])
    )
    e.proven(identity(apart - equal, noise * (u - v) * (u - v) / (u * v * (u + v))))
    root, price, x, w = symbols("root price x w")
    e.proven(
        identity(root * root / x + price * price * x - 2 * root * price, (root - price * x) * (root - price * x) / x)
    )
    capped = root * w
    slack = root * root / x + capped * capped * x - root * root - capped * capped
    e.proven(everywhere(slack, root=(0, oo), w=(0, 1), x=(0, 1)))


def _variance_by_user(mechanism: KaryRandomisedResponse) -> float:
    """Build the variance at the Lagrange point from the enumeration of one user."""
    one = all_reports((0,), (0.1,), mechanism.epsilon, mechanism.domain_size)
    keep, switch = keep_and_switch(mechanism.epsilon, mechanism.domain_size)
    return float(1000 * one.variance(one.totals)[1] / (0.1 * (keep - switch)) ** 2)


def _horvitz_thompson_agrees(e: Evidence) -> None:
    """Enumerate mean and variance for rates that follow the values."""
    rates, mechanism = np.array([0.2, 0.8]), KaryRandomisedResponse(1.0, 3)
    reports = all_reports((0, 0, 1, 2, 1), (0.8, 0.8, 0.2, 0.2, 0.2), 1.0, 3)
    estimates = estimators.horvitz_thompson(reports.by_group((1, 1, 0, 0, 0)), rates=rates, mechanism=mechanism)
    held, survey = np.array([[0, 2, 1], [2, 0, 0]]), PersonalRates(np.array([3, 2]), rates, mechanism)
    e.same(reports.mean(estimates), held.sum(axis=0))
    e.same(reports.variance(estimates), survey.variance_horvitz_thompson(held))


def _mixed_budgets(e: Evidence) -> tuple[float, float, Array]:
    """Return the variances at the optimal and at equal rates for users of two budgets, and the optimal rates.

    The first must meet a lower bound by duality.
    """
    noises = np.array([personalised.report_noise(KaryRandomisedResponse(epsilon, 10)) for epsilon in (0.5, 3.0)])
    sizes, budget = np.array([500, 500]), 100.0
    rates = personalised.optimal_rates(noises=noises, costs=[1, 1], sizes=sizes, budget=budget)
    best, flat = (
        personalised.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=chosen)
        for chosen in (rates, [0.1, 0.1])
    )
    written = [keep_and_switch(epsilon, 10) for epsilon in (0.5, 3.0)]
    spread = np.array([q * (1 - q) / (p - q) ** 2 for p, q in written])
    price = (sizes @ np.sqrt(spread) / budget) ** 2
    dual = sizes @ np.where(spread <= price, 2 * np.sqrt(spread * price), spread + price) - price * budget
    e.same(best, dual)
    return best, flat, rates
