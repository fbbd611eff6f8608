"""Clients whose channels are known: right ones, and ones with a slip that was made on purpose.

A client runs on a user's device: it is given the true value and returns a randomised report.
"""

import math
import random
import secrets
from random import random as imported_random

import numpy as np

E = math.e


# Clients that keep their promise


def warner(answer):
    return answer if random.random() < 0.75 else 1 - answer


def warner_by_name(answer):
    return answer if imported_random() < 0.75 else 1 - answer


def warner_with_a_coin(answer):
    return answer if random.getrandbits(2) else 1 - answer


def forced(answer):
    """A die: 1 forces no, 6 forces yes, otherwise the truth."""
    die = random.randint(1, 6)
    if die == 1:
        return "no"
    return "yes" if die == 6 or answer else "no"


def krr(value, values=5, truthful=0.5):
    if np.random.random() < truthful:  # noqa: NPY002
        return value
    other = np.random.randint(values - 1)  # noqa: NPY002
    return other + (other >= value)


def krr_with_arithmetic(value, values=5, truthful=0.5):
    """One uniform number, scaled and rounded, picks the other value."""
    if 1 - random.random() > truthful:
        return value
    other = int(random.random() * (values - 1))
    return other + (other >= value)


def krr_with_choices(value, values=5, truthful=0.5):
    others = [other for other in range(values) if other != value]
    weights = [truthful, *[(1 - truthful) / (values - 1)] * (values - 1)]
    return random.choices([value, *others], weights)[0]


def unary(value, rng):
    bits = rng.random(4) < 0.25
    bits[value] = rng.random() < 0.5
    return np.where(bits, 1, 0)


def unary_binomial(value, rng):
    return rng.binomial(1, np.where(np.arange(4) == value, 0.5, 0.25))


def subset(value, rng):
    """Two of five values; the own one is among them with probability 3/4."""
    others = [other for other in range(5) if other != value]
    if rng.random() < 0.75:
        chosen = [value, int(rng.choice(others))]
    else:
        chosen = rng.choice(others, size=2, replace=False)
    return sorted(int(one) for one in chosen)


def shuffled(value):
    order = [0, 1, 2]
    random.shuffle(order)
    return order[0] if secrets.randbelow(2) else value


def counted(value, rng):
    """How many of three fair coins, or of three less fair ones, show heads."""
    return rng.binomial(3, 0.5 if value else 0.25)


RIGHT = {
    "warner": (warner, range(2)),
    "warner, imported by name": (warner_by_name, range(2)),
    "warner, by bits": (warner_with_a_coin, range(2)),
    "forced response": (forced, range(2)),
    "k-RR": (krr, range(5)),
    "k-RR with arithmetic": (krr_with_arithmetic, range(5)),
    "k-RR with choices": (krr_with_choices, range(5)),
    "unary encoding": (unary, range(4)),
    "unary encoding by binomials": (unary_binomial, range(4)),
    "subset selection": (subset, range(5)),
    "shuffled": (shuffled, range(3)),
    "binomial counts": (counted, range(2)),
}


# Clients that are wrong on purpose, each with its true loss. All state epsilon = 1, unless said.


TRUTHFUL = E / (E + 3)
"""The rate of the truth in k-RR of four values."""


def another(value, values=4):
    other = random.randrange(values - 1)
    return other + (other >= value)


def others_off_by_one(value):
    """The last of the other values is never drawn."""
    if random.random() < TRUTHFUL:
        return value
    other = random.randrange(2)
    return other + (other >= value)


def others_one_too_many(value):
    """A value is reported that nobody can hold."""
    if random.random() < TRUTHFUL:
        return value
    other = random.randrange(4)
    return other + (other >= value)


def lie_may_be_the_truth(value):
    """The truth is told at the full rate, and by chance once more."""
    return value if random.random() < TRUTHFUL else random.randrange(4)


def lies_not_shifted(value):
    """The shift past the own value was forgotten, so the last value is never a lie."""
    return value if random.random() < TRUTHFUL else random.randrange(3)


def one_draw_for_all_bits(value):
    """Every bit is compared with the same random number."""
    number = random.random()
    return [int(number < (0.5 if bit == value else 1 / (E + 1))) for bit in range(3)]


def one_draw_for_two_questions(value):
    """The draw that decides on the truth also picks the lie."""
    number = random.random()
    if number < 0.5:
        return value
    return int(number * 4) % 4


def fixed_seed(value):
    rng = np.random.default_rng(3)
    return value if rng.random() < TRUTHFUL else int(rng.integers(4))


def clipped_probability(value):
    """The rates come from a formula that was clipped at zero."""
    flip = max(0.0, [0.25, 0.25, -0.1][value])
    return random.choice([0, 1, 2]) if random.random() < flip else value


