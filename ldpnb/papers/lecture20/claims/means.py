"""Lecture20 on means: randomised response, Laplace noise by a curator and by users, one bit, and how many users."""

from itertools import product
from math import comb

import numpy as np

from ldpnb.accuracy import means
from ldpnb.claims import Evidence, claim
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.papers.lecture20 import routes
from ldpnb.papers.lecture20.routes import (
    BUDGETS,
    failure,
    inverted_tail,
    moments,
    normal_tail,
    printed_means,
    printed_rates,
    same_order,
)
from ldpnb.privacy import channel

ONE_BIT = (OneBit.channel, OneBit.estimate, OneBit.p, OneBit.q)
CENTRAL = (CentralLaplace.scale, CentralLaplace.log_density, CentralLaplace.estimate)
LOCAL = (LocalLaplace.scale, LocalLaplace.log_density, LocalLaplace.estimate)


@claim(
    "Randomised response",
    *ONE_BIT,
    means.warner_variance,
    means.normal_error,
    means.certain_error,
    kind="enumeration",
)
def randomised_response(e: Evidence) -> str:
    """Randomised response estimates the mean of bits without bias, with error O(1/(epsilon sqrt n)) with probability
    99% for epsilon <= 1
    """
    bits = np.array([1, 1, 1, 1, 0, 0])
    for epsilon in (1e-2, *BUDGETS, 8.0):
        mechanism, rates = OneBit(epsilon), printed_rates([0, 1], epsilon, 1.0)
        outcomes, chances = routes.all_bits(rates[bits])
        printed = printed_means(outcomes, epsilon, 1.0)
        e.same(mechanism.channel([0, 1]), [1 - rates, rates])
        e.same([mechanism.q, mechanism.p], rates)
        e.same(mechanism.estimate(outcomes.sum(axis=1), bits.size), printed)
        e.same(moments(printed, chances), (bits.mean(), means.warner_variance(epsilon, bits.size)))
    limit, likely, certain = routes.published()["largest_epsilon"], [], []
    for epsilon, users in product((1e-6, 1e-3, 0.1, limit), (100, 10**8)):
        order, variance = 1 / (epsilon * np.sqrt(users)), means.warner_variance(epsilon, users)
        likely.append(means.normal_error(variance, failure()) / order)
        certain.append(means.certain_error(OneBit(epsilon), users, failure()) / order)
        e.same(normal_tail(likely[-1] * order, variance), failure())
        e.same(2 * np.exp(-2 * users * (certain[-1] * order * np.tanh(epsilon / 2)) ** 2), failure())
    e.needs(same_order(likely) and same_order(certain))
    return (
        "all 2^6 reports: mean and variance 1/(4 n sinh^2(epsilon/2)) exact at six budgets; 99% error times epsilon "
        f"sqrt(n) is {likely[-1]:.4g} at epsilon = {limit:g} and at most {max(likely):.4g} for any budget; guaranteed "
        f"by Hoeffding's bound: {certain[-1]:.4g} at {limit:g}, growing with epsilon"
    )


@claim(
    "Mean, central Laplace",
    *CENTRAL,
    means.certain_error,
    kind="identity",
    assumption="neighbours replace one user's value, and the number of users is public",
)
def central_laplace_mean(e: Evidence) -> str:
    """A curator's mean of bits with noise Lap(1/(epsilon n)) is off by O(1/(epsilon n)) with probability 99%"""
    bits, released, constants = np.array([1, 0, 0, 1, 1]), np.linspace(-9, 9, 37)[:, None], []
    for epsilon in BUDGETS:
        mechanism = CentralLaplace(epsilon)
        densities = np.array([mechanism.log_density(released, [total]) for total in range(bits.size + 1)])
        e.same(np.abs(np.diff(densities, axis=0)).max(axis=1), np.full(bits.size, epsilon))
        e.same(mechanism.scale, 1 / epsilon)
        e.same(routes.noise_moment(mechanism, 0), 1)
        e.same(mechanism.estimate(bits.sum(), bits.size), bits.mean())
        for users in (5, 10**6):
            error = means.certain_error(mechanism, users, failure())
            e.same(routes.noise_moment(mechanism, 0, start=error * users), failure())
            constants.append(error * epsilon * users)
    e.needs(same_order(constants))
    return (
        f"99% error = ln(100)/(epsilon n) = {constants[0]:.4g}/(epsilon n) at four budgets and two sizes, by "
        "integrating the density; its largest log-ratio between neighbouring sums is epsilon"
    )


