"""Rates that depend on the value: what they do to the estimate and to privacy, and the repair."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy.personalised import PersonalRates, variance_reweighted_reports
from ldpnb.designs.reporters import poisson, sampled_tallies
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import Rows, table
from ldpnb.privacy import participation
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream

Floats = NDArray[np.float64]

BY_VALUE, BY_REPORT = "T, sampled by value", "sampled by report"


def zipf_shares(domain_size: int) -> Floats:
    """Return shares proportional to ``1 / (i + 1)``."""
    weights = 1 / np.arange(1, domain_size + 1)
    shares: Floats = weights / weights.sum()
    return shares


def inverse_rates(shares: Floats, highest: float) -> Floats:
    """Return rates inversely proportional to shares, the rarest value at `highest`."""
    rates: Floats = highest * shares.min() / shares
    return rates


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


@table
def losses(epsilons: Sequence[float], lowest: float, highest: Sequence[float], domain_size: int) -> Rows:
    """Yield the exact privacy loss, from the channel and in closed form, for rates between `lowest` and some highest.

    Rates follow the value, or the report.
    """
    for epsilon, high in product(epsilons, highest):
        mechanism, rates = KaryRandomisedResponse(epsilon, domain_size), np.linspace(lowest, high, domain_size)
        by_value = participation.value_dependent_channel(rates, mechanism)
        by_report = participation.report_dependent_channel(rates, mechanism)
        closed = participation.participation_loss(epsilon, lowest_rate=lowest, highest_rate=high)
        for name, channel, loss in (("by value", by_value, closed), ("by report", by_report, epsilon)):
            setting = {"sampling": name, "budget": f"ε = {epsilon:g}", "highest rate": high}
            yield setting | {"privacy loss (nats)": privacy_loss(channel).epsilon, "closed form": loss}
