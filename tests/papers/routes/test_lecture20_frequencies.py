"""Second routes to formulas under the claims of the lecture notes, Frequencies.

Chances of signs are compared with those that the notes print for every vector of signs.
"""

import numpy as np
from compared import Pairs, compared

from ldpnb.mechanisms import signs
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import written_out


@compared
def test_the_signs_have_the_printed_law() -> Pairs:
    for epsilon in (0.1, 3.0):
        vectors, law = written_out.printed_signs(np.tanh(epsilon / 2), 3)
        mechanism = SignRandomiser(epsilon, 3)
        outputs = mechanism.outputs().tolist()
        order = [outputs.index(vector) for vector in vectors.tolist()]
        yield mechanism.channel()[order], law

        chances = law[:, 0] @ (vectors == 1)  # of a plus at each value, for a user who holds 0
        yield mechanism.p, chances[0]
        yield mechanism.q, chances[1]
        yield mechanism.miss_rate, 1 - chances[0]


@compared
def test_the_bias_of_a_sign_is_twice_what_it_exceeds_a_fair_coin_by() -> Pairs:
    for epsilon in (0.1, 1.0, 3.0, 9.0):
        mechanism = SignRandomiser(epsilon, 3)
        kept = np.exp(epsilon / 2) / (np.exp(epsilon / 2) + np.exp(-epsilon / 2))
        yield mechanism.bias, 2 * kept - 1
        yield mechanism.truthful_rate, kept - 1 / 2


@compared
def test_sign_vectors_lose_the_log_ratio_of_two_signs() -> Pairs:
    for bias in (0.05, 0.3, 0.5, 0.99):
        plus = (1 + bias) / 2
        minus = (1 - bias) / 2
        yield signs.exact_epsilon(bias), np.log(plus / minus)
