"""What `estimate` makes of tables as people have them.

Words and blanks are read as they are meant; tallies give the same as rows; groups, strata, clusters
and weights are used; what cannot be is remarked or refused with the row that it is in.
"""

import math
import time

import numpy as np
import pandas as pd
import pytest
from readable import stated as by_what_is_stated

from ldpnb.rng import stream
from ldpnb.survey.device import device
from ldpnb.survey.estimation import estimate

BIT = {"p": "3/4", "q": "1/4"}


def test_none_and_na_and_nan_are_answers_like_others():
    table = {
        "Report": ["A", "None", "NA", None, "A", "NA", "nan", "A"],
        "sex": ["f", "f", "m", "m", "m", "m", "f", "f"],
    }
    found = estimate(table, mechanism="k-RR", epsilon=2, values=["A", "None", "NA", "nan"])

    assert found.missing == 1
    assert [row.of for row in found.rows] == ["A", "None", "NA", "nan"]
    assert sum(row.estimate for row in found.rows) == pytest.approx(1)
    assert found.rows[0].reports == 7
    assert found.unused == ("sex",)


def test_missing_reports_are_left_out_and_counted_and_never_guessed():
    reports = ["yes", "", "no", None, float("nan"), pd.NA, "NA", "yes"]
    assert estimate(reports, **BIT, missing="NA").missing == 5
    with pytest.raises(
        ValueError, match="got 'NA' in row 7; if this means that the answer is missing"
    ):
        estimate(reports, **BIT)
    with pytest.raises(ValueError, match="missing must not be a possible answer, got None"):
        estimate(["None"], epsilon=1, values=["A", "B", "None"], missing="None")


def test_a_group_of_one_is_a_row_with_a_remark():
    table = {"report": [1, 0, 1, 1, 0, 1], "sex": ["f", "f", "m", "m", "x", ""]}
    rows = estimate(table, **BIT, by="Sex").rows
    rare = [row for row in rows if row.group == "sex x"]

    assert len(rare) == 1
    assert math.isnan(rare[0].estimate)
    assert "too few" in rare[0].remark
    assert not any(row.group == "sex " for row in rows)


def printed_rows(reports, **stated) -> list[str]:
    """Return all fields of each estimate, as text: nan, which not every field has, is not nan."""
    return [repr(row) for row in estimate(reports, **stated).rows]


def test_tallies_are_the_same_as_rows():
    tallies = {"value": ["yes", "no"], "count": [3, 7]}
    device = {"p": "1/3", "q": "2/3", "population": 50}
    assert printed_rows(tallies, **device) == printed_rows([1] * 3 + [0] * 7, **device)


def test_tallies_with_designs_and_groups_are_the_same_as_rows():
    rng = stream("tallies", seed=2)
    rows = pd.DataFrame(
        {
            "report": rng.choice(list("ABC"), 400),
            "stratum": rng.choice(["n", "s"], 400),
            "sex": rng.choice(["f", "m"], 400),
        }
    )
    tallies = rows.value_counts().reset_index()
    stated = {"epsilon": 1, "values": list("ABC"), "population": {"n": 900, "s": 800}, "by": "sex"}
    by_rows = estimate(rows, **stated).rows
    by_tallies = estimate(tallies, **stated).rows

    for one, other in zip(by_rows, by_tallies, strict=True):
        assert one.of == other.of
        assert other.estimate == pytest.approx(one.estimate)
        assert other.standard_error == pytest.approx(one.standard_error)


def test_ones_of_unary_encoding_tell_the_same_as_its_words():
    rng = stream("bits", seed=3)
    bits = (rng.random((300, 4)) < [0.5, 0.45, 0.35, 0.3]).astype(int)
    words = ["".join(map(str, row)) for row in bits]
    device = {"mechanism": "unary", "p": "1/2", "q": "1/4", "values": list("ABCD")}
    by_words = estimate(words, **device, population=2000)
    by_ones = estimate(
        {"report": list("ABCD"), "count": bits.sum(axis=0)},
        **device,
        population=2000,
        reports=300,
    )

    for one, other in zip(by_words.rows, by_ones.rows, strict=True):
        assert other.estimate == pytest.approx(one.estimate)
        assert other.standard_error == pytest.approx(one.standard_error)
        assert (other.low, other.high) == (one.low, one.high)
        assert other.norm_sub == pytest.approx(one.norm_sub)


