"""Second routes to formulas under the claims of lecture20, Means."""

from math import comb

import numpy as np
from compared import Pairs, compared

from ldpnb.accuracy import means
from ldpnb.mechanisms.means import OneBit
from ldpnb.papers.lecture20 import written_out
from ldpnb.papers.lecture20.means import NOISES
from ldpnb.papers.lecture20.written_out import FAILURE

BITS = (OneBit(0.1, 5.0), OneBit(3.0, 5.0), OneBit(1.0))


@compared
def test_normal_quantiles_and_errors_invert_the_tail() -> Pairs:
    for chance in (FAILURE, 0.3):
        yield written_out.normal_tail(means.normal_quantile(chance), 1.0), chance
        yield written_out.normal_tail(means.normal_error(4.0, chance), 4.0), chance


@compared
def test_the_users_needed_just_meet_the_error() -> Pairs:
    for mechanism in (*BITS, *NOISES):
        scale, is_bit = mechanism.upper / mechanism.epsilon, isinstance(mechanism, OneBit)
        of_one = (
            written_out.largest_bit_variance(mechanism.epsilon, mechanism.upper)
            if is_bit
            else 2 * scale**2
        )
        yield (
            written_out.normal_tail(1.6, of_one / means.users_needed(mechanism, 1.6, FAILURE)),
            FAILURE,
        )


@compared
def test_the_chance_to_meet_an_error_is_that_of_the_exact_law() -> Pairs:
    for users, total in ((100, 10.0), (1000, 100.0), (100, 36.0), (100, 0.36), (10_000, 0.036)):
        yield (
            means.success(NOISES[0], users, 16 * total / users),
            1 - written_out.inverted_tail(users, total),
        )
    for users, reach in ((40, 5), (41, 7)):
        within = sum(
            comb(users, ones) for ones in range(users + 1) if abs(2 * ones - users) <= 2 * reach
        )
        yield (
            means.success(BITS[1], users, 5 * (reach + 0.2) / users / np.tanh(1.5)),
            within / 2**users,
        )


@compared
def test_a_small_delta_lowers_the_variance_of_bits_as_revealed_values_do() -> Pairs:
    for epsilon, delta, users in ((0.5, 0.0, 2), (1.0, 0.001, 100), (2.0, 0.1, 10**4)):
        known = delta + (1 - delta) * np.tanh(epsilon / 2) ** 2
        variance = (1 / known - 1) / (4 * users)
        yield means.approximate_bit_variance(epsilon, delta, users), variance


@compared
def test_the_error_of_randomised_response_is_that_over_all_lies() -> Pairs:
    for epsilon, users, ones, failure in (
        (np.log(3), 1, 1, 0.25),
        (0.5, 3, 1, 0.2),
        (1.0, 8, 8, 0.05),
        (2.0, 12, 5, 0.01),
    ):
        lie = 1 / (1 + np.exp(epsilon))
        law: dict[float, float] = {}
        for zeros_that_lie in range(users - ones + 1):
            for ones_that_lie in range(ones + 1):
                chance = comb(users - ones, zeros_that_lie) * comb(ones, ones_that_lie)
                lies = zeros_that_lie + ones_that_lie
                chance *= lie**lies * (1 - lie) ** (users - lies)
                share = (ones + zeros_that_lie - ones_that_lie) / users
                error = abs((share - lie) / (1 - 2 * lie) - ones / users)
                law[round(error, 12)] = law.get(round(error, 12), 0.0) + chance
        met = 0.0
        for error in sorted(law):
            met += law[error]
            if met >= 1 - failure - 1e-12:
                break
        yield means.warner_error(epsilon, users, ones, failure), error


@compared
def test_the_largest_constant_of_randomised_response_is_the_best_of_grids_ever_finer() -> Pairs:
    for users, failure in ((3, 0.1), (10, 0.01)):
        best = 0.0
        for ones in range(users + 1):
            budgets = np.geomspace(0.02, 6.0, 20_000)
            for _ in range(3):
                errors = means.warner_error(budgets, users, ones, failure)
                constants = budgets * np.sqrt(users) * errors
                top = int(constants.argmax())
                best = max(best, float(constants[top]))
                ends = budgets[max(top - 1, 0)], budgets[min(top + 1, budgets.size - 1)]
                budgets = np.linspace(*ends, 20_000)
        yield means.largest_warner_constant(users, failure, largest_epsilon=6.0), best, 1e-7