@claim("Mean, local Laplace", *LOCAL, means.worst_variance, means.warner_variance, kind="identity")
def local_laplace_mean(e: Evidence) -> str:
    """Users can also add Lap(1/epsilon) to their own bit: epsilon-LDP and unbiased"""
    budgets, users, reports = np.array([1e-3, *BUDGETS, 4.0]), 1000, np.linspace(-5, 6, 111)
    losses, ratios = [], []
    for epsilon in budgets:
        mechanism = LocalLaplace(float(epsilon))
        noise, warner = means.worst_variance(mechanism, users), means.warner_variance(epsilon, users)
        e.same([routes.noise_moment(mechanism, 0), routes.noise_moment(mechanism, 2) / users], [1, noise])
        e.same([mechanism.scale, mechanism.estimate(reports.sum(), 111)], [1 / epsilon, reports.mean()])
        e.same(warner, np.exp(epsilon) / np.expm1(epsilon) ** 2 / users)
        losses.append(np.abs(mechanism.log_density(reports, 0.0) - mechanism.log_density(reports, 1.0)).max())
        ratios.append(noise / warner)
    e.needs(np.allclose(losses, budgets, rtol=1e-9, atol=1e-12))
    return (
        "largest log-ratio of the density = epsilon at six budgets; variance 2/(n epsilon^2), "
        f"{ratios[0]:.3g} times that of randomised response as epsilon -> 0, {ratios[3]:.3g} at {budgets[3]:g} and "
        f"{ratios[5]:.3g} at {budgets[5]:g}"
    )


@claim(
    "Mean, error of local Laplace",
    means.worst_variance,
    means.normal_quantile,
    means.laplace_sum_tail,
    means.success,
    kind="certified",
    otherwise="corrected",
)
def local_laplace_error(e: Evidence) -> str:
    """The error of the local Laplace mean is |sum of n Lap(m/epsilon)|, about O(m/(sqrt(n) epsilon))"""
    z = means.normal_quantile(failure())
    e.same(normal_tail(z, 1.0), failure())
    constant, printed, mended = np.sqrt(2) * z, [], []
    for epsilon, upper, users in product((0.5, 1.0), (1.0, 8.0), (100, 10_000)):
        order, noise = upper / (np.sqrt(users) * epsilon), LocalLaplace(epsilon, upper)
        mended.append(means.success(noise, users, constant * order))
        printed.append(1 - means.laplace_sum_tail(users, constant / np.sqrt(users)))
        e.same(mended[-1], 1 - inverted_tail(users, constant * np.sqrt(users)))
        e.same(printed[-1], 1 - inverted_tail(users, constant / np.sqrt(users)))
        e.same(np.sqrt(means.worst_variance(noise, users)), np.sqrt(2 * users) * upper / epsilon / users)
    e.needs(min(printed) >= 1 - 2 * failure())
    e.corrected = (
        "|mu-hat - mu| = (1/n) |sum of n Lap(m/epsilon)|, of standard deviation sqrt(2/n) m/epsilon; "
        f"the 99% constant is z sqrt(2) = {constant:.4g}"
    )
    return (
        f"within {constant:.4g} m/(sqrt(n) epsilon) lies the printed sum with probability {printed[0]:.3g} (n = 100) "
        f"and {printed[1]:.3g} (n = 10,000), the mean of the noises with {mended[0]:.4f} and {mended[1]:.4f}"
    )


