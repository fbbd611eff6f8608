"""Lecture20 on counts: a curator's histogram, the vector of signs, what it costs to send, and (epsilon, delta)."""

from itertools import product

import numpy as np

from ldpnb.accuracy import histograms, means
from ldpnb.claims import Evidence, agree, claim
from ldpnb.estimators import frequency
from ldpnb.mechanisms import means as mechanisms
from ldpnb.mechanisms import signs
from ldpnb.mechanisms.means import CentralLaplace
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import routes
from ldpnb.papers.lecture20.routes import BUDGETS, failure, printed_signs
from ldpnb.privacy import channel

PARAMETERS = (0.1, 0.25, 0.5, 0.9)


@claim(
    "Frequency, central Laplace",
    mechanisms.histogram_sensitivity,
    CentralLaplace.scale,
    CentralLaplace.log_density,
    histograms.central_laplace_count_variance,
    histograms.central_laplace_largest_error,
    kind="enumeration",
    assumption="neighbours replace one user's value; with deletion the sensitivity is 1",
)
def central_histogram(e: Evidence) -> str:
    """A curator adds Lap(2/epsilon) to each count of a histogram"""
    people = np.array(list(product(range(3), repeat=3)))
    counts = np.stack([(people == value).sum(axis=1) for value in range(3)], axis=1)
    neighbours = (people[:, None] != people).sum(axis=2) == 1
    moves = np.abs(counts[:, None] - counts).sum(axis=2)[neighbours]
    needed, printed = mechanisms.histogram_sensitivity("replacement"), routes.published()["sensitivity"]
    e.same(moves.max(), needed)
    released, losses = np.array(list(product((-9.0, 0.5, 9.0), repeat=3)))[:, None], []
    for epsilon in BUDGETS:
        mechanism = CentralLaplace(epsilon, printed)
        densities = mechanism.log_density(released, counts)
        losses.append(np.abs(densities[:, :, None] - densities[:, None])[:, neighbours].max())
        error = histograms.central_laplace_largest_error(epsilon, 1000, failure())
        e.same(np.exp(1000 * np.log1p(-routes.noise_moment(mechanism, 0, start=error))), 1 - failure())
        e.same([mechanism.scale, routes.noise_moment(mechanism, 0)], [printed / epsilon, 1])
        e.same(routes.noise_moment(mechanism, 2), histograms.central_laplace_count_variance(epsilon))
    union = printed * np.log(1000 / failure())
    worst = histograms.central_laplace_largest_error(1.0, 1000, failure())
    e.needs(agree(losses, BUDGETS) and agree(printed, needed))
    return (
        f"over all pairs of 27 data sets that differ in one user a histogram moves by at most {moves.max()} in sum, "
        f"and the log-density by epsilon; the worst of 1000 counts at epsilon = 1 is off by {worst:.5g} at most with "
        f"probability 99% (union bound {union:.5g})"
    )


@claim(
    "Frequency, sign randomiser",
    SignRandomiser.channel,
    SignRandomiser.p,
    SignRandomiser.q,
    signs.exact_epsilon,
    signs.calibrated_bias,
    channel.privacy_loss,
    kind="enumeration",
    corrected="the exact loss is ln((1 + epsilon)/(1 - epsilon)), at least twice epsilon; with bias tanh(epsilon/2) in "
    "place of epsilon the signs are exactly epsilon-LDP",
)
def sign_randomiser_loss(e: Evidence) -> str:
    """Signs that are fair except the own one, which is +1 with probability 1/2 + epsilon/2, are epsilon-LDP (implied by
    the name epsilon)
    """
    losses = []
    for parameter in PARAMETERS:
        vectors, law = printed_signs(parameter, 4)
        mechanism = SignRandomiser.as_printed(parameter, 4)
        order = [int(np.flatnonzero((mechanism.outputs() == v).all(axis=1))[0]) for v in vectors]
        e.same(mechanism.channel()[order], law)
        e.same([mechanism.p, mechanism.q], [0.5 + parameter / 2, 0.5])
        losses.append(float(np.log(law[:, :, None] / law[:, None]).max()))
        e.same([signs.exact_epsilon(parameter), channel.privacy_loss(law).epsilon], [losses[-1]] * 2)
    for epsilon in BUDGETS:
        law = printed_signs(signs.calibrated_bias(epsilon), 4)[1]
        e.same([np.log(law.max() / law.min()), np.log(law[-1, 0] / law[0, 0])], [epsilon, epsilon])
    e.needs(agree(losses, PARAMETERS))
    pairs = ", ".join(f"{c:g} -> {x:.5f}" for c, x in zip(PARAMETERS, losses, strict=True))
    return (
        f"all 16 outputs and pairs of 4 values: {pairs}; two signs differ in law between two values; no privacy at "
        "epsilon = 1, and no probability beyond"
    )


