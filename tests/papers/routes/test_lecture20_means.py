"""Second routes to formulas under the claims of the lecture notes, Means.

Errors and chances are compared with exact laws: the binomial law of bits, the law of a sum of
Laplace noise by inversion, and sums over everybody who may lie under randomised response.
"""

from math import comb

import numpy as np
from compared import Pairs, compared

from ldpnb.accuracy import means
from ldpnb.mechanisms.means import OneBit
from ldpnb.papers.lecture20 import written_out
from ldpnb.papers.lecture20.means import NOISES
from ldpnb.papers.lecture20.written_out import FAILURE

BITS = (OneBit(0.1, 5.0), OneBit(3.0, 5.0), OneBit(1.0))


# Noise and bits


@compared
def test_normal_quantiles_and_errors_invert_the_tail() -> Pairs:
    for chance in (FAILURE, 0.3):
        yield written_out.normal_tail(means.normal_quantile(chance), 1.0), chance
        yield written_out.normal_tail(means.normal_error(4.0, chance), 4.0), chance


@compared
def test_the_users_needed_just_meet_the_error() -> Pairs:
    error = 1.6
    for bit in BITS:
        variance = written_out.largest_bit_variance(bit.epsilon, bit.upper)
        users = means.users_needed(bit, error, FAILURE)
        yield written_out.normal_tail(error, variance / users), FAILURE

    for noise in NOISES:
        variance = 2 * (noise.upper / noise.epsilon) ** 2
        users = means.users_needed(noise, error, FAILURE)
        yield written_out.normal_tail(error, variance / users), FAILURE


@compared
def test_the_chance_of_noise_to_meet_an_error_is_that_of_its_exact_law() -> Pairs:
    for users, total in ((100, 10.0), (1000, 100.0), (100, 36.0), (100, 0.36), (10_000, 0.036)):
        met = 1 - written_out.inverted_tail(users, total)
        yield means.success(NOISES[0], users, 16 * total / users), met


@compared
def test_the_chance_of_bits_to_meet_an_error_is_that_of_the_binomial_law() -> Pairs:
    for users, reach in ((40, 5), (41, 7)):
        within = 0
        for ones in range(users + 1):
            if abs(2 * ones - users) <= 2 * reach:
                within += comb(users, ones)

        error = 5 * (reach + 0.2) / users / np.tanh(1.5)
        yield means.success(BITS[1], users, error), within / 2**users


@compared
def test_a_small_delta_lowers_the_variance_of_bits_as_revealed_values_do() -> Pairs:
    for epsilon, delta, users in ((0.5, 0.0, 2), (1.0, 0.001, 100), (2.0, 0.1, 10**4)):
        known = delta + (1 - delta) * np.tanh(epsilon / 2) ** 2
        variance = (1 / known - 1) / (4 * users)
        yield means.approximate_bit_variance(epsilon, delta, users), variance


# Randomised response


def law_of_errors(epsilon: float, users: int, ones: int) -> dict[float, float]:
    """Return the chance of each error of the estimated share of ones, over all users who may lie.

    Errors that differ by rounding alone are the same.
    """
    lie = 1 / (1 + np.exp(epsilon))
    zeros = users - ones
    law: dict[float, float] = {}
    for lying_zeros in range(zeros + 1):
        for lying_ones in range(ones + 1):
            liars = lying_zeros + lying_ones
            choices = comb(zeros, lying_zeros) * comb(ones, lying_ones)
            chance = choices * lie**liars * (1 - lie) ** (users - liars)

            reported = (ones + lying_zeros - lying_ones) / users
            estimate = (reported - lie) / (1 - 2 * lie)
            error = round(abs(estimate - ones / users), 12)
            law[error] = law.get(error, 0.0) + chance
    return law


def quantile(law: dict[float, float], failure: float) -> float:
    """Return the least value that is exceeded with a chance of at most `failure`."""
    met = 0.0
    for value in sorted(law):
        met += law[value]
        if met >= 1 - failure - 1e-12:
            return value
    raise AssertionError("the chances add up to less than 1")


@compared
def test_the_error_of_randomised_response_is_that_over_all_lies() -> Pairs:
    for epsilon, users, ones, failure in (
        (np.log(3), 1, 1, 0.25),
        (0.5, 3, 1, 0.2),
        (1.0, 8, 8, 0.05),
        (2.0, 12, 5, 0.01),
    ):
        error = quantile(law_of_errors(epsilon, users, ones), failure)
        yield means.warner_error(epsilon, users, ones, failure), error


def largest_constant_on_grids(users: int, ones: int, failure: float) -> float:
    """Return the largest ``epsilon sqrt(n) error`` on a grid of budgets that is refined twice."""
    largest = 0.0
    budgets = np.geomspace(0.02, 6.0, 20_000)
    for _ in range(3):
        errors = means.warner_error(budgets, users, ones, failure)
        constants = budgets * np.sqrt(users) * errors
        top = int(constants.argmax())
        largest = max(largest, float(constants[top]))

        before = budgets[max(top - 1, 0)]
        after = budgets[min(top + 1, budgets.size - 1)]
        budgets = np.linspace(before, after, 20_000)
    return largest


@compared
def test_the_largest_constant_of_randomised_response_is_the_best_of_grids_ever_finer() -> Pairs:
    for users, failure in ((3, 0.1), (10, 0.01)):
        constants = [largest_constant_on_grids(users, ones, failure) for ones in range(users + 1)]
        found = means.largest_warner_constant(users, failure, largest_epsilon=6.0)
        yield found, max(constants), 1e-7
