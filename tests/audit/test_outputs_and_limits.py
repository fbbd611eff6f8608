"""A client's outputs are compared as an observer would compare them, up to the stated limits."""

import enum
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ldpnb.audit import AuditError, exact_channel
from ldpnb.audit.tape import DEEPEST


class Answer(enum.Enum):
    NO = 0
    YES = 1


def coin() -> bool:
    return random.random() < 0.5


def numbered(value: int) -> Any:
    yield value
    yield 2


OUTPUTS: dict[str, tuple[Any, Any]] = {
    "a list": (lambda x: [x, [2]], (0, (2,))),
    "an array": (lambda x: np.array([[x, 1], [2, 3]]), ((0, 1), (2, 3))),
    "a number of NumPy": (lambda x: np.int64(x), 0),
    "an array of one": (lambda x: np.array(x), 0),
    "a set": (lambda x: {3, x, 2}, (0, 2, 3)),
    "a dictionary": (lambda x: {"b": x, "a": [1]}, (("a", (1,)), ("b", 0))),
    "an iterator": (numbered, (0, 2)),
    "words and numbers": (lambda x: {"b", x, None}, ("b", 0, None)),
    "a text": (lambda x: f"x{x}", "x0"),
    "bytes": (lambda x: bytes([x]), b"\0"),
    "infinity": (lambda x: math.inf if x == 0 else 1.0, "inf"),
    "not a number": (lambda x: math.nan if x == 0 else 1.0, "nan"),
    "minus zero": (lambda x: -0.0 if x == 0 else 0.0, "-0.0"),
    "an enumeration": (lambda x: Answer(x), Answer.NO),
    "a fraction": (lambda x: Fraction(x, 3), Fraction(0)),
    "a decimal": (lambda x: Decimal(x), Decimal(0)),
    "nothing": (lambda x: None if x == 0 else x, None),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_compared_by_what_it_holds(name: str) -> None:
    client, first = OUTPUTS[name]
    channel = exact_channel(client, [0, 1])
    assert len(channel.outputs) == 2
    assert channel.fractions[channel.outputs.index(first)] == (1, 0)


def test_the_order_in_which_a_set_or_a_dictionary_was_filled_does_not_matter() -> None:
    def client(value: int) -> Any:
        keys = ["a", "b"] if coin() else ["b", "a"]
        return dict.fromkeys(keys, value), {8, 16} if coin() else {16, 8}

    assert exact_channel(client, [0, 1]).paths == 8
    assert len(exact_channel(client, [0, 1]).outputs) == 2


def test_a_client_may_change_the_value_that_it_is_given() -> None:
    def client(values: list[int]) -> list[int]:
        values[0] += coin()
        return values

    channel = exact_channel(client, [[0], [1]])
    assert channel.outputs == ((0,), (1,), (2,))
    assert channel.inputs == ([0], [1])


def by_name(value: int, scale: int = 2, *, rng: np.random.Generator) -> bool:
    return rng.random() < 0.25 * (1 + value) * scale / 2


def by_place(value: int, generator: np.random.Generator) -> bool:
    return generator.random() < 0.25 * (1 + value)


def with_a_default(value: int, share: float = 0.25) -> bool:
    return random.random() < share * (1 + value)


def with_others(value: int, *others: int, **options: int) -> bool:
    assert not others
    return with_a_default(value, **options)


@pytest.mark.parametrize("client", [by_name, by_place, with_a_default, with_others])
def test_a_client_is_given_a_generator_if_it_asks_for_one(client: Any) -> None:
    quarter = Fraction(1, 4)
    assert exact_channel(client, [0, 1]).fractions == (
        (3 * quarter, 2 * quarter),
        (quarter, 2 * quarter),
    )


def test_inputs_may_be_an_array_or_any_iterable() -> None:
    for inputs in (np.arange(2), iter([0, 1]), range(2), (0, 1)):
        assert exact_channel(lambda value: value, inputs).inputs == (0, 1)


def test_inputs_of_different_types_are_different() -> None:
    assert exact_channel(lambda value: str(value), [1, True]).outputs == ("1", "True")


def two_bits(value: int) -> tuple[bool, bool]:
    return coin(), coin()


def test_as_many_paths_as_the_limit_are_followed_and_one_more_is_refused() -> None:
    assert exact_channel(two_bits, [0, 1], limit=8).paths == 8
    with pytest.raises(AuditError, match="more than 7 paths"):
        exact_channel(two_bits, [0, 1], limit=7)


def test_as_many_integers_as_the_limit_are_drawn_and_one_more_is_refused() -> None:
    assert exact_channel(lambda value: random.randrange(4), [0, 1], limit=8).paths == 8
    assert exact_channel(lambda value: value + random.randrange(1), [0, 1], limit=2).paths == 2
    with pytest.raises(AuditError, match="draws one of 9 integers, more than the limit of 8"):
        exact_channel(lambda value: random.randrange(9), [0, 1], limit=8)


def test_an_iterator_may_have_as_many_entries_as_the_limit() -> None:
    channel = exact_channel(lambda value: iter([value] * 8), [0, 1], limit=8)
    assert channel.outputs == ((0,) * 8, (1,) * 8)
    with pytest.raises(AuditError, match="an iterator of more than 8 entries"):
        exact_channel(lambda value: iter([value] * 9), [0, 1], limit=8)


def waiting(most: int) -> Any:
    """A client that draws until it meets a zero, but at most so many times."""

    def client(value: int) -> int:
        for turn in range(most):
            if random.random() < 0.5:
                return turn
        return most

    return client


def test_a_path_may_have_500_choices_and_no_more() -> None:
    channel = exact_channel(waiting(DEEPEST), [0, 1])
    assert channel.fractions[-1] == (Fraction(1, 2**DEEPEST),) * 2
    with pytest.raises(AuditError, match="more than 500 random choices"):
        exact_channel(waiting(DEEPEST + 1), [0, 1])


@pytest.mark.parametrize(("cut", "kept"), [(Fraction(1, 8), 3), (0.126, 2), (0.25, 2), (0.26, 1)])
def test_paths_that_are_less_likely_than_the_cut_are_left_and_accounted_for(
    cut: Any, kept: int
) -> None:
    channel = exact_channel(waiting(9), [0, 1], cut=float(cut))
    whole = [Fraction(1, 2 ** (turn + 1)) for turn in range(kept)]
    assert [row[0] for row in channel.fractions][:kept] == whole
    assert channel.lost[0] == 1 - sum(row[0] for row in channel.fractions)


def test_a_path_that_is_cut_at_once_is_lost_as_a_whole() -> None:
    channel = exact_channel(lambda value: (value, random.randrange(4)), [0, 1], cut=0.3)
    assert channel.outputs == ()
    assert channel.lost == (1, 1)


def test_what_differs_only_after_many_calls_is_noticed() -> None:
    """The client is run on every path three times in all."""
    calls: list[int] = []

    def client(value: int) -> int:
        calls.append(value)
        return value if coin() else len(calls) // 9

    with pytest.raises(AuditError, match="two outputs for the same draws"):
        exact_channel(client, [0, 1])
