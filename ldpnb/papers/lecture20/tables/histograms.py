"""Experiments on histograms when everybody reports: sign vectors beside k-RR, unary encoding and a curator."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import histograms
from ldpnb.data import synthetic
from ldpnb.estimators import frequency
from ldpnb.mechanisms.frequency import FrequencyMechanism, KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.means import CentralLaplace, histogram_sensitivity
from ldpnb.mechanisms.signs import SignRandomiser, calibrated_bias, exact_epsilon
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream

Counts = NDArray[np.int64]

LOCAL: Mapping[str, Callable[[float, int], FrequencyMechanism]] = {
    "k-RR": KaryRandomisedResponse,
    "OUE": UnaryEncoding.optimised,
    "signs": SignRandomiser,
}
"""By name: epsilon and domain size to a local mechanism of exactly that loss."""


def zipf_counts(domain_size: int, users: int, *, seed: int) -> Counts:
    """Draw users whose value has rank ``x`` with probability proportional to ``1 / x``; returns users per value,
    ``(domain_size,)``.
    """
    weights = 1 / np.arange(1.0, domain_size + 1)
    return synthetic.sample_counts(weights / weights.sum(), users, rng=stream("Zipf", domain_size, users, seed=seed))


def sign_losses(parameters: Sequence[float], enumerated: Sequence[float], domain_size: int) -> pd.DataFrame:
    """Tabulate the privacy loss of sign vectors against their printed parameter.

    Parameters
    ----------
    parameters : sequence of float
        In ``(0, 1)``, for the closed form and the loss as printed.
    enumerated : sequence of float
        Where the loss is also taken from the complete channel.
    domain_size : int
        Of the channel, at most 12.

    Returns
    -------
    DataFrame
        Columns ``parameter, loss, epsilon, standard_error``; the enumerated rows have standard error 0, the lines none.
    """
    rows = [("as printed", c, c, np.nan) for c in parameters]
    rows += [("exact", c, exact_epsilon(c), np.nan) for c in parameters]
    for c in enumerated:
        loss = privacy_loss(SignRandomiser.as_printed(c, domain_size).channel())
        rows.append(("exact", c, loss.epsilon, 0.0))
    return pd.DataFrame(rows, columns=["loss", "parameter", "epsilon", "standard_error"])


def cost_of_calibration(parameters: Sequence[float], users: int) -> pd.DataFrame:
    """Tabulate, for a rare value, what sign vectors cost when the printed parameter has to be the exact loss.

    Parameters
    ----------
    parameters : sequence of float
        Printed parameters, in ``(0, 1)``.
    users : int

    Returns
    -------
    DataFrame
        A row per parameter: its ``exact_loss`` as printed, the ``calibrated_bias`` that makes it the loss, and the
        standard deviations, in users, of the count ``as_printed``, ``calibrated``, and by ``OUE`` at that loss.
    """
    rows = []
    for parameter in parameters:
        bias = calibrated_bias(parameter)
        oue = histograms.pure_variance(0, clients=users, mechanism=UnaryEncoding.optimised(parameter, 2))
        printed, calibrated = (histograms.sign_variance(0, clients=users, bias=b) for b in (parameter, bias))
        rows.append((parameter, exact_epsilon(parameter), bias, *np.sqrt([printed, calibrated, oue])))
    columns = ["parameter", "exact_loss", "calibrated_bias", "as_printed", "calibrated", "OUE"]
    return pd.DataFrame(rows, columns=columns)


def count_errors(counts: Counts, budgets: Sequence[float], runs: int, *, seed: int) -> pd.DataFrame:
    """Compare simulated and exact root mean squared errors of a count, averaged over all values, by mechanism and
    budget.

    Parameters
    ----------
    counts : (k,) int
        Users who hold each value.
    budgets : sequence of float
        Exact privacy losses, nats.
    runs : int
        Simulated collections per point.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, rmse, standard_error`` (users); exact rows have no standard error.
    """
    users, size, rows = int(counts.sum()), counts.size, []
    for epsilon in budgets:
        errors = {}
        for name, make in LOCAL.items():
            mechanism, rng = make(epsilon, size), stream("counts", name, epsilon, seed=seed)
            tallies = np.array([mechanism.sample_tallies(counts, rng=rng) for _ in range(runs)])
            exact = histograms.pure_variance(counts, clients=users, mechanism=mechanism).mean()
            errors[name] = (exact, users * frequency.unbiased(tallies, users, mechanism) - counts)
        curator = CentralLaplace(epsilon, histogram_sensitivity("replacement"))
        noise = curator.release(counts, rng=stream("counts", "central", epsilon, seed=seed), repetitions=runs) - counts
        errors["central Laplace"] = (histograms.central_laplace_count_variance(epsilon), noise)
        for name, (variance, deviations) in errors.items():
            squared = (deviations**2).mean(axis=1)
            simulated = np.sqrt(squared.mean())
            rows.append((name, epsilon, np.sqrt(variance), np.nan))
            rows.append((name, epsilon, simulated, squared.std(ddof=1) / np.sqrt(runs) / (2 * simulated)))
    return pd.DataFrame(rows, columns=["mechanism", "epsilon", "rmse", "standard_error"])


def price_list(domain_sizes: Sequence[int], epsilon: float) -> pd.DataFrame:
    """Tabulate what a report costs and what it is worth, per mechanism and number of values, at equal exact loss.

    Parameters
    ----------
    domain_sizes : sequence of int
    epsilon : float
        Nats.

    Returns
    -------
    DataFrame
        Columns ``values, mechanism, bits`` (sent per report), ``entropy`` (least possible average without shared
        randomness), ``variance_per_user`` of the count of a value that nobody holds.
    """
    rows = []
    for size in domain_sizes:
        for name, make in LOCAL.items():
            mechanism = make(epsilon, size)
            variance = float(histograms.pure_variance(0, clients=1, mechanism=mechanism))
            if name == "k-RR":
                bits, entropy = int(np.ceil(np.log2(size))), _kary_entropy(mechanism.p, mechanism.q, size)
            else:
                bits, entropy = size, histograms.unary_report_bits(mechanism.p, mechanism.q, size)
            rows.append((size, name, bits, entropy, variance))
        signs = LOCAL["signs"](epsilon, size)
        variance = float(histograms.pure_variance(0, clients=1, mechanism=signs))
        rows.append((size, "signs, public coins", 1, 1.0, variance))
    return pd.DataFrame(rows, columns=["values", "mechanism", "bits", "entropy", "variance_per_user"])


def public_coin_counts(users: int, domain_size: int, epsilon: float, runs: int, *, seed: int) -> pd.DataFrame:
    """Estimate one count from sent sign vectors, and from one sent bit times public signs, over simulated collections.

    Parameters
    ----------
    users, domain_size : int
        Everyone draws a value uniformly; the count is that of the first value.
    epsilon : float
        Nats.
    runs : int
    seed : int

    Returns
    -------
    DataFrame
        A row per way of sending: ``sent``, ``bits`` per user, ``truth``, ``mean`` of the estimates with its
        ``standard_error``, ``standard_deviation``, and the ``exact`` standard deviation.
    """
    mechanism = SignRandomiser(epsilon, domain_size)
    values = stream("public coins", "values", seed=seed).integers(0, domain_size, users)
    truth = int((values == 0).sum())
    exact = np.sqrt(histograms.sign_variance(truth, clients=users, bias=mechanism.bias))
    rows = []
    for sent, bits in (("signs", domain_size), ("one bit, public signs", 1)):
        rng, sums = stream("public coins", sent, seed=seed), np.empty(runs)
        for run in range(runs):
            if bits == 1:
                public = 2 * rng.integers(0, 2, (users, domain_size), dtype=np.int8) - 1
                reports = mechanism.randomize_with_public_signs(values, public, rng=rng) * public[:, 0]
            else:
                reports = mechanism.randomize(values, rng=rng)[:, 0]
            sums[run] = reports.sum()
        estimates = sums / mechanism.bias
        deviation = estimates.std(ddof=1)
        rows.append((sent, bits, truth, estimates.mean(), deviation / np.sqrt(runs), deviation, float(exact)))
    columns = ["sent", "bits", "truth", "mean", "standard_error", "standard_deviation", "exact"]
    return pd.DataFrame(rows, columns=columns)


def _kary_entropy(p: float, q: float, domain_size: int) -> float:
    return float(-p * np.log2(p) - (domain_size - 1) * q * np.log2(q))
