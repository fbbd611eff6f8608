"""Plans keep what they promise, at the worst data, and promise no more than they must."""

import json
from itertools import combinations, product

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ldpnb.accuracy import budgets, gaps, histograms, means, sampling
from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.estimators import frequency
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.planning import binomials, show
from ldpnb.planning.candidates import candidates
from ldpnb.planning.design import Design, Draw
from ldpnb.planning.errors import Bits
from ldpnb.planning.questions import Frequency, Gap, Mean
from ldpnb.planning.solve import Plan, _Search, plan
from ldpnb.rng import stream

FALSE_ALARM = 1e-6
RUNS = 2500
FAILURE = 0.05

FREQUENCY = {
    "k-RR": KaryRandomisedResponse,
    "SUE": UnaryEncoding.symmetric,
    "OUE": UnaryEncoding.optimised,
    "subset selection": SubsetSelection.optimal,
    "signs": SignRandomiser,
}


def answer(found: Plan, mechanism: str):
    return next(a for a in found.answers if a.mechanism == mechanism)


def candidate(question, mechanism: str):
    return next(c for c in candidates(question) if c.name == mechanism)


def most_failures(chance: float) -> float:
    """More than so many of RUNS would be seen with a probability of at most FALSE_ALARM."""
    return stats.binom.isf(FALSE_ALARM, RUNS, chance)


def two_binomials(first: int, p: float, second: int, q: float) -> np.ndarray:
    return np.convolve(
        stats.binom.pmf(np.arange(first + 1), first, p), stats.binom.pmf(np.arange(second + 1), second, q)
    )


def missed(law: np.ndarray, expected: float, reach: float) -> float:
    return law[np.abs(np.arange(law.size) - expected) >= reach - 1e-9].sum()


@pytest.mark.parametrize(
    ("p", "q", "deviation"), [(0.7, 0.2, 0.15), (0.5, 0.1, 0.11), (0.9, 0.1, 0.08), (0.9, 0.5, 0.12)]
)
def test_two_rates_bound_the_enumerated_law_within_a_lattice_step(p: float, q: float, deviation: float) -> None:
    bits = 60
    exact, looser = (
        np.array([missed(two_binomials(h, p, bits - h, q), h * p + (bits - h) * q, reach) for h in range(bits + 1)])
        for reach in (bits * deviation, bits * deviation - 1)
    )
    holders = np.arange(bits + 1.0)
    bound = binomials.two_rates_exact(bits, holders, p, q, deviation)
    assert (bound >= exact * (1 - 1e-9)).all()
    assert (bound <= looser).all()
    chernoff = np.exp(-bits * binomials.two_rates_exponents(holders / bits, p, q, deviation)).sum(axis=0)
    assert (chernoff > bound).all()
    law = Bits(p, q, deviation, ends=True)
    assert law.failure(Draw(bits, 1.0), "exact") == pytest.approx(max(bound), rel=0.02)


def test_on_the_lattice_the_bound_is_the_law() -> None:
    exact = missed(two_binomials(20, 0.7, 40, 0.2), 22, 9)
    assert binomials.two_rates_exact(60, np.array([20.0]), 0.7, 0.2, 0.15)[0] == pytest.approx(exact, rel=1e-9)


def test_a_sample_is_the_hypergeometric_mixture() -> None:
    population, bits, p, q, deviation = 90, 45, 0.8, 0.3, 0.2
    for holders in (0, 20, 54, 90):
        expected, total, looser = bits * (q + holders / population * (p - q)), 0.0, 0.0
        for drawn in range(max(0, bits - population + holders), min(holders, bits) + 1):
            chance = stats.hypergeom.pmf(drawn, population, holders, bits)
            law = two_binomials(drawn, p, bits - drawn, q)
            total += chance * missed(law, expected, bits * deviation)
            looser += chance * missed(law, expected, bits * deviation - 1)
        bound = binomials.sampled_two_rates_exact(population, np.array([float(holders)]), bits, p, q, deviation)
        assert total * (1 - 1e-9) <= bound[0] <= looser
        assert holders != 54 or bound[0] == pytest.approx(total, rel=1e-9)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.lists(st.floats(0.02, 0.98), min_size=5, max_size=40), st.floats(0.25, 0.45))