@claim(
    "Sample complexity, central",
    means.users_needed,
    means.certain_error,
    kind="identity",
    assumption="read up to a constant: ln(1/failure), 4.6 at 99%",
)
def central_sample_complexity(e: Evidence) -> str:
    """A curator needs n >= m/(delta epsilon) users for an error of at most delta"""
    constants, at_equality = [], []
    for epsilon, upper, error in product((0.1, 1.0), (1.0, 8.0), (0.5, 1e-3)):
        mechanism, order, scale = CentralLaplace(epsilon, upper), upper / (error * epsilon), upper / epsilon
        needed = means.users_needed(mechanism, error, failure())
        users = int(np.ceil(needed))
        met = means.certain_error(mechanism, users, failure())
        e.same([routes.laplace_tail(needed * error, scale), routes.laplace_tail(users * met, scale)], [failure()] * 2)
        constants.append(needed / order)
        at_equality.append(1 - routes.laplace_tail(order * error, scale))
    e.needs(same_order(constants))
    return (
        f"the order is right; at equality the error is met with probability {at_equality[0]:.4g} only, and 99% takes "
        f"{constants[0]:.4g} m/(delta epsilon) users, at eight settings"
    )


@claim(
    "Sample complexity, local",
    means.users_needed,
    means.users_for_certain,
    means.success,
    kind="certified",
    assumption="read up to a constant: 2 z^2, 13.3 at 99%; this delta is the error, not that of (epsilon, delta)-LDP",
)
def local_sample_complexity(e: Evidence) -> str:
    """Users who add Laplace noise themselves must be n >= m^2/(epsilon^2 delta^2) for an error of at most delta"""
    constants, exact, at_equality = [], [], []
    for epsilon, upper, error in ((1.0, 1.0, 0.1), (0.5, 8.0, 2.0), (1.0, 8.0, 0.2)):
        mechanism, order = LocalLaplace(epsilon, upper), (upper / (epsilon * error)) ** 2
        constants.append(means.users_needed(mechanism, error, failure()) / order)
        e.same(normal_tail(error, 2 * (upper / epsilon) ** 2 / (constants[-1] * order)), failure())
        users = means.users_for_certain(mechanism, error, failure())
        enough, short = (inverted_tail(n, n * error * epsilon / upper) for n in (users, users - 1))
        e.sure(users == int(users) and enough <= failure() < short)
        exact.append(users / order)
        at_equality.append(means.success(mechanism, round(order), error))
        e.same(at_equality[-1], 1 - inverted_tail(round(order), round(order) * error * epsilon / upper))
    e.needs(same_order(constants) and same_order(exact))
    return (
        f"the order is right; at equality (n = 100) the error is met with probability {at_equality[0]:.4g} only, and "
        f"99% takes {exact[0]:.4g} m^2/(delta^2 epsilon^2) users ({constants[0]:.4g} in the normal limit)"
    )


