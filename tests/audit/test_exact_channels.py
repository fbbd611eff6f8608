"""An audit finds the exact channel of a client, its privacy loss, and the bias of its estimates.

Clients whose channel is known come out exactly, in fractions; clients that are wrong on purpose are
caught; simulated reports agree with the exact channel; and loops that need not end are cut, with
bounds that are certified.
"""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from clients import RIGHT, WRONG, E, forced, krr, shuffled, subset, unary, unary_binomial, warner
from scipy import stats

import ldpnb as ldp
from ldpnb.accuracy.histograms import pure_variance
from ldpnb.audit import AuditError, ExactChannel, exact_channel


def test_warners_channel_is_a_matrix_of_quarters():
    channel = exact_channel(warner, [0, 1])
    assert channel.fractions == ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    assert channel.epsilon == pytest.approx(math.log(3), abs=1e-15)
    assert channel.output == 0
    assert channel.pair == (0, 1)
    assert channel.paths == 4

    loss = ldp.privacy_loss(channel.probabilities)
    assert loss.output == 0
    assert loss.inputs == (0, 1)
    assert channel.epsilon == pytest.approx(loss.epsilon, abs=1e-15)


def test_a_die_is_six_branches():
    channel = exact_channel(forced, [False, True])
    assert channel.outputs == ("no", "yes")
    assert channel.fractions == ((Fraction(5, 6), Fraction(1, 6)), (Fraction(1, 6), Fraction(5, 6)))


@pytest.mark.parametrize("name", [name for name in RIGHT if name.startswith("k-RR")])
def test_krr_is_exact_however_it_is_written(name):
    client, inputs = RIGHT[name]
    channel = exact_channel(client, inputs)

    true = {channel.fractions[i][i] for i in range(5)}
    assert true == {Fraction(1, 2)}

    others = {channel.fractions[i][j] for i, j in itertools.permutations(range(5), 2)}
    assert others == {Fraction(1, 8)}


@pytest.mark.parametrize("client", [unary, unary_binomial])
def test_bits_of_a_unary_encoding_are_independent(client):
    channel = exact_channel(client, range(4))
    mechanism = ldp.UnaryEncoding(0.5, 0.25, 4)
    order = [channel.outputs.index(tuple(bits)) for bits in mechanism.outputs().tolist()]
    assert np.array_equal(channel.probabilities[order], mechanism.channel())


def test_subsets_are_drawn_without_replacement():
    channel = exact_channel(subset, range(5))
    assert channel.outputs == tuple(itertools.combinations(range(5), 2))
    for output, row in zip(channel.outputs, channel.fractions, strict=True):
        assert [mass == Fraction(3, 16) for mass in row] == [value in output for value in range(5)]


def test_a_shuffle_and_a_secret_bit():
    channel = exact_channel(shuffled, range(3))
    assert channel.fractions[0] == (Fraction(2, 3), Fraction(1, 6), Fraction(1, 6))


@pytest.mark.parametrize(
    "mechanism",
    [
        ldp.KaryRandomisedResponse(1.0, 4),
        ldp.UnaryEncoding.optimised(1.0, 3),
        ldp.UnaryEncoding.symmetric(0.5, 3),
        ldp.SignRandomiser(1.0, 3),
    ],
    ids=["k-RR", "OUE", "SUE", "signs"],
)
def test_our_own_mechanisms_do_what_they_state(mechanism):
    def client(value, rng):
        return mechanism.randomize([value], rng=rng)[0]

    channel = exact_channel(client, range(mechanism.domain_size))
    assert channel.epsilon == pytest.approx(float(mechanism.epsilon), abs=2e-15)

    if isinstance(mechanism, ldp.KaryRandomisedResponse):
        outputs = range(mechanism.domain_size)
    else:
        outputs = [tuple(output) for output in mechanism.outputs().tolist()]

    order = [channel.outputs.index(output) for output in outputs]
    np.testing.assert_allclose(channel.probabilities[order], mechanism.channel(), atol=1e-15)


def test_grid_points_of_a_uniform_number_are_counted():
    def client(value, rng):
        number = rng.random()
        first = 0.25 < number <= 0.5
        second = number < 0.375
        return first, second, bool(number == 0.25)

    channel = exact_channel(client, [0, 1])
    point = Fraction(1, 2**53)
    law = {output: row[0] for output, row in zip(channel.outputs, channel.fractions, strict=True)}

    assert sum(law.values()) == 1
    assert law[(False, True, True)] == point
    assert law[(True, True, False)] == Fraction(1, 8) - point
    assert law[(True, False, False)] == Fraction(1, 8) + point