def test_no_bits_of_a_given_mean_stray_more_than_equal_ones(rates: list[float], deviation: float) -> None:
    law = np.ones(1)
    for rate in rates:
        law = np.convolve(law, [1 - rate, rate])
    bits, mean = len(rates), float(np.mean(rates))
    bound = binomials.one_rate_exact(bits, np.array([mean]), deviation)
    assert bound >= missed(law, bits * mean, bits * deviation) * (1 - 1e-9)
    chernoff = np.exp(-bits * binomials.one_rate_exponents(np.array([mean]), deviation)).sum()
    assert chernoff >= missed(law, bits * mean, bits * deviation)


@pytest.mark.parametrize("deviation", [0.004, 0.02])
def test_bounds_are_ordered_and_the_normal_tail_is_near_the_exact_one(deviation: float) -> None:
    law, draw = Bits(0.7, 0.3, deviation, ends=True), Draw(20_000, 1.0)
    exact, chernoff, bernstein, hoeffding, normal = (
        law.failure(draw, tail) for tail in ("exact", "chernoff", "bernstein", "hoeffding", "normal")
    )
    assert exact < chernoff < bernstein < hoeffding
    assert normal == pytest.approx(exact, rel=0.2)


def test_normal_tails_have_the_audited_variances() -> None:
    users, error, epsilon = 10_000, 0.02, 1.0
    mechanism = KaryRandomisedResponse(epsilon, 5)
    for rate, design in ((1.0, Design()), (0.3, Design("srs", 0.3))):
        question = Frequency(users=users, epsilon=epsilon, error=error, values=5, failure=0.5, design=design)
        law = candidate(question, "k-RR").errors(mechanism, question)
        shares = np.array([0.0, 0.25, 1.0])
        own = law.variances(shares, design.draw(users)) / (users * rate * (mechanism.p - mechanism.q) ** 2)
        audited = (
            sampling.variance_ratio(shares * users, nodes=users, sampling_rate=rate, mechanism=mechanism) / users**2
        )
        assert own == pytest.approx(audited, rel=1e-9)
    pure = histograms.pure_variance([0, users], users=users, mechanism=mechanism) / users**2
    worst = float(stats.norm.isf(FAILURE / 2) * np.sqrt(pure.max()))
    found = plan(Frequency(users=users, epsilon=epsilon, values=5, failure=FAILURE), tail="normal")
    assert answer(found, "k-RR").value == pytest.approx(worst, rel=1e-6)


def test_means_agree_with_the_audited_numbers_of_users() -> None:
    known, asked = {"epsilon": 0.7, "error": 0.3, "failure": 0.01, "low": 2.0, "high": 10.0}, (0.3, 0.01)
    bit, noise, curator = (kind(0.7, 8.0) for kind in (OneBit, LocalLaplace, CentralLaplace))
    best, hoeffding, normal = (plan(Mean(**known), tail=tail) for tail in ("best", "hoeffding", "normal"))
    assert answer(best, "local Laplace").value == means.users_for_certain(noise, *asked)
    assert answer(best, "central Laplace").value == np.ceil(means.users_needed(curator, *asked))
    assert answer(hoeffding, "1-bit").value == np.ceil(means.users_for_certain(bit, *asked))
    assert answer(normal, "1-bit").value == np.ceil(means.users_needed(bit, *asked))
    assert answer(normal, "local Laplace").value == np.ceil(means.users_needed(noise, *asked))


@pytest.mark.parametrize(
    ("name", "tail", "audited"),
    [
        *(("M_R", tail, DiscretisedMeans.calibrated) for tail in ("hoeffding", "bernstein", "normal")),
        *(("M_L, k = 2", tail, LaplaceMeans.calibrated) for tail in ("chernoff", "normal")),
        ("signed bit", "bernstein", SignedBit),
    ],
)
def test_gaps_agree_with_the_audited_bounds_for_equal_groups(name: str, tail: str, audited) -> None:
    question = Gap(users=40_000, epsilon=1.2, error=0.04)
    mechanism = audited(1.2, (20_000, 20_000)) if audited is SignedBit else audited(1.2)
    bound = budgets.failure_probability(mechanism, 40_000, 0.08, tail)
    assert answer(plan(question, tail=tail), name).value == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("name", ["M_R", "signed bit"])
def test_exact_gaps_lie_within_a_lattice_step_above_the_fair_signs(name: str) -> None:
    mechanism = DiscretisedMeans.calibrated(1.2) if name == "M_R" else SignedBit(1.2, (20_000, 20_000))
    exact = budgets.failure_probability(mechanism, 40_000, 0.08, "exact")
    assert exact <= answer(plan(Gap(users=40_000, epsilon=1.2, error=0.04)), name).value <= 1.05 * exact


