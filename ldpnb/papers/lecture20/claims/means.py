"""Lecture20 on means: randomised response, Laplace noise by a curator and by users, one bit, and how many users each
needs.
"""

from itertools import product
from math import comb

import numpy as np

from ldpnb.accuracy import mean_tails, means
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.mechanisms import means as mechanisms
from ldpnb.papers.lecture20.routes import (
    BUDGETS,
    all_bits,
    failure,
    half_line,
    inverted_tail,
    moments,
    normal_tail,
    printed_means,
    printed_rates,
    published,
    same_order,
)
from ldpnb.privacy import channel as privacy

ONE_BIT = tuple(f"mechanisms.means.OneBit.{name}" for name in ("channel", "estimate", "p", "q"))
CENTRAL = tuple(f"mechanisms.means.CentralLaplace.{name}" for name in ("scale", "log_density", "estimate"))
LOCAL = tuple(f"mechanisms.means.LocalLaplace.{name}" for name in ("scale", "log_density", "estimate"))


@claim(
    "lecture20",
    "Randomised response",
    says="Randomised response estimates the mean of bits without bias, with error O(1/(epsilon sqrt n)) with probability 99% for epsilon <= 1",
    rests_on=(
        *ONE_BIT,
        "accuracy.means.warner_variance",
        "accuracy.mean_tails.normal_error",
        "accuracy.mean_tails.one_bit_hoeffding_error",
    ),
)
def randomised_response() -> Verdict:
    """Enumerate the reports of six users; then follow the error's constant over budgets and numbers of users."""
    bits, sound = np.array([1, 1, 1, 1, 0, 0]), True
    for epsilon in (1e-2, *BUDGETS, 8.0):
        growth, mechanism = np.exp(epsilon), mechanisms.OneBit(epsilon)
        outcomes, chances = all_bits(np.where(bits == 1, growth, 1) / (1 + growth))
        printed = ((growth + 1) / (growth - 1) * outcomes - 1 / (growth - 1)).mean(axis=1)
        sound &= agree(mechanism.channel([0, 1]), np.array([[growth, 1], [1, growth]]) / (1 + growth))
        sound &= agree([mechanism.p, mechanism.q], mechanism.channel()[1, ::-1])
        sound &= agree(mechanism.estimate(outcomes.sum(axis=1), bits.size), printed)
        sound &= agree(moments(printed, chances), (bits.mean(), means.warner_variance(epsilon, bits.size)))
    limit, likely, certain = published()["largest_epsilon"], [], []
    for epsilon, users in product((1e-6, 1e-3, 0.1, limit), (100, 10**8)):
        order, variance = 1 / (epsilon * np.sqrt(users)), means.warner_variance(epsilon, users)
        likely.append(mean_tails.normal_error(variance, failure()) / order)
        certain.append(mean_tails.one_bit_hoeffding_error(epsilon, 1.0, users, failure()) / order)
        sound &= agree(normal_tail(likely[-1] * order, variance), failure())
        sound &= agree(2 * np.exp(-2 * users * (certain[-1] * order * np.tanh(epsilon / 2)) ** 2), failure())
    return Verdict(
        judge(same_order(likely) and same_order(certain), sound=sound),
        f"all 2^6 reports: mean and variance 1/(4 n sinh^2(epsilon/2)) exact at six budgets; 99% error times epsilon sqrt(n) is {likely[-1]:.4g} "
        f"at epsilon = {limit:g} and at most {max(likely):.4g} for any budget; guaranteed by Hoeffding's bound: "
        f"{certain[-1]:.4g} at {limit:g}, growing with epsilon",
        "enumeration",
    )


