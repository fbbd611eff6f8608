"""Experiments of the tour: an estimate as answers come in, the effects of sampling, the variances behind a theorem."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import histograms
from ldpnb.accuracy.allocation import Family, outcomes
from ldpnb.accuracy.allocation import fixed as allocated
from ldpnb.accuracy.best_allocation import best_rule
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.designs.reporters import poisson
from ldpnb.estimators import frequency
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import short, table, where_less
from ldpnb.privacy.participation import participation_loss
from ldpnb.privacy.rounding import random_rounding_loss_supremum
from ldpnb.privacy.shuffling import ShuffledReports, gaussian_deviation, local_budget
from ldpnb.privacy.subsampling import poisson_loss, srs_loss
from ldpnb.rng import stream

Rows = Iterator[dict[str, Any]]
RATE, VARIANCE = "sampling rate π", "variance of the count (people²)"


def formed(table: pd.DataFrame) -> dict[str, str]:
    """Title a `forming_estimate` by its last estimate and the width of its band."""
    last = table.groupby("series", sort=False).last()
    half = (last["high"] - last["low"])["truth"] / 2
    shares, asked = last["share of yes"], last["people asked"]["truth"]
    found = f"the estimate is {shares['unbiased']:.3f} and the truth {shares['truth']:.3f}"
    return {"title": f"After {asked:,.0f} answers {found}; two standard deviations are {half:.2g}"}


def repaired(table: pd.DataFrame) -> dict[str, str]:
    """Title a projection by how many negative shares it repairs, and how much of the error."""
    wide = table.pivot_table(index="times", columns="estimator", values="share of people")
    before, after = (((wide[name] - wide["truth"]) ** 2).sum() for name in ("unbiased", "Norm-Sub"))
    negative = (wide["unbiased"] < 0).sum()
    title = f"Norm-Sub repairs {negative} negative share{'' if negative == 1 else 's'}"
    less = 100 * (1 - after / before) if before else 0.0
    return {"title": f"{title} and takes {less:.0f}% off the squared error"}


def winner(table: pd.DataFrame) -> dict[str, str]:
    """Title a contest by where the variance of ``c-hat`` is below that of ``g_DE``, and by how much."""
    exact = table[table["standard_error"].isna()]
    wide = exact.pivot_table(index=RATE, columns="estimator", values=VARIANCE)
    less = 1 - wide["c-hat"].iloc[0] / wide["g_DE"].iloc[0]
    where = where_less(wide.index, wide["c-hat"] * (1 + 1e-9), wide["g_DE"], "π")
    return {"title": f"ĉ has the smaller variance {where}: by {100 * less:.0f}% at π = {wide.index[0]:g}"}


def yes_answers(people: int, share: float, *, seed: int) -> NDArray[np.int64]:
    """Draw who would truthfully say yes (1) or no (0), ``(people,)``."""
    return (stream("yes", people, share, seed=seed).random(people) < share).astype(np.int64)


def reports(truth: NDArray[np.int64], mechanism: KaryRandomisedResponse, *, seed: int) -> NDArray[np.int64]:
    """Draw what people report, ``(people,)`` of 0 and 1; the same in every section for the same people and budget."""
    return mechanism.randomize(truth, rng=stream("reports", truth.size, mechanism.epsilon, seed=seed))


@table
def forming_estimate(
    truth: NDArray[np.int64], reports: NDArray[np.int64], mechanism: KaryRandomisedResponse, *, points: int = 200
) -> Rows:
    """Follow the estimated share of yes as randomised answers come in.

    Parameters
    ----------
    truth, reports : (n,) of 0 and 1
        Who would truthfully say yes, and who reports it.
    mechanism : KaryRandomisedResponse
        By which they were randomised.
    points : int
        Rows per series, evenly spaced in the logarithm of the number of people asked.

    Returns
    -------
    DataFrame
        Series ``truth``, with two exact standard deviations around it as ``low`` and ``high``, and ``unbiased``.
    """
    asked = np.unique(np.geomspace(min(10, truth.size), truth.size, points).astype(int))
    said_yes = np.cumsum(reports)[asked - 1] / asked
    estimates = frequency.unbiased(np.column_stack([1 - said_yes, said_yes]), 1, mechanism)[:, 1]
    spreads = 2 * np.sqrt(histograms.pure_variance(0, users=1, mechanism=mechanism) / asked)
    share = truth.mean()
    for people, spread in zip(asked, spreads, strict=True):
        around = {"low": share - spread, "high": share + spread}
        yield {"series": "truth", "people asked": people, "share of yes": share} | around
    for people, estimate in zip(asked, estimates, strict=True):
        yield {"series": "unbiased", "people asked": people, "share of yes": estimate}


@table
def sampling_table(rates: Sequence[float], *, people: int, share: float, epsilon: float) -> Rows:
    """Tabulate the accuracy when everybody is asked with one chance, a row per sampling rate in ``(0, 1]``.

    The deviation of the estimated share is exact.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)
    for rate in rates:
        variance = SampledCounts(people, rate, mechanism).variance_realised_size(people * share)
        yield {
            "sampling rate": rate,
            "reports expected": people * rate,
            "standard deviation": float(np.sqrt(variance)) / people,
        }


