"""Lecture20 on counts: the curator's histogram, the vector of signs, what it costs to send, and the question of
(epsilon, delta).
"""

from itertools import product

import numpy as np

from ldpnb.accuracy import histograms, means
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.estimators import frequency as estimators
from ldpnb.mechanisms import means as mechanisms
from ldpnb.mechanisms import signs
from ldpnb.papers.lecture20.routes import BUDGETS, Array, failure, half_line, moments, printed_signs, published
from ldpnb.privacy import channel as privacy

PARAMETERS = (0.1, 0.25, 0.5, 0.9)
SIGNS = "mechanisms.signs.SignRandomiser"


@claim(
    "lecture20",
    "Frequency, central Laplace",
    says="A curator adds Lap(2/epsilon) to each count of a histogram",
    rests_on=(
        "mechanisms.means.histogram_sensitivity",
        "mechanisms.means.CentralLaplace.scale",
        "mechanisms.means.CentralLaplace.log_density",
        "accuracy.histograms.central_laplace_count_variance",
        "accuracy.histograms.central_laplace_largest_error",
    ),
)
def central_histogram() -> Verdict:
    """Compare the histograms of all neighbouring data sets of three users and three values, and integrate the noise."""
    people = np.array(list(product(range(3), repeat=3)))
    histograms_of = np.stack([(people == value).sum(axis=1) for value in range(3)], axis=1)
    neighbours = (people[:, None] != people).sum(axis=2) == 1
    moves = np.abs(histograms_of[:, None] - histograms_of).sum(axis=2)[neighbours]
    needed, printed = mechanisms.histogram_sensitivity("replacement"), published()["sensitivity"]
    sound, losses = agree(moves.max(), needed), []
    for epsilon in BUDGETS:
        mechanism = mechanisms.CentralLaplace(epsilon, printed)
        released = np.array(list(product((-9.0, 0.5, 9.0), repeat=3)))[:, None]
        densities = mechanism.log_density(released, histograms_of)
        losses.append(np.abs(densities[:, :, None] - densities[:, None])[:, neighbours].max())
        error = histograms.central_laplace_largest_error(epsilon, 1000, failure())
        beyond = _laplace_moment(mechanism, 0, error)
        sound &= agree(np.exp(1000 * np.log1p(-beyond)), 1 - failure())
        sound &= agree(mechanism.scale, printed / epsilon) and agree(_laplace_moment(mechanism, 0, 0.0), 1)
        sound &= agree(_laplace_moment(mechanism, 2, 0.0), histograms.central_laplace_count_variance(epsilon))
    union = printed * np.log(1000 / failure())
    worst = histograms.central_laplace_largest_error(1.0, 1000, failure())
    return Verdict(
        judge(agree(losses, BUDGETS) and agree(printed, needed), sound=sound),
        f"over all pairs of 27 data sets that differ in one user a histogram moves by at most {moves.max()} in sum, and the log-density by epsilon; "
        f"the worst of 1000 counts at epsilon = 1 is off by {worst:.5g} at most with probability 99% (union bound {union:.5g})",
        "enumeration",
        assumption="neighbours replace one user's value; with deletion the sensitivity is 1",
    )


def _laplace_moment(mechanism: mechanisms.CentralLaplace, power: int, start: float) -> float:
    scale = mechanism.sensitivity / mechanism.epsilon
    return 2 * half_line(lambda y: y**power * np.exp(mechanism.log_density(y[:, None], [0.0])), scale, start=start)


