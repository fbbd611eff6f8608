"""Plans for samples count who is drawn: for a curator, in the normal law, in what they say, and exactly for one bit."""

import math

import numpy as np
import pytest
from ask import alone
from scipy import stats

from ldpnb.planning import binomials, show
from ldpnb.planning.design import Design, Draw
from ldpnb.planning.errors import Bits, Noise, TailError
from ldpnb.planning.questions import Frequency, Mean
from ldpnb.planning.solve import plan
from ldpnb.rng import stream

TARGET = {"epsilon": 1.0, "error": 0.05, "failure": 0.05}
SECRET, OWN_COIN = Design("srs", 0.1), Design("poisson", 0.1)


def test_a_curator_needs_a_sample_too() -> None:
    share = alone(Mean(**TARGET, binary=True, design=SECRET), "central Laplace")
    assert (share.value, share.tail) == (pytest.approx(3500, rel=0.03), "exact")
    number = alone(Mean(**TARGET, design=SECRET), "central Laplace")
    # by Chernoff's bound somewhat more than Hoeffding's, without noise
    assert number.tail == "chernoff"
    assert 1 < number.value / (10 * math.log(40) / (2 * 0.05**2)) < 1.05
    shares = Frequency(users=10_000, epsilon=1.0, failure=0.05, values=16, design=SECRET)
    assert alone(shares, "central Laplace").value == pytest.approx(1.96 * math.sqrt(0.9 / 4 / 1000), rel=0.05)
    poisson = alone(Mean(**TARGET, binary=True, design=OWN_COIN), "central Laplace")
    assert poisson.value > number.value


@pytest.mark.parametrize(("population", "drawn", "scale"), [(12, 5, 0.8), (60, 20, 0.1), (60, 20, 3.0)])
def test_a_curators_error_is_the_mixture_over_all_samples(population: int, drawn: int, scale: float) -> None:
    holders, error = np.arange(population + 1.0), 0.23
    found = binomials.sampled_noisy_exact(population, holders, drawn, error, scale)
    ones = np.arange(drawn + 1)
    for held, chance in zip(holders, found, strict=True):
        away = ones - drawn * held / population
        law = stats.hypergeom.pmf(ones, population, int(held), drawn)
        tail = stats.laplace.sf(drawn * error - away, 0, scale) + stats.laplace.cdf(-drawn * error - away, 0, scale)
        assert chance == pytest.approx(law @ tail, rel=1e-9)


def test_a_wide_law_is_thinned_to_the_safe_side() -> None:
    population, drawn, error = 10**7, 4 * 10**6, 0.0004
    for scale in (1.0, 500.0):
        (found,) = binomials.sampled_noisy_exact(population, np.array([5e6]), drawn, error, scale)
        sd = math.sqrt(drawn * 0.25 * 0.6)
        rng = stream("thinned", scale, seed=1)
        sums = rng.normal(0, sd, 200_000) + rng.laplace(0, scale, 200_000)
        simulated = float(np.mean(np.abs(sums) >= drawn * error))
        slack = 5 * math.sqrt(simulated / 200_000)
        assert simulated - slack <= found <= simulated * 1.03 + slack


def test_chernoff_holds_for_a_curators_mean() -> None:
    law, draw = Noise(0.1, 2.0, ends=False), Draw(300, 0.2)
    with pytest.raises(TailError, match="two ends only"):
        law.failure(draw, "exact")
    exact = Noise(0.1, 2.0).failure(draw, "exact")
    assert exact < law.failure(draw, "chernoff") < 8 * exact


def test_one_bit_of_a_sample_is_counted_exactly() -> None:
    found = alone(Mean(**TARGET, design=SECRET), "1-bit")
    assert (found.value, found.tail) == (18_415, "exact")  # a tenth of them 1,842, as where everybody reports
    assert alone(Mean(**TARGET), "1-bit").value == pytest.approx(1842, abs=1)
    law, draw = Bits(0.7, 0.3, 0.1, ends=False), Draw(40, 0.5)
    rng = stream("one bit of a sample", seed=1)
    for values in (np.full(40, 0.5), np.repeat([0.0, 1.0], 20), np.linspace(0, 1, 40)):
        drawn = values[rng.random((20_000, 40)).argpartition(19, axis=1)[:, :20]]
        bits = (rng.random(drawn.shape) < 0.3 + 0.4 * drawn).mean(axis=1)
        missed = float(np.mean(np.abs(bits - 0.3 - 0.4 * values.mean()) >= 0.1 - 1e-12))
        assert missed <= law.failure(draw, "exact") + 5 * math.sqrt(0.25 / 20_000)


def test_the_normal_law_counts_a_finite_population() -> None:
    law, draw = Bits(0.75, 0.25, 0.1, ends=True), Draw(4, 0.5)
    (found,) = law.variances(np.array([0.5]), draw)
    # two of four people, two of whom hold the value: by enumeration the variance of the mean bit, times 2
    means = [0.75, *[0.5] * 4, 0.25]
    assert found / 2 == pytest.approx(np.var(means) + 0.1875 / 2)


def test_deletion_from_a_sample_of_everybody_is_refused() -> None:
    everybody = Design("srs", 1.0, neighbours="deletion")
    found = plan(Mean(users=5000, epsilon=1.0, failure=0.05, design=everybody))
    assert found.best is None
    assert {a.reason for a in found.answers if not a.yardstick} == {
        "under deletion a sample of everybody shows who is absent"
    }


def test_notes_belong_to_the_design() -> None:
    asked = {"epsilon": 1.0, "error": 0.2, "failure": 0.05}
    notes = show.tail_notes(plan(Mean(**asked, design=OWN_COIN)))
    assert "averaged over how many do" in notes["chernoff"]
    assert show.tail_notes(plan(Mean(**asked, design=SECRET)))["chernoff"].endswith(
        "for samples without replacement (Hoeffding 1963)"
    )
    assert "sampl" not in " ".join(show.tail_notes(plan(Mean(**asked))).values())


@pytest.mark.parametrize(("population", "share", "deviation"), [(30, 0.4, 0.2), (3000, 0.1, 0.05)])
def test_own_coins_are_averaged_over_how_many_take_part(population: int, share: float, deviation: float) -> None:
    rates, number = np.array([0.3, 0.5]), np.arange(population + 1.0)
    each = binomials.one_rate_exact(number[:, None], rates, deviation)
    expected = stats.binom.pmf(number, population, share) @ each
    assert binomials.averaged_one_rate_exact(population, share, rates, deviation) == pytest.approx(expected, rel=1e-9)
    law = Bits(0.7, 0.3, deviation, ends=False)
    worst = law.failure(Draw(population, share, fixed=False), "exact")
    assert worst >= expected.max() * (1 - 1e-12)
    assert worst <= law.failure(Draw(population, share, fixed=False), "chernoff")
