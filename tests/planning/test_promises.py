"""Simulated collections fail no more often than their plans promise, at the worst data."""

import numpy as np
import pytest
from ask import alone, answer, candidate
from scipy import stats

from ldpnb.accuracy import gaps
from ldpnb.estimators import frequency
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.means import LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.planning.design import Design
from ldpnb.planning.questions import Frequency, Gap, Mean
from ldpnb.planning.solve import plan
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


def most_failures(chance: float) -> float:
    """More than so many of RUNS would be seen with a probability of at most FALSE_ALARM."""
    return stats.binom.isf(FALSE_ALARM, RUNS, chance)


def frequency_failures(name: str, epsilon: float, users: int, reports: int | None, share: float, error: float) -> int:
    """Count how often the estimate is off by the error when a share of the users hold the value."""
    mechanism, rng = FREQUENCY[name](epsilon, 8), stream("plan", name, users, reports or 0, seed=20)
    holders = round(share * users)
    drawn = np.full(RUNS, holders) if reports is None else rng.hypergeometric(holders, users - holders, reports, RUNS)
    sent = reports or users
    tallies = [mechanism.sample_tallies([h, sent - h, 0, 0, 0, 0, 0, 0], rng=rng)[0] for h in drawn]
    estimates = frequency.unbiased(np.array(tallies), sent, mechanism)
    return int((np.abs(estimates - holders / users) >= error).sum())


@pytest.mark.parametrize(
    ("name", "epsilon", "design"),
    [
        *((name, 1.0, Design()) for name in FREQUENCY),
        *((name, 4.0, Design("srs", 0.25)) for name in ("k-RR", "SUE")),
    ],
    ids=lambda x: getattr(x, "kind", x),
)
def test_shares_fail_no_more_often_than_promised_and_fewer_users_would_not_do(
    name: str, epsilon: float, design: Design
) -> None:
    question = Frequency(epsilon=epsilon, error=0.06, failure=FAILURE, values=8, design=design)
    one, found = candidate(question, name), alone(question, name)
    users, shares = int(found.value), np.linspace(0, 1, 9)
    errors = one.errors(FREQUENCY[name](epsilon, 8), question)
    worst = shares[errors.chances(shares, draw=design.draw(users), tail="exact").argmax()]

    def failures(asked: int) -> int:
        reports = None if design.kind == "everyone" else round(asked * 0.25)
        return frequency_failures(name, epsilon, asked, reports, worst, 0.06)

    assert failures(users) <= most_failures(FAILURE) < failures(int(0.7 * users))
    assert found.failure <= FAILURE < one.failure(question.with_value("users", users - 1))[0]


def test_shares_of_volunteers_fail_no_more_often_than_promised() -> None:
    question = Frequency(epsilon=2.0, error=0.06, failure=FAILURE, values=8, design=Design("poisson", 0.25))
    users, rng = int(alone(question, "k-RR").value), stream("volunteers", seed=20)
    mechanism, held = KaryRandomisedResponse(2.0, 8), np.array([users // 2, users - users // 2, *[0] * 6])
    tallies = np.array([mechanism.sample_tallies(rng.binomial(held, 0.25), rng=rng) for _ in range(RUNS)])
    shares = frequency.unbiased(tallies, tallies.sum(axis=1, keepdims=True), mechanism)[:, 0]
    assert (abs(shares - held[0] / users) >= 0.06).sum() <= most_failures(FAILURE)
    fixed = alone(question.with_value("design", Design("srs", 0.25)), "k-RR").value
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


@pytest.mark.parametrize(("name", "mechanism"), [("1-bit", OneBit(1.0)), ("local Laplace", LocalLaplace(1.0))])
def test_means_fail_no_more_often_than_promised_and_fewer_users_would_not_do(name: str, mechanism) -> None:
    promised = int(alone(Mean(epsilon=1.0, error=0.05, failure=FAILURE), name).value)

    def failures(users: int) -> int:
        sums = mechanism.sample_sums([0.5], [users], rng=stream("mean", name, users, seed=20), repetitions=RUNS)
        return int((np.abs(mechanism.estimate(sums, users) - 0.5) >= 0.05).sum())

    assert failures(promised) <= most_failures(FAILURE) < failures(int(0.7 * promised))


@pytest.mark.parametrize("sizes", [(0.5, 0.5), (0.2, 0.8), (0.2, 0.3, 0.5)])
def test_gaps_fail_no_more_often_than_promised(sizes: tuple[float, ...]) -> None:
    question = Gap(epsilon=2.0, error=0.1, failure=FAILURE, shares=sizes)
    for found in plan(question).answers:
        full = question.with_users(int(found.value))
        mechanism = candidate(question, found.mechanism).mechanism(2.0, full)
        value = 1.0 if "Laplace" in found.mechanism or found.mechanism.startswith("M_L") else 0.0
        rng = stream("gap", found.mechanism, *sizes, seed=20)
        groups = np.array(full.groups)
        if isinstance(mechanism, BestGapChannel):  # the value 0 is rounded to either sign at random
            chances = mechanism.channel().reshape(-1, 2, 2).mean(axis=2).T
            tallies = sum(rng.multinomial(n, p / p.sum(), RUNS) for n, p in zip(groups, chances, strict=True))
            gap, variance = tallies @ mechanism.scores / groups.sum(), mechanism.variance / groups.sum()
        else:
            sums = mechanism.sample_sums(groups[:, None], [value], repetitions=RUNS, rng=rng)
            difference = sums[:, 0] / groups[0] - sums[:, 1] / groups[1] if sums.ndim == 2 else sums / min(groups[:2])
            gap, variance = difference / mechanism.gain, gaps.GroupGap(mechanism, full.groups).worst_variance()
        failures = int((np.abs(gap) >= 0.2).sum())
        assert failures <= most_failures(FAILURE), found.mechanism
        if found.tail == "exact":
            assert failures > RUNS * FAILURE / 2, found.mechanism
        assert np.var(gap) == pytest.approx(variance, rel=0.2)
