"""Plans of surveys.

They have known values; count, epsilon, error and failure agree whichever is left out; the error
that a plan promises is as rare as it says, in simulated surveys; and what contradicts itself is
refused.
"""

import itertools
import math
import time

import numpy as np
import pytest
from readable import stated as by_what_is_stated
from scipy import stats

from ldpnb.rng import stream
from ldpnb.survey.designs import ClusteredSample, SimpleSample, mean_inverse
from ldpnb.survey.device import device
from ldpnb.survey.planning import plan
from ldpnb.survey.sample import Values, drawn_sample, estimated

ASKED = {"error": 0.05, "failure": 0.05}
STRATA = {"population": {"a": 6000, "b": 3000, "c": 1000}, "sds": {"a": 0.1, "b": 0.3, "c": 0.5}}
CLUSTERS = {"clusters": 400, "cluster_size": 25, "icc": 0.05}


@pytest.mark.parametrize(
    ("stated", "value"),
    [
        ({"epsilon": 1, "population": 10_000}, 1774),
        ({"epsilon": 1, "population": "everyone"}, 1458),
        ({"epsilon": 1}, 1842),
        ({"p": "5/6", "q": "1/6", "population": 10_000}, 861),
        ({"p": "1/6", "q": "5/6", "population": 10_000}, 861),
        ({"epsilon": 1, **CLUSTERS, "sd": 0.5}, 84),
        ({"epsilon": 2, **CLUSTERS, "take": 15, "low": 0, "high": 1}, 58),
    ],
    ids=by_what_is_stated,
)
def test_known_numbers_of_people_and_clusters(stated, value):
    assert plan(**ASKED, **stated).best.count == value


@pytest.mark.parametrize("unknown", ["count", "epsilon", "error", "failure"])
@pytest.mark.parametrize(
    "design",
    [
        {"population": 10_000},
        {"population": "everyone", "low": 0, "high": 1, "mechanism": "Laplace"},
        {"values": 8, "mechanism": "OUE", "simultaneous": True},
        {**STRATA, "low": 0, "high": 1, "mechanism": "Laplace", "neyman": True},
        {**CLUSTERS, "take": 10, "response": 0.6},
    ],
    ids=["simple", "everyone", "shares", "strata", "clusters"],
)
def test_the_four_quantities_agree(unknown, design):
    known = {
        "count": 150 if "clusters" in design else 2000,
        "epsilon": 1.0,
        "error": 0.14 if "values" in design else 0.06,
    }
    known["failure"] = plan(**known, **design).best.failure
    assert 1e-12 < known["failure"] < 1

    asked = {name: value for name, value in known.items() if name != unknown}
    found = getattr(plan(**asked, **design).best, unknown)
    if unknown == "count":  # as many may do as well
        assert found <= known["count"]
    else:
        assert found == pytest.approx(known[unknown], rel=1e-6)


@pytest.mark.parametrize("mechanism", ["1-bit", "Laplace"])
@pytest.mark.parametrize("unknown", ["count", "epsilon", "error", "failure"])
@pytest.mark.parametrize(
    "design", [{}, {"population": "everyone"}, CLUSTERS], ids=["simple", "everyone", "clusters"]
)
def test_a_plan_in_another_unit_is_the_same_plan(mechanism, unknown, design):
    known = {"count": 200, "epsilon": 1.0, "error": 0.2, "failure": 0.05}
    del known[unknown]
    wanted = plan(**known, **design, mechanism=mechanism, low=0, high=1).best

    if "error" in known:
        known["error"] *= 40
    found = plan(**known, **design, mechanism=mechanism, low=-5, high=35).best
    assert found.count == wanted.count
    assert found.epsilon == pytest.approx(wanted.epsilon)
    assert found.error == pytest.approx(40 * wanted.error)
    assert found.failure == pytest.approx(wanted.failure)
    assert found.variance.total == pytest.approx(40**2 * wanted.variance.total)


@pytest.mark.parametrize(("response", "words"), [(1.0, ""), (0.6, ", of whom 60% will respond")])
def test_a_plan_of_clusters_says_how_many_will_respond(response, words):
    planned = plan(epsilon=1.0, error=0.1, failure=0.05, response=response, **CLUSTERS)
    text = " ".join(str(planned).split())
    assert f"These are {25 * planned.best.count} people{words}." in text


@pytest.mark.parametrize("take", [4, 6, 8, 10, 12])
def test_ordinary_nonresponse_in_clusters_can_be_planned(take):
    design = {"clusters": 1000, "cluster_size": 40, "take": take, "icc": 0.05}
    asked = {"epsilon": 2, "error": 0.06, "failure": 0.05}

    all_respond = plan(**asked, **design, response=1.0).best
    some_respond = plan(**asked, **design, response=0.6).best
    assert all_respond.count < some_respond.count < 2.5 * all_respond.count


