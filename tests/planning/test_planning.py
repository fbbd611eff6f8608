"""Plans promise no more than they must, lead back to what was given, and say what they rest on."""

import json
from itertools import product

import numpy as np
import pytest
from ask import alone, answer, candidate
from click.testing import CliRunner

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.planning import show
from ldpnb.planning.candidates import candidates
from ldpnb.planning.design import Design
from ldpnb.planning.errors import TailError
from ldpnb.planning.questions import MOST_USERS, MOST_VALUES, Frequency, Gap, Mean
from ldpnb.planning.solve import plan


def test_two_values_of_randomised_response_are_one_estimate() -> None:
    known = {"epsilon": 1.0, "error": 0.05, "failure": 0.01, "values": 2}
    once, both = plan(Frequency(**known)), plan(Frequency(**known, simultaneous=True))
    assert answer(once, "k-RR").value == answer(both, "k-RR").value
    assert answer(once, "SUE").value < answer(both, "SUE").value
    warner = alone(Mean(epsilon=1.0, error=0.05, failure=0.01, binary=True), "Warner")
    assert answer(once, "k-RR").value == warner.value


QUESTIONS = [
    Frequency(epsilon=1.0, error=0.03, failure=0.01, values=10),
    Frequency(epsilon=1.0, error=0.03, failure=0.01, values=10, simultaneous=True),
    Frequency(epsilon=1.0, error=0.1, failure=0.01, values=2, design=Design("srs", 0.2), protects="release"),
    Mean(epsilon=1.0, error=0.3, failure=0.001, low=-5, high=5),
    Mean(epsilon=1.0, error=0.03, failure=0.001, binary=True, design=Design("poisson", 0.5)),
    Gap(epsilon=1.0, error=0.05, failure=0.01),
    Gap(epsilon=1.0, error=0.1, failure=0.01, shares=(0.25, 0.75), design=Design("srs", 0.5)),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{type(q).__name__} {q.design.kind}")
def test_what_is_computed_and_then_given_leads_back(question) -> None:
    # shares cost sums: two mechanisms stand for six
    ours = candidates(question)[:: 3 if isinstance(question, Frequency) else 1]
    for one in ours:
        found = alone(question.with_value("users", None), one.name)
        full = question.with_users(int(found.value))
        for name in ("epsilon", "error"):
            back = alone(full.with_value(name, None), one.name)
            given = getattr(question, name)
            assert back.value <= given * (1 + 1e-8)
            assert back.failure <= question.failure
            if name == "error" or not one.yardstick:
                assert back.value == pytest.approx(given, rel=0.01), (found.mechanism, name)
            else:  # where a curator's error is nearly all sampling, one user is worth much budget: no less than this one
                fewer = alone(question.with_users(int(found.value) - 1).with_value(name, None), one.name)
                assert fewer.value > given or not fewer.feasible


def test_the_largest_number_of_values_is_the_largest() -> None:
    known = {"users": 100_000, "epsilon": 1.0, "error": 0.02, "failure": 0.01}
    found = plan(Frequency(**known))
    assert answer(found, "SUE").value == float("inf")
    most = int(answer(found, "k-RR").value)
    for values, fits in ((most, True), (most + 1, False)):
        assert (alone(Frequency(**known | {"failure": None}, values=values), "k-RR").value <= 0.01) is fits


def test_the_smallest_sampling_rate_is_the_smallest() -> None:
    question = Frequency(users=50_000, epsilon=1.0, error=0.05, failure=0.01, values=4, design=Design("srs"))
    rate = alone(question, "k-RR").value
    reports = round(rate * 50_000)
    one = candidate(question, "k-RR")
    assert one.failure(question.with_value("sampling_rate", rate))[0] <= 0.01
    assert one.failure(question.with_value("sampling_rate", (reports - 1) / 50_000))[0] > 0.01


def test_a_secret_sample_lets_reports_lose_more() -> None:
    known = {"epsilon": 1.0, "error": 0.05, "failure": 0.01, "values": 4}
    plain = alone(Frequency(**known), "k-RR")
    design = Design("srs", 0.1)
    drawn = alone(Frequency(**known, design=design, protects="release"), "k-RR")
    assert drawn.release == pytest.approx(1.0, rel=1e-9)
    assert design.release_loss(epsilon=drawn.epsilon, users=int(drawn.value)) == pytest.approx(1.0, rel=1e-9)
    assert np.exp(drawn.epsilon) == pytest.approx(1 + 10 * np.expm1(1.0), rel=0.01)
    assert plain.value < drawn.value < 10 * plain.value
    same = Design("srs", 0.1, neighbours="deletion")
    assert same.release_loss(epsilon=2.0, users=100) == pytest.approx(design.release_loss(epsilon=2.0, users=100))
    assert Design("srs", 1.0, neighbours="deletion").release_loss(epsilon=2.0, users=100) == float("inf")


def test_a_shuffler_lowers_the_loss_of_what_is_released_by_the_account_it_names() -> None:
    known = {"users": 20_000, "failure": 0.01, "design": Design(delta=1e-6)}
    found = plan(Frequency(**known, epsilon=2.0, values=4))
    kary, other = answer(found, "k-RR"), answer(found, "OUE")
    assert max(kary.release, other.release) < kary.epsilon == other.epsilon == 2.0
    back = alone(Frequency(**known, epsilon=kary.release, values=4, protects="release"), "k-RR")
    assert (back.epsilon, back.value) == pytest.approx((2.0, kary.value), rel=1e-6)
    assert "\nshuffler: k-RR by its exact account; " in show.as_text(found)
    assert "OLH, OUE, SUE, signs, subset selection by their privacy blanket" in show.as_text(found)
    assert "privacy blanket (Balle and others 2019); all others by a bound" in show.as_text(
        plan(Mean(**known, epsilon=1.0))
    )
    assert "\nshuffler" not in show.as_text(plan(Mean(**known | {"design": Design()}, epsilon=1.0)))


@pytest.mark.parametrize("tail", ["exact", "chernoff", "normal"])
@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_extreme_budgets_are_planned_without_a_warning(epsilon: float, tail: str) -> None:
    for question in (
        Frequency(epsilon=epsilon, users=1000, error=0.5, values=8, simultaneous=True),
        Mean(epsilon=epsilon, users=1000, error=0.5),
        Gap(epsilon=epsilon, users=1000, error=0.5),
        Gap(epsilon=epsilon, users=1000, error=0.5, shares=(0.3, 0.7), design=Design("srs", 0.5)),
    ):
        for found in plan(question, tail=tail).answers:
            if found.feasible:
                assert 0 <= found.failure < 1
                assert epsilon == 50.0 or found.yardstick or found.failure > 0.1


def test_sign_vectors_need_no_coin_of_their_own_unless_reports_are_anonymous() -> None:
    known = {"epsilon": 1.0, "error": 0.1, "failure": 0.01, "values": 9}
    bits = [alone(Frequency(**known, design=d), "signs").bits for d in (Design(), Design("srs", 0.5))]
    assert bits == [1, 9]


def test_the_best_is_named_with_its_margin() -> None:
    found = plan(Gap(epsilon=1.0, error=0.05, failure=0.01))
    values = [a.value for a in found.answers]
    assert found.best.mechanism == "signed bit"
    assert values == sorted(values)
    assert found.margin == values[1] / values[0]
    many = plan(Frequency(users=100_000, epsilon=1.0, error=0.02, failure=0.01, simultaneous=True, bits=5))
    assert many.best.mechanism == "subset selection"
    assert many.margin > 1


def test_mechanisms_that_send_too_much_are_left_out() -> None:
    found = plan(Mean(epsilon=1.0, error=0.05, failure=0.01, bits=8))
    assert answer(found, "local Laplace").reason == "sends 64 bits per user"
    assert found.best.mechanism == "1-bit"
    assert np.isnan(found.margin)


UNSIZED = {"epsilon": 1.0, "error": 0.1, "failure": 0.1}
KNOWN = {"users": 10, **UNSIZED}


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: plan(Mean(epsilon=1.0)), "users, error and failure are left out"),
        (lambda: plan(Mean(**KNOWN)), "nothing is left out"),
        (lambda: plan(Frequency(**KNOWN, values=3, design=Design("srs", 0.1))), "nothing is left out"),
        (lambda: plan(Frequency(**UNSIZED, values=3, design=Design("srs"))), "users and sampling_rate are left out"),
        (lambda: Mean(error=1.0), "error must be < 1, the whole range"),
        (lambda: Mean(epsilon=0.0), "epsilon must be > 0"),
        (lambda: Mean(failure=1.0), r"failure must lie in \(0, 1\)"),
        (lambda: Mean(users=1), "users must be an integer >= 2"),
        (lambda: Mean(low=1.0, high=1.0), "low must be < high"),
        (lambda: Mean(protects="release"), "protects=release needs a simple random sample or a shuffler"),
        (lambda: Design("poisson", 0.1, neighbours="deletion"), "neighbours must be replacement unless a simple rand"),
        (lambda: Design(sampling_rate=0.5), "sampling_rate needs a design srs or poisson"),
        (lambda: Gap(sizes=(10, 20), users=40), "users must be the sum of sizes, 30, got users=40"),
        (lambda: Gap(shares=(0.0, 1.0)), "shares must be > 0"),
        (lambda: Gap(shares=(0.3, 0.3)), "shares must sum to 1"),
    ],
)
def test_bad_questions_and_designs_name_the_rule_and_the_value(make, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        make()


def command(*arguments: str):
    return CliRunner().invoke(cli, ["plan", *arguments])


def test_the_command_prints_a_table_the_best_and_what_the_tails_assume() -> None:
    result = command("gap", "--sizes", "3000,7000", "--error", "0.2", "--failure", "0.01")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("Which budget? 10,000 users, error below 0.2")
    assert lines[2].split() == ["mechanism", "epsilon", "bits", "tail"]
    assert lines[3].split()[:2] == ["signed", "bit"]
    assert "Best: signed bit; the next, best channel, needs" in result.output
    assert "chernoff: Chernoff's bound at the worst data" in result.output


def test_json_and_csv_carry_every_number() -> None:
    known = ("mean", "--epsilon", "1", "--error", "0.05", "--failure", "1e-3")
    parsed = json.loads(command(*known, "--format", "json").output)
    assert (parsed["asked"], parsed["best"], parsed["neighbours"]) == ("users", "1-bit", "replacement")
    assert parsed["question"]["failure"] == 1e-3
    found = plan(Mean(epsilon=1.0, error=0.05, failure=1e-3))
    assert [a["users"] for a in parsed["answers"]] == [a.value for a in found.answers]
    table = command(*known, "--format", "csv").output.splitlines()
    assert table[0].startswith("mechanism,users,unlimited,report_epsilon")
    assert table[1].startswith(f"1-bit,{found.best.value},False,1.0")
    assert show.as_table(found).iloc[0].tolist()[:2] == ["1-bit", f"{found.best.value:,}"]


def test_what_cannot_be_done_says_why_and_exits_with_1() -> None:
    result = command("mean", "--users", "100", "--error", "0.001", "--failure", "0.01")
    assert result.exit_code == 1
    assert "No local mechanism can do this." in result.output
    assert "at any budget an error of 0.133 remains: a value between the ends of its range is rounded" in result.output


def test_clients_is_a_second_name_of_users() -> None:
    known = ("--error", "0.05", "--failure", "1e-3")
    assert command("mean", "--clients", "1e4", *known).output == command("mean", "--users", "10_000", *known).output


def test_wrong_usage_of_the_command_is_named() -> None:
    result = command("mean", "--epsilon", "1")
    assert isinstance(result.exception, UsageError)
    assert "users, error and failure are left out" in str(result.exception)
    assert "is not a whole number" in command("mean", "--users", "many").output
    assert isinstance(command("gap", "--sizes", "3,7", "--shares", "0.3,0.7").exception, UsageError)


ASKED = {
    "frequency": ("frequency", "--values", "16"),
    "all shares": ("frequency", "--values", "16", "--simultaneous"),
    "mean": ("mean",),
    "binary": ("mean", "--binary"),
    "gap": ("gap",),
    "unequal": ("gap", "--shares", "0.3,0.7"),
}
UNKNOWN = {
    "error": ("--epsilon", "1", "--failure", "0.01"),
    "failure": ("--epsilon", "1", "--error", "1e-7"),
    "epsilon": ("--error", "1e-7", "--failure", "0.01"),
}
WHO = (("everyone",), ("srs", "--sampling-rate", "0.2"), ("poisson", "--sampling-rate", "0.2"))


@pytest.mark.parametrize("asked", ASKED)
def test_more_users_than_can_be_planned_for_are_refused_in_a_line(asked: str) -> None:
    for left, design, users in product(UNKNOWN, WHO, (str(MOST_USERS + 1), "1e17", "1e300")):
        result = command(*ASKED[asked], *UNKNOWN[left], "--design", *design, "--users", users)
        assert isinstance(result.exception, UsageError)
        assert "users must be at most 1,000,000,000,000, the most that is planned for" in str(result.exception)
        assert "\n" not in str(result.exception)
        assert not result.output


def test_more_values_or_members_than_can_be_planned_for_are_refused() -> None:
    with pytest.raises(ValueError, match=r"values must be at most 1,000,000,000, .* got 1,000,000,001"):
        Frequency(users=100, epsilon=1.0, failure=0.01, values=MOST_VALUES + 1)
    for sizes in ((10**13, 3), (10**30, 3)):
        with pytest.raises(ValueError, match=r"sizes must be at most 1,000,000,000,000"):
            Gap(sizes=sizes, epsilon=1.0, failure=0.01)
    with pytest.raises(ValueError, match=r"users must be at most"):
        Gap(sizes=(MOST_USERS, 1), epsilon=1.0, failure=0.01)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (Frequency, {"values": 16}),
        (Frequency, {"values": MOST_VALUES, "simultaneous": True}),
        (Mean, {}),
        (Mean, {"binary": True}),
        (Gap, {}),
        (Gap, {"shares": (0.3, 0.7)}),
    ],
)
@pytest.mark.parametrize(
    ("users", "design"),
    [
        (10**8, Design()),
        (MOST_USERS, Design()),
        (MOST_USERS, Design("srs", 0.2)),
        (MOST_USERS, Design("poisson", 0.2)),
    ],
)
def test_laws_and_bounds_hold_up_to_the_most_users(kind, more: dict[str, object], design: Design, users: int) -> None:
    question = kind(users=users, epsilon=2.0, error=5 / users**0.5, failure=0.01, design=design, **more)
    for one in candidates(question)[:: 3 if isinstance(question, Frequency) else 1]:
        if one.yardstick:
            continue
        normal = one.failure(question, "normal")[0]
        for tail in ("exact", "chernoff", "bernstein", "hoeffding"):
            try:
                chance = one.failure(question, tail)[0]
            except TailError:
                continue
            assert chance >= normal * (1 - 1e-4), (one.name, tail)
            if tail == "exact" and normal < 0.1:
                # the law is near the normal one; a sample by own coins bears the bound on its size
                assert chance <= normal * (1.06 if design.kind == "poisson" else 1 + 50 / users**0.5), one.name


def test_printed_budgets_are_rounded_up_so_that_they_hold() -> None:
    question = Gap(users=10_000, error=0.1, failure=0.01)
    found = plan(question)
    printed = float(show.as_table(found).iloc[0, 1])
    assert found.best.value <= printed < 1.001 * found.best.value
    assert alone(question.with_value("epsilon", printed).with_value("failure", None), "signed bit").value <= 0.01