@claim(
    "lecture20",
    "Frequency, sign randomiser",
    says="Signs that are fair except the own one, which is +1 with probability 1/2 + epsilon/2, are epsilon-LDP (implied by the name epsilon)",
    rests_on=(
        f"{SIGNS}.channel",
        f"{SIGNS}.p",
        f"{SIGNS}.q",
        "mechanisms.signs.exact_epsilon",
        "mechanisms.signs.calibrated_bias",
        "privacy.channel.privacy_loss",
    ),
)
def sign_randomiser_loss() -> Verdict:
    """Enumerate the log-ratio of all 16 sign vectors and all pairs of four values."""
    sound, losses = True, []
    for parameter in PARAMETERS:
        vectors, law = printed_signs(parameter, 4)
        mechanism = signs.SignRandomiser.as_printed(parameter, 4)
        order = [int(np.flatnonzero((mechanism.outputs() == v).all(axis=1))[0]) for v in vectors]
        sound &= agree(mechanism.channel()[order], law) and agree(
            [mechanism.p, mechanism.q], [0.5 + parameter / 2, 0.5]
        )
        losses.append(float(np.log(law[:, :, None] / law[:, None]).max()))
        sound &= agree(losses[-1], signs.exact_epsilon(parameter))
        sound &= agree(losses[-1], privacy.privacy_loss(mechanism.channel()).epsilon)
    for epsilon in BUDGETS:
        law = printed_signs(signs.calibrated_bias(epsilon), 4)[1]
        sound &= agree([np.log(law.max() / law.min()), np.log(law[-1, 0] / law[0, 0])], [epsilon, epsilon])
    return Verdict(
        judge(agree(losses, PARAMETERS), sound=sound),
        f"all 16 outputs and pairs of 4 values: {', '.join(f'{c:g} -> {x:.5f}' for c, x in zip(PARAMETERS, losses, strict=True))}; "
        "two signs differ in law between two values; no privacy at epsilon = 1, and no probability beyond",
        "enumeration",
        corrected="the exact loss is ln((1 + epsilon)/(1 - epsilon)), at least twice epsilon; with bias tanh(epsilon/2) in place of epsilon the "
        "signs are exactly epsilon-LDP",
    )


@claim(
    "lecture20",
    "Frequency, estimator",
    says="The sum of the signs divided by their bias estimates every count without bias",
    rests_on=(
        f"{SIGNS}.channel",
        "estimators.frequency.unbiased",
        "accuracy.histograms.sign_variance",
        "accuracy.histograms.pure_variance",
    ),
)
def sign_estimator() -> Verdict:
    """Enumerate all reports of three users over three values, as the lecture prints their law."""
    sound, unbiased, held = True, True, np.array([0, 0, 2])
    counts = np.bincount(held, minlength=3)
    for parameter in PARAMETERS:
        vectors, law = printed_signs(parameter, 3)
        mechanism = signs.SignRandomiser.as_printed(parameter, 3)
        outcomes = np.array(list(product(range(8), repeat=3)))
        chances = law[outcomes, held].prod(axis=1)
        printed = vectors[outcomes].sum(axis=1) / parameter
        tallies = (vectors[outcomes] == 1).sum(axis=1)
        means_and_variances = np.array([moments(column, chances) for column in printed.T])
        unbiased &= agree(means_and_variances[:, 0], counts)
        formula = histograms.sign_variance(counts, clients=3, bias=parameter)
        sound &= agree(3 * estimators.unbiased(tallies, 3, mechanism), printed)
        sound &= agree(means_and_variances[:, 1], formula)
        sound &= agree(formula, histograms.pure_variance(counts, clients=3, mechanism=mechanism))
        sound &= agree(
            (mechanism.channel()[:, :, None] * (mechanism.outputs()[:, None] == 1)).sum(axis=0), _plus_rates(parameter)
        )
    example = histograms.sign_variance(5000, clients=20_000, bias=0.5)
    return Verdict(
        judge(unbiased, sound=sound),
        f"all 8^3 reports at four parameters: mean exact, variance n/bias^2 - f; for n = 20,000, f = 5,000, bias 0.5 the variance is {example:g}",
        "enumeration",
    )


def _plus_rates(parameter: float) -> Array:
    """Return the chance of +1 at each place (column) given each value held (row)."""
    return 0.5 + parameter / 2 * np.eye(3)


