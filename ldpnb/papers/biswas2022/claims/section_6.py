"""The open questions of Section 6 of biswas2022, answered."""

import math

import numpy as np
from numpy.polynomial.legendre import leggauss

from ldpnb.accuracy import histograms, personalised
from ldpnb.accuracy import sampling as common
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.routes import GAP, SWITCH, Array, all_reports, direct_encoding, outcomes, published
from ldpnb.privacy import channel as privacy
from ldpnb.privacy import participation, shuffling

DELTA = 1e-6
DOMAIN = 101


@claim(
    "biswas2022",
    "Section 6, open question (i)",
    says="After a first round the sampling rates can be made inversely proportional to the values' frequencies, T being unbiased for any rates.",
    rests_on=(
        "accuracy.personalised.mean_personalised",
        "accuracy.personalised.variance_reweighted_reports",
        "privacy.participation.participation_loss",
        "privacy.participation.value_dependent_channel",
        "privacy.participation.report_dependent_channel",
        "estimators.sampling.personalised",
        "estimators.sampling.reweighted_reports",
        "privacy.channel.privacy_loss",
        SWITCH,
        GAP,
    ),
)
def inverse_frequency_sampling() -> Verdict:
    """See what T estimates and what silence reveals; then decide by the noisy report instead."""
    values, by_value, epsilon = (0, 0, 0, 1), np.array([0.3, 0.9]), 1.0
    mechanism = KaryRandomisedResponse(epsilon, 2)
    reports = all_reports(values, tuple(by_value[list(values)]), epsilon, 2)
    pooled = estimators.personalised(reports.totals, nodes=4, expected_reports=1.8, mechanism=mechanism)
    closed = [personalised.mean_personalised(held, sizes=[3, 1], rates=by_value) for held in ([3, 0], [0, 1])]
    sound = agree(reports.mean(pooled), closed)
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    means = [
        personalised.mean_personalised(np.diag(1e4 * shares)[i], sizes=1e4 * shares, rates=0.02 / shares)
        for i in range(4)
    ]
    loss, exact = _loss_of_participation(epsilon)
    repaired, mends = _repair(values, by_value, mechanism)
    return Verdict(
        judge(
            agree(means, 1e4 * shares) and exact <= epsilon * (1 + 1e-9),
            sound=sound and agree(loss, exact) and mends and agree(means, np.full(4, 2500.0)),
        ),
        f"n = 10000, f = (.5, .3, .15, .05): E T = ({', '.join(f'{m:g}' for m in means)}), the uniform distribution whatever the data; rates between "
        f".08 and .8 by true value raise the privacy loss from 1 to {exact:.4f}, and a rate of 1 makes it infinite; deciding by the noisy report "
        f"keeps it at {repaired:.4f}",
        "enumeration",
        corrected="With rates c / f(x_j) T estimates n/k for every value, and silence reveals: the exact loss is max(epsilon + ln(h/l), "
        "ln((1-l)/(1-h))) for rates in [l, h]. Randomise first and send the report y with probability "
        "pi(y): still epsilon-LDP, and (N_i/pi(i) - n q)/(p-q) is unbiased.",
    )


def _loss_of_participation(epsilon: float) -> tuple[float, float]:
    """Return the loss of value-dependent participation in closed form and from its channel."""
    rates = np.array([0.08, 0.5, 0.8, 0.3])
    channel = participation.value_dependent_channel(rates, KaryRandomisedResponse(epsilon, 4))
    closed = participation.participation_loss(epsilon, lowest_rate=0.08, highest_rate=0.8)
    return closed, privacy.privacy_loss(channel).epsilon


def _repair(values: tuple[int, ...], rates: Array, mechanism: KaryRandomisedResponse) -> tuple[float, bool]:
    """Return the exact loss of sampling by the noisy report, and whether estimate, variance and channel agree with
    enumeration.
    """
    size, epsilon = mechanism.domain_size, mechanism.epsilon
    sent = direct_encoding(epsilon, size) * rates[:, None]
    channel = participation.report_dependent_channel(rates, mechanism)
    law = outcomes(sent[:, list(values)].T)
    estimates = estimators.reweighted_reports(law.totals, nodes=len(values), report_rates=rates, mechanism=mechanism)
    counts = np.bincount(values, minlength=size)
    variance = personalised.variance_reweighted_reports(
        counts, nodes=len(values), report_rates=rates, mechanism=mechanism
    )
    loss = privacy.privacy_loss(channel).epsilon
    agreed = (
        agree(channel[:-1], sent) and agree(law.mean(estimates), counts) and agree(law.variance(estimates), variance)
    )
    return loss, agreed and agree(loss, epsilon)


