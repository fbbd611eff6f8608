"""Lecture20 on means: randomised response, Laplace noise by a curator and by users, one bit, and how many users."""

from functools import partial
from math import comb

import numpy as np

from ldpnb import claims
from ldpnb.accuracy import means
from ldpnb.claims import Evidence
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.papers.lecture20 import proofs, routes
from ldpnb.papers.lecture20.proofs import e as budget
from ldpnb.papers.lecture20.proofs import m as largest
from ldpnb.papers.lecture20.routes import BUDGETS, failure, inverted_tail, moments, normal_tail, printed_rates
from ldpnb.privacy import channel

ONE_BIT = (OneBit.channel, OneBit.estimate, OneBit.p, OneBit.q)
CENTRAL = (CentralLaplace.scale, CentralLaplace.log_density, CentralLaplace.estimate)
LOCAL = (LocalLaplace.scale, LocalLaplace.log_density, LocalLaplace.estimate)
TRIANGLE = "values are at most m apart, so one user moves a sum by at most m"

claim = partial(claims.claim, kind="proof", reach="all parameters")


@claim(
    "Randomised response",
    *ONE_BIT,
    means.warner_variance,
    means.warner_error,
    means.largest_warner_constant,
    means.normal_error,
    means.certain_error,
    means.worst_variance,
    OneBit.one_rate,
    OneBit.slope,
    over="0 < epsilon <= 1, every n and all bits",
    argument="users are independent, so variances add; Chebyshev's and Hoeffding's inequalities",
)
def randomised_response(e: Evidence) -> str:
    """Randomised response estimates the mean of bits without bias, with error O(1/(epsilon sqrt n)) with probability
    99% for epsilon <= 1
    """
    bits = np.array([1, 1, 1, 1, 0, 0])
    for epsilon in (1e-2, 1.0, 8.0):
        mechanism, rates = OneBit(epsilon), printed_rates([0, 1], epsilon, 1.0)
        outcomes, chances = routes.all_bits(rates[bits])
        printed = routes.printed_means(outcomes, epsilon, 1.0)
        e.same(mechanism.channel([0, 1]), [1 - rates, rates])
        e.same([mechanism.q, mechanism.p], rates)
        e.same(mechanism.estimate(outcomes.sum(axis=1), bits.size), printed)
        e.same(moments(printed, chances), (bits.mean(), means.warner_variance(epsilon, bits.size)))
        exact = routes.smallest_error(printed - bits.mean(), chances, failure())
        e.same(means.warner_error(epsilon, bits.size, int(bits.sum()), failure()), exact)
    e.proven(proofs.bit_is_unbiased() and proofs.bit_variance())
    e.decides(proofs.warner_below_order())
    grows, certain = proofs.certain_constant(failure(), routes.published()["largest_epsilon"])
    e.proven(grows)
    likely = means.normal_error(means.warner_variance(1.0, 1), failure())
    e.same(normal_tail(likely, means.warner_variance(1.0, 1)), failure())
    worst = [means.largest_warner_constant(users, failure()) for users in (1, 5, 20, 100)]
    e.same(worst[0], -np.log(failure() / (1 - failure())) * (1 - failure()) / (1 - 2 * failure()), rel=1e-7)
    return (
        "variance 1/(4 n sinh^2(epsilon/2)), also over all 2^6 reports at three budgets, below 1/(n epsilon^2) at "
        f"every budget: the error times epsilon sqrt(n) is within {1 / np.sqrt(failure()):g} with probability 99% "
        f"(Chebyshev), within {claims.at_most(certain)} for epsilon <= 1 (Hoeffding, growing with epsilon); exactly, "
        "at the worst bits and the worst of all budgets, above 1 too, "
        f"{', '.join(f'{constant:.4g}' for constant in worst)} for n = 1, 5, 20, 100 (normal limit at epsilon "
        f"= 1: {likely:.4g})"
    )


@claim(
    "Mean, central Laplace",
    *CENTRAL,
    means.certain_error,
    means.users_needed,
    CentralLaplace.upper,
    over="every epsilon > 0, n and data",
    assumption="neighbours replace one user's value, and the number of users is public",
    argument=TRIANGLE,
)
def central_laplace_mean(e: Evidence) -> str:
    """A curator's mean of bits with noise Lap(1/(epsilon n)) is off by O(1/(epsilon n)) with probability 99%"""
    bits, released, constants = np.array([1, 0, 0, 1, 1]), np.linspace(-9, 9, 37)[:, None], []
    for epsilon, users in ((0.1, 5), (3.0, 10**6)):
        mechanism = CentralLaplace(epsilon)
        densities = np.array([mechanism.log_density(released, [total]) for total in range(bits.size + 1)])
        e.same(np.abs(np.diff(densities, axis=0)).max(axis=1), np.full(bits.size, epsilon))
        e.same([mechanism.scale, mechanism.estimate(bits.sum(), bits.size)], [1 / epsilon, bits.mean()])
        error = means.certain_error(mechanism, users, failure())
        e.same(routes.noise_moment(mechanism, 0, start=error * users), failure())
        constants.append(error * epsilon * users)
    noise = CentralLaplace(budget, largest)
    e.proven(proofs.noise_is_private(noise) and proofs.noise_tail(noise))
    e.decides(proofs.curator_error())
    return (
        f"the error exceeded with probability {failure():.0%} is ln(100)/(epsilon n) = {constants[0]:.4g}/(epsilon "
        "n), also by integrating the density at two budgets and sizes; its largest log-ratio between neighbouring "
        "sums is epsilon"
    )


