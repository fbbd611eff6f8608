"""What an audit follows has the law, the type and the shape that Python and NumPy give it."""

# ruff: noqa: NPY002

import copy
import itertools
import math
import random
import secrets
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ldpnb.audit import AuditError, exact_channel

Draw = Callable[[np.random.Generator], Any]
Law = dict[Any, Fraction]

GRID = 2**53
"""How many values `random.random` has."""


def law_of(draw: Draw, **settings: Any) -> Law:
    """The probability of every value that a client can draw, whatever its input."""
    channel = exact_channel(lambda value, rng: draw(rng), [0, 1], **settings)
    law = {output: row[0] for output, row in zip(channel.outputs, channel.fractions, strict=True)}
    for row in channel.fractions:
        assert row[0] == row[1]
    return law


def equally(values: Any) -> Law:
    """The law of a value that is drawn from a list, in which values may stand several times."""
    tallies = Counter(values)
    return {value: Fraction(count, tallies.total()) for value, count in tallies.items()}


def binomial(trials: int, chance: Fraction) -> Law:
    law = {}
    for count in range(trials + 1):
        likely = chance**count * (1 - chance) ** (trials - count)
        law[count] = math.comb(trials, count) * likely
    return law


def shuffled(make: Callable[[], Any], shuffle: Callable[[Any], None]) -> Any:
    pool = make()
    shuffle(pool)
    return pool


def pairs(values: Any) -> list[tuple[Any, Any]]:
    return list(itertools.product(values, repeat=2))


PERMUTED = equally(itertools.permutations(range(3)))
TWO_OF_FOUR = equally(itertools.permutations(range(4), 2))
ROWS = np.array([[1, 2], [3, 4]])
MATRIX = np.arange(6).reshape(3, 2)
WEIGHTED_PAIRS = {
    (0, 1): Fraction(1, 4),
    (0, 2): Fraction(1, 4),
    (1, 0): Fraction(1, 6),
    (1, 2): Fraction(1, 12),
    (2, 0): Fraction(1, 6),
    (2, 1): Fraction(1, 12),
}
"""Two different values of three, at the weights 1/2, 1/4 and 1/4."""

PYTHON: dict[str, tuple[Draw, Law]] = {
    "randint": (lambda rng: random.randint(3, 6), equally(range(3, 7))),
    "randrange": (lambda rng: random.randrange(2, 9, 3), equally([2, 5, 8])),
    "getrandbits": (lambda rng: random.getrandbits(3), equally(range(8))),
    "randbytes": (lambda rng: random.randbytes(1), equally(bytes([one]) for one in range(256))),
    "choice": (lambda rng: random.choice("abb"), equally("abb")),
    "choices": (lambda rng: random.choices("ab", [1, 3])[0], equally("abbb")),
    "sample": (lambda rng: random.sample(range(4), 2), TWO_OF_FOUR),
    "shuffle": (lambda rng: shuffled(lambda: [0, 1, 2], random.shuffle), PERMUTED),
    "uniform": (lambda rng: random.uniform(2, 6) < 3, equally([True, False, False, False])),
    "randbelow": (lambda rng: secrets.randbelow(3), equally(range(3))),
    "randbits": (lambda rng: secrets.randbits(2), equally(range(4))),
    "secrets.choice": (lambda rng: secrets.choice("abb"), equally("abb")),
    "the system's": (
        lambda rng: random.SystemRandom().random() < 0.25,
        equally([True] + 3 * [False]),
    ),
}

