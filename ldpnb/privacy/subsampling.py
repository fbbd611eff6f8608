"""Privacy of a mechanism that sees a simple random sample of fixed size, or an independent sample.

The sample's secrecy multiplies ``e^epsilon - 1`` by the sampling rate. Two readings of the same formula: a sample of
fixed size with an epsilon-*replacement*-DP mechanism (Theorem 2.2 of bun2022), and independent (Poisson) sampling with
an epsilon-*deletion*-DP mechanism. An epsilon-deletion-DP mechanism is 2 epsilon-replacement-DP; put ``2 * epsilon``
in.
"""

import numpy as np
from scipy.special import expit, logit

from ldpnb import checks


def srs_loss(epsilon: float, sampling_rate: float) -> float:
    """Return ``ln(1 + p (e^epsilon - 1))``: simple random sampling, replacement privacy (Theorem 2.2 and equation (3)
    of bun2022).

    Parameters
    ----------
    epsilon : float
        Budget of the replacement-DP mechanism on the sample, nats.
    sampling_rate : float
        Fraction ``p = m/n`` of the population that is drawn, in ``(0, 1]``.

    Returns
    -------
    float
        Replacement-DP loss of the whole in nats; no mechanism has a larger one, and some attain it.

    Examples
    --------
    >>> from math import exp, log
    >>> round(exp(srs_loss(log(5), 0.5)), 12)
    3.0
    """
    return weighted_loss(checks.positive(epsilon=epsilon), float(logit(checks.rate(sampling_rate=sampling_rate))))


def weighted_loss(epsilon: float, log_odds: float) -> float:
    """Return ``ln(1 + w (e^epsilon - 1))`` with ``w = 1/(1 + e^-log_odds)``, stable for any epsilon and any weight."""
    if epsilon < 1:
        return float(np.log1p(np.expm1(epsilon) * expit(log_odds)))
    return float(np.logaddexp(-np.logaddexp(0, log_odds), epsilon - np.logaddexp(0, -log_odds)))


def srs_delta(delta: float, sampling_rate: float) -> float:
    """Return ``p delta``, the second parameter after simple random sampling (Theorem 2.2 of bun2022).

    >>> srs_delta(1e-5, 0.5)
    5e-06
    """
    return checks.probability(delta=delta) * checks.rate(sampling_rate=sampling_rate)


def srs_budget(epsilon_after: float, sampling_rate: float) -> float:
    """Return the mechanism budget that gives a loss of `epsilon_after` on the population: ``ln(1 + (e^epsilon' -
    1)/p)`` (Section 2.4 of bun2022).

    It inverts `srs_loss`. For small ``epsilon'`` it approaches ``epsilon' / p``.

    Examples
    --------
    >>> from math import exp, log
    >>> round(exp(srs_budget(log(3), 0.5)), 12)
    5.0
    """
    target, rate = checks.positive(epsilon_after=epsilon_after), checks.rate(sampling_rate=sampling_rate)
    if target < 1:
        return float(np.log1p(np.expm1(target) / rate))
    return float(target + np.log1p(-(1 - rate) * np.exp(-target)) - np.log(rate))


def proportion_noise_scale(epsilon: float, records: int, population: int | None = None) -> float:
    """Return the Laplace scale that makes a proportion of `records` records private (Section 2.4 of bun2022).

    Parameters
    ----------
    epsilon : float
        Target replacement-DP loss, nats.
    records : int
        Records in the data set; one of them moves the proportion by at most ``1/records``.
    population : int, optional
        Size of the population of which the records are a secret simple random sample. Without it the data set itself is
        protected.

    Examples
    --------
    >>> proportion_noise_scale(1.0, 100)
    0.01
    >>> round(proportion_noise_scale(1.0, 100, population=1000), 12)
    0.003447708657
    """
    size = checks.whole(records=records, at_least=1)
    if population is None:
        return 1 / (size * checks.positive(epsilon=epsilon))
    return 1 / (size * srs_budget(epsilon, size / checks.whole(population=population, at_least=size)))
