"""Lecture20 on counts: a curator's histogram, the vector of signs, and what it costs to send and to add up."""

from functools import partial
from itertools import product

import numpy as np

from ldpnb import claims
from ldpnb.accuracy import histograms
from ldpnb.claims import Evidence
from ldpnb.estimators import frequency
from ldpnb.mechanisms import means as mechanisms
from ldpnb.mechanisms import signs
from ldpnb.mechanisms.means import CentralLaplace
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import proofs, routes
from ldpnb.papers.lecture20.routes import failure, printed_signs
from ldpnb.privacy import channel

claim = partial(claims.claim, kind="proof", reach="all parameters")


@claim(
    "Frequency, central Laplace",
    mechanisms.histogram_sensitivity,
    CentralLaplace.scale,
    CentralLaplace.log_density,
    histograms.central_laplace_count_variance,
    histograms.central_laplace_largest_error,
    CentralLaplace.upper,
    over="every epsilon > 0, d, n and data",
    assumption="neighbours replace one user's value; with deletion the sensitivity is 1",
    argument="a replaced value moves two counts by one each; the d noises are independent, so log-densities add",
)
def central_histogram(e: Evidence) -> str:
    """A curator adds Lap(2/epsilon) to each count of a histogram"""
    people = np.array(list(product(range(3), repeat=3)))
    counts = np.stack([(people == value).sum(axis=1) for value in range(3)], axis=1)
    neighbours = (people[:, None] != people).sum(axis=2) == 1
    moves = np.abs(counts[:, None] - counts).sum(axis=2)[neighbours]
    needed, printed = mechanisms.histogram_sensitivity("replacement"), routes.published()["sensitivity"]
    e.same(moves.max(), needed)
    released, mechanism = np.array(list(product((-9.0, 0.5, 9.0), repeat=3)))[:, None], CentralLaplace(0.5, printed)
    densities = mechanism.log_density(released, counts)
    e.same(np.abs(densities[:, :, None] - densities[:, None])[:, neighbours].max(), mechanism.epsilon)
    worst = histograms.central_laplace_largest_error(1.0, 1000, failure())
    tail = routes.noise_moment(CentralLaplace(1.0, printed), 0, start=worst)
    e.same(np.exp(1000 * np.log1p(-tail)), 1 - failure())
    noise = CentralLaplace(proofs.e, proofs.m)
    e.decides(proofs.noise_is_private(noise))
    e.proven(proofs.noise_tail(noise) and proofs.counts_of_noise())
    e.needs(claims.agree(printed, needed))
    return (
        f"over all pairs of 27 data sets that differ in one user a histogram moves by at most {moves.max()} in sum, "
        f"and so the log-density by at most epsilon; the worst of 1000 counts at epsilon = 1 is off by {worst:.5g} at "
        f"most with probability 99% (union bound {printed * np.log(1000 / failure()):.5g})"
    )


@claim(
    "Frequency, sign randomiser",
    SignRandomiser.channel,
    SignRandomiser.p,
    SignRandomiser.q,
    signs.exact_epsilon,
    signs.calibrated_bias,
    channel.privacy_loss,
    SignRandomiser.as_printed,
    SignRandomiser.miss_rate,
    otherwise="corrected",
    over="0 < epsilon < 1 and every d >= 2; the loss is not epsilon for any of them",
    assumption="the lecture writes epsilon for the bias and never says epsilon-LDP; that the loss is O(epsilon) is "
    "true for epsilon below any bound less than 1",
    argument="signs other than those of the two values have the same law and cancel",
)
def sign_randomiser_loss(e: Evidence) -> str:
    """Signs that are fair except at the user's own value, where +1 has probability 1/2 + epsilon/2, are epsilon-LDP
    (implied by the name epsilon)
    """
    parameters = (0.1, 0.25, 0.5, 0.9)
    losses = []
    for parameter in parameters:
        vectors, law = printed_signs(parameter, 4)
        mechanism = SignRandomiser.as_printed(parameter, 4)
        order = [int(np.flatnonzero((mechanism.outputs() == v).all(axis=1))[0]) for v in vectors]
        e.same(mechanism.channel()[order], law)
        e.same([mechanism.p, mechanism.q], [0.5 + parameter / 2, 0.5])
        losses.append(float(np.log(law[:, :, None] / law[:, None]).max()))
        e.same([signs.exact_epsilon(parameter), channel.privacy_loss(law).epsilon], [losses[-1]] * 2)
    law = printed_signs(signs.calibrated_bias(1.0), 4)[1]
    e.same([np.log(law.max() / law.min()), np.log(law[-1, 0] / law[0, 0])], [1, 1])
    e.proven(proofs.sign_loss())
    e.decides(proofs.printed_loss())
    e.corrected = (
        "the exact loss is ln((1 + epsilon)/(1 - epsilon)), above 2 epsilon and at most "
        f"{claims.at_most(2 * losses[2])} epsilon up to epsilon = 0.5: O(epsilon)-LDP; with bias tanh(epsilon/2) in "
        "place of epsilon the signs are exactly epsilon-LDP"
    )
    pairs = ", ".join(f"{c:g} -> {x:.5f}" for c, x in zip(parameters, losses, strict=True))
    return (
        f"also over all 16 outputs and pairs of 4 values: {pairs}; two signs differ in law between two values; no "
        "privacy at epsilon = 1, and no probability beyond"
    )


