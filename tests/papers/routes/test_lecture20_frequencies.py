"""Second routes to formulas under the claims of lecture20, Frequencies."""

import numpy as np
from compared import Pairs, compared

from ldpnb.mechanisms import signs
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import written_out


@compared
def test_the_signs_have_the_printed_law() -> Pairs:
    for epsilon in (0.1, 3.0):
        mechanism, (vectors, law) = (
            SignRandomiser(epsilon, 3),
            written_out.printed_signs(np.tanh(epsilon / 2), 3),
        )
        order = [int(np.flatnonzero((mechanism.outputs() == v).all(axis=1))[0]) for v in vectors]
        yield mechanism.channel()[order], law
        plus = [law[vectors[:, value] == 1, 0].sum() for value in (0, 1)]
        yield [mechanism.p, mechanism.q, mechanism.miss_rate], [*plus, 1 - plus[0]]


@compared
def test_the_bias_of_a_sign_is_twice_what_it_exceeds_a_fair_coin_by() -> Pairs:
    for epsilon in (0.1, 1.0, 3.0, 9.0):
        kept = np.exp(epsilon / 2) / (np.exp(epsilon / 2) + np.exp(-epsilon / 2))
        made = SignRandomiser(epsilon, 3)
        yield [made.bias, made.truthful_rate], [2 * kept - 1, kept - 1 / 2]


@compared
def test_sign_vectors_lose_the_log_ratio_of_two_signs() -> Pairs:
    for bias in (0.05, 0.3, 0.5, 0.99):
        plus, minus = (1 + bias) / 2, (1 - bias) / 2
        yield signs.exact_epsilon(bias), np.log(plus / minus)