@claim(
    "Mean, local Laplace",
    *LOCAL,
    means.worst_variance,
    means.warner_variance,
    over="every epsilon > 0, n and data",
    argument=TRIANGLE,
)
def local_laplace_mean(e: Evidence) -> str:
    """Users can also add Lap(1/epsilon) to their own bit: epsilon-LDP and unbiased"""
    users, reports, ratios = 1000, np.linspace(-5, 6, 111), []
    for epsilon in (1.0, 4.0):
        mechanism = LocalLaplace(epsilon)
        noise, warner = means.worst_variance(mechanism, users), means.warner_variance(epsilon, users)
        e.same([routes.noise_moment(mechanism, 0), routes.noise_moment(mechanism, 2) / users], [1, noise])
        e.same([mechanism.scale, mechanism.estimate(reports.sum(), 111)], [1 / epsilon, reports.mean()])
        e.same(warner, np.exp(epsilon) / np.expm1(epsilon) ** 2 / users)
        e.same(np.abs(mechanism.log_density(reports, 0.0) - mechanism.log_density(reports, 1.0)).max(), epsilon)
        ratios.append(noise / warner)
    noise = LocalLaplace(budget, largest)
    e.decides(proofs.noise_is_private(noise))
    e.decides(proofs.noise_tail(noise))
    e.proven(proofs.noise_averages() and proofs.noise_against_warner())
    return (
        "the log-density moves by at most epsilon, and is symmetric about the value; variance 2/(n epsilon^2), more "
        f"than twice that of randomised response at every budget: {ratios[0]:.3g} times at 1 and {ratios[1]:.3g} at 4"
    )


@claim(
    "Mean, error of local Laplace",
    means.worst_variance,
    means.normal_quantile,
    means.laplace_sum_tail,
    means.success,
    LocalLaplace.estimate,
    LocalLaplace.log_density,
    otherwise="corrected",
    over="every epsilon > 0, m > 0, n and data; the printed form fails for every n >= 2",
    argument="noises are independent, so variances add, and Chebyshev's inequality; a sum's density is at most that of "
    "one noise, epsilon/(2m)",
)
def local_laplace_error(e: Evidence) -> str:
    """The error of the local Laplace mean is the size of a sum of n Laplace variables of scale m/epsilon, about
    O(m/(sqrt(n) epsilon))
    """
    z, chebyshev = means.normal_quantile(failure()), np.sqrt(2 / failure())
    e.same(normal_tail(z, 1.0), failure())
    e.proven(proofs.noise_averages())
    e.decides(proofs.printed_error())
    constant, printed, mended = np.sqrt(2) * z, [], []
    for users in (100, 10_000):
        noise, order = LocalLaplace(0.5, 8.0), 8.0 / (np.sqrt(users) * 0.5)
        mended.append(means.success(noise, users, constant * order))
        printed.append(1 - means.laplace_sum_tail(users, constant / np.sqrt(users)))
        e.same(mended[-1], 1 - inverted_tail(users, constant * np.sqrt(users)))
        e.same(printed[-1], 1 - inverted_tail(users, constant / np.sqrt(users)))
        e.sure(printed[-1] <= constant / np.sqrt(users))
    e.corrected = (
        f"|mu-hat - mu| is 1/n times that size, of standard deviation sqrt(2/n) m/epsilon and within "
        f"{claims.at_most(chebyshev)} m/(sqrt(n) epsilon) with probability 99%; in the normal limit z sqrt(2) = "
        f"{constant:.4g}"
    )
    return (
        "at n = 2 and noises of sum 1 the mean is off by 1/2; within c m/(sqrt(n) epsilon) lies the printed sum with "
        f"probability at most c/sqrt(n): for c = {constant:.4g} {printed[0]:.3g} (n = 100) and {printed[1]:.3g} (n = "
        f"10,000), the mean of the noises with {mended[0]:.4f} and {mended[1]:.4f}"
    )


