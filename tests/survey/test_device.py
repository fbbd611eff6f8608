"""A device is stated by its probabilities or by a budget, and its privacy loss is exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
from readable import stated as by_what_is_stated

from ldpnb.survey.device import device


@pytest.mark.parametrize(
    ("stated", "epsilon"),
    [
        ({"p": "5/6", "q": "1/6"}, math.log(5)),
        ({"p": "1/6", "q": "5/6"}, math.log(5)),
        ({"p": "33/36", "q": "6/36"}, math.log(10)),
        ({"p": 1, "q": 0.5}, math.inf),
        ({"p": 0.3, "q": 0}, math.inf),
        ({"p": 1, "q": 0}, math.inf),
        ({"mechanism": "unary", "p": "1/2", "q": "1/4", "values": 3}, math.log(3)),
        ({"mechanism": "unary", "p": "1/4", "q": "1/2", "values": 3}, math.log(3)),
        ({"mechanism": "unary", "p": 1, "q": "1/4", "values": 3}, math.inf),
        ({"mechanism": "unary", "p": "1/2", "q": 0, "values": 3}, math.inf),
        ({"p": "1/2", "q": "1/6", "values": 4}, math.log(3)),
        ({"p": "3/4", "q": "1/4", "low": 0, "high": 9}, math.log(3)),
        ({"mechanism": "Laplace", "epsilon": 0.5, "low": 0, "high": 24}, 0.5),
        ({"mechanism": "OUE", "epsilon": 2.0, "values": 5}, 2.0),
    ],
    ids=by_what_is_stated,
)
def test_the_loss_of_a_device_is_exact(stated, epsilon):
    assert device(**stated).epsilon == pytest.approx(epsilon)


def test_decimals_are_taken_as_the_fractions_that_they_are_written_as():
    assert device(p=0.7, q="0.3").odds == Fraction(7, 3)


@pytest.mark.parametrize("mechanism", ["Warner", "k-RR", "SUE", "OUE", "1-bit"])
def test_a_budget_and_its_probabilities_state_the_same_device(mechanism):
    answers = {"1-bit": {"low": 0, "high": 1}, "Warner": {}}.get(mechanism, {"values": 5})
    by_budget = device(mechanism=mechanism, epsilon=1.3, **answers)

    same = "unary" if mechanism in ("SUE", "OUE") else mechanism
    by_chances = device(mechanism=same, p=by_budget.p, q=by_budget.q, **answers)

    assert by_chances.epsilon == pytest.approx(1.3)
    assert by_chances.base == pytest.approx(by_budget.base)
    assert by_chances.slope == pytest.approx(by_budget.slope, abs=1e-9)


@pytest.mark.parametrize("truth", [0.0, 0.3, 1.0])
def test_the_value_of_a_bit_of_a_number_is_unbiased_with_the_stated_variance(truth):
    made = device(p="5/6", q="1/3", low=0, high=1)
    rate = made.q + made.gap * truth
    values = made.value(np.array([0.0, 1.0]))
    mean = (1 - rate) * values[0] + rate * values[1]

    assert mean == pytest.approx(truth)

    variance = (1 - rate) * values[0] ** 2 + rate * values[1] ** 2 - mean**2
    assert made.variance(truth) == pytest.approx(variance)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({}, "by p and q, or by epsilon"),
        ({"p": 0.7}, "given together"),
        ({"p": 0.7, "q": 0.3, "epsilon": 1}, "epsilon must not be given with p and q"),
        ({"p": 0.5, "q": "1/2"}, "p and q must differ"),
        ({"p": 1.2, "q": 0.5}, r"p must lie in \[0, 1\], got p=1.2"),
        ({"p": "1e9999999", "q": 0.5}, "p must be a number or a fraction|p must lie"),
        ({"p": "three", "q": 0.5}, "p must be a number or a fraction, got 'three'"),
        ({"p": "1/0", "q": 0.5}, "p must be a number or a fraction"),
        ({"epsilon": 0}, "epsilon must be > 0 and finite, got epsilon=0"),
        ({"epsilon": 60}, "epsilon must lie in"),
        ({"epsilon": 1, "mechanism": "k-RR"}, "k-RR needs values"),
        ({"epsilon": 1, "mechanism": "unary", "values": 3}, "unary needs p and q"),
        ({"p": 0.5, "q": 0.2, "mechanism": "OUE", "values": 3}, "OUE needs epsilon"),
        ({"p": 0.5, "q": 0.2, "values": 4}, r"p \+ \(k - 1\) q must be 1"),
        ({"epsilon": 1, "values": ["a", "a"]}, "values must be different words"),
        ({"epsilon": 1, "values": ["a"]}, "at least two words"),
        ({"epsilon": 1, "values": 1}, "values must be an integer from 2"),
        ({"epsilon": 1, "mechanism": "Warner", "values": 3}, "Warner needs exactly 2 values"),
        ({"epsilon": 1, "low": 0}, "1-bit needs a range"),
        ({"epsilon": 1, "low": 3, "high": 3}, "low must be < high"),
        ({"epsilon": 1, "low": 0, "high": 9, "values": 3}, "values must not be given with 1-bit"),
        ({"epsilon": 1, "mechanism": "Warner", "low": 0, "high": 1}, "a range must not be given"),
        ({"epsilon": 1, "mechanism": "RAPPOR"}, "mechanism must be one of Warner"),
    ],
    ids=by_what_is_stated,
)
def test_what_is_no_device_is_refused(stated, words):
    with pytest.raises((ValueError, TypeError), match=words):
        device(**stated)


@pytest.mark.parametrize("truth", [0.0, 0.3, 1.0])
def test_the_variance_of_noise_does_not_depend_on_the_number(truth):
    made = device(mechanism="Laplace", epsilon=0.5, low=0, high=9)
    assert made.variance(truth) == pytest.approx(2 * 2**2)
    assert made.value(7.5) == 7.5


ENDS = [
    ({"epsilon": 1e-6}, {"epsilon": 9e-7}, "epsilon must lie in"),
    ({"epsilon": 50}, {"epsilon": 50.1}, "epsilon must lie in"),
    ({"p": 1, "q": 0}, {"p": 1.001, "q": 0}, "p must lie in"),
    ({"p": 0, "q": 1}, {"p": 0.5, "q": -0.001}, "q must lie in"),
    ({"p": "0.500000000001", "q": 0.5}, {"p": "0.5000000000009", "q": 0.5}, "must differ by"),
    ({"epsilon": 1, "values": 2}, {"epsilon": 1, "values": 1}, "values must be an integer from 2"),
    (
        {"epsilon": 1, "values": 100_000},
        {"epsilon": 1, "values": 100_001},
        "values must be an integer from 2 to 100000",
    ),
    (
        {"p": 0.4, "q": 0.2000000001, "values": 4},
        {"p": 0.4, "q": 0.200000001, "values": 4},
        "must be 1 for k = 4 answers",
    ),
    (
        {"epsilon": 1, "values": ["a", "b"], "mechanism": "Warner"},
        {"epsilon": 1, "values": ["a", "b", "c"], "mechanism": "Warner"},
        "Warner needs exactly 2 values",
    ),
]


@pytest.mark.parametrize(
    ("last", "beyond", "words"), ENDS, ids=[by_what_is_stated(beyond) for _, beyond, _ in ENDS]
)
def test_what_is_at_an_end_is_a_device_and_what_lies_beyond_is_refused(last, beyond, words):
    device(**last)
    with pytest.raises(ValueError, match=words):
        device(**beyond)


@pytest.mark.parametrize(
    ("stated", "mechanism", "answers"),
    [
        ({}, "Warner", ("yes", "no")),
        ({"values": 2}, "Warner", ("1", "2")),
        ({"values": ["ever", "never"]}, "Warner", ("ever", "never")),
        ({"values": 3}, "k-RR", ("1", "2", "3")),
        ({"values": [" a", "b ", "c"]}, "k-RR", ("a", "b", "c")),
        ({"low": 0, "high": 9}, "1-bit", ()),
    ],
    ids=by_what_is_stated,
)
def test_a_device_without_a_name_is_the_usual_one_for_its_answers(stated, mechanism, answers):
    made = device(epsilon=1, **stated)
    assert made.mechanism == mechanism
    assert made.answers == answers


def test_the_loss_of_rare_reports_is_exact():
    assert device(p=0.5, q=1e-310).epsilon == pytest.approx(math.log(0.5) + 310 * math.log(10))
    assert device(p="0.500000000001", q=0.5).epsilon == pytest.approx(2e-12, rel=1e-9)