@claim(
    "lecture20",
    "Mean, central Laplace",
    says="A curator's mean of bits with noise Lap(1/(epsilon n)) is off by O(1/(epsilon n)) with probability 99%",
    rests_on=(*CENTRAL, "accuracy.mean_tails.central_laplace_error"),
)
def central_laplace_mean() -> Verdict:
    """Compare the density at neighbouring sums of five users' bits, and integrate it beyond the error."""
    sound, constants = True, []
    for epsilon, users in product(BUDGETS, (5, 10**6)):
        error = mean_tails.central_laplace_error(epsilon, 1.0, users, failure())
        sound &= _curator_is_private_and_laplace(mechanisms.CentralLaplace(epsilon), epsilon)
        sound &= agree(_curator_tail(mechanisms.CentralLaplace(epsilon), error * users), failure())
        constants.append(error * epsilon * users)
    return Verdict(
        judge(same_order(constants), sound=sound),
        f"99% error = ln(100)/(epsilon n) = {constants[0]:.4g}/(epsilon n) at four budgets and two sizes, by integrating the density; "
        "its largest log-ratio between neighbouring sums is epsilon",
        "identity",
        assumption="neighbours replace one user's value, and the number of users is public",
    )


def _curator_is_private_and_laplace(mechanism: mechanisms.CentralLaplace, epsilon: float) -> bool:
    released, bits = np.linspace(-9, 9, 37)[:, None], np.array([1, 0, 0, 1, 1])
    densities = np.array([mechanism.log_density(released, [total]) for total in range(bits.size + 1)])
    loss = np.abs(np.diff(densities, axis=0)).max(axis=1)
    return (
        agree(loss, np.full(bits.size, epsilon))
        and agree(mechanism.scale, 1 / epsilon)
        and agree(_curator_tail(mechanism, 0.0), 1)
        and agree(mechanism.estimate(bits.sum(), bits.size), bits.mean())
    )


def _curator_tail(mechanism: mechanisms.CentralLaplace, error: float) -> float:
    scale = mechanism.upper / mechanism.epsilon
    return 2 * half_line(lambda y: np.exp(mechanism.log_density(y[:, None], [0.0])), scale, start=error)


@claim(
    "lecture20",
    "Mean, local Laplace",
    says="Users can also add Lap(1/epsilon) to their own bit: epsilon-LDP and unbiased",
    rests_on=(*LOCAL, "accuracy.means.local_laplace_variance", "accuracy.means.warner_variance"),
)
def local_laplace_mean() -> Verdict:
    """Take loss, mass and second moment from the density, and compare the variance with randomised response."""
    sound, losses, ratios, users = True, [], [], 1000
    budgets = (1e-3, *BUDGETS, 4.0)
    for epsilon in budgets:
        mechanism, reports = mechanisms.LocalLaplace(epsilon), np.linspace(-5, 6, 111)
        noise, warner = means.local_laplace_variance(epsilon, 1.0, users), means.warner_variance(epsilon, users)
        sound &= agree(_user_moment(mechanism, 0), 1) and agree(_user_moment(mechanism, 2) / users, noise)
        sound &= agree(mechanism.scale, 1 / epsilon) and agree(mechanism.estimate(reports.sum(), 111), reports.mean())
        sound &= agree(np.exp(epsilon) / np.expm1(epsilon) ** 2 / users, warner)
        losses.append(np.abs(mechanism.log_density(reports, 0.0) - mechanism.log_density(reports, 1.0)).max())
        ratios.append(noise / warner)
    return Verdict(
        judge(agree(losses, budgets), sound=sound),
        f"largest log-ratio of the density = epsilon at six budgets; variance 2/(n epsilon^2), {ratios[0]:.3g} times that of randomised response "
        f"as epsilon -> 0, {ratios[3]:.3g} at {budgets[3]:g} and {ratios[5]:.3g} at {budgets[5]:g}",
        "identity",
    )


def _user_moment(mechanism: mechanisms.LocalLaplace, power: int) -> float:
    scale = mechanism.upper / mechanism.epsilon
    return 2 * half_line(lambda y: y**power * np.exp(mechanism.log_density(y, 0.0)), scale)