@claim(
    "Sample complexity, central",
    means.users_needed,
    means.certain_error,
    CentralLaplace.log_density,
    CentralLaplace.scale,
    over="every epsilon, m, delta > 0 and data",
    assumption="read up to a constant: ln(1/failure), 4.6 at 99%",
)
def central_sample_complexity(e: Evidence) -> str:
    """A curator needs n >= m/(delta epsilon) users for an error of at most delta"""
    constants = []
    for epsilon, upper, error in ((0.1, 8.0, 0.5), (1.0, 1.0, 1e-3)):
        mechanism, scale = CentralLaplace(epsilon, upper), upper / epsilon
        needed = means.users_needed(mechanism, error, failure())
        met = means.certain_error(mechanism, int(np.ceil(needed)), failure()) * int(np.ceil(needed))
        e.same([routes.laplace_tail(needed * error, scale), routes.laplace_tail(met, scale)], [failure()] * 2)
        constants.append(needed * error / scale)
    e.proven(proofs.noise_tail(CentralLaplace(budget, largest)))
    e.decides(proofs.curator_error())
    return (
        f"99% takes exactly ln(100) = {constants[0]:.4g} times m/(delta epsilon) users, rounded up; with m/(delta "
        f"epsilon) itself the error is met with probability {1 - routes.laplace_tail(1.0, 1.0):.4g} only"
    )


@claim(
    "Sample complexity, local",
    means.users_needed,
    means.users_for_certain,
    means.success,
    means.worst_variance,
    LocalLaplace.estimate,
    LocalLaplace.log_density,
    over="every epsilon, m, delta > 0 and data",
    assumption="read up to a constant: 2 z^2, 13.3 at 99%; this delta is the error, not that of (epsilon, delta)-LDP",
    argument="Chebyshev's inequality from above, the Paley-Zygmund inequality from below",
)
def local_sample_complexity(e: Evidence) -> str:
    """If users add Laplace noise themselves, an error of at most delta takes n >= m^2/(epsilon^2 delta^2) of them"""
    mechanism, error, order = LocalLaplace(0.5, 8.0), 1.6, 100
    limit = means.users_needed(mechanism, error, failure()) / order
    e.same(normal_tail(error, 2 * 16.0**2 / (limit * order)), failure())
    users = int(means.users_for_certain(mechanism, error, failure()))
    enough, short = (inverted_tail(n, n * error / 16) for n in (users, users - 1))
    e.sure(enough <= failure() < short)
    met = means.success(mechanism, order, error)
    e.same(met, 1 - inverted_tail(order, order * error / 16))
    e.decides(proofs.noise_averages())
    e.proven(proofs.fourth_moment())
    fewest, most = 2 * (1 - np.sqrt(6 * failure())), 2 / failure()
    e.sure(fewest <= users / order <= most)
    return (
        f"99% takes at least {fewest:.3g} and at most {most:g} times m^2/(delta^2 epsilon^2) users, rounded up, at all "
        f"parameters; where that is 100, {users / order:.4g} times ({limit:.4g} in the normal limit), and 100 users "
        f"meet the error with probability {met:.4g}"
    )


@claim(
    "Mean, communication",
    means.laplace_report_bits,
    LocalLaplace.scale,
    LocalLaplace.log_density,
    over="every epsilon, m, resolution r > 0 and value",
    assumption="reports are rounded to multiples of a fixed r and epsilon is fixed; a real number as it stands has "
    "infinitely many bits",
    argument="Gibbs' inequality; for a report x, |K| is at most |x|/r + 1/2; a Huffman code takes at most one bit "
    "more than the entropy",
)
def mean_communication(e: Evidence) -> str:
    """Every user sends O(log m) bits when adding Laplace noise to a value in [0, m]"""
    e.decides(proofs.report_bits())
    e.proven(proofs.mean_size() and proofs.noise_tail(LocalLaplace(budget, largest)))
    shown = []
    for upper in (1024.0, 2048.0):
        shown.append(means.laplace_report_bits(LocalLaplace(1.0, upper), 1.0))
        e.same(shown[-1], routes.rounded_entropy(upper), rel=1e-6)
    return (
        "the entropy of a rounded report is at most log2(2 e (1 + (m/r)(1 + 1/epsilon))) bits, and log2(2 e m/(epsilon "
        f"r)) at fine resolution: {shown[0]:.5g} for m = 1024 r and {shown[1]:.5g} for twice that at epsilon = 1, as "
        "summed over all whole numbers"
    )