def early_return(value):
    """A shortcut for a rare value, which takes no part in the randomisation."""
    if value == 3:
        return 3
    return value if random.random() < TRUTHFUL else random.choice([0, 1, 2])


def bit_never_cleared(value):
    """A bit that is set is never reported as zero, as in a Bloom filter that is only added to."""
    bits = [int(bit == value) for bit in range(3)]
    for bit in range(3):
        if random.random() < 0.25:
            bits[bit] = 1
    return bits


def last_bit_without_noise(value):
    bits = [int(bit == value) for bit in range(3)]
    for bit in range(len(bits) - 1):
        if random.random() < 1 / (math.exp(0.5) + 1):
            bits[bit] = 1 - bits[bit]
    return bits


def stops_after_the_first_flip(value):
    bits = [int(bit == value) for bit in range(3)]
    for bit in range(3):
        if random.random() < 1 / (math.exp(0.5) + 1):
            bits[bit] = 1 - bits[bit]
            break
    return bits


def budget_not_halved(value):
    """Two bits differ between two values, and each spends the whole budget."""
    bits = [int(bit == value) for bit in range(3)]
    return [bit if random.random() < E / (E + 1) else 1 - bit for bit in bits]


def budget_not_split(pair):
    """Two attributes, each at the whole budget."""
    return tuple(bit if random.random() < E / (E + 1) else 1 - bit for bit in pair)


def rate_rounded(value):
    """The rate of the truth was rounded to one digit."""
    return value if random.random() < round(TRUTHFUL, 1) else another(value)


def rate_in_percent(value):
    """A whole percentage, and a comparison that includes its end."""
    return value if random.randrange(100) <= 48 else another(value)


def rate_in_bits(value):
    """The rate of the truth was rounded up to a multiple of 1/8."""
    return value if random.getrandbits(3) < math.ceil(8 * TRUTHFUL) else another(value)


def modulo(value):
    """A lie is three random bits modulo five: 0, 1 and 2 are twice as likely as 3 and 4."""
    return value if random.random() < 0.25 else random.getrandbits(3) % 5


def truth_first(value):
    """A subset of two values, and the own one stands first."""
    others = [other for other in range(4) if other != value]
    if random.random() < 0.75:
        return [value, random.choice(others)]
    return random.sample(others, 2)


def minus_zero(value):
    """The same number, but an observer sees the sign of its zero."""
    return 0.0 * (1 - 2 * value) if random.random() < 0.5 else 1.0


def seed_from_the_value(value):
    """Hashing with a seed that depends on what it should hide."""
    seed = value % 3
    return seed, int(random.random() < (0.75 if value > 1 else 0.25))


def huge_budget(value):
    """Stated 40 nats, at which the rate of the truth is 1 as a float."""
    return value if random.random() < math.exp(40) / (math.exp(40) + 1) else 1 - value


def attribute_sampled_with_fakes(pair):
    """One of two attributes is sampled, the other faked, at a budget that was amplified."""
    sampled = random.randrange(2)
    report = [random.randrange(2), random.randrange(2)]
    grown = 2 * (E - 1) + 1
    keeps = random.random() < grown / (grown + 1)
    report[sampled] = pair[sampled] if keeps else 1 - pair[sampled]
    return report


PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]
LIE = (1 - TRUTHFUL) / 4

WRONG = {
    others_off_by_one: (range(4), math.inf),
    others_one_too_many: (range(4), math.log(TRUTHFUL / LIE)),
    lie_may_be_the_truth: (range(4), math.log((TRUTHFUL + LIE) / LIE)),
    lies_not_shifted: (range(4), math.inf),
    one_draw_for_all_bits: (range(3), math.inf),
    one_draw_for_two_questions: (range(4), math.inf),
    fixed_seed: (range(4), math.inf),
    clipped_probability: (range(3), math.inf),
    early_return: (range(4), math.inf),
    bit_never_cleared: (range(3), math.inf),
    last_bit_without_noise: (range(3), math.inf),
    stops_after_the_first_flip: (range(3), math.inf),
    budget_not_halved: (range(3), 2.0),
    budget_not_split: (PAIRS, 2.0),
    rate_rounded: (range(4), math.log(0.5 / (0.5 / 3))),
    rate_in_percent: (range(4), math.log(0.49 / (0.51 / 3))),
    rate_in_bits: (range(4), math.log(0.5 / (0.5 / 3))),
    modulo: (range(5), math.log((0.25 + 0.75 / 8) / (0.75 / 8))),
    truth_first: (range(4), math.inf),
    minus_zero: (range(2), math.inf),
    seed_from_the_value: (range(3), math.inf),
    huge_budget: (range(2), math.inf),
    attribute_sampled_with_fakes: (PAIRS, math.log(2 * (E - 1) + 1)),
}
"""Inputs and true loss of each."""