@claim(
    "Frequency, estimator",
    SignRandomiser.channel,
    SignRandomiser.p,
    frequency.unbiased,
    histograms.sign_variance,
    histograms.pure_variance,
    SignRandomiser.as_printed,
    SignRandomiser.q,
    over="every bias in (0, 1), d >= 2, n and data",
    argument="expectations add, and variances of independent users",
)
def sign_estimator(e: Evidence) -> str:
    """The sum of the signs divided by their bias estimates every count without bias"""
    held, parameter = np.array([0, 0, 2]), 0.25
    counts, outcomes = np.bincount(held, minlength=3), np.array(list(product(range(8), repeat=3)))
    vectors, law = printed_signs(parameter, 3)
    mechanism = SignRandomiser.as_printed(parameter, 3)
    chances = law[outcomes, held].prod(axis=1)
    printed = vectors[outcomes].sum(axis=1) / parameter
    mean, variance = np.array([routes.moments(column, chances) for column in printed.T]).T
    e.same(mean, counts)
    e.same(3 * frequency.unbiased((vectors[outcomes] == 1).sum(axis=1), 3, mechanism), printed)
    e.same(variance, histograms.sign_variance(counts, users=3, bias=parameter))
    e.same(variance, histograms.pure_variance(counts, users=3, mechanism=mechanism))
    plus = (mechanism.channel()[:, :, None] * (mechanism.outputs()[:, None] == 1)).sum(axis=0)
    e.same(plus, 0.5 + parameter / 2 * np.eye(3))
    e.decides(proofs.sign_counts())
    example = histograms.sign_variance(5000, users=20_000, bias=0.5)
    return (
        f"mean exact and variance n/bias^2 - f, also over all 8^3 reports at bias {parameter:g}; for n = 20,000, f = "
        f"5,000, bias 0.5 the variance is {example:g}"
    )


@claim(
    "Frequency, communication",
    histograms.unary_report_bits,
    SignRandomiser.channel,
    SignRandomiser.p,
    SignRandomiser.q,
    over="every epsilon > 0 and d >= 2",
    assumption="no shared randomness: with public fair signs a single bit, the user's own sign kept with probability "
    "p, has the same law",
    argument="no code is shorter on average than the entropy (Shannon)",
)
def sign_communication(e: Evidence) -> str:
    """The sign vector costs Omega(d) bits of communication"""
    for epsilon, size in product((0.1, 3.0), (2, 3, 8)):
        mechanism, law = SignRandomiser(epsilon, size), printed_signs(np.tanh(epsilon / 2), size)[1]
        e.same(np.sort(mechanism.channel(), axis=0), np.sort(law, axis=0))
        e.same([mechanism.p, mechanism.q], [0.5 + np.tanh(epsilon / 2) / 2, 0.5])
        bits = histograms.unary_report_bits(mechanism.p, mechanism.q, size)
        e.same(bits, -(law[:, 0] * np.log2(law[:, 0])).sum())
        if size == 3:
            e.same(routes.public_signs(epsilon, size), law)
    e.decides(proofs.sign_bits())
    shown = SignRandomiser(0.1, 8)
    return (
        "the entropy of a report given the value is d - 1 + h(p), also summed over all vectors at six settings: one "
        f"bit for each further value ({histograms.unary_report_bits(shown.p, shown.q, 8):.5g} bits at d = 8, epsilon "
        "= 0.1)"
    )


@claim(
    "Frequency, time",
    frequency.unbiased,
    SignRandomiser.p,
    SignRandomiser.q,
    histograms.unary_report_bits,
    SignRandomiser.as_printed,
    over="every bias in (0, 1), d >= 2, n and data",
    assumption="steps read or write a bounded number of bits, no randomness is shared, and all d counts are wanted",
    argument="sending b bits on average takes at least of the order of b steps; a sign that is not read could be the "
    "opposite one",
)
def sign_time(e: Evidence) -> str:
    """The sign vector costs Omega(d) time for the user and for the server"""
    vectors, law = printed_signs(0.5, 3)
    mechanism = SignRandomiser.as_printed(0.5, 3)
    reports = vectors[np.array(list(product(range(8), repeat=2)))]
    flipped = [reports * np.where(np.arange(6).reshape(2, 3) == place, -1, 1) for place in range(6)]
    counts = [2 * frequency.unbiased((r == 1).sum(axis=1), 2, mechanism) for r in (reports, *flipped)]
    changed = np.abs(np.array(counts[1:]) - counts[0]).max(axis=1)
    e.same(changed, np.tile(np.eye(3) / 0.5 * 2, (2, 1)))
    e.same(law.sum(axis=0), np.ones(3))
    e.proven(proofs.sign_bits())
    e.decides(proofs.every_sign_counts())
    bits = histograms.unary_report_bits(mechanism.p, mechanism.q, 3)
    e.same(bits, -(law[:, 0] * np.log2(law[:, 0])).sum())
    return (
        "the user writes d - 1 + h(p) bits on average; the server reads d signs of each user, because each that flips "
        f"moves its count by 2/bias: by {changed.max():g} at bias 0.5, in all 64 pairs of reports of 3 signs"
    )
