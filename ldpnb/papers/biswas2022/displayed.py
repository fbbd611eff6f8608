"""Variances under sampling as biswas2022 displays them, where they differ from the exact ones in
`ldpnb.accuracy.sampling`.

Use them to see by how much; for anything else use the exact ones.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.accuracy import sampling
from ldpnb.accuracy.sampling import Values
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def published_variance_unadjusted(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Values:
    """Return the variance of ``c_DE`` as displayed in the proof of Theorem 3.2 of biswas2022.

    ``(n pi f p (1-p) + n pi (1-f) q (1-q) + r^2 n pi (1-pi)) / (p - q)^2``. It mixes the two models of the data and is
    exact in neither: too small by ``n pi (1-pi) f (1-f)`` for fixed and by ``n pi f (1-f)`` for iid data, and right in
    the limit ``f -> 0``.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism
        As in `ldpnb.accuracy.sampling.mean_unadjusted`.

    Returns
    -------
    float, shape of `holders`

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(published_variance_unadjusted(50, nodes=100, sampling_rate=1.0, mechanism=mechanism)), 9)
    75.0
    """
    count, rate = sampling.as_holders(holders, nodes), checks.rate(sampling_rate=sampling_rate)
    p, q = mechanism.p, mechanism.q
    mean_report = q + count / nodes * mechanism.truthful_rate
    conditional = rate * (count * p * (1 - p) + (nodes - count) * q * (1 - q))
    size = mean_report**2 * nodes * rate * (1 - rate)
    return (conditional + size) / mechanism.truthful_rate**2


def published_variance_realised_size(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Values:
    """Return ``Var(g_DE) + Var(S) q^2 / (pi^2 (p-q)^2)``, the variance of ``c-hat`` according to biswas2022.

    The step adds the variances of ``N`` and ``q S`` as if they were uncorrelated; ``Cov(N, S) = n pi (1-pi) r`` is
    positive. ``Var(g_DE)`` is the displayed one, `published_variance_unadjusted` divided by ``pi^2``.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism
        As in `ldpnb.accuracy.sampling.mean_unadjusted`.

    Returns
    -------
    float, shape of `holders`

    References
    ----------
    Proof of Theorem 3.5 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(published_variance_realised_size(0, nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    200.0
    """
    unadjusted = published_variance_unadjusted(holders, nodes=nodes, sampling_rate=sampling_rate, mechanism=mechanism)
    size = nodes * sampling_rate * (1 - sampling_rate)
    return unadjusted / sampling_rate**2 + size * mechanism.q**2 / (sampling_rate * mechanism.truthful_rate) ** 2


def normalised_variance(variance: ArrayLike, mean: ArrayLike) -> Values:
    """Return ``Var(X) / E(X)``, infinite where the mean is zero.

    Parameters
    ----------
    variance, mean : float, any shape

    Returns
    -------
    float, of their common shape

    References
    ----------
    Definition 3.1 of biswas2022.

    Examples
    --------
    >>> normalised_variance([6.0, 6.0], [3.0, 0.0]).tolist()
    [2.0, inf]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.divide(variance, mean), dtype=float)


def published_normalised_variance(*, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse) -> float:
    """Return ``Var*(g_DE) / (n pi)^2 = (q - q^2 pi) / ((p-q)^2 pi^3 n)``, the normalised variance according to
    biswas2022.

    The proof divides the estimate by the expected number of reports, not the variance by the mean as Definition 3.1
    says.

    Parameters
    ----------
    nodes, sampling_rate, mechanism
        As in `ldpnb.accuracy.sampling.mean_unadjusted`.

    Returns
    -------
    float

    References
    ----------
    Theorem 3.3 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(published_normalised_variance(nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    0.07
    """
    rare = sampling.rare_variance_rescaled(nodes=nodes, sampling_rate=sampling_rate, mechanism=mechanism)
    return rare / (nodes * sampling_rate) ** 2