NUMPY: dict[str, tuple[Draw, Law]] = {
    "integers": (lambda rng: rng.integers(3), equally(range(3))),
    "integers from 2": (lambda rng: rng.integers(2, 5), equally([2, 3, 4])),
    "integers with the end": (lambda rng: rng.integers(2, 5, endpoint=True), equally([2, 3, 4, 5])),
    "two integers": (lambda rng: rng.integers(1, 3, size=2), equally(pairs([1, 2]))),
    "bytes": (lambda rng: rng.integers(0, 2, dtype=np.uint8), equally([0, 1])),
    "choice below": (lambda rng: rng.choice(3), equally(range(3))),
    "choice of an array": (lambda rng: rng.choice(["a", "b", "b"]), equally("abb")),
    "choice of a row": (lambda rng: rng.choice(ROWS), equally([(1, 2), (3, 4)])),
    "two choices": (lambda rng: rng.choice(2, size=2), equally(pairs([0, 1]))),
    "two rows": (lambda rng: rng.choice(ROWS, size=2), equally(pairs([(1, 2), (3, 4)]))),
    "two different": (lambda rng: rng.choice(4, size=2, replace=False), TWO_OF_FOUR),
    "weights": (lambda rng: rng.choice(3, p=[0.5, 0.25, 0.25]), equally([0, 0, 1, 2])),
    "weights, two different": (
        lambda rng: rng.choice(3, size=2, replace=False, p=[0.5, 0.25, 0.25]),
        WEIGHTED_PAIRS,
    ),
    "binomial": (lambda rng: rng.binomial(3, 0.25), binomial(3, Fraction(1, 4))),
    "a trial": (lambda rng: rng.binomial(1, 0.25), binomial(1, Fraction(1, 4))),
    "no trial": (lambda rng: rng.binomial(0, 0.25), {0: Fraction(1)}),
    "a sure trial": (lambda rng: rng.binomial(1, 1.0), {1: Fraction(1)}),
    "an impossible trial": (lambda rng: rng.binomial(1, 0.0), {0: Fraction(1)}),
    "binomials": (
        lambda rng: rng.binomial([1, 2], [0.5, 1.0]),
        {(0, 2): Fraction(1, 2), (1, 2): Fraction(1, 2)},
    ),
    "permutation": (lambda rng: rng.permutation(3), PERMUTED),
    "permutation of rows": (
        lambda rng: rng.permutation(ROWS),
        equally([((1, 2), (3, 4)), ((3, 4), (1, 2))]),
    ),
    "shuffle": (lambda rng: shuffled(lambda: np.arange(3), rng.shuffle), PERMUTED),
    "shuffle of rows": (
        lambda rng: shuffled(ROWS.copy, rng.shuffle),
        equally([((1, 2), (3, 4)), ((3, 4), (1, 2))]),
    ),
    "random": (lambda rng: rng.random() < 0.25, equally([True, False, False, False])),
    "two randoms": (lambda rng: rng.random(2) < 0.5, equally(pairs([True, False]))),
    "uniform": (lambda rng: rng.uniform(2.0, 6.0) < 3.0, equally([True, False, False, False])),
    "two uniforms": (lambda rng: rng.uniform(-1.0, 1.0, 2) < 0.0, equally(pairs([True, False]))),
}

LEGACY: dict[str, tuple[Draw, Law]] = {
    "rand": (lambda rng: np.random.rand() < 0.5, equally([True, False])),
    "rand(2)": (lambda rng: np.random.rand(2) < 0.5, equally(pairs([True, False]))),
    "randint": (lambda rng: np.random.randint(1, 4), equally([1, 2, 3])),
    "randint(2)": (lambda rng: np.random.randint(2, size=2), equally(pairs([0, 1]))),
    "random_sample": (lambda rng: np.random.random_sample() < 0.5, equally([True, False])),
    "uniform": (lambda rng: np.random.uniform(0, 4) < 1, equally([True] + 3 * [False])),
    "choice": (lambda rng: np.random.choice(3), equally(range(3))),
    "binomial": (lambda rng: np.random.binomial(2, 0.5), equally([0, 1, 1, 2])),
    "permutation": (lambda rng: np.random.permutation(3), PERMUTED),
    "shuffle": (lambda rng: shuffled(lambda: [0, 1, 2], np.random.shuffle), PERMUTED),
    "default_rng": (lambda rng: np.random.default_rng().integers(3), equally(range(3))),
}

FOLLOWED = [
    pytest.param(*case, id=f"{library}: {name}")
    for library, cases in (("random", PYTHON), ("rng", NUMPY), ("np.random", LEGACY))
    for name, case in cases.items()
]


def described(drawn: Any) -> tuple[Any, ...]:
    """The type of what was drawn, and that of its entries, and its shape."""
    return type(drawn), getattr(drawn, "dtype", None), np.shape(drawn)