def test_dataframes_lists_arrays_and_files_are_read_alike(tmp_path):
    reports = ["yes", "no", "no", "yes", "no"]
    wanted = printed_rows(reports, **BIT)
    bits = np.array([1, 0, 0, 1, 0])
    path = tmp_path / "reports.csv"
    path.write_text("\ufeffReport;age\n Yes ;3\nno;4\nNO;5\n1;6\nfalse;7\n", encoding="utf-8")

    assert printed_rows(bits, **BIT) == wanted
    assert printed_rows(bits.astype(float), **BIT) == wanted
    assert printed_rows(bits.astype(bool), **BIT) == wanted
    assert printed_rows(pd.DataFrame({"report": reports}), **BIT) == wanted
    assert printed_rows(pd.Series(reports, dtype="category"), **BIT) == wanted
    assert printed_rows(path, **BIT) == wanted


def test_masked_entries_are_missing():
    reports = np.ma.masked_array([1, 0, 1, 0], mask=[False, False, True, False])
    assert estimate(reports, **BIT).missing == 1


def test_the_difference_of_two_groups_in_a_simple_sample_adds_variances():
    table = {"report": [1, 0, 1, 1, 0, 0, 1, 0], "g": list("aaaabbbb")}
    _, first, second, difference = estimate(table, **BIT, by="g").rows
    assert difference.group == "g a minus b"
    assert difference.estimate == pytest.approx(first.estimate - second.estimate)

    both = math.hypot(first.standard_error, second.standard_error)
    assert difference.standard_error == pytest.approx(both)


def test_the_difference_of_two_groups_in_the_same_clusters_knows_that_they_are_alike():
    table = {
        "report": [1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0],
        "cluster": list("aaaabbbbcccc"),
        "g": list("fmfmfmfmfmfm"),
    }
    _, first, second, difference = estimate(table, **BIT, by="g").rows

    assert difference.standard_error < math.hypot(first.standard_error, second.standard_error)


def test_estimates_by_stratum_are_those_of_each_stratum_alone():
    table = {"report": [1, 0, 1, 1, 0, 0, 1, 0, 0], "stratum": list("aaaabbbbb")}
    sizes = {"a": 20, "b": 30}
    rows = estimate(table, **BIT, population=sizes, by="stratum").rows
    for name, row in zip("ab", rows[1:3], strict=True):
        alone = [r for r, s in zip(table["report"], table["stratum"], strict=True) if s == name]
        wanted = estimate(alone, **BIT, population=sizes[name]).rows[0]
        assert row.estimate == pytest.approx(wanted.estimate)
        assert row.standard_error == pytest.approx(wanted.standard_error)


def test_a_stratum_of_one_person_who_reported_has_no_sampling_error():
    table = {"report": [1, 1, 0, 1, 0], "stratum": list("abbbb")}
    found = estimate(table, **BIT, population={"a": 1, "b": 4}).rows[0]
    assert found.sampling == pytest.approx(0)
    assert found.estimate == pytest.approx((1.5 + 2 * 1.5 - 2 * 0.5) / 5)
    with pytest.raises(ValueError, match="population of stratum a must be an integer >= 1"):
        estimate(table, **BIT, population={"a": 0, "b": 4})


@pytest.mark.parametrize(
    "design",
    [{}, {"cluster": list("aabbccddeeff")}, {"weight": [1, 2, 3, 1, 2, 3, 3, 2, 1, 3, 2, 1]}],
    ids=["simple", "clusters", "weights"],
)
def test_a_group_of_a_sample_is_estimated_as_if_it_were_alone(design):
    table = {"report": [1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1], **design}
    groups = list("ffffffffmmmm")
    found = {row.group: row for row in estimate(table | {"g": groups}, **BIT, by="g").rows}

    for name in "fm":
        inside = np.array(groups) == name
        alone = {column: np.array(entries)[inside] for column, entries in table.items()}
        wanted = estimate(alone, **BIT).rows[0]
        assert found[f"g {name}"].estimate == pytest.approx(wanted.estimate)
        assert found[f"g {name}"].standard_error == pytest.approx(wanted.standard_error)
        assert found[f"g {name}"].low == pytest.approx(wanted.low)
        assert found[f"g {name}"].high == pytest.approx(wanted.high)