def moments(mechanism, sizes: tuple[int, int], values: tuple[float, float], tilt: float) -> np.ndarray:
    """Centred moment generating function of a report of either group, the smaller's users counting 1, by listing what
    may be sent.
    """
    a, moved, weights = mechanism.keep, mechanism.move, np.array([min(sizes) / n for n in sizes])
    kept = np.zeros(2)
    noise = np.ones(2)
    for g, v in enumerate(values):
        if isinstance(mechanism, DiscretisedMeans):
            up = (1 + mechanism.sharpness * v) / 2
            kept[g] = up * np.exp(tilt * weights[g]) + (1 - up) * np.exp(-tilt * weights[g])
            noise[g] = np.cosh(tilt * weights[g])
        else:
            noise[g] = 1 / (1 - (tilt * weights[g] * mechanism.kept_scale) ** 2)
            kept[g] = np.exp(tilt * weights[g] * v) * noise[g]
    centres = np.array(values) * weights * mechanism.gain
    return np.array([a * kept[g] + moved * noise[1 - g] for g in (0, 1)]) * np.exp(-tilt * centres)


@pytest.mark.parametrize("name", ["M_R", "M_L, k = 2"])
def test_no_values_have_larger_moments_than_the_cumulants_say(name: str) -> None:
    sizes, tilt = (300, 700), 0.2
    question = Gap(sizes=sizes, epsilon=1.5, error=0.1, failure=0.5)
    one = candidate(question, name)
    mechanism = one.mechanism(1.5, question)
    law = one.errors(mechanism, question)
    shares = np.array(sizes) / 1000
    grid = list(product(np.linspace(-1, 1, 41), repeat=2))
    complete = [shares @ np.log(moments(mechanism, sizes, values, tilt)) for values in grid]
    assert max(complete) <= law.cumulant(tilt, True) * (1 + 1e-12)
    assert max(complete) == pytest.approx(law.cumulant(tilt, True), rel=1e-3)
    centres = [shares @ (np.array(values) * [1, 3 / 7]) * mechanism.gain for values in grid]
    drawn = [
        np.log(
            shares
            @ (moments(mechanism, sizes, values, tilt) * np.exp(tilt * np.array(values) * [1, 3 / 7] * mechanism.gain))
        )
        - tilt * mean
        for values, mean in zip(grid, centres, strict=True)
    ]
    assert max(drawn) <= law.cumulant(tilt, False) * (1 + 1e-12)
    assert max(drawn) == pytest.approx(law.cumulant(tilt, False), rel=1e-3)


def frequency_failures(name: str, epsilon: float, users: int, reports: int | None, share: float, error: float) -> int:
    """Count how often a share is off by the error when a share of the users hold the value, everybody or a sample
    reporting.
    """
    mechanism, rng = FREQUENCY[name](epsilon, 8), stream("plan", name, users, reports or 0, seed=20)
    holders = round(share * users)
    drawn = np.full(RUNS, holders) if reports is None else rng.hypergeometric(holders, users - holders, reports, RUNS)
    sent = reports or users
    tallies = [mechanism.sample_tallies([h, sent - h, 0, 0, 0, 0, 0, 0], rng=rng)[0] for h in drawn]
    estimates = frequency.unbiased(np.array(tallies), sent, mechanism)
    return int((np.abs(estimates - holders / users) >= error).sum())


@pytest.mark.parametrize("name", FREQUENCY)
def test_shares_fail_no_more_often_than_promised_and_fewer_users_would_not_do(name: str) -> None:
    question = Frequency(epsilon=1.0, error=0.06, failure=FAILURE, values=8)
    found = answer(plan(question), name)
    law = candidate(question, name).errors(FREQUENCY[name](1.0, 8), question)
    shares = np.linspace(0, 1, 9)
    worst = shares[law.chances(shares, draw=Draw(int(found.value), 1.0), tail="exact").argmax()]
    assert frequency_failures(name, 1.0, int(found.value), None, worst, 0.06) <= most_failures(FAILURE)
    assert frequency_failures(name, 1.0, int(0.7 * found.value), None, worst, 0.06) > most_failures(FAILURE)
    fewer = question.with_value("users", int(found.value) - 1)
    assert found.failure <= FAILURE < candidate(question, name).failure(fewer)[0]


