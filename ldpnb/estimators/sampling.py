"""Estimates of how many nodes hold each value when only a sample of them reports through k-ary randomised response.

Use `realised_size` for a common sampling rate; `unadjusted` and `rescaled` are what it is compared with, and `ratio`
trades exact unbiasedness for the smallest variance. Use `horvitz_thompson` or `hajek` when rates differ between nodes
(`personalised` is biased as soon as rates and values are related), and `reweighted_reports` when a noisy report is sent
with a probability that depends on the report itself.

Every function takes tallies with one entry per value on the last axis; leading axes are repetitions. Estimates are
counts, and may leave ``[0, nodes]``.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

Estimate = NDArray[np.float64]


def unadjusted(tallies: ArrayLike, *, nodes: int, mechanism: KaryRandomisedResponse) -> Estimate:
    """Return ``(N - n q) / (p - q)``, the estimate that takes the reports for those of all nodes.

    Parameters
    ----------
    tallies : (..., k) int
        Reports ``N`` of each value.
    nodes : int
        Number ``n`` of nodes, whether they report or not.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float

    References
    ----------
    ``c_DE`` in equation (3) of biswas2022, used under sampling in equation (4) and, as ``h``, in Theorem 5.1.

    Examples
    --------
    >>> unadjusted([70, 30], nodes=100, mechanism=KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [90.0, 10.0]
    """
    reports = _tallies(tallies, mechanism)
    return (reports - checks.whole(nodes=nodes, at_least=1) * mechanism.q) / mechanism.truthful_rate


def rescaled(tallies: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse) -> Estimate:
    """Return ``c_DE / pi + n q (1 - pi) / ((p - q) pi)``: unbiased, by the known size and sampling rate.

    Parameters
    ----------
    tallies : (..., k) int
        Reports of each value.
    nodes : int
        Number ``n`` of nodes, whether they report or not.
    sampling_rate : float
        Probability ``pi`` in ``(0, 1]`` that a node reports.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float

    References
    ----------
    ``g_DE`` in equation (5) of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> rescaled([35, 15], nodes=100, sampling_rate=0.5, mechanism=mechanism).round(9).tolist()
    [90.0, 10.0]
    """
    rate = checks.rate(sampling_rate=sampling_rate)
    shift = nodes * mechanism.q * (1 - rate) / (mechanism.truthful_rate * rate)
    return unadjusted(tallies, nodes=nodes, mechanism=mechanism) / rate + shift


def realised_size(tallies: ArrayLike, *, sampling_rate: float, mechanism: KaryRandomisedResponse) -> Estimate:
    """Return ``(N - S q) / (pi (p - q))`` with ``S`` the realised number of reports: unbiased, and never worse than
    `rescaled`.

    Parameters
    ----------
    tallies : (..., k) int
        Reports of each value; their sum is ``S``.
    sampling_rate : float
        Probability ``pi`` in ``(0, 1]`` that a node reports.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float

    References
    ----------
    ``c-hat_DE``, before Theorem 3.4 of biswas2022.

    Examples
    --------
    >>> realised_size([35, 15], sampling_rate=0.5, mechanism=KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [90.0, 10.0]
    """
    rate = checks.rate(sampling_rate=sampling_rate)
    reports = _tallies(tallies, mechanism)
    size = reports.sum(axis=-1, keepdims=True)
    estimate: Estimate = (reports - size * mechanism.q) / (rate * mechanism.truthful_rate)
    return estimate


def ratio(tallies: ArrayLike, *, nodes: int, mechanism: KaryRandomisedResponse) -> Estimate:
    """Return ``n (N/S - q) / (p - q)``, which needs no sampling rate: unbiased given ``S > 0``, and sums to ``n``.

    Parameters
    ----------
    tallies : (..., k) int
        Reports of each value; their sum ``S`` must be positive.
    nodes : int
        Number ``n`` of nodes, whether they report or not.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float

    References
    ----------
    The Hájek form at a common rate; not in biswas2022.

    Examples
    --------
    >>> ratio([35, 15], nodes=100, mechanism=KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [90.0, 10.0]
    """
    reports = _tallies(tallies, mechanism)
    size = reports.sum(axis=-1, keepdims=True)
    if (size == 0).any():
        raise ValueError("tallies must have a positive sum for a ratio estimate, got no reports")
    share: Estimate = (reports / size - mechanism.q) / mechanism.truthful_rate
    return checks.whole(nodes=nodes, at_least=1) * share


def personalised(
    tallies: ArrayLike, *, nodes: int, expected_reports: float, mechanism: KaryRandomisedResponse
) -> Estimate:
    """Return ``n h / sum(pi) + n q (n - sum(pi)) / (sum(pi) (p - q))``, the pooled estimate for personal sampling
    rates.

    Parameters
    ----------
    tallies : (..., k) int
        Reports of each value, from nodes of all rates together.
    nodes : int
        Number ``n`` of nodes.
    expected_reports : float
        Sum of the nodes' sampling rates, in ``(0, nodes]``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float
        Biased unless the rates are unrelated to the values: see `ldpnb.accuracy.personalised.mean_personalised`.

    References
    ----------
    ``T`` in Theorem 5.1 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> personalised([35, 15], nodes=100, expected_reports=50, mechanism=mechanism).round(9).tolist()
    [90.0, 10.0]
    """
    total = checks.positive(expected_reports=expected_reports)
    if total > nodes:
        raise ValueError(f"expected_reports must be <= nodes={nodes}, got expected_reports={expected_reports!r}")
    shift = nodes * mechanism.q * (nodes - total) / (total * mechanism.truthful_rate)
    return nodes * unadjusted(tallies, nodes=nodes, mechanism=mechanism) / total + shift


def horvitz_thompson(tallies: ArrayLike, *, rates: ArrayLike, mechanism: KaryRandomisedResponse) -> Estimate:
    """Return ``sum_g (N_g - S_g q) / (pi_g (p - q))``: unbiased for any known positive rates, related to the values or
    not.

    Parameters
    ----------
    tallies : (..., g, k) int
        Reports of each value from the nodes of each rate.
    rates : (g,) float
        Sampling rate of each group of nodes, in ``(0, 1]``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float

    References
    ----------
    What Theorem 5.1 of biswas2022 asks for; Horvitz and Thompson (1952) applied to ``(1{X_j = i} - q) / (p - q)``.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> horvitz_thompson([[35, 15], [30, 70]], rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
    [100.0, 100.0]
    """
    weight = 1 / _rates(rates)[:, None]
    reports = _tallies(tallies, mechanism)
    centred = reports - reports.sum(axis=-1, keepdims=True) * mechanism.q
    estimate: Estimate = _groups(centred, weight).sum(axis=-2) / mechanism.truthful_rate
    return estimate


def hajek(tallies: ArrayLike, *, nodes: int, rates: ArrayLike, mechanism: KaryRandomisedResponse) -> Estimate:
    """Return ``n (sum_g N_g/pi_g / sum_g S_g/pi_g - q) / (p - q)``, the ratio form of `horvitz_thompson`.

    Parameters
    ----------
    tallies : (..., g, k) int
        Reports of each value from the nodes of each rate.
    nodes : int
        Number ``n`` of nodes.
    rates : (g,) float
        Sampling rate of each group of nodes, in ``(0, 1]``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float
        Unbiased up to ``O(1/n)`` relative to ``n``; sums to ``n``.

    References
    ----------
    Hájek (1971); not in biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> hajek([[35, 15], [30, 70]], nodes=200, rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
    [100.0, 100.0]
    """
    weighted = _groups(_tallies(tallies, mechanism), 1 / _rates(rates)[:, None]).sum(axis=-2)
    size = weighted.sum(axis=-1, keepdims=True)
    if (size == 0).any():
        raise ValueError("tallies must have a positive sum for a ratio estimate, got no reports")
    share: Estimate = (weighted / size - mechanism.q) / mechanism.truthful_rate
    return checks.whole(nodes=nodes, at_least=1) * share


def reweighted_reports(
    tallies: ArrayLike, *, nodes: int, report_rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Estimate:
    """Return ``(N_i / pi(i) - n q) / (p - q)`` when every node randomises first and sends the report ``y`` with
    probability ``pi(y)``.

    Thinning by the noisy report is post-processing, so participation reveals no more than the report would have.

    Parameters
    ----------
    tallies : (..., k) int
        Reports of each value that were sent.
    nodes : int
        Number ``n`` of nodes.
    report_rates : (k,) float
        Probability ``pi(y)`` in ``(0, 1]`` of sending the report ``y``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (..., k) float
        Unbiased.

    References
    ----------
    A repair of open question (i) of biswas2022, Section 6.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> reweighted_reports([35, 30], nodes=100, report_rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
    [90.0, 10.0]
    """
    reports = _tallies(tallies, mechanism)
    rates = _rates(report_rates)
    if rates.shape != reports.shape[-1:]:
        raise ValueError(f"report_rates must have one entry per value, {reports.shape[-1]}, got {rates.size}")
    expected_noise = checks.whole(nodes=nodes, at_least=1) * mechanism.q
    return (reports / rates - expected_noise) / mechanism.truthful_rate


def _tallies(tallies: ArrayLike, mechanism: KaryRandomisedResponse) -> Estimate:
    reports = np.asarray(tallies, dtype=float)
    if reports.shape[-1:] != (mechanism.domain_size,):
        raise ValueError(
            f"tallies must have one entry per value on the last axis, {mechanism.domain_size}, got shape {reports.shape}"
        )
    if not (np.isfinite(reports).all() and (reports >= 0).all()):
        raise ValueError(f"tallies must be finite and >= 0, got minimum {np.min(reports)!s}")
    return reports


def _rates(rates: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(rates, dtype=float)
    if array.ndim != 1 or not ((array > 0) & (array <= 1)).all():
        raise ValueError(f"rates must be a vector with entries in (0, 1], got rates={array.tolist()!r}")
    return array


def _groups(reports: Estimate, weight: Estimate) -> Estimate:
    if reports.ndim < 2 or reports.shape[-2] != weight.shape[0]:
        raise ValueError(
            f"tallies must have one row per rate, {weight.shape[0]}, on the last axis but one, got shape {reports.shape}"
        )
    weighted: Estimate = reports * weight
    return weighted