def test_the_mean_of_one_over_a_binomial_number_by_enumeration():
    for take, response in itertools.product((1, 2, 5), (0.3, 0.9)):
        chances = [
            math.comb(take, k) * response**k * (1 - response) ** (take - k) for k in range(take + 1)
        ]
        wanted = sum(chance / k for k, chance in enumerate(chances) if k)

        some, inverse = mean_inverse(take, response)
        assert some == pytest.approx(1 - chances[0])
        assert inverse == pytest.approx(wanted / some)


def test_many_reports_of_many_people_are_not_listed_one_by_one():
    reports = np.arange(1, 20_001)
    chances = stats.binom.pmf(reports, 20_000, 0.6)
    assert mean_inverse(20_000, 0.6)[1] == pytest.approx(float(chances @ (1 / reports)), rel=1e-7)


def test_few_reports_of_many_people_are_summed():
    """As a Poisson number, of mean 2."""
    chances = [math.exp(-2) * 2**k / math.factorial(k) for k in range(60)]
    some, inverse = mean_inverse(10**9, 2e-9)

    assert some == pytest.approx(1 - chances[0], rel=1e-8)
    wanted = sum(chance / k for k, chance in enumerate(chances) if k) / some
    assert inverse == pytest.approx(wanted, rel=1e-8)


def test_response_of_each_stratum_multiplies_its_invitations():
    response = {"a": 0.6, "b": 0.25}
    found = plan(population={"a": 6000, "b": 3000}, response=response, epsilon=2, **ASKED)
    text = " ".join(str(found).split())

    reports = found.design.allocated(found.best.count, found.best.device)
    assert reports["a"] == pytest.approx(2 * reports["b"], abs=1)

    assert f"for {found.best.count} reports" in text
    assert f"a {math.ceil(reports['a'] / 0.6)} for {reports['a']} reports" in text
    assert f"b {math.ceil(reports['b'] / 0.25)} for {reports['b']} reports" in text


def test_no_stratum_is_asked_for_more_reports_than_can_come_in():
    found = plan(
        population={"a": 5000, "b": 300}, response={"a": 0.9, "b": 0.1}, epsilon=2, **ASKED
    )
    assert found.design.allocated(found.best.count, found.best.device)["b"] <= 30


def test_neymans_allocation_is_the_best_one_and_counts_the_randomisation():
    stated = {"mechanism": "Laplace", "epsilon": 2, "low": 0, "high": 1}
    made = device(**stated)
    found = plan(**STRATA, neyman=True, **stated, **ASKED)
    drawn = np.array(list(found.design.allocated(300, made).values()))

    spreads = np.array([0.01, 0.09, 0.25]) + made.base
    squared_shares = np.array([0.6, 0.3, 0.1]) ** 2

    def variance(reports):
        return (squared_shares * spreads / reports).sum()

    for moved in itertools.permutations(range(3), 2):
        other = drawn.copy()
        other[list(moved)] += [1, -1]
        assert variance(other) >= variance(drawn)


@pytest.mark.parametrize(
    ("p", "q", "worst"), [(0.5, 0.1, 0.8), (0.9, 0.5, 0.2)], ids=["p + q below 1", "p + q above 1"]
)
def test_a_stated_sd_is_planned_at_the_larger_randomisation(p, q, worst):
    """If p + q is not 1, two shares have the same sd and unlike randomisation."""
    made = device(p=p, q=q)
    sd = math.sqrt(worst * (1 - worst))
    design = ClusteredSample(100, 10, 10, 0.0, sd * math.sqrt(1000 / 999))
    found = design.variance(20, made).randomisation

    assert found == pytest.approx(made.variance(worst) / 200)
    assert made.variance(worst) > made.variance(1 - worst)


@pytest.mark.parametrize(
    ("q", "mean"), [(0.25, 0.5), (0.05, 0.8), (0.45, 0.2)], ids=["middle", "upper end", "lower end"]
)
def test_a_stated_sd_of_numbers_is_planned_at_the_mean_where_bits_vary_most(q, mean):
    """The variance of a bit is largest where yes and no are equally likely, if that mean fits."""
    made = device(p=q + 0.5, q=q, low=0, high=1)
    sd = 0.4
    design = ClusteredSample(100, 10, 10, 0.0, sd * math.sqrt(1000 / 999))
    found = design.variance(20, made).randomisation

    rate = made.q + made.gap * mean
    assert found == pytest.approx((rate * (1 - rate) / made.gap**2 - sd**2) / 200)


