"""Whole designs are carried out 2,000 times: estimates miss as often as plans say, and vary as much.

Misses are counted against the binomial law, and variances against the normal law of a variance estimate, so that a true
promise fails a test once in a million.
"""

import math
from statistics import NormalDist
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

from ldpnb.guides import survey as made
from ldpnb.mechanisms.means import OneBit
from ldpnb.planning.survey import Survey
from ldpnb.planning.survey_plan import SurveyPlan
from ldpnb.rng import stream
from ldpnb.surveys.noise import MeanMechanism, NumberReports
from ldpnb.surveys.open_designs import ClusterDesign, Design, SimpleDesign, StratifiedDesign
from ldpnb.surveys.releases import poisson_release_loss
from ldpnb.surveys.variances import intracluster_correlation, kish_design_effect, poisson_variance

RUNS, FALSE_ALARM, FAILURE, EPSILON = 2000, 1e-6, 0.05, 1.5
SIZES = (300, 200, 100)
Floats = np.ndarray[Any, np.dtype[np.float64]]

CLUSTERED = made.population(60, 10, mean=0.4, sd=0.3, icc=0.2, seed=1)
APART = np.repeat([0.0, 1.0], 30)[:, None] * np.ones(10)
MIDDLE = np.full((60, 10), 0.5)
PEOPLE = {"spread": CLUSTERED, "apart": APART, "middle": MIDDLE}


def reported(values: Floats, mechanism: str, rng: np.random.Generator) -> Floats:
    """Unbiased reports of values; of a curator the values themselves."""
    if mechanism == "central":
        return values
    if mechanism == "Laplace":
        return values + rng.laplace(0, 1 / EPSILON, values.shape)
    channel = OneBit(EPSILON)
    return ((rng.random(values.shape) < channel.q + channel.slope * values) - channel.q) / channel.slope


def some(rng: np.random.Generator, runs: int, of: int, number: int) -> Any:
    return rng.random((runs, of)).argpartition(number - 1, axis=1)[:, :number]


def clusters(design: ClusterDesign, count: int, values: Floats, mechanism: str, rng: np.random.Generator) -> Floats:
    drawn = values[some(rng, RUNS, design.clusters, count)]
    take = design.drawn(count).asked
    within = some(rng, RUNS * count, design.size, take).reshape(RUNS, count, take)
    return reported(np.take_along_axis(drawn, within, axis=2), mechanism, rng).mean(axis=(1, 2))


def simple(values: Floats, count: int, mechanism: str, rng: np.random.Generator) -> Floats:
    return reported(values.ravel()[some(rng, RUNS, values.size, count)], mechanism, rng).mean(axis=1)


def estimates(plan: SurveyPlan, values: Floats, mechanism: str, rng: np.random.Generator) -> Floats:
    """Estimates of all runs of the planned design."""
    design, count = plan.survey.design, plan.count
    if isinstance(design, ClusterDesign):
        found = clusters(design, count, values, mechanism, rng)
    elif isinstance(design, StratifiedDesign):
        parts = np.split(values.ravel(), np.cumsum(design.sizes)[:-1])
        found = np.zeros(RUNS)
        for part, drawn in zip(parts, design.drawn(count), strict=True):
            found += part.size / values.size * simple(part, drawn, mechanism, rng)
    else:
        found = simple(values, count, mechanism, rng)
    return found + (rng.laplace(0, plan.survey.scale(), RUNS) if mechanism == "central" else 0.0)


def informed(kind: str, values: Floats) -> Design:
    """The design with all that can be known of a population."""
    s2 = float(values.var(ddof=1))
    if kind == "simple":
        return SimpleDesign(values.size, s2)
    if kind == "strata":
        parts = np.split(values.ravel(), np.cumsum(SIZES)[:-1])
        return StratifiedDesign(SIZES, tuple(float(p.var(ddof=1)) for p in parts))
    icc = intracluster_correlation(list(values)) if s2 else 0.0
    return ClusterDesign(*values.shape, icc=icc, take={"cluster": None, "two-stage": 4}[kind], s2=s2)


WORST: dict[str, Design] = {
    "simple": SimpleDesign(600),
    "cluster": ClusterDesign(60, 10),
    "two-stage": ClusterDesign(60, 10, take=4),
    "strata": StratifiedDesign(SIZES),
}
COUNTS = {"simple": 200, "cluster": 20, "two-stage": 40, "strata": 200}


def planned(design: Design, kind: str, mechanism: str, tail: Any) -> SurveyPlan:
    about: dict[str, Any] = {"collection": "central"} if mechanism == "central" else {"mechanism": mechanism}
    asked = {"epsilon": EPSILON, "failure": FAILURE, "tail": tail, "secret": mechanism == "central"}
    return Survey(design=design, count=COUNTS[kind], **asked, **about).plan()


