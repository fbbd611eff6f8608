"""Experiments on rates that depend on the value: what they do to the estimate and to privacy, and the repair."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import personalised as accuracy
from ldpnb.designs.reporters import poisson, sampled_tallies
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
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
    shares: Floats, nodes: int, highest: float, mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram when rates are inverse to the frequencies of the values (with T), and of the noisy reports
    (repaired).

    Parameters
    ----------
    shares : (k,) float
        Shares of the values; the data have ``nodes * shares`` holders, rounded.
    nodes : int
    highest : float
        Rate at the rarest value and at the rarest report.
    mechanism : KaryRandomisedResponse
    seed : int

    Returns
    -------
    DataFrame
        Columns ``budget, value, truth, estimator, expected reports, expected, estimate, standard_deviation``.
    """
    counts = np.round(nodes * shares).astype(np.int64)
    total, values = int(counts.sum()), np.arange(shares.size)
    rates = inverse_rates(shares, highest)
    tallies = sampled_tallies(counts, rates, mechanism, rng=stream("by value", seed=seed))
    pooled = estimators.personalised(tallies, nodes=total, expected_reports=float(counts @ rates), mechanism=mechanism)
    held = np.diag(counts)
    mean = [accuracy.mean_personalised(held[v], sizes=counts, rates=rates) for v in values]
    variance = [accuracy.variance_personalised(held[v], sizes=counts, rates=rates, mechanism=mechanism) for v in values]
    reports = mechanism.channel() @ shares
    by_report = inverse_rates(reports, highest)
    rng = stream("by report", seed=seed)
    sent = poisson(mechanism.sample_tallies(counts, rng=rng), by_report, rng=rng)
    repaired = estimators.reweighted_reports(sent, nodes=total, report_rates=by_report, mechanism=mechanism)
    spread = accuracy.variance_reweighted_reports(counts, nodes=total, report_rates=by_report, mechanism=mechanism)
    shared = {"budget": f"ε = {mechanism.epsilon:g}", "value": values, "truth": counts}
    found = (
        (BY_VALUE, counts @ rates, mean, variance, pooled),
        (BY_REPORT, total * (reports @ by_report), counts, spread, repaired),
    )
    columns = ("estimator", "expected reports", "expected", "variance", "estimate")
    parts = [pd.DataFrame(shared | dict(zip(columns, row, strict=True))) for row in found]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(standard_deviation=np.sqrt(table["variance"])).drop(columns="variance")


def losses(epsilons: Sequence[float], lowest: float, highest: Sequence[float], domain_size: int) -> pd.DataFrame:
    """Compute the exact privacy loss against the highest sampling rate, for rates that follow the value and for rates
    that follow the report.

    Parameters
    ----------
    epsilons : sequence of float
        Local budgets.
    lowest : float
        Lowest sampling rate.
    highest : sequence of float
        Highest sampling rates, at least `lowest`.
    domain_size : int

    Returns
    -------
    DataFrame
        Columns ``sampling, budget, highest rate``, ``privacy loss, nats`` from the channels, and ``closed form``.
    """
    rows = []
    for epsilon in epsilons:
        mechanism = KaryRandomisedResponse(epsilon, domain_size)
        for high in highest:
            rates = np.linspace(lowest, high, domain_size)
            by_value = privacy_loss(participation.value_dependent_channel(rates, mechanism)).epsilon
            by_report = privacy_loss(participation.report_dependent_channel(rates, mechanism)).epsilon
            closed = participation.participation_loss(epsilon, lowest_rate=lowest, highest_rate=high)
            rows.append(("by value", f"ε = {epsilon:g}", high, by_value, closed))
            rows.append(("by report", f"ε = {epsilon:g}", high, by_report, epsilon))
    return pd.DataFrame(rows, columns=["sampling", "budget", "highest rate", "privacy loss, nats", "closed form"])