@pytest.mark.parametrize("mechanism", ["Warner", "k-RR", "OUE", "1-bit", "Laplace"])
def test_no_population_has_a_larger_variance_than_the_least_favourable_one(mechanism):
    stated = {"1-bit": {"low": 0, "high": 1}, "Laplace": {"low": 0, "high": 1}, "Warner": {}}
    made = device(mechanism=mechanism, epsilon=1, **stated.get(mechanism, {"values": 5}))
    largest = SimpleSample(40).variance(10, made).total
    rng = stream("populations", seed=8)

    for _ in range(200):
        truths = rng.random(40)
        if not made.is_of_numbers:
            truths = (truths < rng.random()).astype(float)

        sampling = (1 / 10 - 1 / 40) * truths.var(ddof=1)
        randomisation = np.mean(made.variance(truths)) / 10
        assert sampling + randomisation <= largest * (1 + 1e-9)


def test_strata_of_83_million_people_are_planned_at_once():
    sizes = {f"s{place}": 5_000_000 + 25_000 * place for place in range(16)}
    sds = {name: 0.1 + 0.02 * place for place, name in enumerate(sizes)}

    began = time.process_time()
    plan(population=sizes, epsilon=1, error=0.01, failure=0.05)
    plan(population=sizes, sds=sds, neyman=True, epsilon=1, error=0.01, failure=0.05)
    assert time.process_time() - began < 3


# Promises


def clustered_truth(rng, clusters, size, icc):
    """Values 0 and 1, half of each on average, with about this correlation within clusters."""
    alike = rng.random(clusters) < 0.5
    takes = rng.random((clusters, size)) < math.sqrt(icc)
    own = rng.random((clusters, size)) < 0.5
    return np.where(takes, alike[:, None], own).astype(float)


def icc_of(truth):
    """The correlation within clusters of a population."""
    clusters, size = truth.shape
    between = truth.mean(axis=1).var(ddof=1) * size**2 * (clusters - 1)
    return (between / (truth.size - 1) / truth.var(ddof=1) - 1) / (size - 1)


def share_of_large_errors(draw, truth, error, repetitions):
    """How often an estimate that is drawn anew is off by that error or more."""
    wrong = sum(abs(draw() - truth) >= error for _ in range(repetitions))
    return wrong / repetitions


def estimated_bits(made, truths, rng):
    """What each report of people with these values adds to an unbiased estimate of their mean."""
    reports = (rng.random(truths.size) < made.q + made.gap * truths).astype(float)
    return made.value(reports)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.8])
@pytest.mark.parametrize(
    "stated",
    [{"epsilon": 1}, {"p": "5/6", "q": "1/3"}, {"p": 1, "q": "1/4"}],
    ids=by_what_is_stated,
)
@pytest.mark.parametrize("population", [3000, "everyone"])
def test_the_promise_of_a_simple_sample_holds(share, stated, population):
    rng = stream("promise", seed=9)
    best = plan(**stated, **ASKED, population=population).best
    people = best.count if population == "everyone" else population
    holders = round(share * people)
    made = best.device

    drawn = rng.hypergeometric(holders, people - holders, best.count, 20_000)
    yes = rng.binomial(drawn, made.p) + rng.binomial(best.count - drawn, made.q)
    errors = np.abs(made.value(yes / best.count) - holders / people)
    failures = (errors >= best.error).mean()

    assert failures <= best.failure + 5 * math.sqrt(0.05 * 0.95 / 20_000)
    if share == 0.5 and stated == {"epsilon": 1}:  # the least favourable one, or nearly
        assert failures > 0.8 * best.failure


@pytest.mark.parametrize("response", [1.0, 0.6])
def test_the_promise_of_a_sample_of_clusters_holds(response):
    rng = stream("clusters", response, seed=10)
    truth = clustered_truth(rng, 300, 20, 0.08)
    icc = icc_of(truth)
    best = plan(
        epsilon=2,
        error=0.08,
        failure=0.05,
        clusters=300,
        cluster_size=20,
        take=6,
        icc=icc,
        response=response,
    ).best

    def draw():
        clusters = []
        values = []
        for cluster in rng.permutation(300)[: best.count]:
            members = truth[cluster][rng.permutation(20)[:6]]
            members = members[rng.random(6) < response]
            clusters += [cluster] * members.size
            values += estimated_bits(best.device, members, rng).tolist()

        reports = len(values)
        sample = drawn_sample(
            np.ones(reports), cluster=clusters, cluster_size=np.full(reports, 20.0)
        )
        of_reports = Values(np.array(values), np.zeros(reports))
        return estimated(sample, best.device, of_reports).estimate

    failures = share_of_large_errors(draw, truth.mean(), best.error, 300)
    assert 0.01 < failures < 0.1