@pytest.mark.parametrize(("draw", "law"), FOLLOWED)
def test_a_draw_has_the_law_the_type_and_the_shape_of_the_real_one(draw: Draw, law: Law) -> None:
    kinds = set()

    def noted(rng: np.random.Generator) -> Any:
        drawn = draw(rng)
        kinds.add(described(drawn))
        return drawn

    found = law_of(noted)
    assert found.keys() == law.keys()
    for value, chance in found.items():
        # NumPy divides weights in floats, which are off by less than 1e-15.
        assert float(chance) == pytest.approx(float(law[value]), abs=1e-15)

    (kind,) = kinds
    assert kind == described(draw(np.random.default_rng(1)))


UNFOLLOWED: dict[str, tuple[Draw, str]] = {
    "bounds": (lambda rng: rng.uniform([0, 1], 2), "between arrays of bounds"),
    "integer bounds": (lambda rng: rng.integers([1, 2]), "integers between arrays of bounds"),
    "upper integer bounds": (lambda rng: rng.integers(0, [1, 2]), "integers between arrays"),
    "an axis of rows": (lambda rng: rng.permutation(ROWS, axis=1), "permutes along an axis"),
    "a shuffled axis": (lambda rng: rng.shuffle(MATRIX.copy(), axis=1), "shuffles along an axis"),
    "into an array": (lambda rng: rng.random(2, out=np.empty(2)), "into an array"),
    "many trials": (lambda rng: rng.binomial(10**7, 0.5), "10,000,000 trials, which is too many"),
}


@pytest.mark.parametrize("name", UNFOLLOWED)
def test_a_form_of_a_draw_that_is_not_followed_is_named(name: str) -> None:
    draw, why = UNFOLLOWED[name]
    with pytest.raises(AuditError, match=why):
        law_of(draw)


@pytest.mark.parametrize(
    "draw",
    [lambda rng: rng.integers(3, 2), lambda rng: rng.choice(3, size=4, replace=False)],
    ids=["an empty range", "more than there are"],
)
def test_arguments_that_numpy_refuses_are_refused(draw: Draw) -> None:
    with pytest.raises(AuditError, match="raises ValueError"):
        law_of(draw)


# Uniform numbers

POINT = Fraction(1, GRID)
QUARTER = Fraction(1, 4)

# 1 + u has half as many values: the sum just below 5/4 is rounded up to it.
COMPARED: dict[str, tuple[Callable[[Any], Any], Fraction]] = {
    "u < 1/4": (lambda u: u < 0.25, QUARTER),
    "u <= 1/4": (lambda u: u <= 0.25, QUARTER + POINT),
    "u >= 1/4": (lambda u: u >= 0.25, 3 * QUARTER),
    "u > 1/4": (lambda u: u > 0.25, 3 * QUARTER - POINT),
    "1/4 > u": (lambda u: 0.25 > u, QUARTER),  # noqa: SIM300
    "u == 1/4": (lambda u: u == 0.25, POINT),
    "u != 1/4": (lambda u: u != 0.25, 1 - POINT),
    "u": (lambda u: bool(u), 1 - POINT),
    "not u": (lambda u: not u, POINT),
    "u < infinity": (lambda u: u < math.inf, Fraction(1)),
    "u < -infinity": (lambda u: u < -math.inf, Fraction(0)),
    "u > -infinity": (lambda u: u > -math.inf, Fraction(1)),
    "u < 1": (lambda u: u < 1, Fraction(1)),
    "u <= 0": (lambda u: u <= 0, POINT),
    "u < 0": (lambda u: u < 0, Fraction(0)),
    "u < True": (lambda u: u < True, Fraction(1)),
    "u < a fraction": (lambda u: u < Fraction(3, 8), Fraction(3, 8)),
    "u < NumPy's 1/4": (lambda u: u < np.float64(0.25), QUARTER),
    "u <= u": (lambda u: u <= u, Fraction(1)),
    "u < u": (lambda u: u < u, Fraction(0)),
    "0 u < 1": (lambda u: 0 * u < 1, Fraction(1)),
    "0 u < 0": (lambda u: 0 * u < 0, Fraction(0)),
    "2 u < 1/2": (lambda u: 2 * u < 0.5, QUARTER),
    "u 2 < 1/2": (lambda u: u * 2 < 0.5, QUARTER),
    "u/2 < 1/8": (lambda u: u / 2 < 0.125, QUARTER),
    "u + 1 < 5/4": (lambda u: u + 1 < 1.25, QUARTER - POINT),
    "1 + u < 5/4": (lambda u: 1 + u < 1.25, QUARTER - POINT),
    "u - 1 < -3/4": (lambda u: u - 1 < -0.75, QUARTER),
    "1 - u <= 1/4": (lambda u: 1 - u <= 0.25, QUARTER),
    "-u < -3/4": (lambda u: -u < -0.75, QUARTER - POINT),
    "2 u - 1 > infinity": (lambda u: 2 * u - 1 > math.inf, Fraction(0)),
    "int(4 u) == 1": (lambda u: int(4 * u) == 1, QUARTER),
    "floor(4 u) == 3": (lambda u: math.floor(4 * u) == 3, QUARTER),
    "ceil(4 u) == 4": (lambda u: math.ceil(4 * u) == 4, QUARTER - POINT),
    "trunc(4 u - 2) == 0": (lambda u: math.trunc(4 * u - 2) == 0, 2 * QUARTER - POINT),
    "round(2 u) == 0": (lambda u: round(2 * u) == 0, QUARTER + POINT),
    "-4 u rounded down": (lambda u: math.floor(-4 * u) == -4, QUARTER - POINT),
    "int(u)": (lambda u: int(u) == 0, Fraction(1)),
    "two in a row": (lambda u: u < 0.5 and u >= 0.25, QUARTER),
    "rounded, then compared": (lambda u: int(4 * u) == 1 and u >= 0.5, Fraction(0)),
    "compared, then rounded": (lambda u: u < 0.5 and int(4 * u) == 3, Fraction(0)),
    "any entry": (lambda u: (u < np.array([0.125, 0.25])).any(), QUARTER),
    "all entries": (lambda u: (np.array([0.75, 0.5]) <= u).all(), QUARTER),
    "an array plus u": (lambda u: bool((np.array([1.0]) + u < 1.25)[0]), QUARTER - POINT),
    "none of them": (lambda u: bool((u != np.array([0.25, 0.5])).all()), 1 - 2 * POINT),
}