@claim(
    "lecture20",
    "Mean, error of local Laplace",
    says="The error of the local Laplace mean is |sum of n Lap(m/epsilon)|, about O(m/(sqrt(n) epsilon))",
    rests_on=(
        "accuracy.means.local_laplace_variance",
        "accuracy.mean_tails.normal_quantile",
        "accuracy.mean_tails.laplace_sum_tail",
        "accuracy.mean_tails.local_laplace_success",
    ),
)
def local_laplace_error() -> Verdict:
    """Compare the printed expression, and the one with the missing 1/n, to the stated order by the exact law of the
    sum.
    """
    z = mean_tails.normal_quantile(failure())
    sound, constant, printed, mended = agree(normal_tail(z, 1.0), failure()), np.sqrt(2) * z, [], []
    for epsilon, upper, users in product((0.5, 1.0), (1.0, 8.0), (100, 10_000)):
        order = upper / (np.sqrt(users) * epsilon)
        mended.append(mean_tails.local_laplace_success(epsilon, upper, users, constant * order))
        printed.append(1 - mean_tails.laplace_sum_tail(users, constant / np.sqrt(users)))
        sound &= agree(mended[-1], 1 - inverted_tail(users, constant * np.sqrt(users)))
        sound &= agree(printed[-1], 1 - inverted_tail(users, constant / np.sqrt(users)))
        mean_of_noises = np.sqrt(2 * users) * upper / epsilon / users
        sound &= agree(np.sqrt(means.local_laplace_variance(epsilon, upper, users)), mean_of_noises)
    return Verdict(
        judge(bool(min(printed) >= 1 - 2 * failure()), sound=sound, otherwise="corrected"),
        f"within {constant:.4g} m/(sqrt(n) epsilon) lies the printed sum with probability {printed[0]:.3g} (n = 100) and {printed[1]:.3g} "
        f"(n = 10,000), the mean of the noises with {mended[0]:.4f} and {mended[1]:.4f}",
        "certified",
        corrected="|mu-hat - mu| = (1/n) |sum of n Lap(m/epsilon)|, of standard deviation sqrt(2/n) m/epsilon; "
        f"the 99% constant is z sqrt(2) = {constant:.4g}",
    )


@claim(
    "lecture20",
    "Sample complexity, central",
    says="A curator needs n >= m/(delta epsilon) users for an error of at most delta",
    rests_on=("accuracy.mean_tails.central_laplace_clients", "accuracy.mean_tails.central_laplace_error"),
)
def central_sample_complexity() -> Verdict:
    """Find the success probability at equality and the constant for 99% by integrating the density of the noise."""
    sound, constants, at_equality = True, [], []
    for epsilon, upper, error in product((0.1, 1.0), (1.0, 8.0), (0.5, 1e-3)):
        order, scale = upper / (error * epsilon), upper / epsilon
        needed = mean_tails.central_laplace_clients(epsilon, upper, error, failure())
        sound &= agree(_laplace_tail(needed * error, scale), failure())
        users = int(np.ceil(needed))
        met = mean_tails.central_laplace_error(epsilon, upper, users, failure())
        sound &= agree(_laplace_tail(users * met, scale), failure())
        constants.append(needed / order)
        at_equality.append(1 - _laplace_tail(order * error, scale))
    return Verdict(
        judge(same_order(constants), sound=sound),
        f"the order is right; at equality the error is met with probability {at_equality[0]:.4g} only, and 99% takes {constants[0]:.4g} "
        "m/(delta epsilon) users, at eight settings",
        "identity",
        assumption="read up to a constant: ln(1/failure), 4.6 at 99%",
    )


def _laplace_tail(error: float, scale: float) -> float:
    return 2 * half_line(lambda y: np.exp(-y / scale) / (2 * scale), scale, start=error)