@pytest.mark.parametrize("name", ["k-RR", "SUE"])
def test_sampled_shares_fail_no_more_often_than_promised(name: str) -> None:
    question = Frequency(epsilon=4.0, error=0.06, failure=FAILURE, values=8, design=Design("srs", 0.25))
    users = int(answer(plan(question), name).value)
    law = candidate(question, name).errors(FREQUENCY[name](4.0, 8), question)
    shares, draw = np.linspace(0, 1, 9), question.design.draw(users)
    worst = shares[law.chances(shares, draw=draw, tail="exact").argmax()]
    assert 0 < worst < 1
    assert frequency_failures(name, 4.0, users, draw.reports, worst, 0.06) <= most_failures(FAILURE)
    few = int(0.7 * users)
    assert frequency_failures(name, 4.0, few, round(few * 0.25), worst, 0.06) > most_failures(FAILURE)


def test_shares_of_volunteers_fail_no_more_often_than_promised() -> None:
    question = Frequency(epsilon=2.0, error=0.06, failure=FAILURE, values=8, design=Design("poisson", 0.25))
    users, rng = int(answer(plan(question), "k-RR").value), stream("volunteers", seed=20)
    mechanism, held = KaryRandomisedResponse(2.0, 8), np.array([users // 2, users - users // 2, *[0] * 6])
    failures = 0
    for _ in range(RUNS):
        tallies = mechanism.sample_tallies(rng.binomial(held, 0.25), rng=rng)
        failures += abs(frequency.unbiased(tallies, tallies.sum(), mechanism)[0] - held[0] / users) >= 0.06
    assert failures <= most_failures(FAILURE)
    fixed = answer(plan(question.with_value("design", Design("srs", 0.25))), "k-RR").value
    assert fixed < users < 1.25 * fixed


@pytest.mark.parametrize("held", [[1 / 8] * 8, [1, 0, 0, 0, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0, 0, 0, 0]])
@pytest.mark.parametrize("name", ["OUE", "k-RR"])
def test_all_shares_at_once_keep_the_promise(name: str, held: list[float]) -> None:
    found = plan(Frequency(epsilon=1.5, error=0.06, failure=FAILURE, values=8, simultaneous=True))
    users = -(-int(answer(found, name).value) // 8) * 8
    counts, rng = (users * np.array(held)).astype(int), stream("at once", name, *held, seed=20)
    mechanism = FREQUENCY[name](1.5, 8)
    tallies = np.array([mechanism.sample_tallies(counts, rng=rng) for _ in range(RUNS)])
    errors = np.abs(frequency.unbiased(tallies, users, mechanism) - held).max(axis=1)
    assert (errors >= 0.06).sum() <= most_failures(FAILURE)


def test_two_values_of_randomised_response_are_one_estimate() -> None:
    known = {"epsilon": 1.0, "error": 0.05, "failure": 0.01, "values": 2}
    once, both = plan(Frequency(**known)), plan(Frequency(**known, simultaneous=True))
    assert answer(once, "k-RR").value == answer(both, "k-RR").value
    assert answer(once, "SUE").value < answer(both, "SUE").value
    assert (
        answer(once, "k-RR").value
        == answer(plan(Mean(epsilon=1.0, error=0.05, failure=0.01, binary=True)), "Warner").value
    )


@pytest.mark.parametrize(("name", "kind"), [("1-bit", OneBit), ("local Laplace", LocalLaplace)])
def test_means_fail_no_more_often_than_promised_and_fewer_users_would_not_do(name: str, kind) -> None:
    found = answer(plan(Mean(epsilon=1.0, error=0.05, failure=FAILURE)), name)

    def failures(users: int) -> int:
        mechanism = kind(1.0)
        sums = mechanism.sample_sums([0.5], [users], rng=stream("mean", name, users, seed=20), repetitions=RUNS)
        return int((np.abs(mechanism.estimate(sums, users) - 0.5) >= 0.05).sum())

    assert failures(int(found.value)) <= most_failures(FAILURE)
    assert failures(int(0.7 * found.value)) > most_failures(FAILURE)


@pytest.mark.parametrize("sizes", [(0.5, 0.5), (0.2, 0.8), (0.2, 0.3, 0.5)])
def test_gaps_fail_no_more_often_than_promised(sizes: tuple[float, ...]) -> None:
    question = Gap(epsilon=2.0, error=0.1, failure=FAILURE, shares=sizes)
    for found in plan(question).answers:
        full = question.with_users(int(found.value))
        mechanism = candidate(question, found.mechanism).mechanism(2.0, full)
        value = 1.0 if "Laplace" in found.mechanism or found.mechanism.startswith("M_L") else 0.0
        rng = stream("gap", found.mechanism, *sizes, seed=20)
        groups = np.array(full.groups)
        sums = mechanism.sample_sums(groups[:, None], [value], repetitions=RUNS, rng=rng)
        difference = sums[:, 0] / groups[0] - sums[:, 1] / groups[1] if sums.ndim == 2 else sums / min(groups[:2])
        gap = difference / mechanism.gain
        failures = int((np.abs(gap) >= 0.2).sum())
        assert failures <= most_failures(FAILURE), found.mechanism
        if found.tail == "exact":
            assert failures > RUNS * FAILURE / 2, found.mechanism
        assert np.var(gap) == pytest.approx(gaps.worst_gap_variance(mechanism, full.groups), rel=0.2)


QUESTIONS = [
    Frequency(epsilon=1.0, error=0.03, failure=0.01, values=10),
    Frequency(epsilon=1.0, error=0.03, failure=0.01, values=10, simultaneous=True),
    Frequency(epsilon=1.0, error=0.05, failure=0.01, values=10, design=Design("srs", 0.2)),
    Frequency(epsilon=1.0, error=0.05, failure=0.01, values=10, design=Design("srs", 0.2), protects="release"),
    Mean(epsilon=1.0, error=0.3, failure=0.001, low=-5, high=5),
    Mean(epsilon=1.0, error=0.03, failure=0.001, binary=True, design=Design("poisson", 0.5)),
    Gap(epsilon=1.0, error=0.05, failure=0.01),
    Gap(epsilon=1.0, error=0.1, failure=0.01, shares=(0.25, 0.75), design=Design("srs", 0.5)),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{type(q).__name__} {q.design.kind}")
def test_what_is_computed_and_then_given_leads_back(question) -> None:
    # sampled shares cost a double sum each: two mechanisms stand for five
    ours = candidates(question)[:: 3 if isinstance(question, Frequency) and question.design.kind != "everyone" else 1]
    for one in ours:
        found = answer(plan_one(one, question, "users"), one.name)
        full = question.with_users(int(found.value))
        for name in ("epsilon", "error"):
            back = answer(plan_one(one, full, name), found.mechanism)
            given = getattr(question, name)
            assert back.value <= given * (1 + 1e-8)
            assert back.value == pytest.approx(given, rel=0.01), (found.mechanism, name)
            assert back.failure <= question.failure


def plan_one(one, question, name: str) -> Plan:
    """Plan for one mechanism alone, which is faster."""
    left = question.with_value(name, None)
    return Plan(left, name, (_Search(one, left, "best").answer(),))


def test_the_largest_number_of_values_is_the_largest() -> None:
    known = {"users": 100_000, "epsilon": 1.0, "error": 0.02, "failure": 0.01}
    found = plan(Frequency(**known))
    assert answer(found, "SUE").value == float("inf")
    most = int(answer(found, "k-RR").value)
    for values, fits in ((most, True), (most + 1, False)):
        assert (answer(plan(Frequency(**known | {"failure": None}, values=values)), "k-RR").value <= 0.01) is fits


def test_the_smallest_sampling_rate_is_the_smallest() -> None:
    question = Frequency(users=50_000, epsilon=1.0, error=0.05, failure=0.01, values=4, design=Design("srs"))
    rate = answer(plan(question), "k-RR").value
    reports = round(rate * 50_000)
    one = candidate(question, "k-RR")
    assert one.failure(question.with_value("sampling_rate", rate))[0] <= 0.01
    assert one.failure(question.with_value("sampling_rate", (reports - 1) / 50_000))[0] > 0.01


def test_a_secret_sample_lets_reports_lose_more() -> None:
    known = {"epsilon": 1.0, "error": 0.05, "failure": 0.01, "values": 4}
    plain = answer(plan(Frequency(**known)), "k-RR")
    design = Design("srs", 0.1)
    drawn = answer(plan(Frequency(**known, design=design, protects="release")), "k-RR")
    assert drawn.release == pytest.approx(1.0, rel=1e-9)
    assert design.release_loss(epsilon=drawn.epsilon, users=int(drawn.value)) == pytest.approx(1.0, rel=1e-9)
    assert np.exp(drawn.epsilon) == pytest.approx(1 + 10 * np.expm1(1.0), rel=0.01)
    assert plain.value < drawn.value < 10 * plain.value
    same = Design("srs", 0.1, neighbours="deletion")
    assert same.release_loss(epsilon=2.0, users=100) == pytest.approx(design.release_loss(epsilon=2.0, users=100))
    assert Design("srs", 1.0, neighbours="deletion").release_loss(epsilon=2.0, users=100) == float("inf")


def test_a_shuffled_plan_says_whose_account_is_exact() -> None:
    setting = {"users": 20_000, "epsilon": 1.0, "failure": 0.01, "design": Design(delta=1e-6)}
    assert "\nshuffler: k-RR by its exact account, all others by a bound" in show.as_text(
        plan(Frequency(values=4, **setting))
    )
    assert "\nshuffler: a bound for any randomiser" in show.as_text(plan(Mean(**setting)))
    assert "\nshuffler" not in show.as_text(plan(Mean(**setting | {"design": Design()})))


def test_a_shuffler_lowers_the_loss_of_what_is_released() -> None:
    question = Frequency(users=20_000, epsilon=2.0, failure=0.01, values=4, design=Design(delta=1e-6))
    found = plan(question)
    kary, other = answer(found, "k-RR"), answer(found, "OUE")
    assert kary.release < other.release < kary.epsilon == other.epsilon == 2.0
    back = plan(
        Frequency(
            users=20_000, epsilon=kary.release, failure=0.01, values=4, design=Design(delta=1e-6), protects="release"
        )
    )
    assert answer(back, "k-RR").epsilon == pytest.approx(2.0, rel=1e-6)
    assert answer(back, "k-RR").value == pytest.approx(kary.value, rel=1e-6)


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
    bits = [answer(plan(Frequency(**known, design=d)), "signs").bits for d in (Design(), Design("srs", 0.5))]
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


KNOWN = {"users": 10, "epsilon": 1.0, "error": 0.1, "failure": 0.1}


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: plan(Mean(epsilon=1.0)), "users, error and failure are left out"),
        (lambda: plan(Mean(**KNOWN)), "nothing is left out"),
        (lambda: plan(Frequency(**KNOWN, values=3, design=Design("srs", 0.1))), "nothing is left out"),
        (
            lambda: plan(Frequency(**KNOWN | {"users": None}, values=3, design=Design("srs"))),
            "users and sampling_rate are left out",
        ),
        (lambda: Mean(error=1.0), "error must be < 1, the whole range"),
        (lambda: Mean(epsilon=0.0), "epsilon must be > 0"),
        (lambda: Mean(failure=1.0), r"failure must lie in \(0, 1\)"),
        (lambda: Mean(users=1), "users must be an integer >= 2"),
        (lambda: Mean(low=1.0, high=1.0), "low must be < high"),
        (lambda: Mean(protects="release"), "protects=release needs a simple random sample or a shuffler"),
        (
            lambda: Design("poisson", 0.1, neighbours="deletion"),
            "neighbours must be replacement unless a simple random",
        ),
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
    assert "Best: signed bit; the next, signed Laplace, needs" in result.output
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


def test_printed_budgets_are_rounded_up_so_that_they_hold() -> None:
    question = Gap(users=10_000, error=0.1, failure=0.01)
    found = plan(question)
    printed = float(show.as_table(found).iloc[0, 1])
    assert found.best.value <= printed < 1.001 * found.best.value
    assert answer(plan(question.with_value("epsilon", printed).with_value("failure", None)), "signed bit").value <= 0.01


def released(population: tuple[int, ...], drawn: int, mechanism: KaryRandomisedResponse) -> np.ndarray:
    """Law of the number of ones reported by a simple random sample of given size."""
    samples = list(combinations(population, drawn))
    return sum(two_binomials(sum(s), mechanism.p, drawn - sum(s), mechanism.q) for s in samples) / len(samples)


def test_what_a_secret_sample_releases_loses_no_more_than_said_under_either_relation() -> None:
    mechanism, users, drawn = KaryRandomisedResponse(1.7, 2), 5, 2
    everyone = list(product((0, 1), repeat=users))
    laws = {p: released(p, drawn, mechanism) for p in [*everyone, *product((0, 1), repeat=users - 1)]}

    def loss(neighbours: str) -> float:
        pairs = [
            (p, p[:i] + other + p[i + 1 :])
            for p in everyone
            for i in range(users)
            for other in ([(0,), (1,)] if neighbours == "replacement" else [()])
        ]
        return max(float(np.abs(np.log(laws[one] / laws[other])).max()) for one, other in pairs)

    for neighbours in ("replacement", "deletion"):
        said = Design("srs", drawn / users, neighbours=neighbours).release_loss(epsilon=1.7, users=users)
        assert loss(neighbours) <= said * (1 + 1e-12)
    assert loss("replacement") > 0.75 * said