@pytest.mark.parametrize("name", COMPARED)
def test_a_uniform_number_is_compared_as_its_grid_of_2_53_values_says(name: str) -> None:
    compare, chance = COMPARED[name]
    law = law_of(lambda rng: bool(compare(rng.random())))
    assert law.get(True, Fraction(0)) == chance


NOT_COMPUTED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "//": (lambda u: u // 0.5, "floordiv"),
    "reversed //": (lambda u: 1 // u, "floordiv"),
    "reversed %": (lambda u: 1 % u, "mod"),
    "divmod": (lambda u: divmod(u, 0.5), "divmod"),
    "2**u": (lambda u: 2**u, "pow"),
    "1/u": (lambda u: 1 / u, "truediv"),
    "+u": (lambda u: +u, "pos"),
    "abs": (abs, "abs"),
    "complex": (complex, "complex"),
    "index": (lambda u: [1, 2][u], "index"),
    "repr": (repr, "text"),
    "key": (lambda u: {u: 1}, "hash"),
    "some digits": (lambda u: round(u, 1), "rounds a random number to some digits"),
    "a text": (lambda u: u < "0.5", r"compares a random number with a str; write float"),
    "text added": (lambda u: u + "1", r"computes with a random number and a str"),
    "nan added": (lambda u: u + math.nan, r"computes with a random number and nan"),
    "an attribute": (lambda u: u.hex(), r"asks for \.hex of a random number"),
}


@pytest.mark.parametrize("name", NOT_COMPUTED)
def test_arithmetic_that_cannot_be_followed_is_named(name: str) -> None:
    compute, why = NOT_COMPUTED[name]
    with pytest.raises(AuditError, match=why):
        law_of(lambda rng: compute(rng.random()))


def test_a_copy_of_a_uniform_number_is_that_number() -> None:
    def client(rng: np.random.Generator) -> bool:
        number = rng.random()
        (other,) = copy.deepcopy([number])
        return (number < 0.25) == (copy.copy(number) < 0.25) == (other < 0.25)

    assert law_of(client) == {True: Fraction(1)}


def test_as_many_whole_numbers_as_the_limit_are_followed_and_one_more_is_refused() -> None:
    assert law_of(lambda rng: int(10 * rng.random()), limit=20) == pytest.approx(
        dict.fromkeys(range(10), 0.1), abs=1e-15
    )
    with pytest.raises(AuditError, match="too many whole numbers"):
        law_of(lambda rng: int(22 * rng.random()), limit=20)
