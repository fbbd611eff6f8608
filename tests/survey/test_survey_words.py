"""What plans and estimates say in words: the device, its privacy, whom to ask, and the method."""

import pytest
from readable import stated as by_what_is_stated

from ldpnb.survey.device import device
from ldpnb.survey.estimation import estimate
from ldpnb.survey.planning import plan
from ldpnb.survey.words import described, privacy

ASKED = {"error": 0.05, "failure": 0.05}


def in_one_line(text) -> str:
    return " ".join(str(text).split())


DEVICES = [
    ({"p": "5/6", "q": "1/6"}, "a yes/no question, p = 5/6 and q = 1/6"),
    ({"p": 0.75, "q": 0.25}, "a yes/no question, p = 0.75 and q = 0.25"),
    ({"epsilon": 1}, "a yes/no question, p = 0.73105857863 and q = 0.26894142137"),
    (
        {"p": "1/2", "q": "1/6", "values": 4},
        "k-ary randomised response with 4 answers, p = 0.5 and q = 1/6",
    ),
    (
        {"p": "1/2", "q": "1/8", "values": 2000, "mechanism": "unary"},
        "unary encoding (unary) with a bit for each of 2,000 answers, p = 0.5 and q = 0.125",
    ),
    (
        {"p": "3/4", "q": "1/4", "low": -1.5, "high": 24},
        "one bit for a number from -1.5 to 24, p = 0.75 and q = 0.25",
    ),
    (
        {"epsilon": 0.5, "low": 10, "high": 40, "mechanism": "Laplace"},
        "a number from 10 to 40 with Laplace noise of scale 60",
    ),
]


@pytest.mark.parametrize(
    ("stated", "words"), DEVICES, ids=[by_what_is_stated(stated) for stated, _ in DEVICES]
)
def test_a_device_is_described_by_what_it_asks_and_its_exact_probabilities(stated, words):
    assert described(device(**stated)) == words


LOSSES = [
    ({"p": "5/6", "q": "1/6"}, "ln(5) = 1.60943791243", "5 times"),
    ({"p": 0.7, "q": 0.3}, "ln(7/3) = 0.847297860387", "2.34 times"),
    ({"p": "0.7503", "q": "0.2497"}, "1.10021292927 for", "3.01 times"),
    ({"epsilon": 1}, "1 for", "2.72 times"),
    ({"epsilon": 5.9}, "5.9 for", "366 times"),
    ({"epsilon": 6}, "6 for", "e^6 times"),
    ({"epsilon": 12.25}, "12.25 for", "e^12.25 times"),
]


@pytest.mark.parametrize(
    ("stated", "epsilon", "times"),
    LOSSES,
    ids=[by_what_is_stated(stated) for stated, *_ in LOSSES],
)
def test_the_privacy_of_a_report_is_said_as_epsilon_and_as_a_ratio(stated, epsilon, times):
    words = privacy(device(**stated))
    assert words.startswith(f"Privacy: epsilon = {epsilon}")
    assert f"A report is at most {times} as likely under one true answer" in words


# Plans


