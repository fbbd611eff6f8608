"""Rates that depend on the value: what they do to the estimate and to privacy, and the repair."""

from typing import Any

import numpy as np
import pandas as pd

from ldpnb.accuracy.personalised import PersonalRates, variance_reweighted_reports
from ldpnb.arithmetic import Floats
from ldpnb.designs.reporters import poisson, sampled_tallies
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.rng import stream

BY_VALUE, BY_REPORT = "T, sampled by value", "sampled by report"


def zipf_shares(domain_size: int) -> Floats:
    """Return shares proportional to ``1 / (i + 1)``."""
    weights = 1 / np.arange(1, domain_size + 1)
    return np.asarray(weights / weights.sum())


def inverse_rates(shares: Floats, highest: float) -> Floats:
    """Return rates inversely proportional to shares, the rarest value at `highest`."""
    return np.asarray(highest * shares.min() / shares)


def inverse_frequency(
    shares: Floats, users: int, highest: float, mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram when rates are inverse to the frequencies of values (by T), and of noisy reports (repaired).

    The data have ``users * shares`` holders, rounded; `highest` is the rate of the rarest value and of the rarest
    report. A row per estimator and value.
    """
    counts = np.round(users * shares).astype(np.int64)
    total, rates = int(counts.sum()), inverse_rates(shares, highest)
    tallies = sampled_tallies(counts, rates, mechanism, rng=stream("by value", seed=seed))
    pooled = estimators.personalised(tallies, users=total, expected_reports=float(counts @ rates), mechanism=mechanism)
    survey, holders = PersonalRates(counts.astype(float), rates, mechanism), np.diag(counts)
    reports = mechanism.channel() @ shares
    by_report, rng = inverse_rates(reports, highest), stream("by report", seed=seed)
    sent = poisson(mechanism.sample_tallies(counts, rng=rng), by_report, rng=rng)
    known: dict[str, Any] = {"users": total, "report_rates": by_report, "mechanism": mechanism}
    repaired, spread = estimators.reweighted_reports(sent, **known), variance_reweighted_reports(counts, **known)
    parts = []
    for estimator, cost, mean, estimate, variance in (
        (BY_VALUE, counts @ rates, survey.mean(holders), pooled, survey.variance(holders)),
        (BY_REPORT, total * (reports @ by_report), counts, repaired, spread),
    ):
        shared = {"budget": f"ε = {mechanism.epsilon:g}", "value": np.arange(shares.size), "truth": counts}
        moments = {"estimator": estimator, "expected reports": cost, "expected": mean, "estimate": estimate}
        parts.append(pd.DataFrame(shared | moments | {"standard_deviation": np.sqrt(variance)}))
    return pd.concat(parts, ignore_index=True)