@claim(
    "biswas2022",
    "Section 6, open question (ii)",
    says="With shuffling, the variance of direct encoding with sampling can be compared with that of the central Gaussian mechanism at equal "
    "privacy, and may be as small.",
    rests_on=(
        "privacy.shuffling.delta_upper",
        "privacy.shuffling.delta_lower",
        "privacy.shuffling.epsilon_upper",
        "privacy.shuffling.epsilon_lower",
        "privacy.shuffling.closed_form",
        "privacy.shuffling.gaussian_delta",
        "privacy.shuffling.gaussian_deviation",
        "accuracy.sampling.rare_variance_realised_size",
        "accuracy.sampling.variance_realised_size",
        "accuracy.histograms.central_laplace_count_variance",
        "estimators.sampling.realised_size",
        GAP,
    ),
)
def shuffling_against_gaussian() -> Verdict:
    """Bracket the central budget, pin each formula on small cases, and compare variances at the budget."""
    sound = _pair_of_data_sets_agrees() and _blanket_agrees() and _gaussian_agrees() and _variances_agree()
    sound &= agree(histograms.central_laplace_count_variance(0.5), 2 * (2 / 0.5) ** 2)
    nodes, ratios, budgets = int(published()["nodes"]), {}, {}
    for local, rate in ((5.0, 0.1), (7.0, 1.0), (8.0, 1.0)):
        mechanism = KaryRandomisedResponse(local, DOMAIN)
        high = shuffling.epsilon_upper(DELTA, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
        low = shuffling.epsilon_lower(DELTA, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
        at_high = shuffling.delta_upper(high, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
        at_low = shuffling.delta_lower(low, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
        sound &= agree([at_high, at_low], [DELTA, DELTA], rel=1e-6, abs=0) and abs(high - low) < 1e-4 * high
        variance = common.rare_variance_realised_size(nodes=nodes, sampling_rate=rate, mechanism=mechanism)
        ratios[local] = variance / shuffling.gaussian_deviation(high, DELTA) ** 2
        budgets[local] = high
    held = common.variance_realised_size(
        0.05 * nodes, nodes=nodes, sampling_rate=0.1, mechanism=KaryRandomisedResponse(5.0, DOMAIN)
    )
    frequent = float(held) / shuffling.gaussian_deviation(budgets[5.0], DELTA) ** 2
    generic = shuffling.closed_form(DELTA, nodes=nodes, epsilon=5.0)
    plain = 8 * (math.e**5 - 1) / (math.e**5 + 1) * (math.sqrt(math.e**5 * math.log(4e6) / nodes) + math.e**5 / nodes)
    laplace = ratios[5.0] * shuffling.gaussian_deviation(budgets[5.0], DELTA) ** 2
    laplace /= histograms.central_laplace_count_variance(budgets[5.0])
    return Verdict(
        judge(abs(ratios[5.0] - 1) < 0.05, sound=sound and agree(generic, math.log1p(plain)), otherwise="refuted"),
        f"n = {nodes}, k = {DOMAIN}, delta = 1e-6: local 5 at pi = .1 is central {budgets[5.0]:.4f} (bounds agree to 1e-4) with {ratios[5.0]:.3f} "
        f"times the Gaussian's variance at a rare value ({laplace:.1f} times the Laplace mechanism's) and {frequent:.1f} times "
        f"at a value of share .05; local 7 at pi = 1 is {budgets[7.0]:.3f} with {ratios[7.0]:.3f}, local 8 {budgets[8.0]:.3f} with "
        f"{ratios[8.0]:.2f}; the generic bound allows {generic:.3f} at local 5 and pi = 1",
        "certified",
        assumption="Rare values, and enough random reports per value (n q of some hundred at pi = 1). A value of share f pays n f (p(1-p) - q(1-q)) "
        "/ (pi (p-q)^2) more for its own randomisation and n f (1-pi)/pi for being sampled.",
    )


def _pair_of_data_sets_agrees() -> bool:
    """Compare the lower bound with the tallies' laws of two data sets written out in full."""
    n, local, size, rate = 4, 1.5, 3, 0.7
    laws = []
    for value in (0, 1):
        reports = all_reports((value, 2, 2, 2), (rate,) * n, local, size)
        cells = (reports.totals @ [1, 10, 100]).astype(int)
        laws.append(np.bincount(cells, weights=reports.chances, minlength=1000))
    mechanism = KaryRandomisedResponse(local, size)
    closed = [shuffling.delta_lower(e, nodes=n, sampling_rate=rate, mechanism=mechanism) for e in (0.0, 0.4, 1.2)]
    return agree(closed, [np.maximum(laws[0] - np.exp(e) * laws[1], 0).sum() for e in (0.0, 0.4, 1.2)])


def _blanket_agrees() -> bool:
    """Compare the upper bound with the mixture over blanket messages in the order of the proof, the differing node's
    among them.
    """
    n, local, size, rate = 5, 1.5, 4, 0.7
    keep, switch = direct_encoding(local, size)[0, :2]
    blanket = 1 - rate * (keep - switch)
    law = np.array([1 - rate, *[rate * switch] * size]) / blanket
    total = np.zeros(3)
    for others in range(n):
        weight = math.comb(n - 1, others) * blanket**others * (1 - blanket) ** (n - 1 - others)
        messages = outcomes(np.tile(law[1:], (others + 1, 1)))
        one, other = (1 + np.expm1(local) * messages.totals[:, v] / (others + 1) for v in (0, 1))
        for i, epsilon in enumerate((0.0, 0.4, 1.2)):
            total[i] += weight * blanket * messages.mean(np.maximum(one - np.exp(epsilon) * other, 0))
    mechanism = KaryRandomisedResponse(local, size)
    return agree(
        [shuffling.delta_upper(e, nodes=n, sampling_rate=rate, mechanism=mechanism) for e in (0.0, 0.4, 1.2)], total
    )


def _gaussian_agrees() -> bool:
    """Integrate the hockey stick of two normal densities, and put the deviation back into it."""
    epsilon, deviation, size = 0.3, 1.7, math.sqrt(2)
    points, weights = leggauss(80)
    edge = epsilon * deviation**2 / size - size / 2
    x = edge + 10 * (points + 1)

    def density(centre: float) -> Array:
        return np.exp(-((x - centre) ** 2) / (2 * deviation**2)) / (deviation * math.sqrt(2 * math.pi))

    integral = 10 * weights @ (density(0.0) - math.exp(epsilon) * density(-size))
    back = shuffling.gaussian_delta(0.1, deviation=shuffling.gaussian_deviation(0.1, DELTA))
    return agree(shuffling.gaussian_delta(epsilon, deviation=deviation), integral) and agree(
        back, DELTA, rel=1e-7, abs=0
    )


def _variances_agree() -> bool:
    """Enumerate one node that holds the value and one that does not, at the domain's full size."""
    setting: common.Setting = {"nodes": 50_000, "sampling_rate": 0.1, "mechanism": KaryRandomisedResponse(5.0, DOMAIN)}
    one = all_reports((0,), (0.1,), 5.0, DOMAIN)
    estimates = estimators.realised_size(one.totals, sampling_rate=0.1, mechanism=setting["mechanism"])
    holder, other = one.variance(estimates)[:2]
    sound = agree(common.rare_variance_realised_size(**setting), 50_000 * other)
    sound &= agree(common.variance_realised_size(2500, **setting), 2500 * holder + 47_500 * other)
    return sound and agree(one.mean(estimates), np.eye(DOMAIN)[0])


@claim(
    "biswas2022",
    "Section 6, open question (iii)",
    says="Lagrange multipliers give personal rates, summing to a constant, that minimise Var*(T), and doing so for all values at once is hard.",
    rests_on=(
        "accuracy.personalised.rare_variance_personalised",
        "accuracy.personalised.rare_variance_horvitz_thompson",
        "accuracy.personalised.variance_horvitz_thompson",
        "accuracy.personalised.report_noise",
        "accuracy.personalised.optimal_rates",
        "accuracy.sampling.rare_variance_realised_size",
        "estimators.sampling.horvitz_thompson",
        SWITCH,
        GAP,
    ),
)
def optimal_sampling_rates() -> Verdict:
    """Compare the Lagrange point with a vertex of the feasible set, and certify the rates for nodes that differ by
    duality.
    """
    nodes, budget, mechanism = 1000, 100, KaryRandomisedResponse(1.0, 10)
    equal = personalised.rare_variance_personalised(sizes=[nodes], rates=[budget / nodes], mechanism=mechanism)
    vertex = personalised.rare_variance_personalised(
        sizes=[budget, nodes - budget], rates=[1.0, 1e-16], mechanism=mechanism
    )
    floor = common.rare_variance_realised_size(nodes=nodes, sampling_rate=budget / nodes, mechanism=mechanism)
    noise = personalised.report_noise(mechanism)
    uniform, uneven = (
        personalised.rare_variance_horvitz_thompson(noises=[noise] * 2, sizes=[500, 500], rates=rates)
        for rates in ([0.1, 0.1], [0.15, 0.05])
    )
    sound = _horvitz_thompson_agrees() and agree([vertex, uniform], [floor, floor]) and _matches_nodes(mechanism, equal)
    best, dual, flat, rates = _mixed_budgets()
    return Verdict(
        judge(equal <= vertex, sound=sound and agree(best, dual)),
        f"n = 1000, B = 100 expected reports, epsilon = 1, k = 10: Var*(T) is {equal:.1f} at the Lagrange point pi_j = B/n, the maximum, and "
        f"{vertex:.1f} with 100 nodes at rate 1; Horvitz-Thompson {uniform:.1f} at equal rates, {uneven:.1f} at .15/.05; nodes of epsilon .5 and 3 "
        f"in equal parts: rates {rates[0]:.4f} and {rates[1]:.4f} give {best:.1f} (equal rates {flat:.1f}), equal to the dual bound",
        "certified",
        corrected="Var*(T) is concave in the rates for a given sum: the Lagrange point is its maximum, and the minimum, which only removes the "
        "randomness of the sample's size, makes T biased. Horvitz-Thompson has sum_j A_j / pi_j, convex: equal rates for equal nodes, else "
        "pi_j = min(1, lambda sqrt(A_j / k_j)). None of it depends on the value i.",
    )


def _matches_nodes(mechanism: KaryRandomisedResponse, equal: float) -> bool:
    """Build the variance at the Lagrange point from the enumeration of one node."""
    one = all_reports((0,), (0.1,), mechanism.epsilon, mechanism.domain_size)
    keep, switch = direct_encoding(mechanism.epsilon, mechanism.domain_size)[0, :2]
    return agree(equal, 1000 * one.variance(one.totals)[1] / (0.1 * (keep - switch)) ** 2)


def _horvitz_thompson_agrees() -> bool:
    """Enumerate mean and variance for rates that follow the values."""
    values, rates, mechanism = (0, 0, 1, 2, 1), (0.8, 0.8, 0.2, 0.2, 0.2), KaryRandomisedResponse(1.0, 3)
    reports = all_reports(values, rates, 1.0, 3)
    estimates = estimators.horvitz_thompson(reports.by_group((1, 1, 0, 0, 0)), rates=[0.2, 0.8], mechanism=mechanism)
    closed = [
        personalised.variance_horvitz_thompson(held, sizes=[3, 2], rates=[0.2, 0.8], mechanism=mechanism)
        for held in ([0, 2], [2, 0], [1, 0])
    ]
    return agree(reports.mean(estimates), [2.0, 2.0, 1.0]) and agree(reports.variance(estimates), closed)


def _mixed_budgets() -> tuple[float, float, float, Array]:
    """Return the variance at the optimal rates for nodes of two budgets, a lower bound by duality, the variance at
    equal rates, and the rates.
    """
    noises = np.array([personalised.report_noise(KaryRandomisedResponse(e, 10)) for e in (0.5, 3.0)])
    sizes, budget = np.array([500, 500]), 100.0
    rates = personalised.optimal_rates(noises=noises, costs=[1, 1], sizes=sizes, budget=budget)
    best = personalised.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=rates)
    flat = personalised.rare_variance_horvitz_thompson(noises=noises, sizes=sizes, rates=[0.1, 0.1])
    written = [direct_encoding(e, 10)[0, :2] for e in (0.5, 3.0)]
    spread = np.array([q * (1 - q) / (p - q) ** 2 for p, q in written])
    price = (sizes @ np.sqrt(spread) / budget) ** 2
    dual = float(sizes @ np.where(spread <= price, 2 * np.sqrt(spread * price), spread + price) - price * budget)
    return best, dual, flat, rates