@pytest.mark.parametrize(
    ("number", "threshold"),
    [
        (lambda u: 3 * u - 1, 0.1),
        (lambda u: 1 - u, 0.3),
        (lambda u: (u + 0.1) / 7, 0.05),
        (lambda u: -u, -0.7),
        (lambda u: math.floor(10 * u), 3),
        (lambda u: round(4 * u), 2),
        (lambda u: 2.0**60 * u + 1.0, 2.0**59),
    ],
    ids=["3u - 1", "1 - u", "(u + 0.1)/7", "-u", "floor(10 u)", "round(4 u)", "2^60 u + 1"],
)
def test_arithmetic_on_a_draw_splits_where_floats_do(number, threshold):
    channel = exact_channel(lambda value, rng: bool(number(rng.random()) < threshold), [0, 1])
    steps = channel.fractions[channel.outputs.index(True)][0] * 2**53
    assert steps.denominator == 1

    # The last grid point on the one side, and the first on the other, by the client's own floats.
    rises = number(0.75) >= number(0.25)
    first = int(steps) if rises else 2**53 - int(steps)
    assert bool(number((first - 1) / 2**53) < threshold) == rises
    assert bool(number(first / 2**53) < threshold) != rises


def test_a_budget_of_40_nats_does_not_fit_a_float():
    rate = math.exp(40) / (math.exp(40) + 1)
    channel = exact_channel(lambda x: x if random.random() < rate else 1 - x, [0, 1])
    assert channel.epsilon == math.inf


def test_neighbours_may_be_chosen():
    def two_bits(pair):
        return [bit if random.random() < 0.75 else 1 - bit for bit in pair]

    def differ_in_one(one, other):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1

    channel = exact_channel(two_bits, itertools.product(range(2), repeat=2))
    assert channel.epsilon == pytest.approx(math.log(9))
    assert channel.loss(differ_in_one).epsilon == pytest.approx(math.log(3))
    with pytest.raises(ValueError, match="neighbours must be true for at least one pair"):
        channel.loss(lambda one, other: False)


def test_p_and_q_are_those_of_the_mechanism():
    of_krr = exact_channel(krr, range(5)).marginals()
    assert of_krr == pytest.approx((1 / 2, 1 / 8), abs=1e-15)

    of_unary_encoding = exact_channel(unary, range(4)).marginals()
    assert of_unary_encoding == pytest.approx((1 / 2, 1 / 4), abs=1e-15)

    of_subset_selection = exact_channel(subset, range(5)).marginals()
    assert of_subset_selection == pytest.approx((3 / 4, 5 / 16), abs=1e-15)