def test_the_promise_of_strata_with_unequal_response_holds():
    rng = stream("strata", seed=11)
    sizes = {"a": 3000, "b": 1500, "c": 500}
    shares = {"a": 0.5, "b": 0.4, "c": 0.6}
    response = {"a": 0.8, "b": 0.5, "c": 0.3}
    truths = {name: (np.arange(size) < size * shares[name]) * 1.0 for name, size in sizes.items()}
    mean = sum(truth.sum() for truth in truths.values()) / 5000

    found = plan(population=sizes, response=response, p="5/6", q="1/6", error=0.06, failure=0.05)
    best = found.best
    wanted = found.design.allocated(best.count, best.device)
    invited = {name: math.ceil(reports / response[name]) for name, reports in wanted.items()}

    def draw():
        estimate = 0.0
        for name, truth in truths.items():
            asked = truth[rng.permutation(truth.size)[: invited[name]]]
            reports = asked[rng.random(asked.size) < response[name]]
            estimate += sizes[name] / 5000 * estimated_bits(best.device, reports, rng).mean()

        return estimate

    failures = share_of_large_errors(draw, mean, best.error, 1500)
    assert 0.025 < failures < 0.08


@pytest.mark.parametrize("mechanism", ["k-RR", "OUE", "SUE"])
def test_the_promise_of_all_shares_at_once_holds(mechanism):
    rng = stream("shares", mechanism, seed=12)
    best = plan(epsilon=2, values=5, mechanism=mechanism, simultaneous=True, **ASKED).best
    made = best.device

    for shares in ([0.2] * 5, [1, 0, 0, 0, 0], [0.6, 0.4, 0, 0, 0]):
        counts = rng.multinomial(best.count, shares, 4000)
        if mechanism == "k-RR":
            kept = rng.binomial(counts, made.gap)
            random = best.count - kept.sum(axis=1)
            yes = kept + rng.multinomial(random, [0.2] * 5)
        else:
            yes = rng.binomial(counts, made.p) + rng.binomial(best.count - counts, made.q)

        errors = np.abs(made.value(yes / best.count) - shares).max(axis=1)
        failures = (errors >= best.error).mean()
        assert failures <= best.failure + 5 * math.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize("population", ["everyone", 20_000])
def test_the_promise_of_noisy_numbers_holds(population):
    rng = stream("noise", seed=13)
    stated = {"low": 0, "high": 1, "mechanism": "Laplace", "epsilon": 2}
    best = plan(**stated, **ASKED, population=population).best
    people = best.count if population == "everyone" else population
    holders = people // 2

    drawn = rng.hypergeometric(holders, people - holders, best.count, 3000)
    noise = rng.laplace(0, best.device.scale, (3000, best.count)).mean(axis=1)
    errors = np.abs(drawn / best.count + noise - holders / people)
    failures = (errors >= best.error).mean()

    assert failures == pytest.approx(best.failure, abs=5 * math.sqrt(0.05 * 0.95 / 3000))


# What is refused


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"epsilon": 1}, "leave out exactly one of .* count, error and failure are"),
        ({"epsilon": 1, "count": 10, **ASKED}, "leave out exactly one of .* none is"),
        ({"epsilon": 1, "error": 1.5, "failure": 0.1}, "error must be below the range, 1"),
        ({"epsilon": 1, "error": 0.1, "failure": 0}, r"failure must lie in \(0, 1\)"),
        ({"epsilon": 1, "error": -1, "failure": 0.1}, "error must be > 0"),
        ({"p": 0.7, "q": 0.3, "epsilon": 1, **ASKED}, "epsilon must not be given with p and q"),
        ({"epsilon": 1, "sds": {"a": 1}, **ASKED}, "need strata"),
        ({"epsilon": 1, "neyman": True, **ASKED}, "need strata"),
        ({"epsilon": 1, "population": {"a": 9}, "neyman": True, **ASKED}, "needs sds"),
        (
            {"epsilon": 1, "population": {"a": 9}, "sds": {"b": 0.1}, **ASKED},
            "but only one has 'a'",
        ),
        (
            {"epsilon": 1, "population": {"a": 9}, "response": {"b": 0.5}, **ASKED},
            "but only one has 'a'",
        ),
        ({"epsilon": 1, "population": {"a": 9}, "response": 0.1, **ASKED}, "fewer than two"),
        ({"epsilon": 1, "population": {"a": 9}, "sds": {"a": 0.7}, **ASKED}, "half the range"),
        (
            {"epsilon": 1, "population": "everyone", "response": 0.5, **ASKED},
            "response must be 1 if",
        ),
        ({"epsilon": 1, "response": 1.5, **ASKED}, "response must lie in"),
        ({"epsilon": 1, "take": 5, **ASKED}, "needs clusters"),
        ({"epsilon": 1, "icc": 0.1, **ASKED}, "needs clusters"),
        ({"epsilon": 1, "clusters": 5, "cluster_size": 9, "take": 10, **ASKED}, "take must be"),
        ({"epsilon": 1, "clusters": 5, "cluster_size": 9, "icc": 2, **ASKED}, "icc must lie in"),
        ({"epsilon": 1, **CLUSTERS, "population": 90, **ASKED}, "not be given for a cluster"),
        ({"epsilon": 1, "simultaneous": True, **ASKED}, "simultaneous needs several"),
        ({"epsilon": 1, "count": 20, "population": 10, "error": 0.1}, "count must be an integer"),
        ({"epsilon": 1, "population": 5, "response": 0.3, **ASKED}, "needs at least 2 reports"),
    ],
    ids=by_what_is_stated,
)
def test_what_has_no_answer_or_no_use_is_refused(stated, words):
    with pytest.raises((ValueError, TypeError), match=words):
        plan(**stated)