def test_a_cluster_with_one_report_is_ordinary():
    table = {"report": [1, 0, 1, 1, 0], "cluster": list("aabbc"), "cluster_size": [9] * 5}
    found = estimate(table, **BIT, clusters=20)
    assert found.rows[0].standard_error > 0
    assert "one report" in found.sample.notes[0]


@pytest.mark.parametrize(
    ("clusters", "sizes"),
    [("aabbcc", [9] * 6), ("aabbcd", [9] * 4 + [1] * 2)],
    ids=["no cluster with one report", "clusters of one person who reported"],
)
def test_clusters_with_all_their_reports_or_several_keep_the_correction(clusters, sizes):
    table = {"report": [1, 1, 0, 0, 1, 0], "cluster": list(clusters), "cluster_size": sizes}
    few = estimate(table, **BIT, clusters=5)
    many = estimate(table, **BIT, clusters=5000)
    assert few.sample.notes == ()
    assert few.rows[0].standard_error < many.rows[0].standard_error


def test_only_the_stratum_of_a_cluster_with_one_report_loses_the_correction():
    table = {
        "report": [1, 0, 1, 1, 0, 1, 0, 1, 1],
        "cluster": list("aabbc") + list("ddee"),
        "cluster_size": [9] * 9,
        "stratum": list("nnnnnssss"),
    }
    errors = {}
    for north, south in [(20, 20), (20, 3), (4, 20)]:
        found = estimate(table, **BIT, clusters={"n": north, "s": south}, by="stratum")
        errors[north, south] = [row.standard_error for row in found.rows[1:3]]

    assert errors[20, 3][1] < errors[20, 20][1]
    assert errors[4, 20][0] == pytest.approx(errors[20, 20][0])


def test_more_reports_than_anybody_planned_are_welcome_up_to_the_population():
    assert estimate([1, 0] * 300, **BIT, population=600).rows[0].sampling == 0
    with pytest.raises(ValueError, match="602 people have reports, but there are only 600"):
        estimate([1, 0] * 301, **BIT, population=600)


@pytest.mark.parametrize("population", [None, 900, "everyone"])
@pytest.mark.parametrize(
    "chances", [("5/6", "1/6"), ("1/6", "5/6")], ids=["p above q", "p below q"]
)
@pytest.mark.parametrize(("report", "many"), [("no", "few"), ("yes", "many")])
def test_where_no_share_fits_the_reports_there_is_a_warning_and_no_interval(
    report, many, chances, population
):
    p, q = chances
    row = estimate([report] * 200, p=p, q=q, population=population).rows[0]
    assert math.isnan(row.low)
    assert math.isnan(row.high)
    assert "no true value fits" in row.remark
    assert f"too {many} of them say yes" in row.remark


def test_noise_that_the_device_cannot_make_is_refused_with_its_row():
    rng = stream("noise", seed=4)
    reports = 50 + rng.laplace(0, 100, 1000)
    device = {"mechanism": "Laplace", "epsilon": 1, "low": 0, "high": 100}

    assert estimate(reports, **device).remark == ""

    for impossible in (1e6, 1e4, -3e3, 1e300):
        reports[17] = impossible
        with pytest.raises(ValueError, match=r"hardly ever sends.* row 18"):
            estimate(reports, **device)

    reports[17] = 2e3
    estimate(reports, **device)