@claim(
    "Frequency, estimator",
    SignRandomiser.channel,
    frequency.unbiased,
    histograms.sign_variance,
    histograms.pure_variance,
    kind="enumeration",
)
def sign_estimator(e: Evidence) -> str:
    """The sum of the signs divided by their bias estimates every count without bias"""
    held = np.array([0, 0, 2])
    counts, outcomes = np.bincount(held, minlength=3), np.array(list(product(range(8), repeat=3)))
    for parameter in PARAMETERS:
        vectors, law = printed_signs(parameter, 3)
        mechanism = SignRandomiser.as_printed(parameter, 3)
        chances = law[outcomes, held].prod(axis=1)
        printed = vectors[outcomes].sum(axis=1) / parameter
        tallies = (vectors[outcomes] == 1).sum(axis=1)
        mean, variance = np.array([routes.moments(column, chances) for column in printed.T]).T
        e.needs(agree(mean, counts))
        e.same(3 * frequency.unbiased(tallies, 3, mechanism), printed)
        e.same(variance, histograms.sign_variance(counts, users=3, bias=parameter))
        e.same(variance, histograms.pure_variance(counts, users=3, mechanism=mechanism))
        plus = (mechanism.channel()[:, :, None] * (mechanism.outputs()[:, None] == 1)).sum(axis=0)
        e.same(plus, 0.5 + parameter / 2 * np.eye(3))
    example = histograms.sign_variance(5000, users=20_000, bias=0.5)
    return (
        "all 8^3 reports at four parameters: mean exact, variance n/bias^2 - f; for n = 20,000, f = 5,000, bias 0.5 "
        f"the variance is {example:g}"
    )


@claim(
    "Frequency, communication",
    histograms.unary_report_bits,
    SignRandomiser.channel,
    SignRandomiser.p,
    SignRandomiser.q,
    kind="enumeration",
    assumption="no shared randomness: with public fair signs the user's one bit, own sign kept with probability p, has "
    "the same law",
)
def sign_communication(e: Evidence) -> str:
    """The sign vector costs Omega(d) bits of communication, and Omega(d) time for the user and the server"""
    bits = np.empty((3, 7))
    for (row, epsilon), size in product(enumerate((0.1, 1.0, 3.0)), range(2, 9)):
        mechanism, law = SignRandomiser(epsilon, size), printed_signs(np.tanh(epsilon / 2), size)[1]
        e.same(np.sort(mechanism.channel(), axis=0), np.sort(law, axis=0))
        bits[row, size - 2] = histograms.unary_report_bits(mechanism.p, mechanism.q, size)
        e.same(bits[row, size - 2], -(law[:, 0] * np.log2(law[:, 0])).sum())
        if size == 3:
            e.same(routes.public_signs(epsilon, size), law)
    per_value = np.diff(bits, axis=1)
    e.needs((per_value > 0.5).all())
    return (
        "entropy of a report given the value, d = 2 to 8 and three budgets: d - 1 + h(p), "
        f"{per_value.min():.4g} bit for each further value ({bits[0, 6]:.5g} bits at d = 8, epsilon = 0.1); no code is "
        "shorter on average, and writing it takes as long"
    )


@claim(
    "Local model, pure or approximate",
    means.approximate_bit_variance,
    means.warner_variance,
    kind="proof",
    otherwise="open",
    assumption="for bits it holds when delta is far below epsilon^2/4, and fails otherwise; for every domain and "
    "protocol only a proof decides",
)
def pure_or_approximate(e: Evidence) -> str:
    """The local model is about (epsilon, 0)-LDP: allowing a small delta does not help much (posed as a question)"""
    e.needs(False)  # over every domain and protocol, which no computation of means of bits decides
    ratios = []
    for epsilon, delta in ((1.0, 1e-6), (1.0, 1e-2), (0.01, 1e-3), (3.0, 0.1)):
        law = routes.most_informative(epsilon, delta)
        exact, pure = means.approximate_bit_variance(epsilon, delta, 1), means.warner_variance(epsilon, 1)
        e.same(np.maximum(law - np.exp(epsilon) * law[:, ::-1], 0).sum(axis=0), (delta, delta))
        e.same(routes.best_unbiased_variances(law), (exact, exact))
        e.same(pure, np.exp(epsilon) / np.expm1(epsilon) ** 2)
        ratios.append(exact / pure)
    return (
        "decided for means of bits: the best (epsilon, delta) variance is (1 - delta)/(1 + delta/sinh^2(epsilon/2)) "
        f"times the pure one: 1 - {1 - ratios[0]:.3g} at (1, 1e-6), {ratios[1]:.4g} at (1, 0.01), {ratios[2]:.3g} at "
        "(0.01, 0.001)"
    )