def most(chance: float) -> int:
    return int(stats.binom.isf(FALSE_ALARM, RUNS, chance))


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("mechanism", ["one-bit", "Laplace", "central"])
@pytest.mark.parametrize("kind", WORST)
def test_an_error_is_missed_as_seldom_as_promised(kind: str, mechanism: str, people: str) -> None:
    values, rng = PEOPLE[people], stream("coverage", kind, mechanism, people, seed=1)
    sure = planned(WORST[kind], kind, mechanism, "guaranteed")
    found = estimates(sure, values, mechanism, rng) - values.mean()
    assert int(np.sum(np.abs(found) >= sure.error)) <= most(FAILURE)
    # where all is known the variance is that of the plan, and the normal law's error is met
    exact = planned(informed(kind, values), kind, mechanism, "normal")
    parts = exact.survey.variance()
    variance = float(parts.total) + 2 * exact.survey.scale() ** 2
    spread = float(np.mean(found**2)) / variance
    slack = -NormalDist().inv_cdf(FALSE_ALARM / 2) * math.sqrt(5 / RUNS)  # Laplace's kurtosis is 6
    # of one bit the mean of the values enters too, and the worst is planned for
    assert (-1 if mechanism == "one-bit" else -slack) < spread - 1 < slack
    misses = int(np.sum(np.abs(found) >= exact.error))
    assert misses <= most(FAILURE)


def test_weights_that_are_unrelated_to_values_cost_what_kish_says() -> None:
    rng = stream("coverage", "weights", seed=1)
    values = rng.permutation(CLUSTERED.ravel())
    weights = rng.permutation(np.resize([1.0, 1.0, 3.0], values.size))
    count, kish = 300, kish_design_effect(weights)
    asked: dict[str, Any] = {"count": count, "epsilon": EPSILON, "failure": FAILURE, "mechanism": "Laplace"}
    design = SimpleDesign(values.size, float(values.var(ddof=1)))
    told = Survey(design=design, **asked, weights=kish, tail="normal").plan()
    found = np.empty(RUNS)
    for run in range(RUNS):
        drawn = rng.permutation(values.size)[:count]
        # the same people, of whom nobody's weight knows the value
        own = rng.permutation(weights)[drawn]
        found[run] = own @ (reported(values[drawn], "Laplace", rng)) / own.sum()
    errors = found - values.mean()
    assert float(np.mean(errors**2)) == pytest.approx(float(told.survey.variance().total), rel=0.2)
    assert int(np.sum(np.abs(errors) >= told.error)) <= most(FAILURE)


@pytest.mark.parametrize("mechanism", ["one-bit", "Laplace", "central"])
def test_independent_participation_at_rates_of_ones_own(mechanism: str) -> None:
    rng = stream("coverage", "Poisson", mechanism, seed=1)
    values, rates, centre = CLUSTERED.ravel(), np.resize([0.2, 0.5, 0.9], CLUSTERED.size), 0.5
    scale = 0.02 if mechanism == "central" else 0.0
    noises = np.zeros(values.size)
    if mechanism != "central":
        reports = NumberReports(cast("MeanMechanism", mechanism), EPSILON)
        noises = np.array([reports.variance(v) for v in values])
    else:
        # less than it would lose if everybody were known to take part
        assert 0 < poisson_release_loss(scale, rates, centre=centre) < 1 / (values.size * 0.2 * scale)
    variance = poisson_variance(values, noises, rates, centre=centre).total + 2 * scale**2
    takes = rng.random((RUNS, values.size)) < rates
    sent = reported(np.broadcast_to(values, takes.shape), mechanism, rng)
    found = centre + (takes * (sent - centre) / rates).sum(axis=1) / values.size
    errors = found - values.mean() + (rng.laplace(0, scale, RUNS) if scale else 0.0)
    for bound in (1 / math.sqrt(FAILURE), -NormalDist().inv_cdf(FAILURE / 2)):
        assert int(np.sum(np.abs(errors) >= bound * math.sqrt(variance))) <= most(FAILURE)
    assert float(np.mean(errors**2)) == pytest.approx(float(variance), rel=0.25)


def test_the_notebook_s_collections_err_as_planned() -> None:
    design = informed("two-stage", CLUSTERED)
    plan = planned(design, "two-stage", "one-bit", "normal")
    found = made.collect(CLUSTERED, plan, repetitions=RUNS, seed=1)
    assert found.misses(plan.error) <= most(FAILURE)
    assert float(np.var(found.estimates)) == pytest.approx(float(plan.survey.variance().total), rel=0.2)
    assert found.uncovered(FAILURE) <= most(FAILURE)
    few = made.collect(CLUSTERED, plan, repetitions=RUNS, seed=1, chosen=5)
    rows = made.coverage({"planned": found, "few": few}, error=plan.error, failure=FAILURE)
    assert rows["promise"].tolist() == ["kept", "broken"]
    assert made.most_misses(RUNS, FAILURE) == most(FAILURE)
    shares = made.errors({"planned": found}, error=plan.error)
    assert shares["share of collections"].sum() == pytest.approx(1)
    with pytest.raises(TypeError, match="ClusterDesign"):
        made.collect(CLUSTERED, planned(WORST["simple"], "simple", "one-bit", "normal"), seed=1)