@claim("1-bit mean", *ONE_BIT, OneBit.one_rate, channel.privacy_loss, kind="enumeration")
def one_bit_mean(e: Evidence) -> str:
    """One bit with probability 1/(e^epsilon + 1) + (x/m) (e^epsilon - 1)/(e^epsilon + 1) is epsilon-LDP, and its
    estimate unbiased
    """
    values, upper, losses, biases = np.array([0, 0.5, 2, 2, 3.5, 5]), 5.0, [], []
    grid = np.linspace(0, upper, 41)
    for epsilon in BUDGETS:
        mechanism, rates = OneBit(epsilon, upper), printed_rates(grid, epsilon, upper)
        outcomes, chances = routes.all_bits(printed_rates(values, epsilon, upper))
        estimates = mechanism.estimate(outcomes.sum(axis=1), values.size)
        biases.append(moments(estimates, chances)[0] - values.mean())
        e.same(estimates, printed_means(outcomes, epsilon, upper))
        e.same(mechanism.one_rate(grid), rates)
        e.same([mechanism.q, mechanism.p], rates[[0, -1]])
        e.same(mechanism.channel(grid), [1 - rates, rates])
        losses.append(channel.privacy_loss([1 - rates, rates]).epsilon)
        e.same(losses[-1], np.log(max(rates.max() / rates.min(), (1 - rates.min()) / (1 - rates.max()))))
    e.needs(np.allclose(biases, 0, atol=1e-12) and np.allclose(losses, BUDGETS, rtol=1e-9, atol=1e-12))
    return (
        f"all 2^6 reports: bias 0 at mean {values.mean():.4g} of [0, {upper:g}]; largest log-ratio over 41^2 pairs of "
        f"values {', '.join(f'{loss:.6g}' for loss in losses)} at epsilon = {', '.join(f'{x:g}' for x in BUDGETS)}, "
        "between 0 and m"
    )


@claim(
    "1-bit mean, error",
    means.variance,
    means.worst_variance,
    means.one_bit_floor,
    means.one_bit_crossing,
    means.users_needed,
    means.success,
    kind="enumeration",
    assumption="epsilon = O(1): as epsilon grows the standard deviation of m/2-valued data stays at m/(2 sqrt n), "
    "z^2 m^2/(4 alpha^2) users",
)
def one_bit_error(e: Evidence) -> str:
    """The 1-bit mean is off by O(m/(epsilon sqrt n)) with probability 99%, so n >= m^2/(alpha^2 epsilon^2) users give
    accuracy alpha
    """
    upper, values, counts = 5.0, np.array([0, 0.5, 2.0, 5.0]), np.array([1, 2, 1, 1])
    for epsilon in BUDGETS:
        outcomes, chances = routes.all_bits(printed_rates(np.repeat(values, counts), epsilon, upper))
        mixed = moments(printed_means(outcomes, epsilon, upper), chances)[1]
        e.same(means.variance(OneBit(epsilon, upper), values, counts), mixed)
        worst = routes.largest_pair_variance(epsilon, upper)
        e.same(means.worst_variance(OneBit(epsilon, upper), 2), worst)
    floor, crossing = means.one_bit_floor(upper, 400), means.one_bit_crossing()
    e.same([floor, means.worst_variance(OneBit(50.0, upper), 400)], [upper / 40, floor**2])
    noise = means.worst_variance(LocalLaplace(crossing, upper), 400)
    e.same([noise, noise * 200], [means.worst_variance(OneBit(crossing, upper), 400), (upper / crossing) ** 2])
    constants, at_equality = [], []
    for epsilon in (*BUDGETS, 30.0):
        order, needed = (1 / epsilon) ** 2 / 1e-4, means.users_needed(OneBit(epsilon), 0.01, failure())
        e.same(normal_tail(0.01, 1 / (4 * np.tanh(epsilon / 2) ** 2 * needed)), failure())
        constants.append(needed / order)
        at_equality.append(1 - normal_tail(0.01, means.worst_variance(OneBit(epsilon), round(order))))
    for users, reach in ((40, 5), (41, 7)):
        within = sum(comb(users, ones) for ones in range(users + 1) if abs(2 * ones - users) <= 2 * reach)
        e.same(means.success(OneBit(1.0), users, (reach + 0.2) / users / np.tanh(0.5)), within / 2**users)
    e.needs(same_order(constants[:3]))
    return (
        f"99% takes c m^2/(alpha^2 epsilon^2) users, c = {', '.join(f'{c:.4g}' for c in constants)} at epsilon = 0.1, "
        f"0.5, 1, 3, 30 (success at equality {at_equality[0]:.3g}, {at_equality[2]:.3g}, {at_equality[3]:.3g} at 0.1, "
        f"1, 3); better than local Laplace noise whatever the data iff epsilon < {crossing:.4f}"
    )