@table
def observer_losses(rates: Sequence[float], *, people: int, epsilon: float, delta: float) -> Rows:
    """Tabulate what each observer of a sample learns of one person, a column per sampling rate.

    Given that ``s`` of ``n`` people report they are a simple random sample, and the tallies of their reports lose
    ``ln(1 + (s/n)(e^epsilon - 1))``: no more, as tallies lose epsilon as a function of the sample, and that much where
    nobody else holds the person's answer and all reports give it. If everybody is asked by chance, ``s`` may be ``n``.

    Parameters
    ----------
    rates : sequence of float
        Sampling rates in ``(0, 1]``; a sample of fixed size has the nearest whole number of people, at least 1.
    people : int
        How many there are, 2 to 1e9, whether they are asked or not.
    epsilon : float
        Budget of one randomised response, and of what a curator releases, nats, ``(0, 690]``.
    delta : float
        In ``(0, 1)``; the ``delta`` of a shuffler's promise.

    Returns
    -------
    DataFrame
        A row per observer, losses in nats between populations that differ in the answer of one person (replacement) or
        in one person (deletion). A curator's are the largest of all mechanisms of that budget.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)

    def drawn(rate: float) -> float:
        return float(srs_loss(epsilon, max(1, round(rate * people)) / people))

    def shuffled(rate: float) -> float:
        return ShuffledReports(people, rate, mechanism).epsilon_upper(delta)

    def named(rate: float) -> float:
        return participation_loss(epsilon, lowest_rate=rate, highest_rate=rate)

    def counted(rate: float) -> float:
        return float(srs_loss(epsilon, 1.0))  # all may answer, at any rate

    def removed(rate: float) -> float:
        return float(poisson_loss(epsilon, rate, neighbours="deletion"))

    counts, mixed, release = "how many said yes and no", "reports in random order", f"a release, ε = {epsilon:g}"
    for observer, sees, sample, changed, loss, kind in (
        ("server", "who answered, and what", "by chance", "one answer", named, "exactly"),
        ("server", counts, "by chance", "one answer", counted, "exactly"),
        (f"server, shuffler, δ = {short(delta)}", mixed, "by chance", "one answer", shuffled, "at most"),
        ("server, shuffler", mixed, "fixed size", "one answer", drawn, "exactly"),
        ("reader of a curator", release, "fixed size", "one answer", drawn, "exactly"),
        ("reader of a curator", release, "by chance", "one person", removed, "exactly"),
    ):
        row = {"observer": observer, "sees": sees, "sample": sample, "what changes": changed, "loss": kind}
        yield row | {f"π = {rate:g}": loss(rate) for rate in rates}


@table
def histogram_estimates(counts: NDArray[np.int64], epsilon: float, *, seed: int) -> Rows:
    """Estimate a histogram through k-ary randomised response, and project it onto the simplex.

    Parameters
    ----------
    counts : (k,) int
        People per answer.
    epsilon : float
        Nats.
    seed : int

    Returns
    -------
    DataFrame
        A row per estimator and answer: truth, the unbiased estimate with its exact standard deviation, its projection.
    """
    people, mechanism = int(counts.sum()), KaryRandomisedResponse(epsilon, counts.size)
    tallies = mechanism.sample_tallies(counts, rng=stream("histogram", epsilon, seed=seed))
    unbiased = frequency.unbiased(tallies, people, mechanism)
    deviation = np.sqrt(histograms.pure_variance(counts, users=people, mechanism=mechanism)) / people
    for name, shares, errors in (
        ("truth", counts / people, np.zeros(counts.size)),
        ("unbiased", unbiased, deviation),
        ("Norm-Sub", frequency.project_simplex(unbiased), np.zeros(counts.size)),
    ):
        for answer, (share, error) in enumerate(zip(shares, errors, strict=True)):
            yield {"estimator": name, "times": answer, "share of people": share, "standard_error": error}


@table
def variance_contest(
    rates: Sequence[float], *, holders: int, people: int, epsilon: float, runs: int, seed: int
) -> Rows:
    """Compare two unbiased counts under sampling, exactly and by simulation: those of Theorem 3.5 of biswas2022.

    Parameters
    ----------
    rates : sequence of float
        Sampling rates in ``(0, 1]``.
    holders, people : int
        How many of the people would say yes.
    epsilon : float
        Budget of randomised response, nats.
    runs : int
        Simulated surveys per rate.
    seed : int

    Returns
    -------
    DataFrame
        Estimators ``g_DE``, which uses the number of people, and ``c-hat``, which uses the number of reports; exact
        rows have no standard error.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)
    for rate in rates:
        survey = SampledCounts(people, rate, mechanism)
        known: dict[str, Any] = {"sampling_rate": rate, "mechanism": mechanism}
        rng = stream("contest", rate, epsilon, seed=seed)
        reporting = poisson(np.tile([people - holders, holders], (runs, 1)), rate, rng=rng)
        yes = rng.binomial(reporting, [mechanism.q, mechanism.p]).sum(axis=1)
        tallies = np.column_stack([reporting.sum(axis=1) - yes, yes])
        for name, exact, estimates in (
            ("g_DE", survey.variance_rescaled(holders), estimators.rescaled(tallies, users=people, **known)),
            ("c-hat", survey.variance_realised_size(holders), estimators.realised_size(tallies, **known)),
        ):
            row, squared = {"estimator": name, RATE: rate}, (estimates[:, 1] - holders) ** 2
            yield row | {VARIANCE: float(exact), "standard_error": np.nan}
            yield row | {VARIANCE: squared.mean(), "standard_error": squared.std(ddof=1) / np.sqrt(runs)}


@table
def surprises() -> Rows:
    """Yield one number for each of three results of this companion, next to what one would expect."""
    best = best_rule(Family((3, 3), (1.0, 1.0)), 3, 0.3)
    fixed = outcomes(Family((3, 3), (1.0, 1.0)), allocated((1, 2)))
    variance = float(fixed.total_variances(0.3).max())
    row = {"result": "variance, drawn allocation", "value": best.variance}
    yield row | {"beside": variance, "which is": "the best fixed one's"}
    loss = random_rounding_loss_supremum(0.1, 3.0)
    yield {"result": "loss, a proportional tenth", "value": loss, "beside": 3.0, "which is": "the mechanism's alone"}
    local = local_budget(1.0, 1e-6, users=50_000, rate=0.2, domain_size=101)
    survey = SampledCounts(50_000, 0.2, KaryRandomisedResponse(local, 101))
    row = {"result": "deviation, shuffled reports", "value": float(np.sqrt(survey.rare_variance_realised_size))}
    yield row | {"beside": gaussian_deviation(1.0, 1e-6), "which is": "a curator's Gaussian noise"}
    laplace = float(np.sqrt(histograms.central_laplace_count_variance(1.0)))
    yield row | {"beside": laplace, "which is": "a curator's Laplace noise"}
