"""A pilot's variances and correlation are those of analysis of variance, from files as they come."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ldpnb.cli import cli
from ldpnb.data.reading import Reading
from ldpnb.planning.survey_words import pilot
from ldpnb.rng import stream
from ldpnb.surveys.open_designs import ClusterDesign
from ldpnb.surveys.pilots import pilot_of

# scores by school; worked by hand: means .1, .9, .5, mean squares B = .32, W = .04 / 3, (B - W) / (B + W) = .92
SCORES = "school;region;score\na;N;0,0\na;N;0,2\nb;S;1,0\nb;S;0,8\nc;N;0,5\nc;N;0,5\nc;S;k.A.\n"
TARGET = ["--epsilon", "1", "--error", "0.05", "--failure", "0.05", "--tail", "normal"]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "pilot.csv"
    path.write_text(SCORES)
    return path


def test_a_file_gives_variances_and_correlation(scores: Path) -> None:
    found = pilot(scores, "score", cluster="school", stratum="region", reading=Reading(missing=("k.A.",)))
    assert (found.answers, found.clusters, found.take) == (6, 3, 2)
    assert (found.mean, found.s2, found.icc(2)) == pytest.approx((0.5, 1 / 6, 0.92))
    assert found.strata == pytest.approx({"N": np.var([0, 0.2, 0.5, 0.5], ddof=1), "S": 0.02})
    assert ClusterDesign(100, 2).split(found.s2, found.icc(2)) == pytest.approx(
        (199 / 6 * 1.92 / 4 / 99, 199 / 6 * 0.08 / 200)
    )


def test_a_small_pilot_of_shares_is_no_more_spread_than_a_population(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    path.write_text("yes,part\n0,a\n1,a\n1,b\n0,b\n")
    found = pilot(path, "yes", stratum="part")
    assert (found.s2, found.strata) == (0.25, {"a": 0.25, "b": 0.25})
    assert survey("--population", "10000", "--binary", "--pilot", str(path), "--value", "yes").exit_code == 0
    assert pilot_of([0.5] * 4, clusters=[1, 1, 2, 2]).icc_interval() == (0, 1)


def test_correlation_is_clipped_where_clusters_are_too_even() -> None:
    even = pilot_of([0.0, 1.0, 1.0, 0.0], clusters=["a", "a", "b", "b"])
    assert even.icc(2) == -1.0
    assert even.icc(5) == -0.25


def test_intervals_cover_the_correlation_of_normal_values() -> None:
    rng, groups = stream("pilots", seed=1), np.repeat(np.arange(40), 10)
    hits = []
    for _ in range(400):
        values = rng.normal(0, 0.2**0.5, 40)[groups] + rng.normal(0, 0.8**0.5, 400)
        low, high = pilot_of(values, clusters=groups).icc_interval()
        hits.append(low <= 0.2 <= high)
    assert abs(np.mean(hits) - 0.95) < 5 * (0.95 * 0.05 / 400) ** 0.5  # 5 standard deviations


def survey(*words: str) -> Any:
    return CliRunner().invoke(cli, ["plan", "survey", *words, *TARGET])


def test_a_plan_rests_on_a_pilot_and_says_so(scores: Path) -> None:
    about = ["--pilot", str(scores), "--value", "score", "--missing", "k.A."]
    clusters = ["--design", "cluster", "--clusters", "4000", "--cluster-size", "2"]
    said = survey(*clusters, *about, "--cluster", "school").stdout
    assert "sd 0.408 and icc 0.92 (95% interval 0.199 to 0.998, for normal values)" in said
    assert "A pilot of people who are to be protected is itself a release" in said
    stated = survey(*clusters, "--sd", str(6**-0.5), "--icc", "0.92").stdout
    assert stated.splitlines()[0] == said.splitlines()[0]
    # what is stated holds
    assert (
        survey(*clusters, *about, "--cluster", "school", "--icc", "0.5").stdout.splitlines()[0] != said.splitlines()[0]
    )


def test_strata_are_found_by_name(scores: Path, tmp_path: Path) -> None:
    strata = tmp_path / "strata.csv"
    strata.write_text("stratum,size\nN,3000\nS,2000\n")
    about = ["--design", "strata", "--strata", str(strata), "--pilot", str(scores), "--value", "score"]
    about += ["--stratum", "region", "--missing", "k.A.", "--mechanism", "Laplace", "--allocation", "neyman"]
    assert "sd 0.245 in N, sd 0.141 in S" in survey(*about).stdout
    strata.write_text("stratum,size\nN,3000\nW,2000\n")
    assert "every stratum must be in the pilot's --stratum, got 'W'" in str(survey(*about).exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--value score", "value belongs to a pilot, got no --pilot"),
        ("--pilot {path}", "a pilot needs --value"),
        (
            "--pilot {path} --value score",
            "column 'score': holds numbers and 1 other entries, such as 'k.A.'; state missing=k.A.",
        ),
        ("--pilot {path} --value score --missing k.A. --range 0 0.9", "column score must lie in [0, 0.9], got 1"),
        ("--pilot {path} --value score --missing k.A. --stratum school --cluster school", "Draw"),
    ],
)
def test_a_pilot_that_cannot_be_used_is_refused_in_a_line(scores: Path, words: str, said: str) -> None:
    design = "--design cluster --clusters 4000 --cluster-size 2" if said == "Draw" else "--population 9000"
    found = survey(*design.split(), *words.format(path=scores).split())
    assert said in (found.stdout if said == "Draw" else str(found.exception))


def test_a_plan_that_rests_on_a_correlation_below_0_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pilot.csv"
    path.write_text("school,mark\n1,0.1\n1,0.9\n2,0.2\n2,0.8\n3,\n3,0.5\n")
    words = f"--pilot {path} --value mark --cluster school --design cluster --clusters 300 --cluster-size 20".split()
    said = survey(*words).stdout
    assert "icc -0.0526 (95% interval -0.0526 to" in said
    assert "An icc below 0 is rare: state --icc 0 or more" in said
    assert "(1 row without an entry was left out)" in said


def test_too_small_a_pilot_is_refused() -> None:
    for values, groups, said in (
        ([1.0], None, "two values, got 1"),
        ([0.0, 1.0], ["a", "b"], "two people in one"),
        ([0.0, 1.0], ["a", "a"], "two clusters"),
    ):
        with pytest.raises(ValueError, match=said):
            pilot_of(values, clusters=groups)
    with pytest.raises(ValueError, match="two values in every stratum, got 1 in 'b'"):
        pilot_of([0.0, 1.0, 1.0], strata=["a", "a", "b"])