@pytest.mark.parametrize(
    ("epsilon", "scale", "than"),
    [(1, 40, "less"), (1, 180, "more"), (0.2, 350, "less"), (0.2, 650, "more"), (4, 100, "more")],
)
def test_a_spread_that_is_not_the_devices_is_remarked(epsilon, scale, than):
    reports = 50 + stream("spread", seed=5).laplace(0, scale, 1000)
    found = estimate(reports, mechanism="Laplace", epsilon=epsilon, low=0, high=100)
    assert f"vary {than} than reports of this device" in found.remark


@pytest.mark.parametrize("epsilon", [0.2, 1, 5])
def test_reports_of_the_device_itself_are_not_remarked_on(epsilon):
    rng = stream("own reports", epsilon, seed=15)
    noise = {"mechanism": "Laplace", "epsilon": epsilon, "low": 0, "high": 1}
    bits = device(mechanism="OUE", epsilon=epsilon, values=4)
    for _ in range(40):
        truths = rng.integers(0, 2, 500)
        assert estimate(truths + rng.laplace(0, 1 / epsilon, 500), **noise).remark == ""

        own = rng.integers(0, 4, 500)[:, None] == np.arange(4)
        ones = rng.random((500, 4)) < np.where(own, bits.p, bits.q)
        words = ["".join(row) for row in ones.astype(int).astype(str)]
        assert estimate(words, mechanism="OUE", epsilon=epsilon, values=4).remark == ""


def test_reports_that_are_all_the_same_have_no_interval():
    row = estimate([3.0] * 100, mechanism="Laplace", epsilon=1, low=0, high=9).rows[0]
    assert math.isnan(row.low)
    assert "do not vary" in row.remark


def test_an_interval_of_a_mean_that_lies_outside_the_range_is_none():
    reports = 160 + stream("far", seed=6).laplace(0, 100, 1000)
    row = estimate(reports, mechanism="Laplace", epsilon=1, low=0, high=100).rows[0]
    assert math.isnan(row.low)
    assert "outside the possible values" in row.remark


def test_ones_that_one_answer_each_cannot_give_are_remarked():
    table = {"report": list("ABC"), "count": [900, 800, 700]}
    device = {"mechanism": "OUE", "epsilon": 1, "values": list("ABC")}
    assert "the shares add up to" in estimate(table, **device, reports=1000).remark


@pytest.mark.parametrize("off", [-5.2, -4.8, 4.8, 5.2], ids="{} standard deviations".format)
def test_ones_are_remarked_on_beyond_five_standard_deviations_of_the_device(off):
    reports = 10_000
    p = 1 / 2
    q = 1 / 4
    expected = reports * (p + 2 * q)
    deviation = math.sqrt(reports * (p * (1 - p) + 2 * q * (1 - q)))
    ones = round(expected + off * deviation)

    table = {"report": list("ABC"), "count": [ones - 4000, 2000, 2000]}
    stated = {"mechanism": "unary", "p": p, "q": q, "values": list("ABC"), "reports": reports}
    remark = estimate(table, **stated).remark
    assert bool(remark) == (abs(off) > 5)
    if remark:
        total = (ones / reports - 3 * q) / (p - q)
        assert f"the shares add up to {total:.3g}." in remark


def test_shares_beside_the_unbiased_ones_are_not_negative_and_sum_to_one():
    counts = {"report": list("ABCD"), "count": [400, 250, 200, 150]}
    rows = estimate(counts, epsilon=1, values=list("ABCD")).rows
    assert min(row.estimate for row in rows) < 0

    for shares in ([row.norm_sub for row in rows], [row.mle for row in rows]):
        assert min(shares) >= 0
        assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("mechanism", ["k-RR", "unary"])
def test_no_shares_are_more_likely_than_the_most_likely_ones(mechanism):
    if mechanism == "k-RR":
        chances = {"p": "1/2", "q": "1/6"}
        words = list("ABCD")
    else:
        chances = {"p": "3/4", "q": "1/4"}
        words = ["1000", "1010", "0011", "0001"]

    reports = np.repeat(words, [40, 25, 20, 5]).tolist()
    rows = estimate(reports, **chances, values=list("ABCD"), mechanism=mechanism).rows
    best = np.array([row.mle for row in rows])

    def likelihoods_of(word):
        """How likely a report is under each true value, but for a common factor."""
        if mechanism == "k-RR":
            return np.where(np.array(list("ABCD")) == word, 1 / 2, 1 / 6)
        bits = np.array(list(word)) == "1"
        return np.where(bits, 3.0, 1 / 3)

    def log_likelihood(shares):
        return sum(math.log(likelihoods_of(word) @ shares) for word in reports)

    others = stream("shares", seed=7).dirichlet(np.ones(4), 200)
    nearby = 0.95 * best + 0.05 * others
    assert log_likelihood(best) >= max(map(log_likelihood, [*others, *nearby])) - 1e-3