@claim(
    "1-bit mean",
    *ONE_BIT,
    OneBit.one_rate,
    channel.privacy_loss,
    over="every epsilon > 0, m > 0, n and data",
    argument="expectations add",
)
def one_bit_mean(e: Evidence) -> str:
    """One bit with probability 1/(e^epsilon + 1) + (x/m) (e^epsilon - 1)/(e^epsilon + 1) is epsilon-LDP, and its
    estimate unbiased
    """
    values, upper, grid = np.array([0, 0.5, 2, 2, 3.5, 5]), 5.0, np.linspace(0, 5, 41)
    for epsilon in (0.1, 3.0):
        mechanism, rates = OneBit(epsilon, upper), printed_rates(grid, epsilon, upper)
        outcomes, chances = routes.all_bits(printed_rates(values, epsilon, upper))
        estimates = mechanism.estimate(outcomes.sum(axis=1), values.size)
        e.same(moments(estimates, chances)[0], values.mean())
        e.same(estimates, routes.printed_means(outcomes, epsilon, upper))
        e.same(mechanism.one_rate(grid), rates)
        e.same([mechanism.q, mechanism.p], rates[[0, -1]])
        e.same(mechanism.channel(grid), [1 - rates, rates])
        e.same(channel.privacy_loss([1 - rates, rates]).epsilon, epsilon)
    e.decides(proofs.bit_is_private())
    e.decides(proofs.bit_is_unbiased())
    return (
        "either bit is at most e^epsilon times as likely at one value as at another, exactly so at 0 and m (also over "
        f"41^2 pairs of values); the expectation is the mean, also over all 2^6 reports at mean {values.mean():.4g} "
        f"of [0, {upper:g}] and two budgets"
    )


@claim(
    "1-bit mean, error",
    means.variance,
    means.worst_variance,
    means.one_bit_floor,
    means.one_bit_crossing,
    means.users_needed,
    means.success,
    means.certain_error,
    means.warner_variance,
    OneBit.one_rate,
    OneBit.q,
    OneBit.slope,
    over="every m > 0, n and data, epsilon up to any bound (constants below for 1)",
    assumption="read up to a constant, and epsilon = O(1): as epsilon grows the standard deviation of m/2-valued data "
    "stays at m/(2 sqrt n), z^2 m^2/(4 alpha^2) users",
    argument="users are independent, so variances add; Hoeffding's inequality",
)
def one_bit_error(e: Evidence) -> str:
    """The 1-bit mean is off by O(m/(epsilon sqrt n)) with probability 99%, so n >= m^2/(alpha^2 epsilon^2) users give
    accuracy alpha
    """
    upper, values, counts = 5.0, np.array([0, 0.5, 2.0, 5.0]), np.array([1, 2, 1, 1])
    for epsilon in (0.1, 3.0):
        outcomes, chances = routes.all_bits(printed_rates(np.repeat(values, counts), epsilon, upper))
        mixed = moments(routes.printed_means(outcomes, epsilon, upper), chances)[1]
        e.same(means.variance(OneBit(epsilon, upper), values, counts), mixed)
        worst = routes.largest_pair_variance(epsilon, upper)
        e.same(means.worst_variance(OneBit(epsilon, upper), 2), worst)
    floor, crossing = means.one_bit_floor(upper, 400), means.one_bit_crossing()
    e.same([floor, means.worst_variance(OneBit(50.0, upper), 400)], [upper / 40, floor**2])
    grows, certain = proofs.certain_constant(failure(), 1.0)
    e.proven(proofs.bit_variance() and proofs.crossing(f"{crossing:.4f}") and grows)
    e.decides(proofs.bit_order())
    needed, at_equality = [], []
    for epsilon in (*BUDGETS, 30.0):
        order = (1 / epsilon) ** 2 / 1e-4
        needed.append(means.users_needed(OneBit(epsilon), 0.01, failure()) / order)
        e.same(normal_tail(0.01, 1 / (4 * np.tanh(epsilon / 2) ** 2 * needed[-1] * order)), failure())
        at_equality.append(1 - normal_tail(0.01, means.worst_variance(OneBit(epsilon), round(order))))
    for users, reach in ((40, 5), (41, 7)):
        within = sum(comb(users, ones) for ones in range(users + 1) if abs(2 * ones - users) <= 2 * reach)
        e.same(means.success(OneBit(1.0), users, (reach + 0.2) / users / np.tanh(0.5)), within / 2**users)
    return (
        f"the worst standard deviation times epsilon sqrt(n)/m grows with epsilon from 1; {claims.at_most(certain**2)} "
        "m^2/(alpha^2 epsilon^2) users suffice for epsilon <= 1 (Hoeffding), in the normal limit "
        f"{', '.join(f'{c:.4g}' for c in needed)} at epsilon = 0.1, 0.5, 1, 3, 30 (success at equality "
        f"{at_equality[0]:.3g}, {at_equality[2]:.3g}, {at_equality[3]:.3g} at 0.1, 1, 3); less variance than local "
        f"Laplace noise whatever the data iff epsilon < {crossing:.4f}"
    )