TWO_STRATA = {"population": {"a": 9, "b": 900}}
FEW_CLUSTERS = {"clusters": 2, "cluster_size": 9}
ENDS = [
    ({"response": 1e-6}, {"response": 9e-7}, "response must be at least 1e-06"),
    ({"response": 1}, {"response": 1.01}, "response must lie in"),
    ({"population": 2}, {"population": 1}, "population must be an integer from 2"),
    ({"population": 10**12}, {"population": 10**12 + 1}, "population must be an integer from 2"),
    ({"population": 20}, {"population": 19}, "count must be an integer from 2 to 19"),
    ({"count": 2}, {"count": 1}, "count must be an integer from 2"),
    ({"error": 0.999}, {"error": 1}, "error must be below the range, 1"),
    ({**TWO_STRATA, "sds": {"a": 0.5, "b": 0}}, {**TWO_STRATA, "sds": {"a": 0.54, "b": 0}}, "sd "),
    (
        {"population": {"a": 1, "b": 900}},
        {"population": {"a": 0, "b": 900}},
        "size of stratum a must be an integer from 1",
    ),
    (
        {**TWO_STRATA, "response": {"a": 0.23, "b": 1}},
        {**TWO_STRATA, "response": {"a": 0.22, "b": 1}},
        "stratum a has 9 people, of whom fewer than two respond",
    ),
    ({**FEW_CLUSTERS}, {**FEW_CLUSTERS, "clusters": 1}, "clusters must be an integer from 2"),
    ({**FEW_CLUSTERS, "take": 9}, {**FEW_CLUSTERS, "take": 10}, "take must be an integer from 1"),
    ({**FEW_CLUSTERS, "take": 1}, {**FEW_CLUSTERS, "take": 0}, "take must be an integer from 1"),
    ({**FEW_CLUSTERS, "icc": 1}, {**FEW_CLUSTERS, "icc": 1.1}, r"icc must lie in \[-0.125, 1\]"),
    ({**FEW_CLUSTERS, "icc": -0.125}, {**FEW_CLUSTERS, "icc": -0.13}, "icc must lie in"),
    ({**FEW_CLUSTERS, "sd": 0.5}, {**FEW_CLUSTERS, "sd": 0.6}, "sd must be at most half the range"),
]


@pytest.mark.parametrize(
    ("last", "beyond", "words"), ENDS, ids=[by_what_is_stated(beyond) for _, beyond, _ in ENDS]
)
def test_what_is_at_an_end_can_be_planned_and_what_lies_beyond_is_refused(last, beyond, words):
    in_common = {"epsilon": 1, "error": 0.3, "count": 20}
    if "clusters" in last or last.get("population") == 2:
        in_common["count"] = 2

    plan(**in_common | last)
    with pytest.raises(ValueError, match=words):
        plan(**in_common | beyond)


def test_what_no_mechanism_can_do_is_said_with_what_remains():
    found = plan(epsilon=0.1, population=100, **ASKED)
    assert found.best is None
    assert "with all 100 people, no error smaller" in str(found)

    found = plan(epsilon=1, population=1000, **ASKED)
    assert "with all 1,000 people, the smallest error is 0.0" in str(found)
    assert "No mechanism can meet this plan." in str(found)