def test_simultaneous_intervals_are_wider():
    counts = {"report": list("ABCD"), "count": [400, 250, 200, 150]}
    stated = {"epsilon": 1, "values": list("ABCD")}
    single = estimate(counts, **stated).rows[0]
    together = estimate(counts, **stated, simultaneous=True).rows[0]
    assert together.low < single.low < single.high < together.high


def test_a_million_reports_are_estimated_in_a_second_of_processor_time():
    reports = (np.arange(10**6) % 3 == 0).astype(int)
    began = time.process_time()
    estimate(reports, **BIT, population=10**7)

    assert time.process_time() - began < 1


SIZES = {"a": 5, "b": 5}


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        ({"report": [1, 0, 1], "stratum": list("aab")}, {"population": SIZES}, "merge it"),
        ({"report": [1, 0, 1], "stratum": list("aab")}, {}, "merge it"),
        ({"report": [1, 0, 1, 0], "stratum": list("aabb")}, {}, "strata need the number"),
        ({"report": [1, 0, 1, 0], "stratum": list("aabb")}, {"population": 9}, "each stratum"),
        ({"report": [1, 0, 1, 0], "stratum": ["a", "a", "b", ""]}, {}, "none in row 4"),
        ({"report": [1, 0, 1, 0]}, {"population": SIZES}, "needs a column called stratum"),
        (
            {"report": [1, 0], "cluster": ["a", "b"]},
            {"population": 10},
            "population must not be given",
        ),
        ({"report": [1, 0], "cluster": list("aa")}, {}, "only one cluster"),
        ({"report": [1, 0]}, {"clusters": 3}, "need a column called cluster"),
        ({"report": ["maybe", 0]}, {}, "got 'maybe' in row 1"),
        ({"report": [1, 0, 1]}, {"population": 2}, "there are only 2"),
        ({"report": [1, 0, 1]}, {"population": 2.5}, "population must be an integer"),
        ({"report": [1, 0, 1]}, {"population": 0}, "population must be an integer >= 1, got"),
        (
            {"report": [1, 0, 1], "cluster": list("abc")},
            {"clusters": 0},
            "clusters must be an integer >= 1, got",
        ),
        ({"report": [1, 0, 1]}, {"population": "all"}, "a whole number or everyone"),
        ({"report": [1, 0], "weight": [1, -2]}, {}, "weight must be a number .* in row 2"),
        ({"report": [1, 0], "weight": [1, -0.5]}, {}, "weight must be a number > 0, got '-0.5'"),
        ({"report": [1, 0], "weight": [1, 0]}, {}, "weight must be a number > 0, got '0' in row"),
        ({"report": [1, 0], "count": [1, 2.5]}, {}, "count must be whole numbers"),
        ({"report": [1, 0], "count": [1, "many"]}, {}, "count must be a number"),
        ({"report": [1, 0, 1]}, {"by": "sex"}, "by must be a public column"),
        ({"report": [1, 0, 1]}, {"difference": ("f", "m")}, "difference needs by"),
        ({"report": [1, 0, 1], "g": list("fmf")}, {"by": "g", "difference": ("f", "x")}, "got x"),
        ({"report": [1, 0, 1]}, {"simultaneous": True}, "simultaneous needs several"),
        ({"report": [1, 0, 1]}, {"level": 1.0}, "level must lie in"),
        ({"report": [1, 0, 1]}, {"reports": 5}, "only for unary encoding"),
        ({"report": ["", None]}, {}, "there must be at least one report"),
        ({"answer": [1, 0]}, {}, "must be called report, got answer"),
        ({"report": [1, 0], "g": [1]}, {}, "have the same length"),
        ({"report": [1, 0], "Report": [1, 0]}, {}, "different names"),
        (
            {"report": [1, 0], "cluster": list("ab"), "cluster_size": [0.5, 3]},
            {"clusters": 3},
            "cluster_size must be a number >= 1",
        ),
        (
            {"report": [1, 0, 1], "cluster": list("aab"), "cluster_size": [1, 1, 3]},
            {"clusters": 3},
            "number of reports, 2",
        ),
    ],
    ids=by_what_is_stated,
)
def test_what_contradicts_itself_or_has_no_use_is_refused(table, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        estimate(table, **BIT, **options)


def answers(number):
    return [f"a{place}" for place in range(number)]


UNARY = {"mechanism": "unary", "p": 0.75, "q": 0.25}
MESSAGES = [
    (["a0", "x"], {"epsilon": 1, "values": answers(3)}, "report must be one of a0, a1, a2, got"),
    (["a0", "x"], {"epsilon": 1, "values": answers(20)}, "a18, a19, got 'x' in row 2"),
    (
        ["a0", "x"],
        {"epsilon": 1, "values": answers(21)},
        r"a18, a19, \.\.\. \(21 answers\), got 'x' in row 2",
    ),
    (["100", "10"], {**UNARY, "values": 3}, "a word of 3 bits such as 100, got '10' in row 2"),
    (["100", "102"], {**UNARY, "values": 3}, "a word of 3 bits such as 100, got '102' in row 2"),
    (["1" * 20, "1"], {**UNARY, "values": 20}, "20 bits such as 10000000000000000000, got '1'"),
    (["1" * 21, "1"], {**UNARY, "values": 21}, r"21 bits such as 1000\.\.\., got '1' in row 2"),
    (["yes", "n/a"], BIT, r"\(or yes, no, 1, 0\), got 'n/a' in row 2; if this means"),
    (["yes", "well"], BIT, r"one of yes, no \(or yes, no, 1, 0\), got 'well' in row 2$"),
]


@pytest.mark.parametrize(
    ("reports", "stated", "words"), MESSAGES, ids=[words[:60] for *_, words in MESSAGES]
)
def test_a_report_that_the_device_cannot_send_is_refused_with_those_that_it_can(
    reports, stated, words
):
    with pytest.raises(ValueError, match=words):
        estimate(reports, **stated)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"report": list("ABB"), "count": [9, 8, 7]}, "each answer must have exactly one row"),
        ({"report": list("AB"), "count": [9, 8]}, "each answer must have exactly one row"),
        ({"report": list("ABC"), "count": [21, 8, 7]}, "count must be at most reports=20, got 21"),
        ({"report": list("ABC")}, "needs a column called count with the ones of each answer"),
        ({"report": list("ABX"), "count": [9, 8, 7]}, "report must be one of A, B, C, got 'X'"),
        (
            {"report": list("ABC"), "count": [9, 8, 7], "weight": [1, 1, 1]},
            "must not be given with a design, groups or missing",
        ),
    ],
    ids=by_what_is_stated,
)
def test_ones_that_do_not_fit_their_answers_are_refused(table, words):
    with pytest.raises(ValueError, match=words):
        estimate(table, **UNARY, values=list("ABC"), reports=20)


def test_two_reports_are_the_fewest_of_which_ones_are_counted():
    table = {"report": list("ABC"), "count": [1, 2, 0]}
    found = estimate(table, **UNARY, values=list("ABC"), reports=2)
    assert found.rows[0].standard_error > 0
    with pytest.raises(ValueError, match="reports must be an integer >= 2, got reports=1"):
        estimate(table, **UNARY, values=list("ABC"), reports=1)


def test_every_report_may_have_a_one():
    table = {"report": list("CAB"), "count": [5, 20, 0]}
    found = estimate(table, **UNARY, values=list("ABC"), reports=20).rows
    assert [row.estimate for row in found] == pytest.approx([1.5, -0.5, 0])