def test_a_hashed_report_has_p_and_q_once_it_is_said_what_it_supports():
    def hashed(value):
        seed = random.randrange(3)
        cell = (value + seed) % 3 // 2
        return seed, cell if random.random() < 0.75 else 1 - cell

    def supports(report):
        seed, cell = report
        return [value for value in range(3) if (value + seed) % 3 // 2 == cell]

    channel = exact_channel(hashed, range(3))
    assert channel.marginals() is None

    p, q = channel.marginals(supports)
    assert p == pytest.approx(0.75, abs=1e-15)
    assert q == pytest.approx(0.75 / 3 + 0.25 * 2 / 3, abs=1e-15)


def test_the_estimates_of_our_mechanisms_are_unbiased_with_the_exact_variance():
    channel = exact_channel(unary, range(4))
    mechanism = ldp.UnaryEncoding(0.5, 0.25, 4)

    def estimate(bits):
        return (np.array(bits) - 0.25) / 0.25

    assert channel.is_unbiased(estimate)

    _, variances = channel.moments(estimate)
    assert variances[0, 0] == pytest.approx(pure_variance(1, users=1, mechanism=mechanism))
    assert variances[0, 1] == pytest.approx(pure_variance(0, users=1, mechanism=mechanism))


def test_an_estimate_with_rates_swapped_or_scaled_is_biased():
    channel = exact_channel(unary, range(4))
    assert not channel.is_unbiased(lambda bits: (np.array(bits) - 0.5) / 0.25)
    assert not channel.is_unbiased(lambda bits: np.array(bits) - 0.25)

    single = exact_channel(warner, [0, 1])
    assert single.is_unbiased(lambda report: 2 * report - 0.5)
    assert not single.is_unbiased(lambda report: report)
    with pytest.raises(ValueError, match=r"truth must have shape \(2,\), got shape \(3,\)"):
        single.is_unbiased(lambda report: report, truth=[0, 1, 2])


def test_a_report_is_printed_in_four_lines():
    assert str(exact_channel(warner, [0, 1])).splitlines() == [
        "2 inputs, 2 outputs, 4 paths",
        "epsilon is 1.09861228867, where any two inputs are neighbours",
        "output 0 has probability 0.75 from input 0 and 0.25 from input 1",
        "a pure protocol with p = 0.75 and q = 0.25",
    ]


@pytest.mark.parametrize("client", WRONG, ids=lambda client: client.__name__)
def test_a_client_that_is_wrong_on_purpose_is_caught(client):
    inputs, true = WRONG[client]
    channel = exact_channel(client, inputs)
    stated = 40.0 if client.__name__ == "huge_budget" else 1.0

    assert channel.exceeds(stated)
    assert channel.epsilon == pytest.approx(true, abs=1e-14)
    assert len(str(channel).splitlines()) == 4

    # The pair of inputs and the output that are named have that loss.
    row = channel.probabilities[channel.outputs.index(channel.output)]
    places = [list(inputs).index(value) for value in channel.pair]
    likelier, other = row[places]
    ratio = likelier / other if other else math.inf
    assert math.log(ratio) == pytest.approx(true, abs=1e-12)


def as_tuple(report):
    """A report that can be counted, whether it is a number, a word, a list or an array."""
    return tuple(np.atleast_1d(report).tolist())


@pytest.mark.parametrize("name", RIGHT)
def test_simulated_reports_agree_with_the_exact_channel(name):
    client, inputs = RIGHT[name]
    channel = exact_channel(client, inputs)
    outputs = [as_tuple(output) for output in channel.outputs]

    # The clients draw from these three generators.
    rng = np.random.default_rng(sum(map(ord, name)))
    random.seed(name)
    np.random.seed(rng.integers(2**32))  # noqa: NPY002
    generators = [rng] if client.__code__.co_varnames[1:2] == ("rng",) else []

    reports = 2_000
    false_alarm = 1e-6 / channel.probabilities.size

    for place, value in enumerate(inputs):
        tallies = Counter(as_tuple(client(value, *generators)) for _ in range(reports))
        assert tallies.keys() <= set(outputs)

        for output, chance in zip(outputs, channel.probabilities[:, place], strict=True):
            test = stats.binomtest(tallies[output], reports, chance)
            assert test.pvalue > false_alarm, (value, output)


def test_the_sum_of_all_paths_is_one_in_fractions():
    for client, inputs in RIGHT.values():
        channel = exact_channel(client, inputs)
        for column in zip(*channel.fractions, strict=True):
            assert sum(column) == 1


# Loops


def by_rejection(value):
    """k-RR by rejection: draws again until the other value differs from the own one."""
    if random.random() < 0.5:
        return value

    while True:
        other = random.randrange(4)
        if other != value:
            return other


def geometric(value):
    """A two-sided geometric noise, which may be of any size."""
    size = 0
    while random.random() < 0.5:
        size += 1
    return value + (size if random.random() < 0.5 else -size)


@pytest.mark.parametrize("client", [by_rejection, geometric])
def test_a_loop_that_need_not_end_is_refused(client):
    with pytest.raises(AuditError, match="may never end, give cut=1e-12"):
        exact_channel(client, range(4))


def test_a_cut_loop_has_certified_bounds():
    channel = exact_channel(by_rejection, range(4), cut=1e-12)
    assert 0 < channel.delta < 1e-11
    assert channel.epsilon == pytest.approx(math.log(3), abs=1e-10)
    assert channel.lower_bound <= math.log(3) <= channel.epsilon + 1e-10
    assert "at delta" in str(channel).splitlines()[1]
    assert channel.marginals() is None
    with pytest.raises(ValueError, match="cut must be 0"):
        channel.is_unbiased(lambda report: report)


def test_geometric_noise_that_was_cut_keeps_its_budget():
    channel = exact_channel(geometric, [0, 1], cut=1e-9)
    assert channel.delta < 1e-8
    assert channel.epsilon == pytest.approx(2 * math.log(2), abs=1e-12)  # the centre counts twice


def test_a_cut_loop_cannot_hide_a_leak():
    channel = exact_channel(lambda x: (x, by_rejection(x)), range(2), cut=1e-12)
    assert channel.delta == pytest.approx(1)
    assert channel.lower_bound > 20
    assert channel.exceeds(20.0)


def test_what_is_kept_to_rounding_is_not_exceeded():
    rate = E / (E + 3)
    channel = exact_channel(lambda value: krr(value, 4, rate), range(4))

    assert not channel.exceeds(1.0)
    assert channel.exceeds(1.0 - 1e-8)
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        channel.exceeds(0.0)


def test_the_result_is_of_a_public_type():
    assert isinstance(ldp.exact_channel(warner, [0, 1]), ExactChannel)
