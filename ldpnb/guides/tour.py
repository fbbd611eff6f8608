"""Experiments of the tour: an estimate that forms report by report, what sampling costs and buys, and the variances
behind a theorem.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import histograms
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.designs.reporters import poisson
from ldpnb.estimators import frequency
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy.subsampling import srs_loss
from ldpnb.rng import stream


def yes_answers(people: int, share: float, *, seed: int) -> NDArray[np.int64]:
    """Draw who would truthfully say yes (1) or no (0), ``(people,)``."""
    return (stream("yes", people, share, seed=seed).random(people) < share).astype(np.int64)


def forming_estimate(truth: NDArray[np.int64], epsilon: float, *, points: int = 200, seed: int) -> pd.DataFrame:
    """Follow the estimated share of yes as randomised answers come in.

    Parameters
    ----------
    truth : (n,) of 0 and 1
        Who would truthfully say yes.
    epsilon : float
        Budget of randomised response, nats.
    points : int
        Rows per series, evenly spaced in the logarithm of the number of people asked.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``series`` (``truth`` or ``unbiased``), ``asked``, ``share``, and ``low``, ``high``: the truth with two
        exact standard deviations.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)
    reports = mechanism.randomize(truth, rng=stream("reports", truth.size, epsilon, seed=seed))
    asked = np.unique(np.geomspace(min(10, truth.size), truth.size, points).astype(int))
    said_yes = np.cumsum(reports)[asked - 1] / asked
    estimate = frequency.unbiased(np.column_stack([1 - said_yes, said_yes]), 1, mechanism)[:, 1]
    spread = 2 * np.sqrt(histograms.pure_variance(0, users=1, mechanism=mechanism) / asked)
    middle = np.full(asked.size, truth.mean())
    true = {"series": "truth", "asked": asked, "share": middle, "low": middle - spread, "high": middle + spread}
    return pd.concat(
        [pd.DataFrame(true), pd.DataFrame({"series": "unbiased", "asked": asked, "share": estimate})],
        ignore_index=True,
    )


def sampling_table(rates: Sequence[float], *, people: int, share: float, epsilon: float) -> pd.DataFrame:
    """Tabulate what asking only a secret sample costs and buys.

    Parameters
    ----------
    rates : sequence of float
        Sampling rates in ``(0, 1]``.
    people : int
    share : float
        Of people who would say yes.
    epsilon : float
        Budget of randomised response, nats.

    Returns
    -------
    DataFrame
        A row per rate: ``reports`` expected, the exact ``standard_deviation`` of the estimated share, and the ``loss``
        towards somebody who does not know who was asked.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)
    rows = []
    for rate in rates:
        variance = SampledCounts(people, rate, mechanism).variance_realised_size(people * share)
        rows.append((rate, people * rate, float(np.sqrt(variance)) / people, srs_loss(epsilon, rate)))
    return pd.DataFrame(rows, columns=["sampling_rate", "reports", "standard_deviation", "loss"])


def histogram_estimates(counts: NDArray[np.int64], epsilon: float, *, seed: int) -> pd.DataFrame:
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
        Columns ``estimator, answer, share, standard_error``: truth, the unbiased estimate with its exact standard
        deviation, and its projection.
    """
    people, mechanism = int(counts.sum()), KaryRandomisedResponse(epsilon, counts.size)
    tallies = mechanism.sample_tallies(counts, rng=stream("histogram", epsilon, seed=seed))
    unbiased = frequency.unbiased(tallies, people, mechanism)
    deviation = np.sqrt(histograms.pure_variance(counts, users=people, mechanism=mechanism)) / people
    parts = {
        "truth": (counts / people, np.nan),
        "unbiased": (unbiased, deviation),
        "Norm-Sub": (frequency.project_simplex(unbiased), 0.0),
    }
    return pd.concat(
        [
            pd.DataFrame(
                {"estimator": name, "answer": np.arange(counts.size), "share": values, "standard_error": error}
            )
            for name, (values, error) in parts.items()
        ],
        ignore_index=True,
    )


def variance_contest(
    rates: Sequence[float], *, holders: int, people: int, epsilon: float, runs: int, seed: int
) -> pd.DataFrame:
    """Compare the variances of two unbiased counts under sampling, exactly and by simulation: those of Theorem 3.5 of
    biswas2022.

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
        Columns ``estimator`` (``g_DE``, which uses the number of people, or ``c-hat``, which uses the number of
        reports), ``sampling_rate``, ``variance``, ``standard_error``; exact rows have no standard error.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)
    rows = []
    for rate in rates:
        survey = SampledCounts(people, rate, mechanism)
        known: dict[str, Any] = {"sampling_rate": rate, "mechanism": mechanism}
        rng = stream("contest", rate, epsilon, seed=seed)
        reporting = poisson(np.tile([people - holders, holders], (runs, 1)), rate, rng=rng)
        yes = rng.binomial(reporting, [mechanism.q, mechanism.p]).sum(axis=1)
        tallies = np.column_stack([reporting.sum(axis=1) - yes, yes])
        pairs = {
            "g_DE": (survey.variance_rescaled(holders), estimators.rescaled(tallies, users=people, **known)),
            "c-hat": (survey.variance_realised_size(holders), estimators.realised_size(tallies, **known)),
        }
        for name, (variance, estimates) in pairs.items():
            squared = (estimates[:, 1] - holders) ** 2
            rows.append((name, rate, float(variance), np.nan))
            rows.append((name, rate, squared.mean(), squared.std(ddof=1) / np.sqrt(runs)))
    return pd.DataFrame(rows, columns=["estimator", "sampling_rate", "variance", "standard_error"])