SIMPLE = {"epsilon": 1, "population": 10_000}
CLUSTERS = {"epsilon": 2, "clusters": 400, "cluster_size": 25}
STRATA = {"epsilon": 2, "population": {"a": 6000, "b": 3000}}
PLANS = {
    "all respond": (SIMPLE, "Ask 1,774 people."),
    "half respond": (
        SIMPLE | {"response": 0.5},
        "Invite 3,548 people to get 1,774 reports, if 50% respond.",
    ),
    "everybody": (SIMPLE | {"population": "everyone"}, "1,458 people report."),
    "a simple sample": (SIMPLE, "for a simple random sample from 10,000 people."),
    "a very large population": (
        {"epsilon": 1},
        "for a simple random sample from a very large population.",
    ),
    "a survey of everybody": (
        SIMPLE | {"population": "everyone"},
        "for a survey of everybody, whose result is about these people and nobody else.",
    ),
    "clusters": (
        CLUSTERS | {"take": 10, "icc": 0.05},
        "a sample from 400 clusters of 25 people, of whom 10 are asked in each drawn cluster, "
        "with intra-cluster correlation 0.05.",
    ),
    "clusters that may be alike": (CLUSTERS, "with the least favourable intra-cluster correl"),
    "strata": (STRATA, "a sample from 9,000 people in 2 strata, in proportion to size."),
    "strata by Neyman": (
        STRATA | {"sds": {"a": 0.1, "b": 0.5}, "neyman": True},
        "a sample from 9,000 people in 2 strata, by Neyman's allocation.",
    ),
    "columns of a sample": (SIMPLE, "into REPORTS.csv, with the column report. Then"),
    "columns of clusters": (CLUSTERS, "with the columns report, cluster and cluster_size. Then"),
    "columns of strata": (STRATA, "with the columns report and stratum. Then"),
    "an exact law": (SIMPLE, "An error of 0.05 or more has probability at most 0.05. This"),
    "a normal law": (STRATA, "An error of 0.05 or more has probability about 0.05"),
    "all shares": (
        {"epsilon": 3, "values": 4, "simultaneous": True},
        "An error of 0.05 or more in any of the shares has probability at most",
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_says_how_people_are_drawn_asked_and_written_down(name):
    stated, words = PLANS[name]
    assert words in in_one_line(plan(**ASKED, **stated))


def test_a_plan_of_strata_says_how_many_to_invite_and_who_may_not_respond():
    all_respond = plan(**STRATA, count=300, error=0.1)
    assert "Invite 300 people for 300 reports: a 200; b 100." in in_one_line(all_respond)

    some_do = plan(**STRATA, count=300, error=0.1, response={"a": 0.5, "b": 1})
    words = "Invite 500 people for 300 reports: a 400 for 200 reports (50% respond); b 100."
    assert words in in_one_line(some_do)


@pytest.mark.parametrize(("count", "is_rough"), [(2, True), (29, True), (30, False)])
def test_a_plan_with_fewer_than_30_clusters_is_called_rough(count, is_rough):
    stated = {"epsilon": 3, "clusters": 400, "cluster_size": 25, "count": count, "icc": 0.01}
    words = in_one_line(plan(error=0.2, **stated))
    assert ("With fewer than 30 clusters it is rough." in words) == is_rough


def test_a_plan_compares_all_mechanisms_that_fit_and_puts_the_best_first():
    rows = str(plan(**ASKED, epsilon=1, values=8)).splitlines()[2:6]
    assert {row.split()[0] for row in rows[1:]} == {"OUE", "SUE", "k-RR"}
    counts = [int(row.split()[1].replace(",", "")) for row in rows[1:]]
    assert counts == sorted(counts)

    rows = str(plan(**ASKED, p="5/6", q="1/6")).splitlines()[2:4]
    assert rows[1].startswith("as stated")


@pytest.mark.parametrize(
    ("stated", "mechanisms"),
    [
        ({}, {"Warner"}),
        ({"values": 2}, {"Warner"}),
        ({"values": ["ever", "never"]}, {"Warner"}),
        ({"values": 3}, {"k-RR", "SUE", "OUE"}),
        ({"values": ["a", "b", "c"]}, {"k-RR", "SUE", "OUE"}),
        ({"low": 0, "high": 1}, {"1-bit", "Laplace"}),
        ({"values": 3, "mechanism": "OUE"}, {"OUE"}),
    ],
    ids=by_what_is_stated,
)
def test_a_plan_considers_the_mechanisms_that_fit_the_answers(stated, mechanisms):
    found = plan(**ASKED, epsilon=1, **stated)
    assert {answer.device.mechanism for answer in found.answers} == mechanisms


@pytest.mark.parametrize("failure", [0.05, 0.01, 0.1])
def test_the_intervals_of_the_printed_command_miss_as_rarely_as_the_plan(failure):
    command = str(plan(epsilon=1, error=0.1, failure=failure)).splitlines()[-1]
    level = f" --level {1 - failure:g}" if failure != 0.05 else ""
    assert command == f"ldpnb estimate REPORTS.csv --mechanism Warner --epsilon 1.0{level}"


def test_both_parts_of_the_standard_error_of_a_plan_are_said():
    found = plan(epsilon=1, count=400, error=10, low=0, high=100, population=1000)
    parts = found.best.variance
    words = in_one_line(found)
    assert (
        f"The standard error is at most {parts.total**0.5:.3g}: {parts.sampling**0.5:.3g} from "
        f"sampling and {parts.randomisation**0.5:.3g} from randomisation" in words
    )


# Estimates

BIT = {"p": "3/4", "q": "1/4"}
YES_AND_NO = ["yes", "no"] * 20
TABLE = {"report": YES_AND_NO}
IN_STRATA = TABLE | {"stratum": ["a"] * 20 + ["b"] * 20}
IN_CLUSTERS = TABLE | {"cluster": [place // 4 for place in range(40)]}
METHODS = {
    "a simple sample": (TABLE, {}, "40 reports from a simple random sample. Device: a yes/no"),
    "everybody": (TABLE, {"population": "everyone"}, "from everybody."),
    "of whom": (TABLE, {"population": 40}, "mean of these, for the people who reported."),
    "a population": (TABLE, {"population": 9000}, "for the population of 9,000."),
    "a very large population": (TABLE, {}, "for the population. The standard error"),
    "with a correction": (TABLE, {"population": 90}, "with a finite population correction"),
    "without a correction": (TABLE, {}, "without a finite population correction"),
    "strata": (
        IN_STRATA,
        {"population": {"a": 90, "b": 80}},
        "from a sample of people in 2 strata.",
    ),
    "clusters": (IN_CLUSTERS, {}, "from 10 clusters."),
    "weights": (TABLE | {"weight": [1, 2] * 20}, {}, "from a sample of people."),
    "missing": ({"report": [*YES_AND_NO, ""]}, {}, "(1 without an answer are left out)"),
    "nothing missing": (TABLE, {}, "40 reports from"),
    "the level": (TABLE, {"level": 0.9}, "in at least 90% of surveys"),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_paragraph_on_methods_says_who_reported_for_whom_and_by_which_device(name):
    table, stated, words = METHODS[name]
    assert words in in_one_line(estimate(table, **BIT, **stated))


def test_shares_of_two_answers_have_no_columns_of_shares_that_sum_to_one():
    two = str(estimate(TABLE, **BIT))
    assert "Norm-Sub" not in two
    assert "MLE" not in two

    tallies = {"report": list("ABC"), "count": [50, 30, 20]}
    three = in_one_line(estimate(tallies, epsilon=1, values=list("ABC"), simultaneous=True))
    assert "95% interval Norm-Sub MLE A 100" in three
    assert "Norm-Sub gives the nearest shares" in three
    assert "for all shares at once (Bonferroni)" in three


@pytest.mark.parametrize(("groups", "more"), [(5, ""), (7, " and 2 more")])
def test_a_warning_names_five_rows_and_counts_the_others(groups, more):
    names = [f"g{place}" for place in range(groups)]
    table = {"report": ["yes", *["no", "yes"] * 9, *["yes"] * groups], "g": ["a"] * 19 + names}
    words = in_one_line(estimate(table, **BIT, by="g"))
    listed = ", ".join(f"yes g {name}" for name in names[:5])
    assert f"Warning ({listed}{more}): fewer than two people have reports" in words


def test_groups_are_named_beside_everybody():
    table = {"report": YES_AND_NO, "sex": ["f", "f", "m", "m"] * 10}
    lines = str(estimate(table, **BIT, by="sex")).splitlines()[:5]
    assert [line[:15].strip() for line in lines] == [
        "group",
        "everybody",
        "sex f",
        "sex m",
        "sex f minus m",
    ]