@claim(
    "lecture20",
    "Frequency, communication",
    says="The sign vector costs Omega(d) bits of communication, and Omega(d) time for the user and the server",
    rests_on=(
        "accuracy.histograms.unary_report_bits",
        f"{SIGNS}.channel",
        f"{SIGNS}.p",
        f"{SIGNS}.q",
    ),
)
def sign_communication() -> Verdict:
    """Take the entropy of the report from the enumerated law, and enumerate the law of one bit times public signs."""
    sizes, sound, bits, public_is_the_same = range(2, 9), True, [], True
    for epsilon in (0.1, 1.0, 3.0):
        for size in sizes:
            mechanism = signs.SignRandomiser(epsilon, size)
            law = printed_signs(np.expm1(epsilon) / (np.exp(epsilon) + 1), size)[1]
            sound &= agree(np.sort(mechanism.channel(), axis=0), np.sort(law, axis=0))
            entropy = float(-(law[:, 0] * np.log2(law[:, 0])).sum())
            bits.append(histograms.unary_report_bits(mechanism.p, mechanism.q, size))
            sound &= agree(entropy, bits[-1])
        public_is_the_same &= agree(_law_with_public_signs(epsilon, 3), printed_signs(np.tanh(epsilon / 2), 3)[1])
    per_value = np.diff(np.reshape(bits, (3, -1)), axis=1)
    return Verdict(
        judge(bool((per_value > 0.5).all()), sound=sound and public_is_the_same),
        f"entropy of a report given the value, d = 2 to 8 and three budgets: d - 1 + h(p), {per_value.min():.4g} bit for each further value "
        f"({bits[6]:.5g} bits at d = 8, epsilon = 0.1); no code is shorter on average, and writing it takes as long",
        "enumeration",
        assumption="no shared randomness: with public fair signs the user's one bit, own sign kept with probability p, has the same law",
    )


def _law_with_public_signs(epsilon: float, domain_size: int) -> Array:
    """Return the law of bit times public signs, the bit being the public sign at the own value, kept with Warner's
    probability.
    """
    vectors = printed_signs(0.0, domain_size)[0]
    kept = np.exp(epsilon) / (np.exp(epsilon) + 1)
    law = np.zeros((2**domain_size, domain_size))
    for value in range(domain_size):
        for public, (sign, chance) in product(vectors, ((1, kept), (-1, 1 - kept))):
            report = sign * public[value] * public
            law[np.flatnonzero((vectors == report).all(axis=1)), value] += chance / 2**domain_size
    return law


@claim(
    "lecture20",
    "Local model, pure or approximate",
    says="The local model is about (epsilon, 0)-LDP: allowing a small delta does not help much (posed as a question)",
    rests_on=("accuracy.means.approximate_bit_variance", "accuracy.means.warner_variance"),
)
def pure_or_approximate() -> Verdict:
    """Decide it for means of bits: the most informative (epsilon, delta) channel, and its best unbiased weights by
    linear algebra.
    """
    ratios = []
    for epsilon, delta in ((1.0, 1e-6), (1.0, 1e-2), (0.01, 1e-3), (3.0, 0.1)):
        channel = _most_informative(epsilon, delta)
        excess = np.maximum(channel - np.exp(epsilon) * channel[:, ::-1], 0).sum(axis=0)
        exact, pure = means.approximate_bit_variance(epsilon, delta, 1), means.warner_variance(epsilon, 1)
        routes = (
            agree(excess, (delta, delta))
            and agree(_best_unbiased_variances(channel), (exact, exact))
            and agree(pure, np.exp(epsilon) / np.expm1(epsilon) ** 2)
        )
        if not routes:
            raise ArithmeticError(f"two routes to the variance disagree at epsilon={epsilon}, delta={delta}")
        ratios.append(exact / pure)
    return Verdict(
        "open",
        f"decided for means of bits: the best (epsilon, delta) variance is (1 - delta)/(1 + delta/sinh^2(epsilon/2)) times the pure one: "
        f"1 - {1 - ratios[0]:.3g} at (1, 1e-6), {ratios[1]:.4g} at (1, 0.01), {ratios[2]:.3g} at (0.01, 0.001)",
        "proof",
        assumption="for bits it holds when delta is far below epsilon^2/4, and fails otherwise; for every domain and protocol only a proof decides",
    )


def _most_informative(epsilon: float, delta: float) -> Array:
    """Return the channel that shows the bit with probability delta and answers as Warner's otherwise: zero, "zero",
    "one", one.
    """
    kept = 1 / (1 + np.exp(-epsilon))
    zero = np.array([delta, (1 - delta) * kept, (1 - delta) * (1 - kept), 0.0])
    return np.stack([zero, zero[::-1]], axis=1)


def _best_unbiased_variances(channel: Array) -> tuple[float, float]:
    """Return the variance, given each bit, of the unbiased estimate of the bit with the least total variance."""
    shown = channel / channel.sum(axis=1, keepdims=True)
    weights = shown @ np.linalg.solve(channel.T @ shown, [0.0, 1.0])
    zero, one = weights**2 @ channel - np.array([0.0, 1.0])
    return float(zero), float(one)