@claim(
    "lecture20",
    "Sample complexity, local",
    says="Users who add Laplace noise themselves must be n >= m^2/(epsilon^2 delta^2) for an error of at most delta",
    rests_on=(
        "accuracy.mean_tails.local_laplace_clients",
        "accuracy.mean_tails.local_laplace_clients_exact",
        "accuracy.mean_tails.local_laplace_success",
    ),
)
def local_sample_complexity() -> Verdict:
    """Find the success probability at equality and the constant for 99% from the exact law of the sum of the noises."""
    sound, constants, exact, at_equality = True, [], [], []
    for epsilon, upper, error in ((1.0, 1.0, 0.1), (0.5, 8.0, 2.0), (1.0, 8.0, 0.2)):
        order = (upper / (epsilon * error)) ** 2
        constants.append(mean_tails.local_laplace_clients(epsilon, upper, error, failure()) / order)
        sound &= agree(normal_tail(error, 2 * (upper / epsilon) ** 2 / (constants[-1] * order)), failure())
        users = mean_tails.local_laplace_clients_exact(epsilon, upper, error, failure())
        tails = [inverted_tail(n, n * error * epsilon / upper) for n in (users, users - 1)]
        sound &= users == int(users) and tails[0] <= failure() < tails[1]
        exact.append(users / order)
        at_equality.append(mean_tails.local_laplace_success(epsilon, upper, round(order), error))
        sound &= agree(at_equality[-1], 1 - inverted_tail(round(order), round(order) * error * epsilon / upper))
    return Verdict(
        judge(same_order(constants) and same_order(exact), sound=sound),
        f"the order is right; at equality (n = 100) the error is met with probability {at_equality[0]:.4g} only, and 99% takes "
        f"{exact[0]:.4g} m^2/(delta^2 epsilon^2) users ({constants[0]:.4g} in the normal limit)",
        "certified",
        assumption="read up to a constant: 2 z^2, 13.3 at 99%; this delta is the error, not that of (epsilon, delta)-LDP",
    )


@claim(
    "lecture20",
    "1-bit mean",
    says="One bit with probability 1/(e^epsilon + 1) + (x/m) (e^epsilon - 1)/(e^epsilon + 1) is epsilon-LDP, and its estimate unbiased",
    rests_on=(*ONE_BIT, "mechanisms.means.OneBit.one_rate", "privacy.channel.privacy_loss"),
)
def one_bit_mean() -> Verdict:
    """Enumerate the reports of six users with five different values, and the loss of every pair of values on a grid."""
    values, upper, sound, losses, biases = np.array([0, 0.5, 2, 2, 3.5, 5]), 5.0, True, [], []
    grid = np.linspace(0, upper, 41)
    for epsilon in BUDGETS:
        mechanism, rates = mechanisms.OneBit(epsilon, upper), printed_rates(grid, epsilon, upper)
        outcomes, chances = all_bits(printed_rates(values, epsilon, upper))
        estimates = mechanism.estimate(outcomes.sum(axis=1), values.size)
        biases.append(moments(estimates, chances)[0] - values.mean())
        sound &= agree(estimates, printed_means(outcomes, epsilon, upper))
        sound &= agree(mechanism.one_rate(grid), rates) and agree([mechanism.q, mechanism.p], rates[[0, -1]])
        sound &= agree(mechanism.channel(grid), np.stack([1 - rates, rates]))
        losses.append(privacy.privacy_loss(mechanism.channel(grid)).epsilon)
        sound &= agree(
            losses[-1], np.log(np.stack([rates.max() / rates.min(), (1 - rates.min()) / (1 - rates.max())])).max()
        )
    return Verdict(
        judge(agree(biases, np.zeros(4)) and agree(losses, BUDGETS), sound=sound),
        f"all 2^6 reports: bias 0 at mean {values.mean():.4g} of [0, {upper:g}]; largest log-ratio over 41^2 pairs of values "
        f"{', '.join(f'{loss:.6g}' for loss in losses)} at epsilon = {', '.join(f'{e:g}' for e in BUDGETS)}, between 0 and m",
        "enumeration",
    )


