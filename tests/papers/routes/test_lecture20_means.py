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