@claim(
    "lecture20",
    "1-bit mean, error",
    says="The 1-bit mean is off by O(m/(epsilon sqrt n)) with probability 99%, so n >= m^2/(alpha^2 epsilon^2) users give accuracy alpha",
    rests_on=(
        "accuracy.means.one_bit_variance",
        "accuracy.means.one_bit_worst_variance",
        "accuracy.means.one_bit_floor",
        "accuracy.means.one_bit_crossing",
        "accuracy.means.local_laplace_variance",
        "accuracy.mean_tails.one_bit_clients",
        "accuracy.mean_tails.one_bit_worst_success",
    ),
)
def one_bit_error() -> Verdict:
    """Enumerate variances, find the floor at a large budget, and the constant and the success at equality over the
    budgets.
    """
    upper, sound = 5.0, all(_one_bit_variances_agree(epsilon, 5.0) for epsilon in BUDGETS)
    floor, crossing = means.one_bit_floor(upper, 400), means.one_bit_crossing()
    sound &= agree([floor, means.one_bit_worst_variance(50.0, upper, 400)], [upper / 40, floor**2])
    noise = means.local_laplace_variance(crossing, upper, 400)
    sound &= agree(noise, means.one_bit_worst_variance(crossing, upper, 400))
    sound &= agree(noise * 200, (upper / crossing) ** 2)
    constants, at_equality = [], []
    for epsilon in (*BUDGETS, 30.0):
        order = (1 / epsilon) ** 2 / 1e-4
        needed = mean_tails.one_bit_clients(epsilon, 1.0, 0.01, failure())
        sound &= agree(normal_tail(0.01, 1 / (4 * np.tanh(epsilon / 2) ** 2 * needed)), failure())
        constants.append(needed / order)
        at_equality.append(1 - normal_tail(0.01, means.one_bit_worst_variance(epsilon, 1.0, round(order))))
    for users, reach in ((40, 5), (41, 7)):
        success = mean_tails.one_bit_worst_success(1.0, 1.0, users, (reach + 0.2) / users / np.tanh(0.5))
        sound &= agree(
            success,
            sum(comb(users, ones) for ones in range(users + 1) if abs(2 * ones - users) <= 2 * reach) / 2**users,
        )
    return Verdict(
        judge(same_order(constants[:3]), sound=sound),
        f"99% takes c m^2/(alpha^2 epsilon^2) users, c = {', '.join(f'{c:.4g}' for c in constants)} at epsilon = 0.1, 0.5, 1, 3, 30 (success at "
        f"equality {at_equality[0]:.3g}, {at_equality[2]:.3g}, {at_equality[3]:.3g} at 0.1, 1, 3); better "
        f"than local Laplace noise whatever the data iff epsilon < {crossing:.4f}",
        "enumeration",
        assumption="epsilon = O(1): as epsilon grows the standard deviation of m/2-valued data stays at m/(2 sqrt n), z^2 m^2/(4 alpha^2) users",
    )


def _one_bit_variances_agree(epsilon: float, upper: float) -> bool:
    """Whether the variance is right at mixed values, and its worst case the largest over all pairs of values on a grid."""
    values, counts, slope = np.array([0, 0.5, 2.0, 5.0]), np.array([1, 2, 1, 1]), np.tanh(epsilon / 2)
    outcomes, chances = all_bits(printed_rates(np.repeat(values, counts), epsilon, upper))
    mixed = moments(printed_means(outcomes, epsilon, upper), chances)[1]
    grid = printed_rates(np.linspace(0, upper, 41), epsilon, upper)
    spread = grid * (1 - grid)
    worst = (upper / 2 / slope) ** 2 * (spread[:, None] + spread).max()
    return agree(means.one_bit_variance(values, counts, epsilon=epsilon, upper=upper), mixed) and agree(
        means.one_bit_worst_variance(epsilon, upper, 2), worst
    )
